"""Counts of tables that may lie anywhere: exact, however rows are parted."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from support import oracle
from support.networks import flat, random_case

import bayesmend as bm
from bayesmend import _core
from bayesmend._clock import Clock
from bayesmend.errors import DataError
from bayesmend.graph.constraints import Constraints
from bayesmend.inference.engine import Engine
from bayesmend.learning.counting import (
    CountingHere,
    add_sums,
    expected_from,
    fit,
    grid_of,
    is_sampled,
    observed_score,
    on_grid,
    whole_counts,
)
from bayesmend.learning.em.expectation import Table
from bayesmend.network.flat import parents_of
from bayesmend.outcome import Stopped
from bayesmend.score import Score

SEEDS = st.integers(0, 2**32)
KINDS = ("bdeu", "bds", "k2", "bic", "aic", "qnml", "loglik")


def counting_of(data, n_threads=1):
    return CountingHere(data, Engine(n_threads=n_threads))


def large_case(seed=1, n_rows=70_000):
    """More rows than one part holds, with weights that no binary fraction equals."""
    network = bm.load_network("asia")
    data = bm.hide_mcar(network.sample(n_rows, seed=seed), 0.2, seed=seed).data
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, n_rows)
    weighted = bm.IncompleteData.from_codes(
        data.codes, names=data.names, states=data.states, weights=weights
    )
    return network, weighted


# --- what is counted ------------------------------------------------------------------


@given(SEEDS)
def test_an_expectation_is_that_of_all_completions(seed):
    case = random_case(seed)
    found = (
        counting_of(case.data).under(case.network.dag).expect(flat(case.network.cpts))
    )
    rows, shares = oracle.expected_rows(*case.plain, case.rows, case.mass)
    expected = [
        oracle.family_counts(rows, case.card, child, parents, shares)
        for child, parents in enumerate(case.network.dag.parents)
    ]
    assert found.counts == pytest.approx(flat(expected), abs=1e-6)
    assert found.log_likelihood == pytest.approx(
        oracle.observed_log_likelihood(*case.plain, case.rows, case.mass), abs=1e-6
    )


@given(SEEDS)
def test_whole_counts_are_those_of_rows_that_show_the_set(seed):
    case = random_case(seed)
    rng = np.random.default_rng(seed)
    sets = [
        rng.permutation(len(case.card))[: rng.integers(1, 4)].tolist() for _ in range(3)
    ]
    for members, found in zip(sets, counting_of(case.data).whole(sets), strict=True):
        shown = [
            (row, weight)
            for row, weight in zip(case.rows, case.mass, strict=True)
            if all(row[v] is not None for v in members)
        ]
        child, *parents = members
        expected = oracle.family_counts(
            [row for row, _ in shown], case.card, child, parents, [w for _, w in shown]
        )
        assert found == pytest.approx(np.ravel(expected), abs=1e-9)


@given(SEEDS)
def test_a_row_that_is_impossible_is_noticed(seed):
    case = random_case(seed)
    assume(any(case.mass))
    cpts = flat(case.network.cpts).copy()
    cpts[: case.network.cpts[0].size] = 0
    found = counting_of(case.data).under(case.network.dag).expect(cpts)
    assert found.log_likelihood == -math.inf


def test_a_fit_without_a_possible_row_is_refused():
    data = bm.IncompleteData.from_table({"a": [0, 1, None], "b": [0, None, 1]})
    dag = bm.Dag.from_arcs(["a", "b"], [])
    with pytest.raises(DataError, match="impossible under the network to start from"):
        fit(
            counting_of(data).under(dag),
            data.card,
            np.array([1.0, 0.0, 0.5, 0.5]),
            clock=Clock(),
            tol=1e-6,
        )


# --- exact sums -----------------------------------------------------------------------


def test_sums_do_not_depend_on_partitions_and_threads():
    network, data = large_case()
    cpts, rng = flat(network.cpts), np.random.default_rng(0)
    counting = counting_of(data)
    rows = rng.permutation(data.n_rows)
    graph, sets = (data.card, *parents_of(network.dag)), [[0, 3], [2, 1, 5]]
    whole, expected, plain = [], [], []
    for n_threads, n_parts in ((1, 1), (3, 1), (2, 5), (1, 40)):
        cuts = np.sort(rng.integers(0, data.n_rows, n_parts - 1))
        sums, seen, counted = [], 0.0, 0.0
        for part in np.split(rows if n_parts > 1 else np.arange(data.n_rows), cuts):
            columns = np.ascontiguousarray(data.codes[part].T)
            weights = counting.weights[part]
            core = _core.Evidence(*graph, columns, weights, counting.grid, n_threads)
            sums.append(core.expect(cpts, n_threads))
            seen = seen + core.observed_counts
            counted = counted + np.concatenate(
                whole_counts(columns, data.card, weights, sets, n_threads)
            )
        whole.append(seen.tobytes() + counted.tobytes())
        plain.append(add_sums(sums).tolist())
        expected.append(expected_from(seen, add_sums(sums), cpts, counting.grid))
    assert len(set(whole)) == 1
    assert all(sums == plain[0] for sums in plain)
    reference = counting.under(network.dag).expect(cpts)
    for found in expected:
        assert found.counts.tobytes() == reference.counts.tobytes()
        assert found.log_likelihood == reference.log_likelihood


def test_exact_sums_agree_with_sums_of_doubles():
    network, data = large_case()
    table = Table.of(data, Engine(n_threads=1))
    reference = table.expect(network.dag, flat(network.cpts))
    found = counting_of(data).under(network.dag).expect(flat(network.cpts))
    assert found.counts == pytest.approx(reference.counts, abs=1e-5)
    assert found.log_likelihood == pytest.approx(reference.log_likelihood[-1], rel=1e-9)


@given(st.lists(st.lists(st.integers(0, 2**100), min_size=2, max_size=2), min_size=1))
def test_sums_carry(values):
    parts = [
        np.array([[v % 2**64, v >> 64] for v in pair], np.uint64) for pair in values
    ]
    found = [int(low) + (int(high) << 64) for low, high in add_sums(parts)]
    assert found == [sum(pair[k] for pair in values) for k in (0, 1)]


@given(st.integers(1, 10**7), st.floats(1e-9, 1e9))
def test_weights_on_the_grid_add_up_exactly_and_stay_near(n_rows, largest):
    grid = grid_of(n_rows, largest)
    assert n_rows * largest / grid < 2**52
    weights = np.array([largest, largest / 3])
    assert abs(on_grid(weights, grid) - weights).max() <= grid / 2
    assert grid <= largest * n_rows * 2**-49


# --- nested samples -------------------------------------------------------------------


@given(st.integers(1, 5000), st.integers(1, 6000), st.integers(1, 6000))
@settings(max_examples=50)
def test_samples_are_nested_and_chosen_part_by_part(n_rows, one, two):
    small, large = sorted((one, two))
    rows = np.arange(n_rows)
    chosen = is_sampled(rows, small, n_rows)
    assert (chosen <= is_sampled(rows, large, n_rows)).all()
    parts = [is_sampled(part, small, n_rows) for part in np.array_split(rows, 7)]
    assert (np.concatenate(parts) == chosen).all()
    assert abs(chosen.sum() - min(small, n_rows)) <= 6 * math.sqrt(n_rows) + 1
    if small >= n_rows:
        assert chosen.all()


def test_a_sample_holds_the_rows_and_their_weights():
    _, data = large_case(n_rows=3000)
    sample = counting_of(data).sample(500)
    rows = np.flatnonzero(is_sampled(np.arange(3000), 500, 3000))
    assert (sample.codes == data.codes[rows]).all()
    assert (sample.weights == data.weights[rows]).all()
    assert counting_of(data).sample(3000) is data


# --- fits and scores ------------------------------------------------------------------


@given(SEEDS, st.sampled_from([0.0, 2.0]))
def test_a_fit_is_that_of_a_table_in_memory(seed, ess):
    case = random_case(seed)
    table, _ = case.compiled()
    dag, cpts = case.network.dag, flat(case.network.cpts)
    options = {"clock": Clock(), "ess": ess, "max_iter": 30, "tol": 1e-9}
    reference = table.fit(
        dag, cpts, **{**options, "tol": 1e-9 / max(table.weights.sum(), 1.0)}
    )
    found = fit(counting_of(case.data).under(dag), case.data.card, cpts, **options)
    assert found.log_likelihood[-1] == pytest.approx(
        reference.log_likelihood[-1], abs=1e-4
    )


@given(SEEDS, st.sampled_from(KINDS), st.sampled_from([0.0, 0.2]))
def test_the_score_is_that_of_a_table_in_memory(seed, kind, support):
    case = random_case(seed)
    table, holes = case.compiled()
    dag, cpts = case.network.dag, flat(case.network.cpts)
    score = Score(kind, support=support, prior="fair")
    rules = Constraints.of(None).rules(case.data.names, max_parents=3)
    reference = table.fit(dag, cpts, clock=Clock(), max_iter=1)
    scored = table.scorer(holes, reference.cpts, score, rules).dag(dag)
    expected = (
        scored
        - reference.expected_log_likelihood()
        + float(reference.log_likelihood[-1])
    )
    counting = counting_of(case.data)
    found = fit(
        counting.under(dag), case.data.card, cpts, clock=Clock(), tol=1e-9, max_iter=1
    )
    # Else the one stopped at a gain that the other had lost by rounding.
    assume(len(found.log_likelihood) == len(reference.log_likelihood))
    assert observed_score(counting, dag, found, score, rules) == pytest.approx(
        expected, abs=1e-5
    )


def test_a_fit_ends_at_its_time_limit_with_what_it_has():
    network, data = large_case(n_rows=2000)
    found = fit(
        counting_of(data).under(network.dag),
        data.card,
        flat(network.cpts),
        clock=Clock(1e-9),
        tol=1e-30,
    )
    assert found.stopped is Stopped.TIME
    assert len(found.log_likelihood) == 1


def test_an_interrupted_fit_returns_what_it_has():
    network, data = large_case(n_rows=2000)
    under = counting_of(data).under(network.dag)

    class Interrupted:
        dag, whole, n_asked = under.dag, under.whole, 0

        def expect(self, cpts):
            self.n_asked += 1
            if self.n_asked > 3:
                raise KeyboardInterrupt
            return under.expect(cpts)

    found = fit(Interrupted(), data.card, flat(network.cpts), clock=Clock(), tol=1e-30)
    assert found.stopped is Stopped.INTERRUPT
    assert 1 <= len(found.log_likelihood) <= 3
