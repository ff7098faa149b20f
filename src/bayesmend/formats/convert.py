"""Networks as objects of other libraries, and back.

The other library is imported when one of its functions is called; without it, the
error says what to install.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._entrance import entrance
from bayesmend._packages import require
from bayesmend.data.schema import Schema
from bayesmend.data.states import Label
from bayesmend.errors import DataError
from bayesmend.formats.assemble import text_labels
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.network.cpt import fold, unfold
from bayesmend.network.network import Network

__all__ = [
    "dag_from_networkx",
    "from_networkx",
    "from_pgmpy",
    "from_pyagrum",
    "to_networkx",
    "to_pgmpy",
    "to_pyagrum",
]


@entrance
def to_networkx(graph: Network | Dag | Cpdag) -> Any:
    """Return a ``networkx.DiGraph`` whose nodes are the names of the variables.

    The nodes of a network carry ``states`` (a list), ``parents`` (names, the first one
    varying fastest along the rows) and ``cpt`` (an array); the graph of a network that
    was learned carries its ``schema`` in plain types. An undirected edge of an
    equivalence class becomes two arcs.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> graph = to_networkx(load_network("asia"))
    >>> graph.nodes["lung"]["parents"], graph.nodes["lung"]["cpt"].tolist()
    (['smoke'], [[0.1, 0.9], [0.01, 0.99]])
    """
    result = require("networkx").DiGraph()
    if isinstance(graph, Network):
        dag = graph.dag
        for i, name in enumerate(graph.names):
            parents = [graph.names[parent] for parent in dag.parents[i]]
            states, cpt = list(graph.states[i]), graph.cpts[i].copy()
            result.add_node(name, states=states, parents=parents, cpt=cpt)
        result.add_edges_from(dag.arcs)
        if graph.schema is not None:
            result.graph["schema"] = graph.schema.to_dict()
        return result
    result.add_nodes_from(graph.names)
    result.add_edges_from(graph.arcs)
    if isinstance(graph, Cpdag):
        result.add_edges_from(graph.edges)
        result.add_edges_from((b, a) for a, b in graph.edges)
    return result


@entrance
def from_networkx(graph: Any) -> Network:
    """Make a network from a graph as :func:`to_networkx` makes it.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> asia = load_network("asia")
    >>> from_networkx(to_networkx(asia)) == asia
    True
    """
    dag = dag_from_networkx(graph)
    nodes = {str(node): attributes for node, attributes in graph.nodes(data=True)}
    for name, attributes in nodes.items():
        for key in ("states", "parents", "cpt"):
            if key not in attributes:
                msg = (
                    f"node {name!r} has no {key!r}, so the graph is no network. "
                    "Use dag_from_networkx for the graph alone."
                )
                raise DataError(msg)
    given = {name: [str(p) for p in nodes[name]["parents"]] for name in nodes}
    states = {name: tuple(nodes[name]["states"]) for name in nodes}
    tables = {}
    for name in nodes:
        cpt = np.asarray(nodes[name]["cpt"], dtype=np.float64)
        card = [len(states[parent]) for parent in given[name] if parent in states]
        if cpt.shape != (np.prod(card, dtype=int), len(states[name])):
            msg = f"the cpt of node {name!r} does not fit its states and parents."
            raise DataError(msg)
        tables[name] = unfold(cpt, card)
    network = _arrange(dag, states, given, tables)
    schema = graph.graph.get("schema")
    if schema is None:
        return network
    return replace(network, schema=Schema.from_dict(schema))


@entrance
def dag_from_networkx(graph: Any) -> Dag:
    """Make a graph from a ``networkx.DiGraph``; names are the nodes as text.

    Examples
    --------
    >>> import networkx as nx
    >>> dag_from_networkx(nx.DiGraph([("a", "b")])).arcs
    (('a', 'b'),)
    """
    if not (graph.is_directed() and not graph.is_multigraph()):
        msg = (
            f"the graph must be a networkx.DiGraph. Got {type(graph).__name__} instead."
        )
        raise DataError(msg)
    names = [str(node) for node in graph.nodes]
    return Dag.from_arcs(names, [(str(a), str(b)) for a, b in graph.edges])


@entrance
def to_pgmpy(network: Network) -> Any:
    """Return a ``pgmpy.models.DiscreteBayesianNetwork``."""
    models = require("pgmpy.models")
    tables = require("pgmpy.factors.discrete")
    result = models.DiscreteBayesianNetwork()
    result.add_nodes_from(network.names)
    result.add_edges_from(network.dag.arcs)
    labels = dict(zip(network.names, map(list, network.states), strict=True))
    for i, name in enumerate(network.names):
        parents = [network.names[parent] for parent in network.dag.parents[i]]
        card = [len(labels[parent]) for parent in parents]
        # pgmpy has a column per configuration, the last parent varying fastest.
        values = unfold(network.cpts[i], card).reshape(-1, len(labels[name])).T
        cpd = tables.TabularCPD(
            name,
            len(labels[name]),
            values,
            evidence=parents or None,
            evidence_card=card or None,
            state_names={member: labels[member] for member in (name, *parents)},
        )
        result.add_cpds(cpd)
    return result


@entrance
def from_pgmpy(model: Any) -> Network:
    """Make a network from a ``pgmpy.models.DiscreteBayesianNetwork``."""
    names = [str(node) for node in model.nodes()]
    dag = Dag.from_arcs(names, [(str(a), str(b)) for a, b in model.edges()])
    cpds = {str(node): model.get_cpds(node) for node in model.nodes()}
    for name, cpd in cpds.items():
        if cpd is None:
            msg = f"variable {name!r} of the model has no table. Fit the model first."
            raise DataError(msg)
    states = {name: tuple(cpd.state_names[cpd.variable]) for name, cpd in cpds.items()}
    parents, tables = {}, {}
    for name, cpd in cpds.items():
        members = list(cpd.variables)  # the child, then its parents
        table = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
        for axis, parent in enumerate(members[1:]):
            # Each table has its own order of the states of a parent.
            labels = list(cpd.state_names[parent])
            order = [labels.index(label) for label in states[str(parent)]]
            table = table.take(order, axis=axis)
        parents[name] = [str(parent) for parent in members[1:]]
        tables[name] = table
    return _arrange(dag, states, parents, tables)


@entrance
def to_pyagrum(network: Network) -> Any:
    """Return a ``pyagrum.BayesNet``; labels become text."""
    gum = require("pyagrum")
    result = gum.BayesNet()
    for name, labels in zip(network.names, text_labels(network), strict=True):
        result.add(gum.LabelizedVariable(name, name, labels))
    for arc in network.dag.arcs:
        result.addArc(*arc)
    card = network.card.tolist()
    for i, name in enumerate(network.names):
        family = network.dag.parents[i]
        table = unfold(network.cpts[i], [card[parent] for parent in family])
        axes = {network.names[parent]: axis for axis, parent in enumerate(family)}
        axes[name] = len(family)
        # Its arrays list the variables backwards; the child comes last.
        cpt = result.cpt(name)
        order = [axes[member] for member in reversed(cpt.names)]
        cpt[:] = table.transpose(order)
    return result


@entrance
def from_pyagrum(model: Any) -> Network:
    """Make a network from a ``pyagrum.BayesNet``."""
    ids = sorted(model.nodes())
    names = [model.variable(i).name() for i in ids]
    arcs = [
        (model.variable(a).name(), model.variable(b).name()) for a, b in model.arcs()
    ]
    states = {name: tuple(model.variable(name).labels()) for name in names}
    parents, tables = {}, {}
    for name in names:
        cpt = model.cpt(name)
        axes = list(reversed(cpt.names))
        table = np.array(cpt[:], dtype=np.float64)
        tables[name] = np.moveaxis(table, axes.index(name), -1)
        parents[name] = [member for member in axes if member != name]
    return _arrange(Dag.from_arcs(names, arcs), states, parents, tables)


def _arrange(
    dag: Dag,
    states: Mapping[str, tuple[Label, ...]],
    parents: Mapping[str, Sequence[str]],
    tables: Mapping[str, NDArray[np.float64]],
) -> Network:
    """Make a network from tables whose parents come in any order."""
    cpts = []
    for i, name in enumerate(dag.names):
        wanted = [dag.names[parent] for parent in dag.parents[i]]
        given = list(parents[name])
        if sorted(given) != sorted(wanted):
            msg = f"the table of {name!r} is over other parents than the graph has."
            raise DataError(msg)
        order = [given.index(parent) for parent in wanted]
        cpts.append(fold(tables[name].transpose((*order, len(order)))))
    return Network(dag, tuple(states[name] for name in dag.names), tuple(cpts))
