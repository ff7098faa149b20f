"""Structural EM on samples with hidden cells: cells right, seconds, distance, peers.

Tables sampled from known networks, cells hidden completely at random. Cells right: the
share of hidden cells that a completion has right. Distance: structural Hamming distance
of the equivalence classes of the structure found and the true one. BDeu with equivalent
sample size 1 and at most three parents throughout. Peers see the same tables in the
same run, through their public interfaces. Every run goes to a file of raw rows::

    python -m benchmarks.em                               # all; takes an hour
    python -m benchmarks.em --only asia --samples 3
    python -m benchmarks.em --list

Seconds are those of one call with the table read already: by the clock, and of the
processor, all threads together. Run alone on the machine: the load is printed.
"""

import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayesmend import hide_mcar
from benchmarks.cases import make_parser, rows_of, run_case
from benchmarks.em.methods import OURS, measure, methods
from benchmarks.inputs import parse_arguments
from benchmarks.table import print_table
from experiments.data import network_files
from experiments.design import Experiment, Setting, Task
from experiments.run.machine import facts

REFERENCES = ("true network", "complete data, greedy")
FILLING = (
    *(OURS, "bayesmend hard EM", *REFERENCES, "mode", "kNN", "random forests"),
    *("pyAgrum mode + EM", "pgmpy mode + climb"),
)
FINDING = (
    *(OURS, "bayesmend hard EM", "complete data, greedy", "pyAgrum mode + greedy"),
    *("pyAgrum mode + tabu", "pyAgrum mode + EM + tabu", "pgmpy mode + climb"),
)
RATES = (0.05, 0.1, 0.2)
HEADER = (
    *("method", "samples", "% right", "distance", "median s", "cpu s", "times ours"),
    "",
)


@dataclass(frozen=True)
class Case:
    """What is sampled, how much of it is hidden, who learns from it, the aim."""

    network: str
    n_rows: int
    rate: float
    methods: tuple[str, ...]
    n_samples: int
    target: str
    few: tuple[str, ...] = ()  # methods that get the first sample only

    @property
    def title(self):
        return f"{self.network.upper()} n={self.n_rows:,}, {100 * self.rate:g} % MCAR"


CASES = {
    "asia": Case("asia", 1000, 0.1, FILLING, 10, "as many right as pyAgrum, <= 0.2 s"),
    "alarm": Case(
        "alarm",
        1000,
        0.1,
        FILLING,
        5,
        ">= 94.3 % right or the true network's share, <= 3 s, distance <= 25",
        few=("random forests", "pgmpy mode + climb"),
    ),
    "alarm5000": Case(
        "alarm",
        5000,
        0.1,
        (OURS, *REFERENCES, "mode", "pyAgrum mode + EM"),
        3,
        "within 0.5 points of the true network, < 15 s",
        few=("pyAgrum mode + EM",),
    ),
    **{
        f"shd-{network}-{100 * rate:g}": Case(
            network, 1000, rate, FINDING, 5, "distance no larger than a peer's"
        )
        for network in ("asia", "child", "alarm")
        for rate in RATES
    },
}


def make(run, folder):
    """Sample rows and hide cells."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    full = network.sample(given["n_rows"], seed=run.seed)
    return Task(hide_mcar(full, given["rate"], seed=run.seed), network=network)


def experiment_of(name, case, n_samples, cap):
    """Lay out the runs of one case."""
    parameters = {"network": case.network, "n_rows": case.n_rows, "rate": case.rate}
    samples, files = range(1, n_samples + 1), network_files(case.network)
    return Experiment(
        name="em",
        title=case.title,
        settings=(Setting(name, parameters, samples, files=files),),
        methods=methods(case.methods, cap),
        blocks=(),
        make=make,
        measure=measure,
    )


def run_all(name, case, n_samples, cap, path):
    """Rows of all methods; a peer that ran into its cap once is not asked again."""

    def is_wanted(run, method, rows):
        gave_up = any("word" in row for row in rows_of(rows, method.name))
        if gave_up or (run.seed > 1 and method.name in case.few):
            return False
        print(f"{name}, sample {run.seed}: {method.name}", file=sys.stderr, flush=True)
        return True

    return run_case(
        experiment_of(name, case, n_samples, cap), path, is_wanted=is_wanted
    )


def warm_up():
    """Load libraries and start threads, outside of what is timed."""
    case = Case("asia", 50, 0.1, (OURS, "kNN", "random forests"), 1, "")
    with tempfile.TemporaryDirectory() as folder:
        run_case(experiment_of("warm-up", case, 1, 0.0), Path(folder, "rows"))


def mean_and_spread(values, scale=1.0, digits=1):
    values = [scale * value for value in values if value is not None]
    if not values:
        return "-"
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def line_of(name, found, ours):
    """A row of the table, ratios sample by sample against our EM."""
    word = next((row["word"] for row in found if "word" in row), "")
    done = [row for row in found if "word" not in row]
    if not done:
        return (name, 0, "-", "-", word or "-", "-", "-", "")
    seconds = [row["seconds"] for row in done]
    ratios = [s / our["seconds"] for s, our in zip(seconds, ours, strict=False)]
    notes = sorted({row["note"] for row in done if "note" in row})
    return (
        name,
        len(done),
        mean_and_spread([row["accuracy"] for row in done], 100, 2),
        mean_and_spread([row.get("distance") for row in done]),
        float(np.median(seconds)),
        float(np.median([row["cpu_seconds"] for row in done])),
        f"{np.median(ratios):,.2f}x",
        "; ".join(notes) + (f" then {word}" if word else ""),
    )


def print_case(case, rows):
    load = os.getloadavg()[0]
    print(f"\n{case.title}. Target: {case.target}. Load {load:.1f}.")
    ours = rows_of(rows, OURS)
    lines = [line_of(name, rows_of(rows, name), ours) for name in case.methods]
    print_table(HEADER, lines)
    sys.stdout.flush()


def read_options(arguments):
    parser = make_parser("em", __doc__, CASES)
    parser.add_argument("--samples", type=int, metavar="N", help="samples 1 to N")
    parser.add_argument(
        "--cap", type=float, default=120.0, metavar="S", help="seconds of each peer"
    )
    return parse_arguments(parser, arguments)


def main(arguments=None):
    given = read_options(arguments)
    if given.list:
        print_table(
            ("name", "instance", "samples", "target"),
            [(k, c.title, c.n_samples, c.target) for k, c in CASES.items()],
        )
        return 0
    machine = facts()
    print(
        f"{machine['cpu']}, {machine['cores']} cores; means ± standard deviations",
        flush=True,
    )
    warm_up()
    for name in given.only or CASES:
        case, n_samples = CASES[name], given.samples or CASES[name].n_samples
        rows = run_all(name, case, n_samples, given.cap, given.results)
        print_case(case, rows)
    print(f"\nraw rows: {given.results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
