"""Real tables with missing cells: a tenth of the observed ones is hidden and recovered.

The truth of what was missing already is unknown: methods fill it too, and are judged by
the hidden cells only. These are hidden completely at random; whether the others are
missing at random, nobody knows.
"""

from __future__ import annotations

from bayesmend.hiding.mechanisms import hide_mcar
from experiments.beyond.contenders import PEERS, auto, learners
from experiments.data import DataFolder
from experiments.design import Block, Experiment, Run, Setting, Task

__all__ = ["design"]

REPETITIONS = 10
RATE = 0.1
SECONDS = 120.0
TABLES = {
    "votes.csv": "votes",
    "soybean.csv": "soybean",
    "primary_tumor.csv": "primary tumor",
    "mushroom.csv": "mushroom",
}


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of a run of EM, and of ``auto``."""
    limit = SECONDS if time_limit is None else time_limit
    settings = tuple(
        Setting(title, {"file": file, "rate": RATE}, range(REPETITIONS), files=(file,))
        for file, title in TABLES.items()
    )
    return Experiment(
        name="real",
        title="Real tables: 10 % of the observed cells hidden and recovered",
        settings=settings,
        methods=(*learners(limit), auto(limit), *PEERS),
        blocks=tuple(Block(s.name, (s.name,)) for s in settings),
        make=make,
        seed=seed,
        quick_repetitions=1,
        quick_settings=("votes", "primary tumor"),
        focus=("em", "local", "auto"),
        notes=(
            f"{100 * RATE:g} % of the observed cells hidden completely at random, "
            f"{REPETITIONS} times. What is missing already is filled, too, and not "
            "judged.",
            "Augmentation alternates between completion and a structure found by "
            "search over orders. Structural EM and auto have at most "
            f"{limit:g} s a run.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Hide cells of a table that misses some already."""
    given = run.setting.parameters
    return Task(hide_mcar(folder.table(given["file"]), given["rate"], seed=run.seed))
