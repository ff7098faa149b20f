"""One coder of columns: their states are chosen here, or given by a network.

The last step from a source of columns to an ``IncompleteData``. Options are checked
here, once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer, check_mapping
from bayesmend._spelling import spell
from bayesmend.data.discretize import Cutting, Discretization, cut_names, fit_source
from bayesmend.data.reading import ReadingOptions
from bayesmend.data.schema import ColumnRole, Role, Schema
from bayesmend.data.sources import Origin, Source, is_missing
from bayesmend.data.states import (
    BLANKS,
    MAX_STATES,
    MISSING,
    MISSING_MARKERS,
    Column,
    Kind,
    Label,
    as_label,
    check_markers,
    check_names,
    is_number_text,
    listing,
    match_states,
    own_labels,
    position_of,
    unknown_label,
)
from bayesmend.errors import DataError, ParameterError

Coding: TypeAlias = tuple[tuple[Label, ...], NDArray[np.uint8]]
"""The states of a column, and the code of each of its distinct values."""

Place: TypeAlias = Callable[[Column, int], str]
"""Says in words where a distinct value of a column first occurs, for an error."""


class Encoded(NamedTuple):
    """The parts of an ``IncompleteData``, in their order."""

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None
    origin: Origin
    discretization: Discretization | None
    schema: Schema | None = None


def encode(source: Source, options: ReadingOptions) -> Encoded:
    """Choose the states of every variable and code the cells."""
    missing = MISSING_MARKERS if options.missing is None else options.missing
    markers = check_markers(missing)
    names = check_names(source.headers, options.names)
    weight_at = None
    if isinstance(options.weights, str):
        weight_at = position_of(options.weights, names)
    variables = [name for j, name in enumerate(names) if j != weight_at]
    declared = check_states(options.states, variables)
    limit = check_integer("max_numeric_states", options.max_numeric_states, 1)
    discretize: Any = None if options.discretize == "auto" else options.discretize
    cut = cut_names(discretize)
    for name in cut:
        position_of(name, variables)
        if name in declared:
            message = (
                f"variable {name!r} is in {spell('states')} and in"
                f" {spell('discretize')}. Name it in one of them."
            )
            raise ParameterError(message)
    coder = Coder(source, names, markers, cut, discretize, weight_at)
    weights = coder.weights(options.weights)
    return coder.code(variables, ChosenStates(declared, markers, limit), weights)


class Coder:
    """A source with its columns coded, numbers that are cut into intervals too."""

    def __init__(
        self,
        source: Source,
        names: tuple[str, ...],
        markers: frozenset[str],
        cut: Iterable[str] = (),
        discretize: Mapping[str, Cutting] | Discretization | None = None,
        weight_at: int | None = None,
    ) -> None:
        self.source, self.weight_at = source, weight_at
        self.cut = frozenset(names.index(name) for name in cut)
        numeric = self.cut if weight_at is None else self.cut | {weight_at}
        source.prepare(names, markers, numeric)
        if isinstance(discretize, Discretization):
            self.discretization: Discretization | None = discretize
        else:
            self.discretization = fit_source(source, discretize) if discretize else None

    def weights(self, given: Any) -> NDArray[np.float64] | None:
        """Return the row weights: those given, or those of their column."""
        if given is None:
            return None
        if self.weight_at is not None:
            given = self.source.numbers(self.weight_at)
        return check_weights(given, self.source.n_rows, self.source)

    def code(
        self,
        variables: Sequence[str],
        rules: "ChosenStates | GivenStates",
        weights: NDArray[np.float64] | None = None,
        passed: Sequence[int] = (),
    ) -> Encoded:
        """Code the columns of some variables by rules for their states.

        Columns at positions that are ``passed`` through come back with the table.
        """
        source, positions = self.source, [self.source.names.index(v) for v in variables]
        columns: list[Column | None] = []
        codings: list[Coding] = []
        for name, j in zip(variables, positions, strict=True):
            column = None if j in self.cut else source.column(j)
            columns.append(column)
            codings.append(
                rules.intervals(name, self._rule.labels(name))
                if column is None
                else rules.choose(column, source.place_of_value)
            )
        numbers = {j: source.numbers(j) for j in positions if j in self.cut}
        for j, observed in numbers.items():
            rule = self._rule.with_numbers(source.names[j], observed)
            self.discretization = rule
        codes = source.codes(positions, columns, [table for _, table in codings])
        for k, (name, j) in enumerate(zip(variables, positions, strict=True)):
            if j in numbers:
                codes[:, k] = codings[k][1][self._rule.codes(name, numbers[j])]
        codes.flags.writeable = False
        return Encoded(
            tuple(variables),
            tuple(states for states, _ in codings),
            codes,
            weights,
            self._origin(positions, codes, tuple(passed)),
            self.discretization,
            self._schema(positions),
        )

    @property
    def _rule(self) -> Discretization:
        assert self.discretization is not None
        return self.discretization

    def _schema(self, positions: Sequence[int]) -> Schema:
        source = self.source
        roles: dict[int, Role] = dict.fromkeys(positions, "model")
        roles |= dict.fromkeys(self.cut, "cut")
        if self.weight_at is not None:
            roles[self.weight_at] = "weights"
        columns = [
            ColumnRole(name, roles.get(j, "pass-through"), str(source.dtypes[j] or ""))
            for j, name in enumerate(source.names)
        ]
        return Schema(tuple(columns), self.discretization)

    def _origin(
        self,
        positions: Sequence[int],
        codes: NDArray[np.uint8],
        passed: tuple[int, ...],
    ) -> Origin:
        source, at = self.source, self.weight_at
        # The labels of a file tell all there is of columns that are not cut.
        is_cut = not self.cut.isdisjoint(positions)
        is_needed = source.kind != "text" or is_cut or bool(passed)
        if is_needed:
            source.hold()
        return Origin(
            kind=source.kind,
            headers=tuple(source.headers[j] for j in positions),
            dtypes=tuple(source.dtypes[j] for j in positions),
            index=source.index,
            weights=None if at is None else (source.headers[at], at, source.dtypes[at]),
            source=source if is_needed and source.kind != "codes" else None,
            places=tuple(positions),
            passed=passed,
            codes=codes,
            marker_counts=tuple(source.count_markers(positions).items()),
            decimal=source.decimal,
        )


@dataclass(frozen=True, slots=True)
class ChosenStates:
    """States are the values that occur, unless they are declared."""

    declared: dict[str, tuple[Label, ...]]
    markers: frozenset[str]
    max_numeric_states: int

    def choose(self, column: Column, place: Place) -> Coding:
        """Return the states of a column and the code of each of its values."""
        kept = [value for value in column.values if not self._is_marker(value)]
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

    def intervals(self, name: str, labels: tuple[Label, ...]) -> Coding:
        """Return intervals as states, the code of each of them being its position."""
        return labels, np.arange(MISSING + 1, dtype=np.uint8)

    def _is_marker(self, value: Label) -> bool:
        return isinstance(value, str) and value.strip(BLANKS) in self.markers


@dataclass(frozen=True, slots=True)
class GivenStates:
    """States are those of a network; a label may differ in type only."""

    known: Mapping[str, tuple[Label, ...]]
    markers: frozenset[str]

    def choose(self, column: Column, place: Place) -> Coding:
        """Return the states as the column writes them, and the code of each value."""
        known, values = self.known[column.name], column.values
        table = match_states(known, values)[: len(values)]
        for k in np.flatnonzero(table == MISSING).tolist():
            if not is_missing(values[k], self.markers):
                where = place(column, k)
                if where or column.kind != "category":
                    raise unknown_label(column.name, known, values[k], where)
        return own_labels(known, column), table

    def intervals(self, name: str, labels: tuple[Label, ...]) -> Coding:
        """Return the states and the code of each interval, which must be one."""
        known = self.known[name]
        table = match_states(known, labels)
        for label, code in zip(labels, table, strict=False):
            if code == MISSING:
                raise unknown_label(name, known, label)
        return known, table


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
                f" Remove it from {spell('states')}, or list the markers in"
                f" {spell('missing')}."
            )
            raise DataError(message)
    return states


def _check_declared(
    column: Column,
    kept: Sequence[Label],
    states: tuple[Label, ...],
    place: Place,
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
            f"variable {name!r} is missing in every row. Drop it, or list its states:"
            f" {spell('states', {name: ...})}."
        )
        if column.n_rows == 0:
            listed = spell("states", {name: ...})
            message = f"variable {name!r} has no rows. List its states: {listed}."
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
    name, cut = column.name, spell("discretize", {column.name: 4})
    start = f"variable {name!r} has {_many(column, n_states)} distinct numeric values"
    if n_states > MAX_STATES:
        return (
            f"{start}, and a variable has at most {MAX_STATES} states. Discretize it"
            f" with {cut}."
        )
    return (
        f"{start}, more than {spell('max_numeric_states', max_numeric)}. Discretize it"
        f" with {cut}, list its states with {spell('states', {name: ...})}, or raise"
        f" {spell('max_numeric_states')}."
    )


def _many(column: Column, n_states: int) -> str:
    return f"at least {n_states}" if column.is_bound else str(n_states)


_MOST_WEIGHT = 2.0**53


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
    with np.errstate(over="ignore"):
        total = float(array.sum())
    if total > _MOST_WEIGHT:
        message = (
            f"weights must sum to at most 2**53, or counts lose digits. Got {total:g}"
            " instead. Divide them all by the same number."
        )
        raise DataError(message)
    array.flags.writeable = False
    return array


def check_states(
    states: Mapping[str, Iterable[Label]] | None, names: Sequence[str]
) -> dict[str, tuple[Label, ...]]:
    """Return the declared states by name of variable."""
    declared: dict[str, tuple[Label, ...]] = {}
    if states is not None:
        check_mapping("states", states, "{'a': ['x', 'y']}")
    for name, labels in (states or {}).items():
        position_of(name, names)
        if isinstance(labels, str) or not isinstance(labels, Iterable):
            message = (
                f"states of variable {name!r} must be a sequence of labels. Got"
                f" {labels!r} instead."
            )
            raise ParameterError(message)
        declared[name] = tuple(map(as_label, labels))
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
