"""Peers: structures that other packages learn, at most three parents a variable.

pyAgrum and pgmpy learn from complete tables; of an incomplete one they get the modes
filled in. R's bnlearn, asked through ``Rscript``, learns from incomplete tables by its
structural EM. Each gets a table of texts, and its seconds are those of learning.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import MissingDependencyError
from bayesmend.graph.dag import Dag
from experiments.packages import need
from experiments.peers.imputers import impute_mode

__all__ = ["STRUCTURES", "Learned", "has_bnlearn", "learn_by_bnlearn"]

Learned = tuple[Dag, float]
"""A structure, and the seconds that learning it took."""

MAX_PARENTS = 3
SCRIPT = Path(__file__).with_name("bnlearn.R")


def learn_by_pyagrum(data: IncompleteData, *, score: str, search: str) -> Learned:
    """Learn by pyAgrum: greedy or tabu search, BDeu or BIC.

    Parameters
    ----------
    data : IncompleteData
        The table; missing cells get their modes.
    score : {"BDeu", "BIC"}
        The score.
    search : {"greedy", "tabu"}
        The search.
    """
    pyagrum = need("pyagrum")
    learner = pyagrum.BNLearner(_frame(impute_mode(data)))
    getattr(learner, f"useScore{score}")()
    learner.setMaxIndegree(MAX_PARENTS)
    if search == "tabu":
        learner.useLocalSearchWithTabuList()
    else:
        learner.useGreedyHillClimbing()
    begun = time.perf_counter()
    graph = learner.learnDAG()
    seconds = time.perf_counter() - begun
    names = learner.names()
    arcs = [(names[a], names[b]) for a, b in graph.arcs()]
    return Dag.from_arcs(data.names, arcs), seconds


def learn_by_pgmpy(data: IncompleteData, *, score: str) -> Learned:
    """Learn by pgmpy's hill climbing, BDeu or BIC; missing cells get their modes."""
    estimators = need("pgmpy.estimators")
    frame = _frame(impute_mode(data))
    rule = (
        estimators.BDeu(frame, equivalent_sample_size=1)
        if score == "BDeu"
        else estimators.BIC(frame)
    )
    begun = time.perf_counter()
    found = estimators.HillClimbSearch(frame).estimate(
        scoring_method=rule, max_indegree=MAX_PARENTS, show_progress=False
    )
    seconds = time.perf_counter() - begun
    return Dag.from_arcs(data.names, list(found.edges())), seconds


def has_bnlearn() -> bool:
    """Tell whether R is installed with its package bnlearn."""
    if shutil.which("Rscript") is None:
        return False
    asked = [
        "Rscript",
        "-e",
        "q(status = !requireNamespace('bnlearn', quietly = TRUE))",
    ]
    return subprocess.run(asked, capture_output=True).returncode == 0


def learn_by_bnlearn(
    data: IncompleteData, *, score: str, seconds: float | None = None
) -> Learned:
    """Learn by R's bnlearn: hill climbing, or structural EM where cells are missing.

    Parameters
    ----------
    data : IncompleteData
        The table.
    score : {"bde", "bic", "qnml"}
        A score as bnlearn names it.
    seconds : float, optional
        Time that the process gets.
    """
    if not has_bnlearn():
        msg = (
            "this experiment needs R with its package bnlearn. Install R, then "
            "install.packages('bnlearn')."
        )
        raise MissingDependencyError(msg)
    # Names of its own: R would change some of ours.
    names = [f"v{v}" for v in range(data.n_vars)]
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "table.csv")
        with table.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names)
            writer.writerows(
                ["" if code == MISSING else f"s{code}" for code in row]
                for row in data.codes.tolist()
            )
        done = subprocess.run(
            ["Rscript", str(SCRIPT), str(table), score, str(MAX_PARENTS)],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    answer = json.loads(done.stdout.splitlines()[-1])
    arcs = [
        (data.names[names.index(a)], data.names[names.index(b)])
        for a, b in answer["arcs"]
    ]
    return Dag.from_arcs(data.names, arcs), float(answer["seconds"])


def _frame(data: IncompleteData) -> Any:
    """Give a data frame of categories, with all states that were declared."""
    pandas = need("pandas")
    return pandas.DataFrame(
        {
            name: pandas.Categorical(
                np.char.add("s", data.codes[:, v].astype(str)),
                categories=[f"s{code}" for code in range(int(data.card[v]))],
            )
            for v, name in enumerate(data.names)
        }
    )


STRUCTURES: Mapping[str, Callable[..., Learned]] = {
    "pyagrum": learn_by_pyagrum,
    "pgmpy": learn_by_pgmpy,
    "bnlearn": learn_by_bnlearn,
}
