"""Ways to learn from a table with holes, or to fill them, each timed."""

import time
import warnings
from dataclasses import dataclass

from bayesmend import (
    Dag,
    IncompleteData,
    Network,
    explain,
    learn_em,
    learn_structure,
    structural_hamming_distance,
)
from bayesmend.errors import BayesmendError
from benchmarks.em.peers import mend_with_pyagrum
from benchmarks.speed.peers import learn_with_peer
from experiments.peers.imputers import impute_forest, impute_knn, impute_mode


@dataclass(frozen=True)
class Task:
    """A sample of a network with some cells hidden."""

    network: Network
    full: IncompleteData
    hidden: object
    seed: int
    cap: float  # seconds for a peer

    @property
    def data(self):
        return self.hidden.data


@dataclass(frozen=True)
class Answer:
    """What a method gave: seconds, or a word instead; share right; distance."""

    seconds: float | str
    cpu: float | None = None  # seconds of all threads together
    accuracy: float | None = None
    distance: int | None = None
    note: str = ""


def judge(task, seconds, cpu=None, *, completed=None, dag=None, note=""):
    right = None if completed is None else task.hidden.accuracy(completed)
    apart = None
    if dag is not None:
        apart = structural_hamming_distance(dag, task.network.dag)
    return Answer(seconds, cpu, right, apart, note)


def timed(work):
    """Seconds by the clock and of the processor, and the result."""
    start = time.perf_counter(), time.process_time()
    result = work()
    now = time.perf_counter(), time.process_time()
    return (now[0] - start[0], now[1] - start[1]), result


def structural_em(task, *, hard=False):
    seconds, found = timed(lambda: learn_em(task.data, hard=hard, seed=task.seed))
    return judge(task, *seconds, completed=found.completed, dag=found.dag)


def hard_em(task):
    return structural_em(task, hard=True)


def true_network(task):
    seconds, found = timed(lambda: explain(task.network, task.data))
    return judge(task, *seconds, completed=found.completed)


def complete_data(task):
    """Greedy search on the table before cells were hidden."""
    seconds, found = timed(
        lambda: learn_structure(task.full, solver="greedy", seed=task.seed)
    )
    return judge(task, *seconds, dag=found.dag)


def imputer(fill):
    def method(task):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seconds, found = timed(lambda: fill(task.data, seed=task.seed))
        except BayesmendError:  # its package is not there
            return Answer("not installed")
        return judge(task, *seconds, completed=found.completed)

    return method


def on_modes(peer):
    """A structure learner of a peer, on the table with modes in its holes."""

    def method(task):
        filled = impute_mode(task.data)
        arcs, seconds = learn_with_peer(peer, filled.completed, task.cap)
        if arcs is None:
            return Answer(seconds)
        return judge(task, seconds, dag=Dag.from_arcs(task.data.names, arcs))

    return method


def pyagrum_em(task, *, again=False):
    filled = impute_mode(task.data).completed
    found = mend_with_pyagrum(task.data, filled, task.cap, again=again)
    if isinstance(found, str):
        return Answer(found)
    codes = filled.codes.copy()
    codes[:] = found["codes"]
    note = f"{found['n_failed']} rows not explained" if found["n_failed"] else ""
    return judge(
        task,
        found["seconds"],
        found["cpu"],
        completed=filled.with_codes(codes),
        dag=Dag.from_arcs(task.data.names, found["arcs"]),
        note=note,
    )


def pyagrum_em_again(task):
    return pyagrum_em(task, again=True)


OURS = "bayesmend EM"
METHODS = {
    OURS: structural_em,
    "bayesmend hard EM": hard_em,
    "true network": true_network,
    "complete data, greedy": complete_data,
    "mode": imputer(impute_mode),
    "kNN": imputer(impute_knn),
    "random forests": imputer(impute_forest),
    "pyAgrum mode + EM": pyagrum_em,
    "pyAgrum mode + EM + tabu": pyagrum_em_again,
    "pyAgrum mode + greedy": on_modes("pyAgrum greedy"),
    "pyAgrum mode + tabu": on_modes("pyAgrum tabu"),
    "pgmpy mode + climb": on_modes("pgmpy hill climb"),
}
