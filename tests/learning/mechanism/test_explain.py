"""What may explain missing cells, against sums over grids."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples

from bayesmend.learning.em.mechanism import choose
from bayesmend.learning.mechanism.explain import (
    Explanation,
    Rows,
    explanations_of,
    mixture_gain,
    worth_of,
)

COUNTS = st.lists(
    st.tuples(st.integers(5, 60), st.integers(5, 60)), min_size=2, max_size=3
)


def evidence_of(counts):
    counts = np.array(counts, float)
    return worth_of(counts, np.array([len(counts)]))[1][0]


@given(COUNTS)
@examples(8)
def test_evidence_is_that_of_a_sum_over_all_log_odds(counts):
    expected = oracle.mechanism_evidence(counts, 1.5, step=0.1)
    assert evidence_of(counts) == pytest.approx(expected, abs=0.15)


def test_evidence_grows_with_the_effect_and_is_negative_without_one():
    assert evidence_of([(90, 10), (90, 10)]) < 0
    assert evidence_of([(90, 10), (50, 50)]) > 10


def test_configurations_without_rows_are_worth_nothing():
    some = evidence_of([(90, 10), (50, 50)])
    assert evidence_of([(90, 10), (50, 50), (0, 0)]) == pytest.approx(some, abs=0.3)


def test_each_table_is_worth_what_it_is_alone():
    one, two = [(90, 10), (50, 50)], [(20, 5), (3, 30), (40, 4)]
    both = np.array(one + two, float)
    found = worth_of(both, np.array([2, 3]))[1]
    assert found == pytest.approx([evidence_of(one), evidence_of(two)])


@given(st.integers(0, 2**32))
@examples(15)
def test_what_a_variable_gains_by_hiding_itself_is_that_of_the_best_shares(seed):
    rng = np.random.default_rng(seed)
    rows, counts = rng.random((30, 2)) + 0.05, rng.integers(20, 60, 2).astype(float)
    found = mixture_gain(rows, np.ones(30), counts)
    best = oracle.mixture_by_grid(rows.tolist(), counts.tolist())
    # The most probable shares, not the likeliest: drawn towards each other a little.
    assert -1e-6 <= found.gain <= best + 0.02
    assert found.gain >= 0.75 * best - 0.1


def test_rows_that_tell_nothing_gain_nothing_and_cost_nothing():
    found = mixture_gain(np.ones((40, 3)), np.ones(40), np.array([50.0, 30.0, 20.0]))
    assert found.gain == pytest.approx(0, abs=1e-3)
    assert found.evidence == pytest.approx(0, abs=0.7)


def test_rows_that_tell_all_find_what_is_hidden():
    hidden = np.repeat(np.eye(2), [10, 90], axis=0)
    found = mixture_gain(hidden, np.ones(100), np.array([150.0, 50.0]))
    assert found.evidence > 20
    shown = 1 / (1 + np.exp(-found.log_odds))
    assert shown == pytest.approx([10 / 160, 90 / 140], abs=0.03)


def test_a_variable_of_254_states_is_explained():
    rng = np.random.default_rng(1)
    soft = np.eye(254)[rng.integers(0, 254, 300)]
    rows = Rows(np.ones(300), [soft, np.eye(2)[rng.integers(0, 2, 300)]])
    hidden = np.arange(300) < 60
    mixture = mixture_gain(soft[hidden], np.ones(60), soft[~hidden].sum(axis=0))
    listed = explanations_of(rows, 0, hidden, mixture, 2, [1])
    assert {found.parents for found in listed} >= {(), (0,), (1,), (0, 1)}
    assert all(np.isfinite([found.gain, found.net]).all() for found in listed)


def test_what_is_usual_decides_where_the_rows_do_not():
    none = Explanation((), 0.0, 0.0, 1)

    def itself(v, evidence):
        return [none, Explanation((v,), 5.0, evidence, 1)]

    clear = [itself(v, 9.0) for v in range(6)]
    assert choose([*clear, itself(6, -0.5)], range(7))[-1].parents == (6,)
    innocent = [itself(v, -2.0) for v in range(6)]
    assert choose([*innocent, itself(6, 0.5)], range(7))[-1].parents == ()
