"""Hide cells of a table, to test how well a method copes without them.

Each function returns a `Hidden`: the table without them and the list of hidden cells
with their true values. The same seed hides the same cells. Only observed
cells can be hidden: in a table that has missing cells already, rates refer to the
cells still observed, and the others stay missing. Row weights are kept and play no
part: rates and numbers count cells of the table as it is written.

Three mechanisms hide each cell independently at a given overall rate.

MCAR
    Every cell has the same probability.
MAR
    The log-odds of hiding a cell are the sum of one term per variable in
    `depends_on`, read in the same row; those variables are never hidden.
MNAR
    The log-odds depend on the value of the cell itself (self-masking).

For MAR and MNAR the caller gives odds per state, or has them drawn; a constant is
then added to the log-odds of each variable such that its expected share of hidden
cells is the rate. Odds of 0 mean "never".

Two protocols hide an exact number of cells that all hold one given value, as in
the experiments of Adel and de Campos (AAAI 2017): `hide_value_per_variable` (p there
is `per_variable` here) and `hide_value_of` for one variable (q is `count`).

When fewer suitable cells exist than were asked for, all of them are hidden, a
`ShortfallWarning` gives the counts, and ``Hidden.shortfalls`` records them; with
``strict=True`` nothing is hidden and `ParameterError` is raised instead.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer, check_items, check_number
from bayesmend._entrance import entrance
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.states import Label, find_state, listing
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.hiding.odds import LogOdds, Odds, draw, group_rows
from bayesmend.hiding.record import Hidden, observed_rows, punch
from bayesmend.seed import Seed, as_generator

__all__ = [
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "hide_value_of",
    "hide_value_per_variable",
]

# Signatures repeat what the mechanisms share: each function says all that it takes, and
# the command line reads from there which options go with it.

Grouped: TypeAlias = tuple[NDArray[np.integer], NDArray[np.float64], dict[str, Any]]
"""The group of each row, the log-odds of each group, and the odds for the record."""


@entrance
def hide_mcar(
    data: Any,
    rate: float,
    *,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    **reading: Unpack[Reading],
) -> Hidden:
    """Hide each cell with the same probability (missing completely at random).

    Parameters
    ----------
    {table}
    rate : float
        Probability, between 0 and 1, that an observed cell is hidden.
    variables : sequence of str, optional
        The variables to hide cells of; all by default.
    {seed}
    {reading}

    Returns
    -------
    Hidden
        The incomplete table and the hidden cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> hidden = hide_mcar(load_network("asia").sample(1000, seed=1), 0.1, seed=1)
    >>> 0.08 < hidden.n_hidden / hidden.n_candidates < 0.12
    True
    >>> hidden.data.n_missing == hidden.n_hidden
    True
    """
    table = IncompleteData.from_table(data, **reading)
    rate = check_number("rate", rate, least=0, most=1)
    targets = _positions(table, variables)
    generator = as_generator(seed)
    picks = {}
    for target in targets:
        rows = observed_rows(table, target)
        picks[target] = rows[generator.random(rows.size) < rate]
    return punch(table, picks, {"mechanism": "mcar", "rate": rate})


@entrance
def hide_mar(
    data: Any,
    rate: float,
    *,
    depends_on: Sequence[str],
    odds: Odds | None = None,
    strength: float | None = None,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    strict: bool = False,
    **reading: Unpack[Reading],
) -> Hidden:
    """Hide cells depending on variables that stay observed (missing at random).

    Parameters
    ----------
    {table}
    rate : float
        Expected share, between 0 and 1, of hidden cells in each variable.
    depends_on : sequence of str
        The variables that the probability depends on. Never hidden. Where one of
        them is already missing, it contributes odds 1.
    odds : mapping of variable to mapping of state to float, optional
        Relative odds of hiding a cell of the row for the states of variables in
        `depends_on`; a state not listed has odds 1. For a variable not listed, odds
        are drawn anew for each hidden variable.
    strength : float, optional
        Standard deviation of drawn log-odds, by default 1; 0 makes them equal.
    variables : sequence of str, optional
        The variables to hide cells of; by default all that are not in `depends_on`.
    {seed}
    strict : bool, default=False
        Raise when odds of 0 leave too few cells for the rate.
    {reading}

    Returns
    -------
    Hidden
        The incomplete table and the hidden cells; ``request["odds"]`` holds the odds in
        force for each hidden variable.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_mar(
    ...     truth, 0.1, depends_on=["smoke"], odds={"smoke": {"yes": 5.0}}, seed=1
    ... )
    >>> hidden.counts["smoke"]
    0
    """
    table = IncompleteData.from_table(data, **reading)
    causes, targets = _mar_variables(table, depends_on, variables)
    generator = as_generator(seed)
    log_odds = LogOdds(
        table, odds, strength, within=causes, where="depends_on", generator=generator
    )
    group, example = group_rows(table, causes)

    def grouped(target: int) -> Grouped:
        effects = {cause: log_odds.of(cause) for cause in causes}
        total = np.zeros(example.size)
        for cause, effect in effects.items():
            # Code 255, a missing cell, contributes log-odds 0.
            padded = np.pad(effect, (0, 256 - effect.size))
            total += padded[table.codes[example, cause]]
        named = {table.names[c]: log_odds.named(c, e) for c, e in effects.items()}
        return group, total, named

    return _hide_by_odds(table, "mar", rate, targets, grouped, generator, strict)


@entrance
def hide_mnar(
    data: Any,
    rate: float,
    *,
    odds: Odds | None = None,
    strength: float | None = None,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    strict: bool = False,
    **reading: Unpack[Reading],
) -> Hidden:
    """Hide cells depending on the value they hold (self-masking, not at random).

    Parameters
    ----------
    data, rate, strength, seed, strict
        As in `hide_mar`.
    odds : mapping of variable to mapping of state to float, optional
        Relative odds of being hidden for the states of a variable; a state not
        listed has odds 1. For a variable not listed, odds are drawn.
    variables : sequence of str, optional
        The variables to hide cells of; by default those in `odds`, or all when
        `odds` is not given.
    {reading}

    Returns
    -------
    Hidden
        As from `hide_mar`.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_mnar(truth, 0.1, odds={"smoke": {"yes": 1, "no": 0}}, seed=1)
    >>> {label for row, variable, label in hidden.cells()}
    {'yes'}
    """
    table = IncompleteData.from_table(data, **reading)
    if variables is None and odds is not None:
        variables = list(odds)
    targets = _positions(table, variables)
    generator = as_generator(seed)
    log_odds = LogOdds(
        table, odds, strength, within=targets, where="variables", generator=generator
    )

    def grouped(target: int) -> Grouped:
        effect = log_odds.of(target)
        return table.codes[:, target], effect, log_odds.named(target, effect)

    return _hide_by_odds(table, "mnar", rate, targets, grouped, generator, strict)


@entrance
def hide_value_per_variable(
    data: Any,
    per_variable: int,
    value: Label | None = None,
    *,
    state: int | None = None,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    strict: bool = False,
    **reading: Unpack[Reading],
) -> Hidden:
    """Hide a number of cells of every variable, all holding one given value.

    Parameters
    ----------
    {table}
    per_variable : int
        Number of cells to hide in each variable.
    value : label, optional
        The label the hidden cells hold; one that differs in type only (``"1"`` and 1)
        is found where no other is. A variable without that label falls short.
    state : int, optional
        In place of `value`: the position of the state, from 0.
    variables : sequence of str, optional
        The variables to hide cells of; all by default.
    {seed}
    strict : bool, default=False
        Raise when a variable has too few such cells.
    {reading}

    Returns
    -------
    Hidden
        The incomplete table and the hidden cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_value_per_variable(truth, 2, "no", seed=1)
    >>> set(hidden.counts.values())
    {2}
    """
    table = IncompleteData.from_table(data, **reading)
    targets = _positions(table, variables)
    number = check_integer("per_variable", per_variable)
    return _hide_value(table, targets, number, value, state, seed, strict)


@entrance
def hide_value_of(
    data: Any,
    variable: str,
    count: int,
    value: Label | None = None,
    *,
    state: int | None = None,
    seed: Seed = None,
    strict: bool = False,
    **reading: Unpack[Reading],
) -> Hidden:
    """Hide a number of cells of one variable, all holding one given value.

    Parameters
    ----------
    data, value, state, seed, strict
        As in `hide_value_per_variable`.
    variable : str
        The variable to hide cells of.
    count : int
        Number of cells to hide.
    {reading}

    Returns
    -------
    Hidden
        The incomplete table and the hidden cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hide_value_of(truth, "smoke", 20, "yes", seed=1)
    Hidden(value: 20 of 1,000 cells)
    """
    table = IncompleteData.from_table(data, **reading)
    targets, number = [table.index(variable)], check_integer("count", count)
    return _hide_value(table, targets, number, value, state, seed, strict)


def _hide_by_odds(
    table: IncompleteData,
    mechanism: str,
    rate: float,
    targets: Sequence[int],
    grouped: Callable[[int], Grouped],
    generator: np.random.Generator,
    strict: bool,
) -> Hidden:
    """Hide cells of each target at a mean rate, by the odds of the group of the row."""
    rate = check_number("rate", rate, least=0, most=1)
    picks, used, asked = {}, {}, {}
    for target in targets:
        group, log_odds, used[table.names[target]] = grouped(target)
        rows = observed_rows(table, target)
        chosen, asked[target] = draw(generator, group[rows], log_odds, rate)
        picks[target] = rows[chosen]
    request = {"mechanism": mechanism, "rate": rate, "odds": used}
    return punch(table, picks, request, asked, strict=strict)


def _hide_value(
    table: IncompleteData,
    targets: Sequence[int],
    number: int,
    value: Label | None,
    state: int | None,
    seed: Seed,
    strict: bool,
) -> Hidden:
    """Hide up to `number` cells of each target among those that hold one value."""
    codes = _value_codes(table, targets, value, state)
    generator = as_generator(seed)
    picks, asked = {}, {}
    for target, code in codes.items():
        rows = np.flatnonzero(table.codes[:, target] == (-1 if code is None else code))
        size = min(number, rows.size)
        picks[target] = np.sort(generator.choice(rows, size, replace=False))
        asked[target] = number if number > size else 0
    values = {
        table.names[target]: None if code is None else table.states[target][code]
        for target, code in codes.items()
    }
    request = {"mechanism": "value", "count": number, "values": values}
    return punch(table, picks, request, asked, strict=strict)


def _value_codes(
    table: IncompleteData,
    targets: Sequence[int],
    value: Label | None,
    state: int | None,
) -> dict[int, int | None]:
    """Return the wanted code of each target; None where it has no such state."""
    codes: dict[int, int | None]
    if value is not None and state is None:
        wanted = f"value {value!r}"
        codes = {t: find_state(table.states[t], value) for t in targets}
    elif value is None and state is not None:
        wanted, position = f"state number {state}", check_integer("state", state)
        codes = {t: position if position < table.card[t] else None for t in targets}
    else:
        msg = (
            f"give either {spell('value')}, a label, or {spell('state')}, a position "
            "from 0."
        )
        raise ParameterError(msg)
    if all(code is None for code in codes.values()):
        name, states = table.names[targets[0]], table.states[targets[0]]
        msg = (
            f"no chosen variable has {wanted}. "
            f"The states of {name!r}, for example: {listing(states)}."
        )
        raise ParameterError(msg)
    return codes


def _mar_variables(
    table: IncompleteData, depends_on: Sequence[str], variables: Sequence[str] | None
) -> tuple[list[int], list[int]]:
    """Return the variables to depend on and those to hide; they may not overlap."""
    causes = _positions(table, depends_on, "depends_on")
    if variables is None:
        targets = [t for t in range(table.n_vars) if t not in causes]
        if not targets:
            named = spell("depends_on")
            msg = f"{named} names every variable, so none is left to hide."
            raise ParameterError(msg)
        return causes, targets
    targets = _positions(table, variables)
    for both in set(causes) & set(targets):
        msg = (
            f"{table.names[both]!r} is in {spell('depends_on')} and in "
            f"{spell('variables')}. What missing at random depends on stays observed: "
            "remove it from one of them."
        )
        raise ParameterError(msg)
    return causes, targets


def _positions(
    table: IncompleteData, names: Sequence[str] | None, parameter: str = "variables"
) -> list[int]:
    """Return the positions of the named variables, or of all."""
    if names is None:
        return list(range(table.n_vars))
    names = (
        [names] if isinstance(names, str) else check_items(parameter, names, "names")
    )
    positions = [table.index(name) for name in names]
    if not names or len(set(positions)) < len(names):
        msg = (
            f"{spell(parameter)} must name one or more variables, each once. "
            f"Got {names!r} instead."
        )
        raise ParameterError(msg)
    return positions
