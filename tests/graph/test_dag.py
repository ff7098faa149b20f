"""Directed acyclic graphs: order, arcs, moral graph, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from support import oracle
from support.strategies import dags

import bayesmend as bm
from bayesmend import Dag, structural_hamming_distance
from bayesmend.errors import CycleError, DataError, ParameterError
from bayesmend.graph import Cpdag


def make(n, arcs):
    return Dag.from_arcs([f"v{i}" for i in range(n)], sorted(arcs))


def index_arcs(dag):
    return {(p, child) for child, members in enumerate(dag.parents) for p in members}


@given(dags(max_vars=7))
def test_topological_order_puts_parents_first(dag):
    order = dag.topological_order()
    position = {variable: i for i, variable in enumerate(order)}
    assert sorted(order) == list(range(dag.n_vars))
    assert all(position[p] < position[c] for p, c in index_arcs(dag))


@given(dags())
def test_moral_graph_matches_its_definition(dag):
    expected = oracle.moral_graph(dag.n_vars, index_arcs(dag))
    assert [list(found) for found in dag.moral_graph()] == expected


@given(dags())
def test_arcs_and_matrix_give_the_graph_back(dag):
    matrix = np.zeros((dag.n_vars, dag.n_vars), dtype=int)
    for parent, child in index_arcs(dag):
        matrix[parent, child] = 1
    assert Dag.from_matrix(matrix, dag.names) == dag
    assert Dag.from_arcs(dag.names, dag.arcs) == dag
    assert Dag.from_arcs(dag.names, index_arcs(dag)) == dag
    assert dag.n_arcs == matrix.sum()
    assert hash(Dag(dag.names, dag.parents)) == hash(dag)


def test_parents_are_stored_in_ascending_order():
    assert Dag(("a", "b", "c"), ((), (), (1, 0))).parents[2] == (0, 1)


def test_a_long_chain_needs_no_recursion():
    n = 5000
    arcs = [(i, i + 1) for i in range(n - 1)]
    assert len(make(n, arcs).cpdag().undirected) == n - 1


@pytest.mark.parametrize(
    ("arcs", "cycle"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a")], "a -> b -> c -> a"),
        ([("d", "a"), ("b", "c"), ("c", "b")], "b -> c -> b"),
        ([("c", "d"), ("d", "b"), ("b", "c"), ("a", "c")], "b -> c -> d -> b"),
    ],
)
def test_a_cycle_is_named(arcs, cycle):
    with pytest.raises(CycleError, match=f"form a cycle: {cycle}. Remove or"):
        Dag.from_arcs("abcd", arcs)


def test_a_self_loop_is_an_error():
    with pytest.raises(CycleError, match="'b' is its own parent"):
        Dag.from_arcs("ab", [("b", "b")])


def test_a_repeated_arc_is_an_error():
    with pytest.raises(ParameterError, match="arc a -> b is given twice"):
        Dag.from_arcs("ab", [("a", "b"), (0, 1)])


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataError, match=r"no variable named 'cogh'. Available: smoke,"):
        Dag.from_arcs(["smoke", "cough"], [("smoke", "cogh")])


def test_many_names_are_not_all_listed():
    with pytest.raises(DataError, match=r"v11, \.\.\. \(1500 in all\)"):
        Dag.from_arcs([f"v{i}" for i in range(1500)], [("v0", "x")])


@pytest.mark.parametrize("arc", [(0, 2), (-1, 0)])
def test_an_index_outside_the_variables_is_an_error(arc):
    with pytest.raises(ParameterError, match=r"must be in 0\.\.1. Got"):
        Dag.from_arcs("ab", [arc])


@pytest.mark.parametrize("arc", [(0.5, 1), (None, 1)])
def test_an_end_that_is_no_variable_is_an_error(arc):
    with pytest.raises(ParameterError, match="by name or index"):
        Dag.from_arcs("ab", [arc])


@pytest.mark.parametrize("arc", [("a", "b", "c"), 7])
def test_an_arc_that_is_no_pair_is_an_error(arc):
    with pytest.raises(ParameterError, match="must be a pair"):
        Dag.from_arcs("abc", [arc])


@pytest.mark.parametrize("names", [["a", "a"], ["a", ""], ["a", 3]])
def test_names_must_be_different_texts(names):
    with pytest.raises(DataError, match="variable name"):
        Dag.from_arcs(names)


def test_parents_must_fit_the_names():
    with pytest.raises(ParameterError, match=r"one entry per variable \(2\). Got 1"):
        Dag(("a", "b"), ((),))


def test_a_matrix_must_be_square():
    with pytest.raises(ParameterError, match=r"shape \(2, 2\).*Got shape \(2, 3\)"):
        Dag.from_matrix(np.zeros((2, 3)), "ab")


@pytest.mark.parametrize(
    "takes_a_graph", [bm.dag_score, bm.Network.fit, bm.fit_parameters]
)
def test_what_is_no_graph_is_refused(takes_a_graph):
    network = bm.load_network("asia")
    data = network.sample(20, seed=1)
    with pytest.raises(
        ParameterError, match=r"of type Network instead: pass its \.dag"
    ):
        takes_a_graph(network, data)
    with pytest.raises(ParameterError, match=r"of type IncompleteData instead\.$"):
        takes_a_graph(data, network.dag)


def test_text_and_dot_of_a_graph():
    dag = Dag.from_arcs(['say "hi"', "b\\"], [(0, 1)])
    assert str(dag) == 'say "hi"\nb\\ <- say "hi"'
    assert '"say \\"hi\\"" -> "b\\\\";' in dag.to_dot()
    assert repr(dag) == "Dag(2 variables, 1 arc)"


def test_a_graph_without_variables_is_fine():
    empty = Dag((), ())
    assert empty.cpdag() == Cpdag((), (), ())
    assert structural_hamming_distance(empty, empty) == 0
