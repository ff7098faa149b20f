"""The probabilities of a variable as a labelled table."""

import math
import sys

import pytest
from hypothesis import given
from support.strategies import networks

from bayesmend import Dag, Network, load_network, query
from bayesmend.errors import DataError, MissingDependencyError

ASIA = load_network("asia")
MIXED = Network(
    Dag.from_arcs(["age", "dose"], [("age", "dose")]),
    ((1, 2), ("low", 5)),
    ([[0.5, 0.5]], [[0.25, 0.75], [1e-7, 1 - 1e-7]]),
)


@given(networks())
def test_each_row_of_the_dict_is_a_probability_given_the_parents(network):
    for v, name in enumerate(network.names):
        columns = network.cpt(name).to_dict()
        parents = [network.names[p] for p in network.dag.parents[v]]
        assert list(columns) == [*parents, name, "probability"]
        for *labels, state, probability in zip(*columns.values(), strict=True):
            row = 0
            for parent, label in reversed(list(zip(parents, labels, strict=True))):
                states = network.states[network.names.index(parent)]
                row = row * len(states) + states.index(label)
            code = network.states[v].index(state)
            assert probability == network.cpts[v][row, code]


def test_it_agrees_with_a_question_to_the_network():
    columns = ASIA["dysp"].to_dict()
    for bronc, either, dysp, p in zip(*columns.values(), strict=True):
        answer = query(ASIA, "dysp", given={"bronc": bronc, "either": either})
        assert math.isclose(answer.distributions["dysp"][dysp], p)


def test_it_prints_as_a_table():
    assert repr(ASIA.cpt("dysp")).splitlines() == [
        "dysp given bronc, either",
        "",
        "bronc  either  yes       no",
        "yes    yes     0.900000  0.100000",
        "no     yes     0.700000  0.300000",
        "yes    no      0.800000  0.200000",
        "no     no      0.100000  0.900000",
    ]
    assert str(ASIA["asia"]).splitlines() == [
        "asia",
        "",
        "yes       no",
        "0.010000  0.990000",
    ]
    assert "2    1e-07     1.000000" in str(MIXED["dose"])


def test_a_long_table_is_cut_short():
    names = [f"v{i}" for i in range(7)]
    dag = Dag.from_arcs(names, [(name, "v6") for name in names[:6]])
    cpts = [[[0.5, 0.5]]] * 6 + [[[0.5, 0.5]] * 64]
    lines = str(Network(dag, (("n", "y"),) * 7, tuple(cpts))["v6"]).splitlines()
    assert len(lines) == 34
    assert lines[-1] == "... 34 more rows"


def test_pandas_labels_rows_and_columns():
    pytest.importorskip("pandas")
    frame = ASIA["dysp"].to_pandas()
    assert frame.loc[("yes", "no"), "yes"] == 0.8
    assert frame.index.names == ["bronc", "either"]
    assert frame.columns.name == "dysp"
    assert ASIA["lung"].to_pandas().loc["yes", "yes"] == 0.1
    assert ASIA["asia"].to_pandas()["yes"].tolist() == [0.01]
    assert MIXED["dose"].to_pandas().loc[1, 5] == 0.75


def test_polars_has_a_row_per_probability():
    pytest.importorskip("polars")
    frame = ASIA["lung"].to_polars()
    assert frame.to_dict(as_series=False) == ASIA["lung"].to_dict()
    assert MIXED["dose"].to_polars()["dose"].to_list() == ["low", "5", "low", "5"]


def test_a_variable_called_probability_keeps_its_column():
    dag = Dag.from_arcs(["probability"])
    columns = Network(dag, (("no", "yes"),), ([[0.2, 0.8]],)).cpt("probability")
    assert columns.to_dict() == {
        "probability": ["no", "yes"],
        "probability_": [0.2, 0.8],
    }


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_without_the_package_the_error_says_how_to_install_it(monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {package}"):
        getattr(ASIA["lung"], f"to_{package}")()


def test_a_network_is_asked_by_name():
    assert list(ASIA) == list(ASIA.names)
    assert "lung" in ASIA
    assert "lungs" not in ASIA
    with pytest.raises(DataError, match="no variable named 'lungs'"):
        ASIA["lungs"]
