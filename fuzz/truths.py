"""Answers against slow, obvious twins: optima, bounds, certificates, inference, EM."""

import math

import numpy as np
from support import oracle
from support.networks import plain, random_case
from support.strategies import holed_table, random_holes, random_lists, table_of

import bayesmend as bm
from bayesmend.outcome import Certificate

KINDS = ("bdeu", "bdeu", "k2", "bic", "aic", "qnml", "loglik")
TOLERANCE = 1e-6


def prepare() -> None:
    """Nothing is needed."""


def attempt(rng: np.random.Generator) -> str:
    checks = (exact, exact, local, structure, candidates, inference, inference, em)
    check = checks[rng.integers(len(checks))]
    check(rng)
    return check.__name__


class Pairs:
    """A small incomplete table, its rule, and the best of all pairs by enumeration."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rows, self.card = random_holes(
            int(rng.integers(2**31)), max_vars=4, max_holes=4
        )
        self.kind = KINDS[rng.integers(len(KINDS))]
        self.ess = float(rng.choice([0.1, 1.0, 5.0]))
        self.support = float(rng.choice([0.0, 0.1, 1.0]))
        self.max_parents = int(rng.integers(0, 4))
        self.options = {
            "score": bm.Score(self.kind, ess=self.ess, support=self.support),
            "max_parents": self.max_parents,
            "seed": int(rng.integers(100)),
            "n_threads": int(rng.integers(1, 4)),
        }
        self.data = holed_table(self.rows, self.card)

    def best(self, completed_tables=None) -> float:
        score, _, _ = oracle.best_pair(
            self.rows,
            self.card,
            self.max_parents,
            self.kind,
            self.ess,
            support=self.support,
            completed_tables=completed_tables,
        )
        return score

    def score_of(self, result: bm.LearnResult) -> float:
        """What the structure and completion of an answer score in truth."""
        completed = result.completed.codes.tolist()
        return sum(
            oracle.supported_score(
                self.rows, completed, self.card, child, parents, self.kind, self.ess,
                None, 0.0, self.support,
            )
            for child, parents in enumerate(result.dag.parents)
        )  # fmt: skip


def exact(rng: np.random.Generator) -> None:
    """A proof is right, and a bound of a search cut short is one."""
    pairs = Pairs(rng)
    best = pairs.best()
    limits = [{}, {}, {"node_limit": int(rng.integers(1, 6))}, {"time_limit": 1e-3}]
    result = bm.learn_exact(pairs.data, **pairs.options, **limits[rng.integers(4)])
    _close(result.score, pairs.score_of(result))
    assert result.score <= best + TOLERANCE, (result.score, best)
    assert result.bound >= best - TOLERANCE, (result.bound, best)
    if result.is_optimal:
        _close(result.score, best)
    _keeps_what_is_observed(pairs, result)


def local(rng: np.random.Generator) -> None:
    """No change of up to t cells, with any structure, beats a certified answer."""
    pairs = Pairs(rng)
    t = int(rng.integers(1, 3))
    result = bm.learn_local(pairs.data, locality=t, restarts=2, **pairs.options)
    _close(result.score, pairs.score_of(result))
    _keeps_what_is_observed(pairs, result)
    if result.certificate is Certificate.LOCAL:
        base = result.completed.codes.tolist()
        near = oracle.completions_within(pairs.rows, pairs.card, base, t)
        assert pairs.best(near) <= result.score + TOLERANCE


def _keeps_what_is_observed(pairs: Pairs, result: bm.LearnResult) -> None:
    for before, after in zip(pairs.rows, result.completed.codes.tolist(), strict=True):
        assert all(b is None or b == a for b, a in zip(before, after, strict=True))


def structure(rng: np.random.Generator) -> None:
    """Exact solvers find the best of all DAGs, and others no better one."""
    n_vars = int(rng.integers(1, 6))
    lists = [[(-1.0, ())]]
    if n_vars > 1:
        n_sets, seed = int(rng.integers(1, 6)), int(rng.integers(2**31))
        lists = random_lists(n_vars, n_sets, 3, seed)
    best = oracle.best_total(lists)
    sets = bm.structure.ParentSets.from_lists([f"v{k}" for k in range(n_vars)], lists)
    solver = str(rng.choice(["subsets", "ilp", "order"]))
    found = bm.structure.solve(sets, solver=solver, seed=1, n_threads=2)
    assert found.score <= best + TOLERANCE
    assert found.bound >= best - TOLERANCE
    if found.is_optimal:
        _close(found.score, best)
    assert solver == "order" or found.is_optimal


def candidates(rng: np.random.Generator) -> None:
    """The best DAG for a complete table, over all of them."""
    n_vars, n_rows = int(rng.integers(1, 5)), int(rng.integers(1, 30))
    card = rng.integers(1, 4, n_vars).tolist()
    rows = np.stack([rng.integers(0, c, n_rows) for c in card], axis=1).tolist()
    kind, limit = KINDS[rng.integers(len(KINDS))], int(rng.integers(0, 4))
    found = bm.learn_structure(
        table_of(rows, card),
        score=kind,
        max_parents=limit,
        solver="subsets",
    )

    def family(child, parents):
        return oracle.family_score(rows, card, child, tuple(sorted(parents)), kind)

    _close(found.score, oracle.best_dag_score(n_vars, family, limit))


def inference(rng: np.random.Generator) -> None:
    """Evidence, posteriors and most probable states are those of the joint table."""
    case = random_case(int(rng.integers(2**31)))
    truth = [oracle.evidence_probability(*case.plain, row) for row in case.rows]
    found = np.exp(bm.log_evidence(case.network, case.data))
    np.testing.assert_allclose(found, truth, rtol=1e-9, atol=1e-300)
    marginals = bm.marginals(case.network, case.data)
    for v, name in enumerate(case.network.names):
        rows, probabilities = marginals.of(name)
        for row, given in zip(rows.tolist(), probabilities, strict=True):
            expected = oracle.hole_posterior(*case.plain, case.rows[row], v)
            np.testing.assert_allclose(given, expected, atol=1e-9)
    best = bm.most_probable(case.network, case.data)
    for row, log_probability in zip(case.rows, best.log_probability, strict=True):
        _, probability = oracle.best_completion(*case.plain, row)
        np.testing.assert_allclose(math.exp(log_probability), probability, rtol=1e-9)


def em(rng: np.random.Generator) -> None:
    """Parameters reach what the slow twin reaches, and no step loses likelihood."""
    case = random_case(int(rng.integers(2**31)), max_vars=3, max_rows=6, max_joint=60)
    ess = float(rng.choice([0.5, 1.0, 4.0]))
    fitted = bm.fit_parameters(
        case.network.dag, case.data, start=case.network, estimate="posterior",
        ess=ess, max_iter=int(rng.integers(1, 30)),
    )  # fmt: skip
    assert (np.diff(fitted.objective) >= -1e-7).all()
    parents, card, cpts = plain(fitted.network)
    truth = oracle.observed_log_likelihood(parents, card, cpts, case.rows, case.mass)
    _close(fitted.log_likelihood[-1], truth)


def _close(found: float, truth: float) -> None:
    assert abs(found - truth) <= TOLERANCE * max(1.0, abs(truth)), (found, truth)
