"""How far what was learned is from the network that the rows come from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data import IncompleteData
from bayesmend.distance import structural_hamming_distance
from bayesmend.experiments.design import Answer, Measure, Task
from bayesmend.experiments.methods import MAX_PARENTS
from bayesmend.network import Network
from bayesmend.structure.learn import learn_structure

__all__ = [
    "DIVERGENCE",
    "ENTROPY",
    "SHD",
    "divergence",
    "entropy",
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
    }


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
    found = learn_structure(
        answer.completed, max_parents=MAX_PARENTS, solver="order", seed=0, n_threads=1
    )
    return Network.fit(found.dag, answer.completed, method="posterior")
