"""What a result and a proof claim, read from files or from objects in memory."""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.lies import Lie, integer, listed, mapping, number, text
from bayesmend.verification.rows import Variable, read_bytes

__all__ = ["Cells", "Claim", "Node", "read_claim", "read_json"]

FILE = "result.json"


@dataclass(frozen=True)
class Node:
    """A variable of a network: its states, its parents, and their probabilities."""

    variable: Variable
    parents: tuple[str, ...]
    cpt: list[list[float]] | None = None


@dataclass(frozen=True)
class Cells:
    """Mended cells: where, with what, and what each would lose otherwise."""

    rows: list[int]
    variables: list[int]
    codes: list[int]
    runners_up: list[int]
    margins: list[float] | None
    supported: list[bool] | None


@dataclass(frozen=True)
class Claim:
    """All that a result says that can be checked."""

    score: float
    bound: float | None
    certificate: str
    status: str | None
    gap: float | None
    arcs: list[tuple[str, str]]
    method: str
    is_given_mechanism: bool = False
    nodes: tuple[Node, ...] | None = None
    codes: list[tuple[int, ...]] | None = None
    cells: Cells | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    folder: Path | None = None
    locality: int | None = None
    names: list[str] | None = None
    n_rows: int | None = None
    n_mended: int | None = None


def read_json(path: Path, what: str) -> dict[str, Any]:
    """Read a JSON object."""
    content = read_bytes(path)
    try:
        document = json.loads(content.decode("utf-8"), parse_constant=_refuse)
    except (RecursionError, ValueError) as error:
        msg = f"{what} {path.name!r} is no JSON: {error}."
        raise Lie(msg) from None
    return mapping(document, f"{what} {path.name!r}")


def _refuse(constant: str) -> None:
    msg = f"{constant} is no number"
    raise ValueError(msg)


def read_claim(result: Any) -> Claim:
    """Read a result: a path, or what a learning function returned."""
    if not isinstance(result, str | Path):
        return _of_object(result)
    path = Path(result)
    if path.is_dir():
        path = path / FILE
    facts = read_json(path, "the result")
    is_bare = facts.get("format") == "bayesmend-result"
    saved = _unpacked(facts if is_bare else facts.get("saved"))
    if is_bare:
        facts = {**saved, "arcs": None}
    return _of_facts(facts, saved, path.parent)


def _unpacked(document: Any) -> dict[str, Any]:
    if document is None:
        return {}
    try:
        packed = base64.b64decode(
            mapping(document, "what is saved")["content"], validate=True
        )
        return mapping(json.loads(gzip.decompress(packed)), "what is saved")
    except (
        KeyError,
        TypeError,
        ValueError,
        OSError,
        EOFError,
        RecursionError,
        zlib.error,
    ) as error:
        msg = f"what is saved in the result cannot be unpacked: {error}."
        raise Lie(msg) from None


def _of_facts(facts: dict[str, Any], saved: dict[str, Any], folder: Path) -> Claim:
    for key in ("score", "bound", "certificate", "method", "locality"):
        if key not in saved or key not in facts:
            continue
        kept = saved[key]
        if isinstance(kept, dict):  # a number that is none
            kept = None
        if kept != facts[key]:
            msg = (
                f"the result contradicts itself: its {key} is {facts[key]!r}, and as "
                f"saved {kept!r}."
            )
            raise Lie(msg)
    nodes = _nodes(saved["network"]) if "network" in saved else None
    arcs = None
    if facts.get("arcs") is not None:
        arcs = [
            (text(arc[0], "a parent"), text(arc[1], "a child"))
            for arc in listed(facts["arcs"], "the list of arcs")
            if listed(arc, "an arc", 2)
        ]
    if nodes is not None:
        own = [(p, node.variable.name) for node in nodes for p in node.parents]
        if arcs is not None and sorted(arcs) != sorted(own):
            odd = sorted(set(arcs) ^ set(own)) or arcs
            msg = f"the arcs of the result and of its network differ: {_arc(odd[0])}."
            raise Lie(msg)
        arcs = own
    if arcs is None:
        msg = "the result has no list of arcs."
        raise Lie(msg)
    bound = facts.get("bound")
    mechanism = saved.get("mechanism")
    names = None if nodes is None else [node.variable.name for node in nodes]
    return Claim(
        score=number(facts.get("score"), "the score"),
        bound=None
        if bound is None or isinstance(bound, dict)
        else number(bound, "the bound"),
        certificate=text(facts.get("certificate"), "the certificate"),
        status=facts.get("status"),
        gap=facts.get("gap"),
        arcs=arcs,
        method=str(facts.get("method", facts.get("solver"))),
        is_given_mechanism=mechanism is not None
        and "mechanism_score" in facts["detail"],
        nodes=nodes,
        codes=_codes(saved["table"], len(names))
        if names and "table" in saved
        else None,
        cells=_cells(saved["cells"]) if "cells" in saved else None,
        options=_options(facts),
        folder=folder,
        locality=facts.get("locality"),
        names=_modelled(facts.get("columns")),
        n_rows=facts.get("n_rows"),
        n_mended=facts.get("n_mended"),
    )


def _options(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the options, with the number that was chosen for ess="auto"."""
    options = dict(mapping(facts.get("options", {}), "the options"))
    if options.get("ess") == "auto":
        chosen = mapping(facts.get("detail", {}), "the detail").get("ess", {})
        options["ess"] = number(mapping(chosen, "ess").get("chosen"), "the chosen ess")
    return options


def _modelled(columns: Any) -> list[str] | None:
    """Return the names of the columns that the result says are variables."""
    if columns is None:
        return None
    return [
        text(mapping(each, "a column").get("name"), "the name of a column")
        for each in listed(columns, "the columns")
        if each.get("role") == "model"
    ]


def _arc(arc: tuple[str, str]) -> str:
    return f"{arc[0]} -> {arc[1]}"


def _nodes(document: str) -> tuple[Node, ...]:
    network = mapping(json.loads(document), "the network")
    schema = network.get("schema") or {}
    cuts = schema.get("discretization") or {}
    nodes = []
    for plain in listed(network.get("variables"), "the variables of the network"):
        name = text(plain.get("name"), "the name of a variable")
        own = cuts.get(name)
        points = None if own is None else tuple(own["cuts"])
        variable = Variable(name, tuple(plain["states"]), points)
        nodes.append(Node(variable, tuple(plain["parents"]), plain["cpt"]))
    return tuple(nodes)


def _codes(table: dict[str, Any], n_vars: int) -> list[tuple[int, ...]]:
    n_rows = integer(table.get("n_rows"), "the number of rows")
    content = base64.b64decode(table["codes"], validate=True)
    if len(content) != n_rows * n_vars:
        msg = "the completed table of the result is not of its size."
        raise Lie(msg)
    columns = [content[v * n_rows : (v + 1) * n_rows] for v in range(n_vars)]
    return list(zip(*columns, strict=True))


def _cells(kept: dict[str, Any]) -> Cells:
    n_cells = len(listed(kept.get("rows"), "the rows of mended cells"))
    columns = {
        key: listed(kept[key], f"the {key} of mended cells", n_cells)
        for key in ("rows", "variables", "codes", "runners_up", "margins", "supported")
        if key in kept
    }
    margins = columns.pop("margins", None)
    if margins is not None:
        margins = [
            float(m["number"]) if isinstance(m, dict) else float(m) for m in margins
        ]
    return Cells(margins=margins, supported=columns.pop("supported", None), **columns)


def _of_object(result: Any) -> Claim:
    """Read what a learning function returned, by what it has."""
    if not (hasattr(result, "score") and hasattr(result, "dag")):
        msg = (
            "result must be the path of a result.json or its folder, or what learn or "
            f"learn_structure returned. Got {type(result).__name__} instead."
        )
        raise DataError(msg)
    facts = result.to_dict()
    network = getattr(result, "network", None)
    nodes = None
    if network is not None:
        cuts = {}
        if network.schema is not None and network.schema.discretization is not None:
            rule = network.schema.discretization
            cuts = {name: tuple(rule.cuts_of(name)) for name in rule.names}
        nodes = tuple(
            Node(
                Variable(name, tuple(network.states[v]), cuts.get(name)),
                tuple(network.names[p] for p in network.dag.parents[v]),
                network.cpts[v].tolist(),
            )
            for v, name in enumerate(network.names)
        )
    cells, completed = (
        getattr(result, "cells", None),
        getattr(result, "completed", None),
    )
    kept = None
    if cells is not None:
        kept = Cells(
            cells.rows.tolist(),
            cells.variables.tolist(),
            cells.codes.tolist(),
            cells.runners_up.tolist(),
            None if cells.margins is None else cells.margins.tolist(),
            None if cells.supported is None else cells.supported.tolist(),
        )
    return Claim(
        score=facts["score"],
        bound=facts["bound"],
        certificate=facts["certificate"],
        status=facts["status"],
        gap=facts["gap"],
        arcs=[tuple(arc) for arc in facts["arcs"]],
        method=str(facts.get("method", facts.get("solver"))),
        is_given_mechanism="mechanism_score" in facts["detail"],
        nodes=nodes,
        codes=None if completed is None else list(map(tuple, completed.codes.tolist())),
        cells=kept,
        locality=facts.get("locality"),
    )
