"""Odds of hiding a cell: given or drawn for each state, and made to meet a rate."""

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_mapping, check_number
from bayesmend._spelling import spell
from bayesmend.data.states import Label, find_state, listing
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError

__all__ = ["LogOdds", "Odds", "calibrate", "draw", "group_rows"]

Odds = Mapping[str, Mapping[Label, float]]


class LogOdds:
    """Log-odds by state code for some variables of a table: those given, else drawn.

    Parameters
    ----------
    table : IncompleteData
        Where the variables and states come from.
    odds : mapping or None
        As given by the caller; minus infinity is the logarithm of "never".
    strength : float or None
        Standard deviation of drawn log-odds, 1 when None.
    within : collection of int
        The variables that odds are for.
    where : str
        Name of the parameter that lists them, for messages.
    generator : Generator
        Source of randomness.
    """

    def __init__(
        self,
        table: IncompleteData,
        odds: Odds | None,
        strength: float | None,
        *,
        within: Collection[int],
        where: str,
        generator: np.random.Generator,
    ) -> None:
        self.table, self.generator = table, generator
        self.strength = 1.0
        if strength is not None:
            self.strength = check_number("strength", strength, least=0, most=100)
        self.given: dict[int, NDArray[np.float64]] = {}
        if odds is not None:
            check_mapping("odds", odds, "{'smoke': {'yes': 3}}")
        for name, by_label in (odds or {}).items():
            variable = table.index(name)
            if variable not in within:
                given, listed = f"odds are given for {name!r}", spell(where)
                msg = f"{given}, which is not in {listed}. Add it."
                raise ParameterError(msg)
            self.given[variable] = self._checked(variable, by_label)
        if strength is not None and len(self.given) == len(within):
            msg = (
                f"{spell('strength')} has no part where {spell('odds')} are given for "
                "every variable. Leave one of them out."
            )
            raise ParameterError(msg)

    def of(self, variable: int) -> NDArray[np.float64]:
        """Return the log-odds of a variable; drawn ones differ from call to call."""
        if variable in self.given:
            return self.given[variable]
        n_states = len(self.table.states[variable])
        return self.generator.normal(0.0, self.strength, size=n_states)

    def named(self, variable: int, log_odds: NDArray[np.float64]) -> dict[str, float]:
        """Return odds by printed label."""
        labels = map(str, self.table.states[variable])
        return dict(zip(labels, np.exp(log_odds).tolist(), strict=True))

    def _checked(
        self, variable: int, by_label: Mapping[Label, float]
    ) -> NDArray[np.float64]:
        name, states = self.table.names[variable], self.table.states[variable]
        log_odds = np.zeros(len(states))
        for label, value in by_label.items():
            code = find_state(states, label)
            if code is None:
                msg = (
                    f"variable {name!r} has no state {label!r} to give odds for. "
                    f"Its states: {listing(states)}."
                )
                raise ParameterError(msg)
            what = f"odds of state {label!r} of {name!r}"
            number = check_number(what, value, least=0, finite=True)
            log_odds[code] = math.log(number) if number > 0 else -math.inf
        return log_odds


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
