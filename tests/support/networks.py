"""Small networks, and tables that they may have made, for tests of inference and EM."""

import math
from dataclasses import dataclass

import numpy as np
from support import oracle
from support.strategies import MISSING, labels_of, names_of

import bayesmend as bm
from bayesmend.inference.engine import Engine
from bayesmend.learning.em.expectation import Table


def plain(network):
    """A network as the oracle takes it."""
    return (
        network.dag.parents,
        network.card.tolist(),
        [cpt.tolist() for cpt in network.cpts],
    )


def table(network, rows, weights=None):
    """Rows of codes, None where a cell is missing, as a table of the network."""
    codes = [[MISSING if code is None else code for code in row] for row in rows]
    return bm.IncompleteData.from_codes(
        np.array(codes, dtype=np.uint8).reshape(len(rows), network.n_vars),
        names=network.names,
        states=network.states,
        weights=weights,
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


@dataclass
class Case:
    """A network, and rows it may have made: None where a cell is missing."""

    network: bm.Network
    rows: list
    weights: list | None

    @property
    def card(self):
        return self.network.card.tolist()

    @property
    def mass(self):
        """The weight of each row, 1 where none was given."""
        return [1.0] * len(self.rows) if self.weights is None else self.weights

    @property
    def data(self):
        return table(self.network, self.rows, self.weights)

    @property
    def plain(self):
        return plain(self.network)

    def compiled(self, n_threads=1):
        """The table, and its rows compiled for the network."""
        table = Table.of(self.data, Engine(n_threads=n_threads))
        return table, table.compile(self.network.dag)[0]


def flat(cpts):
    return np.concatenate([np.ravel(table) for table in cpts])


def random_dag(rng, n_vars, density=0.5):
    order = rng.permutation(n_vars).tolist()
    arcs = [
        (f"v{order[i]}", f"v{order[j]}")
        for i in range(n_vars)
        for j in range(i + 1, n_vars)
        if rng.random() < density
    ]
    return bm.Dag.from_arcs(names_of(range(n_vars)), arcs)


def random_cpts(rng, dag, card):
    """Smooth, rough (zeros and ties) or deterministic tables."""
    kind = rng.integers(3)
    tables = []
    for i, parents in enumerate(dag.parents):
        shape = (math.prod(card[p] for p in parents), card[i])
        if kind == 0:
            table = rng.dirichlet(np.ones(card[i]), shape[0])
        elif kind == 1:
            table = rng.integers(0, 3, shape).astype(float)
            table[table.sum(axis=1) == 0, -1] = 1.0
        else:
            table = np.eye(card[i])[rng.integers(0, card[i], shape[0])]
        tables.append(table / table.sum(axis=1, keepdims=True))
    return tuple(tables)


def random_weights(rng, n_rows):
    """None, fractions or whole numbers, some of them zero."""
    kind = rng.integers(4)
    if kind < 2:
        return None
    weights = rng.random(n_rows) * 3 if kind == 2 else rng.integers(0, 4, n_rows)
    return (weights * (rng.random(n_rows) < 0.8)).astype(float).tolist()


def random_case(seed, *, max_vars=4, max_rows=8, max_joint=200):
    """From no hole to holes only; constant columns, copies, a variable never seen."""
    rng = np.random.default_rng(seed)
    n_vars = int(rng.integers(1, max_vars + 1))
    card = rng.integers(2, 6, n_vars).tolist()
    while math.prod(card) > max_joint:
        card[card.index(max(card))] -= 1
    dag = random_dag(rng, n_vars)
    network = bm.Network(dag, tuple(labels_of(card)), random_cpts(rng, dag, card))
    n_rows = int(rng.integers(1, max_rows + 1))
    rows = network.sample(n_rows, seed=rng).codes.tolist()
    rate = rng.choice([0.0, 0.1, 0.3, 0.6, 0.9, 1.0])
    holed = [[None if rng.random() < rate else c for c in row] for row in rows]
    if rng.random() < 0.3:
        holed += [list(holed[k]) for k in rng.integers(0, n_rows, 3)]
    if rng.random() < 0.2:
        never = int(rng.integers(n_vars))
        holed = [[None if v == never else c for v, c in enumerate(r)] for r in holed]
    return Case(network, holed, random_weights(rng, len(holed)))
