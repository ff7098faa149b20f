"""Columns: distinct values of one variable, and the order of its states.

Layer: the first step of table -> IncompleteData. A column arrives as its distinct
values and, per row, the position of its value among them. Here the values become
states and the positions become codes. Nothing here knows where a column came from.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesmend.errors import DataError, ParameterError

Label: TypeAlias = str | int | float | bool
Kind: TypeAlias = Literal["text", "number", "boolean", "category"]

MISSING = 255
"""The code of a missing cell."""

MAX_STATES = 254
"""The largest number of states of a variable."""

MISSING_MARKERS = ("", "NA", "NaN", "nan", "null", "None", "?")
"""Text that stands for a missing cell unless ``missing=`` says otherwise."""

BLANKS = " \t\r\n\v\f"
"""Characters ignored around a cell when it is compared with the markers."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_EXACT_INTEGERS = 2.0**53


@dataclass(frozen=True, slots=True)
class Column:
    """Distinct values of a column and which row holds which.

    Parameters
    ----------
    name : str
        Name of the variable.
    kind : {"text", "number", "boolean", "category"}
        What the values are; a category brings its own order of states.
    values : tuple of labels
        Distinct values in any order, without missing ones.
    index : ndarray of shape (n_rows,) or None
        Position of each row's value in ``values``; the largest ``uint8`` or -1 is a
        missing cell. None when the reader keeps the cells until it knows the codes.
    n_rows : int
        Number of rows of the table.
    dtype : object
        What the table called the type of the column, for the way back.
    n_distinct : int
        Number of distinct values; ``values`` may hold only the first ones when there
        are too many of them to be states.
    is_bound : bool, default=False
        Whether ``n_distinct`` is where the reader stopped counting.
    """

    name: str
    kind: Kind
    values: tuple[Label, ...]
    index: NDArray[Any] | None
    n_rows: int
    n_distinct: int
    dtype: object = None
    is_bound: bool = False


@dataclass(frozen=True, slots=True)
class StateRules:
    """How states are chosen: the options of ``IncompleteData.from_table``."""

    declared: dict[str, tuple[Label, ...]]
    markers: frozenset[str]
    max_numeric_states: int

    def choose(
        self, column: Column, place: Callable[[Column, int], str]
    ) -> tuple[tuple[Label, ...], NDArray[np.uint8]]:
        """Return the states of a column and the code of each of its values.

        ``place(column, position)`` says where a value first occurs, for an error.
        """
        kept = [value for value in column.values if not self.is_marker(value)]
        declared = self.declared.get(column.name)
        if declared is not None:
            states = _declared_states(column, declared, self.markers)
            _check_declared(column, kept, states, place)
        else:
            _check_count(column, kept, self.max_numeric_states)
            states = _ordered(column.kind, kept)
        code = {state: i for i, state in enumerate(states)}
        table = [code.get(value, MISSING) for value in column.values]
        return states, np.array(table, dtype=np.uint8)

    def is_marker(self, value: Label) -> bool:
        """Say whether a value is text that stands for a missing cell."""
        return isinstance(value, str) and value.strip(BLANKS) in self.markers


def apply_codes(
    table: NDArray[np.uint8], index: NDArray[Any], out: NDArray[np.uint8]
) -> None:
    """Write the code of every row, given the code of every distinct value."""
    if index.dtype == np.uint8:
        full = np.full(256, MISSING, dtype=np.uint8)
        full[: len(table)] = table
    else:
        full = np.append(table, np.uint8(MISSING))  # position -1 is the last entry
    np.take(full, index, out=out, mode="wrap")


def compact(index: NDArray[Any], n_values: int) -> NDArray[Any]:
    """Store positions (-1 is missing) in the smallest type that holds them."""
    if n_values <= MAX_STATES:
        return index.astype(np.uint8)  # -1 becomes 255
    return index.astype(np.int32)


def is_number_text(value: Label) -> bool:
    """Say whether a label is text that reads as a finite decimal number."""
    return isinstance(value, str) and bool(_NUMBER.fullmatch(value.strip(BLANKS)))


def as_label(value: object) -> Label:
    """Return a plain Python label; whole floats become integers."""
    if isinstance(value, np.floating) and value.dtype.itemsize < 8:
        value = float(str(value))  # the shortest text, not the digits of the cast
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, (str, bool, int, float)):
        return value
    return str(value)


def listing(labels: Iterable[object], limit: int = 12) -> str:
    """Join labels for a message, the first ones only when there are many."""
    shown = list(labels)
    more = f", ... ({len(shown)} in all)" if len(shown) > limit else ""
    return ", ".join(str(label) for label in shown[:limit]) + more


def quantity(n: int, word: str) -> str:
    """Return a number with its noun in the singular or the plural."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def _ordered(kind: Kind, values: Sequence[Label]) -> tuple[Label, ...]:
    if kind == "category":
        return tuple(values)
    if kind == "text" and all(is_number_text(value) for value in values):
        return tuple(sorted(values, key=lambda text: (float(text), text)))
    return tuple(sorted(values))


def _declared_states(
    column: Column, declared: Sequence[Label], markers: frozenset[str]
) -> tuple[Label, ...]:
    is_text = column.kind == "text" or any(
        isinstance(value, str) for value in column.values
    )
    states = tuple(str(s) if is_text else as_label(s) for s in declared)
    for state in states:
        if isinstance(state, str) and state.strip(BLANKS) in markers:
            message = (
                f"state {state!r} of variable {column.name!r} is also a missing marker."
                " Remove it from states={...}, or list the markers in missing=."
            )
            raise DataError(message)
    return states


def _check_declared(
    column: Column,
    kept: Sequence[Label],
    states: tuple[Label, ...],
    place: Callable[[Column, int], str],
) -> None:
    known = set(states)
    # The types are compared too: True is not the state 1.
    kinds = {(isinstance(state, bool), state) for state in states}
    for value in kept:
        if value in known and (isinstance(value, bool), value) in kinds:
            continue
        where = place(column, column.values.index(value))
        if not where and column.kind == "category":
            continue  # a category that no row uses may be left out
        message = (
            f"variable {column.name!r} has the value {value!r}{where}, which is not"
            f" among its declared states: {listing(map(repr, states))}."
        )
        raise DataError(message)


def _check_count(column: Column, kept: Sequence[Label], max_numeric: int) -> None:
    name = column.name
    n_states = column.n_distinct - (len(column.values) - len(kept))
    if n_states == 0:
        message = (
            f"variable {name!r} is missing in every row. Drop it, or list its states"
            " in states={...}."
        )
        if column.n_rows == 0:
            message = (
                f"variable {name!r} has no rows. List its states in states={{...}}."
            )
        raise DataError(message)
    is_number = column.kind == "number" or (
        column.kind == "text" and all(is_number_text(value) for value in kept)
    )
    if is_number and n_states > max_numeric:
        raise DataError(_too_many_numbers(column, n_states, max_numeric))
    if n_states > MAX_STATES:
        message = (
            f"variable {name!r} has {_many(column, n_states)} states, and a variable"
            f" has at most {MAX_STATES}. Drop it if it names the rows, or merge rare"
            " states."
        )
        raise DataError(message)


def _too_many_numbers(column: Column, n_states: int, max_numeric: int) -> str:
    name = column.name
    start = f"variable {name!r} has {_many(column, n_states)} distinct numeric values"
    if n_states > MAX_STATES:
        return (
            f"{start}, and a variable has at most {MAX_STATES} states. Discretize it"
            f" with discretize={{{name!r}: 4}}."
        )
    return (
        f"{start}, more than max_numeric_states={max_numeric}. Discretize it with"
        f" discretize={{{name!r}: 4}}, or list its states in states={{...}}, or raise"
        " max_numeric_states."
    )


def _many(column: Column, n_states: int) -> str:
    return f"at least {n_states}" if column.is_bound else str(n_states)


def check_markers(missing: Iterable[object]) -> frozenset[str]:
    """Return the missing markers as a set of text."""
    markers: set[str] = set()
    for marker in (missing,) if isinstance(missing, str) else missing:
        if not isinstance(marker, str):
            message = f"missing must hold text. Got {marker!r} instead."
            raise ParameterError(message)
        markers.add(marker.strip(BLANKS))
    return frozenset(markers)


def check_names(
    headers: Sequence[object], names: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the names of all columns: given ones, or those of the table."""
    if isinstance(names, str):
        message = f"names must be a sequence of names. Got {names!r} instead."
        raise ParameterError(message)
    chosen = tuple(str(name) for name in (headers if names is None else names))
    if len(chosen) != len(headers):
        message = (
            f"names must hold one name per column ({len(headers)}). Got {len(chosen)}"
            " instead."
        )
        raise ParameterError(message)
    if not chosen:
        message = "the table has no columns. Give at least one variable."
        raise DataError(message)
    seen: dict[str, int] = {}
    for position, name in enumerate(chosen):
        if not name:
            message = f"column {position + 1} has no name. Name it, or drop it."
            raise DataError(message)
        if name in seen:
            message = (
                f"columns {seen[name] + 1} and {position + 1} are both named {name!r}."
                " Rename one of them."
            )
            raise DataError(message)
        seen[name] = position
    return chosen


def position_of(name: str, names: Sequence[str]) -> int:
    """Return the position of a name, or say which names there are."""
    try:
        return names.index(name)
    except ValueError:
        message = f"no variable named {name!r}. Available: {listing(names)}."
        raise DataError(message) from None
