"""Rubin's rules against the formulas of the textbooks."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle

from bayesmend import pool
from bayesmend.errors import ParameterError
from bayesmend.learning.pool import t_quantile

numbers = st.floats(-100, 100)
squares = st.floats(0.01, 100)


@given(
    st.lists(st.tuples(numbers, squares), min_size=2, max_size=8),
    st.one_of(st.just(math.inf), st.floats(1, 1000)),
)
def test_pooling_follows_the_formulas(pairs, complete):
    estimates, variances = map(list, zip(*pairs, strict=True))
    pooled = pool(estimates, variances, df=complete)
    if np.var(estimates) < 1e-9:
        return
    expected = oracle.rubin(estimates, variances, complete)
    for name, value in expected.items():
        assert getattr(pooled, name) == pytest.approx(value, rel=1e-6), name
    low, high = pooled.interval
    assert low <= pooled.estimate <= high


def test_a_known_example():
    # Three tables by hand: U = 0.05, B = 0.04, T = 0.05 + 4/3 0.04.
    pooled = pool([1.0, 1.2, 0.8], [0.04, 0.05, 0.06])
    assert pooled.total == pytest.approx(0.05 + 0.16 / 3)
    assert pooled.df == pytest.approx(2 * (1 + 0.05 / (0.16 / 3)) ** 2)
    assert pooled.increase == pytest.approx(0.16 / 3 / 0.05)


@pytest.mark.parametrize("df", [0.7, 1, 2.5, 10, 40, 3000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_quantiles_are_those_of_the_t_distribution(df, level):
    t = t_quantile((1 + level) / 2, df)
    assert oracle.t_above(t, df) == pytest.approx((1 - level) / 2, rel=1e-4)


def test_tables_that_agree_leave_the_variance_as_it_is():
    pooled = pool([2.0, 2.0], [0.25, 0.25])
    assert (pooled.se, pooled.fmi, pooled.df) == (0.5, 0.0, math.inf)
    assert pooled.upper == pytest.approx(2 + 0.5 * 1.959963985)


def test_tables_without_variance_of_their_own_tell_by_what_they_differ():
    pooled = pool([1.0, 2.0, 3.0], [0.0, 0.0, 0.0])
    assert (pooled.fmi, pooled.df) == (1.0, 2.0)
    assert pooled.se == pytest.approx(math.sqrt(4 / 3))


def test_estimates_may_be_arrays():
    estimates = np.array([[1.0, 5.0], [1.5, 5.5], [0.5, 4.0]])
    variances = np.full((3, 2), 0.2)
    both = pool(estimates, variances, df=50, level=0.9)
    for k in range(2):
        one = pool(estimates[:, k], variances[:, k], df=50, level=0.9)
        assert both.upper[k] == pytest.approx(one.upper)
    assert repr(both) == "Pooled(2 estimates, m=3, level=0.9)"
    assert str(both).splitlines()[0].split()[0] == "estimate"
    assert both.to_dict()["m"] == 3
    wide = pool(np.ones((2, 60)), np.ones((2, 60)))
    assert str(wide).endswith("... and 10 more")
    assert wide.to_dict()["df"] == [None] * 60


@pytest.mark.parametrize(
    ("estimates", "variances", "options", "message"),
    [
        ([1.0], [1.0], {}, "at least two completed tables. Got 1"),
        (1.0, 1.0, {}, "at least two completed tables. Got 1"),
        ([1.0, 2.0], [1.0], {}, "must have the same shape. Got"),
        ([1.0, 2.0], [1.0, -1.0], {}, "variances must be numbers >= 0. Got -1"),
        ([1.0, math.nan], [1.0, 1.0], {}, "must be finite numbers"),
        (["a", "b"], [1.0, 1.0], {}, "must be arrays of numbers"),
        ([10**400, 1], [1.0, 1.0], {}, "must be arrays of numbers"),
        ([1.0, 2.0], [1.0, 1.0], {"level": 1.0}, "level must be a number between"),
        ([1.0, 2.0], [1.0, 1.0], {"df": 0}, "df must be a number > 0"),
    ],
)
def test_what_cannot_be_pooled_is_refused(estimates, variances, options, message):
    with pytest.raises(ParameterError, match=message):
        pool(estimates, variances, **options)
