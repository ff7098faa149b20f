import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.strategies import dags

from bayesmend import Dag
from bayesmend.errors import ParameterError
from bayesmend.graph.confidence import ArcProbabilities, inclusion_threshold


@st.composite
def structures(draw):
    first = draw(dags(max_vars=4, min_vars=2))
    n_more = draw(st.integers(0, 6))
    more = [
        draw(dags(max_vars=first.n_vars, min_vars=first.n_vars)) for _ in range(n_more)
    ]
    return [first, *more]


@given(structures())
def test_shares_of_arcs_match_counting(found):
    arcs = ArcProbabilities.of(found)
    expected = oracle.arc_shares([dag.parents for dag in found], found[0].n_vars)
    for (i, j), share in expected.items():
        assert arcs.directed[i, j] == pytest.approx(share)
        # A structure never holds both directions.
        assert arcs.undirected[i, j] == pytest.approx(share + expected[j, i])


@given(structures(), st.floats(0, 1))
def test_the_consensus_has_the_edges_above_the_threshold(found, threshold):
    arcs = ArcProbabilities.of(found)
    dag = arcs.consensus(threshold)
    most = max(len(parents) for one in found for parents in one.parents)
    for parent, child in dag.arcs:
        known = arcs.arc(parent, child)
        assert known.undirected > threshold
        assert known.probability > 0
    assert max(map(len, dag.parents)) <= most
    for known in arcs.arcs():
        if known.probability == 1 and threshold < 1:
            assert (known.parent, known.child) in dag.arcs


@given(dags(max_vars=5, min_vars=2))
def test_of_one_structure_the_consensus_is_that_structure(dag):
    assert ArcProbabilities.of([dag]).consensus(0.5) == dag


@given(st.lists(st.integers(0, 20).map(lambda k: k / 20), min_size=1, max_size=12))
def test_the_threshold_matches_trying_every_level(probabilities):
    found = inclusion_threshold(np.array(probabilities))
    assert found == pytest.approx(oracle.inclusion_threshold(probabilities))


def test_the_first_direction_that_closes_a_cycle_is_turned():
    names = ["a", "b", "c"]
    one = Dag.from_arcs(names, [("a", "b"), ("b", "c")])
    two = Dag.from_arcs(names, [("b", "c"), ("c", "a")])
    three = Dag.from_arcs(names, [("c", "a"), ("a", "b")])
    dag = ArcProbabilities.of([one, two, three]).consensus(0.5)
    assert dag.n_arcs == 2 + 0  # c -> a closes it, and nobody has a -> c


def test_errors_shrink_with_the_number_of_structures():
    one = Dag.from_arcs(["a", "b"], [("a", "b")])
    none = Dag.from_arcs(["a", "b"])
    few, many = (ArcProbabilities.of([one, none] * n) for n in (5, 500))
    assert few.directed_errors[0, 1] == pytest.approx(0.5 / np.sqrt(10))
    assert many.directed_errors[0, 1] == pytest.approx(0.5 / np.sqrt(1000))


def test_neighbours_that_are_alike_widen_the_errors():
    one = Dag.from_arcs(["a", "b"], [("a", "b")])
    none = Dag.from_arcs(["a", "b"])
    found = [one] * 20 + [none] * 20
    apart = ArcProbabilities.of(found)
    chained = ArcProbabilities.of(found, [0] * 40)
    assert chained.directed_errors[0, 1] > 3 * apart.directed_errors[0, 1]
    turns = [one, none] * 20
    assert ArcProbabilities.of(turns, [0] * 40).directed_errors[0, 1] == pytest.approx(
        ArcProbabilities.of(turns).directed_errors[0, 1]
    )


def test_chains_that_walk_side_by_side_are_told_apart():
    one = Dag.from_arcs(["a", "b"], [("a", "b")])
    none = Dag.from_arcs(["a", "b"])
    # Two chains, each in one state for long; what follows is of the other chain.
    side_by_side = ArcProbabilities.of([one, none] * 20, [0, 1] * 20)
    in_turn = ArcProbabilities.of([one] * 20 + [none] * 20, [0] * 20 + [1] * 20)
    assert (side_by_side.directed_errors == in_turn.directed_errors).all()
    apart = ArcProbabilities.of([one, none] * 20)
    assert in_turn.directed_errors[0, 1] > 3 * apart.directed_errors[0, 1]


def test_errors_cover_the_spread_of_independent_shares():
    rng = np.random.default_rng(1)
    one, none = Dag.from_arcs(["a", "b"], [("a", "b")]), Dag.from_arcs(["a", "b"])
    misses = 0
    for _ in range(200):
        drawn = [one if x else none for x in rng.random(40) < 0.3]
        arc = ArcProbabilities.of(drawn).arc("a", "b")
        misses += abs(arc.probability - 0.3) > 2 * arc.error
    assert misses < 25


def test_no_structures_are_refused():
    with pytest.raises(ParameterError, match="no structure to count the arcs of"):
        ArcProbabilities.of([])


def test_a_threshold_out_of_range_is_refused():
    arcs = ArcProbabilities.of([Dag.from_arcs(["a", "b"])])
    with pytest.raises(ParameterError, match="threshold must be"):
        arcs.consensus(1.5)


def test_no_more_than_twenty_edges_are_shown():
    names = [f"v{i}" for i in range(8)]
    dag = Dag.from_arcs(names, [(i, j) for i in range(8) for j in range(i + 1, 8)])
    assert repr(ArcProbabilities.of([dag])).endswith("and 8 more")
