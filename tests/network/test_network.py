"""Networks: checks, estimation, log-likelihood, comparison."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.strategies import networks

from bayesmend import Dag, IncompleteData, Network, fit_parameters, load_network
from bayesmend.errors import DataError, ParameterError
from bayesmend.score import dag_score
from bayesmend.seed import as_generator

CHAIN = Dag.from_arcs("abc", [("a", "c"), ("b", "c")])
STATES = (("x", "y"), ("u", "v", "w"), (0, 1))
CPTS = (
    [[0.3, 0.7]],
    [[0.2, 0.3, 0.5]],
    [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6], [0.5, 0.5], [0.6, 0.4]],
)


def plain(network):
    """A network as the oracle takes it."""
    return (
        network.dag.parents,
        network.card.tolist(),
        [cpt.tolist() for cpt in network.cpts],
    )


def coded(network, codes, **options):
    return IncompleteData.from_codes(
        np.array(codes, dtype=np.uint8).reshape(-1, network.n_vars),
        names=network.names,
        states=network.states,
        **options,
    )


@st.composite
def networks_with_rows(draw, min_rows=0):
    network = draw(networks())
    card = network.card.tolist()
    row = st.tuples(*(st.integers(0, r - 1) for r in card))
    return network, draw(st.lists(row, min_size=min_rows, max_size=20))


@given(networks_with_rows())
def test_log_likelihood_matches_the_product_of_probabilities(case):
    network, rows = case
    found = network.log_likelihood(coded(network, rows))
    expected = [oracle.log_probability(*plain(network), row) for row in rows]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@given(networks(max_vars=3, max_states=3))
def test_probabilities_of_all_rows_sum_to_one(network):
    rows = list(oracle.joint_distribution(*plain(network)))
    total = np.exp(network.log_likelihood(coded(network, rows))).sum()
    assert total == pytest.approx(1, abs=1e-12)


@given(networks_with_rows(), st.sampled_from([0.0, 0.5, 10.0]), st.booleans())
def test_fit_matches_relative_frequencies(case, ess, is_weighted):
    network, rows = case
    weights = [0.5 + i % 3 for i in range(len(rows))] if is_weighted else None
    data = coded(network, rows, weights=weights)
    options = {"estimate": "posterior", "ess": ess} if ess else {}
    found = Network.fit(network.dag, data, **options)
    parents, card, _ = plain(network)
    expected = oracle.estimates(parents, card, rows, weights or [1] * len(rows), ess)
    for ours, theirs in zip(found.cpts, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert found.states == network.states


def test_an_unseen_configuration_is_uniform_under_maximum_likelihood():
    network = Network(CHAIN, STATES, CPTS)
    fitted = Network.fit(CHAIN, coded(network, [[0, 0, 1]]))
    assert fitted.cpts[2].tolist() == [[0.0, 1.0], *[[0.5, 0.5]] * 5]


def test_the_first_parent_varies_fastest():
    network = Network(CHAIN, STATES, CPTS)
    found = network.log_likelihood(coded(network, [[1, 0, 0], [0, 1, 0]]))
    expected = [math.log(0.7 * 0.2 * 0.2), math.log(0.3 * 0.3 * 0.3)]
    np.testing.assert_allclose(found, expected)


def test_variables_and_states_of_the_data_may_come_in_any_order():
    network = Network(CHAIN, STATES, CPTS)
    table = {"c": ["1", "0"], "b": ["w", "u"], "a": ["y", "x"]}
    states = {"b": ["w", "u", "never"], "a": ["y", "x"], "c": ["1", "0"]}
    data = IncompleteData.from_table(table, states=states)
    expected = network.log_likelihood(coded(network, [[1, 2, 1], [0, 0, 0]]))
    np.testing.assert_array_equal(network.log_likelihood(data), expected)
    refitted = Network.fit(CHAIN, data)
    assert refitted.names == CHAIN.names
    assert refitted.states == (("y", "x"), ("w", "u", "never"), ("1", "0"))


def test_integer_labels_match_the_same_labels_as_text():
    lucas = load_network("lucas")
    data = IncompleteData.from_codes(
        np.zeros((2, 12), dtype=np.uint8), names=lucas.names, states=[(1, 0)] * 12
    )
    ones = coded(lucas, np.ones((2, 12)))
    expected = lucas.log_likelihood(ones)
    np.testing.assert_array_equal(lucas.log_likelihood(data), expected)


def test_an_unknown_label_is_an_error():
    network = Network(Dag.from_arcs("a"), (("x", "y"),), ([[0.5, 0.5]],))
    data = IncompleteData.from_table({"a": ["x", "z"]})
    with pytest.raises(
        DataError, match=r"'a' has no state 'z' in row 1. Its states: x, y"
    ):
        network.log_likelihood(data)


def test_a_variable_of_the_network_must_be_in_the_data():
    network = Network(CHAIN, STATES, CPTS)
    data = IncompleteData.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    with pytest.raises(DataError, match=r"no variable named 'c'. Available: a, b"):
        network.log_likelihood(data)
    with pytest.raises(DataError, match="no variable named 'c'"):
        Network.fit(CHAIN, data)


def test_a_variable_of_the_data_must_be_in_the_network():
    network = Network(Dag.from_arcs("a"), (("x", "y"),), ([[0.5, 0.5]],))
    data = IncompleteData.from_table({"a": ["x", "y"], "id": ["7", "8"]})
    with pytest.raises(DataError, match=r"variable 'id' that the graph lacks. Drop it"):
        network.log_likelihood(data)


def test_a_missing_cell_is_named():
    network = Network(CHAIN, STATES, CPTS)
    data = coded(network, [[0, 0, 0], [0, 255, 1]])
    with pytest.raises(
        DataError, match=r"'b' is missing in row 1, and log_likelihood needs"
    ):
        network.log_likelihood(data)
    with pytest.raises(DataError, match="'b' is missing in row 1"):
        Network.fit(CHAIN, data)


def test_an_impossible_row_has_log_likelihood_minus_infinity():
    network = Network(Dag.from_arcs("a"), (("x", "y"),), ([[1.0, 0.0]],))
    assert network.log_likelihood(coded(network, [[1]])).tolist() == [-math.inf]


@pytest.mark.parametrize("n_threads", [1, 4, 7])
def test_log_likelihood_is_the_same_for_any_thread_count(n_threads):
    network = load_network("asia")
    data = network.sample(10_000, seed=1)
    found = network.log_likelihood(data, n_threads=n_threads)
    np.testing.assert_array_equal(found, network.log_likelihood(data, n_threads=2))


@pytest.mark.parametrize(
    ("cpt", "message"),
    [
        ([[0.5, 0.5]] * 2, r"shape \(1, 2\).*Got shape \(2, 2\)"),
        ([0.5, 0.5], r"shape \(1, 2\).*Got shape \(2,\)"),
        ([[0.5, 0.4]], "must sum to 1. Row 0 sums to 0.9 instead"),
        ([[1.5, -0.5]], "numbers >= 0. Got -0.5 in row 0, column 1"),
        ([[math.nan, 1.0]], "numbers >= 0. Got nan"),
        ([["p", "q"]], "must be an array of numbers"),
    ],
)
def test_a_table_must_hold_distributions(cpt, message):
    with pytest.raises(DataError, match=f"table of 'a'.*{message}"):
        Network(Dag.from_arcs("a"), (("x", "y"),), (cpt,))


@pytest.mark.parametrize(
    ("states", "message"),
    [
        ((), "1 to 254 states. Got 0"),
        (tuple(range(255)), "1 to 254 states. Got 255"),
        (("x", "x"), "Got 'x' twice"),
    ],
)
def test_states_must_be_few_and_different(states, message):
    cpt = np.full((1, max(len(states), 1)), 1 / max(len(states), 1))
    with pytest.raises(DataError, match=message):
        Network(Dag.from_arcs("a"), (states,), (cpt,))


def test_there_must_be_states_and_a_table_for_each_variable():
    with pytest.raises(DataError, match=r"states must have one entry per variable \(3"):
        Network(CHAIN, STATES[:2], CPTS)
    with pytest.raises(DataError, match=r"cpts must have one entry per variable \(3"):
        Network(CHAIN, STATES, CPTS[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimate": "guess"}, "estimate must be one of mle, posterior. Got 'guess'"),
        ({"ess": 1.0}, "goes with estimate='posterior'. Got 'mle'"),
        (
            {"estimate": "posterior", "ess": 0.0},
            "ess must be a finite number > 0. Got 0.0",
        ),
        ({"estimate": "posterior", "ess": math.inf}, "ess must be"),
    ],
)
def test_fit_checks_its_parameters(options, message):
    network = Network(CHAIN, STATES, CPTS)
    with pytest.raises(ParameterError, match=message):
        Network.fit(CHAIN, coded(network, [[0, 0, 0]]), **options)


def test_a_table_beyond_memory_is_refused():
    n = 34
    dag = Dag.from_arcs([f"v{i}" for i in range(n)], [(i, n - 1) for i in range(n - 1)])
    data = IncompleteData.from_codes(
        np.zeros((1, n), dtype=np.uint8), names=dag.names, states=[("x", "y")] * n
    )
    with pytest.raises(ParameterError, match="'v33' would have 17179869184 entries"):
        Network.fit(dag, data)


def test_tables_are_copied_and_cannot_be_changed():
    cpt = np.array([[0.5, 0.5]])
    network = Network(Dag.from_arcs("a"), (("x", "y"),), (cpt,))
    cpt[0] = 0
    assert network.cpts[0].tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="read-only"):
        network.cpts[0][0, 0] = 1


def test_rounding_in_a_row_is_divided_out():
    network = Network(Dag.from_arcs("a"), ((0, 1, 2),), ([[0.3333333] * 3],))
    assert network.cpts[0].sum() == pytest.approx(1, abs=1e-15)


def permuted(network, rng):
    """The same network with variables and states in another order."""
    order = rng.permutation(network.n_vars).tolist()
    names = [network.names[i] for i in order]
    dag = Dag.from_arcs(names, network.dag.arcs)
    shuffles = [rng.permutation(len(s)).tolist() for s in network.states]
    states = tuple(tuple(network.states[i][k] for k in shuffles[i]) for i in order)
    parents, card, cpts = plain(network)
    tables = []
    for new, i in enumerate(order):
        olds = [order[p] for p in dag.parents[new]]
        table = np.empty_like(network.cpts[i])
        sizes = [card[p] for p in olds]
        for j in range(len(table)):
            digits = np.unravel_index(j, sizes[::-1])[::-1] if sizes else ()
            row = [0] * network.n_vars
            for p, digit in zip(olds, digits, strict=True):
                row[p] = shuffles[p][digit]
            old = oracle.configuration(parents[i], card, row)
            table[j] = [cpts[i][old][k] for k in shuffles[i]]
        tables.append(table)
    return Network(dag, states, tuple(tables))


@given(networks(), st.integers(0, 1000))
def test_is_close_ignores_the_order_of_variables_and_states(network, seed):
    other = permuted(network, np.random.default_rng(seed))
    assert network.is_close(other)
    assert other.is_close(network)


def test_is_close_tells_networks_apart():
    network = Network(CHAIN, STATES, CPTS)
    other = Network(CHAIN, STATES, ([[0.31, 0.69]], *CPTS[1:]))
    assert not network.is_close(other)
    assert network.is_close(other, tol=0.02)
    assert network != other
    assert not network.is_close(load_network("asia"))
    relabelled = Network(CHAIN, (("x", "z"), *STATES[1:]), CPTS)
    assert not network.is_close(relabelled, tol=1)
    no_arcs = Network(Dag.from_arcs("abc"), STATES, (*CPTS[:2], [[0.5, 0.5]]))
    assert not network.is_close(no_arcs, tol=1)


def test_networks_compare_hash_and_pickle_by_value():
    network = Network(CHAIN, STATES, CPTS)
    same = pickle.loads(pickle.dumps(network))
    assert network == same
    assert hash(network) == hash(same)
    assert network != "network"
    assert repr(network) == "Network(3 variables, 2 arcs, 9 parameters)"
    assert network.n_parameters == 9
    assert network.card.tolist() == [2, 3, 2]


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True])
def test_a_seed_must_be_an_integer_or_generator(seed):
    with pytest.raises(ParameterError, match="seed must be an integer >= 0"):
        as_generator(seed)


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(1)
    assert as_generator(rng) is rng
    assert as_generator(np.int64(3)).random() == np.random.default_rng(3).random()


def test_support_has_the_shape_of_the_tables():
    asia = load_network("asia")
    flags = tuple(np.ones(cpt.shape, bool) for cpt in asia.cpts)
    network = replace(asia, support=flags)
    assert network != asia
    assert network == replace(asia, support=flags)
    assert not network.support[0].flags.writeable
    with pytest.raises(DataError, match=r"support must have one entry per variable"):
        replace(asia, support=flags[1:])
    with pytest.raises(DataError, match=r"the support of 'asia' must be truth values"):
        replace(asia, support=(np.ones((1, 3), bool), *flags[1:]))
    with pytest.raises(DataError, match=r"Got int64 of shape \(1, 2\) instead"):
        replace(asia, support=(np.ones((1, 2), np.int64), *flags[1:]))


@pytest.mark.parametrize(
    "use",
    [
        lambda dag, table: Network.fit(dag, table).states,
        lambda dag, table: fit_parameters(dag, table).network.states,
        lambda dag, table: dag_score(dag, table) < 0 and (("x",), ("u", "v")),
    ],
)
def test_what_a_graph_names_is_a_variable_whatever_it_looks_like(use):
    dag = Dag.from_arcs(["a", "b"], [("a", "b")])
    assert use(dag, {"a": ["x"] * 4, "b": ["u", "v"] * 2}) == (("x",), ("u", "v"))
