"""Status, certificate, what stopped the search and what was chosen tell one story."""

import math
import re
import sys

import numpy as np
import pytest
from support.timing import ctrl_c_on_progress

from bayesmend import IncompleteData, hide_mcar, learn, load_network
from bayesmend.learning.augment import answer as answer_module
from bayesmend.learning.augment import local as local_module
from bayesmend.learning.support import supported_network
from bayesmend.outcome import Certificate, Stopped
from bayesmend.report.words import certificate, stopping


def asia(n_rows, rate, seed=1):
    complete = load_network("asia").sample(n_rows, seed=seed)
    return hide_mcar(complete, rate, seed=seed).data if rate else complete


def wide(n_vars, rate, n_rows=120):
    rng = np.random.default_rng(n_vars)
    codes = rng.integers(0, 2, (n_rows, n_vars)).astype(np.uint8)
    codes[rng.random(codes.shape) < rate] = 255
    return IncompleteData.from_codes(
        codes, names=[f"v{i}" for i in range(n_vars)], states=[("n", "y")] * n_vars
    )


def with_empty_rows():
    codes = np.array(asia(60, 0.03).codes)
    codes[[3, 17]] = 255
    data = asia(60, 0)
    return data.with_codes(np.asfortranarray(codes))


NOTHING, TIME, NODES = Stopped.NOTHING, Stopped.TIME, Stopped.NODES
OPTIMAL, BOUNDED = Certificate.OPTIMAL, Certificate.BOUNDED
LOCAL, HEURISTIC = Certificate.LOCAL, Certificate.HEURISTIC

# A name, the table, options, and which certificates and reasons to stop may come of it.
CASES = {
    "auto, proof": (lambda: asia(80, 0.02), {}, {OPTIMAL}, {NOTHING}),
    "auto, no proof": (lambda: asia(700, 0.045), {}, {LOCAL}, {NOTHING}),
    "auto, gap": (lambda: asia(300, 0.03), {"gap": 30.0}, {BOUNDED}, {NOTHING}),
    "auto, many cells": (lambda: asia(300, 0.2), {}, {HEURISTIC}, {NOTHING}),
    "ensemble, time": (
        lambda: asia(300, 0.2),
        {"method": "ensemble", "n_networks": 10**6, "time_limit": 0.1},
        {HEURISTIC},
        {TIME},
    ),
    "auto, wide": (lambda: wide(24, 0.01), {"restarts": 0}, {LOCAL}, {NOTHING}),
    "auto, complete": (lambda: asia(80, 0), {}, {OPTIMAL}, {NOTHING}),
    "auto, wide and complete": (
        lambda: wide(24, 0),
        {"prior": "uniform"},
        {BOUNDED},
        {NOTHING},
    ),
    "auto, empty rows": (with_empty_rows, {}, {OPTIMAL, LOCAL}, {NOTHING}),
    "auto, hardly any time": (
        lambda: wide(14, 0.04),
        {"time_limit": 1e-3},
        {HEURISTIC},
        {TIME},
    ),
    "auto, no time, complete": (
        lambda: wide(30, 0, 3000),
        {"time_limit": 1e-3},
        {HEURISTIC},
        {TIME},
    ),
    "exact, proof": (lambda: asia(80, 0.02), {"method": "exact"}, {OPTIMAL}, {NOTHING}),
    "exact, time": (
        lambda: asia(500, 0.1),
        {"method": "exact", "time_limit": 0.3},
        {BOUNDED, HEURISTIC},
        {TIME},
    ),
    "exact, no time for tables": (
        lambda: wide(20, 0.1, 400),
        {"method": "exact", "time_limit": 0.05, "max_parents": 5},
        {HEURISTIC},
        {TIME},
    ),
    "exact, complete": (lambda: asia(80, 0), {"method": "exact"}, {OPTIMAL}, {NOTHING}),
    "local": (lambda: asia(80, 0.05), {"method": "local"}, {LOCAL}, {NOTHING}),
    "local, alternating": (
        lambda: asia(80, 0.05),
        {"method": "local", "solver": "greedy"},
        {LOCAL},
        {NOTHING},
    ),
    "local, time": (
        lambda: wide(18, 0.1, 400),
        {"method": "local", "time_limit": 0.05},
        {HEURISTIC},
        {TIME},
    ),
    "local, complete": (lambda: asia(80, 0), {"method": "local"}, {OPTIMAL}, {NOTHING}),
    "em": (lambda: asia(80, 0.05), {"method": "em"}, {LOCAL}, {NOTHING}),
    "em-hard": (lambda: asia(80, 0.05), {"method": "em-hard"}, {LOCAL}, {NOTHING}),
    "em, time": (
        lambda: wide(20, 0.2, 1000),
        {"method": "em", "time_limit": 0.02},
        {HEURISTIC},
        {TIME},
    ),
    "em, complete": (lambda: asia(80, 0), {"method": "em"}, {OPTIMAL}, {NOTHING}),
    "em, wide and complete, greedy": (
        lambda: wide(24, 0),
        {"method": "em", "solver": "greedy"},
        {LOCAL},
        {NOTHING},
    ),
}


def check_agreement(result, options):
    """Every field says what the others say."""
    sentence, status = certificate(result), result.status
    known = {
        OPTIMAL: lambda: (
            status == "optimal"
            and result.gap <= 1e-6
            and sentence.endswith("scores higher: proven.")
        ),
        BOUNDED: lambda: (
            math.isfinite(result.bound)
            and re.search(r"gap [\d.e+]+ nats", status)
            and "at most" in sentence
        ),
        LOCAL: lambda: (
            status.endswith("local optimum")
            # What was checked holds, though the search for a proof was cut short.
            and (not result.stopped or result.locality is not None)
            and math.isinf(result.bound)
            and ("nothing is proven" in sentence or sentence.endswith("checked."))
        ),
        HEURISTIC: lambda: (
            (
                math.isinf(result.bound)
                and status.startswith("average of ")
                and status.endswith("limit") == bool(result.stopped)
                and sentence.endswith("nothing is proven.")
            )
            if result.method == "ensemble"
            else (
                status == f"stopped at {result.stopped.words}"
                and result.stopped
                and sentence == "Nothing is proven about the score."
            )
        ),
    }
    assert known[result.certificate](), (status, sentence, result.stopped)
    assert (stopping(result) is None) == (result.is_optimal or not result.stopped)
    assert (result.locality is not None) <= ("-local" in status or result.is_optimal)
    if options.get("method", "auto") != "auto":
        assert result.chosen is None
        assert result.method == options["method"]
        return
    assert result.chosen.startswith(f"{result.method}: ")
    says_proof = "few enough for a proof" in result.chosen
    assert says_proof <= result.is_optimal
    assert ("no proof" in result.chosen) <= (not result.is_optimal)
    assert ("interrupted" in result.chosen) <= (result.stopped == "interrupt")
    assert ("no cell is missing" in result.chosen) == (len(result.cells) == 0)
    asks = "for a proof" in result.chosen and "use " in result.chosen
    assert asks <= (not result.is_optimal)


@pytest.mark.parametrize("name", CASES)
def test_what_is_said_of_a_result_agrees(name):
    make, options, certificates, reasons = CASES[name]
    result = learn(make(), seed=1, **options)
    assert result.certificate in certificates
    assert result.stopped in reasons
    check_agreement(result, options)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to a process")
@pytest.mark.parametrize(
    ("data", "options"),
    [
        (asia(2000, 0.04), {}),
        (asia(500, 0.1), {"method": "exact"}),
        (wide(20, 0.2, 1000), {"method": "em"}),
        (wide(20, 0.2, 1000), {"method": "em-hard"}),
        (wide(30, 0.02, 1000), {"method": "local", "solver": "order"}),
    ],
)
def test_what_is_said_after_ctrl_c_agrees(data, options):
    with ctrl_c_on_progress() as progress:
        result = learn(data, seed=1, restarts=50, progress=progress, **options)
    assert result.stopped == "interrupt"
    assert not result.is_optimal
    check_agreement(result, options)


@pytest.mark.parametrize("method", ["exact", "local"])
def test_ctrl_c_while_the_answer_is_put_together_does_not_lose_it(method, monkeypatch):
    calls = []

    def interrupted_once(*given):
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return supported_network(*given)

    monkeypatch.setattr(answer_module, "supported_network", interrupted_once)
    options = {"method": method, "restarts": 0, "seed": 1}
    proven = learn(asia(80, 0.02), **options)
    assert proven.is_optimal == (method == "exact")
    assert proven.stopped == ("nothing" if method == "exact" else "interrupt")
    calls.clear()
    result = learn(asia(500, 0.1), time_limit=0.5, **options)
    assert len(calls) == 2
    assert result.stopped == "interrupt"
    check_agreement(result, options)


def test_tables_that_come_too_late_say_so(monkeypatch):
    def late(self):
        raise TimeoutError

    monkeypatch.setattr(local_module.LocalSearch, "time_for_tables", late)
    for method in ("exact", "local"):
        result = learn(asia(80, 0.05), method=method, time_limit=5.0, seed=1)
        assert (result.certificate, result.stopped) == (HEURISTIC, TIME)
        check_agreement(result, {"method": method})
