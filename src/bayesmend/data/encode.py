"""From a source of columns to states, codes and weights.

Layer: the last step of table -> IncompleteData. It stands below ``tables``,
``frames``, ``files`` and ``discretize``, and above ``data``. Options are checked
here, once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend.data.discretize import Cutting, Discretization, fit_source
from bayesmend.data.restore import INTERVALS
from bayesmend.data.sources import Origin, Source
from bayesmend.data.states import (
    MAX_STATES,
    MISSING_MARKERS,
    Column,
    Label,
    StateRules,
    as_label,
    check_markers,
    check_names,
    position_of,
)
from bayesmend.errors import DataError, ParameterError


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``IncompleteData.from_table``, as they were given."""

    states: Mapping[str, Iterable[Label]] | None = None
    weights: Any = None
    missing: Iterable[object] = MISSING_MARKERS
    names: Sequence[str] | None = None
    max_numeric_states: int = 20
    discretize: Mapping[str, Cutting] | Discretization | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """The parts of an ``IncompleteData``."""

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None
    origin: Origin
    discretization: Discretization | None


def encode(source: Source, options: Options) -> Encoded:
    """Choose the states of every variable and code the cells."""
    markers = check_markers(options.missing)
    names = check_names(source.headers, options.names)
    weight_at = None
    if isinstance(options.weights, str):
        weight_at = position_of(options.weights, names)
    kept = [j for j in range(len(names)) if j != weight_at]
    variables = [names[j] for j in kept]
    declared = check_states(options.states, variables)
    rules = StateRules(
        declared,
        markers,
        check_integer("max_numeric_states", options.max_numeric_states, 1),
    )
    cut = _check_cut(options.discretize, variables, declared)
    numeric = {position_of(name, names) for name in cut}
    source.prepare(
        names,
        markers,
        frozenset(numeric if weight_at is None else numeric | {weight_at}),
    )
    rule = _discretization(source, options.discretize)
    weights = _weights(source, options.weights, weight_at)
    states, codes = _code_cells(source, kept, rules, rule)
    return Encoded(
        names=tuple(variables),
        states=states,
        codes=codes,
        weights=weights,
        origin=_origin(source, kept, numeric, weight_at),
        discretization=rule,
    )


def _code_cells(
    source: Source,
    kept: Sequence[int],
    rules: StateRules,
    rule: Discretization | None,
) -> tuple[tuple[tuple[Label, ...], ...], NDArray[np.uint8]]:
    cut = rule.names if rule else ()
    columns: list[Column | None] = []
    states: list[tuple[Label, ...]] = []
    tables: list[NDArray[np.uint8]] = []
    for j in kept:
        name = source.names[j]
        if rule is not None and name in cut:
            columns.append(None)
            states.append(rule.labels(name))
            tables.append(np.empty(0, np.uint8))
            continue
        column = source.column(j)
        labels, table = rules.choose(column, source.place_of_value)
        columns.append(column)
        states.append(labels)
        tables.append(table)
    numbers = [source.numbers(j) if source.names[j] in cut else None for j in kept]
    codes = source.codes(kept, columns, tables)
    for k, values in enumerate(numbers):
        if rule is not None and values is not None:
            codes[:, k] = rule.codes(source.names[kept[k]], values)
    codes.flags.writeable = False
    return tuple(states), codes


def _check_cut(
    discretize: object,
    names: Sequence[str],
    declared: Mapping[str, object],
) -> tuple[str, ...]:
    """Return the names of the variables to discretize."""
    if discretize is None:
        return ()
    if isinstance(discretize, Discretization):
        cut = discretize.names
    elif isinstance(discretize, Mapping):
        cut = tuple(discretize)
    else:
        message = (
            "discretize must be a mapping such as {'age': 4} or a Discretization. Got"
            f" {type(discretize).__name__} instead."
        )
        raise ParameterError(message)
    for name in cut:
        position_of(name, names)
        if name in declared:
            message = (
                f"variable {name!r} is in states and in discretize. Name it in one of"
                " them."
            )
            raise ParameterError(message)
    return cut


def _discretization(
    source: Source, discretize: Mapping[str, Cutting] | Discretization | None
) -> Discretization | None:
    if isinstance(discretize, Discretization):
        return discretize
    return fit_source(source, discretize) if discretize else None


def _origin(
    source: Source, kept: Sequence[int], cut: Collection[int], weight_at: int | None
) -> Origin:
    weights = None
    if weight_at is not None:
        weights = (source.headers[weight_at], weight_at, source.dtype(weight_at))
    return Origin(
        kind=source.kind,
        headers=tuple(source.headers[j] for j in kept),
        dtypes=tuple(INTERVALS if j in cut else source.dtype(j) for j in kept),
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


def check_codes(
    codes: NDArray[np.uint8],
    names: tuple[str, ...],
    states: tuple[tuple[Label, ...], ...],
) -> NDArray[np.uint8]:
    """Return codes in Fortran order and read-only, or say what is wrong with them."""
    if len(states) != len(names):
        message = (
            f"states must hold the labels of {len(names)} variables. Got {len(states)}"
            " instead."
        )
        raise DataError(message)
    for name, labels in zip(names, states, strict=True):
        check_labels(name, labels)
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8:
        kind = getattr(codes, "dtype", type(codes).__name__)
        message = f"codes must be an array of uint8. Got {kind} instead."
        raise DataError(message)
    if codes.ndim != 2 or codes.shape[1] != len(names):
        message = (
            f"codes must have shape (n_rows, {len(names)}). Got {codes.shape} instead."
        )
        raise DataError(message)
    if codes.flags.writeable or not codes.flags.f_contiguous:
        codes = np.array(codes, order="F")
        codes.flags.writeable = False
    for j, (name, labels) in enumerate(zip(names, states, strict=True)):
        # Adding 1 wraps the missing code to 0, so one maximum checks both.
        highest = int((codes[:, j] + np.uint8(1)).max(initial=0)) - 1
        if highest >= len(labels):
            message = (
                f"variable {name!r} has {len(labels)} states, but its column contains"
                f" state code {highest}."
            )
            raise DataError(message)
    return codes
