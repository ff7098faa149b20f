"""What workers do: read a part of a table, code it, count it.

Pure functions of a part, so that whatever a worker loses when it ends is made again by
another. They run on one thread each; a cluster has as many of them as it has threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend.data.blocks import open_blocks
from bayesmend.data.discretize import Discretization
from bayesmend.data.files import FileOptions
from bayesmend.data.gathered import Gathered, Gathering, PartColumn
from bayesmend.data.sources import Source, open_table
from bayesmend.data.states import MISSING, Label, number_of
from bayesmend.errors import DataError
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import Engine
from bayesmend.learning.counting import (
    Counts,
    Sums,
    add_sums,
    is_sampled,
    on_grid,
    whole_counts,
)
from bayesmend.network.flat import parents_of

__all__ = [
    "Coding",
    "Part",
    "PartTold",
    "code",
    "expect",
    "gather_file",
    "gather_frame",
    "numbers_of",
    "sample",
    "size_of",
    "summed",
    "summed_counts",
    "tell",
    "whole",
    "whole_under",
]


class PartTold(NamedTuple):
    """What a part says of its columns, without its cells."""

    columns: list[PartColumn]
    n_rows: int
    markers: frozenset[str]


class Coding(NamedTuple):
    """How the cells of a variable are coded."""

    position: int
    table: Mapping[Label, int]
    """By label; for a variable that is cut not looked at."""
    rule: Discretization | None
    """Where it is cut."""
    name: str


class PartSize(NamedTuple):
    """How large a coded part is."""

    n_rows: int
    n_missing: int
    largest_weight: float
    digest: int


@dataclass(slots=True, eq=False)
class Part:
    """The coded rows of a part, and what they were last compiled for."""

    columns: NDArray[np.uint8]
    weights: Counts | None
    first_row: int
    known: tuple[tuple[object, ...], Any] | None = None

    def __getstate__(self) -> tuple[Any, ...]:
        """Leave out what the core holds, which is made again."""
        return self.columns, self.weights, self.first_row

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.columns, self.weights, self.first_row = state
        self.known = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[1])


# --- reading --------------------------------------------------------------------------


def gather_frame(
    frame: Any, names: tuple[str, ...], markers: frozenset[str], called: str
) -> Gathering:
    """Read a part that is a frame in memory."""
    return _gathered([open_table(frame)], names, markers, called, ".")


def gather_file(
    path: Path, files: FileOptions, names: tuple[str, ...], markers: frozenset[str]
) -> Gathering:
    """Read a part that is a file, block by block."""
    file = open_blocks(path, files)
    if len(file.headers) != len(names):
        message = (
            f"{path.name} has {len(file.headers)} columns on the worker, and"
            f" {len(names)} where the work was given. Let all see the same files."
        )
        raise DataError(message)
    return _gathered(file.blocks(), names, markers, path.name, file.decimal)


def _gathered(
    blocks: Any,
    names: tuple[str, ...],
    markers: frozenset[str],
    called: str,
    decimal: str,
) -> Gathering:
    gathering, n_rows = Gathering(names, decimal), 0
    for block in blocks:
        source: Source = block
        source.first_row = n_rows
        source.prepare(names, markers)
        gathering.take(source, called)
        n_rows += source.n_rows
    gathering.finish()
    return gathering


def tell(gathering: Gathering) -> PartTold:
    """Return what is known of a part but its cells."""
    told = [column.told() for column in gathering.columns]
    return PartTold(told, gathering.n_rows, gathering.markers)


def numbers_of(gathering: Gathering, position: int) -> Counts:
    """Return a column of a part as numbers, NaN where missing."""
    column = gathering.columns[position]
    if column.numbers is not None:
        return np.array(column.numbers.all)
    if column.packed is None:
        message = f"variable {column.name!r} holds other values than numbers."
        raise DataError(message)
    table = np.full(MISSING + 1, np.nan)
    for label, place in column.labels.items():
        table[place] = number_of(label, column.decimal)
    numbers: Counts = table[column.packed.cells]
    return numbers


def code(
    gathering: Gathering,
    codings: Sequence[Coding],
    weights_at: int | None,
    first_row: int,
) -> Part:
    """Code the cells of a part."""
    columns = np.empty((len(codings), gathering.n_rows), dtype=np.uint8)
    for row, coding in zip(columns, codings, strict=True):
        if coding.rule is not None:
            numbers = numbers_of(gathering, coding.position)
            row[:] = coding.rule.codes(coding.name, numbers)
        else:
            row[:] = _coded(gathering.columns[coding.position], coding.table)
    weights = None if weights_at is None else numbers_of(gathering, weights_at)
    return Part(columns, weights, first_row)


def _coded(column: Gathered, known: Mapping[Label, int]) -> NDArray[np.uint8]:
    if column.packed is None:
        message = f"variable {column.name!r} has too many states in a part."
        raise DataError(message)
    table = np.full(MISSING + 1, MISSING, dtype=np.uint8)
    for label, place in column.labels.items():
        if place < MISSING:
            table[place] = known.get(label, MISSING)
    coded: NDArray[np.uint8] = table[column.packed.cells]
    return coded


# --- counting -------------------------------------------------------------------------


def size_of(part: Part) -> PartSize:
    """Tell how large a part is, and what its cells are by a number."""
    largest = 1.0 if part.weights is None else float(part.weights.max(initial=0.0))
    is_missing = part.columns == MISSING
    # A sum over rows does not depend on how they are parted.
    place = (np.arange(len(part.columns), dtype=np.uint64) + np.uint64(1)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    totals = part.columns.sum(axis=1, dtype=np.uint64)
    return PartSize(
        part.n_rows,
        int(np.count_nonzero(is_missing)),
        largest,
        int((totals * place).sum(dtype=np.uint64)),
    )


def sample(part: Part, n_rows: int, of: int) -> tuple[NDArray[np.uint8], Counts | None]:
    """Return the rows of a part that are in a sample, and their weights."""
    rows = np.arange(part.first_row, part.first_row + part.n_rows)
    chosen = np.flatnonzero(is_sampled(rows, n_rows, of))
    weights = None if part.weights is None else part.weights[chosen]
    return np.ascontiguousarray(part.columns[:, chosen]), weights


def _weights(part: Part, grid: float) -> Counts:
    return np.empty(0) if part.weights is None else on_grid(part.weights, grid)


def whole(
    parts: Sequence[Part],
    card: NDArray[np.int32],
    sets: Sequence[Sequence[int]],
    grid: float,
) -> list[Counts]:
    """Count the rows of some parts that show all variables of sets."""
    return summed_counts(
        [
            whole_counts(part.columns, card, _weights(part, grid), sets, 1)
            for part in parts
        ]
    )


def summed_counts(parts: Sequence[list[Counts]]) -> list[Counts]:
    """Add up counts of parts, all of them multiples of the grid."""
    return [np.sum(counts, axis=0) for counts in zip(*parts, strict=True)]


def summed(parts: Sequence[Sums]) -> Sums:
    """Add up expectations of parts."""
    return add_sums(parts)


def whole_under(
    parts: Sequence[Part], dag: Dag, card: NDArray[np.int32], grid: float
) -> list[Counts]:
    """Count the rows of some parts that show families whole."""
    return summed_counts(
        [[_evidence(part, dag, card, grid).observed_counts] for part in parts]
    )


def expect(
    parts: Sequence[Part],
    cpts: Counts,
    dag: Dag,
    card: NDArray[np.int32],
    grid: float,
    max_memory: float,
) -> Sums:
    """Return what a network expects of the rows of some parts."""
    engine, sums = Engine(n_threads=1, max_memory=max_memory), []
    for part in parts:
        evidence = _evidence(part, dag, card, grid)
        engine.fit_threads(evidence.size, dag.names)
        sums.append(evidence.expect(cpts, 1))
    return add_sums(sums)


def _evidence(
    part: Part, dag: Dag, card: NDArray[np.int32], grid: float
) -> _core.Evidence:
    """Compile the rows of a part for a structure, unless they are."""
    key = (dag.parents, grid)
    if part.known is None or part.known[0] != key:
        evidence = _core.Evidence(
            card, *parents_of(dag), part.columns, _weights(part, grid), grid, 1
        )
        part.known = key, evidence
    found: _core.Evidence = part.known[1]
    return found
