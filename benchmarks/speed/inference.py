"""Inference: 10,000 rows of ALARM, 10 % of the cells hidden, against pyAgrum and pgmpy.

Most probable completions and marginals of every missing cell, each package through its
public interface, one network object for all rows. Ours answers the whole table,
explanations with a confidence per cell. Peers answer as many of the first rows as a
time cap allows; their seconds for all rows are extrapolated from these, which is said.
Answers are compared on these rows: explanations by the probability of the completed row
(ties may differ in their states), marginals number by number.
"""

import time
import warnings

import numpy as np

import bayesmend as bm
from bayesmend.data.states import MISSING
from bayesmend.formats import convert
from benchmarks.inputs import load_network
from benchmarks.table import print_table
from benchmarks.timing import best_time

N_ROWS, RATE = 10_000, 0.1
CAP = 20.0  # seconds per peer and task


class PyAgrum:
    name = "pyAgrum"

    def __init__(self, network):
        import pyagrum

        self._failures = pyagrum.GumException
        self._engine = pyagrum.LazyPropagation(convert.to_pyagrum(network))

    def explain(self, evidence, missing):
        self._engine.setEvidence(evidence)
        try:
            found = self._engine.mpe()
        except self._failures:  # "Empty tensor", for some evidence, in 3.3
            return None
        return {name: found[name] for name in missing}

    def marginals(self, evidence, missing):
        self._engine.setEvidence(evidence)
        self._engine.setTargets(set(missing))
        self._engine.makeInference()
        return [self._engine.posterior(name).toarray() for name in missing]


class Pgmpy:
    name = "pgmpy"

    def __init__(self, network):
        from pgmpy.inference import VariableElimination

        self._states = dict(zip(network.names, network.states, strict=True))
        self._engine = VariableElimination(convert.to_pgmpy(network))

    def _labels(self, evidence):
        return {name: self._states[name][code] for name, code in evidence.items()}

    def explain(self, evidence, missing):
        given = self._labels(evidence)
        found = self._engine.map_query(missing, given, show_progress=False)
        return {name: self._states[name].index(found[name]) for name in missing}

    def marginals(self, evidence, missing):
        given = self._labels(evidence)
        found = self._engine.query(missing, given, joint=False, show_progress=False)
        return [
            [found[name].get_value(**{name: label}) for label in self._states[name]]
            for name in missing
        ]


def rows_of(data):
    """Evidence as codes by name, and the names of what is missing, row by row."""
    for row in data.codes.tolist():
        cells = dict(zip(data.names, row, strict=True))
        missing = [name for name, code in cells.items() if code == MISSING]
        yield {n: c for n, c in cells.items() if c != MISSING}, missing


def run_capped(answer, questions):
    """Answers to as many questions as the cap allows, and the seconds they took."""
    answers, start = [], time.perf_counter()
    for evidence, missing in questions:
        answers.append(answer(evidence, missing) if missing else {})
        if time.perf_counter() - start > CAP:
            break
    return answers, time.perf_counter() - start


def completed(data, answers):
    codes = data.codes[: len(answers)].copy()
    for row, answer in enumerate(answers):
        for name, code in answer.items():
            codes[row, data.index(name)] = code
    return bm.IncompleteData.from_codes(codes, names=data.names, states=data.states)


def compare_explanations(network, data, answers, ours):
    """Rows in which a peer's completion is less and more probable, or not there."""
    full = [answer or {} for answer in answers]
    answered = np.array([answer is not None for answer in answers])
    filled = completed(data, full)
    best = ours.completed.codes[: len(answers)]
    codes = np.where(answered[:, None], filled.codes, best)
    theirs = network.log_likelihood(filled.with_codes(codes))
    apart = theirs - ours.log_probability[: len(answers)]
    return (
        f"{(apart < -1e-9).sum()} worse, {(apart > 1e-9).sum()} better, "
        f"{(~answered).sum()} failed"
    )


def compare_marginals(network, data, answers, ours):
    """Largest difference of a probability."""
    place = {
        (int(row), name): p
        for name in network.names
        for row, p in zip(*ours.of(name), strict=True)
    }
    largest = 0.0
    for row, ((_, missing), answer) in enumerate(
        zip(rows_of(data), answers, strict=False)
    ):
        for name, p in zip(missing, answer, strict=True):
            largest = max(
                largest, float(np.abs(place[row, name] - np.asarray(p)).max())
            )
    return f"{largest:.1e} apart"


def main():
    network = load_network("alarm")
    data = bm.hide_mcar(network.sample(N_ROWS, seed=1), RATE, seed=1).data
    print(f"{data}, ALARM; peers stop after {CAP:.0f} s and are extrapolated")
    tasks = {
        "explain": (lambda: bm.most_probable(network, data), compare_explanations),
        "marginals": (lambda: bm.marginals(network, data), compare_marginals),
    }
    rows = []
    for task, (work, compare) in tasks.items():
        ours_seconds, ours = best_time(work, 5)
        rows.append((task, "bayesmend", N_ROWS, ours_seconds, ours_seconds, "", ""))
        for peer in (PyAgrum, Pgmpy):
            try:
                answer = getattr(peer(network), task)
            except ImportError:
                rows.append((task, peer.name, 0, "not installed", "", "", ""))
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                answers, seconds = run_capped(answer, rows_of(data))
            whole = seconds * N_ROWS / len(answers)
            ratio = f"{whole / ours_seconds:,.0f}x"
            verdict = compare(network, data, answers, ours)
            rows.append((task, peer.name, len(answers), seconds, whole, ratio, verdict))
    print_table(
        ("task", "by", "rows", "seconds", "10,000 rows", "ours faster by", "answers"),
        rows,
    )


if __name__ == "__main__":
    main()
