"""Likelihood weighting: its twin, its convergence, its standard errors, threads."""

import collections
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from support import oracle
from support.examples import examples
from support.networks import empty_rows, grid, plain, table
from support.strategies import MISSING, networks_with_holes
from support.timing import ctrl_c_after

import bayesmend as bm
from bayesmend import _core
from bayesmend.errors import InferenceError, ParameterError, ShortfallWarning
from bayesmend.network.flat import flatten

WEIGHTING = {"inference": "weighting"}


def weigh(network, rows, n_samples, seed, n_threads=1):
    codes = np.array([[MISSING if c is None else c for c in row] for row in rows])
    order = np.array(network.dag.topological_order(), dtype=np.int32)
    cells = np.ascontiguousarray(codes.T.astype(np.uint8))
    every = np.empty(0, np.uint8)
    flat = flatten(network.dag, network.cpts)
    weigher = _core.Weigher(*flat, order, cells, n_samples, seed, n_threads)
    return weigher.marginals(every)


@given(networks_with_holes(max_vars=5, max_rows=3), st.integers(0, 2**64 - 1))
@examples(40)
def test_sums_match_the_twin(case, seed):
    network, rows = case
    n_samples = 7
    found = weigh(network, rows, n_samples, seed)
    order = network.dag.topological_order()
    probabilities, deviations = [], []
    drawn = [
        [
            oracle.weighted_sample(*plain(network), order, row, seed, number, k)
            for k in range(n_samples)
        ]
        for number, row in enumerate(rows)
    ]
    for v, card in enumerate(network.card.tolist()):
        for samples, row in zip(drawn, rows, strict=True):
            total = sum(w for _, w in samples)
            for state in range(card if row[v] is None else 0):
                if total == 0:
                    probabilities.append(math.nan)
                    deviations.append(math.nan)
                    continue
                p = sum(w for full, w in samples if full[v] == state) / total
                spread = sum((w * ((f[v] == state) - p)) ** 2 for f, w in samples)
                probabilities.append(p)
                deviations.append(math.sqrt(spread) / total)
    np.testing.assert_allclose(found.probabilities, probabilities, atol=1e-12)
    np.testing.assert_allclose(found.errors, deviations, atol=1e-7)
    for number, (samples, row) in enumerate(zip(drawn, rows, strict=True)):
        weights = [w for _, w in samples]
        mean, squares = sum(weights) / n_samples, sum(w * w for w in weights)
        assert math.exp(found.log_evidence[number]) == pytest.approx(mean, rel=1e-9)
        expected = sum(weights) ** 2 / squares if squares else 0.0
        if None in row:
            assert found.effective[number] == pytest.approx(expected, rel=1e-9)


@given(networks_with_holes(max_vars=5, max_rows=2))
@examples(30)
def test_estimates_come_near_the_exact_answer(case):
    network, rows = case
    rows = [r for r in rows if oracle.evidence_probability(*plain(network), r) > 0.02]
    data = table(network, rows)
    exact = bm.marginals(network, data)
    near = bm.marginals(network, data, **WEIGHTING, n_samples=20_000, seed=1)
    for v, name in enumerate(network.names):
        at, wanted = exact.of(name)
        _, got = near.of(name)
        reliable = near.effective_samples[at] > 1000
        distance = np.abs(got - wanted)[reliable]
        allowed = 6 * near.errors[v][reliable] + 2e-3
        assert (distance <= allowed).all()


@pytest.mark.parametrize("seed", range(5))
def test_standard_errors_are_as_large_as_the_errors(seed):
    network = bm.load_network("asia")
    row = empty_rows(network) | {"dysp": ["yes"], "xray": ["yes"]}
    exact = bm.marginals(network, row)
    near = bm.marginals(network, row, **WEIGHTING, n_samples=50_000, seed=seed)
    z = [
        (near.probabilities[v][0, 0] - exact.probabilities[v][0, 0])
        / near.errors[v][0, 0]
        for v in range(network.n_vars)
        if len(exact.rows[v])
    ]
    assert 0.05 < np.sqrt(np.mean(np.square(z))) < 4.0
    difference = near.log_evidence[0] - exact.log_evidence[0]
    spread = math.sqrt(1 / near.effective_samples[0] - 1 / 50_000)
    assert abs(difference) < 5 * spread


@pytest.mark.parametrize("seed", range(5))
def test_a_joint_estimate_is_as_near_the_exact_joint_as_it_says(seed):
    network = bm.load_network("asia")
    targets, given = ["either", "smoke", "bronc"], {"dysp": "yes", "xray": "yes"}
    exact = bm.query(network, targets, given=given, joint=True)
    options = {**WEIGHTING, "n_samples": 50_000, "seed": seed}
    near = bm.query(network, targets, given=given, joint=True, **options)
    z = (near.joint - exact.joint) / near.joint_errors
    assert np.abs(z).max() < 4.0
    assert 0.1 < np.sqrt(np.mean(np.square(z))) < 2.5
    assert near.joint.sum() == pytest.approx(1.0)
    for axis, name in enumerate(targets):
        others = tuple(k for k in range(3) if k != axis)
        single = [*near.distributions[name].values()]
        np.testing.assert_allclose(near.joint.sum(axis=others), single, rtol=1e-9)
    assert (
        near.distributions
        == bm.query(network, targets, given=given, **options).distributions
    )
    for n_threads in (1, 3):
        again = bm.query(
            network, targets, given=given, joint=True, **options, n_threads=n_threads
        )
        assert np.array_equal(again.joint, near.joint)
        assert np.array_equal(again.joint_errors, near.joint_errors)


@given(networks_with_holes(max_vars=5, max_rows=1), st.integers(0, 2**32), st.randoms())
@examples(20)
def test_a_joint_estimate_matches_the_twin(case, seed, random):
    network, (row,) = case
    targets = [v for v, code in enumerate(row) if code is None]
    random.shuffle(targets)
    if not targets:
        return
    order = network.dag.topological_order()
    flat = flatten(network.dag, network.cpts)
    codes = np.array([[MISSING if c is None else c] for c in row], dtype=np.uint8)
    weigher = _core.Weigher(*flat, np.array(order, np.int32), codes, 7, seed, 1)
    found = weigher.marginals(np.empty(0, np.uint8), targets)
    samples = [
        oracle.weighted_sample(*plain(network), order, row, seed, 0, k)
        for k in range(7)
    ]
    total = sum(w for _, w in samples)
    for k, states in enumerate(np.ndindex(*(network.card[v] for v in targets))):
        if total == 0:
            assert math.isnan(found.joint[k])
            assert math.isnan(found.joint_errors[k])
            continue
        hit = [tuple(full[v] for v in targets) == states for full, _ in samples]
        p = sum(w for h, (_, w) in zip(hit, samples, strict=True) if h) / total
        spread = sum((w * (h - p)) ** 2 for h, (_, w) in zip(hit, samples, strict=True))
        assert found.joint[k] == pytest.approx(p, abs=1e-12)
        error = math.sqrt(spread) / total
        assert found.joint_errors[k] == pytest.approx(error, abs=1e-7)


def test_a_joint_estimate_prints_its_errors_and_refuses_what_is_too_large():
    asia = bm.load_network("asia")
    options = {**WEIGHTING, "n_samples": 1000, "seed": 1, "joint": True}
    near = bm.query(asia, ["tub", "lung"], given={"xray": "yes"}, **options)
    assert " ± 0." in str(near).split("together")[1]
    first = near.to_dict()["joint"][0]
    assert first == {
        "states": ["yes", "yes"],
        "probability": near.joint[0, 0],
        "error": near.joint_errors[0, 0],
    }
    with pytest.raises(InferenceError, match=r"a joint distribution of 256 entries"):
        bm.query(asia, **options, max_memory=1000)
    impossible = {"either": "no", "tub": "yes"}
    with pytest.raises(InferenceError, match="none of 1,000 samples agrees"):
        bm.query(asia, "lung", given=impossible, **options)


@pytest.mark.parametrize("n_rows", [1, 3, 100])
@pytest.mark.parametrize("n_threads", [4, 7])
def test_estimates_do_not_depend_on_the_number_of_threads(n_threads, n_rows):
    network = bm.load_network("lucas")
    data = bm.hide_mcar(network.sample(n_rows, seed=1), 0.4, seed=1).data
    options = {**WEIGHTING, "n_samples": 5000, "seed": 1}
    one = bm.marginals(network, data, **options, n_threads=1)
    many = bm.marginals(network, data, **options, n_threads=n_threads)
    assert np.array_equal(one.log_evidence, many.log_evidence)
    assert np.array_equal(one.effective_samples, many.effective_samples)
    for v in range(network.n_vars):
        assert np.array_equal(one.probabilities[v], many.probabilities[v])
        assert np.array_equal(one.errors[v], many.errors[v])
    draws = [
        bm.draw_completions(network, data, **options, n_threads=k)
        for k in (1, n_threads)
    ]
    assert draws[0] == draws[1]


def test_draws_follow_the_posterior():
    network = bm.load_network("asia")
    row = empty_rows(network, 4000) | {"dysp": ["yes"] * 4000}
    (drawn,) = bm.draw_completions(network, row, **WEIGHTING, n_samples=3000, seed=2)
    counts = collections.Counter(map(tuple, drawn.codes[:, [2, 3, 4]].tolist()))
    evidence = [0 if name == "dysp" else None for name in network.names]
    joint = oracle.joint_posterior(*plain(network), evidence, [2, 3, 4])
    observed = [counts[states] for states in joint]
    expected = np.array([*joint.values()]) * 4000
    assert chisquare(observed, expected).pvalue > 1e-3


def test_draws_tell_their_effective_samples():
    asia = bm.load_network("asia")
    data = bm.hide_mcar(asia.sample(40, seed=1), 0.3, seed=1).data
    cells = np.ascontiguousarray(data.codes.T)
    order = np.array(asia.dag.topological_order(), dtype=np.int32)
    weigher = _core.Weigher(*flatten(asia.dag, asia.cpts), order, cells, 3000, 7, 1)
    wanted = weigher.marginals(np.ones(asia.n_vars, np.uint8)).effective
    drawn = weigher.draw(2).effective
    np.testing.assert_allclose(drawn, wanted, rtol=1e-9)


def test_draws_that_repeat_each_other_are_said_aloud():
    asia = bm.load_network("asia")
    rows = empty_rows(asia, 2) | {"dysp": ["yes", "no"]}
    rows = {name: [*values, "no"] for name, values in rows.items()}
    few = {"n_samples": 10, "n_draws": 200, "seed": 1}
    message = (
        r"n_draws=200 completions come from fewer samples in 2 of 3 rows, and repeat "
        r"each other: row [01] has samples as good as \d.* unweighted ones. Raise n_sa"
    )
    with pytest.warns(ShortfallWarning, match=message) as caught:
        found = bm.impute(asia, rows, method="draw", inference="weighting", **few)
    assert caught[0].filename == __file__
    assert found.effective_samples.shape == (3,)
    assert (found.effective_samples[:2] <= 10).all()
    lowest = found.effective_samples[:2].min()
    assert found.to_dict()["lowest_effective_samples"] == lowest
    with pytest.warns(ShortfallWarning, match=message):
        bm.draw_completions(asia, rows, **WEIGHTING, **few)


def test_enough_samples_are_not_remarked_upon():
    asia = bm.load_network("asia")
    rows = empty_rows(asia) | {"dysp": ["yes"]}
    options = {"inference": "weighting", "n_samples": 2000, "seed": 1}
    drawn = bm.impute(asia, rows, method="draw", n_draws=200, **options)
    assert 200 < drawn.effective_samples[0] < 2000
    single = bm.impute(asia, rows, method="marginal", **options)
    assert 200 < single.effective_samples[0] < 2000
    assert bm.impute(asia, rows).effective_samples is None
    assert bm.impute(asia, rows).to_dict()["lowest_effective_samples"] is None


def test_draws_keep_what_is_observed():
    network = bm.load_network("asia")
    data = bm.hide_mcar(network.sample(200, seed=1), 0.3, seed=1).data
    for drawn in bm.draw_completions(
        network, data, **WEIGHTING, n_samples=500, n_draws=3, seed=1
    ):
        seen = data.codes != MISSING
        assert np.array_equal(drawn.codes[seen], data.codes[seen])
        assert np.isfinite(network.log_likelihood(drawn)).all()


def test_a_row_without_holes_has_its_exact_probability():
    network = bm.load_network("asia")
    data = network.sample(5, seed=1)
    found = bm.log_evidence(network, data, **WEIGHTING, seed=1)
    np.testing.assert_allclose(found, network.log_likelihood(data))


def test_a_grid_too_wide_for_exact_answers_can_be_weighted():
    network = grid(30)
    row = empty_rows(network) | {"g5_5": [1]}
    found = bm.marginals(network, row, **WEIGHTING, n_samples=2000, seed=1)
    assert found.effective_samples[0] > 100
    completed = bm.impute(
        network, row, method="draw", inference="weighting", n_samples=500, seed=1
    ).completed
    assert completed.is_complete


def test_evidence_that_no_sample_meets_is_an_error():
    network = bm.Network(
        bm.Dag.from_arcs("ab", [("a", "b")]),
        (("x", "y"), ("u", "v")),
        ([[1 - 1e-9, 1e-9]], [[1, 0], [0, 1]]),
    )
    row = {"a": [None], "b": ["v"]}
    message = (
        r"none of 1,000 samples agrees with row 0 \(b=v\). Raise n_samples, or ask for "
        "exact inference."
    )
    options = {**WEIGHTING, "n_samples": 1000, "seed": 1}
    for ask in (bm.marginals, bm.draw_completions):
        with pytest.raises(InferenceError, match=message):
            ask(network, row, **options)
    assert bm.log_evidence(network, row, **options)[0] == -math.inf
    with pytest.raises(InferenceError, match=r"with the evidence b=v. Raise n_s"):
        bm.query(network, "a", given={"b": "v"}, **options)


def test_samples_to_draw_from_must_fit_into_memory():
    asia = bm.load_network("asia")
    message = r"drawing from n_samples=1000000000 needs 8 GB, more than max_memory=1"
    options = {"n_samples": 10**9, "n_threads": 1}
    with pytest.raises(InferenceError, match=message):
        bm.draw_completions(asia, empty_rows(asia), **WEIGHTING, **options)


@pytest.mark.parametrize("n_rows", [1, 100])
def test_ctrl_c_ends_the_sampling(n_rows):
    asia = bm.load_network("asia")
    rows = empty_rows(asia, n_rows) | {"dysp": ["yes"] * n_rows}
    with ctrl_c_after(0.1, raises=True):
        bm.marginals(asia, rows, **WEIGHTING, n_samples=10**8 // n_rows)
    with ctrl_c_after(0.1, raises=True):
        bm.draw_completions(asia, rows, **WEIGHTING, n_samples=2 * 10**7 // n_rows)


def test_the_most_probable_states_have_no_approximate_method():
    network = bm.load_network("asia")
    message = "states together have no approximate method. Use method='marginal'"
    with pytest.raises(ParameterError, match=message):
        bm.impute(network, empty_rows(network), method="mpe", inference="weighting")


@pytest.mark.parametrize(
    "change",
    [
        {"order": np.array([1, 0], dtype=np.int32)},
        {"columns": np.full((2, 1), 2, np.uint8)},
        {"columns": np.full((1, 1), 255, np.uint8)},
        {"targets": np.ones(3, np.uint8)},
        {"n_samples": 0},
        {"cpts": np.full(5, 0.5)},
        {"together": [2]},
        {"together": [0], "targets": np.array([0, 1], np.uint8)},
        {"together": [0], "columns": np.full((2, 2), 255, np.uint8)},
    ],
)
def test_the_core_refuses_arrays_that_do_not_fit(change):
    good = {
        "card": np.array([2, 2], dtype=np.int32),
        "parent_offsets": np.array([0, 0, 1]),
        "parents": np.array([0], dtype=np.int32),
        "cpt_offsets": np.array([0, 2, 6]),
        "cpts": np.full(6, 0.5),
        "order": np.array([0, 1], dtype=np.int32),
        "columns": np.full((2, 1), 255, np.uint8),
        "targets": np.empty(0, np.uint8),
        "n_samples": 4,
        "seed": 1,
        "n_threads": 1,
    }

    def answer(targets, together=(), **arguments):
        return _core.Weigher(**arguments).marginals(targets, together)

    answer(**good)
    with pytest.raises(ValueError, match=r"\w"):
        answer(**good | change)
