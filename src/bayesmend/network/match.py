"""Matching the variables and states of a table to those of a network."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import (
    MISSING,
    Column,
    Label,
    as_label,
    is_number_text,
    listing,
)
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.graph.cpdag import unknown_name

__all__ = [
    "extend_states",
    "match_codes",
    "match_names",
    "match_states",
    "own_labels",
    "require_complete",
    "unknown_label",
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
        codes, given = data.codes[:, column], data.states[column]
        new_codes = match_states(states[i], given)
        np.take(new_codes, codes, out=cells[i])
        if MISSING in new_codes[: len(given)]:
            is_unknown = (cells[i] == MISSING) & (codes != MISSING)
            if is_unknown.any():
                label = given[codes[is_unknown.argmax()]]
                raise unknown_label(names[i], states[i], label)
    return cells


def require_complete(data: IncompleteData) -> None:
    """Raise an error that names the first missing cell, if there is one."""
    is_missing = data.codes == MISSING
    if is_missing.any():
        row = int(is_missing.any(axis=1).argmax())
        name = data.names[int(is_missing[row].argmax())]
        msg = (
            f"variable {name!r} is missing in row {row}. "
            "Fill the missing cells or drop those rows first."
        )
        raise DataError(msg)


def match_states(known: tuple[Label, ...], given: Sequence[Label]) -> NDArray[np.uint8]:
    """Map codes of the data to codes of the network; unknown labels to MISSING.

    Examples
    --------
    >>> match_states(("no", "yes"), ["yes", "maybe"])[:2].tolist()
    [1, 255]
    """
    table = np.full(max(MISSING + 1, len(given)), MISSING, dtype=np.uint8)
    exact = {label: code for code, label in enumerate(known)}
    as_text = {str(label): code for code, label in enumerate(known)}
    if len(as_text) < len(known):
        as_text = {}
    for code, label in enumerate(given):
        table[code] = exact.get(label, as_text.get(str(label), MISSING))
    return table


def unknown_label(
    name: str, known: tuple[Label, ...], label: object, where: str = ""
) -> DataError:
    """Make the error for a label that is no state of a variable."""
    states = listing(known)
    return DataError(
        f"variable {name!r} has no state {label!r}{where}. Its states: {states}."
    )


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


def own_labels(known: tuple[Label, ...], column: Column) -> tuple[Label, ...]:
    """Give the states of a network as the column at hand would write them.

    Examples
    --------
    >>> column = Column("a", "number", (1, 2), None, 2, 2)
    >>> own_labels(("0", "1", "2"), column)
    (0, 1, 2)
    """
    table = match_states(known, column.values)
    own = {int(table[k]): value for k, value in enumerate(column.values)}
    is_text = bool(column.values) and all(isinstance(v, str) for v in column.values)
    labels = tuple(
        own[code] if code in own else _of_kind(column, label, is_text)
        for code, label in enumerate(known)
    )
    # Labels that differ in type only would fall together; then the network's stand.
    return labels if len(set(labels)) == len(known) else known


def _of_kind(column: Column, label: Label, is_text: bool) -> Label:
    text = str(label)
    if is_text:
        return text
    if column.kind == "number" and is_number_text(text):
        return as_label(float(text))
    if column.kind == "boolean":
        return {"True": True, "False": False}.get(text, label)
    return label
