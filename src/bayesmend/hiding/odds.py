"""Which cells may be hidden, and with what odds: checks and draws for `missing`."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer, check_number
from bayesmend._spelling import spell
from bayesmend.data.states import MISSING, Label, listing
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError

__all__ = [
    "Odds",
    "by_state",
    "calibrate",
    "checked_odds",
    "draw",
    "find_state",
    "group_rows",
    "log_effect",
    "mar_variables",
    "observed_rows",
    "targets_of",
    "value_codes",
]

Odds = Mapping[str, Mapping[Label, float]]


def find_state(states: Sequence[Label], value: Label) -> int | None:
    """Return the code of `value`, else of a label that prints the same, else None."""
    for code, label in enumerate(states):
        if label == value:
            return code
    texts = [str(label) for label in states]
    return texts.index(value) if value in texts else None


def checked_odds(
    table: IncompleteData, odds: Odds | None, *, within: Collection[int], where: str
) -> dict[int, NDArray[np.float64]]:
    """Return the log-odds per state of each variable in `odds`, or say what is wrong.

    Parameters
    ----------
    table : IncompleteData
        Where the variables and states come from.
    odds : mapping or None
        As given by the caller.
    within : collection of int
        The variables that odds may be given for.
    where : str
        Name of the parameter that lists them, for the message.

    Returns
    -------
    dict of int to ndarray
        Log-odds by state code; minus infinity stands for "never".
    """
    checked = {}
    for name, by_label in (odds or {}).items():
        variable = table.index(name)
        if variable not in within:
            message = (
                f"odds are given for {name!r}, which is not in {spell(where)}. Add it."
            )
            raise ParameterError(message)
        log_odds = np.zeros(len(table.states[variable]))
        for label, value in by_label.items():
            code = find_state(table.states[variable], label)
            if code is None:
                message = (
                    f"variable {name!r} has no state {label!r} to give odds for. "
                    f"Its states: {listing(table.states[variable])}."
                )
                raise ParameterError(message)
            log_odds[code] = _log(name, label, value)
        checked[variable] = log_odds
    return checked


def log_effect(
    table: IncompleteData,
    variable: int,
    fixed: Mapping[int, NDArray[np.float64]],
    strength: float,
    generator: np.random.Generator,
) -> NDArray[np.float64]:
    """Return the log-odds per state of a variable: those fixed, or drawn ones."""
    if variable in fixed:
        return fixed[variable]
    return generator.normal(0.0, strength, size=len(table.states[variable]))


def by_state(
    table: IncompleteData, variable: int, log_odds: NDArray[np.float64]
) -> dict[str, float]:
    """Return odds keyed by printed label."""
    labels = map(str, table.states[variable])
    return dict(zip(labels, np.exp(log_odds).tolist(), strict=True))


def group_rows(
    table: IncompleteData, variables: Sequence[int]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give each distinct configuration of some variables a number, from 0.

    Returns
    -------
    group : ndarray of intp, shape (n_rows,)
        Configuration of each row.
    example : ndarray of intp, shape (n_groups,)
        A row that has each configuration.
    """
    group = np.zeros(table.n_rows, dtype=np.intp)
    example = np.zeros(min(table.n_rows, 1), dtype=np.intp)
    for variable in variables:
        # Numbered anew after each variable, so the key cannot overflow.
        key = group * 256 + table.codes[:, variable]
        _, example, group = np.unique(key, return_index=True, return_inverse=True)
    return group, example


def draw(
    generator: np.random.Generator,
    group: NDArray[np.integer],
    log_odds: NDArray[np.float64],
    rate: float,
) -> tuple[NDArray[np.bool_], int]:
    """Choose cells independently, with given odds between groups, at a mean rate.

    Parameters
    ----------
    generator : Generator
        Source of randomness.
    group : ndarray of integer, shape (n_cells,)
        Group of each cell.
    log_odds : ndarray, shape (n_groups,)
        Relative log-odds of each group.
    rate : float
        Expected share of chosen cells.

    Returns
    -------
    chosen : ndarray of bool, shape (n_cells,)
        The choice.
    asked : int
        Number of cells that the rate asks for when that is more than have odds
        above 0 (all of which are then chosen); otherwise 0.
    """
    counts = np.bincount(group, minlength=log_odds.size)
    n_possible = int(counts[log_odds > -math.inf].sum())
    asked = math.ceil(rate * group.size - 1e-9)
    probability = calibrate(log_odds, counts, rate)
    chosen = generator.random(group.size) < probability[group]
    return chosen, asked if asked > n_possible else 0


def calibrate(
    log_odds: NDArray[np.float64], counts: NDArray[np.integer], rate: float
) -> NDArray[np.float64]:
    """Return the probability of each group: given odds between them, given mean.

    A constant is added to the log-odds such that the mean over all cells is `rate`;
    where no constant can do that, every group with odds above 0 gets probability 1.
    """
    probability = np.zeros(log_odds.size)
    possible = (counts > 0) & (log_odds > -math.inf)
    n_possible, n_wanted = counts[possible].sum(), rate * counts.sum()
    if n_wanted >= n_possible:
        probability[possible] = 1.0
    elif n_wanted > 0.0:
        share = n_wanted / n_possible
        weight, log_odds = counts[possible] / n_possible, log_odds[possible]
        logit = math.log(share) - math.log1p(-share)
        low, high = logit - log_odds.max(), logit - log_odds.min()
        for _ in range(100):
            middle = (low + high) / 2
            if weight @ _logistic(middle + log_odds) < share:
                low = middle
            else:
                high = middle
        probability[possible] = _logistic((low + high) / 2 + log_odds)
    return probability


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(-np.logaddexp(0.0, -x))


def _log(name: str, label: Label, value: float) -> float:
    """Return the logarithm of one odds value, checked."""
    check_number(f"odds of state {label!r} of {name!r}", value, least=0, finite=True)
    return math.log(value) if value > 0 else -math.inf


def value_codes(
    table: IncompleteData,
    targets: Sequence[int],
    value: Label | None,
    state: int | None,
) -> dict[int, int | None]:
    """Return the wanted code of each target; None where it has no such state."""
    if (value is None) == (state is None):
        message = (
            f"give either {spell('value')}, a label, or {spell('state')}, a position "
            "from 0."
        )
        raise ParameterError(message)
    codes: dict[int, int | None]
    if state is not None:
        position = check_integer("state", state)
        codes = {t: position if position < table.card[t] else None for t in targets}
    else:
        assert value is not None
        codes = {t: find_state(table.states[t], value) for t in targets}
    if all(code is None for code in codes.values()):
        wanted = f"value {value!r}" if state is None else f"state number {state}"
        name, states = table.names[targets[0]], table.states[targets[0]]
        message = (
            f"no chosen variable has {wanted}. "
            f"The states of {name!r}, for example: {listing(states)}."
        )
        raise ParameterError(message)
    return codes


def mar_variables(
    table: IncompleteData, depends_on: Sequence[str], variables: Sequence[str] | None
) -> tuple[list[int], list[int]]:
    """Return the variables to depend on and those to hide; they may not overlap."""
    causes = targets_of(table, depends_on, "depends_on")
    if variables is None:
        targets = [t for t in range(table.n_vars) if t not in causes]
        if not targets:
            causes_of = spell("depends_on")
            message = f"{causes_of} names every variable, so none is left to hide."
            raise ParameterError(message)
        return causes, targets
    targets = targets_of(table, variables)
    for both in set(causes) & set(targets):
        message = (
            f"{table.names[both]!r} is in {spell('depends_on')} and in "
            f"{spell('variables')}. What missing at random depends on stays observed: "
            "remove it from one of them."
        )
        raise ParameterError(message)
    return causes, targets


def targets_of(
    table: IncompleteData, names: Sequence[str] | None, parameter: str = "variables"
) -> list[int]:
    """Return the numbers of the named variables, or of all."""
    if names is None:
        return list(range(table.n_vars))
    names = [names] if isinstance(names, str) else list(names)
    if not names or len(set(names)) < len(names):
        message = (
            f"{spell(parameter)} must name one or more variables, each once. "
            f"Got {names!r} instead."
        )
        raise ParameterError(message)
    return [table.index(name) for name in names]


def observed_rows(table: IncompleteData, variable: int) -> NDArray[np.intp]:
    """Return the rows in which a variable is not missing."""
    return np.flatnonzero(table.codes[:, variable] != MISSING)
