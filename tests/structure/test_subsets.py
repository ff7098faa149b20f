"""Dynamic programming over subsets against enumeration of all choices."""

import numpy as np
import pytest
from hypothesis import given
from support import oracle
from support.examples import examples
from support.strategies import candidate_lists, random_lists
from support.timing import ctrl_c_after, within

from bayesmend.errors import ParameterError
from bayesmend.structure import (
    ParentSets,
    best_through,
    solve_subsets,
    subsets,
    subsets_memory,
)


def sets_of(lists):
    return ParentSets.from_lists([f"v{i}" for i in range(len(lists))], lists)


def all_families(n, seed, *, levels=None):
    """Every family of n variables; with few levels of scores there are many ties."""
    rng = np.random.default_rng(seed)
    scores = (lambda: rng.random()) if levels is None else lambda: rng.integers(levels)
    return [
        [
            (float(scores()) if rng.random() > 0.1 or not members else -np.inf, members)
            for members in oracle.candidate_sets(n, child, n - 1)
        ]
        for child in range(n)
    ]


@examples(100)
@given(candidate_lists(max_vars=5, max_sets=3))
def test_the_score_is_the_best_of_all_choices(lists):
    solution = solve_subsets(sets_of(lists))
    assert solution.score == pytest.approx(oracle.best_total(lists))
    assert (solution.status, solution.solver) == ("optimal", "subsets")
    assert solution.bound == solution.score == sets_of(lists).score_of(solution.dag)


@pytest.mark.parametrize("n_vars", [1, 2, 3, 4, 5])
def test_the_score_is_the_best_of_all_dags(n_vars):
    lists = all_families(n_vars, seed=n_vars, levels=4 if n_vars % 2 else None)
    table = [dict(map(reversed, pairs)) for pairs in lists]
    best = oracle.best_dag_score(n_vars, lambda v, ps: table[v][ps], n_vars - 1)
    assert solve_subsets(sets_of(lists)).score == pytest.approx(best)


@examples(100)
@given(candidate_lists(max_vars=4, max_sets=4))
def test_best_through_is_the_best_choice_with_each_candidate(lists):
    sets = sets_of(lists)
    ordered = [sets.of(v) for v in range(sets.n_vars)]
    expected = [x for row in oracle.best_through(ordered) for x in row]
    assert best_through(sets).tolist() == pytest.approx(expected)


def test_the_best_dag_goes_through_its_own_candidates():
    sets = sets_of(random_lists(12, 40, 3, seed=1))
    solution, through = solve_subsets(sets), best_through(sets)
    assert through.max() == pytest.approx(solution.score)
    assert through[sets.choice_of(solution.dag)].tolist() == pytest.approx(
        [solution.score] * 12
    )


@pytest.mark.parametrize("n_vars", [9, 17, 18])
def test_the_same_answer_for_any_number_of_threads(n_vars):
    sets = sets_of(random_lists(n_vars, 30, 3, seed=n_vars))
    first, *others = (solve_subsets(sets, n_threads=n) for n in (1, 4, 7))
    assert all((o.dag, o.score) == (first.dag, first.score) for o in others)
    one, *more = (best_through(sets, n_threads=n).tobytes() for n in (1, 4, 7))
    assert all(through == one for through in more)


def test_no_variables_have_a_score_of_zero():
    solution = solve_subsets(ParentSets.from_lists((), []))
    assert (solution.score, solution.status, solution.dag.n_vars) == (0.0, "optimal", 0)
    assert best_through(ParentSets.from_lists((), [])).shape == (0,)


def test_lists_without_an_acyclic_choice_are_named():
    sets = sets_of([[(-1.0, ())], [(-1.0, (2,))], [(-1.0, (1,)), (-np.inf, ())]])
    with pytest.raises(ParameterError, match="candidate of v1, v2 closes a cycle"):
        solve_subsets(sets)
    assert np.isneginf(best_through(sets)).all()


def test_too_many_variables_are_refused_with_the_memory_they_need(monkeypatch):
    sets = ParentSets.from_lists([f"v{i}" for i in range(32)], [[(0.0, ())]] * 32)
    with pytest.raises(ParameterError, match=r"over 32 variables .* about 5\d\d GB"):
        solve_subsets(sets)
    monkeypatch.setattr(subsets, "available_memory", lambda: 1e6)
    with pytest.raises(ParameterError, match="Use solver='ilp' or solver='order'"):
        best_through(sets_of([[(0.0, ())]] * 16))


def test_memory_is_what_the_tables_take():
    assert subsets_memory(10) == 8 * (10 * 2**9 + 2**10)
    assert subsets_memory(10, through=True) == 8 * (10 * 2**9 + 3 * 2**10)


def test_a_time_limit_gives_the_best_so_far_with_a_bound():
    sets = sets_of(random_lists(22, 60, 3, seed=4))
    with within(0.55):
        solution = solve_subsets(sets, time_limit=0.05)
    assert (solution.certificate, solution.stopped) == ("bounded", "time")
    best = solve_subsets(sets).score
    assert solution.score - 1e-9 <= best <= solution.bound + 1e-9
    assert sets.score_of(solution.dag) == pytest.approx(solution.score)


@pytest.mark.parametrize("limit", [1e-9, 1e-6, 1e-4])
def test_a_small_problem_is_solved_whole_however_little_time_there_is(limit):
    sets = sets_of(random_lists(10, 30, 3, seed=4))
    best = solve_subsets(sets)
    hurried = solve_subsets(sets, time_limit=limit)
    assert (hurried.certificate, hurried.score) == ("optimal", best.score)


def test_ctrl_c_gives_the_best_so_far():
    sets = sets_of(random_lists(24, 60, 3, seed=4))
    with ctrl_c_after(0.2):
        solution = solve_subsets(sets)
    assert (solution.certificate, solution.stopped) == ("bounded", "interrupt")


def test_progress_is_told_the_size():
    told = []
    solve_subsets(sets_of([[(0.0, ())]] * 3), progress=lambda *x: told.append(x))
    assert told[0][0] == "subsets of 3 variables"


@pytest.mark.parametrize("limit", [0, -1.0, float("nan")])
def test_a_time_limit_is_positive(limit):
    with pytest.raises(ParameterError, match="time_limit must be a number of seconds"):
        solve_subsets(sets_of([[(0.0, ())]]), time_limit=limit)
