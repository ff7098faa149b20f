"""A table on a cluster: what its columns are, and its coded rows, counted there.

Parts are read where they are. What they say of their columns, some labels and counts,
comes here and decides what reading the whole table would decide. Then they are coded,
and stay on their workers for as long as the table is wanted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._link import Link, handed_on
from bayesmend.data.discretize import Discretization
from bayesmend.data.encode import Encoded, check_weights, encode
from bayesmend.data.gathered import Gathered, total_markers
from bayesmend.data.parts import files_of, open_parts, tell_redeclared
from bayesmend.data.reading import ReadingOptions
from bayesmend.data.sources import KEPT_VALUES, Source
from bayesmend.data.states import Column, Label
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import MAX_MEMORY
from bayesmend.learning.cluster import workers
from bayesmend.learning.counting import (
    Counts,
    Expected,
    expected_from,
    grid_of,
)

__all__ = ["CountingThere", "read_there"]


class SourceThere(Source):
    """The parts of a table, read on workers."""

    is_here = is_kept = False

    def __init__(self, link: Link) -> None:
        self.link = link
        self.notes: list[str] = []
        self.n_rows = 0
        self.codings: list[workers.Coding] = []
        self.gathered: list[Any] = []
        self.sizes: list[int] = []
        self._joined: list[Gathered] = []

    @property
    def called(self) -> str:
        """What messages call the table."""
        return "the table on the cluster"

    @abstractmethod
    def gather(self, markers: frozenset[str]) -> list[Any]:
        """Have the parts read; return the answers to come."""

    def part_called(self, number: int) -> str:
        """Say which part it is."""
        return f"partition {number}"

    def prepare(self, names: tuple[str, ...], markers: frozenset[str]) -> None:
        """Settle names and markers, and have all parts read."""
        super().prepare(names, markers)
        told = self._read()
        found = markers.union(*(part.markers for part in told))
        if found - markers:  # numbers as the parts write them
            self.markers = found
            told = self._read()
        self.sizes = [part.n_rows for part in told]
        self.n_rows = sum(self.sizes)
        self._joined = [Gathered(name, self.decimal) for name in names]
        for number, part in enumerate(told):
            for joined, column in zip(self._joined, part.columns, strict=True):
                joined.join(column, self.part_called(number))
        for joined in self._joined:
            joined.settle()
        self.notes += tell_redeclared(self._joined)
        total: dict[str, int] = {}
        for joined in self._joined:
            for marker, count in joined.markers.items():
                total[marker] = total.get(marker, 0) + count
        self.marker_counts = {marker: total[marker] for marker in sorted(total)}

    def _read(self) -> list[workers.PartTold]:
        self.gathered = self.gather(self.markers)
        told = [self.link.submit(workers.tell, part) for part in self.gathered]
        found: list[workers.PartTold] = self.link.gather(told)
        return found

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return the labels of a column; its cells stay where they are."""
        joined = self._joined[position]
        column = joined.column()
        if joined.packed is None and column.is_numeric and not column.trouble:
            numbers = self.numbers(position)
            n_distinct = len(np.unique(numbers[~np.isnan(numbers)]))
            return replace(column, n_distinct=n_distinct, is_bound=False)
        return column

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Bring a column here as floats, NaN where missing."""
        column = self._joined[position].column()
        if column.trouble:
            raise DataError(column.trouble)
        if not column.is_numeric:
            message = (
                f"variable {column.name!r} holds other values than numbers, and only"
                " numbers are cut on a cluster or serve as weights."
            )
            raise DataError(message)
        tasks = [
            self.link.submit(workers.numbers_of, part, position)
            for part in self.gathered
        ]
        parts = self.link.gather(tasks)
        return np.concatenate(parts) if parts else np.empty(0)

    def dates(self, position: int) -> NDArray[np.float64]:
        """Refuse to cut dates."""
        message = (
            f"variable {self.names[position]!r} holds dates, which are not cut on a"
            " cluster. Make them numbers before."
        )
        raise DataError(message)

    def count_markers(self, positions: Iterable[int]) -> dict[str, int]:
        """Count the cells of some columns that each marker stands in."""
        return total_markers(self._joined[position] for position in positions)

    def values(self, position: int) -> list[Any]:
        """Refuse to bring the cells of a column here."""
        message = (
            f"the values of {self.names[position]!r} stay on the cluster. Join its"
            " labels before, or read the table here."
        )
        raise DataError(message)

    def codes(
        self,
        positions: Sequence[int],
        columns: Sequence[Column | None],
        tables: Sequence[NDArray[np.uint8]],
    ) -> NDArray[np.uint8]:
        """Keep what cells are to be coded by; none of them comes here."""
        self.codings = []
        for position, column, table in zip(positions, columns, tables, strict=True):
            known: dict[Label, int] = {}
            if column is not None:
                known = {v: int(table[k]) for k, v in enumerate(column.values)}
            name = self.names[position]
            self.codings.append(workers.Coding(position, known, None, name))
        return np.empty((0, len(positions)), dtype=np.uint8, order="F")

    def place(self, row: int) -> str:
        """Say in words in which part a row is."""
        for number, size in enumerate(self.sizes):
            if row < size:
                return f" in row {row} of {self.part_called(number)}"
            row -= size
        return ""

    def place_of_value(self, column: Column, position: int) -> str:
        """Say that a value occurs."""
        return " somewhere"


class FramesThere(SourceThere):
    """The partitions of a dask data frame."""

    kind = "pandas"

    def __init__(self, link: Link, frame: Any) -> None:
        super().__init__(link)
        self.frame = frame
        self.headers, self.dtypes = tuple(frame.columns), tuple(frame.dtypes)

    def gather(self, markers: frozenset[str]) -> list[Any]:
        """Have the partitions read; return the answers to come."""
        with self.link.told():
            parts = self.link.client.compute(self.frame.to_delayed())
        return [
            self.link.submit(
                workers.gather_frame, part, self.names, markers, self.part_called(k)
            )
            for k, part in enumerate(parts)
        ]


class FilesThere(SourceThere):
    """Files that all workers see."""

    def __init__(self, link: Link, given: Any, options: ReadingOptions) -> None:
        super().__init__(link)
        paths = files_of(given) or [given]
        self.parts = open_parts(paths, options.file, self.notes)
        first = self.parts[0]
        self.kind = first.kind
        self.headers, self.dtypes = first.headers, first.dtypes
        self.decimal, self.delimiter = first.decimal, first.delimiter
        self.notes += [note for note in first.notes if note not in self.notes]
        self.doubts = first.doubts
        self._files = first.like(options.file)

    def part_called(self, number: int) -> str:
        """Name the file."""
        return self.parts[number].path.name

    def gather(self, markers: frozenset[str]) -> list[Any]:
        """Have the files read; return the answers to come."""
        return [
            self.link.submit(
                workers.gather_file,
                part.path.resolve(),
                self._files,
                self.names,
                markers,
            )
            for part in self.parts
        ]


def read_there(link: Link, data: Any, options: ReadingOptions) -> CountingThere:
    """Have a table read on a cluster: a dask data frame, or files all workers see."""
    source: SourceThere
    if _is_dask_frame(data):
        options.file.refuse("a dask data frame")
        source = FramesThere(link, data)
    elif isinstance(data, IncompleteData):
        message = (
            "the table is in memory already. Give the files or the dask data frame it"
            " comes from, or leave client out."
        )
        raise ParameterError(message)
    else:
        source = FilesThere(link, data, options)
    if options.normalise or not (options.weights is None or _is_name(options.weights)):
        message = (
            "on a cluster, labels are not joined and weights are the name of a column."
            " Join them before, or read the table here."
        )
        raise ParameterError(message)
    encoded = encode(source, options)
    weights_at = None
    if options.weights is not None:
        weights_at = source.names.index(str(options.weights))
    return CountingThere(link, source, encoded, weights_at)


def _is_dask_frame(data: Any) -> bool:
    return hasattr(data, "to_delayed") and hasattr(data, "dtypes")


def _is_name(weights: object) -> bool:
    return isinstance(weights, str)


class CountingThere:
    """A table whose coded rows are on workers; see `Counting`."""

    def __init__(
        self,
        link: Link,
        source: SourceThere,
        encoded: Encoded,
        weights_at: int | None,
    ) -> None:
        self.link = link
        self.names, self.states = encoded.names, encoded.states
        self.card = np.array([len(labels) for labels in self.states], dtype=np.int32)
        self.schema, self.discretization = encoded.schema, encoded.discretization
        self.notes = encoded.notes
        self.max_memory: float = MAX_MEMORY
        codings = [_cut(coding, self.discretization) for coding in source.codings]
        starts = np.cumsum([0, *source.sizes]).tolist()
        self.parts = [
            link.submit(workers.code, part, codings, weights_at, first)
            for part, first in zip(source.gathered, starts[:-1], strict=True)
        ]
        sizes: list[workers.PartSize] = link.gather(
            [link.submit(workers.size_of, part) for part in self.parts]
        )
        # What was read is given up; should a worker end, it is read again.
        source.gathered = []
        self.n_rows = source.n_rows
        self.n_missing = sum(size.n_missing for size in sizes)
        self.digest = sum(size.digest for size in sizes) % 2**64
        self.is_weighted = weights_at is not None
        self.grid, self.total = 1.0, float(self.n_rows)
        if self.is_weighted:
            assert encoded.weights is not None
            check_weights(encoded.weights, self.n_rows)
            largest = max((size.largest_weight for size in sizes), default=0.0)
            self.grid = grid_of(self.n_rows, largest)
            self.total = float((np.rint(encoded.weights / self.grid) * self.grid).sum())

    @property
    def n_bytes(self) -> int:
        """Bytes of all cells."""
        return self.n_rows * len(self.names)

    def sample(self, n_rows: int) -> IncompleteData:
        """Bring some of the rows here; see `Counting`."""
        tasks = [
            self.link.submit(workers.sample, part, n_rows, self.n_rows)
            for part in self.parts
        ]
        found = self.link.gather(tasks)
        columns = np.concatenate([columns for columns, _ in found], axis=1)
        weights = None
        if self.is_weighted:
            weights = np.concatenate([weights for _, weights in found])
        data = IncompleteData.from_codes(
            columns.T, names=self.names, states=self.states, weights=weights
        )
        if n_rows < self.n_rows:
            return data
        return replace(data, schema=self.schema, discretization=self.discretization)

    def whole(self, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Count rows where they are; see `Counting`."""
        if not sets:
            return []
        tasks = [
            self.link.submit(
                workers.whole, group, self.card, sets, self.grid, place=place
            )
            for place, group in self.groups()
        ]
        found: list[Counts] = self.link.summed(workers.summed_counts, tasks)
        return found

    def groups(self) -> list[tuple[str, list[Any]]]:
        """Return the parts by the threads that are to count them, where they are.

        With a task for each thread, no part travels to one that is idle. A worker that
        has ended leaves its parts to others, which make them again.
        """
        return self.link.by_thread(self.parts)

    def under(self, dag: Dag) -> ExpectingThere:
        """Have all rows compiled for a structure; see `Counting`."""
        return ExpectingThere(self, dag)

    def release(self) -> None:
        """Give up the rows on the workers."""
        self.parts = []


class ExpectingThere:
    """Rows on workers, compiled for a structure; see `Expecting`."""

    def __init__(self, counting: CountingThere, dag: Dag) -> None:
        self.counting, self.dag = counting, dag
        self.groups = counting.groups()
        tasks = [
            counting.link.submit(
                workers.whole_under,
                group,
                dag,
                counting.card,
                counting.grid,
                place=place,
            )
            for place, group in self.groups
        ]
        self.whole: Counts = counting.link.summed(workers.summed_counts, tasks)[0]
        self.max_memory = counting.max_memory

    def expect(self, cpts: Counts) -> Expected:
        """Return what is expected; see `Expecting`."""
        counting = self.counting
        given = counting.link.submit(handed_on, np.array(cpts))
        tasks = [
            counting.link.submit(
                workers.expect,
                group,
                given,
                self.dag,
                counting.card,
                counting.grid,
                self.max_memory,
                place=place,
            )
            for place, group in self.groups
        ]
        sums = counting.link.summed(workers.summed, tasks)
        return expected_from(self.whole, sums, cpts, counting.grid)


def _cut(coding: workers.Coding, rule: Discretization | None) -> workers.Coding:
    """Give a coding the points where its variable is cut."""
    if rule is None or coding.name not in rule.names:
        return coding
    return coding._replace(rule=rule.only([coding.name]))
