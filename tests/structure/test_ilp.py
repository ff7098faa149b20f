"""Integer programming: the optimum, bounds at any stop, cuts against enumeration."""

import itertools
import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import oracle
from support.strategies import candidate_lists
from support.timing import within

from bayesmend import _core
from bayesmend.errors import ParameterError
from bayesmend.formats.jkl import write_jkl
from bayesmend.graph.dag import Dag
from bayesmend.structure import scip, solve_ilp
from bayesmend.structure.parents import ParentSets


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
@settings(max_examples=60)
def test_the_optimum_is_the_best_of_all_dags(lists):
    sets = parent_sets(lists)
    solution = check(solve_ilp(sets, seed=0), sets)
    assert solution.status == "optimal"
    assert solution.score == pytest.approx(oracle.best_total(lists), abs=1e-6)


@given(candidate_lists(whole=False, min_vars=2))
@settings(max_examples=60)
def test_without_empty_sets_an_optimum_or_an_error(lists):
    assume(all(lists))
    sets, best = parent_sets(lists), oracle.best_total(lists)
    if best is None:
        with pytest.raises(ParameterError, match=r"minus infinity|no acyclic graph"):
            solve_ilp(sets, seed=0)
    else:
        assert solve_ilp(sets, seed=0).score == pytest.approx(best, abs=1e-6)


@given(st.integers(0, 50), st.permutations(range(5)))
@settings(max_examples=15)
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


@settings(max_examples=40)
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


@settings(max_examples=40)
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
