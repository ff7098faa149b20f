"""Candidate parent sets against brute force over all sets."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.strategies import complete_tables, linked_rows, table_of
from support.timing import ctrl_c_after, within

from bayesmend import Constraints, Dag, Score, learn_structure
from bayesmend.errors import DataError, ParameterError
from bayesmend.structure import candidate_parents
from bayesmend.structure.candidates import can_score_all, sets_within

KINDS = ("bdeu", "bds", "k2", "bic", "aic", "qnml", "loglik")


def scored(rows, card, child, sets, rule, choices, *, weights=None):
    return {
        members: oracle.family_score(
            *(rows, card, child, members, rule.kind, rule.ess, weights),
            *(rule.arc_penalty, rule.prior, choices),
        )
        for members in sets
    }


def check_against_brute_force(found, rows, card, limit, rule, *, weights=None, **given):
    """Sets clearly better than their subsets are there, clearly worse ones are not."""
    forbidden, required = given.get("forbidden", {}), given.get("required", {})
    for child in range(len(card)):
        must_not, must = forbidden.get(child, ()), required.get(child, ())
        sets = oracle.candidate_sets(len(card), child, limit, must_not, must)
        choices = len(card) - 1 - len(must_not) - len(must), len(must)
        scores = scored(rows, card, child, sets, rule, choices, weights=weights)
        listed = {members: score for score, members in found.of(child)}
        assert oracle.worthwhile(scores, 1e-7) <= set(listed)
        assert set(listed) <= oracle.worthwhile(scores, -1e-7)
        for members, score in listed.items():
            assert score == pytest.approx(scores[members], rel=1e-8, abs=1e-7)


@examples(150)
@given(
    complete_tables(),
    st.sampled_from(KINDS),
    st.integers(0, 4),
    st.floats(0.01, 100),
    st.sampled_from([0.0, 0.7, -0.7]),
    st.sampled_from(["fair", "uniform"]),
)
# A constant parent costs nothing, and both together are likelier beforehand than one.
@example(([(0, 0, 0), (0, 1, 1)], [1, 2, 2]), "bic", 2, 1.0, 0.0, "fair")
def test_all_candidates_equal_brute_force(table, kind, limit, ess, penalty, prior):
    rows, card = table
    rule = Score(kind, ess=ess, prior=prior, arc_penalty=penalty)
    found = candidate_parents(
        table_of(rows, card), score=rule, max_parents=limit, search="all"
    )
    check_against_brute_force(found, rows, card, limit, rule)


@examples(60)
@given(complete_tables(), st.sampled_from(KINDS), st.data())
def test_weighted_candidates_equal_brute_force(table, kind, draw):
    rows, card = table
    weight = st.floats(0.0, 3.0).map(lambda w: round(w, 3))
    weights = [draw.draw(weight) for _ in rows]
    found = candidate_parents(
        table_of(rows, card, np.array(weights)), score=kind, search="all"
    )
    check_against_brute_force(found, rows, card, 3, Score(kind), weights=weights)


@examples(100)
@given(
    complete_tables(min_vars=2),
    st.sampled_from(KINDS),
    st.sampled_from(["all", "promising"]),
    st.data(),
)
def test_constrained_candidates_equal_brute_force(table, kind, method, draw):
    rows, card = table
    n = len(card)
    arcs = [(p, c) for p in range(n) for c in range(n) if p != c]
    required = draw.draw(st.sets(st.sampled_from([(p, c) for p, c in arcs if p < c])))
    required = {(p, c) for p, c in required if p >= c - 2}  # at most two each
    forbidden = draw.draw(st.sets(st.sampled_from(arcs))) - required
    known = Constraints(
        required=[(f"v{p}", f"v{c}") for p, c in required],
        forbidden=[(f"v{p}", f"v{c}") for p, c in forbidden],
    )
    found = candidate_parents(
        table_of(rows, card), score=kind, constraints=known, search=method
    )
    check_against_brute_force(
        found,
        rows,
        card,
        3,
        Score(kind),
        forbidden={c: {p for p, d in forbidden if d == c} for c in range(n)},
        required={c: {p for p, d in required if d == c} for c in range(n)},
    )


@examples(80)
@given(complete_tables(), st.sampled_from(KINDS), st.integers(0, 4))
def test_promising_candidates_with_a_large_budget_are_all(table, kind, limit):
    data = table_of(*table)
    everything, promising = (
        candidate_parents(data, score=kind, max_parents=limit, search=method, **most)
        for method, most in (("all", {}), ("promising", {"max_sets": 10**6}))
    )
    for child in range(data.n_vars):
        one, two = (dict(map(reversed, s.of(child))) for s in (everything, promising))
        # Sums of the same cells in another order differ in the last digits.
        for members in one.keys() ^ two.keys():
            subsets = [m for m in one.keys() & two.keys() if set(m) < set(members)]
            score = {**one, **two}[members]
            assert score == pytest.approx(max(one[m] for m in subsets), abs=1e-7)
        for members in one.keys() & two.keys():
            assert one[members] == pytest.approx(two[members], rel=1e-9, abs=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("limit", [3, 4])
def test_bounds_lose_no_candidate_of_linked_variables(kind, limit):
    card = [2, 3, 2, 4, 1, 2, 3]
    rows = linked_rows(card, 120, seed=limit).tolist()
    found = candidate_parents(
        table_of(rows, card), score=kind, max_parents=limit, search="all"
    )
    check_against_brute_force(found, rows, card, limit, Score(kind))


@pytest.mark.parametrize(
    "kind",
    [
        *("bdeu", "bds", "qnml"),
        *(
            pytest.param(k, marks=pytest.mark.slow)
            for k in ("k2", "bic", "aic", "loglik")
        ),
    ],
)
def test_tables_larger_than_the_data_are_no_exception(kind):
    card = [60, 3, 200, 2]
    rows = linked_rows(card, 30, seed=3).tolist()
    found = candidate_parents(table_of(rows, card), score=kind, search="all")
    check_against_brute_force(found, rows, card, 3, Score(kind))


@pytest.mark.parametrize("method", ["all", "promising"])
def test_families_whose_tables_nobody_could_hold_are_candidates_too(method):
    rows = [[a, b, c, a ^ b ^ c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    data = table_of(rows, [100] * 4)
    found = candidate_parents(data, score="loglik", search=method)
    assert max(found.of(3)) == (0.0, (0, 1, 2))
    # But no network could hold its table.
    learned = learn_structure(data, score="loglik")
    assert learned.is_optimal
    assert learned.dag.n_arcs == 0


@pytest.mark.parametrize("method", ["all", "promising"])
@pytest.mark.parametrize("kind", KINDS)
def test_without_rows_only_the_empty_set_is_left(kind, method):
    found = candidate_parents(table_of([], [2, 3, 4]), score=kind, search=method)
    assert [[members for _, members in found.of(v)] for v in range(3)] == [[()]] * 3


@pytest.mark.parametrize(
    "how", [{"search": "all"}, {"search": "promising", "max_sets": 60}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_candidates_for_any_number_of_threads(how, weighted):
    card = [2, 3, 2, 4, 2, 2, 3, 5, 2]
    rows = linked_rows(card, 400, seed=5)
    weights = np.random.default_rng(1).random(400) if weighted else None
    data = table_of(rows, card, weights)
    first, *others = (candidate_parents(data, **how, n_threads=n) for n in (1, 4, 7))
    assert all(other == first for other in others)


def test_a_size_budget_is_kept_and_finds_the_best_sets_first():
    card = [2] * 14
    data = table_of(linked_rows(card, 500, seed=7), card)
    small = candidate_parents(data, search="promising", max_sets=40)
    whole = candidate_parents(data, search="all")
    assert np.diff(small.offsets).max() <= 40
    best = [whole.of(v)[0] for v in range(14)]
    found = [small.of(v)[0] for v in range(14)]
    assert sum(f[1] == b[1] for f, b in zip(found, best, strict=True)) >= 12


def test_the_families_of_a_seed_are_among_the_candidates_or_beaten_by_a_subset():
    card = [2] * 10
    data = table_of(linked_rows(card, 300, seed=2), card)
    seed = Dag.from_arcs(data.names, [("v7", "v0"), ("v8", "v0"), ("v9", "v0")])
    found = candidate_parents(data, search="promising", max_sets=1, seed_dag=seed)
    whole = candidate_parents(data, search="all")
    wanted = {m: s for s, m in whole.of(0) if set(m) <= {7, 8, 9}}
    assert wanted.items() <= {m: s for s, m in found.of(0)}.items()


def test_candidates_within_a_time_limit_hold_the_empty_set_and_the_seed():
    card = [3] * 60
    data = table_of(linked_rows(card, 20_000, seed=2), card)
    seed = Dag.from_arcs(data.names, [("v0", "v1"), ("v1", "v2")])
    with within(1.0):
        found = candidate_parents(
            data, search="promising", time_limit=0.05, seed_dag=seed, max_parents=4
        )
    assert found.find(1, [0]) >= 0
    assert all(found.find(v, []) >= 0 for v in range(60))


@pytest.mark.parametrize(
    "how", [{"search": "all"}, {"search": "promising", "max_sets": 10**7}]
)
def test_ctrl_c_ends_the_search_for_candidates_at_once(how):
    card = [3] * 70
    data = table_of(linked_rows(card, 50_000, seed=2), card)
    with ctrl_c_after(0.3, raises=True):
        candidate_parents(data, **how, max_parents=4)


def test_auto_scores_everything_where_that_is_quick():
    data = table_of(linked_rows([2] * 6, 100, seed=1), [2] * 6)
    assert candidate_parents(data) == candidate_parents(data, search="all")
    assert can_score_all(data, 3)
    assert not can_score_all(data, 3, time_limit=1e-9)
    assert not can_score_all(data, 3, most=1e-9)
    wide = table_of(linked_rows([2] * 300, 10, seed=1), [2] * 300)
    assert not can_score_all(wide, 3)


def test_the_most_promising_are_as_many_as_there_is_time_for():
    wide = table_of(linked_rows([2] * 300, 10, seed=1), [2] * 300)
    assert sets_within(wide, 1e-9) == 300
    assert 300 < sets_within(wide, 0.1) < sets_within(wide, 0.2) < 5_000
    assert sets_within(wide, 1e9) == 5_000


# --- messages -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"search": "some"}, "search must be one of auto, all, promising. Got 'some'"),
        ({"max_sets": 0}, "max_sets must be an integer >= 1. Got 0"),
        ({"max_sets": 1.5}, "max_sets must be an integer >= 1. Got 1.5"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0. Got 0"),
        ({"search": "all", "max_sets": 9}, "max_sets=9 goes with search='promising'"),
        ({"search": "all", "time_limit": 1}, "time_limit=1 goes with search='promi"),
        ({"max_parents": -1}, "max_parents must be an integer >= 0"),
        ({"score": "mdl"}, "score must be one of bdeu, bds, k2, bic, aic, qnml, log"),
        ({"ess": 0}, "ess must be a number between 1e-06 and"),
        ({"n_threads": -1}, "n_threads must be an integer >= 0"),
    ],
)
def test_arguments_out_of_range_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        candidate_parents(table_of([(0, 1)], [2, 2]), **options)


def test_missing_cells_are_refused():
    with pytest.raises(DataError, match="variable 'v1' is missing in row 0"):
        candidate_parents(table_of([(0, 255)], [2, 2]))


def test_a_seed_over_other_variables_is_refused():
    data = table_of([(0, 1)], [2, 2])
    with pytest.raises(ParameterError, match="seed_dag must be a DAG over the variab"):
        candidate_parents(data, seed_dag=Dag(("x", "v1"), ((), ())))


def test_a_seed_that_breaks_the_rules_is_refused():
    data = table_of([(0, 1)], [2, 2])
    seed = Dag.from_arcs(data.names, [("v0", "v1")])
    with pytest.raises(ParameterError, match="seed_dag breaks the constraints"):
        candidate_parents(data, seed_dag=seed, max_parents=0)
