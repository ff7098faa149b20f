"""Labels of states, the columns they come from, and their codes.

A column arrives as its distinct values and, per row, the position of its value among
them. Nothing here knows where a column came from.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_items
from bayesmend.errors import DataError, ParameterError

Label: TypeAlias = str | int | float | bool
"""What a cell holds when it is not missing."""
Kind: TypeAlias = Literal[
    "text", "number", "boolean", "category", "date", "span", "mixed", "nested"
]

MISSING = 255
"""The code of a missing cell."""

MAX_STATES = 254
"""The largest number of states of a variable."""

MISSING_MARKERS = ("", "NA", "NaN", "nan", "null", "None", "?")
"""Text that stands for a missing cell unless ``missing=`` says otherwise."""

BLANKS = " \t\r\n\v\f"
"""Characters ignored around a cell when it is compared with the markers."""

_NUMBERS = {
    mark: re.compile(rf"[+-]?(\d+[{mark}]?\d*|[{mark}]\d+)([eE][+-]?\d+)?", re.A)
    for mark in ".,"
}
_EXACT_INTEGERS = 2.0**53
_MOST_DIGITS = 300


@dataclass(frozen=True, slots=True)
class Column:
    """Distinct values of a column and which row holds which.

    Parameters
    ----------
    name : str
        Name of the variable.
    kind : str
        What the values are; a category brings its own order of states. Dates, spans of
        time, values of several types and objects that are no plain values cannot be
        states.
    values : tuple of labels
        Distinct values in any order, without missing ones.
    index : ndarray of shape (n_rows,) or None
        Position of each row's value in ``values``; the largest ``uint8`` or -1 is a
        missing cell. None when the reader keeps the cells until it knows the codes.
    n_rows : int
        Number of rows of the table.
    n_distinct : int
        Number of distinct values; ``values`` may hold only the first ones when there
        are too many of them to be states.
    is_bound : bool, default=False
        Whether ``n_distinct`` is where the reader stopped counting.
    n_missing : int, default=0
        Number of missing cells.
    is_numeric : bool, default=False
        Whether all values are numbers, or text that reads as numbers; also those
        that ``values`` does not hold.
    decimal : {".", ","}, default="."
        The mark before the decimals where numbers are text.
    trouble : str, default=""
        Why the values cannot be states, a sentence; empty when they can.
    """

    name: str
    kind: Kind
    values: tuple[Label, ...]
    index: NDArray[Any] | None
    n_rows: int
    n_distinct: int
    is_bound: bool = False
    n_missing: int = 0
    is_numeric: bool = False
    decimal: str = "."
    trouble: str = ""

    @property
    def n_observed(self) -> int:
        """Number of cells that are not missing."""
        return self.n_rows - self.n_missing


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


def is_number_text(value: object, decimal: str = ".") -> bool:
    """Tell whether a label is text that reads as a finite decimal number.

    Examples
    --------
    >>> is_number_text(" -1.5e3"), is_number_text("1,5"), is_number_text("1,5", ",")
    (True, False, True)
    """
    if not isinstance(value, str):
        return False
    return bool(_NUMBERS[decimal].fullmatch(value.strip(BLANKS)))


def number_of_text(text: str, decimal: str = ".") -> float:
    """Return the number that a text reads as, which `is_number_text` tells.

    Examples
    --------
    >>> number_of_text("1,5", ",")
    1.5
    """
    return float(text.replace(decimal, "."))


def number_of(value: object, decimal: str = ".") -> float:
    """Return a number of any type, or text that reads as one, as a float; else NaN.

    Examples
    --------
    >>> number_of(Decimal("1.5")), number_of("1,5", ","), number_of(True)
    (1.5, 1.5, nan)
    """
    if isinstance(value, str):
        is_text = is_number_text(value, decimal)
        return number_of_text(value, decimal) if is_text else math.nan
    if not is_number(value):
        return math.nan
    try:
        return float(as_label(value))
    except (ValueError, OverflowError):  # endless, or beyond any float
        return math.nan


def as_label(value: object) -> Label:
    """Return a plain Python label; whole floats become integers."""
    if isinstance(value, np.floating) and value.dtype.itemsize < 8:
        value = float(str(value))  # the shortest text, not the digits of the cast
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal) and not value.is_finite():
        return float(value)
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, (str, bool, int, float)):
        return value
    return str(value)


def label_key(text: str) -> str:
    """Return what labels share that differ only in blanks or case.

    Examples
    --------
    >>> label_key(" Never  smoked") == label_key("never smoked")
    True
    """
    return " ".join(text.split()).casefold()


def listing(labels: Iterable[object], limit: int = 12) -> str:
    """Join labels for a message, the first ones only when there are many."""
    shown = list(labels)
    more = f", ... ({len(shown)} in all)" if len(shown) > limit else ""
    return ", ".join(str(label) for label in shown[:limit]) + more


def name_listing(names: Iterable[object], limit: int = 12) -> str:
    """Join names for a message, in quotes where they have commas of their own.

    Examples
    --------
    >>> name_listing(["age", "text, free"])
    "age, 'text, free'"
    """
    return listing((_shown_name(str(name)) for name in names), limit)


def _shown_name(name: str) -> str:
    return repr(name) if "," in name else name


def quantity(n: int, word: str) -> str:
    """Return a number with its noun in the singular or the plural."""
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"


def check_markers(missing: object) -> frozenset[str]:
    """Return the missing markers, text or numbers, as a set of text.

    Examples
    --------
    >>> sorted(check_markers(["NA ", -9.0]))
    ['-9', 'NA']
    """
    markers: set[str] = set()
    listed = [missing] if isinstance(missing, str) or is_number(missing) else missing
    for marker in check_items("missing", listed, "text or numbers"):
        is_finite = is_number(marker) and math.isfinite(marker)
        if not (isinstance(marker, str) or is_finite):
            message = f"missing must hold text or numbers. Got {marker!r} instead."
            raise ParameterError(message)
        markers.add(str(as_label(marker)).strip(BLANKS))
    return frozenset(markers)


def is_marker(value: object, markers: frozenset[str]) -> bool:
    """Tell whether a cell is a missing marker; numbers are compared as numbers.

    Examples
    --------
    >>> markers = frozenset(["-9", "NA"])
    >>> [is_marker(value, markers) for value in (-9, -9.0, "-9.0", " NA", -99)]
    [True, True, True, True, False]
    """
    if isinstance(value, str):
        text = value.strip(BLANKS)
        if text in markers:
            return True
        numbers = marker_numbers(markers)
        return bool(numbers) and is_number_text(text) and _exact(text) in numbers
    numbers = marker_numbers(markers)
    return bool(numbers) and is_number(value) and as_label(value) in numbers


@lru_cache(maxsize=64)
def marker_numbers(markers: frozenset[str]) -> frozenset[float]:
    """Return the markers that are numbers, as such."""
    return frozenset(_exact(marker) for marker in markers if is_number_text(marker))


def _exact(text: str) -> float:
    """Return the number that a text reads as; integers keep all their digits."""
    is_whole = text.lstrip("+-").isdigit() and len(text) < _MOST_DIGITS
    return int(text) if is_whole else float(text)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether a value is a number of any type; a truth value is none."""
    numbers = (int, float, np.integer, np.floating, Decimal)
    return isinstance(value, numbers) and not isinstance(value, bool)


def file_markers(missing: object) -> frozenset[str]:
    """Return the missing markers of a text file, where an empty field is always one.

    Without any marker every field is a label, empty ones too.

    Examples
    --------
    >>> sorted(file_markers(["-9"])), sorted(file_markers([]))
    (['', '-9'], [])
    """
    markers = check_markers(missing)
    return markers | {""} if markers else markers


def check_names(
    headers: Sequence[object], names: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the names of all columns: given ones, or those of the table."""
    if isinstance(names, str):
        message = f"names must be a sequence of names. Got {names!r} instead."
        raise ParameterError(message)
    listed = headers if names is None else check_items("names", names, "names")
    chosen = tuple(str(name) for name in listed)
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


def check_labels(name: str, labels: Sequence[Label]) -> None:
    """Check that a variable has 1 to 254 states, all different."""
    if not 1 <= len(labels) <= MAX_STATES:
        message = (
            f"variable {name!r} must have 1 to {MAX_STATES} states. Got {len(labels)}"
            " instead."
        )
        raise DataError(message)
    seen: set[Label] = set()
    for label in labels:
        if label in seen or label != label:
            message = (
                f"the states of variable {name!r} must differ. Got {label!r} twice."
            )
            raise DataError(message)
        seen.add(label)


def position_of(name: object, names: Sequence[str]) -> int:
    """Return the position of a name, or say which names there are.

    A name that is no text, as a number of pandas, stands for its text.
    """
    try:
        return names.index(str(name))
    except ValueError:
        raise unknown_name(name, names) from None


def unknown_name(name: object, names: Sequence[str]) -> DataError:
    """Make the error for a name that is none of the variables."""
    return DataError(f"no variable named {name!r}. Available: {name_listing(names)}.")


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


def find_state(known: tuple[Label, ...], label: Label) -> int | None:
    """Return the code of a label, which may differ in type only, or None.

    Examples
    --------
    >>> find_state((0, 1), "1"), find_state((0, 1), "2")
    (1, None)
    """
    try:
        hash(label)
    except TypeError:  # a caller may give anything
        return None
    code = int(match_states(known, [label])[0])
    return None if code == MISSING else code


def unknown_label(
    name: str,
    known: tuple[Label, ...],
    label: object,
    where: str = "",
    remedy: str = "",
) -> DataError:
    """Make the error for a label that is no state of a variable."""
    told = f"variable {name!r} has no state {label!r}{where}."
    return DataError(f"{told} Its states: {listing(known)}.{remedy}")


def own_labels(known: tuple[Label, ...], column: Column) -> tuple[Label, ...]:
    """Return the states of a network as the column at hand would write them.

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
