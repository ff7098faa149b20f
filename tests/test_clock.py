"""Limits of time and of threads, wherever they are given."""

import math
import os
import sys

import numpy as np
import pytest
from support.child import run_child

import bayesmend as bm
from bayesmend import _core
from bayesmend._clock import Clock
from bayesmend._entrance import entrance
from bayesmend.errors import OutOfMemoryError, ParameterError, ShortfallWarning

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of memory as Linux has them"
)
RNG = np.random.default_rng(7)
COMPLETE = RNG.choice(["a", "b"], (60, 5))
INCOMPLETE = np.where(RNG.random((60, 5)) < 0.1, None, COMPLETE.astype(object))


@linux_only
def test_work_goes_on_with_the_threads_there_are():
    script = """
        import numpy as np
        rng = np.random.default_rng(1)
        data = bm.IncompleteData.from_table(rng.choice(["a", "b"], (200, 40)))
        alone = bm.structure.candidate_parents(data, max_parents=2, n_threads=1)
        many = bm._core.max_threads()
        for megabytes in (60, 20, 2):
            allow(megabytes)
            found = bm.structure.candidate_parents(data, max_parents=2, n_threads=many)
            assert (found.scores == alone.scores).all()
            print(megabytes)
    """
    assert run_child(script).split() == ["60", "20", "2"]


@linux_only
def test_little_memory_ends_no_interpreter():
    """Threads begin with what the runtime needs for them, or not at all."""
    script = """
        import os, sys
        asia = bm.load_network("asia")
        data = bm.hide_mcar(asia.sample(100, seed=1), 0.1, seed=1).data
        def learn_within(megabytes):
            allow(megabytes)
            try:
                bm.learn_em(data, restarts=0, max_parents=2, n_threads=8, seed=1)
            except bm.errors.BayesmendError:
                return 1
            return 0
        for megabytes in (0, 2, 4, 8, 10, 12, 18, 26, 34, 42, 80):
            if not (child := os.fork()):
                os._exit(learn_within(megabytes))
            print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    codes = run_child(script).split()
    assert len(codes) == 11
    assert set(codes) <= {"0", "1"}
    assert codes[-1] == "0"


@linux_only
def test_a_limit_of_the_process_is_a_limit_of_memory():
    script = """
        from bayesmend._clock import available_memory
        free = available_memory()
        allow(50)
        assert 40e6 < available_memory() < 53e6 < free
        table = {f"x{i}": ["a", "b", "a"] for i in range(22)}
        try:
            bm.learn_structure(table, solver="subsets")
        except bm.errors.ParameterError as error:
            print(error)
    """
    assert "needs about" in run_child(script)


def test_too_little_memory_is_an_error_of_ours():
    @entrance
    def work(data):
        """Do it."""
        raise MemoryError

    with pytest.raises(OutOfMemoryError, match=r"work\(\) needs more memory than"):
        work(1)
    assert issubclass(OutOfMemoryError, MemoryError)


def test_more_threads_than_make_sense_are_cut_down_with_a_note():
    most = _core.max_threads()
    assert most == 8 * _core.n_cores() <= 8 * (os.cpu_count() or 1)
    for n_threads in (most + 1, 10**5, 2**40):
        with pytest.warns(ShortfallWarning, match=f"becomes {most}: ") as notes:
            found = bm.learn(INCOMPLETE, n_threads=n_threads, seed=1)
        assert len(notes) == 1
        assert found.score == bm.learn(INCOMPLETE, n_threads=1, seed=1).score
    with pytest.warns(ShortfallWarning):
        bm.score.FamilyScorer(COMPLETE, n_threads=2**40).family("x0", ["x1"])
    bm.learn(INCOMPLETE, n_threads=most, seed=1)


@pytest.mark.parametrize("n_threads", [-1, 2**70, 1.5, "2", None, True])
def test_a_number_of_threads_is_an_integer(n_threads):
    with pytest.raises(ParameterError, match="n_threads must be an integer"):
        bm.learn(INCOMPLETE, n_threads=n_threads)


@pytest.mark.parametrize("time_limit", [math.inf, 9.3e9])
@pytest.mark.parametrize("method", ["auto", "exact", "local", "em", "em-hard"])
def test_a_limit_that_no_work_reaches_is_no_limit(method, time_limit):
    found = bm.learn(INCOMPLETE, method=method, time_limit=time_limit, seed=1)
    free = bm.learn(INCOMPLETE, method=method, seed=1)
    assert found.stopped.value == free.stopped.value == "nothing"
    assert found.network == free.network


@pytest.mark.parametrize("time_limit", [math.inf, 1e300])
@pytest.mark.parametrize("solver", ["auto", "subsets", "ilp", "order", "greedy"])
def test_a_structure_without_end_is_found_without_limit(solver, time_limit):
    found = bm.learn_structure(COMPLETE, solver=solver, time_limit=time_limit, seed=1)
    free = bm.learn_structure(COMPLETE, solver=solver, seed=1)
    assert found.stopped.value == "nothing"
    assert found.network == free.network


@linux_only
def test_the_memory_of_a_call_is_that_of_all_that_it_calls():
    from bayesmend._clock import available_memory, memory_within, room_within

    with memory_within(2e8):
        held = np.ones(10**7)  # 80 MB
        assert room_within() < 2e8 - held.nbytes / 2
        assert available_memory() <= room_within() + 1e7
        with memory_within(1e12):
            assert room_within() < 2e8
    assert room_within() == math.inf


@linux_only
@pytest.mark.parametrize(
    "call",
    [
        lambda data, **how: bm.learn_exact(data, **how),
        lambda data, **how: bm.learn(data, method="local", solver="subsets", **how),
        lambda data, **how: bm.learn_structure(data, solver="subsets", **how),
    ],
)
def test_what_takes_more_than_max_memory_is_refused_with_the_figure(call):
    names = [f"x{k}" for k in range(24)]
    data = bm.IncompleteData.from_table(
        dict(zip(names, RNG.integers(0, 9, (24, 500)), strict=True))
    )
    with pytest.raises(ParameterError, match=r"[0-9.]+ (GB|MB).*raise max_memory"):
        call(data, max_memory=1e8, max_parents=4)


def test_structures_are_learned_within_little_memory():
    data = bm.load_network("asia").sample(300, seed=1)
    found = bm.learn_structure(data, max_memory=1e6, seed=1)
    assert found.score == bm.learn_structure(data, seed=1).score
    with pytest.raises(ParameterError, match="max_memory must be"):
        bm.learn_structure(data, max_memory=0)


def test_a_clock_without_end():
    assert Clock(math.inf).left is None
    assert Clock(1e9).left is None
    assert not Clock(1e300).is_over
    assert Clock(5.0).left == pytest.approx(5.0, abs=1.0)
