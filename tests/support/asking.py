"""Networks and tables for questions, shared by the tests of inference."""

import numpy as np
from support import oracle
from support.strategies import MISSING

import bayesmend as bm


def plain(network):
    """A network as the oracle takes it."""
    return (
        network.dag.parents,
        network.card.tolist(),
        [cpt.tolist() for cpt in network.cpts],
    )


def table(network, rows):
    codes = [[MISSING if code is None else code for code in row] for row in rows]
    return bm.IncompleteData.from_codes(
        np.array(codes, dtype=np.uint8).reshape(len(rows), network.n_vars),
        names=network.names,
        states=network.states,
    )


def possible(network, rows):
    """The rows that have a probability above zero."""
    return [r for r in rows if oracle.evidence_probability(*plain(network), r) > 0]


def grid(size):
    """Binary variables in a square, each with the one above and the one to the left."""
    at = [(i, j) for i in range(size) for j in range(size)]
    names = [f"g{i}_{j}" for i, j in at]
    arcs = [(f"g{i - 1}_{j}", f"g{i}_{j}") for i, j in at if i]
    arcs += [(f"g{i}_{j - 1}", f"g{i}_{j}") for i, j in at if j]
    dag = bm.Dag.from_arcs(names, arcs)
    rng = np.random.default_rng(1)
    cpts = tuple(rng.dirichlet([1, 1], 2 ** len(p)) for p in dag.parents)
    return bm.Network(dag, ((0, 1),) * len(names), cpts)


def chains(n_vars, n_chains):
    """Binary variables in chains that know nothing of each other."""
    names = [f"x{k}" for k in range(n_vars)]
    arcs = [(f"x{k - n_chains}", f"x{k}") for k in range(n_chains, n_vars)]
    first, later = [[0.4, 0.6]], [[0.8, 0.2], [0.3, 0.7]]
    cpts = (first,) * n_chains + (later,) * (n_vars - n_chains)
    return bm.Network(bm.Dag.from_arcs(names, arcs), ((0, 1),) * n_vars, cpts)


def empty_rows(network, n_rows=1):
    return {name: [None] * n_rows for name in network.names}
