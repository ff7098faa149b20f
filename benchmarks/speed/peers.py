"""Structure learners of other packages, each in a process of its own with a time cap.

``python -m benchmarks.speed.peers NAME table.npz`` learns from the table and prints the
seconds and the arcs as JSON. Seconds are those of learning from a data frame of
categories (an array of codes for causal-learn); importing the package is left out.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
MAX_PARENTS = 3


def learn_with_peer(name, data, seconds):
    """Arcs and seconds of a peer; a word instead of seconds when it gave no answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.npz")
        np.savez(path, codes=data.codes, names=np.array(data.names), card=data.card)
        command = [sys.executable, "-m", "benchmarks.speed.peers", name, str(path)]
        try:
            done = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return None, f"> {seconds:.0f} s"
    if done.returncode == 3:
        return None, "not installed"
    if done.returncode != 0:
        print(done.stderr.strip().splitlines()[-1:], file=sys.stderr)
        return None, "failed"
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["arcs"], answer["seconds"]


def frame_of(codes, names, card):
    import pandas as pd

    columns = {
        str(name): pd.Categorical.from_codes(codes[:, v], [str(s) for s in range(r)])
        for v, (name, r) in enumerate(zip(names, card, strict=True))
    }
    return pd.DataFrame(columns)


def pyagrum_dag(frame, method):
    import pyagrum

    def learn():
        learner = pyagrum.BNLearner(frame)
        learner.useScoreBDeu()
        learner.setMaxIndegree(MAX_PARENTS)
        getattr(learner, method)()
        dag, names = learner.learnDAG(), learner.names()
        return [(names[a], names[b]) for a, b in dag.arcs()]

    return learn


def pgmpy_dag(frame):
    from pgmpy.estimators import BDeu, HillClimbSearch

    def learn():
        score = BDeu(frame, equivalent_sample_size=1)
        search = HillClimbSearch(frame)
        found = search.estimate(
            scoring_method=score, max_indegree=MAX_PARENTS, show_progress=False
        )
        return list(found.edges())

    return learn


def causallearn_ges(codes, names):
    from causallearn.search.ScoreBased.GES import ges

    def learn():
        rule = {"sample_prior": 1, "structure_prior": 1}
        ges(codes.astype(float), "local_score_BDeu", maxP=MAX_PARENTS, parameters=rule)
        return []  # a class of graphs, not scored here

    return learn


def causallearn_exact(codes, method):
    from causallearn.search.ScoreBased.ExactSearch import bic_exact_search

    # Its score is that of linear Gaussian models, so only its time can be compared.
    def learn():
        bic_exact_search(
            codes.astype(float), search_method=method, max_parents=MAX_PARENTS
        )
        return []

    return learn


def prepare(name, codes, names, card):
    if name == "pyAgrum greedy":
        return pyagrum_dag(frame_of(codes, names, card), "useGreedyHillClimbing")
    if name == "pyAgrum tabu":
        return pyagrum_dag(frame_of(codes, names, card), "useLocalSearchWithTabuList")
    if name == "pgmpy hill climb":
        return pgmpy_dag(frame_of(codes, names, card))
    if name == "causal-learn GES":
        return causallearn_ges(codes, names)
    if name == "causal-learn A*":
        return causallearn_exact(codes, "astar")
    return causallearn_exact(codes, "dp")


def serve(name, path):
    warnings.simplefilter("ignore")
    table = np.load(path)
    try:
        learn = prepare(name, table["codes"], table["names"], table["card"])
    except ImportError:
        sys.exit(3)
    start = time.perf_counter()
    arcs = learn()
    seconds = time.perf_counter() - start
    print()
    print(json.dumps({"seconds": seconds, "arcs": [list(map(str, a)) for a in arcs]}))


if __name__ == "__main__":
    serve(*sys.argv[1:])
