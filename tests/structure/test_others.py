"""Other structures that a search met, nearly as good as its own."""

import numpy as np
import pytest
from support.strategies import linked_rows, table_of

import bayesmend as bm
from bayesmend import Dag, dag_score
from bayesmend.graph.distance import structural_hamming_distance
from bayesmend.structure import climb
from bayesmend.structure.others import NEAR, Other, others_in_words, tell_others

CARD = [2, 3, 2, 2, 3, 2]


def data():
    return table_of(linked_rows(CARD, 40, seed=3), CARD)


def test_what_climbs_met_is_near_and_scored_right():
    table = data()
    found = climb(table, seed=1)
    assert found.met
    for score, dag in found.met:
        assert found.score - NEAR < score <= found.score + 1e-9
        assert score == pytest.approx(dag_score(dag, table))
        assert dag != found.dag
    scores = [other.score for other in found.met]
    assert scores == sorted(scores, reverse=True)


def test_the_detail_sums_up_what_was_met_one_of_each_class():
    found = climb(data(), seed=1)
    told = found.detail["others"]
    assert told["within"] == NEAR
    assert told["below"] == sorted(told["below"])
    assert len({other.dag.cpdag() for other in found.met}) >= len(told["below"])
    distances = {
        structural_hamming_distance(other.dag, found.dag) for other in found.met
    }
    assert set(told["distance"]) <= distances - {0}


@pytest.mark.parametrize("solver", ["auto", "order", "greedy", "ilp"])
def test_every_result_of_structure_learning_tells(solver):
    found = bm.learn_structure(data(), solver=solver, seed=1)
    assert found.detail["others"]["below"]
    assert found.to_dict()["detail"]["others"] == found.detail["others"]


def test_em_tells_of_structures_where_it_came_by():
    holed = bm.hide_mcar(data(), 0.2, seed=1).data
    results = [bm.learn_em(holed, seed=seed) for seed in range(4)]
    told = [r.detail["others"] for r in results if "others" in r.detail]
    assert told
    assert all(0 <= gap < NEAR for one in told for gap in one["below"])


def test_equivalent_structures_are_one():
    forth, back = (Dag.from_arcs(["a", "b"], [arc]) for arc in (("a", "b"), ("b", "a")))
    assert tell_others(forth, 0.0, [Other(-0.1, back)]) == {}


def test_no_more_than_twenty_are_told():
    names = [f"v{i}" for i in range(6)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    rng = np.random.default_rng(1)
    met = [
        Other(-0.01 * k, Dag.from_arcs(names, [p for p in pairs if rng.random() < 0.5]))
        for k in range(60)
    ]
    found = tell_others(Dag.from_arcs(names, []), 0.0, met)
    assert len(found["others"]["below"]) == 20
    assert others_in_words(found).startswith("other structures within 3 nats: at least")
