"""Score files and tables that others have measured their solvers on."""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bayesmend import IncompleteData
from bayesmend.formats import read_jkl
from bayesmend.structure import candidate_parents

SMALL_VARS, SMALL_SETS = 100, 3_000  # within these a proof takes seconds
SOLVERS = {
    "ilp-141": "GOBNILP 1.4.1",
    "ilp-141-nc": "GOBNILP 1.4.1, plain",
    "ilp-162": "GOBNILP 1.6.2",
    "ilp-162-nc": "GOBNILP 1.6.2, plain",
    "cpbayes": "CPBayes",
    "astar-comp": "A*, components",
    "astar-ec": "A*, dynamic",
    "astar-ed3": "A*, static",
}
"""The columns of `runtimes.csv`."""


@dataclass(frozen=True, slots=True)
class ScoreFile:
    """Candidate sets of a file, and the best score published for them."""

    path: Path
    published: float | None = None

    @property
    def name(self):
        """The file without its endings."""
        return self.path.name.removesuffix(".gz").removesuffix(".jkl")

    def is_small(self):
        """Whether a proof takes seconds."""
        sets = self.sets()
        return sets.n_vars <= SMALL_VARS and sets.n_sets <= SMALL_SETS

    def sets(self):
        """Return the candidates."""
        return read_jkl(self.path)

    def rivals(self):
        """No seconds of others are published."""
        return {}


@dataclass(frozen=True, slots=True)
class Sample:
    """A table, a score, and the seconds that others took; None: not within 2 h."""

    name: str
    path: Path
    ess: float
    max_parents: int
    n_vars: int
    n_sets: int
    seconds: tuple[tuple[str, float | None], ...]
    published: float | None = None

    def is_small(self):
        """Whether a proof takes seconds."""
        return self.n_vars <= SMALL_VARS and self.n_sets <= SMALL_SETS

    def sets(self):
        """Score all parent sets, less those no better than one of their subsets."""
        table = np.loadtxt(self.path, dtype=np.int64, delimiter=",", ndmin=2)
        found = [np.unique(column, return_inverse=True) for column in table.T]
        data = IncompleteData.from_codes(
            np.column_stack([codes for _, codes in found]).astype(np.uint8),
            names=[f"v{i}" for i in range(self.n_vars)],
            states=[tuple(map(str, states)) for states, _ in found],
        )
        return candidate_parents(
            data,
            ess=self.ess,
            prior="uniform",
            max_parents=self.max_parents,
            search="all",
            n_threads=1,
        )

    def rivals(self):
        """Seconds of each solver that ended, the fastest first."""
        ended = [(name, s) for name, s in self.seconds if s is not None]
        return dict(sorted(ended, key=lambda pair: pair[1]))


def find_cases(folder):
    """Give the cases whose files are in the folder of data, by name."""
    cases = [*score_files(folder / "jkl"), *samples(folder / "bnsl")]
    return {case.name: case for case in cases}


def score_files(folder):
    published = {}
    for row in _rows(folder / "published.csv"):
        published[row["instance"]] = float(row["published_best_bic"])
    for path in sorted(folder.glob("*.jkl*")):
        case = ScoreFile(path)
        yield ScoreFile(path, published.get(case.name))


def samples(folder):
    pattern = re.compile(r"(?P<table>[a-z]+_\d+)_bdeu-(?P<ess>[\d.]+)-(?P<most>\d+)")
    for row in _rows(folder / "runtimes.csv"):
        found = pattern.fullmatch(row["instance"])
        path = folder / f"{found['table'].replace('_', '')}.csv"
        if path.exists():
            yield Sample(
                row["instance"],
                path,
                float(found["ess"]),
                int(found["most"]),
                int(row["variables"]),
                int(row["candidate_sets"]),
                tuple((name, _seconds(row[name])) for name in SOLVERS),
            )


def _rows(path):
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _seconds(text):
    try:
        return float(text)
    except ValueError:  # out of time or memory
        return None
