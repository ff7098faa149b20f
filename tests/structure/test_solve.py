"""One contract for every solver, and for a callable of the user's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.strategies import candidate_lists, random_lists
from support.timing import ctrl_c_after, ctrl_c_on_progress, within

from bayesmend import Dag
from bayesmend.errors import CycleError, ParameterError
from bayesmend.structure import (
    ParentSets,
    Solution,
    choose_solver,
    solve,
    solve_subsets,
)


def by_callable(parent_sets):
    """A user's own solver: the best of all choices."""
    lists = [parent_sets.of(v) for v in range(parent_sets.n_vars)]
    best = max(oracle.acyclic_choices(lists), key=lambda c: sum(s for s, _ in c))
    return [members for _, members in best]


def by_solution(parent_sets):
    """A user's own solver that returns a Solution."""
    return solve_subsets(parent_sets)


NAMED = ("auto", "subsets", "ilp", "order")
EVERY = (*NAMED, by_callable, by_solution)
EXACT = ("auto", "subsets", "ilp")


def ids(solver):
    return solver if isinstance(solver, str) else solver.__name__


def sets_of(lists):
    return ParentSets.from_lists([f"v{i}" for i in range(len(lists))], lists)


@pytest.mark.parametrize("solver", EVERY, ids=ids)
@examples(40)
@given(lists=candidate_lists(max_vars=4, max_sets=4), seed=st.integers(0, 9))
def test_the_best_choice_is_found(solver, lists, seed):
    sets = sets_of(lists)
    found = solve(sets, solver=solver, seed=seed)
    best = oracle.best_total(lists)
    assert found.score == pytest.approx(best, abs=1e-6)
    assert found.score == pytest.approx(sets.score_of(found.dag), abs=1e-9)
    assert found.bound >= best - 1e-6
    assert found.gap == max(0.0, found.bound - found.score)
    assert found.certificate in ("optimal", "heuristic", "bounded")


@pytest.mark.parametrize("solver", EXACT)
@examples(20)
@given(lists=candidate_lists(max_vars=4, max_sets=4))
def test_an_exact_solver_proves_its_answer(solver, lists):
    found = solve(sets_of(lists), solver=solver)
    assert (found.status, found.gap) == ("optimal", pytest.approx(0, abs=1e-6))


@pytest.mark.parametrize("n_vars", [8, 10, 12])
def test_solvers_agree_with_each_other(n_vars):
    sets = sets_of(random_lists(n_vars, 25, 3, seed=n_vars))
    scores = [solve(sets, solver=s, seed=1).score for s in EXACT]
    assert scores == pytest.approx([scores[0]] * len(scores), abs=1e-6)
    assert solve(sets, solver="order", seed=1).score <= scores[0] + 1e-9


@pytest.mark.parametrize("solver", NAMED)
def test_relabelled_variables_give_the_relabelled_answer(solver):
    n = 8
    lists = random_lists(n, 15, 3, seed=5)
    to = np.random.default_rng(1).permutation(n).tolist()
    moved = [None] * n
    for v, pairs in enumerate(lists):
        moved[to[v]] = [(s, tuple(sorted(to[p] for p in m))) for s, m in pairs]
    one, two = (solve(sets_of(x), solver=solver, seed=1) for x in (lists, moved))
    assert two.score == pytest.approx(one.score)
    arcs = {(to[p], to[c]) for c, ps in enumerate(one.dag.parents) for p in ps}
    assert arcs == {(p, c) for c, ps in enumerate(two.dag.parents) for p in ps}


@pytest.mark.parametrize("solver", EVERY, ids=ids)
def test_no_variables_have_a_score_of_zero(solver):
    found = solve(ParentSets.from_lists((), []), solver=solver)
    assert (found.score, found.dag.n_vars, found.status) == (0.0, 0, "optimal")


@pytest.mark.parametrize("solver", NAMED)
def test_one_variable_takes_its_only_candidate(solver):
    found = solve(sets_of([[(-3.0, ())]]), solver=solver)
    assert (found.score, found.status) == (-3.0, "optimal")


@pytest.mark.parametrize("solver", NAMED)
def test_lists_without_an_acyclic_choice_are_refused_by_name(solver):
    sets = sets_of([[(-1.0, ())], [(-1.0, (2,))], [(-1.0, (1,))]])
    with pytest.raises(ParameterError, match=r"no acyclic graph .* of v1, v2 closes"):
        solve(sets, solver=solver)


@pytest.mark.parametrize("solver", ["subsets", "ilp"])
def test_a_time_limit_beyond_every_clock_is_none(solver):
    sets = sets_of(random_lists(5, 5, 2, seed=1))
    found = solve(sets, solver=solver, time_limit=1e300, seed=1)
    assert found.status == "optimal"


@pytest.mark.parametrize("solver", NAMED)
def test_a_time_limit_brackets_the_optimum(solver):
    sets = sets_of(random_lists(21, 80, 3, seed=2))
    with within(0.55):
        found = solve(sets, solver=solver, time_limit=0.05, seed=1)
    assert sets.score_of(found.dag) == pytest.approx(found.score)
    assert found.score - 1e-6 <= solve_subsets(sets).score <= found.bound + 1e-6


@pytest.mark.parametrize(
    "wait", [0.15, *(pytest.param(w, marks=pytest.mark.slow) for w in (0.25, 0.4))]
)
@pytest.mark.parametrize("solver", ["subsets", "ilp", "order"])
def test_ctrl_c_gives_the_best_so_far(solver, wait):
    sets = sets_of(random_lists(24, 150, 3, seed=2))
    # What is imported on first use takes a moment, in which there is no answer yet.
    solve(sets_of(random_lists(4, 4, 2, seed=2)), solver=solver, seed=1, time_limit=1)
    with ctrl_c_after(wait):
        found = solve(sets, solver=solver, seed=1, time_limit=20)
    assert found.stopped == "interrupt"
    assert sets.score_of(found.dag) == pytest.approx(found.score)
    assert found.certificate in ("bounded", "heuristic")


@pytest.mark.parametrize("solver", NAMED)
def test_a_start_is_taken_by_every_solver(solver):
    sets = sets_of(random_lists(9, 20, 3, seed=2))
    start = solve_subsets(sets).dag
    found = solve(sets, solver=solver, start=start, seed=1)
    assert found.score == pytest.approx(sets.score_of(start))


@pytest.mark.parametrize("solver", ["ilp", "order"])
def test_progress_is_told_text_score_and_seconds(solver):
    told = []
    sets = sets_of(random_lists(30, 150, 3, seed=2))
    with ctrl_c_on_progress() as stop:

        def progress(*news):
            told.append(news)
            stop(*news)

        solve(sets, solver=solver, time_limit=60, seed=1, progress=progress)
    assert told
    assert all(
        isinstance(what, str) and score <= 0 and seconds >= 0
        for what, score, seconds in told
    )


# --- auto -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_vars", "n_sets", "chosen"),
    [
        (20, 10**6, "subsets: 20 variables"),
        (37, 1_900, "ilp: 37 variables, 1,900 candidate sets"),
        (37, 10**6, "order: 37 variables, 1,000,000 candidate sets"),
        (500, 1_000, "order: 500 variables, 1,000 candidate sets"),
    ],
)
def test_auto_chooses_by_size_and_says_why(n_vars, n_sets, chosen):
    assert choose_solver(n_vars, n_sets) == (chosen.partition(":")[0], chosen)


def test_auto_says_what_it_chose():
    found = solve(sets_of(random_lists(5, 6, 2, seed=1)))
    assert (found.solver, found.chosen) == ("subsets", "subsets: 5 variables")


def test_auto_limits_a_proof_and_says_so():
    lists = [[(-1.0, ())] for _ in range(21)]
    found = solve(sets_of(lists))
    assert found.chosen == ("ilp: 21 variables, 21 candidate sets, at most 60 s")
    assert found.status == "optimal"


# --- a callable -----------------------------------------------------------------------

SETS = sets_of([[(-5.0, ()), (-1.0, (1,))], [(-5.0, ()), (-3.0, (0,))]])


@pytest.mark.parametrize(
    "answer",
    [
        Dag(("v0", "v1"), ((), (0,))),
        [[], [0]],
        Solution(
            dag=Dag(("v0", "v1"), ((), (0,))), score=1e9, bound=-4.0, solver="mine"
        ),
    ],
    ids=["dag", "parents", "solution"],
)
def test_the_score_of_an_answer_is_recomputed(answer):
    found = solve(SETS, solver=lambda sets: answer)
    assert found.score == -8.0
    assert found.solver == "<lambda>"
    assert found.certificate in ("bounded", "heuristic")


def test_an_answer_that_meets_the_bound_is_optimal():
    found = solve(sets_of([[(-1.0, ())]]), solver=lambda sets: [[]])
    assert found.status == "optimal"


@pytest.mark.parametrize("answer", [None, 3, ["x"], [[None], []]])
def test_an_answer_of_another_kind_is_refused(answer):
    with pytest.raises(ParameterError, match="a solver must return a Dag, a Solution"):
        solve(SETS, solver=lambda sets: answer)


def test_an_answer_over_other_variables_is_refused():
    with pytest.raises(ParameterError, match="a DAG over other variables"):
        solve(SETS, solver=lambda sets: Dag(("x", "y"), ((), ())))


def test_an_answer_with_a_cycle_is_refused():
    with pytest.raises(CycleError, match="v0 -> v1 -> v0"):
        solve(SETS, solver=lambda sets: [[1], [0]])


def test_an_answer_that_is_no_candidate_is_refused():
    sets = sets_of([[(0.0, ())], [(0.0, ())]])
    with pytest.raises(ParameterError, match="are not among its 1 candidate"):
        solve(sets, solver=lambda sets: [[], [0]])


# --- messages -------------------------------------------------------------------------


def test_an_unknown_solver_is_refused():
    with pytest.raises(ParameterError, match="one of auto, subsets, ilp, order or a c"):
        solve(SETS, solver="magic")


@pytest.mark.parametrize("solver", NAMED)
@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"time_limit": -1}, "time_limit must be a number of seconds"),
        ({"n_threads": -1}, "n_threads must be an integer >= 0. Got -1"),
        ({"seed": -1}, "seed must be an integer >= 0"),
    ],
)
def test_arguments_out_of_range_are_refused(solver, options, match):
    with pytest.raises(ParameterError, match=match):
        solve(SETS, solver=solver, **options)
