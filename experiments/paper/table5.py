"""Table 5: car evaluation, a hundred labels of one class hidden.

Section 3.5 of the paper. What it leaves open, and what is done here:

- Ten experiments, five for each of the two frequent classes, each with 100 rows drawn
  at random; the mean over all ten stands beside the published value.
- Exact learning, which the paper did not run here, has a time limit and reports its
  gap.
- Support vector machines as in Table 2.
"""

from __future__ import annotations

from bayesmend.hiding.mechanisms import hide_value_of
from experiments.data import DataFolder
from experiments.design import Block, Experiment, Run, Setting, Task
from experiments.methods import EM, EM_HARD, EM_MECHANISM, MODE, SVMS, exact, local

__all__ = ["design"]

FILE = "car.csv"
TARGET = "class"
LABELS = ("unacc", "acc")
RUNS = 5
NUMBER = 100


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of one run of exact learning."""
    settings = tuple(
        Setting(
            label,
            {"label": label, "number": NUMBER},
            range(RUNS * position, RUNS * (position + 1)),
            files=(FILE,),
        )
        for position, label in enumerate(LABELS)
    )
    return Experiment(
        name="table5",
        title="Table 5: car evaluation, 100 hidden labels of one class",
        settings=settings,
        methods=(
            exact(time_limit),
            local(1),
            EM,
            EM_MECHANISM,
            exact(time_limit, mechanism=True),
            EM_HARD,
            *SVMS,
            MODE,
        ),
        blocks=(
            Block("both classes", LABELS, "car"),
            *(Block(f"class {label} hidden", (label,)) for label in LABELS),
        ),
        make=make,
        seed=seed,
        quick_repetitions=2,
        focus=("local-1",),
        notes=(
            "Five experiments hide 100 labels 'unacc', five hide 100 labels 'acc'.",
            "SVM: the kernel with the best mean, chosen in hindsight as in the paper; "
            "all kernels are in the CSV file.",
            "BDeu, equivalent sample size 1, at most 3 parents.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Hide a hundred labels of one class."""
    given = run.setting.parameters
    data = folder.table(FILE)
    hidden = hide_value_of(data, TARGET, given["number"], given["label"], seed=run.seed)
    return Task(hidden, target=TARGET)
