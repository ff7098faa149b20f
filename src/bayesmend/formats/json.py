"""Our own format: JSON, versioned, complete, labels keep their types.

::

    {"format": "bayesmend-network", "version": 1,
     "variables": [
       {"name": "rain", "states": ["no", "yes"], "parents": [], "cpt": [[0.8, 0.2]]},
       {"name": "wet", "states": [false, true], "parents": ["rain"],
        "cpt": [[0.9, 0.1], [0.2, 0.8]]}]}

A ``cpt`` has one row per configuration of the parents, the first varying fastest. A
learned network also has ``support``, of the same shape: 1 where an observed row of the
table learned from is an example, else 0, and the file a ``schema``: how the columns of
that table were read, and where its numbers are cut. A network that knows why cells
are missing has a ``mechanism``: for each variable with missing cells the ``parents``
of that, and a ``cpt`` with the probabilities of observed and of missing. Other keys are
ignored.
"""

import json
from dataclasses import replace
from functools import partial
from typing import Any

from bayesmend.errors import DataError
from bayesmend.formats.entries import Entry, read_entries
from bayesmend.formats.remembered import read_schema
from bayesmend.formats.text import Source
from bayesmend.network.mechanism import Mechanism
from bayesmend.network.network import Network

__all__ = [
    "VERSION",
    "decode",
    "offset_of",
    "parse",
    "read_at",
    "render",
    "skip_blanks",
    "value_offsets",
]

FORMAT = "bayesmend-network"
VERSION = 1


def parse(text: str, source: str = "<text>") -> Network:
    """Read a network from JSON text.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> parse(render(load_network("asia"))) == load_network("asia")
    True
    >>> parse('{"format": "other"}')
    Traceback (most recent call last):
    ...
    bayesmend.errors.FormatError: <text>, line 1, column 12: format must be ...
    """
    origin = Source(text, source)
    return read_at(origin, decode(origin), skip_blanks(text, 0))


def read_at(origin: Source, document: Any, start: int) -> Network:
    """Make the network of a decoded object that starts at a place of the text."""
    text = origin.text
    _check_head(origin, document, start)
    offsets = value_offsets(text, value_offsets(text, start)["variables"])
    entries = [
        Entry(value, offsets[i], partial(offset_of, text, offsets[i]))
        for i, value in enumerate(document["variables"])
    ]
    network = read_entries(origin, entries)
    offsets = value_offsets(text, start)
    schema = read_schema(origin, document.get("schema"), offsets.get("schema", start))
    if schema is not None:
        network = replace(network, schema=schema)
    if document.get("mechanism") is not None:
        try:
            why = Mechanism.from_dict(document["mechanism"])
            network = replace(network, mechanism=why)
        except DataError as error:
            problem = f"the mechanism cannot be read: {error}"
            origin.fail(problem, offsets["mechanism"])
    return network


def render(network: Network) -> str:
    """Write a network as JSON text, one variable a line.

    Examples
    --------
    >>> from bayesmend import Dag
    >>> print(render(Network(Dag.from_arcs(["a"]), ((0, 1),), ([[0.2, 0.8]],))))
    {"format": "bayesmend-network", "version": 1, "variables": [
    {"name": "a", "states": [0, 1], "parents": [], "cpt": [[0.2, 0.8]]}
    ]}
    """
    support = network.support or (None,) * network.n_vars
    lines = [
        json.dumps(
            {
                "name": name,
                "states": states,
                "parents": [network.names[parent] for parent in parents],
                "cpt": cpt.tolist(),
            }
            | ({} if seen is None else {"support": seen.astype(int).tolist()}),
            ensure_ascii=False,
            allow_nan=False,
        )
        for name, states, parents, cpt, seen in zip(
            network.names,
            network.states,
            network.dag.parents,
            network.cpts,
            support,
            strict=True,
        )
    ]
    head = f'{{"format": "{FORMAT}", "version": {VERSION}, "variables": ['
    tail = "]"
    for key, kept in (("schema", network.schema), ("mechanism", network.mechanism)):
        if kept is not None:
            text = json.dumps(kept.to_dict(), ensure_ascii=False, allow_nan=False)
            tail += f',\n"{key}": {text}'
    tail += "}\n"
    return "\n".join([head, ",\n".join(lines), tail])


def decode(source: Source) -> Any:
    """Decode JSON, or say where it is none."""
    try:
        return json.loads(source.text)
    except json.JSONDecodeError as error:
        source.fail(f"not valid JSON: {error.msg}.", error.pos)
    except (RecursionError, ValueError):  # too deep, or a number of 4,300 digits
        source.fail("this JSON is too deeply nested, or holds too long a number.", 0)


def _check_head(source: Source, document: Any, where: int) -> None:
    if not isinstance(document, dict):
        source.fail("a network must be a JSON object.", where)
    offsets = value_offsets(source.text, where)
    for key, wanted in (("format", FORMAT), ("version", VERSION)):
        if document.get(key) != wanted:
            msg = f"{key} must be {wanted!r}. Got {document.get(key)!r} instead."
            if document.get(key) == "bayesmend-ensemble":
                msg += " Read it with read_ensemble."
            source.fail(msg, offsets.get(key, where))
    if not isinstance(document.get("variables"), list):
        source.fail("variables must be a list.", offsets.get("variables", where))


def skip_blanks(text: str, at: int) -> int:
    """Return the place of the next character that is no blank."""
    while text[at] in " \t\n\r":
        at += 1
    return at


def offset_of(text: str, where: int, key: str) -> int:
    """Return where the value of a key stands, or the object without it."""
    return value_offsets(text, where).get(key, where)


def value_offsets(text: str, at: int) -> dict[str | int, int]:
    """Map the keys of the object, or the positions of the list, at ``at`` to offsets.

    The text is known to be valid.
    """
    decode = json.JSONDecoder().raw_decode
    is_object = text[at] == "{"
    offsets: dict[str | int, int] = {}
    at = skip_blanks(text, at + 1)
    while text[at] not in "]}":
        key: str | int = len(offsets)
        if is_object:
            key, at = decode(text, at)
            at = skip_blanks(text, skip_blanks(text, at) + 1)
        offsets[key] = at
        _, at = decode(text, at)
        at = skip_blanks(text, at)
        if text[at] == ",":
            at = skip_blanks(text, at + 1)
    return offsets
