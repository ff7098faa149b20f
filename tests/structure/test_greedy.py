"""Hill climbing on the data: scores, rules, starts and limits."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.strategies import complete_tables, linked_rows, table_of
from support.timing import ctrl_c_after, within

from bayesmend import Constraints, Dag, Score, dag_score, load_network
from bayesmend.errors import DataError, ParameterError
from bayesmend.score import Families, FamilyScorer
from bayesmend.structure import climb, greedy
from bayesmend.structure.promising import Promising

KINDS = ("bdeu", "k2", "bic", "aic", "qnml", "loglik")


@examples(100)
@given(complete_tables(), st.sampled_from(KINDS), st.integers(0, 4))
def test_the_score_is_that_of_the_dag_within_the_limit(table, kind, limit):
    data = table_of(*table)
    found = climb(data, score=kind, max_parents=limit, seed=1)
    assert found.score == pytest.approx(dag_score(found.dag, data, score=kind))
    assert max(map(len, found.dag.parents)) <= limit
    assert (found.status, found.solver) == ("heuristic", "greedy")
    assert found.bound == np.inf


@examples(60)
@given(complete_tables(max_vars=4), st.sampled_from(KINDS))
def test_no_dag_one_change_away_is_better(table, kind):
    rows, card = table
    n = len(card)
    found = climb(table_of(rows, card), score=kind, max_parents=2, tabu_moves=0)
    arcs = {(p, c) for c, parents in enumerate(found.dag.parents) for p in parents}
    every = {(p, c) for p in range(n) for c in range(n) if p != c}
    changes = [arcs ^ {arc} for arc in every]
    changes += [arcs - {(p, c)} | {(c, p)} for p, c in arcs]
    for other in changes:
        parents = [[p for p, d in other if d == c] for c in range(n)]
        if oracle.is_acyclic(n, other) and max(map(len, parents)) <= 2:
            score = sum(
                oracle.family_score(rows, card, c, sorted(parents[c]), kind)
                for c in range(n)
            )
            assert score <= found.score + 1e-6


@examples(80)
@given(st.data())
def test_constraints_hold_through_restarts(draw):
    n = 6
    arcs = [(p, c) for p in range(n) for c in range(n) if p != c]
    required = draw.draw(st.sets(st.sampled_from([a for a in arcs if a[0] < a[1]])))
    required = {(p, c) for p, c in required if p >= c - 2}
    forbidden = draw.draw(st.sets(st.sampled_from(arcs))) - required
    limits = {c: draw.draw(st.integers(2, 3)) for c in range(n)}
    known = Constraints(
        required=[(f"v{p}", f"v{c}") for p, c in required],
        forbidden=[(f"v{p}", f"v{c}") for p, c in forbidden],
        max_parents={f"v{c}": limit for c, limit in limits.items()},
    )
    data = table_of(linked_rows([2] * n, 60, seed=1), [2] * n)
    found = climb(data, constraints=known, restarts=6, seed=1, score="aic")
    chosen = {(p, c) for c, parents in enumerate(found.dag.parents) for p in parents}
    assert required <= chosen
    assert not forbidden & chosen
    assert all(len(found.dag.parents[c]) <= limit for c, limit in limits.items())
    assert found.score == pytest.approx(dag_score(found.dag, data, score="aic"))


@pytest.mark.parametrize("kind", ["bdeu", "bic"])
def test_restarts_are_never_worse_than_none(kind):
    data = load_network("asia").sample(400, seed=3)
    alone = climb(data, score=kind, restarts=0, seed=1)
    scores = [climb(data, score=kind, restarts=8, seed=s).score for s in range(5)]
    assert min(scores) >= alone.score - 1e-9


def test_the_tabu_list_is_never_worse_than_none():
    data = load_network("asia").sample(400, seed=3)
    plain = climb(data, tabu_moves=0, restarts=0)
    assert climb(data, restarts=0).score >= plain.score - 1e-9


@examples(30)
@given(st.integers(0, 10**6))
def test_the_answer_is_no_worse_than_the_start(seed):
    card = [2, 3, 2, 2, 3]
    data = table_of(linked_rows(card, 50, seed=seed % 7), card)
    rng = np.random.default_rng(seed)
    order = rng.permutation(5)
    arcs = [(int(order[i]), int(order[i + 1])) for i in range(4) if rng.random() < 0.7]
    start = Dag.from_arcs(data.names, arcs)
    found = climb(data, start=start, restarts=0)
    assert found.score >= dag_score(start, data) - 1e-9


def test_a_start_without_a_better_neighbour_is_kept():
    data = load_network("asia").sample(400, seed=3)
    best = climb(data, restarts=0, tabu_moves=0)
    again = climb(data, restarts=0, tabu_moves=0, start=best.dag)
    assert (again.dag, again.detail["changes"]) == (best.dag, 0)


def test_an_arc_penalty_thins_the_structure():
    data = load_network("asia").sample(1000, seed=3)
    assert climb(data, score=Score(arc_penalty=1e6)).dag.n_arcs == 0


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_answer_for_any_number_of_threads(weighted):
    card = [2, 3, 2, 4, 2, 2, 3, 5, 2]
    weights = np.random.default_rng(1).random(300) if weighted else None
    data = table_of(linked_rows(card, 300, seed=5), card, weights)
    first, *others = (climb(data, seed=2, n_threads=n) for n in (1, 4, 7))
    assert all((o.dag, o.score) == (first.dag, first.score) for o in others)


def test_weights_count_rows_again():
    card = [2, 3, 2, 2]
    rows = linked_rows(card, 60, seed=5)
    twice = climb(table_of(np.repeat(rows, 2, axis=0), card), seed=1)
    weighted = climb(table_of(rows, card, np.full(60, 2.0)), seed=1)
    assert weighted.score == pytest.approx(twice.score)


@examples(40)
@given(complete_tables(max_vars=6), st.sampled_from(["bdeu", "bic"]))
def test_what_would_gain_the_most_is_noted(table, kind):
    data = table_of(*table)
    n = data.n_vars
    rules = Constraints().rules(data.names, max_parents=2)
    scorer = FamilyScorer(data, score=kind, constraints=rules)
    lists = Promising.none(n)
    with mock.patch.object(greedy, "MOST_NOTED", 2):
        found = greedy.climb_from(scorer, rules, restarts=1, seed=1, promising=lists)
    for child, parents in enumerate(found.dag.parents):
        others = [p for p in range(n) if p != child and p not in parents]
        if len(parents) == 2 or not others:
            continue
        pairs = [(child, sorted([*parents, p])) for p in others]
        scores = scorer.families(Families.from_pairs(pairs))
        noted = lists.mask[child, others]
        assert noted.sum() >= min(2, len(others))
        least = np.sort(scores)[::-1][:2].min()
        assert (scores[~noted] <= least + 1e-9).all()
    assert not lists.mask.diagonal().any()
    assert (Promising.told(lists.packed(), n).mask == lists.mask).all()


@pytest.mark.parametrize("kind", ["bdeu", "bds"])
def test_threads_that_look_ahead_change_nothing(kind):
    card = [2, 3, 3, 2] * 10
    data = table_of(linked_rows(card, 6000, seed=5), card)
    rules = Constraints().rules(data.names, max_parents=3)
    answers = []
    for n_threads in (1, 2, 5):
        scorer = FamilyScorer(data, score=kind, constraints=rules, n_threads=n_threads)
        lists = Promising.none(data.n_vars)
        found = greedy.climb_from(scorer, rules, restarts=2, seed=1, promising=lists)
        changes = found.detail["changes"]
        noted = lists.packed().tolist()
        answers.append((found.dag.parents, found.score, changes, noted))
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("limit", [0.001, 0.2])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_time_limit_is_kept(limit, n_threads):
    card = [3] * 150
    data = table_of(linked_rows(card, 20_000, seed=5), card)
    known = Constraints(required=[("v0", "v5")])
    with within(limit + 0.5):
        found = climb(
            data,
            time_limit=limit,
            seed=1,
            constraints=known,
            n_threads=n_threads,
            restarts=10**6,
        )
    assert found.stopped == "time"
    assert 0 in found.dag.parents[5]
    again = dag_score(found.dag, data, constraints=known)
    assert found.score == pytest.approx(again)


def test_ctrl_c_gives_the_best_so_far():
    card = [3] * 100
    data = table_of(linked_rows(card, 50_000, seed=5), card)
    with ctrl_c_after(0.2):
        found = climb(data, seed=1, restarts=10**6)
    assert found.stopped == "interrupt"
    assert found.score == pytest.approx(dag_score(found.dag, data))


def test_progress_is_told_what_goes_on():
    card = [3] * 100
    data = table_of(linked_rows(card, 20_000, seed=5), card)
    told = []
    climb(
        data, seed=1, time_limit=1, restarts=10**6, progress=lambda *x: told.append(x)
    )
    assert told
    assert told[-1][0].startswith("hill climbing: ")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"tabu_length": -1}, "tabu_length must be an integer >= 0. Got -1"),
        ({"tabu_moves": 0.5}, "tabu_moves must be an integer >= 0. Got 0.5"),
        ({"restarts": -2}, "restarts must be an integer >= 0. Got -2"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0"),
        ({"max_parents": -1}, "max_parents must be an integer >= 0"),
        ({"start": Dag(("x", "y"), ((), ()))}, "start must be a DAG over the variab"),
        ({"start": "x"}, "start must be a DAG over the variables of the data"),
        (
            {"start": Dag(("v0", "v1"), ((), (0,))), "max_parents": 0},
            "start breaks the constraints or max_parents",
        ),
    ],
)
def test_arguments_out_of_range_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        climb(table_of([(0, 1)], [2, 2]), **options)


def test_missing_cells_are_refused():
    with pytest.raises(DataError, match="variable 'v0' is missing in row 1"):
        climb(table_of([(0, 1), (255, 1)], [2, 2]))


def test_rules_are_checked_once_for_many_climbs():
    data = table_of([(0, 1), (1, 0)], [2, 2])
    scorer = greedy.FamilyScorer(data)
    rules = Constraints().rules(data.names, max_parents=1)
    assert greedy.climb_from(scorer, rules).dag.n_vars == 2
