"""Tables read for a network that is there already: its variables, its states.

What the network does not know stays with the table, and comes back with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice, check_flag
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.alike import are_states
from bayesmend.data.csv import open_source
from bayesmend.data.discretize import Discretization, fit_source, is_auto
from bayesmend.data.encode import Coder, GivenStates
from bayesmend.data.guesses import tell_guesses
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.data.sources import Source, is_missing
from bayesmend.data.states import (
    MISSING,
    Label,
    as_label,
    check_names,
    match_states,
    name_listing,
    position_of,
)
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ReadingWarning
from bayesmend.network.match import extend_states, recode
from bayesmend.network.mixture import Model, check_model

__all__ = ["NewData", "Unknown", "read_for"]

Unknown = Literal["error", "missing"]

_SAME = np.arange(MISSING + 1, dtype=np.uint8)  # each code stands for itself


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class NewData:
    """A table in the codes of a network, and the way back.

    Parameters
    ----------
    data : IncompleteData
        The variables of the network with the labels of the table, in the order of the
        table; those that the table lacks come last. Given an ``IncompleteData``, its
        other variables are here, too.
    cells : ndarray of shape (n_vars, n_rows)
        The same in the order and the codes of the network, 255 where missing.
    columns : tuple of int
        Position of each variable of the network in ``data``.
    labels : tuple of ndarray
        For each variable of the network, the code in ``data`` of each of its states.
    extra : tuple of str
        Columns of the table that the network does not know.
    absent : tuple of str
        Variables of the network that the table does not have.
    unknown : ndarray of bool, shape (n_vars, n_rows), optional
        Cells with a label that the network does not know, in its order. They are
        missing in ``cells`` and never filled. None where there is none.
    """

    data: IncompleteData
    cells: NDArray[np.uint8]
    columns: tuple[int, ...]
    labels: tuple[NDArray[np.uint8], ...]
    extra: tuple[str, ...]
    absent: tuple[str, ...]
    unknown: NDArray[np.bool_] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.cells.shape[1])

    @property
    def empty_rows(self) -> NDArray[np.bool_]:
        """Whether nothing that the network knows is observed, per row."""
        is_empty: NDArray[np.bool_] = (self.cells == MISSING).all(axis=0)
        return is_empty

    def fillable(self, *, fill_empty_rows: bool = True) -> NDArray[np.bool_]:
        """Tell which cells are to be filled, shape (n_vars, n_rows)."""
        check_flag("fill_empty_rows", fill_empty_rows)
        is_missing: NDArray[np.bool_] = self.cells == MISSING
        if self.unknown is not None:
            is_missing &= ~self.unknown
        if not fill_empty_rows:
            is_missing &= ~self.empty_rows
        return is_missing

    def count_unknown(self, names: Sequence[str]) -> dict[str, int]:
        """Count the labels that the network does not know, by variable."""
        if self.unknown is None:
            return {}
        counts = self.unknown.sum(axis=1).tolist()
        return {name: n for name, n in zip(names, counts, strict=True) if n}

    def completed(
        self,
        cells: NDArray[np.uint8],
        *,
        fillable: NDArray[np.bool_] | None = None,
        draw: tuple[int, ...] | None = None,
    ) -> IncompleteData:
        """Fill missing cells from cells in the codes of the network; keep all else.

        With a ``draw``, numbers are those of that draw instead of medians.
        """
        codes = self.data.codes.copy(order="F")
        self.fill(codes, cells, self.fillable() if fillable is None else fillable)
        return self.with_filled(codes, draw)

    def fill(
        self,
        codes: NDArray[np.uint8],
        cells: NDArray[np.uint8],
        fillable: NDArray[np.bool_],
    ) -> None:
        """Fill cells of codes of the table from those in the codes of the network."""
        for i in np.flatnonzero(fillable.any(axis=1)).tolist():
            column, hole = self.columns[i], fillable[i]
            codes[hole, column] = self.labels[i][cells[i, hole]]

    def with_filled(
        self, codes: NDArray[np.uint8], draw: tuple[int, ...] | None = None
    ) -> IncompleteData:
        """Return the table with codes that were filled, which are not copied."""
        codes.flags.writeable = False
        data = self.data.with_codes(codes)
        return replace(data, origin=replace(data.origin, draw=draw))

    def rows_between(self, first: int, last: int) -> NewData:
        """Return some rows in the codes of the network; ``data`` is still of all."""
        unknown = None if self.unknown is None else self.unknown[:, first:last]
        return replace(self, cells=self.cells[:, first:last], unknown=unknown)

    def all_completed(
        self,
        filled: NDArray[np.uint8],
        key: int | None,
        fillable: NDArray[np.bool_] | None = None,
    ) -> tuple[IncompleteData, ...]:
        """Complete the table several times, with a key for the draws of numbers."""
        return tuple(
            self.completed(
                cells, fillable=fillable, draw=None if key is None else (key, number)
            )
            for number, cells in enumerate(filled)
        )


def read_for(
    network: Model,
    table: Any,
    *,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    **reading: Unpack[Reading],
) -> NewData:
    """Read a table for a network.

    Variables are matched by name and states by label; a label that differs in type
    only (``1`` and ``"1"``) matches when no other does. A column may be missing
    throughout: the network knows its states. Numbers are cut as those of the table
    that the network was learned from.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> network = load_network("asia")
    >>> rows = {"id": ["r1"], **{name: [None] for name in network.names}}
    >>> new = read_for(network, rows)
    >>> new.data, new.extra
    (IncompleteData(1 row, 8 variables, 8 missing cells), ('id',))
    """
    check_model(network)
    check_choice("unknown", unknown, get_args(Unknown))
    if isinstance(table, IncompleteData):
        # Which refuses what cannot change a table that is read already.
        table = IncompleteData.from_table(table, **reading)
        if _has_other_cuts(network, table):
            return _read_again(network, table, allow_absent, unknown)
        return _from_data(network, table, allow_absent, unknown)
    options = ReadingOptions(**reading)
    source = open_source(table, options.file)
    with source.explained():
        names = check_names(source.headers, options.names)
        new = _from_source(network, source, names, allow_absent, unknown, options)
    if source.notes:
        message = tell_guesses(source.called, (), {}, {}, {}, source.notes)
        warn(message, ReadingWarning)
    return new


def _from_source(
    network: Model,
    source: Source,
    names: tuple[str, ...],
    allow_absent: bool,
    unknown: Unknown,
    options: ReadingOptions,
) -> NewData:
    absent = _absent(network, names, allow_absent)
    given = dict(zip(network.names, network.states, strict=True))
    present = [name for name in names if name in given]
    markers = _markers_for(network, source, options.missing)
    _check_markers({name: given[name] for name in present}, markers)
    source.prepare(names, markers)
    rule = _rule_for(network, source, present, options.discretize)
    coder = Coder(source, rule)
    extra = tuple(name for name in names if name not in given)
    passed = [names.index(name) for name in extra]
    odd: dict[str, set[Label]] | None = {} if unknown == "missing" else None
    normalise = options.normalise or (
        network.schema is not None and network.schema.normalise
    )
    rules = GivenStates(given, markers, normalise, odd, _or_missing())
    data = IncompleteData(*coder.code(present, rules, passed=passed))
    if absent:
        data = _with_absent(network, data, absent)
    columns, cells = _arranged(network, data)
    labels = (_SAME,) * len(network.names)
    found = _find_unknown(network, source, odd or {}, cells)
    return NewData(data, cells, columns, labels, extra, absent, found)


def _or_missing() -> str:
    return f" Correct it, or pass {spell('unknown', 'missing')}."


def _markers_for(network: Model, source: Source, missing: object) -> frozenset[str]:
    """Return the texts of missing cells: those given, or that the network remembers.

    In a file the usual ones count beside these, but for those that are states.
    """
    known = None if network.schema is None else network.schema.missing
    if missing is not None or known is None:
        return source.chosen_markers(missing)
    states = {str(label) for labels in network.states for label in labels}
    return source.chosen_markers(known) | (source.chosen_markers(None) - states)


def _rule_for(
    network: Model, source: Source, present: Sequence[str], discretize: Any
) -> Discretization | None:
    """Return where numbers are cut into the states of a network.

    What the caller says goes before what the network remembers.
    """
    rules: list[Discretization] = []
    settled: set[str] = set()
    if isinstance(discretize, Discretization):
        rules, settled = [discretize], set(discretize.names)
    elif isinstance(discretize, Mapping):
        for name in discretize:
            position_of(name, present)
        given = {str(name): how for name, how in discretize.items() if not is_auto(how)}
        settled = set(given)
        cutting = {name: how for name, how in given.items() if how is not None}
        rules = [fit_source(source, cutting)] if cutting else []
    known = None if network.schema is None else network.schema.discretization
    if known is not None and discretize is not None:
        states = dict(zip(network.names, network.states, strict=True))
        cut = known.only(
            name
            for name in present
            if name not in settled
            and not are_states(source, states[name], source.names.index(name))
        )
        rules += [] if cut is None else [cut]
    return Discretization.joined(rules)


def _find_unknown(
    network: Model,
    source: Source,
    odd: Mapping[str, set[Label]],
    cells: NDArray[np.uint8],
) -> NDArray[np.bool_] | None:
    """Return which cells hold labels that the network does not know, if any do."""
    if not odd:
        return None
    found = np.zeros(cells.shape, dtype=bool)
    for name, labels in odd.items():
        i = network.names.index(name)
        values = source.values(source.names.index(name))
        rows = np.flatnonzero(cells[i] == MISSING)
        found[i, rows] = [_label(values[row]) in labels for row in rows.tolist()]
    return found if found.any() else None


def _label(value: Any) -> Label | None:
    return None if is_missing(value, frozenset()) else as_label(value)


def _has_other_cuts(network: Model, data: IncompleteData) -> bool:
    """Tell whether numbers of a table are cut elsewhere than those of a network.

    The table itself must be there to be cut again, with no cell filled since.
    """
    origin = data.origin
    if origin.source is None or origin.codes is None:
        return False
    known = None if network.schema is None else network.schema.discretization
    rules = [data.discretization, known]
    cut = {name for rule in rules if rule is not None for name in rule.names}
    given = dict(zip(data.names, data.states, strict=True))
    is_other = any(
        MISSING in match_states(states, given[name])[: len(given[name])]
        for name, states in zip(network.names, network.states, strict=True)
        if name in cut and name in given
    )
    is_new = (data.codes != origin.codes) & (data.codes != MISSING)
    return is_other and not is_new.any()


def _read_again(
    network: Model, data: IncompleteData, allow_absent: bool, unknown: Unknown
) -> NewData:
    """Read the table that a table was read from, and hide what is hidden in it."""
    source, read = data.origin.source, data.origin.codes
    assert source is not None
    assert read is not None
    options = ReadingOptions(missing=tuple(source.markers))
    new = _from_source(network, source, source.names, allow_absent, unknown, options)
    codes, cells = new.data.codes.copy(order="F"), new.cells.copy()
    for j, name in enumerate(data.names):
        if name in network.names:
            hidden = (data.codes[:, j] == MISSING) & (read[:, j] != MISSING)
            codes[hidden, new.data.index(name)] = MISSING
            cells[network.names.index(name), hidden] = MISSING
    codes.flags.writeable = False
    table = replace(new.data.with_codes(codes), weights=data.weights)
    return replace(new, data=table, cells=cells)


def _from_data(
    network: Model, data: IncompleteData, allow_absent: bool, unknown: Unknown
) -> NewData:
    absent = _absent(network, data.names, allow_absent)
    if absent:
        data = _with_absent(network, data, absent)
    columns, cells = _arranged(network, data)
    states, labels = list(data.states), [_SAME] * len(network.names)
    for i, column in enumerate(columns):
        known, given = network.states[i], data.states[column]
        if given == known:
            continue
        table = recode(
            network.names[i],
            known,
            given,
            data.codes[:, column],
            cells[i],
            is_strict=unknown == "error",
            remedy=_or_missing(),
        )
        states[column], labels[i] = extend_states(known, given, table)
    extra = tuple(name for name in data.names if name not in set(network.names))
    if tuple(states) != data.states:
        data = replace(data, states=tuple(states))
    odd = (cells == MISSING) & (data.codes.T[list(columns)] != MISSING)
    found = odd if odd.any() else None
    return NewData(data, cells, columns, tuple(labels), extra, absent, found)


def _arranged(
    network: Model, data: IncompleteData
) -> tuple[tuple[int, ...], NDArray[np.uint8]]:
    """Return where each variable of a network stands, and the cells in that order."""
    place = {name: column for column, name in enumerate(data.names)}
    columns = tuple(place[name] for name in network.names)
    return columns, np.ascontiguousarray(data.codes.T[list(columns)])


def _with_absent(
    network: Model, data: IncompleteData, absent: tuple[str, ...]
) -> IncompleteData:
    """Add variables that are missing in every row."""
    origin = data.origin
    if origin.headers:
        origin = replace(
            origin,
            headers=(*origin.headers, *absent),
            dtypes=(*origin.dtypes, *(None for _ in absent)),
            places=(*origin.places, *(None for _ in absent)),
        )
    states = dict(zip(network.names, network.states, strict=True))
    known = None if network.schema is None else network.schema.discretization
    added = None if known is None else known.only(absent)
    rules = [rule for rule in (data.discretization, added) if rule is not None]
    holes = np.full((data.n_rows, len(absent)), MISSING, dtype=np.uint8)
    return replace(
        data,
        names=(*data.names, *absent),
        states=(*data.states, *(states[name] for name in absent)),
        codes=np.asfortranarray(np.hstack([data.codes, holes])),
        origin=origin,
        discretization=Discretization.joined(rules),
    )


def _absent(
    network: Model, names: Sequence[str], allow_absent: bool
) -> tuple[str, ...]:
    given = set(names)
    absent = tuple(name for name in network.names if name not in given)
    if len(absent) == len(network.names):
        msg = (
            "no column of the table is a variable of the network. It has: "
            f"{name_listing(names, 6)}. The network has: {name_listing(absent, 6)}. "
            "Rename the columns."
        )
        raise DataError(msg)
    if absent and not allow_absent:
        msg = (
            f"the table lacks {len(absent)} of the {len(network.names)} variables of "
            f"the network: {name_listing(absent, 6)}. It has: "
            f"{name_listing(names, 6)}. Add or rename columns, or pass "
            f"{spell('allow_absent', True)} to take a few as missing in every row."
        )
        raise DataError(msg)
    return absent


def _check_markers(
    given: Mapping[str, tuple[Label, ...]], markers: frozenset[str]
) -> None:
    for name, labels in given.items():
        for label in labels:
            if is_missing(label, markers):
                msg = (
                    f"state {label!r} of variable {name!r} is also a marker of missing "
                    f"cells. List the markers of your table in {spell('missing')}."
                )
                raise DataError(msg)
