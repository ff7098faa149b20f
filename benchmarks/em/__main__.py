"""Structural EM on samples with hidden cells: cells right, seconds, distance, peers.

Tables sampled from known networks, cells hidden completely at random. Cells right: the
share of hidden cells that a completion has right. Distance: structural Hamming distance
of the equivalence classes of the structure found and the true one. BDeu with equivalent
sample size 1 and at most three parents throughout. Peers see the same tables in the
same run, through their public interfaces::

    python -m benchmarks.em                               # all; takes an hour
    python -m benchmarks.em --only asia --samples 3
    python -m benchmarks.em --list

Seconds are those of one call with the table read already: by the clock, and of the
processor, all threads together. Run alone on the machine: the load is printed.
"""

import argparse
import os
import sys
from dataclasses import dataclass

import numpy as np

from bayesmend import hide_mcar, read_network
from benchmarks.augment.__main__ import cpu_name
from benchmarks.em.methods import METHODS, OURS, Task
from benchmarks.speed.instances import network_path
from benchmarks.speed.table import print_table

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


@dataclass(frozen=True)
class Case:
    """What is sampled, how much of it is hidden, who learns from it, the aim."""

    title: str
    network: str
    n_rows: int
    rate: float
    methods: tuple[str, ...]
    n_samples: int
    target: str
    few: tuple[str, ...] = ()  # methods that get the first sample only


def distance_cases():
    for name in ("asia", "child", "alarm"):
        for rate in RATES:
            yield (
                f"shd-{name}-{rate:.0%}".removesuffix("%"),
                Case(
                    f"{name.upper()} n=1,000, {rate:.0%} MCAR: structure",
                    name,
                    1000,
                    rate,
                    FINDING,
                    5,
                    "distance no larger than a peer's",
                ),
            )


CASES = {
    "asia": Case(
        "ASIA n=1,000, 10 % MCAR",
        "asia",
        1000,
        0.1,
        FILLING,
        10,
        "as many right as pyAgrum, <= 0.2 s",
    ),
    "alarm": Case(
        "ALARM n=1,000, 10 % MCAR",
        "alarm",
        1000,
        0.1,
        FILLING,
        5,
        ">= 94.3 % right or the true network's share, <= 3 s, distance <= 25",
        few=("random forests", "pgmpy mode + climb"),
    ),
    "alarm5000": Case(
        "ALARM n=5,000, 10 % MCAR",
        "alarm",
        5000,
        0.1,
        (OURS, *REFERENCES, "mode", "pyAgrum mode + EM"),
        3,
        "within 0.5 points of the true network, < 15 s",
        few=("pyAgrum mode + EM",),
    ),
    **dict(distance_cases()),
}


def run_case(case, n_samples, cap):
    """{method: answers}; a peer that ran into its cap once is not asked again."""
    network = read_network(network_path(case.network))
    answers = {name: [] for name in case.methods}
    for seed in range(1, n_samples + 1):
        full = network.sample(case.n_rows, seed=seed)
        hidden = hide_mcar(full, case.rate, seed=seed)
        task = Task(network, full, hidden, seed, cap)
        for name, found in answers.items():
            gave_up = any(isinstance(answer.seconds, str) for answer in found)
            if gave_up or (seed > 1 and name in case.few):
                continue
            found.append(METHODS[name](task))
            report(case.title, seed, name, found[-1])
    return answers


def warm_up():
    """Load libraries and start threads, outside of what is timed."""
    network = read_network(network_path("asia"))
    full = network.sample(50, seed=1)
    task = Task(network, full, hide_mcar(full, 0.1, seed=1), 1, 0.0)
    for name in (OURS, "kNN", "random forests"):
        METHODS[name](task)


def report(title, seed, name, answer):
    print(f"{title}, sample {seed}: {name}: {answer}", file=sys.stderr, flush=True)


def mean_and_spread(values, scale=1.0, digits=1):
    values = [scale * value for value in values if value is not None]
    if not values:
        return "-"
    return f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"


def line_of(name, found, ours):
    """A row of the table, ratios sample by sample against our EM."""
    word = next((a.seconds for a in found if isinstance(a.seconds, str)), None)
    done = [answer for answer in found if not isinstance(answer.seconds, str)]
    if not done:
        return (name, 0, "-", "-", word or "-", "-", "-", "")
    seconds = [answer.seconds for answer in done]
    ratios = [s / our.seconds for s, our in zip(seconds, ours, strict=False)]
    notes = {answer.note for answer in done} - {""}
    return (
        name,
        len(done),
        mean_and_spread([answer.accuracy for answer in done], 100, 2),
        mean_and_spread([answer.distance for answer in done]),
        float(np.median(seconds)),
        "-" if done[0].cpu is None else float(np.median([a.cpu for a in done])),
        f"{np.median(ratios):,.2f}x",
        "; ".join(sorted(notes)) + (f" then {word}" if word else ""),
    )


HEADER = (
    *("method", "samples", "% right", "distance", "median s", "cpu s", "times ours"),
    "",
)


def print_case(case, answers):
    load = os.getloadavg()[0]
    print(f"\n{case.title}. Target: {case.target}. Load {load:.1f}.")
    ours = answers[OURS]
    print_table(HEADER, [line_of(name, found, ours) for name, found in answers.items()])
    sys.stdout.flush()


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.em",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(CASES))
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument("--samples", type=int, metavar="N", help="samples 1 to N")
    parser.add_argument(
        "--cap", type=float, default=120.0, metavar="S", help="seconds of each peer"
    )
    return parser.parse_args(arguments)


def main(arguments=None):
    given = parse_arguments(arguments)
    if given.list:
        print_table(
            ("name", "instance", "samples", "target"),
            [(k, c.title, c.n_samples, c.target) for k, c in CASES.items()],
        )
        return 0
    print(f"{cpu_name()}, {os.cpu_count()} cores; means ± standard deviations")
    warm_up()
    for name in given.only or CASES:
        case = CASES[name]
        print_case(case, run_case(case, given.samples or case.n_samples, given.cap))
    return 0


if __name__ == "__main__":
    sys.exit(main())
