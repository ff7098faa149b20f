"""What the checker computes for itself: logarithms, scores, bounds, structures."""

import ast
import math
import sys
from decimal import Context, Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from support import oracle
from support.strategies import random_holes

import bayesmend.verification.families as families_module
from bayesmend.verification.dags import NEVER, Programme, find_cycle
from bayesmend.verification.families import (
    MISSING,
    Family,
    OpenFamily,
    Rule,
    Scores,
    Shown,
    Table,
)
from bayesmend.verification.units import BITS, CountLogs, RisingLogs, ln, to_units

PACKAGE = Path(families_module.__file__).parent
# Errors, and how public functions answer a wrong argument; nothing that computes.
SHARED = {"bayesmend.errors", "bayesmend._entrance"}


def test_the_checker_imports_nothing_that_learns_scores_or_reads():
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module]
            for name in names:
                is_own = name.startswith("bayesmend.verification")
                is_plain = name.split(".")[0] in sys.stdlib_module_names
                assert is_own or is_plain or name in SHARED, (path.name, name)


@pytest.mark.parametrize("seed", range(5))
def test_logarithms_are_those_of_long_division(seed):
    rng = np.random.default_rng(seed)
    context = Context(prec=60)
    for n_bits in (1, 2, 6, 7, 50, 99, 100, 101, 102, 160, 3000):
        number = int.from_bytes(rng.bytes(400), "big") >> (3200 - n_bits) | 1
        wanted = context.multiply(context.ln(Decimal(number)), Decimal(2**100))
        assert abs(ln(number) - wanted) < 2**20, number
    for number in range(1, 300):
        wanted = context.multiply(context.ln(Decimal(number)), Decimal(2**100))
        assert abs(ln(number) - wanted) < 2**10


@pytest.mark.parametrize("a", [1e-6, 0.05, 1 / 3, 1.0, 2.5, 1e6])
def test_rising_logs_are_differences_of_log_gamma(a):
    logs = RisingLogs(Fraction(a))
    for n in (1000, 0, 1, 2, 17, 999, 5000):  # in any order
        wanted = math.lgamma(a + n) - math.lgamma(a)
        assert logs[n] / 2**BITS == pytest.approx(wanted, rel=1e-13, abs=1e-8)


def test_a_product_of_many_factors_is_not_less_exact():
    direct = RisingLogs(Fraction(1, 3))
    one_by_one = RisingLogs(Fraction(1, 3))
    for n in range(600):
        one_by_one[n]
    assert abs(direct[600] - one_by_one[600]) <= 1


def test_count_logs():
    logs = CountLogs()
    assert logs[0] == 0
    assert logs[7] == to_units(7 * math.log(7))


def rows_of(seed, **options):
    rows, card = random_holes(seed, **options)
    rows = [tuple(MISSING if c is None else int(c) for c in row) for row in rows]
    return rows, [int(k) for k in card]


class Case:
    """A random family over a random table, with prices and cells fixed at random."""

    KINDS = ("bdeu", "bdeu", "k2", "bic", "aic", "loglik")

    def __init__(self, seed, **options):
        self.rows, self.card = rows_of(seed, **options)
        rng = self.rng = np.random.default_rng(seed)
        n = len(self.card)
        self.weights = rng.integers(1, 4, len(self.rows)).tolist()
        self.kind = str(rng.choice(self.KINDS))
        self.ess = float(rng.choice([0.1, 1.0, 7.0]))
        self.support = float(rng.choice([0.0, 0.2]))
        self.is_fair = bool(rng.integers(2))
        order = rng.permutation(n).tolist()
        self.child = order[0]
        self.parents = tuple(sorted(order[1 : 1 + rng.integers(0, min(n, 4))]))
        self.table = Table(self.rows, self.card, self.weights)
        rule = Rule(
            self.kind,
            Fraction(self.ess),
            self.is_fair,
            Fraction(1, 8),
            Fraction(self.support),
        )
        cells = [
            (r, v)
            for r in self.table.incomplete
            for v, code in enumerate(self.table.rows[r])
            if code == MISSING
        ]
        self.cells = {cell: number for number, cell in enumerate(cells)}
        self.choices = (n - 1, 0)
        self.scores = Scores(rule, self.table.n_rows)
        self.family = OpenFamily(
            self.table,
            self.scores,
            self.cells,
            self.child,
            self.parents,
            self.choices,
        )

    def score(self, values):
        """Score the family where every cell is decided."""
        return self.family.upper(values, {})[0] - self.family.error

    def completions(self, fixed):
        own = self.family.cells
        card = {number: self.card[v] for (_, v), number in self.cells.items()}
        choices = [[fixed[c]] if c in fixed else range(card[c]) for c in own]
        for values in product(*choices):
            yield dict(zip(own, values, strict=True))

    def draw_fixed(self):
        numbers = self.rng.permutation(len(self.cells))
        fixed = (
            numbers[: self.rng.integers(0, len(numbers) + 1)] if len(numbers) else []
        )
        variable = {number: v for (_, v), number in self.cells.items()}
        return {
            int(c): int(self.rng.integers(self.card[variable[int(c)]])) for c in fixed
        }

    def draw_prices(self):
        is_priced = self.rng.random() < 0.7
        return {
            number: [
                to_units(x)
                for x in self.rng.choice([-0.5, 0.0, 0.25, 1.0], self.card[v])
            ]
            for (_, v), number in self.cells.items()
            if is_priced and self.rng.random() < 0.7
        }

    def best(self, fixed, prices):
        """The largest score with prices, by enumeration."""
        return max(
            self.score(values)
            + sum(
                prices[c][v]
                for c, v in values.items()
                if c in prices and c not in fixed
            )
            for values in self.completions(fixed)
        )


@pytest.mark.parametrize("seed", range(40))
def test_scores_are_those_of_the_definition(seed):
    case = Case(seed, max_vars=4, max_holes=6)
    fixed = dict.fromkeys(case.cells.values(), 0)
    numbers = case.cells
    completed = []
    for row, r in zip(case.rows, case.table.of_row, strict=True):
        completed.append(
            [fixed[numbers[r, v]] if c == MISSING else c for v, c in enumerate(row)]
        )
    rows = [[None if c == MISSING else c for c in row] for row in case.rows]
    wanted = oracle.supported_score(
        rows,
        completed,
        case.card,
        case.child,
        case.parents,
        case.kind,
        case.ess,
        support=case.support,
        weights=case.weights,
        prior="uniform",
    )
    wanted -= 0.125 * len(case.parents)
    if case.is_fair:
        wanted -= math.log(math.comb(len(case.card) - 1, len(case.parents)))
    found = case.score(fixed) / 2**BITS
    assert found == pytest.approx(wanted, abs=1e-8)


def check_bounds(seed, most, **options):
    """Check some bounds of a family; tell which were said to be exact."""
    case = Case(seed, **options)
    told = []
    for _ in range(3):
        fixed, prices = case.draw_fixed(), case.draw_prices()
        found, is_exact = case.family.upper(fixed, prices, most)
        best = case.best(fixed, prices)
        assert found >= best
        if is_exact:
            assert found <= best + case.family.error + 100
        told.append(is_exact)
    return told


@pytest.mark.parametrize("seed", range(60))
def test_the_bound_of_a_family_is_its_maximum(seed):
    assert all(check_bounds(seed, 4096, max_vars=4, max_holes=7))


def test_with_too_many_ways_to_count_it_is_a_bound(monkeypatch):
    told = []
    for seed in range(100):
        most = 1 + seed % 3
        monkeypatch.setattr(families_module, "KEPT", most)
        told += check_bounds(seed, most, max_vars=4, max_holes=8)
    assert 30 < told.count(False) < told.count(True)


@pytest.mark.parametrize("seed", range(40))
def test_quick_bounds_are_bounds(seed):
    case = Case(seed, max_vars=4, max_holes=7)
    shown = Shown(case.table, case.scores)
    best = case.best({}, {})
    assert case.family.quick_upper() >= best
    assert shown.score(case.child, case.parents, case.choices) >= best


@pytest.mark.parametrize("seed", range(20))
def test_the_programme_finds_the_best_structure(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    lists = []
    for child in range(n):
        masks = [m for m in range(1 << n) if not m >> child & 1]
        kept = rng.permutation(masks)[: rng.integers(1, 6)].tolist()
        lists.append({m: int(rng.integers(-50, 0)) for m in {0, *kept}})
    best_of = {}
    for choice in product(*(list(own.items()) for own in lists)):
        parents = [[p for p in range(n) if m >> p & 1] for m, _ in choice]
        if find_cycle(parents):
            continue
        total = sum(score for _, score in choice)
        for child, (mask, _) in enumerate(choice):
            best_of[child, mask] = max(total, best_of.get((child, mask), NEVER))
    programme = Programme(lists)
    assert programme.best == max(best_of.values())
    for child, own in enumerate(lists):
        around = programme.around(child, list(own))
        for (mask, score), rest in zip(own.items(), around, strict=True):
            assert score + rest == best_of.get((child, mask), score + rest)


@pytest.mark.parametrize("most", [1, 3, 1000, 10**6])
def test_rows_count_as_often_as_their_weights_say(most):
    rows, card = rows_of(7, max_vars=4, max_holes=5)
    rng = np.random.default_rng(most)
    weights = rng.integers(0, most + 1, len(rows)).tolist()
    table = Table(rows, card, weights)
    for child in range(1, len(card)):
        counts = table.counts((0,), child)
        wanted = [0] * len(counts)
        for row, weight in zip(rows, weights, strict=True):
            if MISSING not in (row[0], row[child]):
                wanted[row[0] * card[child] + row[child]] += weight
        assert counts == wanted


@pytest.mark.parametrize("seed", range(20))
def test_a_family_of_a_complete_table_scores_the_same_in_both_ways(seed):
    rng = np.random.default_rng(seed)
    card = rng.integers(1, 4, 4).tolist()
    rows = list(zip(*(rng.integers(0, k, 25).tolist() for k in card), strict=True))
    weights = rng.integers(0, 10 ** (1 + seed % 3), 25).tolist()
    kind = ("bdeu", "k2", "bic", "aic", "loglik")[seed % 5]
    rule = Rule(kind, Fraction(3, 2), bool(seed % 2), Fraction(1, 8), Fraction(0))
    table = Table(rows, card, weights)
    scores = Scores(rule, table.n_rows)
    shown = Shown(table, scores)
    for parents in ((), (1,), (1, 2), (1, 2, 3)):
        family = Family(table, scores, 0, parents, (3, 0))
        found = shown.score(0, parents, (3, 0))
        n_values = len(family.base) * (1 + card[0]) // card[0]
        assert 0 <= found - family.score(family.base) <= n_values + 4
