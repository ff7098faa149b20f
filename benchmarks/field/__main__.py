"""The structure solver on instances that others have measured theirs on.

Candidate sets of score files (``jkl/*.jkl.gz`` in the folder of data), and of tables
scored here (``bnsl/``) whose seconds with other solvers are in ``bnsl/runtimes.csv``.
Each instance is solved in a process of its own, on one thread, by `solve`. Measured:
seconds of the processor for scoring and for solving, seconds by the clock of solving,
the score, its bound, and the most memory::

    python -m benchmarks.field                   # those that take seconds
    python -m benchmarks.field --full --time-limit 600
    python -m benchmarks.field --only carpo --only munin
    python -m benchmarks.field --page            # the page from all raw rows so far
    python -m benchmarks.field --list

Every run is appended to a file of raw rows. What was measured by the same build with
the same limit is not measured anew, so a run that was cut short goes on; `--again`
measures it.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.field.cases import SOLVERS, find_cases
from benchmarks.field.page import write_page
from benchmarks.inputs import ROOT, data_folder, parse_arguments
from benchmarks.table import print_table
from benchmarks.tables import peak_megabytes
from experiments.run.machine import facts

HEADER = ("instance", "variables", "sets", "score", "gap", "gap %", "processor s")
HEADER += ("clock s", "MB", "best of others", "")


def measure(case, solver, time_limit, n_threads):
    """Solve in this process; return what it took and what came of it."""
    from bayesmend.structure import solve

    begun = time.process_time()
    sets = case.sets()
    scored = time.process_time()
    found = solve(
        sets,
        solver=solver,
        time_limit=time_limit,
        seed=1,
        n_threads=n_threads,
        progress=False,
    )
    return {
        "variables": sets.n_vars,
        "sets": sets.n_sets,
        "scoring": scored - begun,
        "processor": time.process_time() - scored,
        "seconds": found.seconds,
        "megabytes": peak_megabytes(),
        "score": found.score,
        "bound": found.bound,
        "gap": found.gap,
        "status": found.status,
        "detail": {k: v for k, v in found.detail.items() if isinstance(v, int | float)},
    }


def run_aside(case, given):
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.field", "--measure", case.name]
    command += ["--data", str(data_folder().path), "--solver", given.solver]
    command += ["--time-limit", str(given.time_limit), "--threads", str(given.threads)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return {"word": f"failed: {last}"}
    return json.loads(done.stdout.splitlines()[-1])


def key_of(row):
    """What makes a run the same as another."""
    names = ("instance", "solver", "time_limit", "threads")
    return (*(row[name] for name in names), row["machine"]["build"])


def known_rows(path):
    """The rows of earlier runs that came to an end."""
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {key_of(row): row for row in rows if "word" not in row}


def run_all(cases, given):
    """Measure the cases in turn; yield a row for each, old or new."""
    known = {} if given.again else known_rows(given.results)
    for case in cases:
        row = {
            "instance": case.name,
            "solver": given.solver,
            "time_limit": given.time_limit,
            "threads": given.threads,
            "published": case.published,
            "others": case.rivals(),
            "machine": facts(),
            "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
        }
        if key_of(row) in known:
            yield known[key_of(row)]
            continue
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        row |= run_aside(case, given)
        with given.results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        yield row


def line_of(row):
    """Lay out a row for the table."""
    if "word" in row:
        return (row["instance"], *[""] * (len(HEADER) - 2), row["word"])
    best = next(iter(row["others"].items()), None)
    rival = "" if best is None else f"{best[1]:,.2f} s, {SOLVERS[best[0]]}"
    return (
        row["instance"],
        row["variables"],
        row["sets"],
        f"{row['score']:,.3f}",
        row["gap"],
        f"{abs(row['gap'] / row['score']):.4%}",
        row["processor"],
        row["seconds"],
        round(row["megabytes"]),
        rival,
        row["status"],
    )


def read_options(arguments):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.field",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    path = ROOT / "benchmarks" / "results" / "field.jsonl"
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="instances whose name holds it"
    )
    parser.add_argument("--full", action="store_true", help="the large ones as well")
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument("--results", type=Path, default=path, metavar="FILE")
    parser.add_argument("--solver", default="ilp", metavar="NAME")
    parser.add_argument(
        "--time-limit", type=float, default=60.0, metavar="S", help="of each instance"
    )
    parser.add_argument("--threads", type=int, default=1, help="0: one per core")
    parser.add_argument("--again", action="store_true", help="measure known ones anew")
    parser.add_argument(
        "--page", action="store_true", help="write the page of the docs"
    )
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    return parse_arguments(parser, arguments)


def chosen(cases, given):
    """Give the cases that were asked for; those named are not asked for their size."""
    if given.only:
        return [c for c in cases.values() if any(part in c.name for part in given.only)]
    return [case for case in cases.values() if given.full or case.is_small()]


def main(arguments=None):
    given = read_options(arguments)
    if given.page:
        write_page(given.results)
        return 0
    cases = find_cases(data_folder().path)
    if not cases:
        sys.exit(f"Error: no instances in '{data_folder().path}'. Name it with --data.")
    if given.measure:
        limits = given.solver, given.time_limit, given.threads
        print(json.dumps(measure(cases[given.measure], *limits)))
        return 0
    wanted = chosen(cases, given)
    if not wanted:
        sys.exit(f"Error: no instance is named {' or '.join(given.only)}.")
    if given.list:
        print("\n".join(case.name for case in wanted))
        return 0
    given.results.parent.mkdir(parents=True, exist_ok=True)
    machine = facts()
    print(f"{machine['cpu']}, {machine['cores']} cores, build {machine['build']}")
    print_table(HEADER, [line_of(row) for row in run_all(wanted, given)])
    print(f"\nraw rows: {given.results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
