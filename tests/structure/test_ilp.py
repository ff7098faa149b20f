"""Integer programming: the optimum, bounds at any stop, cuts against enumeration."""

import itertools
import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyscipopt import SCIP_RESULT
from support import oracle
from support.examples import examples
from support.strategies import candidate_lists
from support.timing import within

from bayesmend import _core
from bayesmend.errors import ParameterError
from bayesmend.formats.jkl import write_jkl
from bayesmend.graph.dag import Dag
from bayesmend.structure import branching, scip, solve_ilp, solve_subsets
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.problem import Problem


def parent_sets(lists):
    return ParentSets.from_lists([f"v{i}" for i in range(len(lists))], lists)


def hard_lists(n_vars, seed, n_sets=40):
    """Random candidates of which every good one closes cycles."""
    random = np.random.default_rng(seed)
    lists = []
    for i in range(n_vars):
        others = [v for v in range(n_vars) if v != i]
        row = {(): -30.0}
        for _ in range(n_sets):
            parents = random.choice(others, size=random.integers(1, 4), replace=False)
            members = tuple(sorted(map(int, parents)))
            row[members] = -30.0 + 5 * len(members) + float(random.gamma(2.0, 2.0))
        lists.append([(score, parents) for parents, score in row.items()])
    return lists


def check(solution, sets):
    assert solution.score == pytest.approx(sets.score_of(solution.dag), abs=1e-9)
    assert solution.bound >= solution.score
    assert solution.gap == solution.bound - solution.score
    return solution


@given(candidate_lists())
@examples(60)
def test_the_optimum_is_the_best_of_all_dags(lists):
    sets = parent_sets(lists)
    solution = check(solve_ilp(sets, seed=0), sets)
    assert solution.status == "optimal"
    assert solution.score == pytest.approx(oracle.best_total(lists), abs=1e-6)


@given(candidate_lists(whole=False, min_vars=2))
@examples(60)
def test_without_empty_sets_an_optimum_or_an_error(lists):
    assume(all(lists))
    sets, best = parent_sets(lists), oracle.best_total(lists)
    if best is None:
        with pytest.raises(ParameterError, match=r"minus infinity|no acyclic graph"):
            solve_ilp(sets, seed=0)
    else:
        assert solve_ilp(sets, seed=0).score == pytest.approx(best, abs=1e-6)


@given(st.integers(0, 50), st.permutations(range(5)))
@examples(15)
def test_relabelled_variables_give_the_relabelled_optimum(seed, order):
    lists = hard_lists(5, seed, 6)
    place = {v: k for k, v in enumerate(order)}
    moved = [[(s, [place[p] for p in pa]) for s, pa in lists[v]] for v in order]
    one = solve_ilp(parent_sets(lists), seed=0)
    two = solve_ilp(parent_sets(moved), seed=0)
    assert one.score == pytest.approx(two.score, abs=1e-6)
    assert one.score == pytest.approx(oracle.best_total(lists), abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_optimum_is_that_of_the_dynamic_programme(seed):
    lists = hard_lists(9, seed, 25)
    solution = solve_ilp(parent_sets(lists), seed=seed)
    assert solution.status == "optimal"
    assert solution.score == pytest.approx(
        oracle.best_total_by_subsets(lists), abs=1e-6
    )


@pytest.mark.parametrize("seed", range(4))
def test_bounds_bracket_the_optimum_when_stopped_early(seed):
    sets = parent_sets(hard_lists(14, seed))
    best = check(solve_ilp(sets, seed=seed), sets)
    assert best.status == "optimal"
    for limits in ({"time_limit": 0.0}, {"time_limit": 0.02}, {"node_limit": 1}):
        early = check(solve_ilp(sets, seed=seed, **limits), sets)
        assert early.score <= best.score + 1e-6
        assert early.bound >= best.score - 1e-6
        stopped = early.stopped
        assert early.status == "optimal" or stopped in {"time", "nodes"}


def test_without_patience_a_search_that_is_slow_ends_with_a_gap():
    sets = parent_sets(hard_lists(12, 3, 40))
    best = solve_ilp(sets, seed=0)
    assert best.detail["n_rounds"] > 1
    hasty, patient = (solve_ilp(sets, seed=0, patience=n) for n in (1, 10**6))
    assert "ended" not in best.detail
    assert "ended" not in patient.detail
    assert "too slowly for a proof" in hasty.detail["ended"]
    assert (hasty.certificate, hasty.stopped) == ("bounded", "nothing")
    assert hasty.score <= best.score + 1e-6 <= hasty.bound + 2e-6
    assert patient.score == best.score


def test_a_gap_ends_the_search_early():
    sets = parent_sets(hard_lists(14, 1))
    best, loose = solve_ilp(sets, seed=0), solve_ilp(sets, seed=0, gap=20.0)
    assert loose.certificate == "bounded"
    assert not loose.stopped
    assert 0 < loose.gap <= 20.0
    assert loose.bound >= best.score - 1e-6


@pytest.mark.parametrize("time_limit", [0.0, 0.3, 1.0])
def test_the_time_limit_is_kept(time_limit):
    sets = parent_sets(hard_lists(40, 0, 150))
    with within(time_limit + 0.5):
        solution = check(solve_ilp(sets, seed=0, time_limit=time_limit), sets)
    assert solution.certificate == "bounded"
    assert solution.stopped == "time"
    assert math.isfinite(solution.bound)


def test_the_same_seed_gives_the_same_answer():
    sets = parent_sets(hard_lists(14, 3))
    one, two = (solve_ilp(sets, seed=7) for _ in range(2))
    assert (one.dag, one.score, one.bound) == (two.dag, two.score, two.bound)
    assert one.detail == two.detail


def test_a_start_is_never_lost():
    sets = parent_sets(hard_lists(14, 2))
    best = solve_ilp(sets, seed=0)
    again = solve_ilp(sets, seed=1, start=best.dag, time_limit=0.0)
    assert again.score == pytest.approx(best.score, abs=1e-6)
    assert solve_ilp(sets, seed=1, start=best.dag).score == pytest.approx(best.score)


def test_a_start_that_is_not_made_of_candidates_is_refused():
    sets = parent_sets([[(-1.0, ())], [(-1.0, ())]])
    with pytest.raises(ParameterError, match="not among its 1 candidate"):
        solve_ilp(sets, start=Dag(("v0", "v1"), ((), (0,))))


def test_sets_with_hundreds_of_members():
    n = 400
    lists = [[(-1.0, range(max(0, i - 300), i)), (-3.0, ())] for i in range(1, n)]
    lists = [[(-1.0, range(100, n)), (-3.5, ())], *lists]
    solution = solve_ilp(parent_sets(lists), seed=0)
    assert solution.status == "optimal"
    assert solution.score == -3.5 - (n - 1)


@pytest.mark.slow
def test_of_variables_that_all_want_each_other_one_gets_its_wish():
    n = 60
    lists = [[(-1.0, [v for v in range(n) if v != i]), (-3.0, ())] for i in range(n)]
    solution = solve_ilp(parent_sets(lists), seed=0)
    assert (solution.status, solution.score) == ("optimal", -1.0 - 3.0 * (n - 1))


def test_a_thousand_variables_without_conflict_are_proven_at_once():
    n = 1000
    lists = [[(-1.0, (i - 1,)), (-2.0, ())] for i in range(1, n)]
    lists = [[(-1.0, ())], *lists]
    solution = solve_ilp(parent_sets(lists), seed=0, time_limit=20)
    assert (solution.status, solution.score) == ("optimal", -float(n))


def test_small_differences_between_large_scores_count():
    lists = [
        [(-1e5, ()), (-9e4, (1,))],
        [(-1e5, ()), (-9e4 + 1e-3, (0,))],
        [(-2e5, ())],
    ]
    assert solve_ilp(parent_sets(lists), seed=0).dag.parents == ((), (0,), ())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time_limit": -1}, "time_limit must be"),
        ({"time_limit": math.nan}, "time_limit must be"),
        ({"gap": -1.0}, "gap must be"),
        ({"patience": 0}, "patience must be an integer >= 1. Got 0"),
        ({"node_limit": 0}, "node_limit must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ParameterError, match=message):
        solve_ilp(parent_sets([[(-1.0, ())]]), **options)


def test_candidates_that_need_each_other_are_named():
    sets = parent_sets([[(-1.0, (1,))], [(-1.0, (0,))], [(-1.0, ())]])
    with pytest.raises(ParameterError, match=r"every candidate of v[01]"):
        solve_ilp(sets)


def test_progress_brackets_the_optimum():
    sets, seen = parent_sets(hard_lists(14, 1)), []

    def hear(what, score, seconds, bound):
        seen.append((what, score, bound))

    best = solve_ilp(sets, seed=0, progress=hear)
    assert seen
    assert {what for what, _, _ in seen} == {"integer programme"}
    assert all(bound >= best.score - 1e-6 for _, _, bound in seen)
    assert all(score <= best.score + 1e-6 for _, score, _ in seen)


def test_an_error_in_the_progress_callable_is_raised():
    def fail(*_):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        solve_ilp(parent_sets(hard_lists(14, 1)), seed=0, progress=fail)


INTERRUPTED = """
import sys
from bayesmend.formats.jkl import read_jkl
from bayesmend.structure import (solve_ilp)
sets = read_jkl(sys.argv[1])
tell = lambda *_: print("going", flush=True)
solution = solve_ilp(sets, seed=0, progress=tell)
print(solution.certificate, solution.stopped, solution.gap > 0)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_ctrl_c_returns_the_best_so_far(tmp_path):
    write_jkl(parent_sets(hard_lists(40, 0, 150)), tmp_path / "hard.jkl")
    command = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "hard.jkl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "going\n"
        process.send_signal(signal.SIGINT)
        with within(2.0):
            rest = process.stdout.read().splitlines()
            assert process.wait(timeout=10) == 0
    assert rest[-1] == "bounded interrupt True"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
@pytest.mark.parametrize("when", [1, 2, 5, -1], ids=lambda n: f"call{n}")
@pytest.mark.parametrize("callback", ["conslock", "conscheck", "conssepalp"])
def test_ctrl_c_in_any_callback_leaves_a_valid_dag(monkeypatch, callback, when):
    # SCIP calls back while it begins to solve and while it frees its memory, when it
    # takes no order to stop; the last call of a run without Ctrl-C is such a moment.
    sets = parent_sets(hard_lists(16, seed=3))
    calls = 0
    original = getattr(scip.Acyclicity, callback)

    def counted(self, *arguments):
        nonlocal calls
        calls += 1
        if calls == when:
            signal.raise_signal(signal.SIGINT)
        return original(self, *arguments)

    monkeypatch.setattr(scip.Acyclicity, callback, counted)
    if when == -1:
        solve_ilp(sets, seed=1)
        when, calls = calls, 0
    solution = solve_ilp(sets, seed=1)
    check(solution, sets)
    if calls >= when:
        assert solution.stopped == "interrupt"


def separate(sets, weights):
    cuts = _core.violated_clusters(
        sets.offsets,
        sets.scores,
        sets.member_offsets,
        sets.members,
        np.array([w for row in weights for w in row]),
        max_clusters=100,
        steps=1000,
        final_steps=100_000,
        min_violation=1e-4,
        seconds=60.0,
        must_find=False,
    )
    items, offsets = cuts.clusters.items, cuts.clusters.offsets
    return [items[a:b].tolist() for a, b in itertools.pairwise(offsets)]


@st.composite
def weighted_candidates(draw):
    lists = draw(candidate_lists(min_vars=2))
    lists = [parent_sets(lists).of(i) for i in range(len(lists))]
    parts = [[draw(st.integers(0, 4)) for _ in row] for row in lists]
    assume(all(sum(row) for row in parts))
    return lists, [[p / sum(row) for p in row] for row in parts]


@examples(40)
@given(weighted_candidates())
def test_separation_finds_the_most_violated_cluster(case):
    lists, weights = case
    found = separate(parent_sets(lists), weights)
    worst = oracle.worst_violation(lists, weights)
    values = [oracle.cluster_violation(lists, weights, c) for c in found]
    assert values == sorted(values, reverse=True) or np.allclose(
        values, sorted(values, reverse=True)
    )
    assert max(values, default=0.0) == pytest.approx(worst if worst >= 1e-4 else 0.0)


@examples(40)
@given(weighted_candidates(), st.integers(0, 3))
def test_rounding_gives_an_acyclic_choice(case, kicks):
    lists, weights = case
    sets = parent_sets(lists)
    chosen = _core.order_from_lp(
        sets.offsets,
        sets.scores,
        sets.member_offsets,
        sets.members,
        np.array([w for row in weights for w in row]),
        kicks=kicks,
        seed=0,
        seconds=10.0,
    )
    arcs = oracle.arcs_of([sets.members_of(c) for c in chosen])
    assert oracle.is_acyclic(sets.n_vars, arcs)
    for i, c in enumerate(chosen):
        assert sets.offsets[i] <= c < sets.offsets[i + 1]


@examples(30)
@given(st.integers(4, 5), st.integers(0, 10**6))
def test_each_split_cuts_off_the_relaxation_and_no_acyclic_choice(n_vars, seed):
    problem = Problem.from_parent_sets(parent_sets(hard_lists(n_vars, seed, 4)))
    random = np.random.default_rng(seed)
    sizes = np.diff(problem.offsets).tolist()
    weights = np.concatenate([random.dirichlet(np.full(k, 0.5)) for k in sizes])
    arcs = branching.Arcs(problem)
    rows = itertools.pairwise(problem.member_offsets.tolist())
    members = [problem.members[a:b].tolist() for a, b in rows]
    acyclic = [
        choice
        for choice in itertools.product(
            *[range(a, b) for a, b in itertools.pairwise(problem.offsets.tolist())]
        )
        if oracle.is_acyclic(n_vars, oracle.arcs_of(members[c] for c in choice))
    ]
    splits = arcs.splits(weights)
    assert splits
    for split in splits:
        sides = arcs.sides(split)
        for out, removed in zip(sides, split.removed, strict=True):
            assert weights[out].sum() >= removed - 1e-9 > 0
        out = [set(side.tolist()) for side in sides]
        assert all(any(map(set(choice).isdisjoint, out)) for choice in acyclic)


@pytest.mark.parametrize("seed", range(3))
def test_a_tree_of_splits_ends_with_the_optimum_of_the_dynamic_programme(
    seed, monkeypatch
):
    splits = []
    choose = branching.ArcBranching._choose

    def noted(self, offered):
        splits.append(choose(self, offered))
        return splits[-1]

    monkeypatch.setattr(branching.ArcBranching, "_choose", noted)
    # Without cutting planes the relaxation is weak, and the tree has some nodes.
    nothing = SCIP_RESULT.DIDNOTFIND
    monkeypatch.setattr(scip.Acyclicity, "_separate", lambda _: nothing)
    lists = hard_lists(8, seed, 15)
    solution = solve_ilp(parent_sets(lists), seed=0)
    assert splits
    assert solution.detail["n_nodes"] > 1
    best = oracle.best_total_by_subsets(lists)
    assert (solution.status, solution.score) == ("optimal", pytest.approx(best))


@pytest.fixture
def inner(monkeypatch):
    """Search among what the relaxation uses from the first round on, and count it."""
    monkeypatch.setattr(scip, "INNER_AFTER", 1)
    monkeypatch.setattr(scip, "INNER_GAP", 0.0)
    # Without other local search there is something left to find.
    monkeypatch.setattr(scip.Acyclicity, "_round", lambda *_: None)
    found, search = [], scip.Acyclicity._search_inside

    def counted(self, weights):
        before = self.best_loss
        search(self, weights)
        found.append(before - self.best_loss)

    monkeypatch.setattr(scip.Acyclicity, "_search_inside", counted)
    return found


def test_a_search_among_what_the_relaxation_uses_finds_better_choices(inner):
    sets = parent_sets(hard_lists(14, 1))
    empty = sets.choice_of(Dag(sets.names, ((),) * 14))
    problem = Problem.from_parent_sets(sets)
    incumbent = np.flatnonzero(np.isin(problem.numbers, empty)).astype(np.int32)
    limits = scip.Limits(math.inf, 5e-7, None)
    outcome = scip.minimise(problem, incumbent, limits, seed=0, report=None)
    best = solve_subsets(sets)
    assert max(inner) > 0
    assert min(inner) >= 0
    chosen = problem.numbers[outcome.chosen]
    assert math.fsum(sets.scores[chosen]) == pytest.approx(best.score, abs=1e-6)
    assert outcome.loss_bound == pytest.approx(problem.loss_of(outcome.chosen))


def test_ctrl_c_inside_the_inner_search_ends_all(inner, monkeypatch):
    sets, calls = parent_sets(hard_lists(14, 1)), []
    separate = scip.Acyclicity._separate

    def interrupted(self):
        calls.append(self.limits.is_inner)
        if self.limits.is_inner:
            signal.raise_signal(signal.SIGINT)
        return separate(self)

    monkeypatch.setattr(scip.Acyclicity, "_separate", interrupted)
    solution = check(solve_ilp(sets, seed=0), sets)
    assert solution.stopped == "interrupt"
    assert len(calls) <= 4


@pytest.mark.parametrize("seed", range(3))
def test_what_reduced_costs_leave_holds_the_optimum(seed, monkeypatch):
    monkeypatch.setattr(scip, "FEWER", 1.0)
    monkeypatch.setattr(scip, "LEAST_GONE", 1)
    sizes, bounds = [], []
    smaller = scip.Acyclicity.smaller

    def counted(handler):
        after = smaller(handler)
        if not handler.limits.is_inner:
            sizes.append(len(after.numbers))
        assert np.array_equal(handler.numbers[handler.best], after.numbers[after.best])
        return after

    monkeypatch.setattr(scip.Acyclicity, "smaller", counted)
    sets = parent_sets(hard_lists(11, seed))
    found = check(
        solve_ilp(sets, progress=lambda *_, bound: bounds.append(bound), seed=1), sets
    )
    assert found.status == "optimal"
    assert found.score == pytest.approx(solve_subsets(sets).score, abs=1e-6)
    assert sizes
    assert sizes == sorted(sizes, reverse=True)
    assert bounds == sorted(bounds, reverse=True)
