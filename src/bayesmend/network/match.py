"""Matching the variables and states of a table to those of a network."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import (
    MISSING,
    Label,
    match_states,
    unknown_label,
    unknown_name,
)
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError

__all__ = [
    "extend_states",
    "match_codes",
    "match_names",
    "recode",
]


def match_names(names: Sequence[str], given: Sequence[str]) -> list[int]:
    """Return the position of each of ``names`` in ``given``, both being the same set.

    Examples
    --------
    >>> match_names(["a", "b"], ["b", "a"])
    [1, 0]
    """
    position = {name: i for i, name in enumerate(given)}
    for name in names:
        if name not in position:
            raise unknown_name(name, given)
    known = set(names)
    for name in given:
        if name not in known:
            msg = f"the data have a variable {name!r} that the graph lacks. Drop it."
            raise DataError(msg)
    return [position[name] for name in names]


def match_codes(
    names: Sequence[str], states: Sequence[tuple[Label, ...]], data: IncompleteData
) -> NDArray[np.uint8]:
    """Return the cells of a table in the codes of a network.

    A label that differs in type only (``1`` and ``"1"``) matches when no other does.

    Returns
    -------
    ndarray of shape (n_vars, n_rows)
        One variable after the other, in the order of ``names``; missing cells stay
        missing.
    """
    cells = np.empty((len(names), data.n_rows), dtype=np.uint8)
    for i, column in enumerate(match_names(names, data.names)):
        given, codes = data.states[column], data.codes[:, column]
        recode(names[i], states[i], given, codes, cells[i])
    return cells


def recode(
    name: str,
    known: tuple[Label, ...],
    given: tuple[Label, ...],
    codes: NDArray[np.uint8],
    out: NDArray[np.uint8],
    *,
    is_strict: bool = True,
    remedy: str = "",
) -> NDArray[np.uint8]:
    """Write the codes of one variable as those of a network, and return the mapping.

    Labels that the network does not know are an error unless it is not strict; then
    they are missing. The ``remedy`` ends the message of the error.
    """
    table = match_states(known, given)
    np.take(table, codes, out=out)
    if is_strict and MISSING in table[: len(given)]:
        unknown = np.flatnonzero((out == MISSING) & (codes != MISSING))
        if unknown.size:
            label, where = given[codes[unknown[0]]], f" in row {unknown[0]}"
            raise unknown_label(name, known, label, where, remedy)
    return table


def extend_states(
    known: tuple[Label, ...], given: tuple[Label, ...], table: NDArray[np.uint8]
) -> tuple[tuple[Label, ...], NDArray[np.uint8]]:
    """Add the states that a table lacks; give the code of each state of a network.

    ``table`` maps codes of the table to codes of the network.

    Examples
    --------
    >>> known, given = ("no", "yes"), ("yes", "never")
    >>> states, codes = extend_states(known, given, match_states(known, given))
    >>> states, codes[:2].tolist()
    (('yes', 'never', 'no'), [2, 0])
    """
    states = list(given)
    back = np.full(MISSING + 1, MISSING, dtype=np.uint8)
    for code in range(len(given) - 1, -1, -1):
        if table[code] != MISSING:
            back[table[code]] = code
    for code, label in enumerate(known):
        if back[code] == MISSING:
            back[code] = len(states)
            states.append(label)
    return tuple(states), back
