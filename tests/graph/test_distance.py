"""How far apart two graphs are, against the definitions."""

import random

import pytest
from hypothesis import given
from support import oracle
from support.strategies import dags

from bayesmend import Dag, structural_hamming_distance
from bayesmend.errors import DataError
from bayesmend.graph import skeleton_scores


def make(n, arcs):
    return Dag.from_arcs([f"v{i}" for i in range(n)], sorted(arcs))


def index_arcs(dag):
    return {(p, child) for child, members in enumerate(dag.parents) for p in members}


@pytest.mark.slow
def test_structural_hamming_distance_matches_its_definition():
    rng = random.Random(2)
    graphs = list(oracle.all_dags(4))
    for _ in range(400):
        one, two = rng.choice(graphs), rng.choice(graphs)
        expected = oracle.structural_hamming_distance(4, one, two)
        assert structural_hamming_distance(make(4, one), make(4, two)) == expected


@given(dags(), dags())
def test_distance_is_symmetric_and_accepts_either_kind_of_graph(a, b):
    b = Dag(a.names, b.parents) if a.n_vars == b.n_vars else a
    distance = structural_hamming_distance(a, b)
    assert distance == structural_hamming_distance(b.cpdag(), a)
    assert (distance == 0) == (a.cpdag() == b.cpdag())


def test_distance_matches_variables_by_name():
    one = Dag.from_arcs(["a", "b", "c"], [("a", "c"), ("b", "c")])
    two = Dag.from_arcs(["c", "b", "a"], [("a", "c"), ("b", "c")])
    assert structural_hamming_distance(one, two) == 0


def test_graphs_over_other_variables_cannot_be_compared():
    with pytest.raises(DataError, match="same variables, but 'b' is in one"):
        structural_hamming_distance(Dag.from_arcs("ab"), Dag.from_arcs("a"))
    with pytest.raises(DataError, match="same variables"):
        skeleton_scores(Dag.from_arcs("ab"), Dag.from_arcs("ac"))


@given(dags(), dags())
def test_skeleton_scores_match_their_definition(a, b):
    b = Dag(a.names, b.parents) if a.n_vars == b.n_vars else a
    scores = skeleton_scores(a, b)
    found, true = oracle.skeleton(index_arcs(a)), oracle.skeleton(index_arcs(b))
    assert scores.precision * max(len(found), 1) == pytest.approx(
        len(found & true) if found else 1
    )
    assert scores.recall * max(len(true), 1) == pytest.approx(
        len(found & true) if true else 1
    )
    assert scores.f1 == pytest.approx(
        2 * len(found & true) / (len(found) + len(true)) if found or true else 1
    )
    assert skeleton_scores(a.cpdag(), b.cpdag()) == scores
