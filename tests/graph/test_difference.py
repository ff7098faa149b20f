"""What leads from one graph to another."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayesmend as bm
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph import compare_graphs

ABC = "abcde"


@st.composite
def dags(draw):
    order = draw(st.permutations(ABC))
    pairs = list(itertools.combinations(order, 2))
    return bm.Dag.from_arcs(ABC, draw(st.lists(st.sampled_from(pairs), unique=True)))


@given(dags(), dags())
def test_the_differences_lead_from_one_to_the_other(first, second):
    found = compare_graphs(first, second)
    turned = {(b, a) for a, b in found.reversed}
    arcs = ({*first.arcs} - {*found.lost} - turned) | {*found.added, *found.reversed}
    assert arcs == {*second.arcs}
    assert {*found.same} == {*first.arcs} & {*second.arcs}
    kinds = (found.same, found.added, found.lost, found.reversed)
    joined = [frozenset(arc) for kind in kinds for arc in kind]
    assert len(joined) == len({*joined})
    assert found.distance == len(found.classes)
    assert found.distance == bm.structural_hamming_distance(first, second)
    assert found.skeleton == bm.graph.skeleton_scores(second, first)


@given(dags(), dags())
def test_the_other_way_round_what_was_lost_is_added(first, second):
    there, back = compare_graphs(first, second), compare_graphs(second, first)
    assert {*there.lost} == {*back.added}
    assert {*there.reversed} == {(b, a) for a, b in back.reversed}
    assert {*there.classes} == {(after, before) for before, after in back.classes}


def test_equivalent_graphs_have_arcs_reversed_and_no_distance():
    found = compare_graphs(
        bm.Dag.from_arcs("ab", [("a", "b")]), bm.Dag.from_arcs("ba", [("b", "a")])
    )
    assert repr(found) == (
        "GraphDifference(distance=0, 0 same, 0 added, 0 lost, 1 reversed)"
    )
    assert found.to_dict()["reversed"] == [["b", "a"]]
    assert found.classes == ()


def test_graphs_over_other_variables_are_refused():
    with pytest.raises(DataError, match="must have the same variables, but 'c' is in"):
        compare_graphs(bm.Dag.from_arcs("ab"), bm.Dag.from_arcs("abc"))
    with pytest.raises(ParameterError, match=r"dag must be a Dag.*pass its \.dag"):
        compare_graphs(bm.load_network("asia"), bm.load_network("asia").dag)
