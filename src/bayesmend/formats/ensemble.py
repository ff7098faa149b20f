"""Several networks and their weights in one file: JSON, versioned.

::

    {"format": "bayesmend-ensemble", "version": 1, "n_vars": 2,
     "weights": [0.5, 0.5], "chains": [0, 0],
     "members": [
       {"format": "bayesmend-network", "version": 1, "variables": [...]},
       {"format": "bayesmend-network", "version": 1, "variables": [...]}],
     "schema": {...}}

A member is a network as in its own file, but for the schema, which is that of all. It
begins with the ``n_vars`` variables that are not hidden. ``chains`` and ``schema`` may
be left out; other keys are ignored.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from bayesmend.errors import BayesmendError
from bayesmend.formats.json import (
    decode,
    offset_of,
    read_at,
    skip_blanks,
    value_offsets,
)
from bayesmend.formats.json import render as render_network
from bayesmend.formats.remembered import read_schema
from bayesmend.formats.text import Source
from bayesmend.network.mixture import Mixture
from bayesmend.network.network import Network

__all__ = ["FORMAT", "VERSION", "parse", "render"]

FORMAT = "bayesmend-ensemble"
VERSION = 1


def parse(source: Source) -> Mixture:
    """Read a mixture of networks from JSON text.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> mixture = Mixture((load_network("asia"),) * 2)
    >>> parse(Source(render(mixture))) == mixture
    True
    """
    document, start = decode(source), skip_blanks(source.text, 0)
    _check_head(source, document, start)
    offsets = value_offsets(source.text, start)
    places = value_offsets(source.text, offsets["members"])
    networks = [
        read_at(source, member, places[k])
        for k, member in enumerate(document["members"])
    ]
    schema = read_schema(source, document.get("schema"), offsets.get("schema", start))
    if schema is not None:
        networks = [_with_schema(network, schema) for network in networks]
    chains = document.get("chains")
    try:
        return Mixture(
            tuple(networks),
            np.array(document["weights"], dtype=np.float64),
            document["n_vars"],
            None if chains is None else tuple(chains),
        )
    except (BayesmendError, TypeError, ValueError) as error:
        source.fail(f"this is no ensemble: {error}", offsets["members"])


def _with_schema(network: Network, schema: Any) -> Network:
    return replace(network, schema=schema)


def render(mixture: Mixture) -> str:
    """Write a mixture of networks as JSON text, one variable a line."""
    assert mixture.weights is not None
    head: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "n_vars": mixture.n_vars,
        "weights": mixture.weights.tolist(),
    }
    if mixture.chains is not None:
        head["chains"] = list(mixture.chains)
    members = ",\n".join(
        render_network(replace(network, schema=None)).rstrip()
        for network in mixture.networks
    )
    tail = "]}\n"
    if mixture.schema is not None:
        plain = mixture.schema.to_dict()
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        tail = f'],\n"schema": {text}}}\n'
    opening = json.dumps(head, allow_nan=False).removesuffix("}")
    return f'{opening}, "members": [\n{members}\n{tail}'


def _check_head(source: Source, document: Any, where: int) -> None:
    if not isinstance(document, dict):
        source.fail("an ensemble must be a JSON object.", where)
    wanted: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    for key, value in wanted.items():
        if document.get(key) != value:
            msg = f"{key} must be {value!r}. Got {document.get(key)!r} instead."
            source.fail(msg, offset_of(source.text, where, key))
    for key in ("members", "weights"):
        if not isinstance(document.get(key), list):
            msg = f"{key} must be a list."
            source.fail(msg, offset_of(source.text, where, key))
    n_vars = document.get("n_vars")
    if not isinstance(n_vars, int) or isinstance(n_vars, bool) or n_vars < 1:
        msg = "n_vars must be an integer >= 1."
        source.fail(msg, offset_of(source.text, where, "n_vars"))
