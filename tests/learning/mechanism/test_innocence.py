"""Tests of innocence: their statistics, their level, and what they find."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import oracle

import bayesmend as bm
from bayesmend.errors import ParameterError
from bayesmend.learning import innocence
from bayesmend.learning.mechanism.innocence import tail_of_chi_square

ASIA = bm.load_network("asia").sample(400, seed=1)


@given(st.floats(0.1, 40), st.integers(1, 9))
@settings(max_examples=6, deadline=None)
def test_the_tail_is_the_area_under_the_density(x, freedom):
    expected = oracle.chi_square_tail(x, freedom, step=0.01, most=150)
    assert tail_of_chi_square(x, freedom) == pytest.approx(expected, rel=1e-2, abs=1e-6)


def test_statistics_are_those_of_a_loop():
    data = bm.hide_mcar(ASIA, 0.2, seed=3).data
    found = {(d.variable, d.on): d for d in innocence(data, n_permutations=1).strongest}
    assert len(found) == 8
    for (own, on), dependence in found.items():
        mask = data.missing_mask
        rows = np.flatnonzero(~mask[:, data.index(on)])
        hidden = mask[rows, data.index(own)].tolist()
        states = data.codes[rows, data.index(on)].tolist()
        expected = oracle.g_of_indicator(hidden, states)
        assert dependence.statistic == pytest.approx(expected)
        assert dependence.effect == pytest.approx((expected / len(rows)) ** 0.5)


def test_the_level_is_kept_where_cells_are_missing_at_random():
    verdicts = [
        innocence(
            bm.hide_mcar(ASIA, 0.2, seed=seed).data, n_permutations=39, seed=seed
        ).is_tenable
        for seed in range(30)
    ]
    assert sum(verdicts) >= 26


def test_what_missing_cells_depend_on_is_found():
    data = bm.hide_mar(ASIA, 0.3, depends_on=["dysp"], strength=3, seed=2).data
    found = innocence(data, seed=1)
    assert not found.is_tenable
    assert found.p_value == pytest.approx(1 / 200)
    assert {d.on for d in found.strongest if d.corrected < 1e-3} == {"dysp"}
    assert str(found).startswith("missing completely at random: not tenable (p = 0.005")
    assert found.to_dict()["strongest"][0]["variable"] == "asia"


def test_tables_with_nothing_to_test_are_innocent():
    assert innocence(ASIA).p_value == 1
    assert repr(innocence(ASIA)) == "Innocence(0 variables, p = 1.000000)"
    one = bm.IncompleteData.from_table(
        {"a": ["x"], "b": [None]}, states={"a": ["x", "y"], "b": ["u", "v"]}
    )
    assert innocence(one, seed=1).is_tenable


def test_rows_with_weights_are_refused():
    data = bm.IncompleteData.from_table(
        {"a": ["x", None, "y"], "b": ["u", "v", "u"]}, weights=[1.0, 2.0, 1.0]
    )
    with pytest.raises(ParameterError, match=r"these have weights\. Repeat the rows\."):
        innocence(data)
