"""Work killed at any moment goes on, and ends as if it had not been."""

import json
import os
import pathlib
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from functools import partial
from unittest import mock

import numpy as np
import pytest

import bayesmend as bm
from bayesmend import _checkpoint, _core
from bayesmend.errors import DataError, ParameterError, ShortfallWarning
from tests.support.killed import KILLED, keep_everything, run_until

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")

ASIA = bm.load_network("asia")
TABLE = bm.hide_mcar(ASIA.sample(150, seed=1), 0.1, seed=1).data
SMALL = bm.hide_mcar(ASIA.sample(60, seed=2), 0.05, seed=1).data
BIASED = bm.hide_mnar(ASIA.sample(200, seed=3), 0.3, seed=1).data

SPARSE = bm.hide_mcar(ASIA.sample(150, seed=4), 0.07, seed=1).data
FEW = bm.hide_mcar(ASIA.sample(150, seed=4), 0.05, seed=1).data

ONE = {"seed": 3, "n_threads": 1}
CALLS = {
    "exact": lambda at: bm.learn_exact(
        SPARSE, max_parents=2, restarts=3, node_limit=60, checkpoint=at, **ONE
    ),
    "local": lambda at: bm.learn_local(SPARSE, restarts=8, checkpoint=at, **ONE),
    "local by climbing": lambda at: bm.learn_local(
        SPARSE, restarts=3, solver="greedy", checkpoint=at, **ONE
    ),
    "local under a mechanism": lambda at: bm.learn_local(
        BIASED, restarts=1, mechanism="auto", checkpoint=at, **ONE
    ),
    "learn": lambda at: bm.learn(TABLE, checkpoint=at, **ONE),
    "learn, proving": lambda at: proven(at),
    "learn, complete": lambda at: bm.learn(
        ASIA.sample(100, seed=6), checkpoint=at, **ONE
    ),
    "em": lambda at: bm.learn_em(TABLE, restarts=2, checkpoint=at, **ONE),
    "em of a chosen ess": lambda at: bm.learn_em(
        SMALL, ess="auto", starts=("mode",), restarts=1, checkpoint=at, **ONE
    ),
    "em by climbing": lambda at: bm.learn_em(
        TABLE, solver="greedy", restarts=2, checkpoint=at, **ONE
    ),
    "em of many variables": lambda at: listed(at),
    "em-hard": lambda at: bm.learn_em(
        TABLE, hard=True, restarts=2, checkpoint=at, **ONE
    ),
    "em under a mechanism": lambda at: bm.learn_em(
        BIASED,
        mechanism="auto",
        stability=1,
        starts=("mode",),
        restarts=0,
        checkpoint=at,
        **ONE,
    ),
    "ensemble": lambda at: bm.learn_ensemble(
        SMALL, n_networks=5, classes=(2,), class_starts=2, checkpoint=at, seed=3
    ),
    "ensemble under a mechanism": lambda at: bm.learn_ensemble(
        BIASED, n_networks=5, ess=1, mechanism="self", checkpoint=at, **ONE
    ),
    "bootstrap": lambda at: bm.bootstrap(
        SMALL, n=5, method="em", restarts=1, checkpoint=at, seed=3
    ),
    "multiple": lambda at: bm.impute_multiple(
        SMALL, m=4, burn_in=3, thin=2, n_chains=2, checkpoint=at, **ONE
    ),
}
SLOW = {
    "learn, complete",
    "local by climbing",
    "local under a mechanism",
    "em-hard",
    "em of a chosen ess",
    "em by climbing",
    "em of many variables",
    "em under a mechanism",
    "ensemble under a mechanism",
}


def listed(at):
    """Learn as from a table of many variables, of whose parents few are tried."""
    search = "bayesmend.learning.em.search"
    with (
        mock.patch(f"{search}._WIDE_WORK", 0.0),
        mock.patch(f"{search}._WIDE_VARS", 0),
        mock.patch("bayesmend.structure.greedy.MOST_NOTED", 1),
    ):
        return bm.learn_em(
            TABLE, solver="greedy", restarts=1, checkpoint=at, max_parents=2, **ONE
        )


def proven(at):
    """Learn with a proof, which stands beside the folder."""
    with tempfile.TemporaryDirectory() as alone:
        place = pathlib.Path(alone) if at is None else at.parent
        found = bm.learn(
            FEW,
            method="exact",
            restarts=2,
            max_parents=2,
            certificate=place / "proof.json",
            checkpoint=at,
            **ONE,
        )
        return found, (place / "proof.json").read_text()


def known(result):
    """Return all that two results must share to the last bit: all but times."""
    if isinstance(result, tuple):
        return known(replace(result[0], certificate_file=None)), result[1]
    if isinstance(result, bm.learning.Bootstrap):
        return [dag.parents for dag in result.structures]
    if isinstance(result, bm.learning.MultipleImputation):
        codes = [table.codes.tobytes() for table in result.tables]
        traces = {name: rows.tolist() for name, rows in result.trace.items()}
        return codes, traces, [network_of(each) for each in result.networks]
    told = result.to_dict()
    del told["seconds"], told["trace"]
    steps = [(s.score, s.kind, s.n_arcs, s.log_likelihood) for s in result.trace]
    cells = [getattr(result.cells, name) for name in ("margins", "probabilities")]
    members = getattr(result, "members", ())
    return (
        json.dumps(told, default=str),
        steps,
        result.completed.codes.tobytes(),
        [None if each is None else each.tobytes() for each in cells],
        [network_of(each) for each in (result.network, *members)],
    )


def network_of(network):
    why = network.mechanism
    hides = () if why is None else (why.parents, [t.tobytes() for t in why.cpts])
    return network.dag.parents, [cpt.tobytes() for cpt in network.cpts], hides


@pytest.fixture(autouse=True)
def _everything_is_kept(monkeypatch):
    keep_everything(monkeypatch)


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        metafunc.parametrize("name", CALLS)
    if "quick" in metafunc.fixturenames:
        metafunc.parametrize("quick", [name for name in CALLS if name not in SLOW])


def test_killed_it_ends_with_the_same_answer(quick, tmp_path):
    call, folder = CALLS[quick], tmp_path / "at"
    whole, chance = known(call(None)), random.Random(quick)
    assert run_until(lambda: call(folder), after=chance.randrange(1, 8)) == KILLED
    assert run_until(lambda: call(folder), after=chance.randrange(8, 40)) <= 0
    assert known(call(folder)) == whole
    before = (folder / "steps").read_bytes()
    assert known(call(folder)) == whole
    assert (folder / "steps").read_bytes() == before


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_answer(name, tmp_path):
    call, folder = CALLS[name], tmp_path / "at"
    whole, chance = known(call(None)), random.Random(name)
    while code := run_until(lambda: call(folder), after=chance.randrange(1, 60)):
        assert code == KILLED
    assert known(call(folder)) == whole


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_with_the_same_answer(name, tmp_path):
    call, folder = CALLS[name], tmp_path / "at"
    begun = time.perf_counter()
    whole, chance = known(call(None)), random.Random(name)
    took = time.perf_counter() - begun
    for _ in range(3):
        run_until(lambda: call(folder), seconds=chance.uniform(0.0, took))
    assert known(call(folder)) == whole


def bootstrapped(at, table=SMALL, **how):
    return bm.bootstrap(
        table,
        **{"n": 3, "method": "em", "restarts": 0, "seed": 3, **how},
        checkpoint=at,
    )


def test_what_was_kept_is_not_done_again(tmp_path, monkeypatch):
    first = bootstrapped(tmp_path)
    monkeypatch.setattr(sys.modules["bayesmend.learning.bootstrap"], "learn", None)
    again = bootstrapped(tmp_path)
    assert again.structures == first.structures
    assert again.seconds >= first.seconds * 0.9


def test_a_search_that_is_done_is_not_done_again(tmp_path, monkeypatch):
    seen = []
    reads = _checkpoint.Search.load
    monkeypatch.setattr(
        _checkpoint.Search, "load", lambda self: seen.append(reads(self)) or seen[-1]
    )
    how = {"max_parents": 2, "checkpoint": tmp_path, **ONE}
    first = bm.learn_exact(SPARSE, **how)
    (state,) = tmp_path.glob("*.state")
    before = state.read_bytes()
    again = bm.learn_exact(SPARSE, **how)
    assert seen[0] is None
    assert seen[1]
    assert state.read_bytes() == before
    assert known(again) == known(first)
    assert again.seconds >= first.seconds * 0.9


def test_a_proof_goes_on_from_one_time_limit_to_the_next(tmp_path):
    how = {"max_parents": 2, **ONE}
    limit = 0.02  # more each time: on a busy machine nothing is done in so little
    while not (
        found := bm.learn_exact(SPARSE, time_limit=limit, checkpoint=tmp_path, **how)
    ).is_optimal:
        assert found.stopped is bm.Stopped.TIME
        limit *= 1.2
        assert limit < 60
    assert found.score == pytest.approx(bm.learn_exact(SPARSE, **how).score)


@pytest.mark.parametrize("race_nodes", [2, 9, 256])
def test_a_proof_goes_on_with_any_number_of_threads(race_nodes, tmp_path, monkeypatch):
    options = partial(_core.ExactOptions, race_nodes=race_nodes)
    monkeypatch.setattr(_core, "ExactOptions", options)

    def prove(at, n_threads):
        return bm.learn_exact(
            SPARSE, max_parents=2, seed=3, n_threads=n_threads, checkpoint=at
        )

    assert run_until(lambda: prove(tmp_path, 2), after=12) == KILLED
    assert known(prove(tmp_path, 1)) == known(prove(None, 2))


def test_samples_that_take_long_go_on_within(tmp_path):
    def learned(at):
        return bm.bootstrap(
            SPARSE,
            n=2,
            method="exact",
            max_parents=2,
            n_threads=1,
            seed=3,
            checkpoint=at,
        )

    assert run_until(lambda: learned(tmp_path), after=10) == KILLED
    assert list(tmp_path.glob("*.state"))
    assert known(learned(tmp_path)) == known(learned(None))
    assert {path.name for path in tmp_path.iterdir()} == {
        *("checkpoint.json", "lock", "steps")
    }


def test_a_state_that_makes_no_sense_is_refused(tmp_path):
    how = {"max_parents": 2, "checkpoint": tmp_path, **ONE}
    bm.learn_exact(SPARSE, **how)
    (state,) = tmp_path.glob("*.state")
    content = state.read_bytes()
    n_told, _, _ = _checkpoint._HEAD.unpack(content[: _checkpoint._HEAD.size])
    told = json.loads(content[_checkpoint._HEAD.size :][:n_told])
    for wrong in (np.zeros(7, np.uint8), np.full(400, 255, np.uint8), None, 5, "x", {}):
        told["record"]["value"] = wrong
        state.write_bytes(b"".join(_checkpoint._packed(told)))
        if wrong is None:
            assert bm.learn_exact(SPARSE, **how).is_optimal
            continue
        with pytest.raises(DataError, match=r"is damaged: '\w+\.state' in it"):
            bm.learn_exact(SPARSE, **how)


def test_more_samples_go_on_from_fewer(tmp_path):
    bootstrapped(tmp_path, n=2)
    assert known(bootstrapped(tmp_path, n=4)) == known(bootstrapped(None, n=4))


def test_any_number_of_threads_goes_on(tmp_path):
    bootstrapped(tmp_path, n=2, n_threads=1)
    assert known(bootstrapped(tmp_path, n_threads=2)) == known(bootstrapped(None))


def test_without_a_seed_the_first_one_drawn_counts(tmp_path):
    code = run_until(lambda: bootstrapped(tmp_path, seed=None), after=4)
    assert code == KILLED
    first = bootstrapped(tmp_path, seed=None)
    assert known(bootstrapped(tmp_path, seed=None)) == known(first)


def test_a_generator_goes_on_like_its_state(tmp_path):
    code = run_until(
        lambda: bootstrapped(tmp_path, seed=np.random.default_rng(5)), after=4
    )
    assert code == KILLED
    given, plain = np.random.default_rng(5), np.random.default_rng(5)
    found = bootstrapped(tmp_path, seed=given)
    assert known(found) == known(bootstrapped(None, seed=plain))
    assert given.integers(2**60) == plain.integers(2**60)


def test_ctrl_c_leaves_what_was_done(tmp_path):
    call = CALLS["multiple"]
    run_until(lambda: call(tmp_path), after=7, signal_sent=signal.SIGINT)
    assert len(list(tmp_path.glob("*.state"))) == 1
    assert known(call(tmp_path)) == known(call(None))


def test_a_time_limit_is_that_of_each_call(tmp_path):
    bootstrapped(tmp_path)
    found = bootstrapped(tmp_path, n=300, time_limit=0.15)
    assert found.stopped is bm.Stopped.TIME
    assert found.seconds >= 0.15
    assert len(found.structures) > 3
    for _ in range(20):  # each may be over before a sample is done
        more = bootstrapped(tmp_path, n=300, time_limit=0.15)
        if len(more.structures) > len(found.structures):
            break
    assert len(more.structures) > len(found.structures)
    assert more.structures[: len(found.structures)] == found.structures


OTHERS = {
    "an option": ({"max_parents": 2}, "max_parents=3, and now it is max_parents=2"),
    "a method": ({"method": "em-hard"}, "method='em', and now it is method='em-hard'"),
    "a seed": ({"seed": 4}, "seed=3, and now it is seed=4"),
    "no seed": ({"seed": None}, "seed=3, and now it is seed=None"),
    "a rule": ({"score": bm.Score("bic")}, "another score"),
    "arcs": ({"constraints": {"forbidden": [("asia", "tub")]}}, "another constraints"),
    "rows": ({"table": SMALL.pick(range(50))}, "of 60 rows, and this one has 50"),
    "a cell": (
        {"table": SMALL.with_codes(np.where(np.arange(8) == 2, 0, SMALL.codes))},
        "other cells in 'smoke'",
    ),
    "columns": (
        {"table": {"a": ["x", "y"] * 30, "tub": ["yes", "no"] * 30}},
        "a table with 'asia', 'smoke', 'lung', ... (7 in all); a table without 'a'",
    ),
    "weights": ({"weights": [2.0] * 60}, "other row weights"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_of_something_else_it_is_refused_with_the_difference(other, tmp_path):
    bootstrapped(tmp_path, n=1)
    how, message = OTHERS[other]
    if "weights" in how:
        table = bm.IncompleteData.from_codes(
            SMALL.codes, names=SMALL.names, states=SMALL.states, **how
        )
        how = {"table": table}
    with pytest.raises(ParameterError, match="begun with something else") as caught:
        bootstrapped(tmp_path, **how)
    assert message in str(caught.value)


def test_of_another_function_it_is_refused(tmp_path):
    bootstrapped(tmp_path, n=1)
    with pytest.raises(ParameterError, match="bootstrap, and this is learn_em"):
        bm.learn_em(SMALL, checkpoint=tmp_path, seed=3)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        (
            "version",
            2,
            "of version 2 of its format, and this bayesmend reads version 1",
        ),
        ("bayesmend", "0.0.1", "begun with something else: bayesmend 0.0.1"),
        ("format", "other", "is no checkpoint"),
        ("options", 5, "is damaged: 'checkpoint.json'"),
        ("table", {}, "is damaged: 'checkpoint.json'"),
    ],
)
def test_what_another_program_wrote_is_refused(key, value, message, tmp_path):
    bootstrapped(tmp_path, n=1)
    path = tmp_path / "checkpoint.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises((DataError, ParameterError), match=message):
        bootstrapped(tmp_path, n=1)


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(ParameterError, match=r"holds 'thesis\.txt', and no checkpoint"):
        bootstrapped(tmp_path)
    with pytest.raises(DataError, match="cannot keep a checkpoint in"):
        bootstrapped(tmp_path / "thesis.txt")
    with pytest.raises(ParameterError, match="a path must be text or a Path"):
        bootstrapped(5)
    assert {path.name for path in tmp_path.iterdir()} == {"thesis.txt", "lock"}


def test_two_at_once_are_refused_and_a_killed_one_does_not_count(tmp_path):
    assert run_until(lambda: bootstrapped(tmp_path), after=4) == KILLED
    with (
        _locked(tmp_path),
        pytest.raises(ParameterError, match="another process is at work on"),
    ):
        bootstrapped(tmp_path)
    assert known(bootstrapped(tmp_path)) == known(bootstrapped(None))


def _locked(folder):
    file = (folder / "lock").open("rb+")
    assert _checkpoint.lock_file(file.fileno())
    return file


def test_without_room_the_work_goes_on(tmp_path):
    def with_small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert known(CALLS["em"](tmp_path)) == known(CALLS["em"](None))
        (warning,) = (one for one in said if one.category is ShortfallWarning)
        assert "cannot be written: File too large" in str(warning.message)

    assert run_until(with_small_files) == 0
    assert known(CALLS["em"](tmp_path)) == known(CALLS["em"](None))


# --- damage ---------------------------------------------------------------------------


def outcome(call):
    """Return what is known of an answer, or what was said instead."""
    try:
        return known(call())
    except (DataError, ParameterError) as error:
        return str(error)


def damaged(content, chance):
    """Change some bytes, cut some off, or put some in."""
    at = chance.randrange(len(content))
    kind = chance.randrange(4)
    if kind == 0:
        return content[:at]
    if kind == 1:
        return (
            content[:at]
            + bytes([content[at] ^ 1 << chance.randrange(8)])
            + (content[at + 1 :])
        )
    if kind == 2:
        return content[:at] + chance.randbytes(chance.randrange(1, 40)) + content[at:]
    end = min(at + chance.randrange(1, 40), len(content))
    return content[:at] + content[end:]


def fuzz_folder(call, folder, n_times, chance):
    """Damage a file of a checkpoint again and again; count the refusals."""
    whole, n_refused = known(call(None)), 0
    call(folder)
    sound = {path.name: path.read_bytes() for path in folder.iterdir()}
    for _ in range(n_times):
        for name, content in sound.items():
            (folder / name).write_bytes(content)
        name = chance.choice([name for name, content in sound.items() if content])
        (folder / name).write_bytes(damaged(sound[name], chance))
        found = outcome(lambda: call(folder))
        if isinstance(found, str):
            n_refused += 1
            assert str(folder) in found
            assert found.count("\n") == 0
        else:
            assert found == whole
    return n_refused


@pytest.mark.parametrize("kind", ["bootstrap", "multiple"])
def test_damage_is_refused_or_does_no_harm(kind, tmp_path):
    assert fuzz_folder(CALLS[kind], tmp_path, 8, random.Random(kind)) > 0


@pytest.mark.slow
def test_much_damage_is_refused_or_does_no_harm(quick, tmp_path):
    assert fuzz_folder(CALLS[quick], tmp_path, 12, random.Random(quick)) > 0


def test_steps_cut_off_anywhere_are_done_again(tmp_path):
    whole = known(bootstrapped(None))
    bootstrapped(tmp_path)
    content = (tmp_path / "steps").read_bytes()
    for size in range(0, len(content), 397):
        (tmp_path / "steps").write_bytes(content[:size])
        assert known(bootstrapped(tmp_path)) == whole


def test_outcomes_that_make_no_sense_are_refused(tmp_path):
    """Whoever can make digests can make records, but no answer of just anything."""
    bootstrapped(tmp_path)
    steps = tmp_path / "steps"
    for wrong in ([[1], [0], *[[]] * 6], [[99]] * 8, 5, "x", [], None, {}):
        content = _rewritten(steps.read_bytes(), wrong)
        steps.write_bytes(content)
        with pytest.raises(DataError, match="is damaged: 'steps' in it was changed"):
            bootstrapped(tmp_path)


def _rewritten(content, value):
    """Put another value into every record, with the right digest."""
    start = len(_checkpoint._MAGIC)
    made = [content[:start]]
    while start < len(content):
        size = _checkpoint._HEAD.size
        n_told, n_body, _ = _checkpoint._HEAD.unpack(content[start : start + size])
        told = json.loads(content[start + size : start + size + n_told])
        told["record"]["value"] = value
        made += _checkpoint._packed(told)
        start += size + n_told + n_body
    return b"".join(made)
