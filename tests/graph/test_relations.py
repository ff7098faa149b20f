"""Kin of a variable and d-separation, against their definitions."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.strategies import dags

from bayesmend import Dag, load_network
from bayesmend.errors import DataError, ParameterError

COLLIDER = Dag.from_arcs("abcd", [("a", "c"), ("b", "c"), ("c", "d")])


def plain(dag):
    """Number of variables and arcs by index, as the oracle takes them."""
    arcs = {(p, child) for child, members in enumerate(dag.parents) for p in members}
    return dag.n_vars, arcs


def named(dag, variables):
    return tuple(dag.names[v] for v in variables)


@given(dags(max_vars=6))
def test_kin_match_their_definitions(dag):
    n, arcs = plain(dag)
    for v, name in enumerate(dag.names):
        children = sorted(b for a, b in arcs if a == v)
        assert dag.children(name) == named(dag, children)
        assert dag.ancestors(name) == named(dag, oracle.ancestors(n, arcs, v))
        assert dag.descendants(name) == named(dag, oracle.descendants(n, arcs, v))


@given(dags(max_vars=4))
def test_the_markov_blanket_is_the_smallest_set_that_separates(dag):
    for v, name in enumerate(dag.names):
        expected = named(dag, oracle.markov_blanket(*plain(dag), v))
        assert dag.markov_blanket(name) == expected


@given(dags(max_vars=6, min_vars=2), st.data())
def test_d_separation_matches_the_blocking_of_paths(dag, data):
    parts = st.lists(
        st.sampled_from([None, 0, 1, 2]), min_size=dag.n_vars, max_size=dag.n_vars
    )
    part = data.draw(parts)
    one, two, known = ({v for v, p in enumerate(part) if p == k} for k in range(3))
    expected = oracle.d_separated(*plain(dag), one, two, known)
    sets = (named(dag, members) for members in (one, two, known))
    assert dag.d_separated(*sets) == expected


def test_a_network_knows_what_its_graph_knows():
    asia = load_network("asia")
    assert asia.children("smoke") == asia.dag.children("smoke") == ("lung", "bronc")
    assert asia.ancestors("xray") == ("asia", "tub", "smoke", "lung", "either")
    assert asia.descendants("tub") == ("either", "xray", "dysp")
    assert asia.markov_blanket("either") == ("tub", "lung", "bronc", "xray", "dysp")
    assert asia.d_separated("asia", "smoke")
    assert not asia.d_separated("asia", "smoke", given="xray")
    assert asia.d_separated("asia", "xray", ["either"])


def test_an_unknown_name_lists_those_there_are():
    message = "no variable named 'z'. Available: a, b, c, d."
    for ask in (
        COLLIDER.children,
        COLLIDER.ancestors,
        COLLIDER.descendants,
        COLLIDER.markov_blanket,
        lambda name: COLLIDER.d_separated("a", "b", given=name),
    ):
        with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
            ask("z")


def test_a_variable_is_on_one_side_only():
    message = (
        "x, y and given must have no variable in common. Got 'a' in x and in given."
    )
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$"):
        COLLIDER.d_separated("a", "b", given=["c", "a"])
    with pytest.raises(ParameterError, match="Got 'a' in x and in y"):
        COLLIDER.d_separated("a", "a")


def test_the_same_name_twice_on_one_side_is_one_variable():
    assert COLLIDER.d_separated(["a", "a"], "b")
