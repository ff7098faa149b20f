"""Learning by augmentation: proofs, gaps and times, beside what was aimed at.

BDeu with equivalent sample size 1 and at most three parents. Every run goes to a file
of raw rows, which is only ever appended to; the tables are made of the rows of this
run::

    python -m benchmarks.augment                      # all; takes hours
    python -m benchmarks.augment --quick              # few seeds, short limits
    python -m benchmarks.augment --only asia --seeds 100
    python -m benchmarks.augment --list

Seconds are those of one call with the table read already. Run alone on the machine.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.augment.cases import CASES, experiment_of
from benchmarks.cases import make_parser, rows_of, run_case
from benchmarks.inputs import parse_arguments
from benchmarks.table import print_table
from experiments.run.machine import facts

SAME = 1e-6  # nats
QUICK_SEEDS, QUICK_LIMIT = 3, 5.0
EXACT_HEADER = (
    *("instance", "seeds", "cells", "proven", "median s", "max s", "nodes"),
    *("root gap", "priced", "final gap of the unproven", "target"),
)


def median(rows, field):
    values = [row[field] for row in rows if row.get(field) is not None]
    return float(np.median(values)) if values else float("nan")


def times(rows):
    seconds = [row["seconds"] for row in rows]
    return round(float(np.median(seconds)), 4), round(max(seconds), 4)


def share(rows, field):
    return f"{sum(row[field] for row in rows) / len(rows):.0%}"


def exact_line(case, rows):
    gaps = [row["gap"] for row in rows if not row["is_proven"]]
    return (
        case.title,
        len(rows),
        f"{median(rows, 'cells'):.0f}",
        share(rows, "is_proven"),
        *times(rows),
        f"{median(rows, 'nodes'):,.0f}",
        f"{median(rows, 'root_gap'):.3g}",
        f"{median(rows, 'priced_gap'):.3g}",
        f"{np.median(gaps):.3g} ({min(gaps):.3g}-{max(gaps):.3g})" if gaps else "-",
        case.target,
    )


def print_baselines(case, rows):
    """Enumeration and the reduction beside branch and bound, seed by seed."""
    fast = rows_of(rows, "exact")
    every, reduced = rows_of(rows, "enumerate"), rows_of(rows, "reduce")
    print(f"\n{case.title}: baselines on the same instances")
    lines = [
        (name, *times(found), ratio(found, fast))
        for name, found in (
            ("branch and bound", fast),
            ("all completions", every),
            ("reduction + ilp", reduced),
        )
    ]
    print_table(("method", "median s", "max s", "times slower (median)"), lines)
    n_wrong = sum(
        abs(a["score"] - b["score"]) > SAME
        for found in (every, reduced)
        for a, b in zip(found, fast, strict=True)
        if a["is_proven"] and b["is_proven"]
    )
    print(f"proven scores that differ: {n_wrong}; target: at least 100 times slower")
    whole = [
        row["seconds"] * 2.0 ** (row["cells"] - row["decisions"]) / quick["seconds"]
        for row, quick in zip(every, fast, strict=True)
    ]
    print(
        "All completions are those of the distinct incomplete rows, "
        f"{median(every, 'completions'):,.0f} (median); cell by cell there are "
        f"{2.0 ** median(every, 'cells'):,.0f}, extrapolated {np.median(whole):,.0f} "
        "times slower."
    )


def ratio(slow, fast):
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(slow, fast, strict=True)]
    return f"{np.median(ratios):,.0f}"


def local_line(case, rows):
    """The local search on the instances whose optimum is proven; None without any."""
    pairs = [
        (a, b)
        for a, b in zip(rows_of(rows, "local"), rows_of(rows, "exact"), strict=True)
        if b["is_proven"]
    ]
    if not pairs:
        return None
    n_same = sum(abs(a["score"] - b["score"]) <= SAME for a, b in pairs)
    seconds = [a["seconds"] for a, _ in pairs]
    return (
        case.title,
        len(pairs),
        f"{n_same / len(pairs):.0%}",
        round(float(np.mean(seconds)), 4),
        round(max(seconds), 4),
        ">= 95 %, <= 5 ms",
    )


def certified_line(case, rows):
    found = rows_of(rows, "certify")
    return case.title, len(found), share(found, "is_certified"), *times(found)


def print_lines(title, header, lines):
    if lines:
        print(f"\n{title}")
        print_table(header, lines)


def print_tables(found):
    """Print what was found: the rows of each case by its name."""
    cases = [(CASES[name], rows) for name, rows in found.items()]
    print_lines(
        "Exact (gaps in nats, medians; the final gap with its range)",
        EXACT_HEADER,
        [exact_line(case, rows_of(rows, "exact")) for case, rows in cases],
    )
    for case, rows in cases:
        if "enumerate" in case.measures:
            print_baselines(case, rows)
    local = [local_line(case, rows) for case, rows in cases if "local" in case.measures]
    print_lines(
        "t-local (t = 1, default restarts) against the proven optimum",
        ("instance", "seeds", "same score", "mean s", "max s", "target"),
        [line for line in local if line is not None],
    )
    print_lines(
        "t-local (t = 1), certified within the limit",
        ("instance", "seeds", "certified", "median s", "max s"),
        [certified_line(c, rows) for c, rows in cases if "certify" in c.measures],
    )


def warm_up(threads):
    """Load libraries and start threads, outside of what is timed."""
    with tempfile.TemporaryDirectory() as folder:
        run_case(experiment_of("asia", 1, 10.0), Path(folder, "x"), n_threads=threads)


def read_options(arguments):
    parser = make_parser("augment", __doc__, CASES)
    parser.add_argument(
        "--quick", action="store_true", help="3 seeds, at most 5 s each"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 1 to N")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds of each run")
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    return parse_arguments(parser, arguments)


def main(arguments=None):
    given = read_options(arguments)
    if given.list:
        print_table(
            ("name", "instance", "limit s", "seeds", "target"),
            [(k, c.title, c.limit, c.n_seeds, c.target) for k, c in CASES.items()],
        )
        return 0
    warm_up(given.threads)
    found = {}
    for name in given.only or CASES:
        case = CASES[name]
        n_seeds = given.seeds or (QUICK_SEEDS if given.quick else case.n_seeds)
        limit = given.limit or (
            min(QUICK_LIMIT, case.limit) if given.quick else case.limit
        )
        print(f"{name}: {n_seeds} seeds, {limit:g} s each", file=sys.stderr, flush=True)
        experiment = experiment_of(name, n_seeds, limit)
        found[name] = run_case(experiment, given.results, n_threads=given.threads)
    machine = facts()
    print(f"{machine['cpu']}, {machine['cores']} cores, build {machine['build']}")
    print_tables(found)
    print(f"\nraw rows: {given.results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
