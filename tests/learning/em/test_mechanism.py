"""Learning why cells are missing: what is found, what is left alone, awkward tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.networks import plain, table
from support.strategies import MISSING, networks_with_holes

import bayesmend as bm
from bayesmend.datasets.patients import make_patients, render
from bayesmend.errors import DataError, ParameterError
from bayesmend.network.mechanism import Mechanism
from bayesmend.outcome import Stopped

pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.SupportWarning")

# Four copies of a coin that nobody sees without error: good neighbours.
COPIES = bm.Network(
    bm.Dag.from_arcs("abcd", [("a", "b"), ("a", "c"), ("a", "d")]),
    (("no", "yes"),) * 4,
    ([[0.5, 0.5]], *([[[0.9, 0.1], [0.1, 0.9]]] * 3)),
)
FEW = {"starts": ("mode",), "restarts": 0}


def hide(rows, odds, seed=1):
    """Hide cells of variables by a probability per row."""
    codes, rng = rows.codes.copy(order="F"), np.random.default_rng(seed)
    for name, chance in odds.items():
        codes[rng.random(rows.n_rows) < chance, rows.index(name)] = MISSING
    return rows.with_codes(codes)


@pytest.fixture(scope="module")
def rows():
    return COPIES.sample(1500, seed=3)


def learn(data, mechanism="auto", **options):
    return bm.learn_em(data, mechanism=mechanism, seed=1, **(FEW | options))


def of(rows, name, low, high):
    return np.where(rows.codes[:, rows.index(name)] == 1, high, low)


def same(one, other):
    """Tell whether two results are the same to the last bit."""
    return (
        one.network == other.network
        and one.completed == other.completed
        and one.score == other.score
        and one.log_likelihood == other.log_likelihood
    )


# --- what is found --------------------------------------------------------------------


def test_innocent_cells_leave_the_answer_that_ignores_why(rows):
    data = hide(rows, {"a": 0.2, "b": 0.2, "c": 0.1})
    found = learn(data)
    assert found.mechanism.is_innocent
    assert [why.label for why in found.mechanism] == ["innocent"] * 3
    assert found.network.mechanism is None
    assert same(found, learn(data, "ignore"))


def test_cells_explained_by_a_variable_that_is_observed(rows):
    found = learn(hide(rows, {"b": of(rows, "c", 0.1, 0.5), "d": 0.2})).mechanism
    assert (found.of("b").parents, found.of("b").label) == (
        ("c",),
        "explained by observed variables",
    )
    assert found.of("d").label == "innocent"


def test_cells_hidden_by_what_they_hold(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5), "b": 0.2})
    found = learn(data)
    why = found.mechanism.of("a")
    assert (why.parents, why.label) == (("a",), "depends on hidden values")
    assert why.gain > 20
    assert 0.5 < why.identified < 1
    assert ((why.lower < [0.1, 0.5]) & (why.upper > [0.1, 0.5])).all()
    assert found.mechanism.of("b").parents == ()
    blind = learn(data, "ignore")
    assert found.score > blind.score + 10
    holes = data.codes == MISSING
    hits = [(r.completed.codes == rows.codes)[holes].mean() for r in (blind, found)]
    assert hits[1] > hits[0]


def test_cells_hidden_by_what_another_missing_cell_holds(rows):
    data = hide(rows, {"b": of(rows, "c", 0.05, 0.6), "c": 0.2})
    why = learn(data).mechanism.of("b")
    assert (why.parents, why.label) == (("c",), "depends on hidden values")


def test_the_log_likelihood_never_falls(rows):
    found = learn(hide(rows, {"a": of(rows, "a", 0.1, 0.5)}))
    assert all(np.diff(step.log_likelihood).min(initial=0) >= 0 for step in found.trace)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::bayesmend.errors.ReadingWarning")
@pytest.mark.parametrize("seed", [103, 104])
def test_one_column_that_hides_itself_makes_no_others_suspect(seed, tmp_path):
    (tmp_path / "patients.csv").write_text(render(make_patients(seed=seed)[1]))
    found = bm.learn_em(tmp_path / "patients.csv", mechanism="auto", seed=1).mechanism
    parents = {why.variable: why.parents for why in found if why.parents}
    assert parents == {"smoking": ("smoking",), "cholesterol": ("visit",)}


def test_every_variable_may_be_said_to_hide_itself(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5), "b": 0.2})
    found = learn(data, "self").mechanism
    assert [why.parents for why in found] == [("a",), ("b",)]


def test_what_is_known_may_be_said(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5), "b": 0.2})
    found = learn(data, {"a": ["c", "a"]}).mechanism
    assert [why.parents for why in found] == [("a", "c"), ()]
    assert found.of("a").configurations == (
        ("no", "no"),
        ("yes", "no"),
        ("no", "yes"),
        ("yes", "yes"),
    )
    shown = found.of("a").probabilities
    assert shown[[1, 3]].min() > shown[[0, 2]].max()


def test_the_answer_is_the_same_whatever_the_threads(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5), "b": 0.2})
    one, two = (learn(data, n_threads=n) for n in (1, 3))
    assert same(one, two)
    assert one.mechanism.to_dict() == two.mechanism.to_dict()


@pytest.mark.slow
def test_bootstrap_samples_tell_how_stable_a_label_is(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.6), "b": 0.2})
    found = learn(data, stability=6)
    assert learn(data).mechanism.of("a").stability is None
    assert found.mechanism.of("a").stability == 1
    assert found.mechanism.of("b").stability >= 0.5
    assert same(found, learn(data))
    assert found.mechanism.of("a").to_dict()["stability"] == 1
    with pytest.raises(ParameterError, match="stability=6 goes with mechanism='auto'"):
        learn(data, "self", stability=6)


def test_three_variables_together_explain_what_two_do_not():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (2000, 4)).astype(np.uint8)
    total = codes[:, 1] + codes[:, 2] + codes[:, 3]
    codes[rng.random(2000) < np.where(total % 2, 0.5, 0.05), 0] = MISSING
    # Of a parity no pair tells anything: two of the three have to stand out a little.
    codes[rng.random(2000) < np.where(total == 3, 0.6, 0.0), 0] = MISSING
    data = bm.IncompleteData.from_codes(codes, names=[*"abcd"], states=["ny"] * 4)
    two, three = (
        learn(data, max_mechanism_parents=n).mechanism.of("a") for n in (2, 3)
    )
    assert len(two.parents) == 2
    assert three.parents == ("b", "c", "d")
    assert three.gain > two.gain + 100


# --- awkward tables -------------------------------------------------------------------


def test_variables_that_are_always_or_never_missing_have_no_mechanism(rows):
    table = {name: list(column) for name, column in rows.to_table().items()}
    table["a"] = [None] * rows.n_rows
    data = bm.IncompleteData.from_table(table, states={"a": ["no", "yes"]})
    data = hide(data, {"b": 0.2})
    assert [why.variable for why in learn(data).mechanism] == ["b"]


@pytest.mark.parametrize("mechanism", ["auto", "self", {"a": ["a", "b"]}])
def test_a_variable_observed_in_one_row_only(rows, mechanism):
    codes = rows.codes[:60].copy(order="F")
    codes[1:, 0] = MISSING
    data = bm.IncompleteData.from_codes(codes, names=rows.names, states=rows.states)
    found = learn(data, mechanism)
    assert found.completed.is_complete
    assert np.isfinite(found.score)


@pytest.mark.parametrize("mechanism", ["auto", "self"])
def test_one_row_and_rows_in_which_nothing_is_observed(mechanism):
    states = {name: ["u", "v"] for name in "abc"}
    one = {"a": ["u"], "b": [None], "c": ["v"]}
    data = bm.IncompleteData.from_table(one, states=states, columns=["a", "b", "c"])
    assert len(learn(data, mechanism).mechanism) == 0
    more = {"a": ["u", None, "v"] * 9, "b": ["u", None, None] * 9, "c": ["u"] * 27}
    data = bm.IncompleteData.from_table(more, states=states, columns=["a", "b", "c"])
    found = learn(data, mechanism)
    assert found.completed.is_complete
    assert {why.variable for why in found.mechanism} == {"a", "b"}


@pytest.mark.slow
def test_254_states():
    rng = np.random.default_rng(1)
    many, few = rng.integers(0, 254, 150), rng.integers(0, 2, 150)
    codes = np.asfortranarray(np.stack([many, few], axis=1).astype(np.uint8))
    codes[rng.random(150) < np.where(few == 1, 0.6, 0.05), 0] = MISSING
    data = bm.IncompleteData.from_codes(
        codes, names=["m", "f"], states=[range(254), "ny"]
    )
    assert learn(data).mechanism.of("m").parents == ("f",)
    why = learn(data, "self").mechanism.of("m")
    assert len(why.probabilities) == 254
    assert ((why.lower >= 0) & (why.upper <= 1) & (why.lower <= why.upper)).all()


def test_rows_may_have_weights(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5)})
    patterns = data.patterns()
    heavy = bm.IncompleteData.from_codes(
        patterns.codes, names=data.names, states=data.states, weights=patterns.weights
    )
    one, two = learn(data).mechanism.of("a"), learn(heavy).mechanism.of("a")
    assert one.parents == two.parents
    assert one.probabilities == pytest.approx(two.probabilities, abs=1e-6)


def test_a_complete_table_has_nothing_to_explain(rows):
    assert len(learn(rows).mechanism) == 0
    assert learn(rows, "ignore").mechanism is None


def test_a_limit_of_time_leaves_an_answer(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5)})
    found = learn(data, time_limit=1e-3)
    assert found.completed.is_complete
    assert found.stopped is Stopped.TIME


# --- what `learn` chooses ------------------------------------------------------------


def test_auto_tests_whether_cells_are_missing_at_random_and_leaves_innocent_ones(rows):
    data = hide(rows, {"a": 0.2, "b": 0.2, "c": 0.1})
    found = bm.learn(data, seed=1, n_networks=4)
    assert found.detail["innocence"] > 0.01
    assert found.mechanism is None
    ignoring = bm.learn(data, mechanism="ignore", seed=1, n_networks=4)
    assert same(found, ignoring)
    assert "innocence" not in ignoring.detail


def test_auto_learns_why_where_cells_hide_what_they_hold(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5)})
    found = bm.learn(data, seed=1, n_networks=4)
    assert found.chosen == (
        "ensemble: cells are not missing completely at random (p = 0.01), and those of "
        "a depend on what is missing; mechanism='ignore' leaves that aside"
    )
    assert found.mechanism.of("a").parents == ("a",)
    assert found.network.mechanism is not None
    given = bm.learn(
        data, method="ensemble", mechanism={"a": "a"}, seed=1, n_networks=4
    )
    assert found.completed == given.completed
    assert (found.incomplete.codes == data.codes).all()
    alone = bm.learn(data, seed=1, restarts=0)
    assert (alone.method, alone.chosen.partition(":")[0]) == ("em", "em")
    assert same(alone, bm.learn(data, mechanism="auto", seed=1, restarts=0))


def test_auto_fills_as_ever_where_observed_variables_explain_all(rows):
    data = hide(rows, {"b": of(rows, "c", 0.1, 0.5), "d": of(rows, "c", 0.4, 0.1)})
    found = bm.learn(data, seed=np.random.default_rng(1), n_networks=4)
    ignoring = bm.learn(
        data, mechanism="ignore", seed=np.random.default_rng(1), n_networks=4
    )
    assert found.method == ignoring.method == "ensemble"
    assert found.completed == ignoring.completed
    assert {why.parents for why in found.mechanism} == {("c",)}
    assert "at random (p = 0.01), but it is not clear that they" in found.chosen


def test_bootstrap_samples_may_be_asked_of_learn(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.6)})
    found = bm.learn(data, method="em", mechanism="auto", stability=2, restarts=0)
    assert found.mechanism.of("a").stability == 1
    head, row = str(found.mechanism).splitlines()
    assert (head.split()[-1], row.split()[-1]) == ("stable", "100%")
    with pytest.raises(ParameterError, match="stability=2 goes with mechanism='auto'"):
        bm.learn(data, method="em", stability=2)
    with pytest.raises(ParameterError, match="stability=2 goes with method='em'"):
        bm.learn(data, method="local", mechanism="auto", stability=2)


# --- networks that know why -----------------------------------------------------------


@given(networks_with_holes(max_vars=4, max_states=3, max_joint=60), st.integers(0, 99))
@examples(25)
def test_imputed_cells_have_their_posterior_over_variables_and_indicators(case, seed):
    network, rows = case
    rng = np.random.default_rng(seed)
    names, card = network.names, network.card.tolist()
    whys, parents, cpts = {}, [], []
    for v in range(len(names)):
        some = rng.permutation(len(names))[: rng.integers(0, 3)].tolist()
        missing = 0.1 + 0.8 * rng.random(
            int(np.prod([card[p] for p in some], dtype=int))
        )
        whys[v] = some, missing.tolist()
        parents.append(tuple(names[p] for p in some))
        cpts.append(np.stack([1 - missing, missing], axis=1))
    why = Mechanism(names, tuple(parents), tuple(cpts))
    knowing = bm.Network(network.dag, network.states, network.cpts, mechanism=why)
    rows = [r for r in rows if oracle.evidence_probability(*plain(network), r) > 0]
    # Some row shows every variable: else nothing is known of why it is missing.
    full = max(
        oracle.joint_distribution(*plain(network)).items(), key=lambda item: item[1]
    )[0]
    rows = [*rows, full]
    data = table(network, rows)
    found = bm.impute(knowing, data, method="marginal", fill_empty_rows=True)
    for cell in found.cells:
        v = names.index(cell.variable)
        p = oracle.posterior_with_indicators(*plain(network), rows[cell.row], v, whys)
        state = network.states[v].index(cell.state)
        assert cell.probability == pytest.approx(p[state], abs=1e-9)
    ignored = bm.impute(knowing, data, mechanism="ignore", fill_empty_rows=True)
    blind = bm.impute(network, data, fill_empty_rows=True)
    assert ignored.completed == blind.completed


def test_new_rows_are_imputed_by_why_they_are_incomplete(rows):
    data = hide(rows, {"a": of(rows, "a", 0.02, 0.7)})
    network = learn(data).network
    new = {"a": [None, "yes"], "b": ["no", "no"], "c": ["no", "no"], "d": ["yes"] * 2}
    told, blind = (
        bm.impute(network, new, mechanism=use).cells[0] for use in ("use", "ignore")
    )
    assert (told.state, blind.state) == ("yes", "no")
    assert network.with_indicators().names == (*"abcd", "missing_a")


def test_that_a_cell_is_missing_may_be_given(rows):
    network = learn(hide(rows, {"a": of(rows, "a", 0.02, 0.7)})).network
    told = bm.query(network, "a", given={"missing_a": "missing"})
    assert told.distributions["a"]["yes"] > 0.9
    assert "missing_a" not in bm.query(network).distributions
    every = bm.query(network, given={"missing_a": "observed"})
    assert set(every.distributions) == set("abcd")
    chance = bm.query(network, "missing_a", given={"a": "yes"}).distributions
    assert chance["missing_a"]["missing"] == pytest.approx(0.7, abs=0.1)
    with pytest.raises(DataError, match="no variable named 'missing_b'"):
        bm.query(network, "missing_b")


def test_a_column_that_new_rows_lack_is_no_evidence(rows):
    network = learn(hide(rows, {"a": of(rows, "a", 0.02, 0.7)})).network
    new = {"b": ["no"], "c": ["no"], "d": ["yes"]}
    both = [
        bm.impute(network, new, allow_absent=True, mechanism=use).completed
        for use in ("use", "ignore")
    ]
    assert both[0] == both[1]


# --- messages -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mechanism", "message"),
    [
        ("slef", r"mechanism must be 'ignore', 'self', 'auto' or a mapping such as"),
        ({"e": ["a"]}, r"mechanism names 'e', which is no variable\. "),
        ({"a": ["e"]}, r"mechanism gives 'a' the parent 'e', which is no variable\. "),
        ({"a": ["missing_b"]}, r"the parent 'missing_b', which is an indicator of "),
        ({"a": ["b", "b"]}, r"mechanism names a parent of 'a' twice\."),
        ({"a": 3}, r"mechanism must give lists of names\. Got 3 instead\."),
    ],
)
@pytest.mark.parametrize("function", [bm.learn_em, bm.learn])
def test_what_is_no_mechanism_is_told(rows, mechanism, message, function):
    with pytest.raises(ParameterError, match=message):
        function(hide(rows, {"a": 0.1}), mechanism=mechanism)


def test_parents_with_too_many_configurations_are_told():
    rng = np.random.default_rng(1)
    codes = np.asfortranarray(rng.integers(0, 250, (300, 3)).astype(np.uint8))
    codes[:50, 0] = MISSING
    data = bm.IncompleteData.from_codes(
        codes, names=["a", "b", "c"], states=[range(250)] * 3
    )
    with pytest.raises(ParameterError, match="parents with 15,625,000 configurations"):
        learn(data, {"a": ["a", "b", "c"]})


def test_limits_that_are_none_are_told(rows):
    with pytest.raises(
        ParameterError, match="max_mechanism_parents must be an integer"
    ):
        learn(rows, max_mechanism_parents=0)


def test_a_mechanism_does_not_go_with_hard_em(rows):
    data = hide(rows, {"a": 0.1})
    needed = (
        "mechanism='auto' goes with method='exact' or method='local' or method='em'"
    )
    with pytest.raises(ParameterError, match=needed):
        bm.learn(data, method="em-hard", mechanism="auto")
    with pytest.raises(ParameterError, match="and hard=True chooses one"):
        bm.learn_em(data, hard=True, mechanism="auto")


def test_auto_weighs_all_completions_where_it_is_asked_why(rows):
    data = hide(rows, {"a": of(rows, "a", 0.1, 0.5)})
    found = bm.learn(data, mechanism="auto", restarts=0, seed=1)
    assert found.method == "em"
    assert "why cells are missing" in found.chosen
    assert found.mechanism.of("a").parents == ("a",)


@pytest.mark.parametrize(
    ("why", "message"),
    [
        (
            ("e", ("a",), [[0.5, 0.5]] * 2),
            "the mechanism names 'e', which is no variable",
        ),
        (
            ("a", ("e",), [[0.5, 0.5]] * 2),
            "the mechanism names 'e', which is no variable",
        ),
        (("a", ("b",), [[0.5, 0.5]] * 3), "must have 2 distributions, one for each"),
    ],
)
def test_a_network_refuses_a_mechanism_of_others(why, message):
    name, parents, cpt = why
    mechanism = Mechanism((name,), (parents,), (cpt,))
    with pytest.raises(DataError, match=message):
        bm.Network(COPIES.dag, COPIES.states, COPIES.cpts, mechanism=mechanism)


def test_a_mechanism_names_each_variable_once():
    with pytest.raises(DataError, match="parents and a table for each variable, once"):
        Mechanism(("a", "a"), ((), ()), ([[0.5, 0.5]],) * 2)
