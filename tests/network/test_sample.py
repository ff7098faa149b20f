"""Sampling: what is drawn, how often, and that threads do not matter."""

import collections
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare
from support import oracle
from support.strategies import networks

from bayesmend import Dag, Network, _core, load_network
from bayesmend.errors import ParameterError
from bayesmend.network.flat import flatten


def plain(network):
    return (
        network.dag.parents,
        network.card.tolist(),
        [cpt.tolist() for cpt in network.cpts],
    )


def one_variable(distribution):
    states = tuple(range(len(distribution)))
    return Network(Dag.from_arcs("a"), (states,), ([distribution],))


def p_value(observed, expected):
    """Of a chi-square test; cells expected less than five times are pooled."""
    observed, expected = np.asarray(observed), np.asarray(expected)
    rare = expected < 5
    observed = np.append(observed[~rare], observed[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    possible = expected > 0
    assert not observed[~possible].any()
    scale = observed.sum() / expected.sum()
    return chisquare(observed[possible], expected[possible] * scale).pvalue


@pytest.mark.parametrize(
    ("counter", "key", "bits"),
    [
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ],
)
def test_the_twin_of_the_generator_gives_its_published_values(counter, key, bits):
    assert " ".join(f"{x:08x}" for x in oracle.philox(counter, key)) == bits


@given(networks(max_vars=5, max_states=12), st.integers(0, 2**64 - 1))
def test_rows_match_the_twin(network, seed):
    order = network.dag.topological_order()
    flat = flatten(network.dag, network.cpts)
    cells = _core.sample(*flat, np.array(order, dtype=np.int32), 9, seed, 1)
    expected = [
        oracle.sample_row(*plain(network), order, seed, number) for number in range(9)
    ]
    assert cells.T.tolist() == expected


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(k, marks=pytest.mark.slow) for k in (2, 3))]
)
def test_joint_frequencies_of_asia_pass_a_chi_square_test(seed):
    network = load_network("asia")
    n_rows = 200_000
    codes = network.sample(n_rows, seed=seed).codes
    counts = collections.Counter(map(tuple, codes.tolist()))
    joint = oracle.joint_distribution(*plain(network))
    observed = [counts[row] for row in joint]
    assert p_value(observed, [n_rows * p for p in joint.values()]) > 1e-3


@pytest.mark.parametrize("card", [2, 3, 8, 9, 67, 254])
def test_frequencies_of_one_variable_pass_a_chi_square_test(card):
    distribution = np.random.default_rng(card).dirichlet(np.ones(card))
    codes = one_variable(distribution).sample(300_000, seed=5).codes[:, 0]
    observed = np.bincount(codes, minlength=card)
    assert p_value(observed, 300_000 * distribution) > 1e-3


def test_neighbouring_rows_and_variables_are_independent():
    network = Network(Dag.from_arcs("ab"), ((0, 1),) * 2, ([[0.5, 0.5]],) * 2)
    codes = network.sample(200_000, seed=4).codes.astype(int)
    rows = codes[:-1, 0] * 2 + codes[1:, 0]
    variables = codes[:, 0] * 2 + codes[:, 1]
    for pairs in (rows, variables):
        assert p_value(np.bincount(pairs), np.full(4, len(pairs) / 4)) > 1e-3


@pytest.mark.parametrize("n_threads", [1, 4, 7])
def test_rows_are_the_same_for_any_thread_count(n_threads):
    network = load_network("lucas")
    found = network.sample(10_001, seed=9, n_threads=n_threads)
    assert found == network.sample(10_001, seed=9, n_threads=2)


def test_the_first_rows_do_not_depend_on_how_many_are_drawn():
    network = load_network("asia")
    long = network.sample(5000, seed=3).codes
    for n_rows in (1, 2, 1023, 1024, 1025, 4097):
        short = network.sample(n_rows, seed=3).codes
        np.testing.assert_array_equal(short, long[:n_rows])


def test_seeds_and_generators():
    network = load_network("asia")
    assert network.sample(100, seed=1) == network.sample(100, seed=1)
    assert network.sample(100, seed=1) != network.sample(100, seed=2)
    assert network.sample(100) != network.sample(100)
    rng = np.random.default_rng(1)
    first, second = network.sample(100, seed=rng), network.sample(100, seed=rng)
    assert first == network.sample(100, seed=1)
    assert first != second


@given(networks(), st.integers(0, 100))
def test_states_of_probability_zero_are_never_drawn(network, seed):
    data = network.sample(200, seed=seed)
    assert np.isfinite(network.log_likelihood(data)).all()


def test_probabilities_near_one_leave_the_others_possible():
    network = one_variable([1 - 1e-4, 1e-4, 0.0])
    counts = np.bincount(network.sample(1_000_000, seed=1).codes[:, 0], minlength=3)
    assert 60 < counts[1] < 140
    assert counts[2] == 0


def test_a_sample_is_a_complete_table_of_the_network():
    network = load_network("asia")
    data = network.sample(10, seed=1)
    assert (data.names, data.states) == (network.names, network.states)
    assert data.is_complete
    assert data.codes.flags.f_contiguous
    assert not data.codes.flags.writeable


def test_no_rows_and_single_states():
    network = Network(Dag.from_arcs("ab"), (("x",), ("y",)), ([[1.0]],) * 2)
    assert network.sample(0, seed=1).n_rows == 0
    assert network.sample(3, seed=1).codes.tolist() == [[0, 0]] * 3
    assert network.log_likelihood(network.sample(0, seed=1)).tolist() == []


def test_tables_of_many_states_and_parents():
    rng = np.random.default_rng(1)
    dag = Dag.from_arcs("abc", [("a", "c"), ("b", "c")])
    states = (tuple(range(254)), tuple(range(67)), tuple(range(3)))
    cpts = [rng.dirichlet(np.ones(r), q) for r, q in ((254, 1), (67, 1), (3, 254 * 67))]
    network = Network(dag, states, tuple(cpts))
    data = network.sample(100_000, seed=1)
    a, b, c = data.codes.astype(int).T
    expected = np.log(cpts[0][0, a]) + np.log(cpts[1][0, b])
    expected += np.log(cpts[2][a + 254 * b, c])
    np.testing.assert_allclose(network.log_likelihood(data), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_rows": -1}, "n_rows must be an integer >= 0. Got -1"),
        ({"n_rows": 1.5}, "n_rows must be an integer >= 0. Got 1.5"),
        ({"n_rows": 1, "n_threads": -2}, "n_threads must be an integer >= 0"),
        ({"n_rows": 1, "seed": "x"}, "seed must be an integer"),
    ],
)
def test_sample_checks_its_parameters(options, message):
    with pytest.raises(ParameterError, match=message):
        load_network("asia").sample(**options)


def broken(**changes):
    """Arguments of the core for a network of two variables, a -> b."""
    good = {
        "card": np.array([2, 2], dtype=np.int32),
        "parent_offsets": np.array([0, 0, 1]),
        "parents": np.array([0], dtype=np.int32),
        "cpt_offsets": np.array([0, 2, 6]),
        "cpts": np.full(6, 0.5),
        "order": np.array([0, 1], dtype=np.int32),
        "n_rows": 4,
        "seed": 1,
        "n_threads": 1,
    }
    return good | changes


@pytest.mark.parametrize(
    "changes",
    [
        {"card": np.array([2, 255], dtype=np.int32)},
        {"card": np.array([0, 2], dtype=np.int32)},
        {"parent_offsets": np.array([0, 0])},
        {"parent_offsets": np.array([0, 2, 1])},
        {"parents": np.array([7], dtype=np.int32)},
        {"cpt_offsets": np.array([0, 3, 6])},
        {"cpts": np.full(5, 0.5)},
        {"order": np.array([1, 0], dtype=np.int32)},
        {"order": np.array([0, 0], dtype=np.int32)},
        {"order": np.array([0, -1], dtype=np.int32)},
    ],
)
def test_the_core_refuses_arrays_that_do_not_fit(changes):
    with pytest.raises(ValueError, match=r"\w"):
        _core.sample(**broken(**changes))


def test_the_core_refuses_codes_out_of_range():
    arguments = broken()
    network = [arguments[key] for key in itertools.islice(arguments, 5)]
    for code in (2, 255):
        cells = np.full((2, 3), code, dtype=np.uint8)
        with pytest.raises(ValueError, match="out of range"):
            _core.log_likelihood(*network, cells, 1)
