"""pyAgrum on a table with holes, in a process of its own with a time cap.

Its structure learners take complete tables only, its parameter learner takes holes. So:
holes filled with modes, a structure by tabu search (BDeu, at most three parents), its
parameters by pyAgrum's EM on the table with holes (BDeu prior of one row), the most
probable explanation of every row. With ``again``, a structure once more, from the table
completed in this way. Seconds are those of all these steps, from a data frame of
categories on; importing the package is left out.

``python -m benchmarks.em.peers table.npz`` prints the answer as JSON.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.speed.peers import ROOT, frame_of, pyagrum_dag

MISSING, HOLE = 255, "?"
EPSILON = 1e-4  # relative gain of the log-likelihood that ends its EM


def mend_with_pyagrum(data, completed, seconds, *, again=False):
    """Its answer as a dictionary; a word in place of it when there is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.npz")
        np.savez(
            path,
            codes=data.codes,
            completed=completed.codes,
            names=np.array(data.names),
            card=data.card,
            again=again,
        )
        command = [sys.executable, "-m", "benchmarks.em.peers", str(path)]
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


def holed_frame(codes, names):
    import pandas as pd

    columns = {
        str(name): [HOLE if c == MISSING else str(c) for c in codes[:, v].tolist()]
        for v, name in enumerate(names)
    }
    return pd.DataFrame(columns)


def fit_by_em(pyagrum, frame, names, card, arcs):
    """A network with the structure given and parameters by pyAgrum's EM."""
    network = pyagrum.BayesNet()
    for name, r in zip(names, card, strict=True):
        network.add(pyagrum.LabelizedVariable(name, name, [str(s) for s in range(r)]))
    for parent, child in arcs:
        network.addArc(parent, child)
    learner = pyagrum.BNLearner(frame, network, [HOLE])
    learner.useEM(EPSILON)
    learner.useBDeuPrior(1.0)
    return learner.learnParameters(network.dag())


def explain_rows(pyagrum, network, codes, completed, names):
    """The completed codes, and rows that it could not explain: these keep modes."""
    engine = pyagrum.LazyPropagation(network)
    result, n_failed = completed.copy(), 0
    for row in np.flatnonzero((codes == MISSING).any(axis=1)).tolist():
        seen = {n: int(c) for n, c in zip(names, codes[row], strict=True) if c != 255}
        engine.setEvidence(seen)
        try:
            found = engine.mpe()
        except pyagrum.GumException:  # "Empty tensor", for some evidence, in 3.3
            n_failed += 1
            continue
        for v in np.flatnonzero(codes[row] == MISSING).tolist():
            result[row, v] = found[names[v]]
    return result, n_failed


def mend(pyagrum, table):
    names, card = [str(n) for n in table["names"]], table["card"].tolist()
    codes, completed = table["codes"], table["completed"]
    method = "useLocalSearchWithTabuList"
    frames = frame_of(completed, names, card), holed_frame(codes, names)
    start, start_cpu = time.perf_counter(), time.process_time()
    arcs = pyagrum_dag(frames[0], method)()
    network = fit_by_em(pyagrum, frames[1], names, card, arcs)
    filled, n_failed = explain_rows(pyagrum, network, codes, completed, names)
    if table["again"]:
        arcs = pyagrum_dag(frame_of(filled, names, card), method)()
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - start_cpu,
        "arcs": [list(arc) for arc in arcs],
        "codes": filled.tolist(),
        "n_failed": n_failed,
    }


def serve(path):
    warnings.simplefilter("ignore")
    try:
        import pandas  # noqa: F401
        import pyagrum
    except ImportError:
        sys.exit(3)
    answer = mend(pyagrum, np.load(path))
    print()
    print(json.dumps(answer))


if __name__ == "__main__":
    serve(sys.argv[1])
