"""What may explain the missing cells of a variable, and how well it does.

For one indicator R_i and a network that is given. Whatever the mechanism of X_i on
itself, the rest ``o`` of a row depends on R_i through X_i alone, so P(o | x_i) is the
same for rows where X_i is observed and where it is missing. What differs is the
distribution of X_i: ``seen`` among the one and ``hidden`` among the other, the weights
of a mixture of known components. Its likelihood is concave: one maximum, found without
any start to choose. The ratio of the likelihoods, with two distributions and with one,
is what X_i -> R_i gains.

Explanations are compared by their evidence, the log-likelihood with the parameters
integrated out (Laplace): the log-odds of missing are drawn from a normal distribution
around a mean that is free. A direction of which the rows tell nothing costs nothing and
gains nothing.

Symbols: P(R_i = missing | x) is proportional to ``hidden[x] / seen[x]`` in odds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core

__all__ = [
    "Explanation",
    "Mixture",
    "Rows",
    "explanation_of",
    "explanations_of",
    "identified",
    "mixture_gain",
    "worth_of",
]

_LEAST = 1e-300
_STEPS, _SMALL = 300, 1e-7
# Standard deviation of log-odds of missing between states, a priori; and steps to the
# most probable ones.
_SPREAD, _NEWTON = 1.5, 15
_RIDGE, _CLOSE = 1e-9, 1e-3
# Expected rows with a state, below which it does not occur.
_SEEN = 1e-3
# So many of the best single parents are tried in pairs, with so many of the others; and
# so many of the best sets are made larger, up to so many configurations.
_TRIED, _LIKELY, _CONFIGURATIONS = 3, 30, 256
# Multiplications that are done before the clock is looked at.
_MULTIPLIED = 2**26


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Explanation:
    """Parents of an indicator, and what they gain against having none.

    Parameters
    ----------
    parents : tuple of int
        Variables.
    gain : float
        Log-likelihood, in nats, above that of no parent.
    evidence : float
        The same with the parameters integrated out.
    n_alike : int
        Among how many sets of its kind it was chosen.
    """

    parents: tuple[int, ...]
    gain: float
    evidence: float
    n_alike: int

    @property
    def net(self) -> float:
        """The evidence, less what the choice among sets of its kind costs."""
        return self.evidence - math.log(max(self.n_alike, 1))

    @property
    def price(self) -> float:
        """By how much the log-likelihood overstates it."""
        return self.gain - self.net


@dataclass(frozen=True, repr=False, eq=False)
class Rows:
    """What is known of every cell of the distinct rows: distributions over states.

    Parameters
    ----------
    weights : ndarray of shape (n_patterns,)
        How often each row occurs.
    soft : list of ndarray of shape (n_patterns, n_states)
        Per variable; 0 and 1 where it is observed.
    """

    weights: NDArray[np.float64]
    soft: list[NDArray[np.float64]]

    @cached_property
    def stacked(self) -> NDArray[np.float64]:
        """The distributions of all variables side by side."""
        return np.hstack(self.soft)

    @cached_property
    def card(self) -> list[int]:
        """Number of states of each variable."""
        return [part.shape[1] for part in self.soft]

    def __post_init__(self) -> None:
        assert all(len(part) == len(self.weights) for part in self.soft)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Mixture:
    """What a variable is where it is missing, if that depends on itself.

    Parameters
    ----------
    gain, evidence : float
        Against not depending on it; see `Explanation`.
    posterior : ndarray of shape (n_hidden, n_states)
        Its distribution in each row where it is missing.
    log_odds, errors : ndarray of shape (n_states,)
        Of missing, given each state; and their standard errors.
    """

    gain: float
    evidence: float
    posterior: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    errors: NDArray[np.float64]


def mixture_gain(
    likelihood: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
) -> Mixture:
    """Tell the distribution of a variable where it is missing, and what that gains.

    Parameters
    ----------
    likelihood : ndarray of shape (n_hidden, n_states)
        Of the rest of each row where the variable is missing, to a factor per row.
    weights : ndarray of shape (n_hidden,)
        How often each of them occurs.
    counts : ndarray of shape (n_states,)
        Rows in which each state is observed.
    """
    peak = np.maximum(likelihood.max(axis=1, keepdims=True), _LEAST)
    likelihood = likelihood / peak
    seen, hidden = float(counts.sum()), float(weights.sum())
    total = seen + hidden
    share = (counts + hidden / len(counts)) / total
    together = _mix(likelihood, weights, counts, share)
    base = hidden * math.log(hidden / total) + seen * math.log(seen / total)
    before = -math.inf
    share = together.share
    centre, off = math.log(hidden / seen), np.zeros(len(counts))
    for _ in range(_STEPS):
        chance = _logistic(centre + off)
        mixed = np.maximum(likelihood @ (share * chance), _LEAST)
        posterior = likelihood * (share * chance) / mixed[:, None]
        value = float(weights @ np.log(mixed))
        used = counts > 0
        value += float(counts[used] @ np.log((share * (1 - chance))[used]))
        penalised = value - float(off @ off) / (2 * _SPREAD**2)
        if penalised - before < _SMALL * total:
            break
        before = penalised
        expected = weights @ posterior
        share = (counts + expected) / total
        centre, off = _likely_odds(expected, counts, centre, off)
    used = counts + weights @ posterior > _SEEN
    information = _information(posterior, weights, counts, share, chance, used)
    inside = information + np.eye(len(information)) / _SPREAD**2
    occam = 0.5 * np.linalg.slogdet(_SPREAD**2 * inside)[1]
    spread = information.sum(axis=0)
    inverse = np.linalg.inv(inside)
    left = float(spread.sum() - spread @ inverse @ spread)
    occam += 0.5 * math.log(max(left, _LEAST) / (hidden * seen / total))
    apart = penalised - together.value - base
    errors = np.full(len(counts), _SPREAD)
    errors[used] = np.sqrt(np.maximum(np.diag(inverse), 0))
    return Mixture(
        max(value - together.value - base, 0.0),
        apart - occam,
        posterior,
        centre + off,
        errors,
    )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Mixed:
    share: NDArray[np.float64]
    value: float


def _mix(
    likelihood: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    share: NDArray[np.float64],
) -> _Mixed:
    """Find the weights of a mixture of known components, some rows told apart."""
    total, before = weights.sum() + counts.sum(), -math.inf
    used = counts > 0
    for _ in range(_STEPS):
        mixed = np.maximum(likelihood @ share, _LEAST)
        value = float(weights @ np.log(mixed))
        value += float(counts[used] @ np.log(share[used]))
        if value - before < _SMALL * total:
            break
        before = value
        share = (counts + share * ((weights / mixed) @ likelihood)) / total
    return _Mixed(share, value)


def _likely_odds(
    hidden: NDArray[np.float64],
    seen: NDArray[np.float64],
    centre: float,
    off: NDArray[np.float64],
) -> tuple[float, NDArray[np.float64]]:
    """Take a step towards the most probable log-odds, a mean and what is off it."""
    chance = _logistic(centre + off)
    total = hidden + seen
    slope = hidden - total * chance - off / _SPREAD**2
    off = off + np.clip(
        slope / (total * chance * (1 - chance) + 1 / _SPREAD**2), -1.0, 1.0
    )
    mean = float(off.mean())
    return centre + mean, off - mean


def _information(
    posterior: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.float64],
    share: NDArray[np.float64],
    chance: NDArray[np.float64],
    used: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the information of the rows on the log-odds, the shares being unknown.

    By the products of the scores of the rows; of the states that occur at all.
    """
    posterior, counts = posterior[:, used], counts[used]
    share, chance = share[used], chance[used]
    one = np.eye(len(share))
    odds = np.concatenate([posterior * (1 - chance), -one * chance])
    shares = np.concatenate([posterior - share, one - share])
    of_rows = np.concatenate([weights, counts])[:, None]
    both = (odds * of_rows).T @ shares
    inner = (shares * of_rows).T @ shares
    # All shares growing together is no change: a direction without information.
    inner += _RIDGE * np.eye(len(inner)) * max(float(of_rows.sum()), 1.0)
    return np.asarray((odds * of_rows).T @ odds - both @ np.linalg.solve(inner, both.T))


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def explanations_of(
    rows: Rows,
    own: int,
    is_hidden: NDArray[np.bool_],
    mixture: Mixture,
    most: int,
    beside: Sequence[int],
) -> list[Explanation]:
    """List what may explain an indicator: none, itself, others, and pairs of them.

    Parameters
    ----------
    rows : Rows
        All distinct rows.
    own : int
        The variable of the indicator.
    is_hidden : ndarray of shape (n_patterns,)
        The indicator.
    mixture : Mixture
        What the variable is where it is missing, if that depends on itself.
    most : int
        Largest number of parents.
    beside : sequence of int
        The variables that may do so together with its own state.
    """
    weights = rows.weights
    others = [v for v in range(len(rows.soft)) if v != own and rows.card[v] > 1]
    n_others = len(others)
    both = np.stack([~is_hidden, is_hidden], axis=1) * weights[:, None]
    found = [Explanation((), 0.0, 0.0, 1)]
    itself = Explanation((own,), mixture.gain, mixture.evidence, 1)
    if rows.card[own] > 1:
        found.append(itself)
    singles = [
        Explanation((v,), *worth, n_others)
        for v, worth in _beside(rows, both, others, np.ones((len(weights), 1))).items()
    ]
    found += singles
    if most < 2:
        return found
    told = _told(rows, own, is_hidden, mixture)
    pairs = math.comb(n_others, 2)
    best = sorted(singles, key=lambda single: -single.evidence)
    likely = {single.parents[0] for single in best[:_LIKELY]}
    best = best[:_TRIED]
    near = [v for v in others if v in beside and v in likely]
    first = [(itself, told, near, n_others)] if rows.card[own] > 1 else []
    for single in best:
        (v,) = single.parents
        found_first = [tried.parents[0] for tried in best[: best.index(single) + 1]]
        left = [w for w in others if w in likely and w not in found_first]
        first.append((single, rows.soft[v], left, pairs))
    for base, given, left, n_alike in first:
        for v, (gain, evidence) in _beside(rows, both, left, given).items():
            members = tuple(sorted((*base.parents, v)))
            found.append(
                Explanation(
                    members, base.gain + gain, base.evidence + evidence, n_alike
                )
            )
    for size in range(3, most + 1):
        found += _larger(rows, own, both, found, size, (near, others), likely, told)
    return found


def _larger(
    rows: Rows,
    own: int,
    both: NDArray[np.float64],
    found: list[Explanation],
    size: int,
    beside: tuple[Sequence[int], Sequence[int]],
    likely: set[int],
    told: NDArray[np.float64],
) -> list[Explanation]:
    """Add one more parent to the best sets with and without the own variable."""
    more: dict[tuple[int, ...], Explanation] = {}
    for with_own, allowed in zip((True, False), beside, strict=True):
        before = [
            e
            for e in found
            if len(e.parents) == size - 1 and (own in e.parents) == with_own
        ]
        n_alike = math.comb(len(rows.soft) - 1, size - with_own)
        for base in sorted(before, key=lambda e: (-e.evidence, e.parents))[:_TRIED]:
            given = told if with_own else np.ones((len(rows.weights), 1))
            given = _crossed(rows, given, [v for v in base.parents if v != own])
            left = [
                v
                for v in allowed
                if v in likely
                and v not in base.parents
                and given.shape[1] * rows.card[v] <= _CONFIGURATIONS
            ]
            for v, (gain, evidence) in _beside(rows, both, left, given).items():
                members = tuple(sorted((*base.parents, v)))
                tried = Explanation(
                    members, base.gain + gain, base.evidence + evidence, n_alike
                )
                if members not in more or tried.evidence > more[members].evidence:
                    more[members] = tried
    return list(more.values())


def _crossed(
    rows: Rows, given: NDArray[np.float64], variables: Sequence[int]
) -> NDArray[np.float64]:
    """Return distributions over configurations of what is given and more variables."""
    for v in variables:
        given = np.einsum("rg,rx->rxg", given, rows.soft[v])
        given = given.reshape(len(given), -1)
    return given


def explanation_of(
    rows: Rows,
    own: int,
    parents: tuple[int, ...],
    is_hidden: NDArray[np.bool_],
    mixture: Mixture | None,
) -> Explanation:
    """Return what given parents of an indicator gain against none.

    The mixture is that of its own variable, needed if that is among them.
    """
    weights = rows.weights
    both = np.stack([~is_hidden, is_hidden], axis=1) * weights[:, None]
    given, gain, evidence = np.ones((len(weights), 1)), 0.0, 0.0
    if mixture is not None and own in parents:
        gain, evidence = mixture.gain, mixture.evidence
        given = _told(rows, own, is_hidden, mixture)
    others = [v for v in parents if v != own]
    for v in others:
        more = _beside(rows, both, [v], given)[v]
        gain, evidence = gain + more[0], evidence + more[1]
        given = _crossed(rows, given, [v])
    n_alike = math.comb(max(len(rows.soft) - 1, len(others)), len(others))
    return Explanation(parents, gain, evidence, n_alike)


def _told(
    rows: Rows, own: int, is_hidden: NDArray[np.bool_], mixture: Mixture
) -> NDArray[np.float64]:
    """Return the distributions of a variable, its own indicator being evidence."""
    told = rows.soft[own].copy()
    told[is_hidden] = mixture.posterior
    return told


def identified(
    likelihood: NDArray[np.float64],
    rows: Rows,
    own: int,
    is_hidden: NDArray[np.bool_],
) -> float:
    """Return how much the rest of the rows tells about a variable where it is missing.

    One less the mean entropy of its distribution given the rest over that of its
    distribution in the table.
    """
    weights = rows.weights
    share = weights @ rows.soft[own] / weights.sum()
    total = _entropy(share[None])[0]
    if total <= 0:
        return 0.0
    told = likelihood * share
    told /= np.maximum(told.sum(axis=1, keepdims=True), _LEAST)
    at = weights[is_hidden]
    left = float(at @ _entropy(told)) / max(float(at.sum()), _LEAST)
    return float(np.clip(1 - left / total, 0.0, 1.0))


def _entropy(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log(np.maximum(shares, _LEAST))
    return np.asarray(-(shares * logs).sum(axis=1))


def _beside(
    rows: Rows,
    both: NDArray[np.float64],
    candidates: list[int],
    given: NDArray[np.float64],
) -> dict[int, tuple[float, float]]:
    """Return what each candidate adds to a parent that is given: gain and evidence."""
    if not candidates:
        return {}
    n_given = given.shape[1]
    left = np.einsum("rg,rk->grk", given, both).transpose(0, 2, 1)
    left = left.reshape(-1, len(given))
    # Not by threads of a matrix library, which other work on the machine holds up.
    card = rows.card
    begin = np.cumsum([0, *card])
    places = np.concatenate([np.arange(begin[v], begin[v + 1]) for v in candidates])
    n_at_once = max(_MULTIPLIED // max(left.size, 1), 1)
    parts = []
    for first in range(0, len(places), n_at_once):
        _core.check_calls()
        some = rows.stacked[:, places[first : first + n_at_once]]
        parts.append(np.einsum("gr,rs->gs", left, some))
    table = np.hstack(parts)
    sizes = [1, *(card[v] for v in candidates)]
    table = np.hstack([left.sum(axis=1, keepdims=True), table])
    # One configuration after the other, candidate by candidate, the given one first.
    counts = table.reshape(n_given, 2, -1).transpose(2, 0, 1).reshape(-1, 2)
    gains, evidence = worth_of(counts, n_given * np.array(sizes))
    return {
        v: (max(gains[place] - gains[0], 0.0), evidence[place] - evidence[0])
        for place, v in enumerate(candidates, 1)
    }


def worth_of(
    counts: NDArray[np.float64], sizes: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what tables of observed and missing gain against one row: and evidence.

    Parameters
    ----------
    counts : ndarray of shape (n_configs of all tables, 2)
        How often the variable is observed, and missing, per configuration.
    sizes : ndarray of shape (n_tables,)
        Number of configurations of each.
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])

    def add(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.add.reduceat(values, starts))

    seen, hidden = counts[:, 0], counts[:, 1]
    total = seen + hidden
    all_seen, all_hidden = add(seen), add(hidden)
    all_rows = all_seen + all_hidden
    base = _of_shares(all_seen, all_hidden)
    gains = add(_of_shares(seen, hidden)) - base
    centre = np.log(np.maximum(all_hidden, _LEAST) / np.maximum(all_seen, _LEAST))
    off = np.zeros(len(counts))
    for _ in range(_NEWTON):
        chance = _logistic(np.repeat(centre, sizes) + off)
        slope = hidden - total * chance - off / _SPREAD**2
        curve = total * chance * (1 - chance) + 1 / _SPREAD**2
        step = np.clip(slope / curve, -1.0, 1.0)
        off = off + step
        mean = add(off) / sizes
        off, centre = off - np.repeat(mean, sizes), centre + mean
        if max(np.abs(step).max(initial=0), np.abs(mean).max(initial=0)) < _CLOSE:
            break
    odds = np.repeat(centre, sizes) + off
    chance = _logistic(odds)
    value = hidden * odds - total * np.logaddexp(0, odds) - off**2 / (2 * _SPREAD**2)
    information = total * chance * (1 - chance)
    occam = 0.5 * add(np.log1p(_SPREAD**2 * information))
    left = add(information / (1 + _SPREAD**2 * information))
    none = all_hidden * all_seen / np.maximum(all_rows, _LEAST)
    occam += 0.5 * np.log(np.maximum(left, _LEAST) / np.maximum(none, _LEAST))
    return gains, add(value) - base - occam


def _of_shares(
    seen: NDArray[np.float64], hidden: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the log-likelihood of counts under their own shares."""
    total = np.maximum(seen + hidden, _LEAST)
    found = np.zeros(len(seen))
    for part in (seen, hidden):
        found += part * np.log(np.maximum(part, _LEAST) / total)
    return found
