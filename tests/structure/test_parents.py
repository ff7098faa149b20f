"""Candidate parent sets: what they hold, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import candidate_lists

from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.structure.parents import ParentSets


def names_of(lists):
    return [f"v{i}" for i in range(len(lists))]


def key(family):
    score, parents = family
    return -score, len(parents), parents


@given(candidate_lists())
def test_candidates_come_back_best_first(lists):
    sets = ParentSets.from_lists(names_of(lists), lists)
    assert [sets.of(i) for i in range(sets.n_vars)] == [
        sorted(row, key=key) for row in lists
    ]
    assert sets.n_sets == sum(map(len, lists))


@given(candidate_lists(), st.randoms(use_true_random=False))
def test_arrays_in_any_order_give_the_same_sets(lists, random):
    shuffled = [random.sample(row, len(row)) for row in lists]
    flat = [parents for row in shuffled for _, parents in row]
    arrays = ParentSets.from_arrays(
        names_of(lists),
        np.cumsum([0, *map(len, shuffled)]),
        np.array([score for row in shuffled for score, _ in row]),
        np.cumsum([0, *map(len, flat)]),
        np.array([v for parents in flat for v in parents], dtype=np.int32),
    )
    assert arrays == ParentSets.from_lists(names_of(lists), lists)


@given(candidate_lists(), st.data())
def test_best_is_the_first_candidate_among_the_allowed(lists, data):
    sets = ParentSets.from_lists(names_of(lists), lists)
    allowed = data.draw(st.sets(st.integers(0, sets.n_vars - 1)))
    for i, row in enumerate(lists):
        fitting = [f for f in sorted(row, key=key) if set(f[1]) <= allowed]
        chosen = sets.best(i, allowed)
        assert sets.members_of(chosen) == fitting[0][1]
        assert sets.best(i) == sets.offsets[i]


def test_best_is_minus_one_when_no_candidate_fits():
    sets = ParentSets.from_lists("ab", [[(0, ())], [(0, (0,))]])
    assert sets.best(1, ()) == -1


def test_score_of_a_dag_is_the_sum_of_its_families():
    sets = ParentSets.from_lists(
        "abc", [[(-1, ())], [(-2, (0,)), (-5, ())], [(-4, (0, 1)), (-9, ())]]
    )
    assert sets.score_of(Dag(("a", "b", "c"), ((), (0,), (0, 1)))) == -7
    assert sets.choice_of(Dag(("a", "b", "c"), ((), (), ()))).tolist() == [0, 2, 4]


def test_a_family_that_is_no_candidate_is_named():
    sets = ParentSets.from_lists("ab", [[(-1, ())], [(-5, ())]])
    with pytest.raises(
        ParameterError, match=r"parents of 'b' in the DAG \(a\) are not"
    ):
        sets.score_of(Dag(("a", "b"), ((), (0,))))


def test_a_dag_over_other_variables_is_refused():
    sets = ParentSets.from_lists("ab", [[(-1, ())], [(-5, ())]])
    with pytest.raises(ParameterError, match="same variables"):
        sets.score_of(Dag(("b", "a"), ((), ())))


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[(0, ())]], "one list of candidates for each of the 2 names"),
        ([[(0, ())], []], "'b' has no candidate"),
        ([[(0, ())], [(0, (1,))]], "'b' is a parent of itself"),
        ([[(0, ())], [(0, (2,))]], "indices from 0 to 1"),
        ([[(0, ())], [(0, (-1,))]], "indices from 0 to 1"),
        ([[(0, ())], [(0, (0, 0))]], "distinct and ascending"),
        ([[(0, ())], [(0, (0,)), (-1, (0,))]], r"'b' has the candidate \(0,\) twice"),
        ([[(0, ())], [(math.nan, ())]], "number below infinity"),
        ([[(0, ())], [(math.inf, ())]], "number below infinity"),
    ],
)
def test_bad_candidates_are_refused(lists, message):
    with pytest.raises(ParameterError, match=message):
        ParentSets.from_lists("ab", lists)


def arrays(**changes):
    values = {
        "names": ("a", "b"),
        "offsets": np.array([0, 1, 3]),
        "scores": np.array([-1.0, -1.0, -2.0]),
        "member_offsets": np.array([0, 0, 1, 1]),
        "members": np.array([0], dtype=np.int32),
    }
    return {**values, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ("a", "a")}, "Got 'a' twice"),
        ({"offsets": np.array([0, 3])}, "offsets must hold 3 numbers from 0 to 3"),
        ({"offsets": np.array([0, 4, 3])}, "offsets must never decrease"),
        ({"member_offsets": np.array([0, 0, 1, 2])}, "member_offsets must hold"),
        ({"scores": np.array([-1.0, -2.0, -1.0])}, "descending order"),
    ],
)
def test_bad_arrays_are_refused(changes, message):
    with pytest.raises(ParameterError, match=message):
        ParentSets(**arrays(**changes))


def test_arrays_are_read_only():
    sets = ParentSets(**arrays())
    with pytest.raises(ValueError, match="read-only"):
        sets.scores[0] = 0.0


def test_thousands_of_variables_with_hundreds_of_members():
    n = 3000
    lists = [[(-2.0, ()), (-1.0, range(max(0, i - 300), i))] for i in range(n)]
    lists[0] = [(-2.0, ())]
    sets = ParentSets.from_lists([f"v{i}" for i in range(n)], lists)
    assert sets.n_sets == 2 * n - 1
    assert repr(sets) == "ParentSets(n_vars=3000, n_sets=5999, max_members=300)"
    assert sets.find(700, range(400, 700)) == sets.best(700)


def test_equality_is_by_content():
    one, two = ParentSets(**arrays()), ParentSets(**arrays())
    assert one == two
    assert one != ParentSets(**arrays(scores=np.array([-1.0, -1.0, -3.0])))
    assert one != "sets"
