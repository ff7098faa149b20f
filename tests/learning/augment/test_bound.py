"""Bounds of single families and of their relaxation, against enumeration."""

import itertools

import numpy as np
import pytest
from support import oracle
from support.strategies import holed_table, random_holes
from support.terms import with_terms

from bayesmend.graph import Constraints
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.score import Score

FREE = 255
KINDS = ["bdeu", "bdeu", "k2", "bic", "aic", "qnml", "loglik"]
SUPPORTS = [0.0, 0.03, 0.1, 1.0]
PRIORS = [None, "fair", "uniform"]
TOLERANCE = 1e-8


class Instance:
    """A random problem, the core's view of it, random prices and decided cells."""

    def __init__(self, seed, *, has_terms=False, holes=random_holes):
        self.rows, self.card = holes(seed)
        rng = np.random.default_rng([seed, 1])
        self.kind = KINDS[rng.integers(len(KINDS))]
        self.ess = float(rng.choice([0.2, 1.0, 8.0]))
        self.max_parents = int(rng.integers(0, 5))
        self.support = SUPPORTS[seed % len(SUPPORTS)]
        self.prior = PRIORS[seed % len(PRIORS)]
        self.problem = PatternProblem.of(
            holed_table(self.rows, self.card),
            score=Score(
                self.kind, ess=self.ess, prior=self.prior, support=self.support
            ),
            max_parents=self.max_parents,
            constraints=Constraints(),
        )
        self.terms = {}
        if has_terms:
            self.problem, self.terms = with_terms(self.problem, seed)
        self.core = self.problem.augmenter()
        n_cells = self.problem.n_cells
        self.cells = [self.card[v] for v in self.problem.variable]
        self.fixed = np.full(n_cells, FREE, np.uint8)
        for c in np.flatnonzero(rng.random(n_cells) < rng.choice([0.0, 0.3])).tolist():
            self.fixed[c] = rng.integers(self.cells[c])
        prices = rng.exponential(
            1.0, (len(self.card), n_cells, max(self.cells, default=1))
        ) * (rng.random((len(self.card), n_cells, 1)) < 0.6)
        self.prices = np.round(prices * 2**20) / 2**20  # where the core puts them
        self.rng = rng

    @property
    def no_prices(self):
        return np.zeros_like(self.prices)

    def bound(self, family, max_entries, prices):
        return self.core.family_bound(family, self.fixed, prices, max_entries)

    def family(self, number):
        found = self.core.family(number)
        return found.child, found.parents

    def completed(self, states):
        return self.problem.completed(np.array(states, np.uint8)).codes.tolist()

    def all_states(self):
        """Every completion of the patterns that keeps what is decided."""
        choices = [
            range(r) if f == FREE else [int(f)]
            for r, f in zip(self.cells, self.fixed, strict=True)
        ]
        return itertools.product(*choices)

    def seen(self, family):
        """The free cells that a family sees."""
        child, parents = self.family(family)
        members = {child, *parents}
        return [
            c
            for c, v in enumerate(self.problem.variable.tolist())
            if v in members and self.fixed[c] == FREE
        ]

    def price(self, child, parents, cell, state):
        if self.problem.variable[cell] == child:
            others = [v for v in range(len(self.card)) if v not in parents]
            return self.prices[others, cell, state].sum()
        return -self.prices[child, cell, state]

    def values(self, family, *, priced):
        """{states of the cells the family sees: its score, with what it earns}."""
        child, parents = self.family(family)
        seen, found = self.seen(family), {}
        for states in self.all_states():
            key = tuple(states[c] for c in seen)
            if key in found:
                continue
            found[key] = oracle.supported_score(
                self.rows,
                self.completed(states),
                self.card,
                child,
                parents,
                self.kind,
                self.ess,
                support=self.support,
                prior=self.prior,
            )
            found[key] += oracle.worth(
                self.completed(states), self.terms, variables={child}
            )
            if priced:
                found[key] += sum(
                    self.price(child, parents, c, states[c]) for c in seen
                )
        return found


def alike_holes(seed):
    """Incomplete rows that differ only in a last variable, which most families miss."""
    rng = np.random.default_rng([seed, 3])
    n_states, n_others = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    card = [n_states, n_others, 9]
    rows = [[int(rng.integers(k)) for k in card] for _ in range(rng.integers(0, 9))]
    n_completions, other = 1, int(rng.integers(n_others))
    for last in range(9):
        row = [None, other if rng.random() < 0.8 else int(rng.integers(n_others)), last]
        if rng.random() < 0.3:
            row[1] = None
        n_completions *= n_states * (n_others if row[1] is None else 1)
        if n_completions > 300:
            break
        rows += [row] * int(rng.choice([1, 1, 1, 2]))
    return rows, card


def families_of(instance, most=12):
    numbers = instance.rng.permutation(instance.core.n_families())
    return numbers[:most].tolist()


@pytest.mark.parametrize(
    ("seed", "has_terms", "holes"),
    [(s, t, random_holes) for t in (False, True) for s in range(60)]
    + [(s, s % 2 == 0, alike_holes) for s in range(24)],
)
def test_whole_tables_give_the_maximum_itself(seed, has_terms, holes):
    instance = Instance(seed, has_terms=has_terms, holes=holes)
    for family in families_of(instance):
        found = instance.bound(family, 10**6, instance.prices)
        assert found.is_exact
        plain = max(instance.values(family, priced=False).values())
        assert found.merged == pytest.approx(plain, abs=TOLERANCE)
        assert found.unpriced == pytest.approx(plain, abs=TOLERANCE)
        priced = max(instance.values(family, priced=True).values())
        assert found.priced == pytest.approx(priced, abs=TOLERANCE)
        assert found.restricted == pytest.approx(priced, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("max_entries", "has_terms"),
    [(1, True), (1, False), (2, False), (4, False), (9, True)],
)
@pytest.mark.parametrize(
    ("seed", "holes"),
    [(s, random_holes) for s in range(100, 150)]
    + [(s, alike_holes) for s in range(100, 106)],
)
def test_tables_cut_into_blocks_never_fall_below_the_maximum(
    seed, holes, max_entries, has_terms
):
    instance = Instance(seed, has_terms=has_terms, holes=holes)
    for family in families_of(instance):
        found = instance.bound(family, max_entries, instance.prices)
        plain = max(instance.values(family, priced=False).values())
        priced = max(instance.values(family, priced=True).values())
        assert found.merged >= plain - TOLERANCE
        assert found.unpriced >= plain - TOLERANCE
        assert found.priced >= priced - TOLERANCE
        assert found.restricted is None or found.restricted >= priced - TOLERANCE


def test_alike_patterns_of_many_states_are_counted():
    """So that a whole family takes no more room than the ways to count them."""
    rows = [[None, 0, last] for last in range(9)]
    core = PatternProblem.of(
        holed_table([*rows, [0, 0, 0], [3, 1, 1]], [4, 2, 9]),
        score=Score("bdeu", support=0.0),
        max_parents=2,
        constraints=Constraints(),
    ).augmenter()
    prices = np.zeros((3, 9, 4))
    ways_to_count = 220  # of nine rows among four states; one by one there are 4**9
    for number in range(core.n_families()):
        family = core.family(number)
        found = core.family_bound(
            number, np.full(9, FREE, np.uint8), prices, ways_to_count
        )
        sees_them_alike = family.child == 0 and 2 not in family.parents
        assert found.is_exact or not sees_them_alike
        assert found.unpriced >= found.merged - TOLERANCE
        if sees_them_alike:
            assert found.unpriced == pytest.approx(found.merged, abs=TOLERANCE)


def test_blocks_are_cut_often_enough_to_be_tested():
    n_cut = 0
    for seed in range(100, 150):
        instance = Instance(seed)
        for family in families_of(instance):
            found = instance.bound(family, 1, instance.prices)
            n_cut += not found.is_exact
    assert n_cut > 50


@pytest.mark.parametrize("hole", [0, 1])
def test_a_variable_of_one_state_is_not_taken_for_its_neighbour(hole):
    """Both have the same stride in the table of the family."""
    card = [2, 1, 2]
    rows = [[hole, None, 1], [None, 0, 1], *[[1 - hole, 0, 1]] * 6, *[[hole, 0, 0]] * 6]
    core = PatternProblem.of(
        holed_table(rows, card),
        score=Score("bdeu", support=0.0),
        max_parents=2,
        constraints=Constraints(),
    ).augmenter()
    prices = np.zeros((3, 2, 2))
    for number in range(core.n_families()):
        family = core.family(number)
        best = max(
            oracle.family_score(completed, card, family.child, family.parents, "bdeu")
            for completed in oracle.completions(rows, card)
        )
        found = core.family_bound(number, np.full(2, FREE, np.uint8), prices, 10**6)
        assert found.merged == pytest.approx(best, abs=TOLERANCE)
        assert found.unpriced == pytest.approx(best, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("seed", "has_terms", "holes"),
    [(s, s >= 320, random_holes) for s in range(300, 350)]
    + [(s, s % 2 == 0, alike_holes) for s in range(300, 316)],
)
def test_choices_reach_the_maximum_and_losses_are_what_another_state_costs(
    seed, has_terms, holes
):
    instance = Instance(seed, has_terms=has_terms, holes=holes)
    for family in families_of(instance, most=6):
        found = instance.bound(family, 10**6, instance.prices)
        values, seen = instance.values(family, priced=True), instance.seen(family)
        best = max(values.values())
        choices = {choice.cell: choice.value for choice in found.choices}
        assert sorted(choices) == seen
        chosen = tuple(choices[c] for c in seen)
        assert values[chosen] == pytest.approx(best, abs=TOLERANCE)
        for lost in found.losses:
            position = seen.index(lost.cell)
            forced = max(v for k, v in values.items() if k[position] == lost.value)
            assert lost.loss == pytest.approx(best - forced, abs=TOLERANCE)


@pytest.mark.parametrize(
    ("max_entries", "has_terms"), [(2, False), (2, True), (10**6, False)]
)
@pytest.mark.parametrize("seed", range(400, 460))
def test_any_prices_leave_the_relaxation_an_upper_bound(seed, max_entries, has_terms):
    instance = Instance(seed, has_terms=has_terms)
    families = [{} for _ in instance.card]
    for number in range(instance.core.n_families()):
        child, parents = instance.family(number)
        bound = instance.bound(number, max_entries, instance.prices).priced
        families[child][frozenset(parents)] = bound
    total, _ = oracle.best_dag(len(instance.card), families)
    tables = [instance.completed(states) for states in instance.all_states()]
    best, _, _ = oracle.best_pair(
        instance.rows,
        instance.card,
        instance.max_parents,
        instance.kind,
        instance.ess,
        support=instance.support,
        prior=instance.prior,
        completed_tables=tables,
        terms=instance.terms,
    )
    assert total >= best - TOLERANCE


def test_a_family_that_is_none_is_refused():
    instance = Instance(0)
    with pytest.raises(IndexError, match="no such family"):
        instance.core.family(10**6)
