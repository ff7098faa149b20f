"""Tests of innocence: their statistics, their level, and what they find."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples

import bayesmend as bm
from bayesmend.errors import ParameterError
from bayesmend.learning import innocence
from bayesmend.learning.mechanism import innocence as module
from bayesmend.learning.mechanism.innocence import (
    brief_innocence,
    tail_of_chi_square,
)

ASIA = bm.load_network("asia").sample(400, seed=1)


@given(st.floats(0.1, 40), st.integers(1, 9))
@examples(6)
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


def test_rows_with_whole_weights_are_as_many_rows():
    data = bm.hide_mar(ASIA, 0.3, depends_on=["dysp"], strength=3, seed=2).data
    patterns = data.patterns()
    heavy = bm.IncompleteData.from_codes(
        patterns.codes, names=data.names, states=data.states, weights=patterns.weights
    )
    one, two = innocence(data, seed=1), innocence(heavy, seed=1)
    assert two.strongest == one.strongest
    assert (two.n_rows, two.is_tenable) == (one.n_rows, False)


def test_dealing_out_sets_of_rows_is_like_exchanging_rows():
    # Few sets for many rows: dealt out. The same table without its weight: exchanged.
    rows = bm.hide_mcar(ASIA, 0.2, variables=["smoke", "bronc"], seed=4).data
    patterns = rows.patterns()
    heavy = bm.IncompleteData.from_codes(
        patterns.codes, names=rows.names, states=rows.states, weights=patterns.weights
    )
    ps = [innocence(t, n_permutations=999, seed=1).p_value for t in (rows, heavy)]
    assert ps[0] == pytest.approx(ps[1], abs=0.06)


def test_rows_with_fractions_for_weights_are_refused():
    data = bm.IncompleteData.from_table(
        {"a": ["x", None, "y"], "b": ["u", "v", "u"]}, weights=[1.0, 0.5, 1.0]
    )
    with pytest.raises(ParameterError, match=r"whole numbers, of at most 100,000,000"):
        innocence(data)
    assert brief_innocence(data) is None
    many = bm.IncompleteData.from_table(
        {"a": ["x", None, "y"], "b": ["u", "v", "u"]}, weights=[1.0, 1e9, 1.0]
    )
    assert brief_innocence(many) is None


@pytest.mark.slow
def test_the_level_is_kept_where_states_are_rare():
    ps = [
        brief_innocence(bm.hide_mcar(ASIA, 0.01, seed=seed).data).p_value
        for seed in range(25)
    ]
    assert sum(p <= 0.02 for p in ps) <= 3


def test_the_brief_test_takes_some_rows_of_a_large_table_and_none_of_a_wide_one(
    monkeypatch,
):
    data = bm.hide_mcar(ASIA, 0.1, seed=1).data
    assert brief_innocence(data).n_rows == 400
    per_row = 99 * 8 * 16
    monkeypatch.setattr(module, "_WORK", 250 * per_row)
    found = brief_innocence(data)
    assert found.n_rows == 250
    assert found.to_dict() == brief_innocence(data).to_dict()
    monkeypatch.setattr(module, "_WORK", 199 * per_row)
    assert brief_innocence(data) is None
