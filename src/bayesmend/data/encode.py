"""One coder of columns: their states are chosen here, or given by a network.

The last step from a source of columns to an ``IncompleteData``. Options are checked
here, once.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import got
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.almost import tell_almost
from bayesmend.data.discretize import Discretization, fit_source, numbers_to_cut
from bayesmend.data.guesses import (
    doubtful_labels,
    may_be_code,
    missing_code,
    near_labels,
    tell_aside,
    tell_codes,
    tell_guesses,
    tell_markers,
    tell_remedies,
)
from bayesmend.data.numbers import date_number
from bayesmend.data.reading import ReadingOptions
from bayesmend.data.roles import Asked, Decision, Problems, decide
from bayesmend.data.schema import ColumnRole, Schema
from bayesmend.data.sources import Origin, Source, is_missing
from bayesmend.data.states import (
    MISSING,
    Column,
    Label,
    as_label,
    check_labels,
    is_marker,
    is_number_text,
    label_key,
    listing,
    match_states,
    name_listing,
    number_of,
    number_of_text,
    own_labels,
    unknown_label,
)
from bayesmend.errors import DataError, ReadingWarning

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
    notes: tuple[str, ...] = ()


def encode(source: Source, options: ReadingOptions) -> Encoded:
    """Decide what each column is, choose the states of variables and code the cells."""
    with source.explained():
        return _encode(source, options)


def _encode(source: Source, options: ReadingOptions) -> Encoded:
    asked = Asked.of(source.headers, options)
    markers = source.chosen_markers(options.missing)
    source.prepare(asked.names, markers)
    markers = source.markers  # with numbers as the table writes them
    problems = Problems()
    decisions = decide(source, asked, problems)
    weights = None
    with problems.noted():
        weights = _weights(source, asked, options.weights)
    rule, shortfalls = _fit_rule(source, asked, decisions, problems, weights)
    coder = Coder(source, rule, asked, decisions)
    problems.check()
    variables = [d.name for d in decisions if d.role in ("model", "cut")]
    if not variables:
        raise _nothing_to_model(source, decisions)
    joined = _join_labels(source, asked, decisions) if asked.normalise else {}
    chosen = ChosenStates(asked.states, markers, joined)
    columns = {d.name: d.column for d in decisions if d.column is not None}
    passed = [j for j, d in enumerate(decisions) if d.role == "pass-through"]
    encoded = coder.code(variables, chosen, weights, passed, columns)
    _tell(source, asked, decisions, encoded, shortfalls, options)
    return encoded


def _weights(source: Source, asked: Asked, given: Any) -> NDArray[np.float64] | None:
    """Return the row weights: those given, or those of their column."""
    if given is None:
        return None
    if asked.weight_at is not None:
        given = source.numbers(asked.weight_at)
    return check_weights(given, source.n_rows, source)


def _fit_rule(
    source: Source,
    asked: Asked,
    decisions: Sequence[Decision],
    problems: Problems,
    weights: NDArray[np.float64] | None,
) -> tuple[Discretization | None, list[str]]:
    """Return where columns are cut, and which ones into fewer intervals than asked."""
    rules = [asked.rule] if asked.rule is not None else []
    shortfalls: list[str] = []
    cutting = {d.name: d.how for d in decisions if d.role == "cut"}
    # In the order of the caller, then in that of the table.
    for name in dict.fromkeys([*asked.cutting, *cutting]):
        how = cutting.get(name)
        if how is not None:
            with problems.noted():
                rules.append(
                    fit_source(
                        source, {name: how}, shortfalls=shortfalls, weights=weights
                    )
                )
    return Discretization.joined(rules), shortfalls


def _nothing_to_model(source: Source, decisions: Sequence[Decision]) -> DataError:
    aside = [d for d in decisions if d.role == "pass-through"]
    name = decisions[0].name
    if source.n_rows == 0:
        listed = spell("states", {name: ...})
        return DataError(
            "the table has no rows to learn from. To read it all the same, list its"
            f" states: {listed}."
        )
    if not aside:
        return DataError("no column is left to model. Drop fewer of them.")
    return DataError(
        f"no column is left to model: {tell_aside(aside)}."
        f" {tell_remedies(aside, 'Insist')}".rstrip()
    )


def _join_labels(
    source: Source, asked: Asked, decisions: Sequence[Decision]
) -> dict[str, dict[Label, Label]]:
    """Return by variable which label stands for another: declared, or frequent."""
    joined: dict[str, dict[Label, Label]] = {}
    for position, decision in enumerate(decisions):
        column = decision.column
        if column is None:
            continue
        declared = [str(label) for label in asked.states.get(column.name, ())]
        groups = near_labels(dict.fromkeys([*column.values, *declared]))
        if groups:
            counts = _count_labels(source, position, column)
            joined[column.name] = {
                label: max(group, key=lambda g: (g in declared, counts[g]))
                for group in groups
                for label in group
            }
    return joined


def _count_labels(source: Source, position: int, column: Column) -> Counter[Label]:
    if column.index is None:
        return Counter(source.values(position))
    places = column.index[
        column.index != (MISSING if column.index.dtype == np.uint8 else -1)
    ]
    counts = np.bincount(places, minlength=len(column.values)).tolist()
    return Counter(dict(zip(column.values, counts, strict=True)))


def _tell(
    source: Source,
    asked: Asked,
    decisions: Sequence[Decision],
    encoded: Encoded,
    shortfalls: Sequence[str],
    options: ReadingOptions,
) -> None:
    """Warn, once, of all that the caller left open."""
    open_to_doubt = {
        d.name: d.column.values
        for d in decisions
        if d.column is not None and d.name not in asked.states
    }
    near = {
        name: groups
        for name, labels in open_to_doubt.items()
        if not asked.normalise and (groups := near_labels(labels))
    }
    doubtful = {
        name: labels
        for name, values in open_to_doubt.items()
        if options.missing is None and (labels := doubtful_labels(values))
    }
    markers = [marker for marker, n in source.marker_counts.items() if n and marker]
    notes = [*source.notes, *(text.removesuffix(".") for text in shortfalls)]
    notes += _lost_orders(source, open_to_doubt)
    if options.missing is None:
        notes += _doubts(source, asked, decisions, encoded)
    notes += _almost_numbers(source, asked, decisions, markers)
    if not (notes or near or doubtful or any(d.is_guess for d in decisions)):
        return
    sizes = dict(zip(encoded.names, map(len, encoded.states), strict=True))
    message = tell_guesses(
        source.called, decisions, sizes, near, doubtful, notes, markers
    )
    warn(message, ReadingWarning)


def _lost_orders(source: Source, names: Container[str]) -> list[str]:
    """Say which declared states the library that is installed does not tell."""
    lost = [name for name in source.unordered if name in names]
    if not lost:
        return []
    return [
        f"the file declares states of {name_listing(lost, 6)} that polars does not"
        " tell, nor their order. Install pyarrow, or list them with"
        f" {spell('states', {lost[0]: ...})}"
    ]


def _doubts(
    source: Source, asked: Asked, decisions: Sequence[Decision], encoded: Encoded
) -> list[str]:
    """Say which labels may be taken for missing cells, and which numbers for values."""
    found: dict[str, dict[str, int]] = {}
    codes: dict[str, int] = {}
    for position, decision in enumerate(decisions):
        name, column = decision.name, decision.column
        if name in asked.states or decision.role not in ("model", "cut"):
            continue
        if column is not None and not column.is_numeric:
            found[name] = source.count_markers([position])
            continue
        if may_be_code(_extremes(name, column, encoded.discretization)):
            code = missing_code(source.numbers(position))
            if code is not None:
                codes[name] = code
    markers = [marker for marker, n in source.marker_counts.items() if n]
    return [*tell_markers(found, markers), *tell_codes(codes, markers)]


def _extremes(
    name: str, column: Column | None, rule: Discretization | None
) -> list[float]:
    """Return all numbers of a column, or the least and the greatest that is cut."""
    if column is not None:
        mark = column.decimal
        return [number_of_text(str(value), mark) for value in column.values]
    known = None if rule is None else rule.numbers[rule.names.index(name)]
    if known is None or known.kind == "date":
        return []
    values = [number for part in known.values for number in part]
    return [min(values), max(values)] if values else []


def _almost_numbers(
    source: Source, asked: Asked, decisions: Sequence[Decision], markers: Sequence[str]
) -> list[str]:
    """Tell of columns of text that are numbers but for little."""
    told = []
    for position, decision in enumerate(decisions):
        name = decision.name
        is_aside = decision.role == "pass-through" and decision.is_guess
        if name in asked.states or asked.insists(name):
            continue
        column = source.column(position) if is_aside else decision.column
        if column is not None and column.kind == "text" and not column.is_numeric:
            told.append(tell_almost(name, column.values, source.decimal, markers))
    return list(filter(None, told))


class Coder:
    """A prepared source with its columns coded, numbers that are cut too."""

    def __init__(
        self,
        source: Source,
        rule: Discretization | None = None,
        asked: Asked | None = None,
        decisions: Sequence[Decision] = (),
    ) -> None:
        self.source, self.discretization = source, rule
        self.asked, self.decisions = asked, decisions
        self.weight_at = None if asked is None else asked.weight_at
        cut = rule.names if rule is not None else ()
        self.cut = frozenset(j for j, name in enumerate(source.names) if name in cut)

    def code(
        self,
        variables: Sequence[str],
        rules: "ChosenStates | GivenStates",
        weights: NDArray[np.float64] | None = None,
        passed: Sequence[int] = (),
        read: Mapping[str, Column] = MappingProxyType({}),
    ) -> Encoded:
        """Code the columns of some variables by rules for their states.

        Columns at positions that are ``passed`` through come back with the table.
        Columns that were ``read`` already are not read again.
        """
        source, positions = self.source, [self.source.names.index(v) for v in variables]
        columns: list[Column | None] = []
        codings: list[Coding] = []
        intervals: dict[int, NDArray[np.uint8]] = {}
        problems = Problems()
        for name, j in zip(variables, positions, strict=True):
            column = None
            with problems.noted():
                if j in self.cut:
                    numbers, is_date = self._numbers(j, rules)
                    self.discretization = self._rule.with_numbers(
                        name, numbers, is_date=is_date, weights=weights
                    )
                    codings.append(rules.intervals(name, self._rule.labels(name)))
                    if source.is_here:
                        intervals[j] = self._rule.codes(name, numbers)
                    del numbers  # eight times as large
                else:
                    column = read.get(name) or source.column(j)
                    codings.append(rules.choose(column, source.place_of_value))
            columns.append(column)
        problems.check()
        codes = source.codes(positions, columns, [table for _, table in codings])
        for k, j in enumerate(positions):
            if j in intervals:
                codes[:, k] = codings[k][1][intervals[j]]
        codes.flags.writeable = False
        return Encoded(
            tuple(variables),
            tuple(states for states, _ in codings),
            codes,
            weights,
            self._origin(positions, codes, tuple(passed)),
            self.discretization,
            self._schema() if self.decisions else None,
            tuple(source.notes),
        )

    def _numbers(
        self, position: int, rules: "ChosenStates | GivenStates"
    ) -> tuple[NDArray[np.float64], bool]:
        """Return the numbers of a column, NaN where missing, and whether it has dates.

        A column that is read for a network may hold text that is no number, which is
        then treated as any label that the network does not know.
        """
        try:
            return numbers_to_cut(self.source, position)
        except DataError:
            if isinstance(rules, ChosenStates):
                raise
            name = self.source.names[position]
            known = self._rule.numbers_of(name)
            is_date = known is not None and known.kind == "date"
            numbers = rules.numbers_among(self.source, position, is_date=is_date)
            if numbers is None:
                raise
            return numbers, is_date

    @property
    def _rule(self) -> Discretization:
        assert self.discretization is not None
        return self.discretization

    def _schema(self) -> Schema:
        source, asked = self.source, self.asked
        columns = [
            ColumnRole(d.name, d.role, str(dtype or ""), d.reason)
            for d, dtype in zip(self.decisions, source.dtypes, strict=True)
        ]
        return Schema(
            tuple(columns),
            self.discretization,
            asked is not None and asked.normalise,
            tuple(sorted(source.markers))
            if asked is not None and asked.lists_markers
            else None,
        )

    def _origin(
        self,
        positions: Sequence[int],
        codes: NDArray[np.uint8],
        passed: tuple[int, ...],
    ) -> Origin:
        source, at = self.source, self.weight_at
        # The labels of a file tell all there is of columns that are not cut.
        is_cut = not self.cut.isdisjoint(positions)
        # Labels that are joined, or read for a network, may differ from those there.
        is_matched = self.asked is None or self.asked.normalise
        is_needed = source.kind != "text" or is_cut or bool(passed) or is_matched
        if not source.is_kept:
            is_needed, passed = False, self._left_behind(passed)
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
            delimiter=source.delimiter,
        )

    def _left_behind(self, passed: tuple[int, ...]) -> tuple[int, ...]:
        """Note that columns do not come back, since the table is not kept."""
        if passed:
            names = [self.source.names[j] for j in passed]
            self.source.notes = [
                *self.source.notes,
                f"the files are read in batches, so {name_listing(names, 6)} will not"
                " be among the columns of a completed table (impute() writes them"
                " file by file)",
            ]
        return ()


@dataclass(frozen=True, slots=True)
class ChosenStates:
    """States are the values that occur, unless they are declared."""

    declared: dict[str, tuple[Label, ...]]
    markers: frozenset[str]
    joined: Mapping[str, Mapping[Label, Label]] = field(default_factory=dict)
    """By variable, the labels that another one stands for."""

    def choose(self, column: Column, place: Place) -> Coding:
        """Return the states of a column and the code of each of its values."""
        joined = self.joined.get(column.name, {})
        values = [joined.get(value, value) for value in column.values]
        kept = [value for value in values if not self._is_marker(value)]
        declared = self.declared.get(column.name)
        if declared is not None:
            states = _declared_states(column, declared, self.markers)
            _check_declared(column, values, states, self._is_marker, place)
        else:
            states = _ordered(column, list(dict.fromkeys(kept)))
        code = {state: i for i, state in enumerate(states)}
        table = [code.get(value, MISSING) for value in values]
        return states, np.array(table, dtype=np.uint8)

    def intervals(self, name: str, labels: tuple[Label, ...]) -> Coding:
        """Return intervals as states, the code of each of them being its position."""
        return labels, np.arange(MISSING + 1, dtype=np.uint8)

    def _is_marker(self, value: Label) -> bool:
        return is_marker(value, self.markers)


@dataclass(frozen=True, slots=True)
class GivenStates:
    """States are those of a network; a label may differ in type only."""

    known: Mapping[str, tuple[Label, ...]]
    markers: frozenset[str]
    normalise: bool = False
    """Whether a label may differ in blanks or case, too."""
    unknown: dict[str, set[Label]] | None = None
    """Where to note, by variable, labels that are no states; None makes them errors."""
    remedy: str = ""
    """A sentence for these errors, what to do."""

    def choose(self, column: Column, place: Place) -> Coding:
        """Return the states as the column writes them, and the code of each value."""
        if column.trouble:
            raise DataError(column.trouble)
        known, values = self.known[column.name], column.values
        table = match_states(known, values)[: len(values)]
        if self.normalise:
            self._match_near(known, values, table)
        for k in np.flatnonzero(table == MISSING).tolist():
            if is_missing(values[k], self.markers):
                continue
            if self.unknown is not None:
                self.unknown.setdefault(column.name, set()).add(values[k])
                continue
            where = place(column, k)
            if where or column.kind != "category":
                raise unknown_label(column.name, known, values[k], where, self.remedy)
        return own_labels(known, column), table

    def _match_near(
        self,
        known: tuple[Label, ...],
        values: Sequence[Label],
        table: NDArray[np.uint8],
    ) -> None:
        """Give the code of a state to labels that differ from it in blanks or case."""
        near = {label_key(str(label)): code for code, label in enumerate(known)}
        for k in np.flatnonzero(table == MISSING).tolist():
            text = values[k]
            if isinstance(text, str) and not is_missing(text, self.markers):
                table[k] = near.get(label_key(text), MISSING)

    def intervals(self, name: str, labels: tuple[Label, ...]) -> Coding:
        """Return the states and the code of each interval, which must be one."""
        known = self.known[name]
        table = match_states(known, labels)
        for label, code in zip(labels, table, strict=False):
            if code == MISSING:
                raise unknown_label(name, known, label)
        return known, table

    def numbers_among(
        self, source: Source, position: int, *, is_date: bool
    ) -> NDArray[np.float64] | None:
        """Return the numbers among the values of a column, NaN for all others.

        Text that is none is unknown: noted, or an error. None when the column holds
        something else that is no number.
        """
        name, numbers = source.names[position], np.full(source.n_rows, np.nan)
        for row, value in enumerate(source.values(position)):
            if is_missing(value, self.markers):
                continue
            numbers[row] = (
                date_number(value) if is_date else number_of(value, source.decimal)
            )
            if np.isfinite(numbers[row]):
                continue
            if not isinstance(value, str):
                return None
            if self.unknown is None:
                where = source.place(row)
                raise unknown_label(name, self.known[name], value, where, self.remedy)
            self.unknown.setdefault(name, set()).add(value)
            numbers[row] = np.nan
        return numbers


def _ordered(column: Column, values: Sequence[Label]) -> tuple[Label, ...]:
    if column.kind == "category":
        return tuple(values)
    mark = column.decimal
    if column.kind == "text" and all(is_number_text(value, mark) for value in values):
        texts = map(str, values)
        return tuple(sorted(texts, key=lambda text: (number_of_text(text, mark), text)))
    return tuple(sorted(values))


def _declared_states(
    column: Column, declared: Sequence[Label], markers: frozenset[str]
) -> tuple[Label, ...]:
    is_text = column.kind == "text" or any(
        isinstance(value, str) for value in column.values
    )
    states = tuple(str(s) if is_text else as_label(s) for s in declared)
    for state in states:
        if is_marker(state, markers):
            message = (
                f"state {state!r} of variable {column.name!r} is also a missing marker."
                f" Remove it from {spell('states')}, or list the markers in"
                f" {spell('missing')}."
            )
            raise DataError(message)
    return states


def _check_declared(
    column: Column,
    values: Sequence[Label],
    states: tuple[Label, ...],
    is_marker: Callable[[Label], bool],
    place: Place,
) -> None:
    known = set(states)
    # The types are compared too: True is not the state 1.
    kinds = {(isinstance(state, bool), state) for state in states}
    for k, value in enumerate(values):
        if is_marker(value):
            continue
        if value in known and (isinstance(value, bool), value) in kinds:
            continue
        where = place(column, k)
        if not where and column.kind == "category":
            continue  # a category that no row uses may be left out
        message = (
            f"variable {column.name!r} has the value {value!r}{where}, which is not"
            f" among its declared states: {listing(map(repr, states))}."
        )
        raise DataError(message)


_MOST_WEIGHT = 2.0**53


def check_weights(
    weights: Any, n_rows: int, source: Source | None = None
) -> NDArray[np.float64]:
    """Return row weights as a read-only array, or say what is wrong with them."""
    try:
        array = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise DataError(_no_weights(weights, source)) from None
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


def _no_weights(weights: Any, source: Source | None) -> str:
    """Say which weight is no number."""
    given = weights if np.iterable(weights) else ()
    for row, weight in enumerate(given):
        try:
            float(weight)
        except (TypeError, ValueError, OverflowError):
            place = source.place(row) if source else f" in row {row}"
            what = got(weight).removesuffix(" instead.")
            return f"weights must be numbers. {what}{place} instead."
    return f"weights must be numbers. Got {type(weights).__name__} instead."


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
