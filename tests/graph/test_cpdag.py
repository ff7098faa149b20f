"""Equivalence classes of graphs, against enumeration."""

import random

import numpy as np
import pytest
from support import oracle
from support.timing import within

from bayesmend import Dag
from bayesmend.errors import ParameterError
from bayesmend.graph import Cpdag


def make(n, arcs):
    return Dag.from_arcs([f"v{i}" for i in range(n)], sorted(arcs))


def assert_cpdag_is_right(n, arcs):
    found = make(n, arcs).cpdag()
    directed, undirected = oracle.cpdag(n, arcs)
    assert set(found.directed) == directed
    assert set(found.undirected) == undirected


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_cpdag_matches_enumeration_for_every_small_graph(n):
    for arcs in oracle.all_dags(n):
        assert_cpdag_is_right(n, arcs)


@pytest.mark.slow
def test_cpdag_matches_enumeration_for_graphs_of_five_variables():
    chosen = random.Random(1).sample(list(oracle.all_dags(5)), 300)
    for arcs in chosen:
        assert_cpdag_is_right(5, arcs)


def test_equivalent_graphs_have_one_cpdag_and_others_another():
    classes = {}
    for arcs in oracle.all_dags(4):
        key = (
            frozenset(oracle.skeleton(arcs)),
            frozenset(oracle.v_structures(arcs)),
        )
        classes.setdefault(key, set()).add(make(4, arcs).cpdag())
    assert all(len(found) == 1 for found in classes.values())
    assert len(set.union(*classes.values())) == len(classes) == 185


def test_a_graph_of_1500_variables_is_handled_at_once():
    rng = np.random.default_rng(1)
    n = 1500
    parents = [
        tuple(rng.choice(i, size=min(i, 4), replace=False).tolist()) for i in range(n)
    ]
    dag = Dag(tuple(f"v{i}" for i in range(n)), tuple(parents))
    with within(1):
        found = dag.cpdag()
    assert len(found.directed) + len(found.undirected) == dag.n_arcs


def test_text_and_dot_of_a_class():
    arcs = [("a", "c"), ("b", "c"), ("d", "e")]
    found = Dag.from_arcs("abcde", arcs).cpdag()
    assert str(found) == "a -> c\nb -> c\nd -- e"
    assert '"d" -> "e" [dir=none];' in found.to_dot()
    assert found.arcs == (("a", "c"), ("b", "c"))
    assert found.edges == (("d", "e"),)


@pytest.mark.parametrize(
    ("directed", "undirected", "message"),
    [
        (((0, 1),), ((1, 0),), "one arc or edge only"),
        (((0, 2),), (), "two different variables"),
        ((), ((1, 1),), "two different variables"),
    ],
)
def test_a_class_checks_its_arcs(directed, undirected, message):
    with pytest.raises(ParameterError, match=message):
        Cpdag(("a", "b"), directed, undirected)
