"""Learning why cells are missing: what it gains, and what it costs the innocent.

Samples of four public networks, cells hidden by three mechanisms at two rates.
Structural EM that learns the mechanism against one that ignores it; the true network,
used without knowledge of the mechanism, is the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.beyond.calibration import N_BINS
from experiments.beyond.contenders import REFERENCE
from experiments.beyond.measuring import (
    CALIBRATION,
    LOG_LOSS,
    SHD,
    judge,
    measure_structure,
)
from experiments.beyond.rates import (
    CURVES,
    REPETITIONS,
    block_of,
    make,
    settings_of,
)
from experiments.design import (
    ACCURACY,
    Answer,
    Block,
    Experiment,
    Measure,
    Setting,
    Task,
)
from experiments.methods import EM, EM_MECHANISM

__all__ = ["design"]

SIZES = (200, 1000, 5000)
RIGHT = Measure("right", "labels of mechanisms that are right (%)", scale=100.0)
# The label that is right for the cells of a mechanism.
LABELS = {
    "mcar": "innocent",
    "mar": "explained by observed variables",
    "mnar-weak": "depends on hidden values",
    "mnar": "depends on hidden values",
}


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; its methods have no limit of time."""
    settings = settings_of(
        ("asia", "child", "insurance", "alarm"),
        SIZES,
        ("mcar", "mar", "mnar-weak", "mnar"),
        (0.1, 0.3),
        name="{network}/{n_rows}/{mechanism}/{percent:g}",
        stream="{network}/{n_rows}",
    )
    return Experiment(
        name="mechanism",
        title="Learning why cells are missing",
        settings=settings,
        methods=(EM, EM_MECHANISM, REFERENCE),
        blocks=tuple(map(_block, settings)),
        make=make,
        seed=seed,
        quick_repetitions=2,
        quick_settings=("asia/1000/mcar/30", "asia/1000/mar/30", "asia/1000/mnar/30"),
        measure=_measure,
        measures=(ACCURACY, LOG_LOSS, CALIBRATION, SHD, RIGHT),
        focus=("em", "em-mechanism"),
        notes=(
            f"{REPETITIONS} samples; each is used with every mechanism at every rate.",
            "MAR: a fifth of the variables stays observed and decides which cells of "
            "the others are hidden; the rate is that of these others. MNAR: log-odds "
            "of standard deviation 2 between the states of a variable, weak MNAR of 1.",
            f"Calibration: cells by the probability of their most probable state, in "
            f"{N_BINS} bins of equal width; the mean distance from the share that came "
            "true.",
            "Labels: innocent under MCAR, explained by observed variables under MAR, "
            "dependent on hidden values under MNAR.",
        ),
        curves=CURVES,
    )


def _measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Measure structure and log-loss, and count the labels that are right."""
    assert answer.network is not None
    found = {
        **measure_structure(task, answer),
        **judge(answer.network, task.hidden),
    }
    labels = answer.extra.get("labels", {})
    if labels:
        right = LABELS[str(task.hidden.request["mechanism"])]
        n_right = sum(label == right for label in labels.values())
        found["right"] = n_right / len(labels)
    return found


def _block(setting: Setting) -> Block:
    given = setting.parameters
    mechanism = {"mnar-weak": "weak MNAR"}.get(given["mechanism"])
    panel = f"{given['network'].upper()}, {mechanism or given['mechanism'].upper()}"
    return block_of(setting, f"{panel}, {given['n_rows']:,} rows")
