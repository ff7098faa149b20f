"""Benchmarks as experiments: each run of each method is a raw row.

Rows are appended to a file, and nothing is left out because it is there already:
seconds are what is measured.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from bayesmend.errors import BayesmendError
from benchmarks.inputs import ROOT, data_folder
from experiments.design import Run
from experiments.run.rawrows import RawRows
from experiments.run.runner import execute


@dataclass(frozen=True, slots=True)
class Numbered(Run):
    """A run whose seed is its number."""

    @property
    def seed(self):
        return self.repetition


def run_case(
    experiment, path, *, n_threads=0, is_wanted=lambda run, method, rows: True
):
    """Carry out an experiment; give its rows, which the file at `path` gets, too."""
    rows = []
    try:
        with RawRows(path, say=lambda text: print(text, file=sys.stderr)) as raw:
            for run, method in experiment.runs():
                run = Numbered(run.setting, run.repetition, run.base_seed)
                if is_wanted is None or is_wanted(run, method, rows):
                    unit = (run, method)
                    row = execute(experiment, unit, data_folder(), n_threads=n_threads)
                    raw.add(row)
                    rows.append(raw.rows[-1])
    except BayesmendError as error:
        sys.exit(f"Error: {error}")
    return rows


def make_parser(module, description, cases):
    """A parser of what all such benchmarks accept."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", action="append", metavar="NAME", choices=list(cases))
    parser.add_argument("--list", action="store_true", help="list them and stop")
    path = ROOT / "benchmarks" / "results" / f"{module}.jsonl"
    parser.add_argument("--results", type=Path, default=path, metavar="FILE")
    return parser


def rows_of(rows, method):
    return [row for row in rows if row["method"] == method]
