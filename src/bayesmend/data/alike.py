"""Another table with the variables of one that is there: its states, its cuts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bayesmend.data.csv import open_source
from bayesmend.data.discretize import Discretization
from bayesmend.data.encode import Coder, GivenStates
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.data.sources import Source
from bayesmend.data.states import (
    MISSING,
    Label,
    check_names,
    match_states,
    position_of,
)
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError

__all__ = ["are_states", "check_alike", "read_alike"]


def read_alike(
    data: IncompleteData,
    table: Any,
    *,
    only: Sequence[str] | None = None,
    **reading: Unpack[Reading],
) -> IncompleteData:
    """Read variables of `data` from another table, in the codes of `data`.

    Labels may differ in type, and numbers are cut where those of `data` are. Other
    columns are left alone.

    Parameters
    ----------
    data : IncompleteData
        The table that knows variables, states and cuts.
    table : IncompleteData, frame, array, mapping or path
        The other table. One that is read already is returned as it is.
    only : sequence of str, optional
        The variables to read; all by default.
    **reading
        How the other table is read: names, missing, discretize and what its file is.

    Examples
    --------
    >>> data = IncompleteData.from_table({"age": [20, 30, None]}, discretize={"age": 2})
    >>> read_alike(data, {"age": [20, 30, 99], "id": [7, 8, 9]}).codes.ravel().tolist()
    [0, 1, 1]
    """
    if isinstance(table, IncompleteData):
        return IncompleteData.from_table(table, **reading)
    options = ReadingOptions(**reading)
    source = open_source(table, options.file)
    given = check_names(source.headers, options.names)
    wanted = tuple(data.names if only is None else only)
    for name in wanted:
        position_of(name, given)
    markers = source.chosen_markers(options.missing)
    source.prepare(given, markers)
    known = dict(zip(data.names, data.states, strict=True))
    rule = data.discretization
    if isinstance(options.discretize, Discretization):
        rule = options.discretize
    if rule is not None:
        places = {name: given.index(name) for name in wanted}
        rule = rule.only(
            name for name in wanted if not are_states(source, known[name], places[name])
        )
    read = IncompleteData(
        *Coder(source, rule).code(wanted, GivenStates(known, markers))
    )
    return replace(read, states=tuple(known[name] for name in wanted))


def are_states(source: Source, states: tuple[Label, ...], position: int) -> bool:
    """Tell whether a column holds states as they are, such as intervals."""
    values = source.column(position).values
    codes = match_states(states, values)[: len(values)]
    return len(values) > 0 and bool(np.all(codes != MISSING))


def check_alike(data: IncompleteData, table: IncompleteData, called: str) -> None:
    """Raise DataError unless a table has the variables, states and rows of `data`."""
    if (table.names, table.states) != (data.names, data.states):
        msg = f"the {called} must have the variables and states of the data."
        raise DataError(msg)
    if table.n_rows != data.n_rows:
        msg = (
            f"the {called} must have the {data.n_rows} rows of the data. "
            f"Got {table.n_rows} instead."
        )
        raise DataError(msg)
