"""EM of the parameters of a structure: its slow twin, what never falls, errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.networks import Case, flat, grid, plain, random_case
from support.strategies import MISSING
from support.timing import ctrl_c_after, within

import bayesmend as bm
from bayesmend.errors import (
    ConvergenceWarning,
    DataError,
    InferenceError,
    ParameterError,
)
from bayesmend.learning.em.expectation import estimate_cpts

SEEDS = st.integers(0, 2**32)
ESTIMATES = st.sampled_from([("mle", 0.0), ("posterior", 0.5), ("posterior", 4.0)])


def fit(case, **options):
    return bm.fit_parameters(
        case.network.dag, case.data, **{"n_threads": 1, "tol": 1e-9, **options}
    )


def observed_shares(case):
    """What is observed of each variable, as a distribution."""
    shares = []
    for v, r in enumerate(case.card):
        seen = [
            (row[v], w)
            for row, w in zip(case.rows, case.mass, strict=True)
            if row[v] is not None
        ]
        counts = [sum(w for c, w in seen if c == s) for s in range(r)]
        total = sum(counts)
        shares.append([n / total if total else 1 / r for n in counts])
    return shares


def first_guess(case, ess):
    """Tables from counts expected as if variables were independent."""
    parents, card, _ = case.plain
    alone = [()] * len(card), card, [[share] for share in observed_shares(case)]
    rows, weights = oracle.expected_rows(*alone, case.rows, case.mass)
    return oracle.estimates(parents, card, rows, weights, ess)


def is_some_variable_unseen(case):
    rows = [row for row, mass in zip(case.rows, case.mass, strict=True) if mass > 0]
    return any(all(row[v] is None for row in rows) for v in range(len(case.card)))


# --- against the slow twin ------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ConvergenceWarning")
@given(SEEDS, ESTIMATES, st.integers(1, 9))
def test_iterations_are_those_of_the_slow_twin(seed, estimate, n_iterations):
    case, (kind, ess) = random_case(seed), estimate
    parents, card, _ = case.plain
    options = {"estimate": kind, "ess": ess or None, "max_iter": n_iterations}
    guess = first_guess(case, ess)
    if is_some_variable_unseen(case):  # which has a first guess of its own
        if ess:  # zeros in the network have no density under a prior
            return
        options["start"], guess = case.network, case.plain[2]
    found = fit(case, tol=1e-15, **options)
    path = oracle.em_path(parents, card, guess, case.rows, case.mass, ess)
    for reached, objective, (cpts, _) in zip(
        found.log_likelihood, found.objective, path, strict=False
    ):
        exact = oracle.observed_log_likelihood(
            parents, card, cpts, case.rows, case.mass
        )
        assert reached == pytest.approx(exact, abs=1e-8)
        prior = oracle.prior_log_density(card, cpts, ess) if ess else 0.0
        assert objective == pytest.approx(exact + prior, abs=1e-7)
    np.testing.assert_allclose(flat(found.network.cpts), flat(cpts), atol=1e-7)


@given(SEEDS, ESTIMATES)
def test_it_starts_where_it_is_told(seed, estimate):
    case, (kind, ess) = random_case(seed), estimate
    found = fit(case, start=case.network, estimate=kind, ess=ess or None, tol=1e-4)
    exact = oracle.observed_log_likelihood(*case.plain, case.rows, case.mass)
    assert found.log_likelihood[0] == pytest.approx(exact, abs=1e-8)
    assert found.converged


@pytest.mark.parametrize("estimate", ["mle", "posterior"])
@pytest.mark.parametrize("seed", range(300, 340))
def test_without_holes_it_is_plain_estimation(estimate, seed):
    case = random_case(seed)
    case.rows = [[0 if c is None else c for c in row] for row in case.rows]
    ess = 2.0 if estimate == "posterior" else None
    found = fit(case, estimate=estimate, ess=ess)
    dag, data = case.network.dag, case.data
    exact = bm.Network.fit(dag, data, estimate=estimate, ess=ess)
    np.testing.assert_allclose(flat(found.network.cpts), flat(exact.cpts))
    likelihood = oracle.observed_log_likelihood(*plain(exact), case.rows, case.mass)
    assert found.log_likelihood[-1] == pytest.approx(likelihood)


# --- what never falls -----------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::bayesmend.errors.ConvergenceWarning")
@pytest.mark.parametrize("estimate", ["mle", "posterior"])
@pytest.mark.parametrize(
    "block",
    [*range(4), *(pytest.param(k, marks=pytest.mark.slow) for k in range(4, 10))],
)
def test_nothing_falls_on_a_thousand_tables(estimate, block):
    for seed in range(100 * block, 100 * (block + 1)):
        case = random_case([seed, len(estimate)], max_vars=5, max_rows=12)
        ess = 0.3 if estimate == "posterior" else None
        found = fit(case, estimate=estimate, ess=ess, max_iter=15)
        assert (np.diff(found.objective) >= 0).all(), seed
        assert (found.objective == found.log_likelihood) == (estimate == "mle")
        for table in found.network.cpts:
            assert table.min() >= 0
            assert np.abs(table.sum(axis=1) - 1).max() < 1e-9


@pytest.mark.parametrize("block", range(3))
def test_single_steps_of_the_core_do_not_fall_beyond_rounding(block):
    for seed in range(100 * block, 100 * (block + 1)):
        case = random_case(seed, max_vars=5, max_rows=12)
        table, holes = case.compiled()
        dag, card = case.network.dag, table.data.card
        cpts, before = flat(case.network.cpts), -np.inf
        for _ in range(6):
            found = holes.expect(cpts, 1)
            assert found.log_likelihood >= before - 1e-9, seed
            before = found.log_likelihood
            cpts = estimate_cpts(dag, card, found.counts, 0.0)


@pytest.mark.parametrize("seed", range(400, 430))
def test_the_last_log_likelihood_is_that_of_the_network(seed):
    case = random_case(seed)
    with_prior = fit(case, estimate="posterior", tol=1e-3)
    for found in (fit(case, tol=1e-3), with_prior):
        exact = oracle.observed_log_likelihood(
            *plain(found.network), case.rows, case.mass
        )
        assert found.log_likelihood[-1] == pytest.approx(exact, abs=1e-9)


def test_a_gain_below_the_tolerance_ends_it():
    asia = bm.load_network("asia")
    data = bm.hide_mcar(asia.sample(200, seed=1), 0.3, seed=1).data
    rough = bm.fit_parameters(asia.dag, data, tol=1e-3)
    fine = bm.fit_parameters(asia.dag, data, tol=1e-9)
    gains = np.diff(rough.log_likelihood)
    assert rough.converged
    assert gains[-1] < 1e-3 * 200 <= gains[:-1].min()
    assert len(fine.log_likelihood) > len(rough.log_likelihood)


# --- weights, names, threads ----------------------------------------------------------


@pytest.mark.parametrize("seed", range(500, 540))
def test_weights_multiply_like_copies_of_rows(seed):
    case = random_case(seed)
    times = np.random.default_rng(seed).integers(0, 4, len(case.rows)).tolist()
    times[0] = max(times[0], 1)
    copies = [row for row, n in zip(case.rows, times, strict=True) for _ in range(n)]
    weighted = fit(Case(case.network, case.rows, list(map(float, times))))
    copied = fit(Case(case.network, copies, None))
    np.testing.assert_allclose(
        flat(weighted.network.cpts), flat(copied.network.cpts), atol=1e-9
    )


def test_a_row_without_weight_says_nothing_even_when_it_is_impossible():
    network = bm.load_network("asia")
    data = network.sample(50, seed=1)
    codes = data.codes.copy()
    codes[:, 0] = 1
    codes[0] = [0, MISSING, 0, 0, MISSING, 0, 0, 0]  # the one that was in Asia
    weights = np.array([0.0, *[1.0] * 49])
    data = bm.IncompleteData.from_codes(
        codes, names=data.names, states=data.states, weights=weights
    )
    found = bm.fit_parameters(network.dag, data)
    assert found.network.cpts[0].tolist() == [[0.0, 1.0]]
    assert np.isfinite(found.log_likelihood).all()


def test_variables_are_matched_by_name():
    asia = bm.load_network("asia")
    data = bm.hide_mcar(asia.sample(100, seed=1), 0.2, seed=1).data
    turned = bm.IncompleteData.from_codes(
        np.asfortranarray(data.codes[:, ::-1]),
        names=data.names[::-1],
        states=data.states[::-1],
    )
    one = bm.fit_parameters(asia.dag, data)
    two = bm.fit_parameters(asia.dag, turned)
    assert two.network.names == asia.names
    np.testing.assert_allclose(flat(one.network.cpts), flat(two.network.cpts))


@pytest.mark.parametrize("n_threads", [4, 7])
def test_threads_do_not_change_a_bit(n_threads):
    asia = bm.load_network("asia")
    data = bm.hide_mcar(asia.sample(2000, seed=1), 0.4, seed=1).data
    one = bm.fit_parameters(asia.dag, data, n_threads=1, max_iter=200, tol=1e-6)
    many = bm.fit_parameters(
        asia.dag, data, n_threads=n_threads, max_iter=200, tol=1e-6
    )
    assert one.log_likelihood == many.log_likelihood
    assert np.array_equal(flat(one.network.cpts), flat(many.network.cpts))


# --- limits and messages --------------------------------------------------------------


def slow_table():
    network = grid(5)
    return network.dag, bm.hide_mcar(network.sample(300, seed=1), 0.7, seed=1).data


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_time_limit_returns_what_there_is(n_threads):
    dag, data = slow_table()
    options = {"tol": 1e-300, "max_iter": 10**6, "n_threads": n_threads}
    with within(0.7):
        found = bm.fit_parameters(dag, data, time_limit=0.2, **options)
    assert not found.converged
    assert found.stopped is bm.Stopped.TIME
    assert repr(found).startswith("ParameterFit(stopped at time limit after ")
    again = bm.log_evidence(found.network, data).sum()
    assert found.log_likelihood[-1] == pytest.approx(again)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_ctrl_c_returns_what_there_is(n_threads):
    dag, data = slow_table()
    options = {"tol": 1e-300, "max_iter": 10**6, "n_threads": n_threads}
    with ctrl_c_after(0.3):
        found = bm.fit_parameters(dag, data, **options)
    assert found.stopped is bm.Stopped.INTERRUPT
    assert not found.converged
    assert (np.diff(found.log_likelihood) >= 0).all()


def test_its_face_says_how_it_ended():
    case = random_case(3)
    assert repr(fit(case)).startswith("ParameterFit(converged after ")


def asia_with_holes():
    asia = bm.load_network("asia")
    return asia.dag, bm.hide_mcar(asia.sample(50, seed=1), 0.3, seed=1).data


def test_too_few_iterations_are_a_warning():
    dag, data = asia_with_holes()
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 with gain .* Raise"):
        found = bm.fit_parameters(dag, data, max_iter=2)
    assert len(found.log_likelihood) == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimate": "map"}, "estimate must be one of mle, posterior. Got 'map'"),
        (
            {"estimate": "posterior", "ess": 0.0},
            "ess must be a finite number > 0. Got 0.0",
        ),
        ({"tol": float("nan")}, "tol must be a finite number > 0. Got nan"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1. Got 0"),
        ({"time_limit": 0}, "time_limit must be a number of seconds > 0"),
        ({"n_threads": -1}, "n_threads must be an integer >= 0. Got -1"),
        ({"max_memory": 0}, "max_memory must be a number of bytes > 0"),
    ],
)
def test_wrong_parameters_are_errors(options, message):
    dag, data = asia_with_holes()
    with pytest.raises(ParameterError, match=message):
        bm.fit_parameters(dag, data, **options)


def test_an_empty_table_is_an_error():
    asia = bm.load_network("asia")
    with pytest.raises(DataError, match="0 rows and 8 variables, so there is nothing"):
        bm.fit_parameters(asia.dag, asia.sample(0, seed=1))


def test_other_variables_are_an_error():
    dag, data = asia_with_holes()
    other = bm.Dag.from_arcs([*dag.names[:-1], "other"])
    with pytest.raises(DataError, match="other"):
        bm.fit_parameters(other, data)


def test_a_start_with_another_structure_is_an_error():
    dag, data = asia_with_holes()
    empty = bm.Dag.from_arcs(dag.names)
    start = bm.load_network("asia")
    with pytest.raises(DataError, match="start must be a network with the structure"):
        bm.fit_parameters(empty, data, start=start)


def test_a_start_that_rules_a_row_out_is_an_error():
    table = {"a": ["x", None], "b": ["u", "v"]}
    dag = bm.Dag.from_arcs(["a", "b"])
    start = bm.Network(
        dag, (("x",), ("u", "v")), (np.ones((1, 1)), np.array([[1.0, 0.0]]))
    )
    with pytest.raises(DataError, match="a row is impossible under the network"):
        bm.fit_parameters(dag, table, start=start, columns=["a", "b"])


def test_a_prior_lifts_the_zeros_of_a_start():
    table = {"a": ["x", None, "y"], "b": ["u", "v", None]}
    dag = bm.Dag.from_arcs(["a", "b"], [("a", "b")])
    start = bm.Network(
        dag,
        (("x", "y"), ("u", "v")),
        (np.array([[0.5, 0.5]]), np.array([[1.0, 0.0], [0.0, 1.0]])),
    )
    found = bm.fit_parameters(dag, table, start=start, estimate="posterior")
    assert found.converged
    assert flat(found.network.cpts).min() > 0


def test_a_structure_too_dense_for_exact_inference_is_an_error():
    network = grid(10)
    data = {name: [None, 0] for name in network.names}
    states = dict.fromkeys(network.names, (0, 1))
    table = bm.IncompleteData.from_table(data, states=states)
    with pytest.raises(InferenceError, match="max_memory"):
        bm.fit_parameters(network.dag, table, max_memory=1000)


def test_a_variable_that_is_never_observed_finds_its_role():
    names = ["cause", *(f"v{k}" for k in range(6))]
    dag = bm.Dag.from_arcs(names, [("cause", name) for name in names[1:]])
    table = np.array([[0.9, 0.1], [0.1, 0.9]])
    cpts = [np.array([[0.5, 0.5]]), *[table] * 6]
    network = bm.Network(dag, [("a", "b")] * 7, cpts)
    codes = network.sample(1000, seed=1).codes.copy(order="F")
    codes[:, 0] = 255
    data = bm.IncompleteData.from_codes(codes, names=names, states=network.states)
    found = bm.fit_parameters(dag, data)
    true = float(bm.log_evidence(network, data).sum())
    assert found.log_likelihood[-1] > true  # more likely than the truth, as a fit is
    assert found.network == bm.fit_parameters(dag, data).network
