"""Exact learning with bounds by integer programmes, where the structure is hard."""

import math
import signal
import sys
from functools import partial

import pytest
from support.instances import (
    TOLERANCE,
    Instance,
    check_constrained,
    check_optimal,
    check_pair,
    wide,
)
from support.timing import within

from bayesmend import _core, learn_exact
from bayesmend._checkpoint import State
from bayesmend.learning.augment import exact, programme
from bayesmend.structure import scip

SLOW = pytest.mark.slow


@pytest.fixture
def programmes(monkeypatch):
    """Go on by programmes however small the table, with much left to do."""
    monkeypatch.setattr(exact, "MOST_SUBSET_VARS", 0)
    options = partial(_core.ExactOptions, root_steps=1)
    monkeypatch.setattr(_core, "ExactOptions", options)
    monkeypatch.setattr(programme, "FAR", -math.inf)
    monkeypatch.setattr(programme, "ROOT_STEPS", 1)
    monkeypatch.setattr(programme, "NODE_STEPS", 1)


def prove(seeds):
    n_nodes = 0
    for seed in seeds:
        instance = Instance(seed, max_total=14)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(exact, "MOST_SUBSET_VARS", 22)
            expected = instance.learn()
        assert expected.is_optimal
        result = instance.learn()
        check_optimal(instance, result, expected.score)
        n_nodes += result.detail["nodes"]
    return n_nodes


@pytest.mark.parametrize("block", [pytest.param(k, marks=SLOW) for k in range(10)])
def test_programmes_and_the_dynamic_programme_prove_the_same_score(block, programmes):
    prove(range(12_000 + 30 * block, 12_030 + 30 * block))


def test_programmes_branch_to_the_score_of_the_dynamic_programme(programmes):
    assert prove([12032, 12242]) > 30


def test_tables_in_small_blocks_lead_to_the_same_optimum(programmes, monkeypatch):
    monkeypatch.setattr(programme, "LEAST_ENTRIES", 1)
    monkeypatch.setattr(programme, "MOST_ENTRIES", 2)
    prove(range(12_400, 12_406))


def test_constraints_hold_and_the_rest_is_the_best(programmes):
    for seed in range(7100, 7106):
        check_constrained(Instance(seed))


def test_a_bound_holds_wherever_the_search_is_stopped(programmes):
    unproven = 0
    for seed in range(2000, 2008):
        instance = Instance(seed)
        best = instance.best()
        for limit in (1, 2):
            result = instance.learn(node_limit=limit)
            assert result.score <= best + TOLERANCE
            assert result.bound >= best - TOLERANCE
            assert result.detail["nodes"] <= limit
            instance.check_pair(result)
            unproven += not result.is_optimal
    assert unproven > 1


def test_a_gap_is_enough_where_it_is_asked_for(programmes):
    for seed in range(2100, 2106):
        instance = Instance(seed)
        best, result = instance.best(), instance.learn(gap=2.0)
        assert best - TOLERANCE <= result.bound <= result.score + 2.0 + TOLERANCE


# Wide tables.


@pytest.fixture
def eager(monkeypatch):
    """Go on by programmes whatever they gain."""
    monkeypatch.setattr(programme, "FAR", -math.inf)


@SLOW
def test_the_number_of_threads_does_not_matter(eager):
    data = wide(n_rows=40, n_holes=20)
    first, second = (
        learn_exact(data, max_parents=1, restarts=0, seed=1, node_limit=8, n_threads=n)
        for n in (1, 2)
    )
    check_pair(data, first)
    assert first.dag == second.dag
    assert (first.score, first.bound) == (second.score, second.bound)
    assert first.detail["work"] == second.detail["work"]
    assert first.detail["nodes"] > 1


@SLOW
def test_a_time_limit_is_kept(eager):
    data = wide(24, 100, 60)
    with within(4.0):
        result = learn_exact(data, max_parents=2, restarts=0, seed=1, time_limit=3.0)
    check_pair(data, result)
    assert result.stopped == "time"


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
def test_ctrl_c_within_a_programme_returns_a_valid_pair(eager, monkeypatch):
    relax = scip.relax

    def interrupted(*given, **options):
        signal.raise_signal(signal.SIGINT)
        return relax(*given, **options)

    monkeypatch.setattr(scip, "relax", interrupted)
    data = wide(24, 100, 60)
    result = learn_exact(data, max_parents=1, restarts=0, seed=1)
    check_pair(data, result)
    assert result.stopped == "interrupt"


@SLOW
def test_a_proof_goes_on_from_where_a_limit_ended_it(eager, tmp_path, monkeypatch):
    data = wide(n_rows=40, n_holes=20)
    options = {"max_parents": 1, "restarts": 0, "seed": 1}
    whole = learn_exact(data, **options)
    assert whole.is_optimal
    expand, calls = programme.Programmes._expand, []

    def hurried(self, node):
        calls.append(node.number)
        if len(calls) == 5:
            raise TimeoutError
        return expand(self, node)

    monkeypatch.setattr(programme.Programmes, "_expand", hurried)
    monkeypatch.setattr(State, "is_due", True)
    part = learn_exact(data, checkpoint=tmp_path, **options)
    assert part.stopped == "time"
    assert part.bound >= whole.score - TOLERANCE
    again = learn_exact(data, checkpoint=tmp_path, **options)
    assert calls.count(0) == 1
    check_pair(data, again)
    assert again.status == whole.status
    assert again.score == whole.score
    assert again.detail["nodes"] == whole.detail["nodes"]
