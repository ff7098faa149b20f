"""Conversion to and from the objects of other libraries."""

import sys
import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from support.examples import examples
from support.strategies import LABELS, networks

from bayesmend import Dag, Network, load_network, read_network, write_network
from bayesmend.errors import CycleError, DataError, MissingDependencyError
from bayesmend.formats import convert

FEW = examples(25)


@pytest.fixture(scope="module")
def gum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("pyagrum")


@pytest.fixture(scope="module")
def pgmpy():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pgmpy.models")
        import pgmpy.readwrite

        return pgmpy


@given(networks(labels=LABELS))
def test_networkx_gives_the_network_back(network):
    assert convert.from_networkx(convert.to_networkx(network)) == network


def test_networkx_gives_graph_and_class_back():
    dag = load_network("asia").dag
    assert convert.dag_from_networkx(convert.to_networkx(dag)) == dag
    found = convert.to_networkx(Dag.from_arcs("ab", [("a", "b")]).cpdag())
    assert set(found.edges) == {("a", "b"), ("b", "a")}


def test_parents_of_a_networkx_node_may_come_in_any_order():
    dag = Dag.from_arcs("abc", [("a", "c"), ("b", "c")])
    rows = np.arange(1, 7)[:, None] / 10
    cpts = ([[0.5, 0.5]], [[0.2, 0.3, 0.5]], np.hstack([rows, 1 - rows]))
    network = Network(dag, ((0, 1), (0, 1, 2), (0, 1)), cpts)
    graph = convert.to_networkx(network)
    order = [0, 2, 4, 1, 3, 5]  # b varies fastest
    graph.nodes["c"].update(parents=["b", "a"], cpt=network.cpts[2][order])
    assert convert.from_networkx(graph) == network


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cpt": [[1.0]]}, "cpt of node 'tub' does not fit"),
        ({"parents": ["smoke"]}, "'tub' is over other parents than the graph"),
    ],
)
def test_a_networkx_node_must_fit_the_graph(change, message):
    graph = convert.to_networkx(load_network("asia"))
    graph.nodes["tub"].update(change)
    with pytest.raises(DataError, match=message):
        convert.from_networkx(graph)


def test_a_plain_networkx_graph_is_no_network():
    with pytest.raises(DataError, match=r"node 'a' has no 'states'.*dag_from_networkx"):
        convert.from_networkx(nx.DiGraph([("a", "b")]))
    with pytest.raises(CycleError, match="a -> b -> a"):
        convert.dag_from_networkx(nx.DiGraph([("a", "b"), ("b", "a")]))
    with pytest.raises(DataError, match=r"must be a networkx\.DiGraph. Got Graph"):
        convert.dag_from_networkx(nx.Graph([("a", "b")]))


@FEW
@given(network=networks(labels=LABELS))
def test_pgmpy_gives_the_network_back(pgmpy, network):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert convert.from_pgmpy(convert.to_pgmpy(network)).is_close(network)


def test_pgmpy_finds_the_model_valid_and_computes_our_probabilities(pgmpy):
    network = load_network("asia")
    model = convert.to_pgmpy(network)
    assert model.check_model()
    cpd = model.get_cpds("dysp")
    given = {"dysp": "yes", "bronc": "no", "either": "yes"}
    assert cpd.get_value(**given) == pytest.approx(0.7)


def test_pgmpy_reads_our_bif_and_xmlbif(pgmpy, tmp_path):
    network = load_network("lucas")
    write_network(network, tmp_path / "net.bif")
    write_network(network, tmp_path / "net.xml")
    readers = pgmpy.readwrite
    for model in (
        readers.BIFReader(str(tmp_path / "net.bif")).get_model(),
        readers.XMLBIFReader(str(tmp_path / "net.xml")).get_model(),
    ):
        assert convert.from_pgmpy(model).is_close(network)


def test_a_pgmpy_model_without_tables_is_refused(pgmpy):
    from pgmpy.models import DiscreteBayesianNetwork

    with pytest.raises(DataError, match="'a' of the model has no table"):
        convert.from_pgmpy(DiscreteBayesianNetwork([("a", "b")]))


@FEW
@given(network=networks(max_states=4))
def test_pyagrum_gives_the_network_back(gum, network):
    multi = Network(network.dag, network.states, network.cpts)
    assert convert.from_pyagrum(convert.to_pyagrum(multi)).is_close(multi)


def test_pyagrum_computes_our_probabilities(gum):
    network = load_network("asia")
    model = convert.to_pyagrum(network)
    table = model.cpt("dysp")
    assert table[{"dysp": "yes", "bronc": "no", "either": "yes"}] == pytest.approx(0.7)
    data = network.sample(5, seed=1)
    for row, expected in zip(data.codes, network.log_likelihood(data), strict=True):
        evidence = {name: int(code) for name, code in zip(data.names, row, strict=True)}
        found = sum(np.log(model.cpt(name)[evidence]) for name in data.names)
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("suffix", ["bif", "bifxml"])
def test_pyagrum_and_we_read_each_others_files(gum, suffix, tmp_path):
    network = load_network("lucas")
    ours = tmp_path / ("net.bif" if suffix == "bif" else "net.xml")
    write_network(network, ours)
    theirs = ours.rename(tmp_path / f"ours.{suffix}")
    model = gum.loadBN(str(theirs))
    assert convert.from_pyagrum(model).is_close(network, tol=1e-6)
    gum.saveBN(model, str(tmp_path / f"back.{suffix}"))
    back = (tmp_path / f"back.{suffix}").rename(ours)
    assert read_network(back).is_close(network, tol=1e-6)


@pytest.mark.parametrize("library", ["networkx", "pgmpy", "pyagrum"])
def test_a_library_that_is_missing_is_named(library, monkeypatch):
    for name in [m for m in sys.modules if m.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {library}"):
        getattr(convert, f"to_{library}")(load_network("asia"))
