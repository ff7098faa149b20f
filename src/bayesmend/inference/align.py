"""Tables read for a network that is there already: its variables, its states.

What the network does not know stays with the table, and comes back with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._spelling import spell
from bayesmend.data.csv import open_source
from bayesmend.data.discretize import Discretization, fit_source
from bayesmend.data.encode import Coder, GivenStates
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.data.sources import Source, is_missing
from bayesmend.data.states import (
    MISSING,
    Label,
    check_names,
    listing,
    position_of,
)
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.network.match import extend_states, recode
from bayesmend.network.network import Network, check_network

__all__ = ["NewData", "read_for"]

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
    """

    data: IncompleteData
    cells: NDArray[np.uint8]
    columns: tuple[int, ...]
    labels: tuple[NDArray[np.uint8], ...]
    extra: tuple[str, ...]
    absent: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.cells.shape[1])

    def completed(
        self, cells: NDArray[np.uint8], draw: tuple[int, ...] | None = None
    ) -> IncompleteData:
        """Fill missing cells from cells in the codes of the network; keep all else.

        With a ``draw``, numbers are those of that draw instead of medians.
        """
        codes = self.data.codes.copy(order="F")
        for i in np.flatnonzero((self.cells == MISSING).any(axis=1)).tolist():
            column, hole = self.columns[i], self.cells[i] == MISSING
            codes[hole, column] = self.labels[i][cells[i, hole]]
        codes.flags.writeable = False
        data = self.data.with_codes(codes)
        return replace(data, origin=replace(data.origin, draw=draw))

    def all_completed(
        self, filled: NDArray[np.uint8], key: int | None
    ) -> tuple[IncompleteData, ...]:
        """Complete the table several times, with a key for the draws of numbers."""
        return tuple(
            self.completed(cells, None if key is None else (key, number))
            for number, cells in enumerate(filled)
        )


def read_for(
    network: Network,
    table: Any,
    *,
    allow_absent: bool = False,
    **reading: Unpack[Reading],
) -> NewData:
    """Read a table for a network.

    Variables are matched by name and states by label; a label that differs in type
    only (``1`` and ``"1"``) matches when no other does. A column may be missing
    throughout: the network knows its states.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> network = load_network("asia")
    >>> rows = {"id": ["r1"], **{name: [None] for name in network.names}}
    >>> new = read_for(network, rows)
    >>> new.data, new.extra
    (IncompleteData(1 row, 8 variables, 8 missing cells), ('id',))
    """
    check_network(network)
    if isinstance(table, IncompleteData):
        # Which refuses what cannot change a table that is read already.
        table = IncompleteData.from_table(table, **reading)
        return _from_data(network, table, allow_absent)
    options = ReadingOptions(**reading)
    source = open_source(table, options.file)
    names = check_names(source.headers, options.names)
    absent = _absent(network, names, allow_absent)
    given = dict(zip(network.names, network.states, strict=True))
    present = [name for name in names if name in given]
    markers = source.chosen_markers(options.missing)
    _check_markers({name: given[name] for name in present}, markers)
    source.prepare(names, markers, frozenset())
    coder = Coder(source, _rule_for(source, present, options.discretize))
    extra = tuple(name for name in names if name not in given)
    passed = [names.index(name) for name in extra]
    rules = GivenStates(given, markers)
    data = IncompleteData(*coder.code(present, rules, passed=passed))
    if absent:
        data = _with_absent(network, data, absent)
    columns, cells = _arranged(network, data)
    labels = (_SAME,) * network.n_vars
    return NewData(data, cells, columns, labels, extra, absent)


def _rule_for(
    source: Source, present: Sequence[str], discretize: Any
) -> Discretization | None:
    """Return where numbers are cut into the states of a network."""
    if isinstance(discretize, Discretization):
        return discretize
    if not isinstance(discretize, Mapping):
        return None
    for name in discretize:
        position_of(name, present)
    cutting = {name: how for name, how in discretize.items() if how is not None}
    return fit_source(source, cutting) if cutting else None


def _from_data(network: Network, data: IncompleteData, allow_absent: bool) -> NewData:
    absent = _absent(network, data.names, allow_absent)
    if absent:
        data = _with_absent(network, data, absent)
    columns, cells = _arranged(network, data)
    states, labels = list(data.states), [_SAME] * network.n_vars
    for i, column in enumerate(columns):
        known, given = network.states[i], data.states[column]
        if given == known:
            continue
        table = recode(network.names[i], known, given, data.codes[:, column], cells[i])
        states[column], labels[i] = extend_states(known, given, table)
    extra = tuple(name for name in data.names if name not in set(network.names))
    if tuple(states) != data.states:
        data = replace(data, states=tuple(states))
    return NewData(data, cells, columns, tuple(labels), extra, absent)


def _arranged(
    network: Network, data: IncompleteData
) -> tuple[tuple[int, ...], NDArray[np.uint8]]:
    """Return where each variable of a network stands, and the cells in that order."""
    place = {name: column for column, name in enumerate(data.names)}
    columns = tuple(place[name] for name in network.names)
    return columns, np.ascontiguousarray(data.codes.T[list(columns)])


def _with_absent(
    network: Network, data: IncompleteData, absent: tuple[str, ...]
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
    holes = np.full((data.n_rows, len(absent)), MISSING, dtype=np.uint8)
    return replace(
        data,
        names=(*data.names, *absent),
        states=(*data.states, *(states[name] for name in absent)),
        codes=np.asfortranarray(np.hstack([data.codes, holes])),
        origin=origin,
    )


def _absent(
    network: Network, names: Sequence[str], allow_absent: bool
) -> tuple[str, ...]:
    given = set(names)
    absent = tuple(name for name in network.names if name not in given)
    if len(absent) == network.n_vars:
        msg = (
            "no column of the table is a variable of the network. It has: "
            f"{listing(names, 6)}. The network has: {listing(absent, 6)}. Rename "
            "the columns."
        )
        raise DataError(msg)
    if absent and not allow_absent:
        msg = (
            f"the table lacks {len(absent)} of the {network.n_vars} variables of the "
            f"network: {listing(absent, 6)}. It has: {listing(names, 6)}. Add or "
            f"rename columns, or pass {spell('allow_absent', True)} to take a few as "
            "missing in every row."
        )
        raise DataError(msg)
    return absent


def _check_markers(
    given: Mapping[str, tuple[Label, ...]], markers: frozenset[str]
) -> None:
    for name, labels in given.items():
        for label in labels:
            if isinstance(label, str) and is_missing(label, markers):
                msg = (
                    f"state {label!r} of variable {name!r} is also a marker of missing "
                    f"cells. List the markers of your table in {spell('missing')}."
                )
                raise DataError(msg)
