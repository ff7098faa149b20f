"""Table 1: samples of small networks, two cells of each variable hidden, all alike.

Section 3.1 of the paper. What it leaves open, and what is done here:

- The breast and prostate cancer networks were never published. Two networks of the
  same size and kind, learned from other medical data, stand in for them, and a
  published network of eight binary variables is added. Their lines compare in kind, not
  in value.
- "All missing values are zero, or all missing values are one": both are done on the
  same sample, and averaged within a repetition. State 0 is the first state in the file
  of the network.
- A rare state may occur fewer than twice in a sample; then all of its cells are hidden.
  The column of hidden cells shows the mean number.
- The approximate algorithm starts from "an initial guess (or several different random
  guesses)": the modes and ten draws here; once more with a single draw.
"""

from __future__ import annotations

from bayesmend.hiding.mechanisms import hide_value_per_variable
from bayesmend.seed import as_generator
from experiments.data import DataFolder, network_files
from experiments.design import Block, Experiment, Run, Setting, Task
from experiments.methods import EM, EM_HARD, EM_MECHANISM, MODE, TRUTH, exact, local

__all__ = ["design"]

REPETITIONS = 100
N_ROWS = 100
PER_VARIABLE = 2
# Name, title, and the published block beside it.
NETWORKS = (
    ("asia", "ASIA", "asia"),
    ("surrogate_breast8", "substitute for Breast Cancer", "breast cancer"),
    ("surrogate_prostate11_tan", "substitute for Prostate Cancer", "prostate cancer"),
    ("bnrep_foodallergy1", "substitute: food allergy", ""),
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of one run of exact learning."""
    settings, blocks = [], []
    for network, title, published in NETWORKS:
        names = []
        for state in (0, 1):
            parameters = {
                "network": network,
                "n_rows": N_ROWS,
                "per_variable": PER_VARIABLE,
                "state": state,
            }
            name = f"{network}/{state}"
            names.append(name)
            settings.append(
                Setting(
                    name,
                    parameters,
                    range(REPETITIONS),
                    stream=network,
                    files=network_files(network),
                )
            )
        blocks.append(Block(title, tuple(names), published))
        blocks += [
            Block(f"{title}, state {state} hidden", (name,), is_drawn=False)
            for state, name in enumerate(names)
        ]
    return Experiment(
        name="table1",
        title="Table 1: networks, two MNAR cells per variable",
        settings=tuple(settings),
        methods=(
            exact(time_limit),
            local(1),
            local(1, is_single=True),
            local(2),
            EM,
            EM_MECHANISM,
            exact(time_limit, mechanism=True),
            EM_HARD,
            MODE,
            TRUTH,
        ),
        blocks=tuple(blocks),
        make=make,
        seed=seed,
        quick_repetitions=10,
        focus=("exact", "local-1"),
        notes=(
            "The networks of the paper for breast and prostate cancer are not public; "
            "substitutes of the same size and kind stand in for them.",
            f"{N_ROWS} rows; {PER_VARIABLE} cells of each variable hidden (fewer where "
            "the state is rarer), all of the first state or all of the second; both on "
            "the same sample, averaged within a repetition.",
            "BDeu, equivalent sample size 1, at most 3 parents.",
        ),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows of the network and hide cells of one state."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    generator = as_generator(run.seed)
    rows = network.sample(given["n_rows"], seed=generator)
    hidden = hide_value_per_variable(
        rows, given["per_variable"], state=given["state"], seed=generator
    )
    return Task(hidden, network=network)
