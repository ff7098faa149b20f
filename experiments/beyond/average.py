"""Real tables again: one network against the mean of many, and against peers.

Twenty-one public tables of 100 to 4,000 rows; a tenth of the observed cells is hidden
completely at random and recovered. Beside the share recovered, how much a method knew:
the log-loss of the hidden cells, and how far its probabilities are from the shares that
come true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.hiding.mechanisms import hide_mcar
from bayesmend.hiding.record import Hidden
from bayesmend.inference.posterior import marginals
from bayesmend.learning.em.learn import learn_em
from bayesmend.learning.ensemble.learn import learn_ensemble
from bayesmend.network.mixture import ModelLike
from experiments.beyond.contenders import PEERS
from experiments.beyond.measuring import LOG_LOSS
from experiments.data import DataFolder
from experiments.design import (
    ACCURACY,
    Answer,
    Block,
    Experiment,
    Measure,
    Method,
    Run,
    Setting,
    Task,
)
from experiments.methods import MAX_PARENTS

__all__ = ["calibration_error", "design"]

REPETITIONS = 10
RATE = 0.1
SECONDS = 60.0
N_BINS = 10
TABLES = {
    "breast_cancer.csv": "breast cancer",
    "bridges2.csv": "bridges",
    "car.csv": "car",
    "coronary.csv": "coronary",
    "credit_a_disc.csv": "credit",
    "dermatology_disc.csv": "dermatology",
    "heart_h_disc.csv": "heart",
    "hepatitis_disc.csv": "hepatitis",
    "horse_colic_disc.csv": "horse colic",
    "hypothyroid_disc.csv": "hypothyroid",
    "kr_vs_kp.csv": "kr-vs-kp",
    "lucas.csv": "lucas",
    "lymphography.csv": "lymphography",
    "primary_tumor.csv": "primary tumor",
    "smoking_waves.csv": "smoking",
    "solar_flare2.csv": "solar flare",
    "soybean.csv": "soybean",
    "spect.csv": "spect",
    "tic_tac_toe.csv": "tic-tac-toe",
    "votes.csv": "votes",
    "zoo.csv": "zoo",
}

CALIBRATION = Measure(
    "calibration_error",
    "expected calibration error of the mended cells (%)",
    scale=100.0,
    is_better_high=False,
    limits=(0.0, 100.0),
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of a run of EM or the ensemble."""
    limit = SECONDS if time_limit is None else time_limit
    settings = tuple(
        Setting(title, {"file": file, "rate": RATE}, range(REPETITIONS), files=(file,))
        for file, title in TABLES.items()
    )
    ours = (
        Method("ensemble", "ensemble", solve_ensemble, {"time_limit": limit}),
        Method(
            "em",
            "structural EM",
            solve_em,
            {"max_parents": MAX_PARENTS, "time_limit": limit},
        ),
    )
    return Experiment(
        name="average",
        title="Real tables: one network, the mean of many, and peers",
        settings=settings,
        methods=(*ours, *PEERS),
        blocks=tuple(Block(s.name, (s.name,)) for s in settings),
        make=make,
        seed=seed,
        quick_repetitions=1,
        quick_settings=("zoo", "lymphography"),
        measure=measure,
        measures=(ACCURACY, LOG_LOSS, CALIBRATION),
        focus=("ensemble",),
        notes=(
            f"{100 * RATE:g} % of the observed cells hidden completely at random, "
            f"{REPETITIONS} times. What is missing already is filled, too, and not "
            "judged.",
            f"The ensemble and structural EM have at most {limit:g} s a run, and the "
            "options that `learn` has by default. Peers give states without "
            "probabilities.",
            f"Calibration: cells by the probability of what fills them, in {N_BINS} "
            "bins of equal width; the mean distance of that probability from the "
            "share that is right, by the number of cells.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Hide cells of a table that may miss some already."""
    given = run.setting.parameters
    return Task(hide_mcar(folder.table(given["file"]), given["rate"], seed=run.seed))


def solve_ensemble(task: Task, *, seed: int, n_threads: int, **options: Any) -> Answer:
    """Fill by the mean of many networks."""
    found = learn_ensemble(task.data, seed=seed, n_threads=n_threads, **options)
    told = {"ess": found.detail["sample_size"], "weights": found.detail["weights"]}
    return Answer(
        found.completed,
        status=found.status,
        network=found.network,
        extra={**told, **judged(found, task.hidden)},
    )


def solve_em(task: Task, *, seed: int, n_threads: int, **options: Any) -> Answer:
    """Fill by the network that structural EM finds."""
    found = learn_em(task.data, seed=seed, n_threads=n_threads, **options)
    return Answer(
        found.completed,
        status=found.status,
        network=found.network,
        extra=judged(found.network, task.hidden),
    )


def measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Give what probabilities are worth, where a method has told any."""
    names = (LOG_LOSS.name, CALIBRATION.name)
    return {name: answer.extra.get(name) for name in names}


def judged(model: ModelLike, hidden: Hidden) -> dict[str, float]:
    """Give log-loss and calibration error of what a model says of the hidden cells."""
    p = _distributions(model, hidden)
    truth = np.array([q[k] for q, k in zip(p, hidden.true_codes, strict=True)])
    best = np.array([int(q.argmax()) for q in p])
    surest = np.array([float(q.max()) for q in p])
    with np.errstate(divide="ignore"):
        loss = float(-np.log(truth).mean())
    is_right = best == hidden.true_codes
    return {"log_loss": loss, "calibration_error": calibration_error(surest, is_right)}


def calibration_error(
    probabilities: NDArray[np.float64], is_right: NDArray[np.bool_]
) -> float:
    """Give the mean distance of probabilities from the shares that come true.

    Examples
    --------
    >>> p = np.array([0.95, 0.95, 0.55, 0.55])
    >>> round(calibration_error(p, np.array([True, True, True, False])), 3)
    0.05
    """
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    total = 0.0
    for b in np.unique(bins):
        here = bins == b
        off = probabilities[here].mean() - is_right[here].mean()
        total += abs(float(off)) * int(here.sum())
    return total / len(bins)


def _distributions(model: ModelLike, hidden: Hidden) -> list[NDArray[np.float64]]:
    """Give the distribution of each hidden cell."""
    found = marginals(model, hidden.data, n_threads=1)
    result = []
    for row, variable in zip(
        hidden.rows.tolist(), hidden.variables.tolist(), strict=True
    ):
        rows, p = found.of(hidden.data.names[variable])
        result.append(p[np.searchsorted(rows, row)])
    return result
