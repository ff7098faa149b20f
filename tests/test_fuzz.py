"""The attack of ``make fuzz``: a small part of it, and that it notices each failure."""

import json

import pytest

from bayesmend.errors import BayesmendError
from fuzz.kinds import SHARES, attempt_of, generator_of
from fuzz.runner import run, try_inputs


@pytest.mark.filterwarnings("ignore::bayesmend.errors.BayesmendWarning")
@pytest.mark.parametrize("kind", SHARES)
def test_no_input_breaks_a_promise(kind):
    attempt = attempt_of(kind)
    words = set()
    for number in range(40):
        try:
            words.add(attempt(generator_of(20, kind, number)))
        except BayesmendError:
            words.add("refused")
    assert len(words) > 1


@pytest.mark.slow
def test_a_run_tells_what_came_of_its_inputs():
    found = run(SHARES, 100, seed=21, state=None, n_jobs=1)
    assert not any(each.failures for each in found.values())
    assert {k: each.counts.total() for k, each in found.items()} == SHARES
    assert 0 < max(each.peak for each in found.values()) < 1500


WAYS = {
    1: "KeyError: 'no error of ours'",
    2: "AssertionError: 2 is not 3",
    3: "status -6",
    4: "no end",
    5: "MemoryError",
}


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_each_way_to_fail_is_noticed(way, monkeypatch):
    monkeypatch.setenv("FUZZ_CONTROL", str(way))
    found = try_inputs("control", 1, 0, 2, seconds=0.5)
    assert set(found.failures) == {0, 1}
    assert all(WAYS[way] in what for what in found.failures.values())


@pytest.mark.slow
def test_a_run_goes_on_where_it_ended(monkeypatch, tmp_path):
    state = tmp_path / "state.json"
    monkeypatch.setenv("FUZZ_CONTROL", "1")
    first = run({"control": 1}, 3, seed=1, state=state, n_jobs=1)["control"]
    assert set(first.failures) == {0, 1, 2}
    monkeypatch.setenv("FUZZ_CONTROL", "0")
    both = run({"control": 1}, 5, seed=1, state=state, n_jobs=1)["control"]
    assert set(both.failures) == {0, 1, 2}
    assert both.counts == {"failed": 3, "fine": 2}
    assert json.loads(state.read_text())["kinds"]["control"]["next"] == 5
    other = run({"control": 1}, 2, seed=2, state=state, n_jobs=1)["control"]
    assert other.counts == {"fine": 2}
