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

import argparse
import csv
import datetime
import os
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np

from bayesmend import __version__
from benchmarks.augment.instances import CASES
from benchmarks.augment.measures import MEASURES, SAME
from benchmarks.speed.table import print_table

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "augment.csv"
FIELDS = (
    *("when", "version", "commit", "cpu", "cores", "threads"),
    *("instance", "seed", "measure", "limit", "seconds", "proven", "certified"),
    *("status", "score", "bound", "gap", "nodes", "cells", "decisions", "patterns"),
    *("families", "families_left", "root_gap", "priced_gap", "completions", "columns"),
)
QUICK_SEEDS, QUICK_LIMIT = 3, 5.0


def describe_machine(threads):
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    return {
        "version": __version__,
        "commit": commit,
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "threads": threads,
    }


def cpu_name():
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class RawRows:
    """A CSV file of raw rows that grows, and the rows of this run."""

    def __init__(self, path, common):
        self.path, self.common, self.rows = path, common, []
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text(",".join(FIELDS) + "\n")

    def add(self, **row):
        when = datetime.datetime.now().isoformat(timespec="seconds")
        row = {"when": when, **self.common, **row}
        with self.path.open("a", newline="") as file:
            csv.DictWriter(file, FIELDS, lineterminator="\n").writerow(row)
        self.rows.append(row)

    def of(self, instance, measure):
        return [
            row
            for row in self.rows
            if (row["instance"], row["measure"]) == (instance, measure)
        ]


def run_case(name, seeds, limit, threads, raw):
    case = CASES[name]
    for seed in seeds:
        data = case.make(seed)
        for measure in case.measures:
            answer = MEASURES[measure](data, seed, limit, threads)
            raw.add(instance=name, seed=seed, measure=measure, limit=limit, **answer)


def median(rows, field):
    values = [row[field] for row in rows if row.get(field) is not None]
    return float(np.median(values)) if values else float("nan")


def exact_line(name, rows):
    case = CASES[name]
    seconds = [row["seconds"] for row in rows]
    proven = [row for row in rows if row["proven"]]
    open_gaps = [row["gap"] for row in rows if not row["proven"]]
    gaps = "-"
    if open_gaps:
        gaps = f"{np.median(open_gaps):.3g} ({min(open_gaps):.3g}-{max(open_gaps):.3g})"
    return (
        case.title,
        len(rows),
        f"{median(rows, 'cells'):.0f}",
        f"{len(proven) / len(rows):.0%}",
        round(float(np.median(seconds)), 4),
        round(max(seconds), 4),
        f"{median(rows, 'nodes'):,.0f}",
        f"{median(rows, 'root_gap'):.3g}",
        f"{median(rows, 'priced_gap'):.3g}",
        gaps,
        case.target,
    )


EXACT_HEADER = (
    *("instance", "seeds", "cells", "proven", "median s", "max s", "nodes"),
    *("root gap", "priced", "final gap of the unproven", "target"),
)


def print_baselines(name, raw):
    """Enumeration and the reduction beside branch and bound, seed by seed."""
    fast = raw.of(name, "exact")
    every, reduced = raw.of(name, "enumerate"), raw.of(name, "reduce")
    if not every:
        return
    print(f"\n{CASES[name].title}: baselines on the same instances")
    rows = [("branch and bound", *times(fast), "1")]
    rows.append(("all completions", *times(every), ratio(every, fast)))
    rows.append(("reduction + ilp", *times(reduced), ratio(reduced, fast)))
    print_table(("method", "median s", "max s", "times slower (median)"), rows)
    n_wrong = sum(
        abs(a["score"] - b["score"]) > SAME
        for rows in (every, reduced)
        for a, b in zip(rows, fast, strict=True)
        if a["proven"] and b["proven"]
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


def times(rows):
    seconds = [row["seconds"] for row in rows]
    return round(float(np.median(seconds)), 4), round(max(seconds), 4)


def ratio(slow, fast):
    ratios = [a["seconds"] / b["seconds"] for a, b in zip(slow, fast, strict=True)]
    return f"{np.median(ratios):,.0f}"


def print_local(names, raw):
    lines = []
    for name in names:
        found, proven = raw.of(name, "local"), raw.of(name, "exact")
        pairs = [
            (a, b) for a, b in zip(found, proven, strict=False) if found and b["proven"]
        ]
        if not pairs:
            continue
        n_same = sum(abs(a["score"] - b["score"]) <= SAME for a, b in pairs)
        seconds = [a["seconds"] for a, _ in pairs]
        lines.append(
            (
                CASES[name].title,
                len(pairs),
                f"{n_same / len(pairs):.0%}",
                round(float(np.mean(seconds)), 4),
                round(max(seconds), 4),
                ">= 95 %, <= 5 ms",
            )
        )
    if lines:
        print("\nt-local (t = 1, default restarts) against the proven optimum")
        header = ("instance", "seeds", "same score", "mean s", "max s", "target")
        print_table(header, lines)


def print_certified(names, raw):
    lines = []
    for name in names:
        rows = raw.of(name, "certify")
        if rows:
            n_certified = sum(row["certified"] for row in rows)
            title = CASES[name].title
            share = f"{n_certified / len(rows):.0%}"
            lines.append((title, len(rows), share, *times(rows)))
    if lines:
        print("\nt-local (t = 1), certified within the limit")
        print_table(("instance", "seeds", "certified", "median s", "max s"), lines)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.augment",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(CASES))
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument(
        "--quick", action="store_true", help="3 seeds, at most 5 s each"
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 1 to N")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds of each run")
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    return parser.parse_args(arguments)


def main(arguments=None):
    given = parse_arguments(arguments)
    if given.list:
        print_table(
            ("name", "instance", "limit s", "seeds", "target"),
            [(k, c.title, c.limit, c.n_seeds, c.target) for k, c in CASES.items()],
        )
        return 0
    names = given.only or list(CASES)
    raw = RawRows(given.results, describe_machine(given.threads))
    MEASURES["exact"](CASES["asia"].make(1), 1, 10.0, given.threads)  # warm up
    for name in names:
        case = CASES[name]
        n_seeds = given.seeds or (QUICK_SEEDS if given.quick else case.n_seeds)
        limit = given.limit or (
            min(QUICK_LIMIT, case.limit) if given.quick else case.limit
        )
        print(f"{name}: {n_seeds} seeds, {limit:g} s each", file=sys.stderr, flush=True)
        run_case(name, range(1, n_seeds + 1), limit, given.threads, raw)
    print(f"{cpu_name()}, {os.cpu_count()} cores, {raw.common['commit']}")
    print("\nExact (gaps in nats, medians; the final gap with its range)")
    print_table(EXACT_HEADER, [exact_line(n, raw.of(n, "exact")) for n in names])
    for name in names:
        print_baselines(name, raw)
    print_local(names, raw)
    print_certified(names, raw)
    print(f"\nraw rows: {given.results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
