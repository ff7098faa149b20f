"""How learning grows: rows, variables, share hidden, states, parents, and large tables.

Tables sampled from networks, cells hidden completely at random; every method gets the
same table, in a process of its own with a cap on its seconds. Measured: seconds of the
processor, all threads together, and by the clock; the most memory of the process; the
share of hidden cells that are right; the structural Hamming distance to the network
that the rows came from, and what the structure scores on the rows as they were before
cells were hidden, in nats per row. Peers that are not installed, or that cannot take a
table, are told by a word::

    python -m benchmarks.scale                       # the smaller ones; minutes
    python -m benchmarks.scale --full                # all; hours
    python -m benchmarks.scale --only rows --method "bayesmend em"
    python -m benchmarks.scale --full --only wide --size 724 --method "bayesmend em"
    python -m benchmarks.scale --page                # the page from all raw rows so far
    python -m benchmarks.scale --list

Every run is appended to a file of raw rows.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from bayesmend import (
    Dag,
    dag_score,
    hide_mcar,
    structural_hamming_distance,
    write_network,
)
from benchmarks.cases import make_parser
from benchmarks.inputs import ROOT, parse_arguments
from benchmarks.scale.cases import CASES
from benchmarks.scale.methods import ANSWER, METHODS, NETWORK, TABLE, serve
from benchmarks.scale.page import write_page
from benchmarks.table import print_table
from experiments.run.machine import facts

HEADER = (
    *("size", "method", "processor s", "clock s", "MB", "score a row", "% right"),
    *("distance", "whole rows", ""),
)


def write_task(case, folder):
    """Sample a table, hide cells, and leave both in a folder; give what was hidden."""
    network = case.make_network()
    full = network.sample(case.n_rows, seed=1)
    hidden = hide_mcar(full, case.rate, seed=1)
    arrays = {"names": np.array(full.names), "card": full.card}
    np.savez(folder / TABLE, codes=hidden.data.codes, **arrays)
    np.save(folder / "full.npy", full.codes)
    write_network(network, folder / NETWORK)
    parts = np.array_split(np.arange(case.n_rows), case.n_parts) if case.n_parts else []
    for number, rows in enumerate(parts):
        hidden.data.pick(rows).write_csv(folder / f"part-{number}.csv")
    return network, hidden


def measure(case, name, folder, network, hidden, *, cap, n_threads):
    """Have a method learn in a process of its own; give what it took and found."""
    (folder / ANSWER).unlink(missing_ok=True)
    command = [sys.executable, "-m", "benchmarks.scale", "--serve", name]
    command += ["--folder", str(folder), "--threads", str(n_threads)]
    command += ["--max-parents", str(case.max_parents)]
    if case.time_limit is not None:
        command += ["--time-limit", str(case.time_limit)]
        cap = max(cap, 1.5 * case.time_limit)
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=cap, check=False
        )
    except subprocess.TimeoutExpired:
        return {"word": f"> {cap:g} s"}
    if done.returncode == 3:
        return {"word": "not installed"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        return {"word": f"failed: {last}"}
    told = json.loads(done.stdout.splitlines()[-1])
    arcs = told.pop("arcs", None)
    if arcs is not None:
        dag = Dag.from_arcs(hidden.data.names, arcs)
        told["distance"] = structural_hamming_distance(dag, network.dag)
        full = hidden.data.with_codes(np.load(folder / "full.npy"))
        told["nats"] = dag_score(dag, full) / full.n_rows
    if (folder / ANSWER).exists():
        with np.load(folder / ANSWER) as found:
            filled = found["codes"][hidden.rows, hidden.variables]
        told["right"] = float((filled == hidden.true_codes).mean())
    return told


def run_axis(cases, methods, given, raw):
    """Measure the cases of one axis, from the smallest; give the rows."""
    rows, gave_up = [], set()
    for case in cases:
        wanted = [name for name in case.methods if name in methods]
        wanted = [name for name in wanted if name in METHODS and name not in gave_up]
        if not wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="bayesmend-") as place:
            folder = Path(place)
            network, hidden = write_task(case, folder)
            for name in wanted:
                print(f"{case.axis} {case.size:g}: {name}", file=sys.stderr, flush=True)
                found = measure(
                    case,
                    name,
                    folder,
                    network,
                    hidden,
                    cap=given.cap,
                    n_threads=given.threads,
                )
                if "word" in found:  # whoever could not take less will not take more
                    gave_up.add(name)
                row = {
                    "axis": case.axis,
                    "size": case.size,
                    "title": case.title,
                    "rows": case.n_rows,
                    "missing": hidden.data.n_missing,
                    "target": case.target,
                    "method": name,
                    "threads": given.threads,
                    "cap": given.cap,
                    **found,
                    "machine": facts(),
                    "when": time.strftime("%Y-%m-%dT%H:%M:%S"),
                }
                rows.append(row)
                with raw.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
    return rows


def line_of(row):
    """Lay out a row for the table."""
    right = row.get("right")
    return (
        f"{row['size']:,g}",
        row["method"],
        row.get("processor", ""),
        row.get("seconds", ""),
        round(row["megabytes"]) if "megabytes" in row else "",
        f"{row['score'] / row['rows']:.4f}" if "score" in row else "",
        "" if right is None else f"{right:.2%}",
        row.get("distance", ""),
        f"{row['nats']:.4f}" if "nats" in row else "",
        row.get("word") or row.get("told") or row.get("target") or "",
    )


def read_options(arguments):
    parser = make_parser("scale", __doc__, CASES)
    parser.add_argument("--full", action="store_true", help="the large ones as well")
    parser.add_argument(
        "--method", action="append", metavar="NAME", choices=list(METHODS)
    )
    parser.add_argument(
        "--cap", type=float, default=120.0, metavar="S", help="seconds of each run"
    )
    parser.add_argument("--threads", type=int, default=0, help="0: one per core")
    parser.add_argument(
        "--size", action="append", type=float, metavar="X", help="only these of an axis"
    )
    parser.add_argument(
        "--page", action="store_true", help="write the page of the docs"
    )
    parser.add_argument("--serve", help=serve.__doc__.splitlines()[0])
    parser.add_argument("--folder", help="of --serve")
    parser.add_argument("--max-parents", type=int, default=3, help="of --serve")
    parser.add_argument("--time-limit", type=float, help="of --serve")
    return parse_arguments(parser, arguments)


def main(arguments=None):
    given = read_options(arguments)
    if given.serve:
        how = (given.max_parents, given.threads, given.time_limit)
        serve(given.serve, given.folder, *how)
        return 0
    if given.list:
        print_table(
            ("axis", "size", "table", "full only", "aim"),
            [
                (c.axis, f"{c.size:g}", c.title, "x" * c.is_large, c.target)
                for cases in CASES.values()
                for c in cases
            ],
        )
        return 0
    if given.page:
        write_page(given.results)
        return 0
    given.results.parent.mkdir(parents=True, exist_ok=True)
    machine = facts()
    print(f"{machine['cpu']}, {machine['cores']} cores, build {machine['build']}")
    methods = given.method or list(METHODS)
    for axis in given.only or CASES:
        cases = [c for c in CASES[axis] if given.full or not c.is_large]
        if given.size:
            cases = [c for c in cases if c.size in given.size]
        rows = run_axis(cases, methods, given, given.results)
        if rows:
            print(f"\n{axis}")
            print_table(HEADER, [line_of(row) for row in rows])
            sys.stdout.flush()
    print(f"\nraw rows: {given.results}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
