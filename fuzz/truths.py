"""Answers against slow, obvious twins: optima, bounds, certificates, inference, EM."""

import math
from collections.abc import Collection

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
    checks = (
        *(exact, exact, local, reduction, structure, candidates),
        *(posterior, inference, inference, em),
    )
    check = checks[rng.integers(len(checks))]
    check(rng)
    return check.__name__


class Rules:
    """Arcs that must be or must not be, or none, and what is left to choose from."""

    def __init__(self, rng: np.random.Generator, n_vars: int, max_parents: int) -> None:
        arcs = [(a, b) for a in range(n_vars) for b in range(n_vars) if a != b]
        is_free = rng.random() < 0.5
        # One arc closes no cycle; with more parents than allowed it would be refused.
        n_required = int(not is_free and arcs != [] and max_parents > 0)
        shuffled = rng.permutation(len(arcs)).tolist()
        self.must = {arcs[k] for k in shuffled[:n_required]}
        self.must_not = {
            arcs[k] for k in shuffled[n_required:] if not is_free and rng.random() < 0.2
        }
        self.constraints = bm.Constraints(
            required=[(f"v{a}", f"v{b}") for a, b in sorted(self.must)],
            forbidden=[(f"v{a}", f"v{b}") for a, b in sorted(self.must_not)],
        )
        self.choices = []
        for child in range(n_vars):
            n_must = sum(b == child for _, b in self.must)
            n_must_not = sum(b == child for _, b in self.must_not)
            self.choices.append((n_vars - 1 - n_must - n_must_not, n_must))

    def allow(self, child: int, parents: Collection[int]) -> bool:
        return all(a in parents for a, b in self.must if b == child) and not any(
            (a, child) in self.must_not for a in parents
        )


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
        self.prior = str(rng.choice(["fair", "uniform"]))
        self.rules = Rules(rng, len(self.card), self.max_parents)
        self.score = bm.Score(
            self.kind, ess=self.ess, prior=self.prior, support=self.support
        )
        self.options = {
            "score": self.score,
            "constraints": self.rules.constraints,
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
            prior=self.prior,
            allowed=self.rules.allow,
            choices=self.rules.choices,
            completed_tables=completed_tables,
        )
        return score

    def score_of(self, result: bm.LearnResult) -> float:
        """What the structure and completion of an answer score in truth."""
        completed = result.completed.codes.tolist()
        return sum(
            oracle.supported_score(
                self.rows, completed, self.card, child, parents, self.kind, self.ess,
                None, 0.0, self.support, self.prior, self.rules.choices[child],
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


def reduction(rng: np.random.Generator) -> None:
    """The best structure of the transformed problem is the best pair."""
    pairs = Pairs(rng)
    made = bm.learning.reduce_to_complete(
        pairs.data,
        score=pairs.score,
        constraints=pairs.rules.constraints,
        max_parents=pairs.max_parents,
    )
    if made.parent_sets.n_vars > 14:  # minutes, not seconds
        return
    result = bm.learning.solve_reduction(made, solver="subsets")
    assert result.is_optimal
    _close(result.score, pairs.best())


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
    kinds = (*KINDS, "bds")
    kind, limit = kinds[rng.integers(len(kinds))], int(rng.integers(0, 4))
    prior, rules = str(rng.choice(["fair", "uniform"])), Rules(rng, n_vars, limit)
    found = bm.learn_structure(
        table_of(rows, card),
        score=kind,
        prior=prior,
        constraints=rules.constraints,
        max_parents=limit,
        solver="subsets",
    )

    def family(child, parents):
        if not rules.allow(child, parents):
            return -math.inf
        return oracle.family_score(
            rows, card, child, tuple(sorted(parents)), kind,
            prior=prior, choices=rules.choices[child],
        )  # fmt: skip

    _close(found.score, oracle.best_dag_score(n_vars, family, limit))


def posterior(rng: np.random.Generator) -> None:
    """The sum over all DAGs is that of their list."""
    n_vars, n_rows = int(rng.integers(1, 5)), int(rng.integers(1, 30))
    card = rng.integers(1, 4, n_vars).tolist()
    rows = np.stack([rng.integers(0, c, n_rows) for c in card], axis=1).tolist()
    limit, prior = int(rng.integers(0, 4)), str(rng.choice(["fair", "uniform"]))
    found = bm.structure.structure_posterior(
        table_of(rows, card), prior=prior, max_parents=limit, n_dags=1, seed=1
    )

    def family(child, parents):
        return oracle.family_score(rows, card, child, parents, "bdeu", prior=prior)

    _, shares = oracle.dag_posterior(n_vars, family, limit)
    arcs, paths = oracle.arc_probabilities(n_vars, shares)
    np.testing.assert_allclose(found.arcs, arcs, atol=1e-9)
    np.testing.assert_allclose(found.paths, paths, atol=1e-9)


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
