"""From a source of columns to states, codes and weights.

Layer: the last step of table -> IncompleteData. It stands below ``tables``,
``frames``, ``files`` and ``discretize``, and above ``data``. Options are checked
here, once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.columns import (
    BLANKS,
    MAX_STATES,
    Column,
    Label,
    StateRules,
    as_label,
    listing,
)
from bayesmend.errors import DataError, ParameterError
from bayesmend.tables import Origin, Source


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``IncompleteData.from_table``, checked against nothing yet."""

    states: Mapping[str, Iterable[Label]] | None
    weights: Any
    missing: Iterable[object]
    names: Sequence[str] | None
    max_numeric_states: int


@dataclass(frozen=True, slots=True)
class Encoded:
    """The parts of an ``IncompleteData``."""

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None
    origin: Origin


def encode(source: Source, options: Options) -> Encoded:
    """Choose the states of every variable and code the cells."""
    markers = check_markers(options.missing)
    names = check_names(source.headers, options.names)
    weight_at = None
    if isinstance(options.weights, str):
        weight_at = position_of(options.weights, names)
    kept = [j for j in range(len(names)) if j != weight_at]
    numeric = frozenset() if weight_at is None else frozenset([weight_at])
    declared = check_states(options.states, [names[j] for j in kept])
    rules = StateRules(declared, markers, check_limit(options.max_numeric_states))
    source.prepare(names, markers, numeric)
    columns: list[Column | None] = []
    states: list[tuple[Label, ...]] = []
    tables: list[NDArray[np.uint8]] = []
    for j in kept:
        column = source.column(j)
        labels, table = rules.choose(column, source.place_of_value)
        columns.append(column)
        states.append(labels)
        tables.append(table)
    return Encoded(
        names=tuple(names[j] for j in kept),
        states=tuple(states),
        codes=_frozen(source.codes(kept, columns, tables)),
        weights=_weights(source, options.weights, weight_at),
        origin=_origin(source, kept, weight_at),
    )


def _origin(source: Source, kept: Sequence[int], weight_at: int | None) -> Origin:
    weights = None
    if weight_at is not None:
        weights = (source.headers[weight_at], weight_at, source.dtype(weight_at))
    return Origin(
        kind=source.kind,
        headers=tuple(source.headers[j] for j in kept),
        dtypes=tuple(source.dtype(j) for j in kept),
        index=source.index,
        weights=weights,
    )


def _weights(
    source: Source, weights: Any, weight_at: int | None
) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    if weight_at is not None:
        return check_weights(source.numbers(weight_at), source.n_rows, source)
    return check_weights(weights, source.n_rows, source)


def check_weights(
    weights: Any, n_rows: int, source: Source | None = None
) -> NDArray[np.float64]:
    """Return row weights as a read-only array, or say what is wrong with them."""
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        message = f"weights must be numbers. Got {type(weights).__name__} instead."
        raise DataError(message) from None
    if array.shape != (n_rows,):
        message = (
            f"weights must hold one number per row ({n_rows}). Got shape {array.shape}"
            " instead."
        )
        raise DataError(message)
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if wrong.size:
        row = int(wrong[0])
        place = source.place(row) if source else f" in row {row}"
        message = f"weights must be finite and >= 0. Got {array[row]}{place} instead."
        raise DataError(message)
    array.flags.writeable = False
    return array


def check_markers(missing: Iterable[object]) -> frozenset[str]:
    """Return the missing markers as a set of text."""
    markers: set[str] = set()
    for marker in (missing,) if isinstance(missing, str) else missing:
        if not isinstance(marker, str):
            message = f"missing must hold text. Got {marker!r} instead."
            raise ParameterError(message)
        markers.add(marker.strip(BLANKS))
    return frozenset(markers)


def check_limit(max_numeric_states: int) -> int:
    """Return the largest number of distinct numbers that are taken as states."""
    if not isinstance(max_numeric_states, (int, np.integer)) or max_numeric_states < 1:
        message = (
            "max_numeric_states must be an integer >= 1. Got"
            f" {max_numeric_states!r} instead."
        )
        raise ParameterError(message)
    return int(max_numeric_states)


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


def check_states(
    states: Mapping[str, Iterable[Label]] | None, names: Sequence[str]
) -> dict[str, tuple[Label, ...]]:
    """Return the declared states by name of variable."""
    declared: dict[str, tuple[Label, ...]] = {}
    for name, labels in (states or {}).items():
        position_of(name, names)
        if isinstance(labels, str):
            message = (
                f"states of variable {name!r} must be a sequence of labels. Got"
                f" {labels!r} instead."
            )
            raise ParameterError(message)
        declared[name] = tuple(as_label(label) for label in labels)
        check_labels(name, declared[name])
    return declared


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


def position_of(name: str, names: Sequence[str]) -> int:
    """Return the position of a name, or say which names there are."""
    try:
        return names.index(name)
    except ValueError:
        message = f"no variable named {name!r}. Available: {listing(names)}."
        raise DataError(message) from None


def _frozen(codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    codes.flags.writeable = False
    return codes
