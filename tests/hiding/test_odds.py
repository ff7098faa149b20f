"""Odds between groups of cells, at the rate asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.strategies import holed_tables

from bayesmend.hiding.odds import calibrate, group_rows


@given(
    st.lists(st.tuples(st.floats(-30, 30), st.integers(0, 50)), min_size=1, max_size=6),
    st.floats(1e-6, 1 - 1e-6),
)
def test_calibration_keeps_the_odds_and_meets_the_rate(groups, rate):
    log_odds, counts = (np.array(values) for values in zip(*groups, strict=True))
    probability = calibrate(log_odds.astype(float), counts, rate)
    mean, shifts = oracle.mean_and_shifts(log_odds, counts, probability)
    assert mean == pytest.approx(rate * counts.sum(), rel=1e-9)
    assert all(shift == pytest.approx(shifts[0], abs=1e-3) for shift in shifts)


@given(holed_tables())
def test_rows_are_grouped_as_by_their_cells(table):
    group, example = group_rows(table, range(table.n_vars))
    assert oracle.same_grouping(table.codes.tolist(), group.tolist())
    assert group[example].tolist() == list(range(example.size))
