"""What each column of a table is: a variable, numbers to cut, or kept aside.

What the caller says stands. Where nothing is said, n observed cells with d distinct
values decide:

- no value, or the same value throughout: passed through;
- dates, objects, mixed types, infinite numbers: passed through;
- numbers that name the rows (all different, and in order, or consecutive, or called
  an id): passed through. d <= 5 numbers are states, and so are d <= max_numeric_states
  that occur ten times on average. Any others are cut into intervals;
- text: passed through when it names the rows (all different, or nearly so and words
  without blanks or called an id), or when there is too much of it to be states (d > 20
  and d > n / 3, or d > 254).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from bayesmend._checks import check_choice, check_integer, check_items, check_mapping
from bayesmend._spelling import spell
from bayesmend.data.discretize import AUTO, Cutting, Discretization, is_auto
from bayesmend.data.numbers import date_number
from bayesmend.data.reading import Choice, ReadingOptions
from bayesmend.data.schema import Role
from bayesmend.data.sources import Source, are_dates
from bayesmend.data.states import (
    MAX_STATES,
    Column,
    Label,
    as_label,
    check_labels,
    check_names,
    label_key,
    position_of,
)
from bayesmend.errors import BayesmendError, DataError, ParameterError

__all__ = ["AS_ASKED", "Asked", "Decision", "Problems", "decide"]

FEW = 5
"""So few distinct numbers are states however few rows there are."""

ROWS_PER_STATE = 10
"""More distinct numbers are states when there are so many rows for each."""

NAMES_ROWS = 20
"""With so many rows, values that are all different name the rows."""

MANY_TEXTS, ROWS_PER_TEXT = 20, 3
"""More distinct texts than that, each in fewer rows, are free text."""

REPEATED = 0.1
"""So small a share of repeats leaves words identifiers."""

AS_ASKED = "as asked"
"""The reason of a column that the caller sets aside."""

_NAMING = {"id", "ids", "key", "number", "no", "nr", "nbr", "num", "uuid", "guid"}
_BLANK = re.compile(r"\s")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


Remedy: TypeAlias = Literal[
    "model",
    "cut",
    "write",
    "write or model",
    "type",
    "text",
    "span",
    "finite",
    "merge",
    "states",
    "none",
]
"""What makes a variable of a column that is passed through."""


class Problems:
    """What the caller must settle, all of it said at once."""

    def __init__(self) -> None:
        self.found: list[BayesmendError] = []

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note an error of ours instead of raising it."""
        try:
            yield
        except BayesmendError as error:
            self.found.append(error)

    def check(self) -> None:
        """Raise an error that tells of all problems, if there are some."""
        if not self.found:
            return
        texts = list(dict.fromkeys(map(str, self.found)))
        if len(texts) == 1:
            raise self.found[0]
        lines = "".join(f"\n- {text}" for text in texts)
        message = f"{len(texts)} things are in the way:{lines}"
        if all(isinstance(error, ParameterError) for error in self.found):
            raise ParameterError(message)
        raise DataError(message)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the caller says of the columns, checked.

    Parameters
    ----------
    names : tuple of str
        Names of all columns.
    weight_at : int or None
        Position of the column that holds the row weights.
    roles : dict of str to str
        Columns to "model", to leave aside ("pass-through") or to "drop".
    states : dict of str to tuple
        Declared states.
    cutting : dict of str to how
        Columns to cut, and how; None where numbers are to be states.
    rule : Discretization, optional
        Where to cut some columns.
    cuts_others : bool
        Whether further columns of numbers may be cut.
    max_numeric_states : int
        The most distinct numbers that are states without being asked.
    normalise : bool
        Whether labels that differ only in blanks or case are one.
    lists_markers : bool
        Whether the caller lists the texts of missing cells.
    """

    names: tuple[str, ...]
    weight_at: int | None
    roles: dict[str, Choice]
    states: dict[str, tuple[Label, ...]]
    cutting: dict[str, Cutting | None]
    rule: Discretization | None
    cuts_others: bool
    max_numeric_states: int
    normalise: bool
    lists_markers: bool

    @classmethod
    def of(cls, headers: Sequence[object], options: ReadingOptions) -> "Asked":
        """Check the options against the columns of a table."""
        names = check_names(headers, options.names)
        limit = check_integer("max_numeric_states", options.max_numeric_states, 1)
        if options.normalise not in (True, False):
            given = f"Got {options.normalise!r} instead."
            message = f"{spell('normalise')} must be True or False. {given}"
            raise ParameterError(message)
        weight_at = None
        if isinstance(options.weights, (str, int, np.integer)):
            weight_at = position_of(options.weights, names)
        variables = [name for j, name in enumerate(names) if j != weight_at]
        problems = Problems()
        states = _check_states(options.states, variables, problems)
        roles = _check_columns(options.columns, variables, problems)
        cutting, rule = _check_discretize(options.discretize, variables, problems)
        asked = cls(
            names=names,
            weight_at=weight_at,
            roles=roles,
            states=states,
            cutting=cutting,
            rule=rule,
            cuts_others=options.discretize is not None,
            max_numeric_states=limit,
            normalise=options.normalise,
            lists_markers=options.missing is not None,
        )
        asked._check_conflicts(problems)
        problems.check()
        return asked

    def cuts(self, name: str) -> bool:
        """Tell whether the caller has a column cut in a way of their own."""
        if self.rule is not None and name in self.rule.names:
            return True
        how = self.cutting.get(name)
        return how is not None and not is_auto(how)

    def insists(self, name: str) -> bool:
        """Tell whether the caller wants a column to be a variable."""
        keeps_numbers = self.cutting.get(name, AUTO) is None
        return self.roles.get(name) == "model" or keeps_numbers

    def _check_conflicts(self, problems: Problems) -> None:
        for name in filter(self.cuts, self.names):
            if name in self.states:
                message = (
                    f"variable {name!r} is in {spell('states')} and in"
                    f" {spell('discretize')}. Name it in one of them."
                )
                problems.found.append(ParameterError(message))
        for name, role in self.roles.items():
            other = "states" if name in self.states else "discretize"
            if role != "model" and (name in self.states or self.cuts(name)):
                message = (
                    f"variable {name!r} is in {spell(other)}, but {spell('columns')}"
                    " does not model it. Change one of them."
                )
                problems.found.append(ParameterError(message))


@dataclass(frozen=True, slots=True)
class Decision:
    """What a column is taken for, and whether the caller said so.

    Parameters
    ----------
    name : str
        Name of the column.
    role : {"model", "cut", "pass-through", "drop", "weights"}
        Its part.
    reason : str
        Why it is passed through.
    is_guess : bool
        Whether the caller left the decision open.
    how : how to cut, optional
        For a column that is cut, unless a rule says where.
    column : Column, optional
        The values of a variable that is not cut.
    remedy : str, default="model"
        What makes a variable of a column that is passed through by a guess.
    """

    name: str
    role: Role
    reason: str = ""
    is_guess: bool = False
    how: Cutting | None = None
    column: Column | None = None
    remedy: Remedy = "model"


def decide(source: Source, asked: Asked, problems: Problems) -> list[Decision]:
    """Return what each column is; where the caller insists in vain, note a problem."""
    decisions = []
    for position, name in enumerate(asked.names):
        role = asked.roles.get(name, "model")
        if position == asked.weight_at:
            decision = Decision(name, "weights")
        elif role == "drop":
            decision = Decision(name, "drop")
        elif role == "pass-through":
            decision = Decision(name, "pass-through", AS_ASKED)
        elif asked.cuts(name):
            decision = Decision(name, "cut", how=asked.cutting.get(name))
        else:
            column = source.column(position)
            decision = _decide_column(source, position, column, asked)
            with problems.noted():
                _check_insisted(decision, column, asked)
        decisions.append(decision)
    return decisions


def _decide_column(
    source: Source, position: int, column: Column, asked: Asked
) -> Decision:
    """Decide on a column that the caller neither cuts nor sets aside."""
    name = column.name
    as_states = Decision(name, "model", column=column)
    if name in asked.states:
        return as_states
    n_distinct = _count_distinct(column, asked)
    is_declared = column.kind == "category" and len(column.values) > 1
    if is_declared and len(column.values) <= MAX_STATES:
        return as_states
    if not asked.insists(name):
        reason = _reason_aside(source, position, column, n_distinct)
        if reason:
            remedy = _remedy(column, reason, n_distinct)
            return Decision(name, "pass-through", reason, is_guess=True, remedy=remedy)
    if not column.is_numeric or column.trouble:
        return as_states
    keeps_numbers = asked.cutting.get(name, AUTO) is None
    if keeps_numbers or _are_states(column.n_observed, n_distinct, asked):
        return as_states
    if asked.cuts_others:
        return Decision(name, "cut", is_guess=name not in asked.cutting, how=AUTO)
    if asked.insists(name):
        return as_states
    reason = f"{n_distinct:,} different numbers"
    return Decision(name, "pass-through", reason, is_guess=True, remedy="cut")


def _are_states(n_observed: int, n_distinct: int, asked: Asked) -> bool:
    """Tell whether numbers are few enough to be states as they are."""
    is_few = n_distinct <= FEW or n_observed >= ROWS_PER_STATE * n_distinct
    return is_few and n_distinct <= asked.max_numeric_states


_REASONS = {
    "mixed": "mixed types",
    "nested": "objects",
    "span": "durations, periods or times",
    "number": "infinite numbers",
    "text": "infinite numbers",
}
_REMEDIES: dict[str, Remedy] = {
    "mixed": "type",
    "nested": "text",
    "span": "span",
    "number": "finite",
    "text": "finite",
}


def _remedy(column: Column, reason: str, n_distinct: int) -> Remedy:
    """Return what would make a variable of a column that is passed through."""
    if reason == "no value":
        return "states"
    if reason == "dates":
        is_written = (
            column.kind == "text"
            and np.isnan([date_number(value) for value in column.values]).any()
        )
        if not is_written:
            return "cut"
        return "write" if n_distinct > MAX_STATES else "write or model"
    if column.trouble:
        return _REMEDIES[column.kind]
    if n_distinct <= MAX_STATES or column.is_numeric:
        return "model"
    return "merge" if reason == "free text" else "none"


def _reason_aside(
    source: Source, position: int, column: Column, n_distinct: int
) -> str:
    """Say why a column is no variable; nothing when it is one."""
    n_observed = column.n_observed
    if n_observed == 0:
        return "no value"
    if are_dates(column):
        return "dates"
    if column.trouble:
        return _REASONS[column.kind]
    if n_distinct == 1:
        return "constant"
    if column.is_numeric:
        return "identifier" if _name_rows(source, position, column) else ""
    if column.kind == "boolean":
        return ""
    if n_distinct == n_observed >= NAMES_ROWS:
        return "identifier"
    is_free = n_distinct > MANY_TEXTS and n_distinct * ROWS_PER_TEXT > n_observed
    if not is_free and n_distinct <= MAX_STATES:
        return ""
    texts = map(str, column.values)
    is_repeated = n_distinct >= (1 - REPEATED) * n_observed
    if is_repeated and (_says_id(column.name) or not any(map(_BLANK.search, texts))):
        return "identifier with repeats"
    return "free text"


def _name_rows(source: Source, position: int, column: Column) -> bool:
    """Tell whether whole numbers name the rows."""
    n_observed = column.n_observed
    is_repeated = 2 * column.n_distinct <= n_observed and not column.is_bound
    if n_observed < NAMES_ROWS or is_repeated:
        return False
    numbers = source.numbers(position)
    numbers = numbers[~np.isnan(numbers)]
    if np.any(numbers != np.floor(numbers)):
        return False
    if _says_id(column.name):
        return True
    steps = np.diff(numbers)
    if np.all(steps > 0) or np.all(steps < 0):
        return True
    are_different = column.n_distinct == n_observed
    return are_different and bool(np.ptp(numbers) == n_observed - 1)


def _says_id(name: str) -> bool:
    """Tell whether a column is called an identifier."""
    return not _NAMING.isdisjoint(word.lower() for word in _WORDS.findall(name))


def _count_distinct(column: Column, asked: Asked) -> int:
    if asked.normalise and column.n_distinct == len(column.values) and column.values:
        return len({label_key(str(value)) for value in column.values})
    return column.n_distinct


def _check_insisted(decision: Decision, column: Column, asked: Asked) -> None:
    """Raise DataError where the caller insists on what cannot be a variable."""
    if decision.role != "model" or column.name in asked.states:
        if column.name in asked.states and column.trouble:
            raise DataError(column.trouble)
        return
    name = column.name
    if column.n_observed == 0 and not column.values:
        message = (
            f"variable {name!r} is missing in every row. Drop it, or list its states:"
            f" {spell('states', {name: ...})}."
        )
        raise DataError(message)
    if column.trouble:
        raise DataError(column.trouble)
    if column.is_numeric:
        _check_numbers(column, asked)
    elif _count_distinct(column, asked) > MAX_STATES:
        message = (
            f"variable {name!r} has {column.n_distinct:,} states, and a variable has at"
            f" most {MAX_STATES}. Drop it if it names the rows, or merge rare states."
        )
        raise DataError(message)


def _check_numbers(column: Column, asked: Asked) -> None:
    name, n_distinct = column.name, column.n_distinct
    limit = MAX_STATES if name in asked.cutting else asked.max_numeric_states
    if n_distinct <= min(limit, MAX_STATES):
        return
    start = f"variable {name!r} has {n_distinct:,} distinct numeric values"
    cut = spell("discretize", {name: 4})
    if n_distinct > MAX_STATES:
        message = (
            f"{start}, and a variable has at most {MAX_STATES} states. Discretize it"
            f" with {cut}."
        )
        raise DataError(message)
    message = (
        f"{start}, more than {spell('max_numeric_states', limit)}. Discretize it with"
        f" {cut}, list its states with {spell('states', {name: ...})}, or raise"
        f" {spell('max_numeric_states')}."
    )
    raise DataError(message)


# What the options of a caller mean.


def _check_states(
    states: Mapping[Any, Iterable[Label]] | None,
    names: Sequence[str],
    problems: Problems,
) -> dict[str, tuple[Label, ...]]:
    """Return the declared states by name of variable."""
    declared: dict[str, tuple[Label, ...]] = {}
    if states is not None:
        check_mapping("states", states, "{'a': ['x', 'y']}")
    for name, labels in (states or {}).items():
        with problems.noted():
            position_of(name, names)
            if isinstance(labels, str) or not isinstance(labels, Iterable):
                message = (
                    f"states of variable {name!r} must be a sequence of labels. Got"
                    f" {labels!r} instead."
                )
                raise ParameterError(message)
            declared[str(name)] = tuple(map(as_label, labels))
            check_labels(str(name), declared[str(name)])
    return declared


def _check_columns(
    columns: Any, names: Sequence[str], problems: Problems
) -> dict[str, Choice]:
    """Return the role of each column that has one, by name."""
    if columns is None:
        return {}
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        message = (
            f"{spell('columns')} must be a mapping such as {{'id': 'drop'}} or a"
            f" sequence of names. Got {columns!r} instead."
        )
        raise ParameterError(message)
    roles: dict[str, Choice] = {}
    if not isinstance(columns, Mapping):
        roles = dict.fromkeys(names, "pass-through")
        listed = check_items("columns", columns, "names")
        columns = {names[position_of(name, names)]: "model" for name in listed}
    for name, role in columns.items():
        with problems.noted():
            position_of(name, names)
            check_choice("columns", role, get_args(Choice))
            roles[str(name)] = role
    return roles


def _check_discretize(
    discretize: Any, names: Sequence[str], problems: Problems
) -> tuple[dict[str, Cutting | None], Discretization | None]:
    """Return how some columns are cut, and a rule for others."""
    if discretize is None or is_auto(discretize):
        return {}, None
    rule = discretize if isinstance(discretize, Discretization) else None
    if rule is None and not isinstance(discretize, Mapping):
        message = (
            f"{spell('discretize')} must be 'auto', None, a mapping such as"
            f" {{'age': 4}} or a Discretization. Got {type(discretize).__name__}"
            " instead."
        )
        raise ParameterError(message)
    cutting = {} if rule else {str(name): how for name, how in discretize.items()}
    for name in rule.names if rule else cutting:
        with problems.noted():
            position_of(name, names)
    return cutting, rule
