"""The search over orders: never above the optimum, and nearly always there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.strategies import candidate_lists, random_lists
from support.timing import ctrl_c_on_progress, within

from bayesmend import Dag
from bayesmend.errors import ParameterError
from bayesmend.structure import ParentSets, solve_order, solve_subsets


def sets_of(lists):
    return ParentSets.from_lists([f"v{i}" for i in range(len(lists))], lists)


@examples(100)
@given(candidate_lists(max_vars=5, max_sets=3), st.integers(0, 100))
def test_small_instances_are_solved(lists, seed):
    solution = solve_order(sets_of(lists), seed=seed)
    assert solution.score == pytest.approx(oracle.best_total(lists))
    assert solution.score == sets_of(lists).score_of(solution.dag)
    assert solution.bound >= solution.score


def test_the_optimum_is_reached_nearly_always_and_never_exceeded():
    reached = 0
    for seed in range(20):
        sets = sets_of(random_lists(13, 40, 3, seed))
        best = solve_subsets(sets).score
        found = solve_order(sets, seed=seed, restarts=4)
        assert found.score <= best + 1e-9
        assert found.score == sets.score_of(found.dag)
        reached += found.score > best - 1e-9
    assert reached >= 19


@pytest.mark.parametrize("n_vars", [2, 12, 40])
def test_the_same_answer_for_any_number_of_threads(n_vars):
    sets = sets_of(random_lists(n_vars, 30, 3, seed=n_vars))
    first, *others = (
        solve_order(sets, seed=5, restarts=5, patience=8, n_threads=n)
        for n in (1, 4, 7)
    )
    assert all((o.dag, o.score) == (first.dag, first.score) for o in others)


def test_another_seed_may_give_another_answer_but_the_same_seed_does_not():
    sets = sets_of(random_lists(80, 40, 3, seed=1))
    one, same = (solve_order(sets, seed=1, patience=1) for _ in range(2))
    assert one.dag == same.dag
    others = {solve_order(sets, seed=s, patience=1).score for s in range(6)}
    assert len(others) > 1


def test_the_answer_is_no_worse_than_the_start():
    sets = sets_of(random_lists(40, 60, 3, seed=2))
    start = solve_order(sets, seed=1).dag
    again = solve_order(sets, start=start, seed=2, patience=1, restarts=1)
    assert again.score >= sets.score_of(start) - 1e-9


def test_the_start_may_list_its_variables_in_another_order():
    sets = sets_of([[(-1.0, ())], [(-5.0, ()), (-1.0, (0,))]])
    start = Dag.from_arcs(["v1", "v0"], [("v0", "v1")])
    assert solve_order(sets, start=start).score == -2.0


def test_a_forbidden_candidate_is_never_chosen():
    lists = [
        [(-np.inf, ()), (-3.0, (1,)), (-1.0, (2,))],
        [(-2.0, ()), (-np.inf, (0,))],
        [(-5.0, (1,)), (-np.inf, ())],
    ]
    solution = solve_order(sets_of(lists), seed=1)
    assert solution.score == pytest.approx(oracle.best_total(lists))


def test_an_order_is_found_where_only_one_exists():
    # A chain: every variable has a single candidate, its predecessor.
    n = 60
    rng = np.random.default_rng(1)
    chain = rng.permutation(n).tolist()
    lists = [None] * n
    for before, v in zip([None, *chain], chain, strict=False):
        lists[v] = [(-1.0, () if before is None else (before,))]
    solution = solve_order(sets_of(lists), seed=3, patience=1)
    assert (solution.score, solution.status) == (-float(n), "optimal")


def test_lists_without_an_acyclic_choice_are_named():
    sets = sets_of([[(-1.0, ())], [(-1.0, (2,))], [(-1.0, (1,))]])
    with pytest.raises(ParameterError, match="every candidate of v1, v2 closes a cyc"):
        solve_order(sets)


def test_sums_of_huge_scores_end_the_search():
    lists = [[(1e7 * s, m) for s, m in row] for row in random_lists(30, 40, 3, seed=3)]
    sets = sets_of(lists)
    solution = solve_order(sets, seed=1, patience=5)
    assert solution.score == sets.score_of(solution.dag)


def test_every_best_candidate_at_once_is_optimal():
    sets = sets_of([[(-1.0, ())], [(-1.0, (0,)), (-3.0, ())]])
    solution = solve_order(sets)
    assert (solution.status, solution.bound) == ("optimal", -2.0)


def test_no_variables_have_a_score_of_zero():
    solution = solve_order(ParentSets.from_lists((), []))
    assert (solution.score, solution.status) == (0.0, "optimal")


@pytest.mark.parametrize("limit", [0.001, 0.3])
@pytest.mark.parametrize("n_threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_time_limit_is_kept(limit, n_threads):
    sets = sets_of(random_lists(300, 60, 3, seed=6))
    with within(limit + 0.5):
        solution = solve_order(sets, time_limit=limit, n_threads=n_threads, seed=1)
    assert solution.stopped == "time"
    assert solution.score == sets.score_of(solution.dag)


def test_ctrl_c_gives_the_best_so_far():
    sets = sets_of(random_lists(200, 60, 3, seed=6))
    with ctrl_c_on_progress() as progress:
        found = solve_order(sets, time_limit=60, seed=1, progress=progress)
    assert found.stopped == "interrupt"
    assert found.score == pytest.approx(sets.score_of(found.dag))


def test_progress_is_told_scores_that_rise():
    told = []
    sets = sets_of(random_lists(200, 60, 3, seed=6))
    solve_order(sets, time_limit=0.7, seed=1, progress=lambda *x: told.append(x))
    assert told
    assert all(what.startswith("order search: ") for what, _, _ in told)
    scores = [score for _, score, _ in told]
    assert scores == sorted(scores)


def test_an_error_in_progress_is_raised():
    def broken(what, score, seconds):
        raise RuntimeError("no paper")

    sets = sets_of(random_lists(200, 60, 3, seed=6))
    with pytest.raises(RuntimeError, match="no paper"):
        solve_order(sets, time_limit=2, progress=broken)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"restarts": 0}, "restarts must be an integer >= 1. Got 0"),
        ({"restarts": 2**62}, "are more than 10,000,000 choices in all. Ask for fewer"),
        ({"patience": 0}, "patience must be an integer >= 1. Got 0"),
        ({"max_window": 1.5}, "max_window must be an integer >= 1. Got 1.5"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0"),
        ({"n_threads": -1}, "n_threads must be an integer >= 0"),
        ({"seed": -1}, "seed must be an integer >= 0"),
        ({"start": Dag(("x",), ((),))}, "start must be a DAG over the variables"),
    ],
)
def test_arguments_out_of_range_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        solve_order(sets_of([[(0.0, ())], [(0.0, ())]]), **options)
