"""What a learned network remembers of its table, kept in files of networks.

JSON and GraphML hold the schema as it is. In BIF and XMLBIF it is one property, which
other readers ignore: JSON, packed by zlib, in the letters of URL-safe base64. Labels
are text in these files, so those of other types stand in the property, too. Another
property of each table tells which of its cells have an example: 1 or 0, in the order
of the numbers.
"""

import base64
import json
import math
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.schema import Schema
from bayesmend.data.states import Label, as_label
from bayesmend.errors import DataError
from bayesmend.formats.entries import is_label
from bayesmend.formats.text import Source
from bayesmend.network.network import Network

__all__ = [
    "INDICATOR",
    "PROPERTY",
    "SUPPORT",
    "Remembered",
    "pack_indicator",
    "pack_memory",
    "pack_support",
    "read_schema",
    "unpack_indicator",
    "unpack_memory",
    "unpack_support",
]

PROPERTY = "bayesmend_schema"
"""The name of the property of a network in BIF and XMLBIF."""

SUPPORT = "bayesmend_support"
"""The name of the property of a table in BIF and XMLBIF."""

INDICATOR = "bayesmend_indicator_of"
"""The name of the property of an indicator of missing cells in BIF."""

_MOST_BYTES = 2**28  # of an unpacked schema: a file is no bomb


class Remembered(NamedTuple):
    """A schema, and by variable the labels that are not all text."""

    schema: Schema
    labels: Mapping[str, tuple[Label, ...]]

    def given_to(self, network: Network) -> Network:
        """Return a network with the schema, and labels of their types.

        Labels stay text where another program has given them other names.
        """
        states = tuple(
            typed
            if (typed := self.labels.get(name)) is not None
            and tuple(map(str, typed)) == labels
            and len(set(typed)) == len(labels)
            else labels
            for name, labels in zip(network.names, network.states, strict=True)
        )
        return replace(network, states=states, schema=self.schema)


def pack_memory(network: Network) -> str:
    """Return what a network remembers: a name, an equals sign and one word.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> pack_memory(replace(load_network("asia"), schema=Schema(())))[:20]
    'bayesmend_schema = e'
    """
    assert network.schema is not None
    typed = {
        name: list(labels)
        for name, labels in zip(network.names, network.states, strict=True)
        if not all(isinstance(label, str) for label in labels)
    }
    memory = network.schema.to_dict() | ({"states": typed} if typed else {})
    plain = json.dumps(memory, ensure_ascii=False, allow_nan=False)
    packed = base64.urlsafe_b64encode(zlib.compress(plain.encode(), 9))
    return f"{PROPERTY} = {packed.decode().rstrip('=')}"


def unpack_memory(source: Source, text: str, where: int) -> Remembered | None:
    """Read a property; None when it is another one."""
    name, _, packed = text.partition("=")
    if name.strip() != PROPERTY:
        return None
    word = packed.strip()
    unpacker = zlib.decompressobj()
    try:
        content = base64.b64decode(
            word + "=" * (-len(word) % 4), altchars=b"-_", validate=True
        )
        plain = unpacker.decompress(content, _MOST_BYTES)
        document = json.loads(plain)
    except (ValueError, zlib.error, RecursionError):
        source.fail(f"the property {PROPERTY} cannot be unpacked.", where)
    schema = read_schema(source, document, where)
    if schema is None:
        return None
    typed = document.get("states", {})
    if not _are_states(typed):
        source.fail(f"the states in the property {PROPERTY} are no labels.", where)
    labels = {name: tuple(map(as_label, listed)) for name, listed in typed.items()}
    return Remembered(schema, labels)


def _are_states(typed: Any) -> bool:
    return isinstance(typed, dict) and all(
        isinstance(labels, list) and all(map(is_label, labels))
        for labels in typed.values()
    )


def read_schema(source: Source, plain: Any, where: int) -> Schema | None:
    """Read a schema in plain types; None stays None."""
    if plain is None:
        return None
    try:
        return Schema.from_dict(plain)
    except DataError as error:
        source.fail(f"the schema cannot be read: {error}", where)


def pack_indicator(variable: str) -> str:
    """Return the property of an indicator that says of which variable it is.

    Examples
    --------
    >>> pack_indicator("age")
    'bayesmend_indicator_of = YWdl'
    """
    word = base64.urlsafe_b64encode(variable.encode()).decode().rstrip("=")
    return f"{INDICATOR} = {word}"


def unpack_indicator(source: Source, text: str, where: int) -> str | None:
    """Read a property; None when it is another one."""
    name, _, packed = text.partition("=")
    if name.strip() != INDICATOR:
        return None
    word = packed.strip()
    try:
        return base64.b64decode(
            word + "=" * (-len(word) % 4), altchars=b"-_", validate=True
        ).decode()
    except ValueError:
        source.fail(f"the property {INDICATOR} cannot be unpacked.", where)


def pack_support(flags: NDArray[np.bool_]) -> str:
    """Return the support of a table as a property.

    Examples
    --------
    >>> pack_support(np.array([[True, False]]))
    'bayesmend_support = 10'
    """
    digits = "".join("01"[flag] for flag in flags.ravel().tolist())
    return f"{SUPPORT} = {digits}"


def unpack_support(
    source: Source, digits: str, where: int, card: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Read the support of a table, a row per configuration of its parents."""
    n_entries = math.prod(card)
    if not re.fullmatch(f"[01]{{{n_entries}}}", digits):
        msg = f"{SUPPORT} must be {n_entries} digits 0 or 1, one for each number."
        source.fail(msg, where)
    return np.array([digit == "1" for digit in digits]).reshape(-1, card[0])
