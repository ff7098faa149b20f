"""Real tables again: one network against the mean of many, and against peers.

Twenty-one public tables of 100 to 4,000 rows, and samples of four networks; a tenth of
the observed cells is hidden completely at random and recovered. Beside the share
recovered, how much a method knew: the log-loss of the hidden cells, and how far its
probabilities are from the shares that come true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.hiding.mechanisms import hide_mcar
from bayesmend.hiding.record import Hidden
from bayesmend.inference.posterior import marginals
from bayesmend.learning.em.learn import learn_em
from bayesmend.learning.ensemble.learn import learn_ensemble
from bayesmend.network.mixture import ModelLike
from experiments.beyond.calibration import (
    N_BINS,
    calibration,
    calibration_error,
    error_by_chance,
)
from experiments.beyond.contenders import PEERS, REFERENCE
from experiments.beyond.measuring import CALIBRATION, LOG_LOSS
from experiments.beyond.standing import summary
from experiments.data import DataFolder, network_files
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
from experiments.peers.imputers import foretell

__all__ = ["design"]

REPETITIONS = 10
RATE = 0.1
SECONDS = 60.0
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
NETWORKS = {
    "asia": "sample of ASIA",
    "child": "sample of CHILD",
    "insurance": "sample of INSURANCE",
    "alarm": "sample of ALARM",
}
N_ROWS = 1000

CHANCE = Measure(
    "calibration_by_chance",
    "what exact probabilities would have of it by chance (%)",
    scale=100.0,
    is_contest=False,
    limits=(0.0, 100.0),
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of a run of EM or the ensemble."""
    limit = SECONDS if time_limit is None else time_limit
    settings = tuple(
        Setting(title, {"file": file, "rate": RATE}, range(REPETITIONS), files=(file,))
        for file, title in TABLES.items()
    )
    settings += tuple(
        Setting(
            title,
            {"network": name, "n_rows": N_ROWS, "rate": RATE},
            range(REPETITIONS),
            methods=("ensemble", "em", REFERENCE.name),
            files=network_files(name),
        )
        for name, title in NETWORKS.items()
    )
    peers = tuple(
        replace(peer, solve=solve_peer, options={"name": peer.name, **peer.options})
        for peer in PEERS
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
        methods=(*ours, *peers, replace(REFERENCE, solve=solve_truth)),
        blocks=tuple(Block(s.name, (s.name,)) for s in settings),
        make=make,
        seed=seed,
        quick_repetitions=1,
        quick_settings=("zoo", "lymphography"),
        measure=measure,
        measures=(ACCURACY, LOG_LOSS, CALIBRATION, CHANCE),
        focus=("ensemble",),
        summary=summary,
        notes=(
            f"{100 * RATE:g} % of the observed cells hidden completely at random, "
            f"{REPETITIONS} times. What is missing already is filled, too, and not "
            "judged.",
            f"The ensemble and structural EM have at most {limit:g} s a run, and the "
            "options that `learn` has by default.",
            "Probabilities of peers: of the mode, the observed shares; of nearest "
            "neighbours and forests, the shares of the votes, one vote more being "
            "divided among the states; of the others, what the models of the last "
            "round say.",
            f"Calibration: cells by the probability of what fills them, in {N_BINS} "
            "bins of equal width; the mean distance of that probability from the "
            "share that is right, by the number of cells. By chance: the mean of that "
            "distance if each cell were right with just its probability (normal "
            "approximation).",
            f"Samples of networks have {N_ROWS:,} rows; the true network is there for "
            "comparison.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Hide cells of a table that may miss some already, or of a sample."""
    given = run.setting.parameters
    if "file" in given:
        table = folder.table(given["file"])
        return Task(hide_mcar(table, given["rate"], seed=run.seed))
    network = folder.network(given["network"])
    sample = network.sample(given["n_rows"], seed=run.seed_of(run.repetition, "sample"))
    return Task(hide_mcar(sample, given["rate"], seed=run.seed), network=network)


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


def solve_truth(task: Task, *, seed: int, n_threads: int, **options: Any) -> Answer:
    """Fill by the network that the rows come from."""
    assert task.network is not None
    found = REFERENCE.solve(task, seed=seed, n_threads=n_threads, **options)
    return replace(found, extra=judged(task.network, task.hidden))


def solve_peer(
    task: Task, *, seed: int, n_threads: int, name: str, **options: Any
) -> Answer:
    """Fill by a peer, and judge what it says of each cell; it uses one thread."""
    found = foretell(name, task.data, seed=seed, **options)
    hidden = task.hidden
    cells = zip(hidden.rows.tolist(), hidden.variables.tolist(), strict=True)
    distributions = [found.probabilities[v][row] for row, v in cells]
    return Answer(found.completed, extra=judged_by(distributions, hidden))


def measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Give what probabilities are worth, where a method has told any."""
    names = (LOG_LOSS.name, CALIBRATION.name, CHANCE.name)
    return {name: answer.extra.get(name) for name in names}


def judged(model: ModelLike, hidden: Hidden) -> dict[str, Any]:
    """Judge what a model says of the hidden cells."""
    return judged_by(_distributions(model, hidden), hidden)


def judged_by(p: Sequence[NDArray[np.float64]], hidden: Hidden) -> dict[str, Any]:
    """Give log-loss and calibration of the distributions of the hidden cells.

    The log-loss is None where something true was impossible, of states never observed,
    say: it would be infinite.
    """
    truth = np.array([q[k] for q, k in zip(p, hidden.true_codes, strict=True)])
    best = np.array([int(q.argmax()) for q in p])
    surest = np.array([float(q.max()) for q in p])
    with np.errstate(divide="ignore"):
        loss = float(-np.log(truth).mean())
    bins = calibration(surest, best == hidden.true_codes)
    return {
        "log_loss": loss if np.isfinite(loss) else None,
        "calibration_error": calibration_error(bins),
        "calibration_by_chance": error_by_chance(bins),
        "bins": bins.tolist(),
    }


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
