"""Ways to learn from an incomplete table, or to complete it.

An answer without a completed table and structure has a word instead of seconds.
"""

from bayesmend import Dag, learn_structure, structural_hamming_distance
from bayesmend.errors import MissingDependencyError
from benchmarks.peers import ask_peer
from experiments.beyond.contenders import solve_complete, solve_imputer
from experiments.design import Answer, Method
from experiments.methods import EM, EM_HARD, TRUTH
from experiments.peers.imputers import impute_mode

OURS = "bayesmend EM"


def measure(task, answer):
    """The distance of what was learned, where it is not told already."""
    if "distance" in answer.extra or answer.network in (None, task.network):
        return {}
    return {"distance": distance(task, answer.network.dag)}


def distance(task, dag):
    return structural_hamming_distance(dag, task.network.dag)


def learn_complete(task, *, seed, n_threads, cap):
    """Greedy search on the table before cells were hidden."""
    full = solve_complete(task, seed=seed, n_threads=n_threads).completed
    found = learn_structure(
        full, prior="uniform", solver="greedy", seed=seed, n_threads=n_threads
    )
    extra = {"distance": distance(task, found.dag), "seconds": found.seconds}
    return Answer(extra=extra)


def fill(task, *, seed, n_threads, cap, name):
    try:
        return solve_imputer(task, seed=seed, n_threads=n_threads, name=name)
    except MissingDependencyError:
        return Answer(extra={"word": "not installed"})


def ask(task, *, seed, n_threads, cap, peer, is_mending=False):
    """A peer on the table with modes filled in, or on both tables."""
    filled = impute_mode(task.data)
    found = ask_peer(peer, filled, cap, task.data if is_mending else None)
    if isinstance(found, str):
        return Answer(extra={"word": found})
    dag = Dag.from_arcs(task.data.names, found["arcs"])
    extra = {name: found[name] for name in ("seconds", "cpu_seconds")}
    extra["distance"] = distance(task, dag)
    if not is_mending:
        return Answer(extra=extra)
    if found["n_failed"]:
        extra["note"] = f"{found['n_failed']} rows not explained"
    codes = filled.codes.copy()
    codes[:] = found["codes"]
    return Answer(filled.with_codes(codes), extra=extra)


def own(method):
    """A method of the experiments, which knows no cap."""

    def solve(task, *, seed, n_threads, cap):
        return method.solve(task, seed=seed, n_threads=n_threads, **method.options)

    return solve, {}


METHODS = {
    OURS: own(EM),
    "bayesmend hard EM": own(EM_HARD),
    "true network": own(TRUTH),
    "complete data, greedy": (learn_complete, {}),
    "mode": (fill, {"name": "mode"}),
    "kNN": (fill, {"name": "knn"}),
    "random forests": (fill, {"name": "forest"}),
    "pyAgrum mode + EM": (ask, {"peer": "pyAgrum EM", "is_mending": True}),
    "pyAgrum mode + EM + tabu": (
        ask,
        {"peer": "pyAgrum EM + tabu", "is_mending": True},
    ),
    "pyAgrum mode + greedy": (ask, {"peer": "pyAgrum greedy"}),
    "pyAgrum mode + tabu": (ask, {"peer": "pyAgrum tabu"}),
    "pgmpy mode + climb": (ask, {"peer": "pgmpy hill climb"}),
}


def methods(names, cap):
    """Methods by their names; `cap` is the seconds that a peer may take."""
    return tuple(
        Method(name, name, METHODS[name][0], {**METHODS[name][1], "cap": cap})
        for name in names
    )
