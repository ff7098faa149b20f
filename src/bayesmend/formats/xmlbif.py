"""XMLBIF, the interchange format in XML (version 0.3), read and written.

A table lists the distribution of the child for each configuration of the parents, the
last parent varying fastest. States are text, and a number used as a label comes back as
text, unless the network was learned: then it has the properties that BIF has. Blanks at
the ends of a name or label are kept by ``xml:space="preserve"``.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bayesmend.formats.assemble import (
    Family,
    Variable,
    assemble,
    check_family,
    declare,
    parse_numbers,
    text_labels,
)
from bayesmend.formats.markup import Element, escape, parse_markup
from bayesmend.formats.remembered import (
    SUPPORT,
    pack_memory,
    pack_support,
    unpack_memory,
    unpack_support,
)
from bayesmend.formats.text import Source
from bayesmend.network.cpt import unfold
from bayesmend.network.network import Network

__all__ = ["parse", "render"]

# Without the document type that the specification shows: not every reader takes it.
HEAD = """\
<?xml version="1.0" encoding="UTF-8"?>
<BIF VERSION="0.3">
<NETWORK>
<NAME>unknown</NAME>
"""
TABLE_TAGS = ("definition", "probability")  # versions 0.3 and 0.1


def parse(text: str, source: str = "<text>") -> Network:
    """Read a network from XMLBIF text.

    Examples
    --------
    >>> parse("<BIF><NETWORK></NETWORK>")
    Traceback (most recent call last):
    ...
    bayesmend.errors.FormatError: <text>, line 1, column 25: not valid XML: no ...
    """
    origin, root = parse_markup(text, source)
    networks = list(root.all("network"))
    if root.tag != "bif" or len(networks) != 1:
        origin.fail("expected one <NETWORK> inside <BIF>.", root.where)
    variables: dict[str, Variable] = {}
    families: dict[str, Family] = {}
    for element in networks[0].all("variable"):
        _read_variable(origin, element, variables)
    for element in networks[0].children:
        if element.tag in TABLE_TAGS:
            _read_family(origin, element, variables, families)
    memories = [
        unpack_memory(origin, element.text, element.where)
        for element in networks[0].all("property")
    ]
    memory = next((found for found in memories if found is not None), None)
    network = assemble(origin, variables, families)
    return network if memory is None else memory.given_to(network)


def render(network: Network) -> str:
    """Write a network as XMLBIF text, every number so that it reads back equal."""
    parts = [HEAD]
    if network.schema is not None:
        parts.append(_element("PROPERTY", pack_memory(network)))
    for name, labels in zip(network.names, text_labels(network), strict=True):
        parts.append(f'<VARIABLE TYPE="nature">\n{_element("NAME", name)}')
        parts += [_element("OUTCOME", label) for label in labels]
        parts.append("</VARIABLE>\n")
    card = network.card.tolist()
    for child, parents in enumerate(network.dag.parents):
        parts.append("<DEFINITION>\n" + _element("FOR", network.names[child]))
        parts += [_element("GIVEN", network.names[parent]) for parent in parents]
        given = [card[parent] for parent in parents]
        table = unfold(network.cpts[child], given)
        rows = table.reshape(-1, card[child]).tolist()
        lines = "\n".join(" ".join(map(repr, row)) for row in rows)
        parts.append(f"<TABLE>\n{lines}\n</TABLE>\n")
        if network.support is not None:
            flags = unfold(network.support[child], given)
            parts.append(_element("PROPERTY", pack_support(flags)))
        parts.append("</DEFINITION>\n")
    parts.append("</NETWORK>\n</BIF>\n")
    return "".join(parts)


def _element(tag: str, text: str) -> str:
    space = "" if text == text.strip() and text else ' xml:space="preserve"'
    return f"<{tag}{space}>{escape(text)}</{tag}>\n"


def _only(source: Source, element: Element, tag: str) -> Element:
    found = list(element.all(tag))
    if len(found) != 1:
        msg = f"expected one <{tag.upper()}> here. Got {len(found)} instead."
        source.fail(msg, found[1].where if found else element.where)
    return found[0]


def _read_variable(
    source: Source, element: Element, variables: dict[str, Variable]
) -> None:
    kind = element.attributes.get("TYPE", "nature")
    name = _only(source, element, "name")
    if kind not in ("nature", "discrete"):
        msg = f"variable {name.text!r} must be of type 'nature'. Got {kind!r} instead."
        source.fail(msg, element.where)
    states = tuple(outcome.text for outcome in element.all("outcome"))
    declare(source, variables, Variable(name.text, states, name.where))


def _read_family(
    source: Source,
    element: Element,
    variables: dict[str, Variable],
    families: dict[str, Family],
) -> None:
    child = _only(source, element, "for")
    members = [child, *element.all("given")]
    family = [(member.text, member.where) for member in members]
    card = check_family(source, variables, families, family)
    table = _only(source, element, "table")
    numbers = parse_numbers(source, table.text, table.where)
    if len(numbers) != math.prod(card):
        msg = f"expected {math.prod(card)} probabilities. Got {len(numbers)} instead."
        source.fail(msg, table.where)
    array = np.array(numbers).reshape(*card[1:], card[0])
    parents = tuple(name for name, _ in family[1:])
    support = _read_support(source, element, card)
    families[child.text] = Family(parents, array, child.where, support)


def _read_support(
    source: Source, element: Element, card: tuple[int, ...]
) -> NDArray[np.bool_] | None:
    """Return the support of a table, if one of its properties tells."""
    for told in element.all("property"):
        name, _, digits = told.text.partition("=")
        if name.strip() == SUPPORT:
            flags = unpack_support(source, digits.strip(), told.where, card)
            return flags.reshape(*card[1:], card[0])
    return None
