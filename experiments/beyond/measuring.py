"""How far what was learned is from the network that the rows come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.table import IncompleteData
from bayesmend.graph.distance import structural_hamming_distance
from bayesmend.hiding.record import Hidden
from bayesmend.inference.posterior import marginals
from bayesmend.network.mixture import ModelLike
from bayesmend.network.network import Network
from bayesmend.structure.learn import learn_structure
from experiments.beyond.calibration import calibration, calibration_error
from experiments.design import Answer, Measure, Task
from experiments.methods import MAX_PARENTS

__all__ = [
    "CALIBRATION",
    "DIVERGENCE",
    "ENTROPY",
    "LOG_LOSS",
    "SHD",
    "divergence",
    "entropy",
    "judge",
    "log_loss",
    "measure_probabilities",
    "measure_structure",
]

SHD = Measure(
    "shd",
    "structural Hamming distance of the equivalence class",
    digits=1,
    is_better_high=False,
)
DIVERGENCE = Measure(
    "divergence",
    "Kullback-Leibler divergence from the true network (nats per row)",
    digits=3,
    is_better_high=False,
)
ENTROPY = Measure(
    "entropy_excess",
    "entropy of the learned minus that of the true network (nats per row)",
    digits=3,
    is_contest=False,
)

LOG_LOSS = Measure(
    "log_loss",
    "log-loss of the hidden cells (nats per cell)",
    digits=3,
    is_better_high=False,
)

CALIBRATION = Measure(
    "calibration_error",
    "expected calibration error of the mended cells (%)",
    scale=100.0,
    is_better_high=False,
    limits=(0.0, 100.0),
)

_SAMPLE = 20_000
_SEED = 20_170_204


def measure_structure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Give the distance between the learned and the true structure.

    A method that learns no network is given the structure that its completed table
    leads to, found by the same score and search.
    """
    assert task.network is not None
    learned = _learned(answer).dag
    return {"shd": structural_hamming_distance(learned, task.network.dag)}


def measure_probabilities(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Give, beside the distance of structures, that of the distributions."""
    assert task.network is not None
    learned = _learned(answer)
    return {
        "shd": structural_hamming_distance(learned.dag, task.network.dag),
        "divergence": divergence(task.network, learned),
        "entropy_excess": entropy(learned) - entropy(task.network),
        "log_loss": log_loss(learned, task.hidden),
    }


def log_loss(network: Network, hidden: Hidden) -> float:
    """Give the mean of -log of the probability of the true state of a hidden cell.

    The probability is that under the network, given what is observed in the row; NaN
    when nothing was hidden.

    Examples
    --------
    >>> import bayesmend as bm
    >>> coin = Network(bm.Dag.from_arcs(["a"]), (("no", "yes"),), ([[0.5, 0.5]],))
    >>> hidden = bm.hide_mcar(coin.sample(20, seed=1), 0.5, seed=1)
    >>> round(log_loss(coin, hidden), 4)
    0.6931
    """
    return judge(network, hidden)["log_loss"]


def judge(model: ModelLike, hidden: Hidden) -> dict[str, float]:
    """Give log-loss and calibration error of what a model says of the hidden cells."""
    if hidden.n_hidden == 0:
        return {"log_loss": math.nan, "calibration_error": math.nan}
    of_truth, surest, is_right = _of_truth(model, hidden)
    with np.errstate(divide="ignore"):
        loss = float(-np.log(of_truth).mean())
    bins = calibration(surest, is_right)
    return {"log_loss": loss, "calibration_error": calibration_error(bins)}


def _of_truth(
    model: ModelLike, hidden: Hidden
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Give the probability of each true state, and the highest, and if it is that."""
    data = hidden.data
    if isinstance(model, Network):
        model, data = model.with_indicators(), _told(model, hidden)
    found = marginals(model, data, n_threads=1)
    of_truth, surest = np.zeros(hidden.n_hidden), np.zeros(hidden.n_hidden)
    is_right = np.zeros(hidden.n_hidden, bool)
    for variable in np.unique(hidden.variables).tolist():
        here = hidden.variables == variable
        rows, chances = found.of(hidden.data.names[variable])
        # A table may miss cells of its own besides the hidden ones.
        at, true = np.searchsorted(rows, hidden.rows[here]), hidden.true_codes[here]
        of_truth[here], surest[here] = chances[at, true], chances[at].max(axis=1)
        is_right[here] = chances[at].argmax(axis=1) == true
    return of_truth, surest, is_right


def _told(network: Network, hidden: Hidden) -> IncompleteData:
    """Add to a table which of its cells are missing, if the network knows why."""
    why, data = network.mechanism, hidden.data
    if why is None:
        return data
    joint = network.with_indicators()
    indicators = why.indicators(data.names, np.ascontiguousarray(data.codes.T))
    return IncompleteData.from_codes(
        np.asfortranarray(np.hstack([data.codes, indicators.T])),
        names=(*data.names, *joint.names[network.n_vars :]),
        states=(*data.states, *joint.states[network.n_vars :]),
        weights=data.weights,
    )


def divergence(true: Network, learned: Network) -> float:
    """Estimate the Kullback-Leibler divergence of a network from the true one.

    The mean over rows drawn from the true network, always the same ones, of the
    difference of log-probabilities.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> divergence(asia, asia)
    0.0
    """
    rows = _draw(true)
    gain = true.log_likelihood(rows, n_threads=1)
    return float(np.mean(gain - learned.log_likelihood(rows, n_threads=1)))


def entropy(network: Network) -> float:
    """Estimate the entropy of a network, in nats per row.

    For each of the rows drawn, the entropies of the conditional distributions that
    the row meets are added up: less noise than in the log-probabilities of rows.

    Examples
    --------
    >>> from bayesmend import Dag
    >>> coin = Network(Dag.from_arcs(["a"]), (("no", "yes"),), ([[0.5, 0.5]],))
    >>> round(entropy(coin), 4)
    0.6931
    """
    codes = _draw(network).codes
    total = 0.0
    for parents, cpt in zip(network.dag.parents, network.cpts, strict=True):
        config, stride = np.zeros(len(codes), dtype=np.intp), 1
        for parent in parents:
            config += stride * codes[:, parent].astype(np.intp)
            stride *= int(network.card[parent])
        total += float(_entropies(cpt)[config].mean())
    return total


def _entropies(cpt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy of each row of a table; an impossible state adds nothing."""
    logs = np.log(cpt, out=np.zeros_like(cpt), where=cpt > 0)
    return np.asarray(-(cpt * logs).sum(axis=1))


@lru_cache(maxsize=8)
def _draw(network: Network) -> IncompleteData:
    return network.sample(_SAMPLE, seed=_SEED, n_threads=1)


def _learned(answer: Answer) -> Network:
    """Return what the method learned, or what its completed table leads to."""
    if answer.network is not None:
        return answer.network
    assert answer.completed is not None
    found = learn_structure(
        answer.completed,
        prior="uniform",
        max_parents=MAX_PARENTS,
        solver="order",
        seed=0,
        n_threads=1,
    )
    return Network.fit(found.dag, answer.completed, estimate="posterior")
