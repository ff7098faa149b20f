"""Tests of significance against their textbook formulas."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.examples import examples

from bayesmend.errors import ParameterError
from experiments.render.statistics import (
    mean_interval,
    paired_tests,
    share_interval,
)

VALUES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


def test_the_t_statistic_by_hand():
    # Differences 1, 2, 3: mean 2, standard deviation 1, so t = 2 sqrt(3).
    test = paired_tests([2, 4, 6], [1, 2, 3])
    assert (test.n, test.mean_difference) == (3, 2)
    assert test.t == pytest.approx(2 * math.sqrt(3))
    # With two degrees of freedom P(T > t) = 1/2 - t / (2 sqrt(2 + t^2)).
    tail = 0.5 - test.t / (2 * math.sqrt(2 + test.t**2))
    assert test.p_t == pytest.approx(2 * tail)


@examples(50)
@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=3, max_size=9))
def test_the_t_test_agrees_with_scipy_and_with_its_mirror(pairs):
    a, b = np.array(pairs).T + np.arange(len(pairs)) * [[1.0], [0.3]]
    test, mirrored = paired_tests(a, b), paired_tests(b, a)
    expected = stats.ttest_rel(a, b)
    assert test.t == pytest.approx(float(expected.statistic), rel=1e-6)
    assert test.p_t == pytest.approx(float(expected.pvalue), rel=1e-6)
    assert (mirrored.t, mirrored.p_t) == pytest.approx((-test.t, test.p_t))


@pytest.mark.parametrize(
    "b", [[0.2, 0.3, 0.4], [0.9, 1.0, 1.1], [0.3, 0.4, 0.5]], ids=str
)
def test_equal_differences_are_no_test(b):
    test = paired_tests([0.3, 0.4, 0.5], b)
    assert test.mean_difference == pytest.approx(0.3 - b[0])
    assert math.isnan(test.t)
    assert math.isnan(test.p_t)


@pytest.mark.parametrize("values", [[], [1.0]])
def test_fewer_than_two_pairs_have_no_p_value(values):
    test = paired_tests(values, values)
    assert math.isnan(test.p_t)
    assert test.n == len(values)


@examples(60)
@given(VALUES)
def test_the_sign_test_counts_all_splits_as_uneven(pairs):
    a, b = [x for x, _ in pairs], [y for _, y in pairs]
    wins = sum(x > y for x, y in pairs)
    losses = sum(x < y for x, y in pairs)
    test = paired_tests(a, b)
    assert (test.wins, test.losses, test.ties) == (
        wins,
        losses,
        len(pairs) - wins - losses,
    )
    n = wins + losses
    if n == 0:
        assert math.isnan(test.p_sign)
    else:
        uneven = [k for k in range(n + 1) if abs(2 * k - n) >= abs(2 * wins - n)]
        exact = sum(math.comb(n, k) for k in uneven) / 2**n
        assert test.p_sign == pytest.approx(exact)


def test_the_interval_by_hand():
    # Mean 2, standard error 1/sqrt(3); t quantile with 2 degrees of freedom at 0.975.
    p = 0.95
    quantile = p * math.sqrt(2 / (1 - p**2))
    found = mean_interval([1, 2, 3])
    assert found.mean == 2
    assert found.half_width == pytest.approx(quantile / math.sqrt(3))
    assert found.low == pytest.approx(2 - found.half_width)


def test_the_interval_covers_the_mean_as_often_as_it_says():
    generator = np.random.default_rng(1)
    found = [mean_interval(generator.normal(size=5), 0.8) for _ in range(2000)]
    share = np.mean([interval.low <= 0 <= interval.high for interval in found])
    assert share == pytest.approx(0.8, abs=0.03)


def test_intervals_of_few_or_equal_values():
    assert math.isnan(mean_interval([]).mean)
    for values in ([3.0], [2.0, 4.0]):
        for few in (mean_interval(values), share_interval([x / 6 for x in values])):
            assert few.n == len(values)
            assert few.mean in (3.0, 0.5)
            assert math.isnan(few.low)
            assert math.isnan(few.half_width)
    constant = mean_interval([0.5] * 4)
    assert (constant.low, constant.high) == (0.5, 0.5)


def test_the_interval_ends_at_the_limits():
    free = mean_interval([0.9, 1.0, 1.0])
    held = mean_interval([0.9, 1.0, 1.0], limits=(0.0, 1.0))
    assert free.high > 1.0 == held.high
    assert held.low == free.low
    assert free.is_symmetric
    assert not held.is_symmetric


@examples(40)
@given(st.integers(3, 30), st.data())
def test_the_interval_of_a_share_is_that_of_clopper_and_pearson(n, data):
    wins = data.draw(st.integers(0, n))
    found = share_interval([1] * wins + [0] * (n - wins))
    exact = stats.binomtest(wins, n).proportion_ci(0.95, method="exact")
    assert found.mean == pytest.approx(wins / n)
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


def test_half_a_success_lies_between_none_and_a_whole_one():
    fewer, half, more = (share_interval([1, 1, 0, 0, x]) for x in (0, 0.5, 1))
    assert fewer.low < half.low < more.low
    assert fewer.high < half.high < more.high
    with pytest.raises(ParameterError, match="x must hold shares from 0 to 1"):
        share_interval([1, 2, 0])


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(ParameterError, match="a has 2 values and b has 1"):
        paired_tests([1, 2], [1])
    with pytest.raises(ParameterError, match="a must be a list of finite numbers"):
        paired_tests([float("nan")], [1])
    with pytest.raises(ParameterError, match=r"level must lie between 0 and 1. Got 95"):
        mean_interval([1, 2], level=95)
