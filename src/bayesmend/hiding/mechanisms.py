"""Hide cells of a table, to test how well a method copes with holes.

Each function returns a `Hidden`: the table with holes and the list of hidden cells
with their true values. The same seed hides the same cells. Observed cells only can
be hidden: in a table that already has holes, rates refer to the cells still
observed, and the old holes stay. Row weights are kept and play no part: rates and
numbers count cells of the table as it is written.

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

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayesmend._checks import check_integer, check_number
from bayesmend.data.states import Label
from bayesmend.data.table import IncompleteData
from bayesmend.hiding.odds import (
    Odds,
    by_state,
    checked_odds,
    draw,
    group_rows,
    log_effect,
    mar_variables,
    observed_rows,
    targets_of,
    value_codes,
)
from bayesmend.hiding.record import Hidden, Picks, Shortfall, punch
from bayesmend.seed import Seed, as_generator

__all__ = [
    "Hidden",
    "Shortfall",
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "hide_value_of",
    "hide_value_per_variable",
]


def hide_mcar(
    data: Any,
    rate: float,
    *,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
) -> Hidden:
    """Hide each cell with the same probability (missing completely at random).

    Parameters
    ----------
    data : IncompleteData or table
        The table; what `IncompleteData.from_table` reads is accepted.
    rate : float
        Probability, between 0 and 1, that an observed cell is hidden.
    variables : sequence of str, optional
        The variables to hide cells of; all by default.
    seed : int or Generator, optional
        Source of randomness.

    Returns
    -------
    Hidden
        The holed table and the hidden cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> hidden = hide_mcar(load_network("asia").sample(1000, seed=1), 0.1, seed=1)
    >>> 0.08 < hidden.n_hidden / hidden.n_candidates < 0.12
    True
    >>> hidden.data.n_missing == hidden.n_hidden
    True
    """
    table = IncompleteData.from_table(data)
    rate, targets = (
        check_number("rate", rate, least=0, most=1),
        targets_of(table, variables),
    )
    generator = as_generator(seed)
    picks = {}
    for target in targets:
        rows = observed_rows(table, target)
        picks[target] = rows[generator.random(rows.size) < rate]
    return punch(table, picks, {"mechanism": "mcar", "rate": rate})


def hide_mar(
    data: Any,
    rate: float,
    *,
    depends_on: Sequence[str],
    odds: Odds | None = None,
    strength: float = 1.0,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    strict: bool = False,
) -> Hidden:
    """Hide cells depending on variables that stay observed (missing at random).

    Parameters
    ----------
    data : IncompleteData or table
        The table; what `IncompleteData.from_table` reads is accepted.
    rate : float
        Expected share, between 0 and 1, of hidden cells in each variable.
    depends_on : sequence of str
        The variables that the probability depends on. Never hidden. Where one of
        them is already missing, it contributes odds 1.
    odds : mapping of variable to mapping of state to float, optional
        Relative odds of hiding a cell of the row for the states of variables in
        `depends_on`; a state not listed has odds 1. For a variable not listed, odds
        are drawn anew for each hidden variable.
    strength : float, default=1.0
        Standard deviation of drawn log-odds; 0 makes them equal.
    variables : sequence of str, optional
        The variables to hide cells of; by default all that are not in `depends_on`.
    seed : int or Generator, optional
        Source of randomness.
    strict : bool, default=False
        Raise when odds of 0 leave too few cells for the rate.

    Returns
    -------
    Hidden
        The holed table and the hidden cells; ``request["odds"]`` holds the odds in
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
    table = IncompleteData.from_table(data)
    rate, strength = (
        check_number("rate", rate, least=0, most=1),
        check_number("strength", strength, least=0, finite=True),
    )
    causes, targets = mar_variables(table, depends_on, variables)
    fixed = checked_odds(table, odds, within=causes, where="depends_on")
    generator = as_generator(seed)
    group, example = group_rows(table, causes)
    picks, used, asked = {}, {}, {}
    for target in targets:
        effects = {
            cause: log_effect(table, cause, fixed, strength, generator)
            for cause in causes
        }
        used[table.names[target]] = {
            table.names[cause]: by_state(table, cause, effect)
            for cause, effect in effects.items()
        }
        log_odds = np.zeros(example.size)
        for cause, effect in effects.items():
            # Code 255, a missing cell, contributes log-odds 0.
            padded = np.pad(effect, (0, 256 - effect.size))
            log_odds += padded[table.codes[example, cause]]
        rows = observed_rows(table, target)
        chosen, asked[target] = draw(generator, group[rows], log_odds, rate)
        picks[target] = rows[chosen]
    request = {"mechanism": "mar", "rate": rate, "odds": used}
    return punch(table, picks, request, asked, strict=strict)


def hide_mnar(
    data: Any,
    rate: float,
    *,
    odds: Odds | None = None,
    strength: float = 1.0,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    strict: bool = False,
) -> Hidden:
    """Hide cells depending on the value they hold (self-masking, not at random).

    Parameters
    ----------
    data : IncompleteData or table
        The table; what `IncompleteData.from_table` reads is accepted.
    rate : float
        Expected share, between 0 and 1, of hidden cells in each variable.
    odds : mapping of variable to mapping of state to float, optional
        Relative odds of being hidden for the states of a variable; a state not
        listed has odds 1. For a variable not listed, odds are drawn.
    strength : float, default=1.0
        Standard deviation of drawn log-odds; 0 makes them equal.
    variables : sequence of str, optional
        The variables to hide cells of; by default those in `odds`, or all when
        `odds` is not given.
    seed : int or Generator, optional
        Source of randomness.
    strict : bool, default=False
        Raise when odds of 0 leave too few cells for the rate.

    Returns
    -------
    Hidden
        The holed table and the hidden cells; ``request["odds"]`` holds the odds in
        force for each hidden variable.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_mnar(truth, 0.1, odds={"smoke": {"yes": 1, "no": 0}}, seed=1)
    >>> {label for row, variable, label in hidden.cells()}
    {'yes'}
    """
    table = IncompleteData.from_table(data)
    rate, strength = (
        check_number("rate", rate, least=0, most=1),
        check_number("strength", strength, least=0, finite=True),
    )
    if variables is None and odds is not None:
        variables = list(odds)
    targets = targets_of(table, variables)
    fixed = checked_odds(table, odds, within=targets, where="variables")
    generator = as_generator(seed)
    picks, used, asked = {}, {}, {}
    for target in targets:
        effect = log_effect(table, target, fixed, strength, generator)
        used[table.names[target]] = by_state(table, target, effect)
        rows = observed_rows(table, target)
        group = table.codes[rows, target]
        chosen, asked[target] = draw(generator, group, effect, rate)
        picks[target] = rows[chosen]
    request = {"mechanism": "mnar", "rate": rate, "odds": used}
    return punch(table, picks, request, asked, strict=strict)


def hide_value_per_variable(
    data: Any,
    per_variable: int,
    value: Label | None = None,
    *,
    state: int | None = None,
    variables: Sequence[str] | None = None,
    seed: Seed = None,
    strict: bool = False,
) -> Hidden:
    """Hide a number of cells of every variable, all holding one given value.

    Parameters
    ----------
    data : IncompleteData or table
        The table; what `IncompleteData.from_table` reads is accepted.
    per_variable : int
        Number of cells to hide in each variable.
    value : label, optional
        The label the hidden cells hold. A text also finds a label that prints the
        same (``"1"`` finds 1). A variable without that label falls short.
    state : int, optional
        In place of `value`: the position of the state, from 0.
    variables : sequence of str, optional
        The variables to hide cells of; all by default.
    seed : int or Generator, optional
        Source of randomness.
    strict : bool, default=False
        Raise when a variable has too few such cells.

    Returns
    -------
    Hidden
        The holed table and the hidden cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_value_per_variable(truth, 2, "no", seed=1)
    >>> set(hidden.counts.values())
    {2}
    """
    table = IncompleteData.from_table(data)
    targets = targets_of(table, variables)
    number = check_integer("per_variable", per_variable)
    codes = value_codes(table, targets, value, state)
    return punch(table, *_pick_value(table, codes, number, seed), strict=strict)


def hide_value_of(
    data: Any,
    variable: str,
    count: int,
    value: Label | None = None,
    *,
    state: int | None = None,
    seed: Seed = None,
    strict: bool = False,
) -> Hidden:
    """Hide a number of cells of one variable, all holding one given value.

    Parameters
    ----------
    data : IncompleteData or table
        The table; what `IncompleteData.from_table` reads is accepted.
    variable : str
        The variable to hide cells of.
    count : int
        Number of cells to hide.
    value : label, optional
        The label the hidden cells hold. A text also finds a label that prints the
        same (``"1"`` finds 1).
    state : int, optional
        In place of `value`: the position of the state, from 0.
    seed : int or Generator, optional
        Source of randomness.
    strict : bool, default=False
        Raise when the variable has too few such cells.

    Returns
    -------
    Hidden
        The holed table and the hidden cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hide_value_of(truth, "smoke", 20, "yes", seed=1)
    Hidden(value: 20 of 1,000 cells)
    """
    table = IncompleteData.from_table(data)
    targets, number = [table.index(variable)], check_integer("count", count)
    codes = value_codes(table, targets, value, state)
    return punch(table, *_pick_value(table, codes, number, seed), strict=strict)


def _pick_value(
    table: IncompleteData, codes: Mapping[int, int | None], number: int, seed: Seed
) -> tuple[Picks, dict[str, object], dict[int, int]]:
    """Pick up to `number` cells of each variable among those holding its code."""
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
    return picks, {"mechanism": "value", "count": number, "values": values}, asked
