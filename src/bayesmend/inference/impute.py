"""Fill the missing cells of a table from a network, and say how sure each one is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice, check_goes_with, check_integer
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend.data.cells import CompletedCells, join_cells
from bayesmend.data.reading import Reading
from bayesmend.data.restore import Fill
from bayesmend.data.states import MISSING, MISSING_MARKERS
from bayesmend.data.table import IncompleteData
from bayesmend.errors import InferenceError, ParameterError
from bayesmend.inference.align import NewData, Unknown, read_for
from bayesmend.inference.answers import Marginals
from bayesmend.inference.averages import draws_of, marginals_of
from bayesmend.inference.engine import (
    INFERENCES,
    MAX_MEMORY,
    Engine,
    Inference,
    samples_for,
)
from bayesmend.network.mixture import Mixture, Model, ModelLike, model_of
from bayesmend.network.network import Network
from bayesmend.network.support import is_supported
from bayesmend.seed import Seed

__all__ = [
    "IMPUTATIONS",
    "Imputation",
    "impute",
    "list_cells",
    "most_probable_each",
    "with_evidence",
]

How = Literal["mpe", "marginal", "draw"]
UseOfMechanism = Literal["use", "always", "ignore"]
IMPUTATIONS = get_args(How)

# What the arrays of `CompletedCells` take for each cell.
_BYTES_PER_CELL, _BYTES_PER_LABEL, _BYTES_PER_FLAG = 34, 8, 1
# Rows that are filled at once.
_ROWS_AT_ONCE = 2**18
_TIE = 1e-9  # relative: states this close count as equally probable


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Imputation(Shown):
    """Completed tables, and how sure each imputed cell is.

    Parameters
    ----------
    tables : tuple of IncompleteData
        The table without missing cells, but for rows in which nothing is observed: one
        table, or one per draw.
    cells : CompletedCells
        Each imputed cell with its posterior probability and its runner-up.
    method : str
        ``mpe``, ``marginal`` or ``draw``.
    inference : str
        ``exact`` or ``weighting``.
    source : NewData
        The table that was given, in the codes of the network.
    fill : str
        Whether variables that are cut come back as a ``number`` or an ``interval``.
    n_empty_rows : int
        Number of rows in which nothing is observed that the network knows.
    effective_samples : ndarray of shape (n_rows,), optional
        From weighting: how many unweighted samples of each row would be as good.
    """

    tables: tuple[IncompleteData, ...]
    cells: CompletedCells
    method: str
    inference: str
    source: NewData
    fill: Fill = "number"
    n_empty_rows: int = 0
    effective_samples: NDArray[np.float64] | None = None

    @property
    def completed(self) -> IncompleteData:
        """The (first) completed table: the variables of the network."""
        return self.tables[0]

    @property
    def n_draws(self) -> int:
        """Number of completed tables."""
        return len(self.tables)

    @property
    def extra(self) -> tuple[str, ...]:
        """Columns that the network does not know; they are kept as they are."""
        return self.source.extra

    @property
    def absent(self) -> tuple[str, ...]:
        """Variables that the table lacked; they come last."""
        return self.source.absent

    @property
    def unknown(self) -> dict[str, int]:
        """Number of labels that the network does not know, by variable."""
        return self.source.count_unknown(self.cells.names)

    def to_table(self, number: int = 0) -> Any:
        """Return a completed table of the kind given, with all its columns."""
        return self.tables[number].to_table(fill=self.fill)

    def write_csv(
        self,
        path: str | os.PathLike[str],
        number: int = 0,
        *,
        missing: Iterable[str | float] = MISSING_MARKERS,
    ) -> None:
        """Write a completed table as CSV, with all columns of the one given."""
        self.tables[number].write_csv(path, missing=missing, fill=self.fill)

    def to_dict(self) -> dict[str, Any]:
        """Return all but the cells in plain types, ready for JSON."""
        p = self.cells.probabilities
        assert p is not None
        counts = np.bincount(self.cells.variables, minlength=len(self.cells.names))
        per_table = (counts // self.n_draws).tolist()
        return {
            "method": self.method,
            "inference": self.inference,
            "n_rows": self.completed.n_rows,
            "n_imputed": len(self.cells) // self.n_draws,
            "n_draws": self.n_draws,
            "imputed": dict(zip(self.cells.names, per_table, strict=True)),
            "mean_probability": float(p.mean()) if len(p) else None,
            "lowest_probability": float(p.min()) if len(p) else None,
            "lowest_effective_samples": self._lowest_effective(),
            "extra": list(self.extra),
            "absent": list(self.absent),
            "unknown": self.unknown,
            "n_empty_rows": self.n_empty_rows,
        }

    def _lowest_effective(self) -> float | None:
        """Return that of the row worst off, among those with imputed cells."""
        if self.effective_samples is None or not len(self.cells):
            return None
        return float(self.effective_samples[self.cells.rows].min())

    def __repr__(self) -> str:
        tables = f", {self.n_draws} tables" if self.method == "draw" else ""
        n_cells = len(self.cells) // self.n_draws
        n_empty = self.n_empty_rows
        empty = f", n_empty_rows={n_empty}" if n_empty else ""
        return f"Imputation({self.method}, {n_cells:,} cells{tables}{empty})"


@entrance
def impute(
    network: ModelLike,
    data: Any,
    *,
    method: How | None = None,
    n_draws: int = 1,
    seed: Seed = None,
    inference: Inference = "exact",
    n_samples: int | None = None,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    fill: Fill = "number",
    fill_empty_rows: bool = False,
    mechanism: UseOfMechanism = "use",
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
    **reading: Unpack[Reading],
) -> Imputation:
    """Fill the missing cells of a table, training data or new rows, from a network.

    An observed cell is never altered, and columns that the network does not know (an
    identifier, say) come back as they are. Numbers are cut as those of the table that
    the network was learned from, and filled with numbers.

    Parameters
    ----------
    {model}
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells. Variables are matched by name and states by label.
    method : {"mpe", "marginal", "draw"}, optional
        ``mpe``: the most probable states of all missing cells of a row together; the
        default for a network. ``marginal``: of each cell by itself; the default for an
        ensemble, which has no ``mpe``. ``draw``: at random from the joint posterior
        distribution; from an ensemble each table from one member.
    n_draws : int, default=1
        Number of completed tables, for ``draw``.
    seed : int, Generator or None
        Source of randomness, for ``draw`` and weighting.
    inference : {"exact", "weighting"}, default="exact"
        ``weighting`` estimates from samples, for networks too dense for ``exact``.
        ``mpe`` is always exact.
    n_samples : int, optional
        Samples per row, for weighting; 10,000 by default.
    allow_absent : bool, default=False
        Whether the table may lack variables of the network; these are then missing in
        every row, and are added as columns.
    {unknown}
    fill : {"number", "interval"}, default="number"
        How variables that are cut come back. ``number``: what was observed as it was,
        and a missing cell as the median of the numbers that were observed within its
        interval, rounded as they are; with ``method="draw"`` as one of them, drawn.
        ``interval``: all of them as intervals.
    {fill_empty_rows}
    mechanism : {"use", "always", "ignore"}, default="use"
        Whether it is evidence that a cell is missing, where the network knows why (see
        `learn_em`). With ``use`` it is none of a variable that is missing in every row,
        as one is that the table was never asked for; with ``always`` it is, so that a
        row gets the same answer alone as among others.
    {n_threads}
    max_memory : float, default=2**30
        Bytes that the tables of exact inference may take, and the completed tables
        and their cells when there are several draws.
    {reading}

    Returns
    -------
    Imputation
        Completed tables; each imputed cell with its probability and runner-up.

    Raises
    ------
    InferenceError
        When an incomplete row has probability zero, or the tables would be too large.

    Warns
    -----
    ShortfallWarning
        When weighting has fewer effective samples of a row than draws, so that the
        draws repeat each other.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> rows = {"id": [17], **{name: [None] for name in asia.names}, "xray": ["yes"]}
    >>> found = bm.impute(asia, rows)
    >>> found.to_table()["id"], found.to_table()["lung"]
    ([17], ['yes'])
    """
    network = model_of(network)
    if method is None:
        method = "marginal" if isinstance(network, Mixture) else "mpe"
    _check(method, inference, n_draws)
    _require_one_network(method, network)
    check_choice("fill", fill, get_args(Fill))
    check_choice("mechanism", mechanism, get_args(UseOfMechanism))
    approximate = spell("inference", "weighting")
    remedy = f"or use {approximate} with {_marginal_or_draw()}"
    n_samples = samples_for(inference, n_samples)
    engine = Engine(inference, n_samples, seed, n_threads, max_memory, remedy)
    new = read_for(network, data, allow_absent=allow_absent, unknown=unknown, **reading)
    engine.require_room(n_draws, _bytes_per_draw(network, new))
    asked, given = with_evidence(network, new, mechanism)
    fill_in = _Filler(network, asked, new, given, engine, method, n_draws)
    blocks = _blocks_of(new.n_rows) if fill_in.suits_blocks else []
    if len(blocks) > 1:
        try:
            completed, cells, n_empty = _by_blocks(fill_in, blocks, fill_empty_rows)
        except InferenceError:
            blocks = []  # whose message is of all rows
    tables: tuple[IncompleteData, ...]
    if len(blocks) > 1:
        tables, effective = (completed,), None
    else:
        filled, cells, effective = fill_in(new, given)
        key = engine.key() if method == "draw" else None
        fillable = new.fillable(fill_empty_rows=fill_empty_rows)
        cells = _those(cells, fillable[cells.variables, cells.rows])
        tables = new.all_completed(filled, key, fillable)
        n_empty = int(new.empty_rows.sum())
    return Imputation(
        tables=tables,
        cells=cells,
        method=method,
        inference=inference,
        source=new,
        fill=fill,
        n_empty_rows=n_empty,
        effective_samples=effective,
    )


@dataclass(frozen=True, slots=True)
class _Filler:
    """A network, and how it is to fill the cells of a table, or of some of its rows."""

    network: Model
    asked: Model  # with the mechanism, where that counts
    new: NewData
    given: NDArray[np.uint8]
    engine: Engine
    method: How
    n_draws: int

    @property
    def suits_blocks(self) -> bool:
        """Whether rows are filled one by one, and nothing else is told of them."""
        is_one = isinstance(self.asked, Network) and self.engine.inference == "exact"
        return is_one and self.method != "draw"

    def __call__(
        self, new: NewData, given: NDArray[np.uint8], first_row: int = 0
    ) -> tuple[NDArray[np.uint8], CompletedCells, NDArray[np.float64] | None]:
        """Return filled cells, the list of them, and effective samples."""
        network, asked, engine = self.network, self.asked, self.engine
        compiled = None
        if engine.inference == "exact" and not isinstance(asked, Mixture):
            compiled = engine.compile(asked, given)
        found = marginals_of(asked, given, engine, compiled=compiled)
        effective = found.effective_samples
        if self.method == "mpe":
            assert compiled is not None
            filled = compiled.most_probable()[0][None]
        elif self.method == "draw":
            filled, effective = draws_of(
                asked, given, engine, self.n_draws, compiled=compiled
            )
        else:
            filled = most_probable_each(given, found)[None]
        filled = filled[:, : len(network.names)]
        found = _without_indicators(network, found)
        cells = list_cells(network, new, filled, found, first_row=first_row)
        return filled, cells, effective


def _blocks_of(n_rows: int) -> list[tuple[int, int]]:
    starts = range(0, n_rows, _ROWS_AT_ONCE)
    return [(start, min(start + _ROWS_AT_ONCE, n_rows)) for start in starts]


def _by_blocks(
    fill_in: _Filler, blocks: list[tuple[int, int]], fill_empty_rows: bool
) -> tuple[IncompleteData, CompletedCells, int]:
    """Fill some rows after the other, which takes less memory.

    Returns the completed table, its cells, and the number of empty rows.
    """
    new, n_empty = fill_in.new, 0
    codes = new.data.codes.copy(order="F")
    listed: list[CompletedCells] = []
    for first, last in blocks:
        part = new.rows_between(first, last)
        given = np.ascontiguousarray(fill_in.given[:, first:last])
        filled, cells, _ = fill_in(part, given, first)
        fillable = part.fillable(fill_empty_rows=fill_empty_rows)
        part.fill(codes[first:last], filled[0], fillable)
        listed.append(_those(cells, fillable[cells.variables, cells.rows - first]))
        n_empty += int(part.empty_rows.sum())
    return new.with_filled(codes), join_cells(listed), n_empty


def _those(cells: CompletedCells, which: NDArray[np.bool_]) -> CompletedCells:
    return cells if which.all() else cast(CompletedCells, cells[which])


def with_evidence(
    network: Model, new: NewData, mechanism: UseOfMechanism
) -> tuple[Model, NDArray[np.uint8]]:
    """Add to a network and its cells that some are missing, if it knows why."""
    if mechanism == "ignore" or network.mechanism is None:
        return network, new.cells
    asked = None
    if mechanism == "always":
        asked = [name for name in network.names if name not in new.absent]
    indicators = network.mechanism.indicators(network.names, new.cells, asked)
    return network.with_indicators(), np.ascontiguousarray(
        np.concatenate([new.cells, indicators])
    )


def _without_indicators(network: Model, found: Marginals) -> Marginals:
    n = len(network.names)
    return replace(
        found,
        names=found.names[:n],
        states=found.states[:n],
        rows=found.rows[:n],
        probabilities=found.probabilities[:n],
        errors=None if found.errors is None else found.errors[:n],
    )


def _check(method: str, inference: str, n_draws: int) -> None:
    check_choice("method", method, IMPUTATIONS)
    check_choice("inference", inference, INFERENCES)
    check_integer("n_draws", n_draws, 1)
    if n_draws != 1:
        check_goes_with("n_draws", n_draws, "method", method, ("draw",))
    if method == "mpe" and inference != "exact":
        msg = (
            "the most probable states together have no approximate method. Use "
            f"{_marginal_or_draw()} with {spell('inference', 'weighting')}."
        )
        raise ParameterError(msg)


def _marginal_or_draw() -> str:
    return f"{spell('method', 'marginal')} or {spell('method', 'draw')}"


def _require_one_network(method: str, model: Model) -> None:
    if method == "mpe" and isinstance(model, Mixture):
        msg = (
            f"an ensemble cannot tell the most probable states together. Use "
            f"{_marginal_or_draw()}, or impute from one of its members."
        )
        raise ParameterError(msg)


def most_probable_each(cells: NDArray[np.uint8], found: Marginals) -> NDArray[np.uint8]:
    """Fill each missing cell by itself; among equally probable states the first."""
    filled = cells.copy()
    for v, (at, p) in enumerate(zip(found.rows, found.probabilities, strict=True)):
        best = p.max(axis=1, keepdims=True, initial=0.0)
        filled[v, at] = (p >= best * (1 - _TIE)).argmax(axis=1)
    return filled


def _bytes_per_draw(network: Model, new: NewData) -> int:
    """Return what each draw keeps: its cells in two codings, and those imputed."""
    n_missing = int((new.cells == MISSING).sum())
    has_labels = new.data.origin.row_labels is not None
    per_cell = _BYTES_PER_CELL + _BYTES_PER_LABEL * has_labels
    has_flags = isinstance(network, Mixture) or network.support is not None
    per_cell += _BYTES_PER_FLAG * has_flags
    return int(new.cells.size + new.data.codes.size + per_cell * n_missing)


def list_cells(
    network: Model,
    new: NewData,
    filled: NDArray[np.uint8],
    found: Marginals,
    *,
    first_row: int = 0,
) -> CompletedCells:
    """List the missing cells of a table as completed tables fill them.

    ``filled`` has the shape (n_draws, n_vars, n_rows); ``found`` is of all variables.
    The rows are those of the table from `first_row` on.
    """
    rows, probabilities = found.rows, found.probabilities
    n_draws, counts = len(filled), [len(at) for at in rows]
    at = np.concatenate(rows)
    variables = np.repeat(np.arange(len(network.names)), counts)
    place = np.array(new.columns, dtype=np.intp)[variables]
    order = np.lexsort((place, at))  # the same in every table
    at, variables = at[order], variables[order]
    best, second = (
        np.concatenate(states)[order] for states in _best_two(probabilities)
    )
    # The distributions lie end to end; where that of each cell starts.
    sizes = np.repeat([p.shape[1] for p in probabilities], counts)
    start = (np.cumsum(sizes) - sizes)[order]
    flat = np.concatenate([p.ravel() for p in probabilities])
    n_cells = len(at)
    codes = np.empty(n_draws * n_cells, dtype=np.uint8)
    chances, runners_up = np.empty(len(codes)), np.empty_like(codes)
    supports = [_supported_cells(network, cells) for cells in filled]
    for number, cells in enumerate(filled):
        part = slice(number * n_cells, (number + 1) * n_cells)
        codes[part] = cells[variables, at]
        chances[part] = flat[start + codes[part]]
        runners_up[part] = np.where(codes[part] == best, second, best)
    at_all = np.tile(at, n_draws) + first_row
    return CompletedCells(
        rows=at_all,
        variables=np.tile(variables, n_draws),
        codes=codes,
        probabilities=chances,
        runners_up=runners_up,
        tables=np.repeat(np.arange(1, n_draws + 1), n_cells),
        row_labels=new.data.labels_of_rows(at_all),
        supported=None
        if supports[0] is None
        else np.concatenate(
            [flags[variables, at] for flags in supports if flags is not None]
        ),
        names=network.names,
        states=tuple(
            tuple(new.data.states[column][code] for code in labels[: len(states)])
            for column, labels, states in zip(
                new.columns, new.labels, network.states, strict=True
            )
        ),
    )


def _supported_cells(
    model: Model, cells: NDArray[np.uint8]
) -> NDArray[np.bool_] | None:
    """Tell of which cells of a completed table there are examples, where it is known.

    In a mixture more than half of the members that know must say so.
    """
    if not isinstance(model, Mixture):
        if model.support is None:
            return None
        return is_supported(model.support, model.card, model.dag.parents, cells)
    known = [
        is_supported(member.support, member.card, member.dag.parents, cells)
        for member in model.networks
        if member.support is not None and member.n_vars == len(cells)
    ]
    if not known:
        return None
    found: NDArray[np.bool_] = 2 * np.sum(known, axis=0) > len(known)
    return found


def _best_two(
    probabilities: tuple[NDArray[np.float64], ...],
) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
    """Return the most probable state of each cell, and the next; a lone one twice."""
    best, second = [], []
    for p in probabilities:
        first = p.argmax(axis=1)
        others = p.copy()
        others[np.arange(len(p)), first] = -1.0
        best.append(first.astype(np.uint8))
        second.append(others.argmax(axis=1).astype(np.uint8))
    return best, second
