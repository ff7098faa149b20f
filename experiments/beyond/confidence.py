"""How sure arcs are, and how often they are there: three ways to tell.

Samples of two networks, complete and with cells hidden. An edge is true where the
network has an arc between two variables, in either direction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.graph.dag import Dag
from bayesmend.hiding.mechanisms import hide_mcar
from bayesmend.learning.bootstrap import bootstrap
from bayesmend.learning.ensemble.learn import learn_ensemble
from bayesmend.structure.posterior import structure_posterior
from experiments.data import DataFolder, network_files
from experiments.design import (
    Answer,
    Block,
    Experiment,
    Measure,
    Method,
    Overview,
    Run,
    Setting,
    Task,
)

__all__ = ["area_under_curve", "design"]

REPETITIONS = 10
N_ROWS = 500
N_NETWORKS = 60
N_SAMPLES = 200
NETWORKS = {"child": "CHILD", "alarm": "ALARM"}
RATES = {0.0: "complete", 0.1: "10 % hidden"}
ENDS = (0.0, 0.02, 0.2, 0.4, 0.6, 0.8, 0.9, 0.995, 1.0)
"""Between which edges are counted together; the first says next to nothing."""

AREA = Measure(
    "area", "area under the ROC curve of the edges", digits=3, limits=(0.0, 1.0)
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; its methods have no limit of time."""
    settings = tuple(
        Setting(
            f"{title}, {words}",
            {"network": name, "n_rows": N_ROWS, "rate": rate},
            range(REPETITIONS),
            stream=name,
            # The others are for complete tables.
            methods=None if rate == 0 else ("ensemble", "ensemble-1"),
            files=network_files(name),
        )
        for name, title in NETWORKS.items()
        for rate, words in RATES.items()
    )
    networks = {"n_networks": N_NETWORKS}
    return Experiment(
        name="confidence",
        title="How sure arcs are",
        settings=settings,
        methods=(
            Method("ensemble", "ensemble", solve_ensemble, networks),
            Method(
                "ensemble-1",
                "ensemble, ess 1",
                solve_ensemble,
                {**networks, "ess": 1.0},
            ),
            Method("bootstrap", "bootstrap, hill climbing", solve_bootstrap),
            Method("posterior", "posterior, chains", solve_posterior),
        ),
        blocks=tuple(Block(s.name, (s.name,)) for s in settings),
        make=make,
        seed=seed,
        quick_repetitions=1,
        measure=measure,
        measures=(AREA,),
        focus=("ensemble",),
        summary=summary,
        notes=(
            f"{N_ROWS} rows; each sample is used complete and with a tenth of its "
            "cells hidden completely at random.",
            f"Ensemble: {N_NETWORKS} networks, no latent classes; the equivalent "
            "sample size that predicts best, or 1. Bootstrap: hill climbing by BDeu "
            f"(equivalent sample size 1) on {N_SAMPLES} samples of the rows, as "
            "bnlearn's boot.strength does. Posterior: 1,000 DAGs from four chains over "
            "partitions, equivalent sample size 1.",
            "Standard errors of shares as if pairs of variables were independent.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows, and hide a share of the cells."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    rows = network.sample(given["n_rows"], seed=run.seed)
    return Task(hide_mcar(rows, given["rate"], seed=run.seed), network=network)


def solve_ensemble(task: Task, *, seed: int, n_threads: int, **options: Any) -> Answer:
    """Count the arcs of the members."""
    found = learn_ensemble(
        task.data, classes=(), tol=0.0, seed=seed, n_threads=n_threads, **options
    )
    told = {"ess": found.detail["sample_size"]}
    return _answer(task, found.arc_probabilities().undirected, **told)


def solve_bootstrap(task: Task, *, seed: int, n_threads: int) -> Answer:
    """Count the arcs of structures that hill climbing finds in samples of the rows."""
    found = bootstrap(
        task.data,
        n=N_SAMPLES,
        method="em",  # of a complete table, structure learning alone
        solver="greedy",
        seed=seed,
        n_threads=n_threads,
    )
    return _answer(task, found.arc_probabilities().undirected)


def solve_posterior(task: Task, *, seed: int, n_threads: int) -> Answer:
    """Draw DAGs from the posterior."""
    found = structure_posterior(
        task.data, method="partition", seed=seed, n_threads=n_threads
    )
    return _answer(task, found.edges, r_hat=found.largest_r_hat)


def measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Give what was worked out with the answer."""
    return {AREA.name: answer.extra[AREA.name]}


def _answer(task: Task, edges: NDArray[np.float64], **told: Any) -> Answer:
    assert task.network is not None
    above = np.triu_indices(len(edges), 1)
    p, is_true = edges[above], _edges(task.network.dag)[above]
    area = area_under_curve(p, is_true)
    return Answer(extra={**told, "area": area, "bins": bins(p, is_true).tolist()})


def _edges(dag: Dag) -> NDArray[np.bool_]:
    found = np.zeros((dag.n_vars, dag.n_vars), bool)
    for child, parents in enumerate(dag.parents):
        found[list(parents), child] = found[child, list(parents)] = True
    return found


def area_under_curve(p: NDArray[np.float64], is_true: NDArray[np.bool_]) -> float:
    """Give the chance that a true edge has the higher probability of two edges.

    Of one true and one false; where both have the same it counts half.

    Examples
    --------
    >>> p = np.array([0.9, 0.4, 0.4, 0.1])
    >>> area_under_curve(p, np.array([True, True, False, False]))
    0.875
    """
    true, false = p[is_true][:, None], p[~is_true][None, :]
    return float(((true > false) + 0.5 * (true == false)).mean())


def bins(p: NDArray[np.float64], is_true: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Count pairs of variables by probability: pairs, sum of probabilities, true ones.

    Examples
    --------
    >>> found = bins(np.array([0.0, 0.5, 1.0]), np.array([False, True, True]))
    >>> found[[0, 3, 7]].tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.5, 1.0], [1.0, 1.0, 1.0]]
    """
    n = len(ENDS) - 1
    place = np.clip(np.searchsorted(ENDS, p, side="left") - 1, 0, n - 1)
    told = (np.ones(len(p)), p, is_true)
    counts = [np.bincount(place, np.asarray(x, float), minlength=n) for x in told]
    return np.stack(counts, axis=1)


def summary(rows: Sequence[Mapping[str, Any]]) -> list[Overview]:
    """Compare probabilities with shares, for each setting and method."""
    counts: dict[tuple[str, str], list[NDArray[np.float64]]] = {}
    for row in rows:
        key = row["setting"], row["method"]
        counts.setdefault(key, []).append(np.array(row["bins"]))
    return [
        _overview(setting, method, len(found), np.sum(found, axis=0))
        for (setting, method), found in counts.items()
    ]


def _overview(
    setting: str, method: str, n_samples: int, found: NDArray[np.float64]
) -> Overview:
    rows = []
    for low, high, (n, total, n_true) in zip(ENDS[:-1], ENDS[1:], found, strict=True):
        if n:
            mean, share = total / n, n_true / n
            error = np.sqrt(mean * (1 - mean) / n)
            limits = f"{low:g} to {high:g}"
            expected = f"{mean:.3f} ± {error:.3f}"
            rows.append((limits, f"{n:.0f}", expected, f"{share:.3f}"))
    words = (
        f"{setting}, {method}, {n_samples} samples: pairs of variables by the "
        "probability of an edge; the mean probability (± the standard error that a "
        "share of so many has), and the share that is true."
    )
    return Overview(words, ("probability", "pairs", "mean", "true"), tuple(rows))
