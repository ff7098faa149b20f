"""Exact learning beyond the dynamic programme: bounds by a relaxation of acyclicity."""

import gzip
import json
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
from support.timing import ctrl_c_on_progress, within

from bayesmend import _core, learn_exact
from bayesmend.errors import ParameterError, ShortfallWarning
from bayesmend.graph import Constraints
from bayesmend.learning.augment import exact
from bayesmend.learning.augment.problem import PatternProblem

SLOW = pytest.mark.slow


@pytest.fixture(autouse=True)
def alone(monkeypatch):
    """Leave all to the relaxation: integer programmes are tested by themselves."""
    monkeypatch.setattr(exact, "_has_scip", lambda: False)


@pytest.fixture
def relaxed(monkeypatch):
    """Take the relaxation however few variables there are."""
    monkeypatch.setattr(exact, "MOST_SUBSET_VARS", 0)


# The same answers as by the dynamic programme, where that can be had.


@pytest.mark.parametrize(
    "block", [0, *(pytest.param(k, marks=SLOW) for k in range(1, 10))]
)
def test_the_relaxation_and_the_dynamic_programme_prove_the_same_score(
    block, monkeypatch
):
    for seed in range(11_000 + 30 * block, 11_030 + 30 * block):
        instance = Instance(seed, max_total=14)
        expected = instance.learn()
        assert expected.is_optimal
        with monkeypatch.context() as patch:
            patch.setattr(exact, "MOST_SUBSET_VARS", 0)
            check_optimal(instance, instance.learn(), expected.score)


@pytest.mark.parametrize("max_entries", [1, 8])
def test_bounds_in_blocks_lead_to_the_same_optimum(max_entries, monkeypatch, relaxed):
    options = partial(_core.ExactOptions, max_entries=max_entries)
    monkeypatch.setattr(_core, "ExactOptions", options)
    for seed in range(3000, 3010):
        instance = Instance(seed)
        check_optimal(instance, instance.learn(), instance.best())


def test_constraints_hold_and_the_rest_is_the_best(relaxed):
    for seed in range(7000, 7020):
        check_constrained(Instance(seed))


def test_a_bound_holds_wherever_the_search_is_stopped(relaxed):
    unproven = 0
    for seed in range(2000, 2012):
        instance = Instance(seed)
        best = instance.best()
        for limit in (1, 3, 10):
            result = instance.learn(node_limit=limit)
            assert result.score <= best + TOLERANCE
            assert result.bound >= best - TOLERANCE
            instance.check_pair(result)
            unproven += not result.is_optimal
    assert unproven > 1


def test_no_dropped_family_is_in_every_best_pair():
    n_dropped = 0
    for seed in range(2000, 2030):
        instance = Instance(seed)
        problem = PatternProblem.of(
            instance.data,
            score=instance.rule,
            max_parents=instance.max_parents,
            constraints=Constraints(),
        )
        whole, left = problem.augmenter(), problem.augmenter(drop_threads=1)
        found = left.enumerate(0.0, 1)
        assert found.is_complete
        assert found.score == pytest.approx(instance.best(), abs=TOLERANCE)
        n_dropped += whole.n_families() - left.n_families()
    assert n_dropped > 100


# Wide tables.


def test_a_wide_table_is_proven():
    data = wide(n_rows=300, n_holes=6)
    constraints = Constraints(tiers=[[name] for name in data.names])
    result = learn_exact(
        data,
        max_parents=2,
        constraints=constraints,
        restarts=1,
        seed=1,
        time_limit=60,
    )
    check_pair(data, result, constraints)
    assert result.is_optimal


def test_the_number_of_threads_does_not_matter():
    data = wide(n_rows=40, n_holes=20)
    results = [
        learn_exact(data, max_parents=1, restarts=1, seed=1, node_limit=12, n_threads=n)
        for n in (1, 2)
    ]
    first = results[0]
    assert first.detail["nodes"] >= 12
    for result in results[1:]:
        check_pair(data, result)
        assert result.dag == first.dag
        assert (result.score, result.bound) == (first.score, first.bound)
        assert result.detail["work"] == first.detail["work"]


@pytest.mark.parametrize("time_limit", [0.2, 1.0])
def test_a_time_limit_is_kept(time_limit):
    data = wide(30, 100, 60)
    with within(time_limit + 1.0):
        result = learn_exact(data, seed=1, time_limit=time_limit)
    check_pair(data, result)
    assert result.stopped == "time"


@pytest.mark.parametrize("n_vars", [61, 100])
def test_too_many_variables_are_refused(n_vars):
    with pytest.raises(ParameterError, match=f"at most 60 variables. Got {n_vars}"):
        learn_exact(wide(n_vars))


def test_tables_beyond_memory_are_refused_with_their_size(monkeypatch):
    monkeypatch.setattr(
        "bayesmend.learning.augment.problem.available_memory", lambda: 1e6
    )
    message = r"tables of 49,152 families need about 0\.0\d+ GB"
    with pytest.raises(ParameterError, match=message):
        learn_exact(wide())


def test_no_proof_is_written_and_the_file_says_so(tmp_path):
    path = tmp_path / "proof.json.gz"
    with pytest.warns(ShortfallWarning, match="24 variables"):
        learn_exact(
            wide(n_holes=4), max_parents=1, seed=1, certificate=path, node_limit=1
        )
    proof = json.loads(gzip.decompress(path.read_bytes()))
    assert proof["kind"] == "none"
    assert "24 variables" in proof["reason"]


def test_nothing_missing_is_plain_structure_learning():
    data = wide(n_holes=0)
    result = learn_exact(data, max_parents=1, seed=1, time_limit=60)
    assert result.is_optimal
    check_pair(data, result)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
def test_ctrl_c_returns_a_valid_pair():
    data = wide(24, 100, 60)
    with ctrl_c_on_progress() as progress:
        result = learn_exact(data, max_parents=2, seed=1, progress=progress)
    check_pair(data, result)
    assert result.stopped == "interrupt"


@SLOW
def test_a_proof_goes_on_from_one_time_limit_to_the_next(tmp_path):
    data = wide(n_rows=40, n_holes=14)
    options = {"max_parents": 1, "restarts": 0, "seed": 1}
    whole = learn_exact(data, **options)
    assert whole.is_optimal
    calls, result = 0, None
    while result is None or result.stopped:
        calls += 1
        assert calls < 40
        result = learn_exact(
            data, time_limit=0.3 * calls, checkpoint=tmp_path, **options
        )
        assert result.bound >= whole.score - TOLERANCE
    assert calls > 1
    assert result.is_optimal
    assert result.score == pytest.approx(whole.score, abs=TOLERANCE)
