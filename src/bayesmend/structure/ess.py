"""The equivalent sample size whose networks predict best."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from bayesmend._spelling import spell
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.inference.posterior import log_evidence
from bayesmend.network.network import Network
from bayesmend.score import Prior, Score

__all__ = ["CHOICES", "ChosenRule", "choose_rule", "ess_in_words"]

CHOICES = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""From few pseudo-rows to many; the network of each predicts rows left out."""

_FOLDS = 4


class ChosenRule(NamedTuple):
    """A rule with a number for its `ess`, and how it was chosen."""

    rule: Score
    detail: dict[str, Any]


def choose_rule(
    data: IncompleteData,
    learn: Callable[[IncompleteData, Score], Network],
    *,
    score: Score | str,
    ess: float | str | None,
    prior: Prior | None = None,
    support: float | None = None,
) -> ChosenRule:
    """Return the rule asked for; of ``ess="auto"`` the one that predicts best.

    The rows are dealt into folds, the same for any seed. Each of `CHOICES` learns from
    all folds but one, and the log-probability of what that one shows is added up.

    Parameters
    ----------
    data : IncompleteData
        The table, with or without missing cells.
    learn : callable
        Takes rows and a rule, and gives a network quickly.
    score, ess, prior, support
        As everywhere.
    """
    if not isinstance(ess, str):
        return ChosenRule(Score.of(score, ess=ess, prior=prior, support=support), {})
    if ess != "auto":
        msg = (
            f"{spell('ess')} must be a number between 1e-06 and 1e+12, or auto. "
            f"Got {ess!r} instead."
        )
        raise ParameterError(msg)
    if isinstance(score, Score):
        msg = (
            f"{spell('ess', ess)} goes with the name of a score. {score!r} has its own."
        )
        raise ParameterError(msg)
    rules = {
        number: Score.of(score, ess=number, prior=prior, support=support)
        for number in CHOICES
    }
    usual = Score.of(score, prior=prior, support=support)
    if data.n_rows < 2 * _FOLDS or data.n_vars == 0:
        return ChosenRule(
            usual, {"ess": {"chosen": usual.ess, "mean_log_evidence": {}}}
        )
    found = {number: _predict(data, learn, rule) for number, rule in rules.items()}
    best = max(found, key=lambda number: found[number])
    told = {f"{number:g}": round(mean, 6) for number, mean in found.items()}
    detail = {"ess": {"chosen": best, "mean_log_evidence": told}}
    return ChosenRule(rules[best], detail)


def ess_in_words(detail: Mapping[str, Any]) -> str | None:
    """Say what was chosen; None where nothing was.

    Examples
    --------
    >>> found = {"chosen": 5.0, "mean_log_evidence": {"1": -2.7, "5": -2.66}}
    >>> ess_in_words({"ess": found})
    'ess 5 predicts rows left out best'
    """
    told = detail.get("ess")
    return f"ess {told['chosen']:g} predicts rows left out best" if told else None


def _predict(
    data: IncompleteData, learn: Callable[[IncompleteData, Score], Network], rule: Score
) -> float:
    """Return the mean log-probability of rows under networks that did not see them."""
    fold = np.random.default_rng(0).permutation(data.n_rows) % _FOLDS
    total, weight = 0.0, 0.0
    for number in range(_FOLDS):
        left_out = data.pick(np.flatnonzero(fold == number))
        network = learn(data.pick(np.flatnonzero(fold != number)), rule)
        evidence = log_evidence(network, left_out, n_threads=1)
        weights = (
            np.ones(len(evidence)) if left_out.weights is None else left_out.weights
        )
        seen = weights > 0
        total += float(evidence[seen] @ weights[seen])
        weight += float(weights.sum())
    return total / weight if weight else 0.0
