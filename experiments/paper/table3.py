"""Table 3: SPECT, a share of all cells hidden, all of one value.

Section 3.3 of the paper. What it leaves open, and what is done here:

- The shares are of all 267 x 23 cells; the cells are drawn evenly from those that hold
  the value, so that variables in which it is frequent lose more.
- The published overall accuracies are the plain means of those of the two values, and
  so are ours, within a repetition.
- The number of repetitions is not given: 20.
- With 23 variables the local search alternates between a heuristic search for the
  structure and the completion, and its result is not certified.
"""

from __future__ import annotations

from experiments.data import DataFolder
from experiments.design import Block, Experiment, Run, Setting, Task
from experiments.hiding import hide_share_of_value
from experiments.methods import EM, EM_HARD, EM_MECHANISM, LOCAL_MECHANISM, MODE, local

__all__ = ["design"]

FILE = "spect.csv"
REPETITIONS = 20
PERCENTS = (3, 5, 10)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; there is no exact learning to limit here."""
    settings = tuple(
        Setting(
            f"{percent}/{state}",
            {"share": percent / 100, "state": state},
            range(REPETITIONS),
            stream=f"{percent}",
            files=(FILE,),
        )
        for percent in PERCENTS
        for state in (0, 1)
    )
    overall = [
        Block(f"{p} % (overall)", (f"{p}/0", f"{p}/1"), f"{p} %") for p in PERCENTS
    ]
    by_value = [
        Block(f"{p} % (missing value = {v})", (f"{p}/{v}",), f"{p} %, value {v}")
        for v in (0, 1)
        for p in PERCENTS
    ]
    return Experiment(
        name="table3",
        title="Table 3: SPECT, cells of one value hidden",
        settings=settings,
        methods=(local(1), EM, EM_MECHANISM, LOCAL_MECHANISM, EM_HARD, MODE),
        blocks=(*overall, *by_value),
        make=make,
        seed=seed,
        quick_repetitions=2,
        focus=("local-1",),
        notes=(
            "Shares of all 6,141 cells, drawn evenly from those that hold the value.",
            f"{REPETITIONS} repetitions; the paper gives no number.",
            "Overall: mean of the two values within a repetition.",
            "23 variables: the local search uses a heuristic for the structure and is "
            "not certified.",
            "BDeu, equivalent sample size 1, at most 3 parents.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Hide a share of all cells among those of one value."""
    given = run.setting.parameters
    data = folder.table(FILE)
    return Task(
        hide_share_of_value(data, given["share"], state=given["state"], seed=run.seed)
    )
