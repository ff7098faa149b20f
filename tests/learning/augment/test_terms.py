"""Searches over completions whose cells have terms, against enumeration."""

from dataclasses import replace

import numpy as np
import pytest
from support import oracle
from support.pairs import pair_score
from support.strategies import holed_table, random_holes
from support.terms import with_terms

from bayesmend import _core
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import Constraints
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.score import Score

KINDS = ["bdeu", "bdeu", "k2", "bic", "aic", "qnml", "loglik"]
SUPPORTS = [0.0, 0.03, 0.1, 1.0]
PRIORS = [None, "fair", "uniform"]
SLOW = pytest.mark.slow


class Instance:
    """A small random problem with terms, perhaps with weights and constraints."""

    def __init__(self, seed, *, is_weighted=False, is_constrained=False, **options):
        self.rows, self.card = random_holes(seed, **options)
        rng = np.random.default_rng([seed, 1])
        self.kind = KINDS[rng.integers(len(KINDS))]
        self.ess = float(rng.choice([0.2, 1.0, 8.0]))
        self.max_parents = int(rng.integers(0, 5))
        self.support = SUPPORTS[seed % len(SUPPORTS)]
        self.prior = PRIORS[seed % len(PRIORS)]
        self.weights = None
        data = holed_table(self.rows, self.card)
        if is_weighted:
            self.weights = rng.integers(1, 4, data.n_rows).tolist()
            data = IncompleteData.from_codes(
                data.codes, names=data.names, states=data.states, weights=self.weights
            )
        self.data = data
        self.forbidden = set()
        if is_constrained:
            arcs = [(p, c) for p in data.names for c in data.names if p != c]
            self.forbidden = {arc for arc in arcs if rng.random() < 0.4}
        self.rule = Score(
            self.kind, ess=self.ess, prior=self.prior, support=self.support
        )
        self.constraints = Constraints(forbidden=sorted(self.forbidden))
        self.plain = PatternProblem.of(
            data,
            score=self.rule,
            max_parents=self.max_parents,
            constraints=self.constraints,
        )
        self.problem, self.terms = with_terms(self.plain, seed)

    def best(self, **options):
        names = self.data.names
        limit = self.max_parents
        return oracle.best_pair(
            self.rows,
            self.card,
            limit,
            self.kind,
            self.ess,
            support=self.support,
            prior=self.prior,
            weights=self.weights,
            terms=self.terms,
            allowed=lambda child, parents: all(
                (names[p], names[child]) not in self.forbidden for p in parents
            ),
            choices=[
                (sum((p, c) not in self.forbidden for p in names if p != c), 0)
                for c in names
            ],
            **options,
        )[0]

    def starts(self):
        return np.zeros((1, self.problem.n_cells), np.uint8)

    def solve(self, max_entries=256, problem=None):
        options = _core.ExactOptions(max_entries=max_entries)
        core = (problem or self.problem).augmenter()
        return core.solve(self.starts(), options, 0.0, None)

    def check(self, answer):
        """The score is that of the pair and of its terms."""
        completed = self.problem.completed(answer.completion)
        dag = self.problem.dag(answer.parents)
        plain = pair_score(self.data, dag, completed, self.rule, self.constraints)
        worth = oracle.worth(completed.codes.tolist(), self.terms, self.weights)
        assert self.problem.worth(answer.completion) == pytest.approx(worth)
        assert answer.score == pytest.approx(plain + worth, abs=1e-8)
        mender = self.problem.dag_mender(dag)
        assert mender.score(answer.completion) == pytest.approx(answer.score, abs=1e-8)


def instances(first, last):
    """Small instances, in turn plain, weighted, constrained and both."""
    for seed in range(first, last):
        yield Instance(
            seed,
            is_weighted=seed % 2 == 1,
            is_constrained=seed % 4 >= 2,
            max_total=14,
        )


@pytest.mark.parametrize(
    "block", [0, 1, *(pytest.param(k, marks=SLOW) for k in range(2, 16))]
)
def test_branch_and_bound_finds_the_optimum_of_enumeration(block):
    for instance in instances(7000 + 50 * block, 7050 + 50 * block):
        best = instance.best()
        for max_entries in (2, 256):
            found = instance.solve(max_entries)
            assert found.bound <= found.score + 1e-6
            assert found.score == pytest.approx(best, abs=1e-6)
            assert found.root_bound >= best - 1e-8
            assert found.priced_root_bound >= best - 1e-8
            instance.check(found)


def test_terms_lead_elsewhere_and_are_branched_on():
    n_elsewhere = n_branched = 0
    for instance in instances(7000, 7120):
        found, plain = instance.solve(), instance.solve(problem=instance.plain)
        n_elsewhere += found.completion.tolist() != plain.completion.tolist()
        n_branched += found.n_nodes > 1
    assert n_elsewhere > 20
    assert n_branched > 10


def test_all_completions_one_by_one_give_the_same_optimum():
    for instance in instances(7100, 7140):
        found = instance.problem.augmenter().enumerate(0.0, 1)
        assert found.is_complete
        assert found.score == pytest.approx(instance.solve().score, abs=1e-6)
        instance.check(found)


@pytest.mark.parametrize("locality", [1, 2])
def test_no_change_of_so_many_cells_is_better_where_that_is_certified(locality):
    n_certified = 0
    for instance in instances(7200, 7225):
        core = instance.problem.augmenter()
        found = core.mend(instance.starts(), locality, 0.0, 1, None)
        instance.check(found)
        n_certified += found.is_certified
        near = [
            instance.problem.completed(changed).codes.tolist()
            for changed in changes_of(instance.problem, found.completion, locality)
        ]
        best = instance.best(completed_tables=near)
        assert found.score == pytest.approx(best, abs=1e-6)
    assert n_certified == 25


def changes_of(problem, completion, most):
    """All completions that differ in at most so many cells, with itself."""
    yield completion
    for cell in range(problem.n_cells) if most else ():
        for state in range(int(problem.data.card[problem.variable[cell]])):
            changed = completion.copy()
            changed[cell] = state
            yield from changes_of(problem, changed, most - 1)


def test_margins_are_what_one_row_loses_in_its_best_other_state():
    n_seen = 0
    for instance in instances(7300, 7330):
        if instance.weights is not None:
            continue  # a row of weight 2 would have to be cut in two
        found = instance.solve()
        problem, dag = instance.problem, instance.problem.dag(found.parents)
        margins = problem.dag_mender(dag).margins(found.completion)
        codes = problem.completed(found.completion).codes
        firsts = np.unique(problem.cell, return_index=True)[1].tolist()
        for c, place in enumerate(firsts):
            u, v = int(problem.rows[place]), int(problem.variables[place])
            losses = []
            for state in range(instance.card[v]):
                other = codes.copy(order="F")
                other[u, v] = state
                table = instance.data.with_codes(other)
                score = pair_score(
                    *(instance.data, dag, table, instance.rule, instance.constraints)
                )
                score += oracle.worth(other.tolist(), instance.terms)
                losses.append(found.score - score)
            own = int(found.completion[c])
            least = min((x for s, x in enumerate(losses) if s != own), default=np.inf)
            assert margins.losses[c] == pytest.approx(least, abs=1e-7)
            n_seen += 1
    assert n_seen > 20


def test_terms_of_nothing_change_no_bit():
    for instance in instances(7400, 7430):
        zero = replace(instance.plain, terms=np.zeros_like(instance.problem.terms))
        one, other = (instance.solve(problem=p) for p in (instance.plain, zero))
        assert one.score == other.score
        assert one.bound == other.bound
        assert one.root_bound == other.root_bound
        assert one.n_nodes == other.n_nodes
        assert one.completion.tolist() == other.completion.tolist()
        assert one.parents == other.parents
