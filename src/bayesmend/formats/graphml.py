"""GraphML: the graph for any graph tool, states and tables as JSON in node data."""

import json
from collections.abc import Iterator
from dataclasses import replace

from bayesmend.formats.entries import Entry, read_entries
from bayesmend.formats.markup import Element, escape, parse_markup
from bayesmend.formats.remembered import read_schema
from bayesmend.formats.text import Source
from bayesmend.network.network import Network

__all__ = ["parse", "render"]

KEYS = ("states", "parents", "cpt")
SUPPORT = "support"  # of learned networks only


def parse(text: str, source: str = "<text>") -> Network:
    """Read a network from GraphML as :func:`render` writes it."""
    origin, root = parse_markup(text, source)
    graphs = list(root.all("graph"))
    if root.tag != "graphml" or len(graphs) != 1:
        origin.fail("expected one <graph> inside <graphml>.", root.where)
    keys = {
        key.attributes.get("id", ""): key.attributes.get("attr.name", "")
        for key in root.all("key")
    }
    entries = [_read_node(origin, node, keys) for node in graphs[0].all("node")]
    network = read_entries(origin, entries)
    _check_edges(origin, graphs[0], network)
    for data in graphs[0].all("data"):
        if keys.get(data.attributes.get("key", "")) == "schema":
            schema = read_schema(origin, _decode(origin, data), data.where)
            network = replace(network, schema=schema)
    return network


def render(network: Network) -> str:
    """Write a network as GraphML text, every number so that it reads back equal."""
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    ]
    parts += [
        f'<key id="{key}" for="node" attr.name="{key}" attr.type="string"/>\n'
        for key in (KEYS if network.support is None else (*KEYS, SUPPORT))
    ]
    kept = ""
    if network.schema is not None:
        parts.append(
            '<key id="schema" for="graph" attr.name="schema" attr.type="string"/>\n'
        )
        text = escape(json.dumps(network.schema.to_dict()))
        kept = f'<data key="schema">{text}</data>\n'
    parts.append(f'<graph edgedefault="directed">\n{kept}')
    for i, (name, parents) in enumerate(
        zip(network.names, network.dag.parents, strict=True)
    ):
        known = [network.names[parent] for parent in parents]
        values: dict[str, object] = dict(
            zip(KEYS, (network.states[i], known, network.cpts[i].tolist()), strict=True)
        )
        if network.support is not None:
            values[SUPPORT] = network.support[i].astype(int).tolist()
        parts.append(f'<node id="{escape(name)}">\n')
        parts += [
            f'<data key="{key}">{escape(json.dumps(value))}</data>\n'
            for key, value in values.items()
        ]
        parts.append("</node>\n")
    parts += [
        f'<edge source="{escape(parent)}" target="{escape(child)}"/>\n'
        for parent, child in network.dag.arcs
    ]
    parts.append("</graph>\n</graphml>\n")
    return "".join(parts)


def _read_node(source: Source, node: Element, keys: dict[str, str]) -> Entry:
    value: dict[str, object] = {"name": node.attributes.get("id")}
    offsets: dict[str, int] = {}
    for data in node.all("data"):
        key = keys.get(data.attributes.get("key", ""), "")
        if key in (*KEYS, SUPPORT):
            offsets[key] = data.where
            value[key] = _decode(source, data)
    missing = next((key for key in KEYS if key not in value), None)
    if missing is not None:
        msg = (
            f"node {value['name']!r} has no {missing!r}: this GraphML holds the graph "
            "alone, not a network."
        )
        source.fail(msg, node.where)
    return Entry(value, node.where, lambda key: offsets.get(key, node.where))


def _decode(source: Source, data: Element) -> object:
    try:
        return json.loads(data.text)
    except (ValueError, RecursionError):
        source.fail("expected JSON in this <data>.", data.where)


def _check_edges(source: Source, graph: Element, network: Network) -> None:
    arcs = set(network.dag.arcs)
    for arc, where in _edges(graph):
        if arc not in arcs:
            msg = f"edge {arc[0]!r} -> {arc[1]!r} is not among the parents given."
            source.fail(msg, where)
        arcs.discard(arc)
    for parent, child in arcs:
        msg = f"{parent!r} is given as a parent of {child!r}, but has no edge."
        source.fail(msg, graph.where)


def _edges(graph: Element) -> Iterator[tuple[tuple[str, str], int]]:
    for edge in graph.all("edge"):
        ends = edge.attributes
        yield (ends.get("source", ""), ends.get("target", "")), edge.where
