"""Learners of other packages, each in a process of its own with a time cap.

``python -m benchmarks.peers NAME table.npz`` learns from the table and prints seconds
and arcs as JSON. Seconds are those of learning from a data frame of categories (an
array of codes for causal-learn); importing the package is left out.

pyAgrum's structure learners take complete tables only, its parameter learner also takes
incomplete ones. So ``pyAgrum EM`` is: modes filled in, a structure by tabu search
(BDeu, at most three parents), its parameters by pyAgrum's EM on the incomplete table
(BDeu prior of one row), the most probable completion of every row. ``pyAgrum EM +
tabu`` learns a structure once more, from the table completed in this way.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.inputs import ROOT, frame_of

MAX_PARENTS = 3
MISSING, MARK = 255, "?"
EPSILON = 1e-4  # relative gain of the log-likelihood that ends pyAgrum's EM
GREEDY, TABU = "useGreedyHillClimbing", "useLocalSearchWithTabuList"


def ask_peer(name, data, seconds, incomplete=None):
    """A peer's answer as a dictionary; a word instead of it when there is none.

    `data` is complete; `incomplete` is the table before, for pyAgrum's EM.
    """
    arrays = {"codes": data.codes, "names": np.array(data.names), "card": data.card}
    if incomplete is not None:
        arrays["incomplete"] = incomplete.codes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.npz")
        np.savez(path, **arrays)
        command = [sys.executable, "-m", "benchmarks.peers", name, str(path)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return f"> {seconds:.0f} s"
    if done.returncode == 3:
        return "not installed"
    if done.returncode != 0:
        print(*done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return "failed"
    return json.loads(done.stdout.splitlines()[-1])


def coded_frame(codes, names, card):
    return frame_of(codes, names, [[str(s) for s in range(r)] for r in card])


def pyagrum_arcs(frame, method):
    import pyagrum

    learner = pyagrum.BNLearner(frame)
    learner.useScoreBDeu()
    learner.setMaxIndegree(MAX_PARENTS)
    getattr(learner, method)()
    dag, names = learner.learnDAG(), learner.names()
    return [(names[a], names[b]) for a, b in dag.arcs()]


def pyagrum_structure(method):
    def prepare(table, names, card):
        import pyagrum  # noqa: F401

        frame = coded_frame(table["codes"], names, card)
        return lambda: {"arcs": pyagrum_arcs(frame, method)}

    return prepare


def pgmpy_structure(table, names, card):
    from pgmpy.estimators import BDeu, HillClimbSearch

    frame = coded_frame(table["codes"], names, card)

    def learn():
        found = HillClimbSearch(frame).estimate(
            scoring_method=BDeu(frame, equivalent_sample_size=1),
            max_indegree=MAX_PARENTS,
            show_progress=False,
        )
        return {"arcs": list(found.edges())}

    return learn


def causallearn_exact(method):
    def prepare(table, names, card):
        from causallearn.search.ScoreBased.ExactSearch import bic_exact_search

        codes = table["codes"].astype(float)

        # Its score is that of linear Gaussian models, so only its time can be compared.
        def learn():
            bic_exact_search(codes, search_method=method, max_parents=MAX_PARENTS)
            return {"arcs": []}

        return learn

    return prepare


def marked_frame(codes, names):
    import pandas as pd

    columns = {
        name: [MARK if c == MISSING else str(c) for c in codes[:, v].tolist()]
        for v, name in enumerate(names)
    }
    return pd.DataFrame(columns)


def fit_by_em(frame, names, card, arcs):
    """A network with the structure given and parameters by pyAgrum's EM."""
    import pyagrum

    network = pyagrum.BayesNet()
    for name, r in zip(names, card, strict=True):
        network.add(pyagrum.LabelizedVariable(name, name, [str(s) for s in range(r)]))
    for parent, child in arcs:
        network.addArc(parent, child)
    learner = pyagrum.BNLearner(frame, network, [MARK])
    learner.useEM(EPSILON)
    learner.useBDeuPrior(1.0)
    return learner.learnParameters(network.dag())


def explain_rows(network, incomplete, completed, names):
    """The completed codes, and rows that it could not explain: these keep modes."""
    import pyagrum

    engine = pyagrum.LazyPropagation(network)
    result, n_failed = completed.copy(), 0
    for row in np.flatnonzero((incomplete == MISSING).any(axis=1)).tolist():
        cells = zip(names, incomplete[row], strict=True)
        engine.setEvidence({n: int(c) for n, c in cells if c != MISSING})
        try:
            found = engine.mpe()
        except pyagrum.GumException:  # "Empty tensor", for some evidence, in 3.3
            n_failed += 1
            continue
        for v in np.flatnonzero(incomplete[row] == MISSING).tolist():
            result[row, v] = found[names[v]]
    return result, n_failed


def pyagrum_em(*, again):
    def prepare(table, names, card):
        import pyagrum  # noqa: F401

        completed, incomplete = table["codes"], table["incomplete"]
        frame, marked = (
            coded_frame(completed, names, card),
            marked_frame(incomplete, names),
        )

        def learn():
            arcs = pyagrum_arcs(frame, TABU)
            network = fit_by_em(marked, names, card, arcs)
            filled, n_failed = explain_rows(network, incomplete, completed, names)
            if again:
                arcs = pyagrum_arcs(coded_frame(filled, names, card), TABU)
            return {"arcs": arcs, "codes": filled.tolist(), "n_failed": n_failed}

        return learn

    return prepare


PEERS = {
    "pyAgrum greedy": pyagrum_structure(GREEDY),
    "pyAgrum tabu": pyagrum_structure(TABU),
    "pgmpy hill climb": pgmpy_structure,
    "causal-learn A*": causallearn_exact("astar"),
    "causal-learn dynamic programming": causallearn_exact("dp"),
    "pyAgrum EM": pyagrum_em(again=False),
    "pyAgrum EM + tabu": pyagrum_em(again=True),
}


def serve(name, path):
    warnings.simplefilter("ignore")
    table = np.load(path)
    names, card = [str(n) for n in table["names"]], table["card"].tolist()
    try:
        learn = PEERS[name](table, names, card)
    except ImportError:
        sys.exit(3)
    start, start_cpu = time.perf_counter(), time.process_time()
    answer = learn()
    answer["seconds"] = time.perf_counter() - start
    answer["cpu_seconds"] = time.process_time() - start_cpu
    print()
    print(json.dumps(answer))


if __name__ == "__main__":
    serve(*sys.argv[1:])
