"""Exact inference: against the full joint table, ties, threads, size, messages."""

import collections
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import chisquare
from support import oracle
from support.examples import examples
from support.networks import empty_rows, grid, plain, possible, table
from support.shared import DATA
from support.strategies import MISSING, networks_with_holes
from support.timing import within

import bayesmend as bm
from bayesmend.errors import DataError, InferenceError, ParameterError


def munin():
    path = DATA / "networks" / "munin.bif.gz"
    if not path.exists():
        pytest.skip(f"no {path.name} in BAYESMEND_DATA")
    return bm.read_network(path)


# --- against the full joint table -----------------------------------------------------


@given(networks_with_holes())
def test_evidence_has_the_probability_of_its_completions(case):
    network, rows = case
    found = bm.log_evidence(network, table(network, rows))
    expected = [oracle.evidence_probability(*plain(network), row) for row in rows]
    np.testing.assert_allclose(np.exp(found), expected, rtol=1e-9)


@given(networks_with_holes())
def test_the_completion_is_the_best_one_and_the_first_of_equals(case):
    network, rows = case
    rows = possible(network, rows)
    found = bm.most_probable(network, table(network, rows))
    best = [oracle.best_completion(*plain(network), row) for row in rows]
    assert list(map(tuple, found.completed.codes.tolist())) == [
        full for full, _ in best
    ]
    np.testing.assert_allclose(np.exp(found.log_probability), [p for _, p in best])


@given(networks_with_holes())
def test_marginals_are_those_of_the_joint_table(case):
    network, rows = case
    rows = possible(network, rows)
    found = bm.marginals(network, table(network, rows))
    for v, name in enumerate(network.names):
        at, probabilities = found.of(name)
        assert at.tolist() == [k for k, row in enumerate(rows) if row[v] is None]
        expected = [
            oracle.hole_posterior(*plain(network), rows[k], v) for k in at.tolist()
        ]
        np.testing.assert_allclose(probabilities.ravel(), np.ravel(expected), atol=1e-9)


@given(networks_with_holes())
@examples(40)
def test_fewer_targets_give_the_same_marginals(case):
    network, rows = case
    data = table(network, possible(network, rows))
    every = bm.marginals(network, data)
    for name in network.names:
        one = bm.marginals(network, data, targets=[name])
        assert one.names == (name,)
        np.testing.assert_allclose(one.of(name)[1], every.of(name)[1], atol=1e-9)


@given(networks_with_holes())
@examples(40)
def test_confidence_is_the_marginal_of_the_state_chosen(case):
    network, rows = case
    data = table(network, possible(network, rows))
    found, distributions = bm.most_probable(network, data), bm.marginals(network, data)
    for row, v, p in zip(found.rows, found.variables, found.confidence, strict=True):
        at, probabilities = distributions.of(network.names[v])
        state = found.completed.codes[row, v]
        assert p == probabilities[at.tolist().index(row), state]
    np.testing.assert_allclose(
        found.posterior,
        np.exp(found.log_probability - bm.log_evidence(network, data)),
    )


@given(networks_with_holes())
@examples(40)
def test_a_row_is_an_error_when_it_has_holes_and_no_probability(case):
    network, rows = case
    for row in rows:
        if None in row and not possible(network, [row]):
            for ask in (bm.most_probable, bm.marginals, bm.draw_completions):
                with pytest.raises(InferenceError, match="row 0 is impossible"):
                    ask(network, table(network, [row]))
        else:
            assert bm.most_probable(
                network, table(network, [row])
            ).completed.is_complete


@given(networks_with_holes(max_vars=4, max_rows=1))
@examples(40)
def test_draws_are_possible_and_keep_what_is_observed(case):
    network, rows = case
    data = table(network, possible(network, rows))
    for drawn in bm.draw_completions(network, data, n_draws=5, seed=1):
        assert np.isfinite(network.log_likelihood(drawn)).all()
        seen = data.codes != MISSING
        assert np.array_equal(drawn.codes[seen], data.codes[seen])


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(s, marks=pytest.mark.slow) for s in (2, 3))]
)
@pytest.mark.parametrize("given", [{"dysp": 0}, {"xray": 0, "asia": 0}, {}])
def test_draws_follow_the_joint_posterior(given, seed):
    network = bm.load_network("asia")
    row = [given.get(name) for name in network.names]
    expected = oracle.row_completions(*plain(network), row)
    total = sum(expected.values())
    n_draws = 20_000
    drawn = bm.draw_completions(
        network, table(network, [row] * 10), n_draws=n_draws // 10, seed=seed
    )
    rows = np.concatenate([one.codes for one in drawn])
    counts = collections.Counter(map(tuple, rows.tolist()))
    often = [full for full, p in expected.items() if n_draws * p / total >= 5]
    rest = n_draws - sum(counts[full] for full in often)
    chances = [expected[full] / total for full in often]
    observed = [*(counts[full] for full in often), rest]
    wanted = np.array([*chances, max(1 - sum(chances), 0)]) * n_draws
    keep = wanted > 1e-9
    assert not np.array(observed)[~keep].any()
    scale = np.array(observed)[keep].sum() / wanted[keep].sum()
    p_value = chisquare(np.array(observed)[keep], wanted[keep] * scale).pvalue
    assert p_value > 1e-3


def test_draws_differ_between_rows_and_tables():
    network = bm.load_network("asia")
    one, two = bm.draw_completions(network, empty_rows(network, 200), n_draws=2, seed=1)
    assert one != two
    assert len(np.unique(one.codes, axis=0)) > 5


# --- ties -----------------------------------------------------------------------------


def test_among_equally_probable_completions_the_first_is_taken():
    dag = bm.Dag.from_arcs("abc", [("a", "b"), ("b", "c")])
    third = [1 / 3] * 3
    equal = bm.Network(dag, ((0, 1, 2),) * 3, ([third], [third] * 3, [third] * 3))
    found = bm.most_probable(equal, empty_rows(equal))
    assert found.completed.codes.tolist() == [[0, 0, 0]]
    # a = b = c only: three ties that hang together.
    copy = np.eye(3)
    same = bm.Network(dag, ((0, 1, 2),) * 3, ([third], copy, copy))
    rows = {"a": [None, None], "b": [None, None], "c": [None, 2]}
    found = bm.most_probable(same, rows)
    assert found.completed.codes.tolist() == [[0, 0, 0], [2, 2, 2]]


def test_marginal_ties_go_to_the_first_state():
    network = bm.Network(bm.Dag.from_arcs("a"), (("x", "y"),), ([[0.5, 0.5]],))
    found = bm.impute(network, {"a": [None]}, method="marginal", fill_empty_rows=True)
    assert found.to_table() == {"a": ["x"]}


# --- threads --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def holed():
    network = bm.load_network("lucas")
    data = bm.hide_mcar(network.sample(700, seed=1), 0.3, seed=1).data
    return network, data


@pytest.mark.parametrize("n_threads", [4, 7])
def test_answers_do_not_depend_on_the_number_of_threads(n_threads, holed):
    network, data = holed
    one = bm.most_probable(network, data, n_threads=1)
    many = bm.most_probable(network, data, n_threads=n_threads)
    assert one.completed == many.completed
    assert np.array_equal(one.log_probability, many.log_probability)
    assert np.array_equal(one.confidence, many.confidence)
    assert np.array_equal(one.log_evidence, many.log_evidence)
    draws = [
        bm.draw_completions(network, data, seed=3, n_threads=k) for k in (1, n_threads)
    ]
    assert draws[0] == draws[1]


def test_seeds_and_generators(holed):
    network, data = holed
    assert bm.draw_completions(network, data, seed=1) == bm.draw_completions(
        network, data, seed=1
    )
    assert bm.draw_completions(network, data, seed=1) != bm.draw_completions(
        network, data, seed=2
    )
    rng = np.random.default_rng(1)
    first, second = (bm.draw_completions(network, data, seed=rng) for _ in range(2))
    assert first == bm.draw_completions(network, data, seed=1) != second


# --- size -----------------------------------------------------------------------------


def test_a_thousand_variables_with_few_holes_answer_in_milliseconds():
    network = munin()
    data = network.sample(20, seed=1)
    codes = data.codes.copy()
    rng = np.random.default_rng(1)
    for row in codes:
        row[rng.choice(network.n_vars, 3, replace=False)] = MISSING
    holed = data.with_codes(codes)
    bm.most_probable(network, holed)
    with within(0.05 * data.n_rows):
        found = bm.most_probable(network, holed)
    assert found.completed.is_complete
    assert (found.log_probability >= network.log_likelihood(data) - 1e-9).all()


@pytest.mark.slow
def test_a_grid_too_wide_is_an_error_that_names_the_table():
    network = grid(30)
    message = (
        r"exact inference would need a table of .* entries \(.*B\) over \d+ variables "
        r"\(g\d+_\d+, .*\), and .* in all, which is more than max_memory=.*"
    )
    for ask in (bm.marginals, bm.draw_completions, bm.log_evidence):
        evidence = empty_rows(network) | {"g29_29": [1]}
        with pytest.raises(
            InferenceError, match=message + "or use inference='weighting'"
        ):
            ask(network, evidence)
    with pytest.raises(InferenceError, match=message + "or impute with inference="):
        bm.most_probable(network, empty_rows(network))


def test_evidence_makes_a_grid_narrow():
    network = grid(30)
    data = bm.hide_mcar(network.sample(3, seed=1), 0.2, seed=1).data
    assert bm.most_probable(network, data).completed.is_complete


def test_memory_is_limited_on_request():
    network = bm.load_network("asia")
    with pytest.raises(InferenceError, match=r"a table of .* entries"):
        bm.marginals(network, empty_rows(network), max_memory=100)
    bm.marginals(network, empty_rows(network), max_memory=10_000, n_threads=8)


def test_memory_may_be_without_limit():
    asia = bm.load_network("asia")
    wanted = bm.marginals(asia, empty_rows(asia)).probabilities
    for max_memory in (math.inf, 10**400, np.float64(1e300)):
        found = bm.marginals(asia, empty_rows(asia), max_memory=max_memory)
        assert all(map(np.array_equal, found.probabilities, wanted))


@pytest.mark.parametrize("max_memory", [math.inf, 1e300])
def test_tables_beyond_any_memory_are_refused_all_the_same(max_memory):
    # Causes of 20 states each, any two of which have an effect in common.
    pairs = list(itertools.combinations("abcdefghij", 2))
    arcs = [(cause, "".join(pair)) for pair in pairs for cause in pair]
    dag = bm.Dag.from_arcs([*"abcdefghij", *map("".join, pairs)], arcs)
    card = [20 if len(name) == 1 else 2 for name in dag.names]
    cpts = [
        np.full((20 ** len(parents), n), 1 / n)
        for n, parents in zip(card, dag.parents, strict=True)
    ]
    network = bm.Network(dag, tuple(tuple(range(n)) for n in card), tuple(cpts))
    row = empty_rows(network) | {"".join(pair): [0] for pair in pairs}
    message = (
        r"a table of 10,240,000,000,000 entries \(81.9 TB\) over 10 variables \(a, .*\)"
        r", and .* TB in all, which is more than the 550 GB possible. Give more "
        r"evidence, or "
    )
    for ask in (bm.marginals, bm.most_probable, bm.impute):
        with pytest.raises(InferenceError, match=message):
            ask(network, row, max_memory=max_memory)


def test_unobserved_leaves_are_left_out():
    # The sum over what lies below the evidence is 1, whatever its tables.
    network = grid(30)
    data = empty_rows(network) | {"g0_0": [1]}
    found = np.exp(bm.log_evidence(network, data))
    np.testing.assert_allclose(found, network.cpts[0][0, 1])


# --- messages -------------------------------------------------------------------------


def test_impossible_evidence_is_named_with_its_row():
    asia = bm.load_network("asia")
    rows = empty_rows(asia, 2)
    rows |= {"lung": ["no", "yes"], "either": ["no", "no"], "smoke": ["yes", "yes"]}
    message = (
        "row 1 is impossible in this network: lung=yes, either=no has probability "
        "zero. Correct the row, or estimate"
    )
    for ask in (bm.most_probable, bm.marginals, bm.draw_completions, bm.impute):
        with pytest.raises(InferenceError, match=message):
            ask(asia, rows)
    assert bm.log_evidence(asia, rows)[1] == -math.inf


def test_a_conflict_through_unobserved_variables_is_found():
    dag = bm.Dag.from_arcs("abcd", [("a", "b"), ("b", "c")])
    copy = [[1, 0], [0, 1]]
    half = [[0.5, 0.5]]
    network = bm.Network(dag, (("x", "y"),) * 4, (half, copy, copy, half))
    row = {"a": ["x"], "b": [None], "c": ["y"], "d": ["x"]}
    with pytest.raises(InferenceError, match="network: a=x, c=y has probability zero"):
        bm.most_probable(network, row)


def test_an_impossible_row_without_holes_is_left_alone():
    asia = bm.load_network("asia")
    row = {name: ["yes"] for name in asia.names} | {"either": ["no"]}
    found = bm.most_probable(asia, row)
    assert found.log_probability[0] == found.log_evidence[0] == -math.inf
    assert bm.impute(asia, row).to_table() == row


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"inference": "loopy"},
            "inference must be one of exact, weighting. Got 'loopy'",
        ),
        (
            {"n_samples": 0, "inference": "weighting"},
            "n_samples must be an integer >= 1. Got 0 instead.",
        ),
        ({"n_threads": -1}, "n_threads must be an integer >= 0. Got -1 instead."),
        ({"max_memory": 0}, "max_memory must be a number of bytes > 0. Got 0"),
        ({"max_memory": "1G"}, "max_memory must be a number of bytes > 0. Got '1G'"),
        ({"max_memory": None}, "max_memory must be a number of bytes > 0. Got None"),
        ({"max_memory": math.nan}, "max_memory must be a number of bytes > 0. Got nan"),
        (
            {"n_samples": 2**70, "inference": "weighting"},
            r"n_samples must be an integer below 2\*\*63. Got 1180591620717411303424",
        ),
        ({"seed": "x", "inference": "weighting"}, "seed must be an integer"),
        ({"targets": 3}, "targets must be the name of a variable or a list of names"),
    ],
)
def test_parameters_are_checked(options, message):
    asia = bm.load_network("asia")
    with pytest.raises(ParameterError, match=message):
        bm.marginals(asia, empty_rows(asia), **options)


@pytest.mark.parametrize(
    "function",
    [bm.marginals, bm.inference.log_evidence, bm.draw_completions, bm.impute],
)
def test_samples_are_for_weighting_only(function):
    asia = bm.load_network("asia")
    message = "n_samples=10 goes with inference='weighting'. Got 'exact' instead."
    with pytest.raises(ParameterError, match=message):
        function(asia, empty_rows(asia), n_samples=10)
    with pytest.raises(ParameterError, match=message):
        bm.query(asia, n_samples=10)


def test_draws_are_counted_from_one():
    asia = bm.load_network("asia")
    with pytest.raises(ParameterError, match=r"n_draws must be an integer >= 1. Got 0"):
        bm.draw_completions(asia, empty_rows(asia), n_draws=0)


def test_unknown_targets_are_named():
    asia = bm.load_network("asia")
    with pytest.raises(
        DataError, match=r"no variable named 'lungs'. Available: asia, "
    ):
        bm.marginals(asia, empty_rows(asia), targets=["lungs"])


def test_a_single_target_needs_no_list():
    asia = bm.load_network("asia")
    one = bm.marginals(asia, empty_rows(asia), targets="lung")
    assert one.names == ("lung",)
    listed = bm.marginals(asia, empty_rows(asia), targets=["lung"])
    assert np.array_equal(one.of("lung")[1], listed.of("lung")[1])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            "net.bif",
            r"Got 'net.bif' instead: read a file with read_network\(path\), or",
        ),
        (
            Path("net.bif"),
            r"Got .*Path\('net.bif'\) instead: read a file with read_net",
        ),
        (bm.Dag.from_arcs("ab"), r"Got an object of type Dag instead."),
        (None, r"Got an object of type NoneType instead."),
        (
            bm.learn({"a": ["x", "y"]}),
            r"Got an object of type LearnResult instead: pass its \.network\.",
        ),
    ],
)
def test_a_network_is_needed(given, message):
    message = "network must be a Network. " + message
    for ask in (
        bm.most_probable,
        bm.marginals,
        bm.draw_completions,
        bm.log_evidence,
        bm.impute,
    ):
        with pytest.raises(ParameterError, match=message):
            ask(given, {"a": [None]})
    with pytest.raises(ParameterError, match=message):
        bm.write_network(given, "net.bif")
    with pytest.raises(ParameterError, match=message):
        bm.query(given)


def test_no_rows_and_single_states():
    network = bm.Network(
        bm.Dag.from_arcs("ab"), (("x",), ("u", "v")), ([[1]], [[0, 1]])
    )
    assert bm.most_probable(network, {"a": [], "b": []}).completed.n_rows == 0
    assert bm.most_probable(
        network, {"a": [None], "b": [None]}
    ).completed.to_table() == {
        "a": ["x"],
        "b": ["v"],
    }
    assert repr(bm.most_probable(network, {"a": ["x"], "b": [None]})) == (
        "MostProbable(1 rows, 1 missing cells)"
    )
    assert repr(bm.marginals(network, {"a": ["x"], "b": [None]})) == (
        "Marginals(2 variables, 1 missing cells)"
    )


# --- numbers far beyond the range of floating point -----------------------------------


@pytest.mark.parametrize(
    ("n_children", "chance"), [(200, 0.01), (60, 1e-6), (40, 1e-9), (2, 1e-170)]
)
def test_evidence_that_is_all_but_impossible_is_still_weighed(n_children, chance):
    # Half of the children speak for one state of their parent, half for the other.
    names = ["cause", *(f"v{k}" for k in range(2 * n_children))]
    dag = bm.Dag.from_arcs(names, [("cause", name) for name in names[1:]])
    states = [("a", "b")] + [("no", "yes")] * (2 * n_children)
    likely, unlikely = [0.5, 0.5], [1 - chance, chance]
    cpts = [np.array([[0.25, 0.75]])]
    cpts += [np.array([likely, unlikely])] * n_children
    cpts += [np.array([unlikely, likely])] * n_children
    network = bm.Network(dag, states, cpts)
    given = dict.fromkeys(names[1:], "yes")
    answer = bm.query(network, "cause", given=given)
    assert answer.distributions["cause"]["b"] == pytest.approx(0.75, rel=1e-9)
    expected = n_children * (math.log(0.5) + math.log(chance))
    assert answer.log_probability == pytest.approx(expected, rel=1e-12)
    filled = bm.impute(network, {"cause": [None], **{k: ["yes"] for k in names[1:]}})
    assert filled.completed.to_table()["cause"] == ["b"]


def test_evidence_that_is_impossible_is_told_from_a_small_one():
    dag = bm.Dag.from_arcs(["a", "b", "c"], [("a", "b"), ("a", "c")])
    sure = np.array([[1.0, 0.0], [1e-200, 1 - 1e-200]])
    cpts = [np.array([[0.5, 0.5]]), sure, sure[::-1].copy()]
    network = bm.Network(dag, [("no", "yes")] * 3, cpts)
    small = bm.query(network, "a", given={"b": "no", "c": "no"})
    assert small.log_probability == pytest.approx(math.log(1e-200), rel=1e-9)
    hopeless = bm.Network(
        dag, [("no", "yes")] * 3, [cpts[0], np.eye(2), np.eye(2)[::-1].copy()]
    )
    with pytest.raises(InferenceError, match="impossible"):
        bm.query(hopeless, "a", given={"b": "no", "c": "no"})
