"""Small random problems of augmentation and their optima by enumeration."""

import numpy as np
import pytest
from support import oracle
from support.pairs import pair_score
from support.strategies import holed_table, random_holes

from bayesmend import IncompleteData, learn_exact
from bayesmend.graph.constraints import Constraints
from bayesmend.score import Score

KINDS = ["bdeu", "bdeu", "bdeu", "k2", "bic", "aic", "qnml", "loglik"]
SUPPORTS = [0.0, 0.03, 0.1, 1.0]
PRIORS = [None, "fair", "uniform"]
TOLERANCE = 1e-6


class Instance:
    """A small random problem, its rule and its optimum by enumeration."""

    def __init__(self, seed, **options):
        self.rows, self.card = random_holes(seed, **options)
        self.rng = np.random.default_rng([seed, 1])
        self.kind = KINDS[self.rng.integers(len(KINDS))]
        self.ess = float(self.rng.choice([0.1, 0.5, 1.0, 4.0, 20.0]))
        self.penalty = float(self.rng.choice([0.0, 0.0, 0.0, 0.3]))
        self.max_parents = int(self.rng.integers(0, 5))
        self.support = SUPPORTS[seed % len(SUPPORTS)]
        self.prior = PRIORS[seed % len(PRIORS)]
        self.rule = Score(
            self.kind,
            ess=self.ess,
            prior=self.prior,
            arc_penalty=self.penalty,
            support=self.support,
        )
        self.data = holed_table(self.rows, self.card)

    def best(self, **options):
        score, _, _ = oracle.best_pair(
            self.rows,
            self.card,
            self.max_parents,
            self.kind,
            self.ess,
            penalty=self.penalty,
            support=self.support,
            prior=self.prior,
            **options,
        )
        return score

    def learn(self, **options):
        # Few starts, so that the branch and bound has something left to find.
        defaults = {"restarts": 0, "seed": 0, "n_threads": 1}
        return learn_exact(
            self.data,
            score=self.rule,
            max_parents=self.max_parents,
            **{**defaults, **options},
        )

    def check_pair(self, result, constraints=None):
        """What every answer keeps, however early it was stopped."""
        seen = ~self.data.missing_mask
        completed = result.completed
        assert completed.is_complete
        assert (completed.codes[seen] == self.data.codes[seen]).all()
        again = pair_score(self.data, result.dag, completed, self.rule, constraints)
        assert result.score == pytest.approx(again, abs=1e-8)
        assert max(map(len, result.dag.parents)) <= self.max_parents
        assert result.bound >= result.score


def check_optimal(instance, result, best, constraints=None):
    assert result.status == "optimal"
    assert result.score == pytest.approx(best, abs=TOLERANCE)
    assert result.detail["root_bound"] >= best - 1e-8
    assert result.detail["priced_root_bound"] >= best - 1e-8
    instance.check_pair(result, constraints)


def random_constraints(names, rng):
    n = len(names)
    order = [names[v] for v in rng.permutation(n)]
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    required = [pairs[rng.integers(len(pairs))]] if rng.random() < 0.5 else []
    forbidden = [
        (a, b)
        for a in names
        for b in names
        if a != b and (a, b) not in required and rng.random() < 0.2
    ]
    tiers = [order[: n // 2], order[n // 2 :]] if rng.random() < 0.4 else []
    limit = {order[-1]: 1} if rng.random() < 0.5 else {}
    return Constraints(
        required=required, forbidden=forbidden, tiers=tiers, max_parents=limit
    )


def check_constrained(instance):
    """Check that random constraints hold and that nothing allowed scores more."""
    instance.max_parents = max(1, instance.max_parents)
    constraints = random_constraints(instance.data.names, instance.rng)
    rules = constraints.rules(instance.data.names, max_parents=instance.max_parents)

    def allowed(child, parents, rules=rules):
        must = set(np.flatnonzero(rules.required[child]).tolist())
        may = set(np.flatnonzero(rules.allowed[child]).tolist())
        return must <= set(parents) <= may and len(parents) <= rules.limit[child]

    result = instance.learn(constraints=constraints)
    best = instance.best(allowed=allowed, choices=rules.choices.tolist())
    check_optimal(instance, result, best, constraints)
    assert rules.holds(result.dag)


def wide(n_vars=24, n_rows=120, n_holes=30, seed=0):
    """Variables that copy earlier ones with noise, and cells hidden at random."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((n_rows, n_vars), np.uint8)
    for v in range(n_vars):
        noise = rng.integers(0, 2, n_rows)
        copied = codes[:, rng.integers(v)] if v else noise
        codes[:, v] = np.where(rng.random(n_rows) < 0.25, noise, copied)
    holes = rng.choice(codes.size, n_holes, replace=False)
    codes.flat[holes] = 255
    return IncompleteData.from_codes(
        codes,
        names=[f"v{v}" for v in range(n_vars)],
        states=[("no", "yes")] * n_vars,
    )


def check_pair(data, result, constraints=None):
    seen = ~data.missing_mask
    assert (result.completed.codes[seen] == data.codes[seen]).all()
    rule = Score("bdeu")
    again = pair_score(data, result.dag, result.completed, rule, constraints)
    assert result.score == pytest.approx(again, abs=1e-6)
    assert result.bound >= result.score
