"""Structures by several scores, against the network that the rows come from and peers.

Samples of all public networks with up to 200 variables that the folder of data has,
complete and with cells hidden by three mechanisms. Structures are compared as
equivalence classes; arcs of the skeleton are counted as found or invented.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import product
from math import log
from typing import Any

from bayesmend.graph.dag import Dag
from bayesmend.graph.distance import structural_hamming_distance
from bayesmend.learning.em import learn_em
from bayesmend.network.network import Network
from bayesmend.score import Score
from bayesmend.seed import as_generator
from bayesmend.structure.learn import learn_structure
from experiments.beyond.contenders import solve_complete
from experiments.beyond.measuring import SHD
from experiments.data import DataFolder, network_files
from experiments.design import (
    Answer,
    Block,
    Curves,
    Experiment,
    Measure,
    Method,
    Place,
    Run,
    Setting,
    Task,
)
from experiments.hiding import hide
from experiments.methods import MAX_PARENTS
from experiments.peers.structures import STRUCTURES, has_bnlearn

__all__ = ["design"]

NETWORKS = (
    *("cancer", "earthquake", "survey", "asia", "bnrep_foodallergy1"),
    *("surrogate_breast8", "sachs", "surrogate_prostate11_tan", "bnrep_engines"),
    *("lucas", "child", "insurance", "mildew", "alarm", "barley", "hailfinder"),
    *("pathfinder", "munin1"),
)
SIZES = (200, 1000, 5000)
HOLES = (
    ("complete", 0.0),
    *product(("mcar", "mar", "mnar"), (0.1, 0.3)),
)
ALL, COMPLETE, HIDDEN = "all networks", "complete", "cells hidden"
REPETITIONS = 5
SECONDS_OF_A_RUN = 60.0
PROVEN_VARS = 100  # up to which the usual solver seeks a proof

PRECISION = Measure("precision", "arcs of the skeleton that are true (%)", scale=100.0)
RECALL = Measure("recall", "true arcs of the skeleton that are found (%)", scale=100.0)
ARCS = Measure("n_arcs", "arcs", digits=1, is_contest=False)
SECONDS = Measure(
    "learning_seconds", "seconds", digits=2, is_better_high=False, is_contest=False
)

# Name, label, and the rule.
SCORES: Mapping[str, tuple[str, dict[str, Any]]] = {
    "bdeu": ("BDeu, ess 1", {"kind": "bdeu", "prior": "uniform"}),
    "bdeu-fair": ("BDeu, ess 1, fair", {"kind": "bdeu", "prior": "fair"}),
    "bdeu-half": (
        "BDeu, ess 1, half",
        {"kind": "bdeu", "prior": "fair", "arc_penalty": -log(2)},
    ),
    "bdeu-10": ("BDeu, ess 10", {"kind": "bdeu", "ess": 10.0, "prior": "uniform"}),
    "bdeu-10-fair": ("BDeu, ess 10, fair", {"kind": "bdeu", "ess": 10.0}),
    "bds": ("BDs, ess 1", {"kind": "bds", "prior": "uniform"}),
    "bds-fair": ("BDs, ess 1, fair", {"kind": "bds", "prior": "fair"}),
    "bic": ("BIC", {"kind": "bic"}),
    "bic-fair": ("BIC, fair", {"kind": "bic", "prior": "fair"}),
    "qnml": ("qNML", {"kind": "qnml"}),
    "qnml-fair": ("qNML, fair", {"kind": "qnml", "prior": "fair"}),
}


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of each run."""
    limit = SECONDS_OF_A_RUN if time_limit is None else time_limit
    settings = tuple(
        Setting(
            f"{network}/{n_rows}/{how}/{100 * rate:g}",
            {"network": network, "n_rows": n_rows, "mechanism": how, "rate": rate},
            range(REPETITIONS),
            # Each sample is used complete and with every way to hide cells.
            stream=f"{network}/{n_rows}",
            files=network_files(network),
        )
        for network, n_rows, (how, rate) in product(NETWORKS, SIZES, HOLES)
    )
    ours = tuple(
        Method(name, label, solve, {"rule": rule, "time_limit": limit})
        for name, (label, rule) in SCORES.items()
    )
    return Experiment(
        name="structure",
        title="Which score finds the structure",
        settings=settings,
        methods=(*ours, *PEERS),
        blocks=_blocks(settings),
        make=make,
        seed=seed,
        quick_repetitions=2,
        quick_settings=("asia/1000/", "child/1000/", "alarm/1000/complete"),
        measure=measure,
        measures=(SHD, PRECISION, RECALL, ARCS, SECONDS),
        focus=("bdeu-fair",),
        notes=(
            "Complete tables: learn_structure with its usual solver, for the most part "
            f"to a proof; hill climbing among more than {PROVEN_VARS} variables. "
            f"Incomplete ones: structural EM. Each at most {limit:g} s a run, with at "
            f"most {MAX_PARENTS} parents, and at no cost of rows without an example.",
            "Each sample is used complete and with every way to hide cells.",
            "pyAgrum and pgmpy learn from incomplete tables with modes filled in, "
            "bnlearn, where R has it, by its structural EM.",
            "'fair': k of m possible parents cost log C(m, k). 'half': log 2 less for "
            "each, since in an order half of the others come before a variable.",
            "Cells hidden: 10 and 30 % by each of MCAR, MAR and MNAR, as in the "
            "experiment imputation.",
        ),
        curves=Curves("rows", _place, is_log=True),
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows of the network and hide cells."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    rows = network.sample(given["n_rows"], seed=run.seed)
    # A generator of its own, so that the sample is the same however cells are hidden.
    generator = as_generator(run.seed_of(run.repetition, given["mechanism"]))
    mechanism = given["mechanism"] if given["rate"] else "mcar"
    return Task(hide(rows, mechanism, given["rate"], generator=generator), network)


def solve(
    task: Task,
    *,
    seed: int,
    n_threads: int,
    rule: Mapping[str, Any],
    time_limit: float,
) -> Answer:
    """Learn a structure by a rule."""
    score = Score(**rule, support=0.0)
    begun = time.perf_counter()
    network: Network
    if task.data.is_complete:
        network = learn_structure(
            task.data,
            score=score,
            max_parents=MAX_PARENTS,
            solver="auto" if task.data.n_vars <= PROVEN_VARS else "greedy",
            time_limit=time_limit,
            seed=seed,
            n_threads=n_threads,
        ).network
        completed = task.data
    else:
        found = learn_em(
            task.data,
            score=score,
            max_parents=MAX_PARENTS,
            time_limit=time_limit,
            seed=seed,
            n_threads=n_threads,
        )
        network, completed = found.network, found.completed
    seconds = time.perf_counter() - begun
    return Answer(completed, network=network, extra={"learning_seconds": seconds})


def solve_peer(
    task: Task, *, seed: int, n_threads: int, name: str, **options: Any
) -> Answer:
    """Let another package learn a structure."""
    dag, seconds = STRUCTURES[name](task.data, **options)
    # Of a peer the structure counts alone; its parameters are those of all cells.
    whole = solve_complete(task, seed=seed, n_threads=n_threads).completed
    assert whole is not None
    network = Network.fit(dag, whole, estimate="posterior")
    return Answer(network=network, extra={"learning_seconds": seconds})


def measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Compare the structure learned with that of the network."""
    assert task.network is not None
    assert answer.network is not None
    true, learned = _edges(task.network.dag), _edges(answer.network.dag)
    shared = len(true & learned)
    return {
        "shd": structural_hamming_distance(answer.network.dag, task.network.dag),
        "precision": shared / len(learned) if learned else None,
        "recall": shared / len(true),
        "n_arcs": len(learned),
    }


def _edges(dag: Dag) -> set[frozenset[str]]:
    return {frozenset(arc) for arc in dag.arcs}


def _blocks(settings: tuple[Setting, ...]) -> tuple[Block, ...]:
    """Give each network and size, complete and with hidden cells, and all together."""
    names: dict[str, list[str]] = {}
    for setting in settings:
        given = setting.parameters
        what = HIDDEN if given["rate"] else COMPLETE
        for network in (given["network"], ALL):
            label = f"{network}, {what}, n = {given['n_rows']:,}"
            names.setdefault(label, []).append(setting.name)
    return tuple(
        Block(label, tuple(found), is_drawn=label.startswith(ALL))
        for label, found in names.items()
    )


def _place(block: Block, method: Method) -> Place | None:
    panel, _, size = block.label.rpartition(", n = ")
    x = float(size.replace(",", ""))
    return Place(panel, x, method.label, method.name)


PEERS = (
    *(
        Method(
            f"pyagrum-{score.lower()}",
            f"pyAgrum, tabu, {score}",
            solve_peer,
            {"name": "pyagrum", "score": score, "search": "tabu"},
            needs=("pyagrum", "pandas"),
        )
        for score in ("BDeu", "BIC")
    ),
    Method(
        "pgmpy-bic",
        "pgmpy, hill climbing, BIC",
        solve_peer,
        {"name": "pgmpy", "score": "BIC"},
        needs=("pgmpy", "pandas"),
    ),
    *(
        Method(
            f"bnlearn-{score}",
            f"R's bnlearn, {score}",
            solve_peer,
            {"name": "bnlearn", "score": score},
        )
        for score in ("bic", "bde")
        if has_bnlearn()
    ),
)
