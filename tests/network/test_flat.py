"""Networks as the core takes them."""

import numpy as np
from hypothesis import given
from support import strategies

from bayesmend.graph.dag import Dag
from bayesmend.network.flat import flatten


@given(strategies.networks())
def test_every_list_is_found_where_it_begins(network):
    flat = flatten(network.dag, network.cpts)
    assert flat.card.tolist() == network.card.tolist()
    for i, parents in enumerate(network.dag.parents):
        first, last = flat.parent_offsets[i : i + 2]
        assert flat.parents[first:last].tolist() == list(parents)
        first, last = flat.cpt_offsets[i : i + 2]
        table = flat.cpts[first:last].reshape(-1, flat.card[i])
        np.testing.assert_array_equal(table, network.cpts[i])


def test_a_network_without_variables_is_empty():
    flat = flatten(Dag.from_arcs([]), ())
    assert [len(part) for part in flat] == [0, 1, 0, 1, 0]
    assert [str(part.dtype) for part in flat] == [
        "int32",
        "int64",
        "int32",
        "int64",
        "float64",
    ]
