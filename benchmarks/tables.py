"""Time and memory of `learn` on whole tables as people bring them.

Each table is read from a text file and learned in a process of its own, interpreter and
reading included. Those of `benchmarks.shapes` are made up; Titanic is read from the
folder of data, and left out where it is not there.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inputs import ROOT, data_folder, parse_arguments
from benchmarks.shapes import make_census, make_loans, make_screening, write_text
from benchmarks.table import print_table


@dataclass(frozen=True, slots=True)
class Case:
    """A table, and what it may take on two idle cores."""

    about: str
    seconds: float
    megabytes: float
    make: Callable | None = None
    delimiter: str = ","

    def write(self, folder, name):
        """Write the table; None where it is not at hand."""
        if self.make is None:
            path = data_folder().path / "raw" / f"{name}.csv"
            return path if path.exists() else None
        path = Path(folder, f"{name}.csv")
        write_text(self.make(), path, delimiter=self.delimiter)
        return path


CASES = {
    "titanic": Case("891 x 15, 6.5 % missing", 1.0, 500),
    "screening": Case(
        "961 x 6, 2.9 % missing, as of mammographic masses", 1.0, 500, make_screening
    ),
    "census": Case(
        "32,561 x 15, 0.9 % missing, 41 states, as of census income",
        10.0,
        500,
        make_census,
        ", ",
    ),
    "loans": Case(
        "10,000 x 54, 7.6 % missing, 44 states, as of lenders",
        30.0,
        500,
        make_loans,
    ),
}


def measure(path, n_threads):
    """Learn from a file in this process; return what it took and what came of it."""
    from bayesmend import IncompleteData, learn

    warnings.simplefilter("ignore")  # of what was guessed in reading
    begun = time.perf_counter()
    data = IncompleteData.from_table(path)
    read = time.perf_counter() - begun
    result = learn(data, seed=1, n_threads=n_threads, progress=False)
    return {
        "rows": data.n_rows,
        "columns": data.n_vars,
        "missing": data.n_missing,
        "reading": read,
        "seconds": time.perf_counter() - begun,
        "processor": time.process_time(),  # of all threads, starting included
        "megabytes": peak_megabytes(),
        "score": result.score,
        "status": result.status,
        "chosen": result.chosen,
    }


def peak_megabytes():
    """The most memory this process has held."""
    try:
        # Unlike getrusage, without what the parent held before this program began.
        lines = Path("/proc/self/status").read_text().splitlines()
        [peak] = [int(line.split()[1]) for line in lines if line.startswith("VmHWM")]
        return peak / 1024
    except (OSError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 1024)


def run_aside(path, n_threads):
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.tables", "--measure", str(path)]
    command += ["--threads", str(n_threads)]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def run_all(names, n_threads=0, run=run_aside):
    """Measure the cases; return a row for each that is at hand."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        for name in names:
            path = CASES[name].write(folder, name)
            if path is None:
                print(f"{name} is not in the folder of data", file=sys.stderr)
                continue
            rows.append({"table": name, **run(path, n_threads)})
    return rows


def show(rows):
    """Print what was measured, beside the targets."""
    header = ["table", "rows", "columns", "missing", "reading (s)", "all (s)", "target"]
    header += ["processor (s)", "MB", "target", "status"]
    lines = []
    for row in rows:
        case = CASES[row["table"]]
        line = [row[key] for key in ("table", "rows", "columns", "missing", "reading")]
        line += [row["seconds"], f"{case.seconds:g}", row["processor"]]
        line += [round(row["megabytes"]), f"{case.megabytes:g}", row["status"]]
        lines.append(line)
    print_table(header, lines)
    print()
    for row in rows:
        print(f"{row['table']}: {row['chosen']}")


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.tables",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(CASES))
    parser.add_argument("--list", action="store_true", help="list them and stop")
    parser.add_argument("--threads", type=int, default=0, metavar="N")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parse_arguments(parser, arguments)
    if given.list:
        for name, case in CASES.items():
            print(f"{name}: {case.about}")
    elif given.measure:
        path = given.measure
        print(json.dumps(measure(path, given.threads)))
    else:
        show(run_all(given.only or list(CASES), given.threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
