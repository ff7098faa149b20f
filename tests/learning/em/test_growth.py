"""Long tables: structure from growing samples, everything else from all rows."""

import json
import time

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.errors import ParameterError
from bayesmend.inference.engine import Engine
from bayesmend.learning.counting import CountingHere
from bayesmend.learning.em import growth
from bayesmend.outcome import Certificate, Stopped


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Tables of thousands of rows are long already."""
    monkeypatch.setattr(growth, "FIRST_ROWS", 300)
    monkeypatch.setattr(growth, "_ROWS_PER_CELL", 10)


def table_of(n_rows, seed=1, rate=0.1):
    return bm.hide_mcar(
        bm.load_network("asia").sample(n_rows, seed=seed), rate, seed=seed
    ).data


def learned(data, **options):
    return bm.learn_em(data, **{"seed": 1, "restarts": 2, **options})


def same(one, other):
    return (
        one.network == other.network
        and one.score == other.score
        and one.log_likelihood == other.log_likelihood
        and one.completed.codes.tobytes() == other.completed.codes.tobytes()
        and one.cells.probabilities.tobytes() == other.cells.probabilities.tobytes()
    )


# --- what is seen of how many rows ----------------------------------------------------


def test_growth_stops_where_more_rows_change_nothing_that_matters():
    result = learned(table_of(20_000))
    samples = result.detail["samples"]
    assert samples[0]["gain"] is None
    assert all(sample["gain"] > 3 for sample in samples[1:-1])
    assert samples[-1]["gain"] <= 3
    assert result.structure_rows == samples[-1]["n_rows"] < 20_000
    assert result.certificate is Certificate.LOCAL


def test_the_result_says_what_was_seen_of_how_many_rows():
    result = learned(table_of(8000))
    assert f"structure_rows={result.structure_rows}" in repr(result)
    told = json.loads(json.dumps(result.to_dict()))
    assert told["structure_rows"] == result.structure_rows
    assert [s["n_rows"] for s in told["detail"]["samples"]] == sorted(
        s["n_rows"] for s in told["detail"]["samples"]
    )


def test_a_result_comes_back_from_its_file(tmp_path):
    result = learned(table_of(5000))
    bm.write_result(result, tmp_path / "result.json")
    again = bm.read_result(tmp_path / "result.json")
    assert again.structure_rows == result.structure_rows
    assert again.detail == result.detail


def test_score_and_likelihood_are_of_all_rows():
    data = table_of(6000)
    result = learned(data)
    assert result.structure_rows < data.n_rows
    evidence = bm.log_evidence(result.network, data)
    assert result.log_likelihood == pytest.approx(float(evidence.sum()), rel=1e-9)
    # What the plain method says of the same structure.
    arcs = set(result.dag.arcs)
    pairs = [(a, b) for a in data.names for b in data.names if a != b]
    given = {
        "required": arcs,
        "forbidden": [pair for pair in pairs if pair not in arcs],
    }
    plain = learned(data, full=True, constraints=given)
    assert plain.structure_rows is None
    assert result.log_likelihood == pytest.approx(plain.log_likelihood, abs=0.5)


def test_a_sample_of_all_rows_gives_what_the_plain_method_gives(monkeypatch):
    data = table_of(1500)
    monkeypatch.setattr(growth, "sample_sizes", lambda *_: (1500,))
    monkeypatch.setattr("bayesmend.learning.em.learn.sample_sizes", lambda *_: (1500,))
    grown, plain = learned(data), learned(data, full=True)
    assert same(grown, plain)
    assert grown.structure_rows is None
    assert grown.status == plain.status


def test_the_structure_is_nearly_that_of_the_plain_method():
    data = table_of(12_000)
    grown, plain = learned(data), learned(data, full=True)
    assert abs(grown.score - plain.score) < 30
    assert bm.structural_hamming_distance(grown.dag, plain.dag) <= 2
    assert (grown.completed.codes == plain.completed.codes).mean() > 0.999


def test_short_tables_and_other_ways_are_learned_from_all_rows():
    short = table_of(1199)
    assert learned(short).structure_rows is None
    assert same(learned(short), learned(short, full=True))
    long = table_of(2000)
    assert learned(long).structure_rows is not None
    assert learned(long, hard=True).structure_rows is None
    assert learned(bm.load_network("asia").sample(2000, seed=1)).structure_rows is None


@pytest.mark.parametrize("how", [{"hard": True}, {"mechanism": "self"}])
def test_other_ways_make_starts_with_samples_and_go_on_with_all_rows(how):
    data = table_of(4000)
    grown, plain = learned(data, **how), learned(data, full=True, **how)
    assert grown.structure_rows is None
    assert 300 <= grown.detail["samples"][0]["n_rows"] < 4000
    assert "samples" not in plain.detail
    assert abs(grown.score - plain.score) < 10
    assert bm.structural_hamming_distance(grown.dag, plain.dag) <= 2
    if "hard" in how:
        # Its network and its completion agree: neither changes the other any more.
        again = bm.Network.fit(
            grown.dag, grown.completed, estimate="posterior", ess=1.0
        )
        completed = bm.impute(again, data).completed
        assert (completed.codes == grown.completed.codes).mean() > 0.9999


@pytest.mark.parametrize("how", [{"hard": True}, {"mechanism": "self"}])
def test_time_that_is_over_with_samples_still_gives_an_answer_of_all_rows(how):
    result = learned(table_of(4000), time_limit=0.01, restarts=50, **how)
    assert result.stopped is Stopped.TIME
    assert result.completed.n_rows == 4000
    assert np.isfinite(result.score)


def test_weights_count_where_rows_are_sampled():
    data = table_of(4000)
    weights = np.random.default_rng(1).uniform(0.5, 1.5, 4000)
    weighted = bm.IncompleteData.from_codes(
        data.codes, names=data.names, states=data.states, weights=weights
    )
    result = learned(weighted)
    evidence = bm.log_evidence(result.network, weighted)
    assert result.log_likelihood == pytest.approx(float(evidence @ weights), rel=1e-9)


# --- always the same ------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [2, 5])
def test_the_answer_does_not_depend_on_threads(n_threads):
    data = table_of(5000)
    assert same(learned(data, n_threads=n_threads), learned(data, n_threads=1))


def test_learn_passes_it_on():
    data = table_of(20_000)
    grown = bm.learn(data, method="em", seed=1, restarts=2)
    plain = bm.learn(data, method="em", seed=1, restarts=2, full=True)
    assert grown.structure_rows is not None
    assert plain.structure_rows is None
    auto = bm.learn(data, seed=1, mechanism="ignore", restarts=1)
    assert auto.method == "em"
    assert auto.structure_rows is not None
    with pytest.raises(ParameterError, match="full"):
        bm.learn(data, method="local", full=True)
    with pytest.raises(ParameterError, match="full must be"):
        bm.learn_em(data, full="yes")


# --- ended early ----------------------------------------------------------------------


def test_at_a_time_limit_there_is_an_answer_from_all_rows():
    data = table_of(6000)
    result = learned(data, time_limit=1e-3)
    assert result.stopped is Stopped.TIME
    assert result.status == "stopped at time limit"
    assert result.completed.n_missing == 0
    assert result.structure_rows < 6000


def test_a_time_limit_leaves_room_for_all_rows():
    counting = CountingHere(table_of(8000), Engine())

    def slow(_, sample):
        time.sleep(0.02)
        assert sample.n_rows < 2000

    # Some 160 times as many rows, twice.
    shares = [
        growth.share_for_samples(counting, 50, slow, limit) for limit in (1e9, 60, 1)
    ]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0.999
    assert 0.5 < shares[1] < 0.95
    assert shares[2] == 0.5


def test_an_interrupt_during_growth_keeps_what_was_found(monkeypatch):
    data = table_of(6000)

    def interrupted(self, dag, cpts):
        self.stopped = Stopped.INTERRUPT

    monkeypatch.setattr("bayesmend.learning.em.search.Search.go_on", interrupted)
    result = learned(data)
    assert result.stopped is Stopped.INTERRUPT
    assert len(result.detail["samples"]) == 1
    assert result.completed.n_missing == 0


def test_an_interrupt_in_a_larger_sample_is_not_lost(monkeypatch):
    data = table_of(6000)
    search = "bayesmend.learning.em.search.Search"
    fit = bm.learning.em.search.Search._fit

    def interrupt_grown(self, kind, *given):
        if kind == "grown":
            raise KeyboardInterrupt
        return fit(self, kind, *given)

    monkeypatch.setattr(f"{search}._fit", interrupt_grown)
    result = learned(data)
    assert result.stopped is Stopped.INTERRUPT
    assert len(result.detail["samples"]) == 1


def test_an_interrupt_while_all_rows_are_counted_is_no_loss(monkeypatch):
    data = table_of(6000)
    plain, calls = learned(data), []
    whole = growth.on_all_rows

    def interrupt_once(*given):
        calls.append(1)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return whole(*given)

    monkeypatch.setattr("bayesmend.learning.em.learn.on_all_rows", interrupt_once)
    result = learned(data)
    assert result.stopped is Stopped.INTERRUPT
    assert result.network == plain.network


def test_a_checkpoint_gives_the_same_answer(tmp_path):
    data = table_of(5000)
    plain = learned(data)
    first = learned(data, checkpoint=tmp_path / "kept")
    again = learned(data, checkpoint=tmp_path / "kept")
    assert same(first, plain)
    assert same(again, plain)
    assert again.detail["samples"][-1]["gain"] == plain.detail["samples"][-1]["gain"]


def test_progress_tells_how_many_rows_are_at_work():
    told = []
    learned(table_of(5000), progress=lambda what, *_: told.append(what))
    assert any("of 5,000 rows" in what for what in told)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_long_table_is_learned_as_well_as_from_all_rows(seed, monkeypatch):
    monkeypatch.undo()  # tables are as long as they are
    data = table_of(100_000, seed=seed, rate=0.05)
    grown, plain = learned(data), learned(data, full=True)
    assert grown.detail["samples"][0]["n_rows"] > 9000
    assert abs(grown.score - plain.score) < 10
    assert bm.structural_hamming_distance(grown.dag, plain.dag) <= 1
    assert (grown.completed.codes == plain.completed.codes).mean() > 0.9999
