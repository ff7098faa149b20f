"""Files that hold why nothing scores higher, for others to check.

A file is JSON, of the format that docs/explanation/certificates.md describes. What is
written here is checked by `bayesmend.verification`, which shares no code with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from bayesmend._checks import got
from bayesmend._files import PathLike, check_path, file_suffix, is_folder, write_text
from bayesmend._warn import warn
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError, ShortfallWarning
from bayesmend.graph.constraints import ParentRules
from bayesmend.score import Score

__all__ = [
    "MOST_BYTES",
    "check_certificate",
    "problem_of",
    "write_no_proof",
    "write_proof",
]

FORMAT: Final = "bayesmend-proof"
VERSION: Final = 1
MOST_BYTES: Final = 400e6
"""No more of a proof is kept in memory; a file takes about as much, unpacked."""


def check_certificate(path: PathLike | None) -> None:
    """Raise ``ParameterError`` unless a proof can be written there."""
    if path is None:
        return
    check_path(path)
    if file_suffix(path) != ".json":
        msg = (
            f"certificate must be a file ending in .json or .json.gz. {got(str(path))}"
        )
        raise ParameterError(msg)
    folder = Path(path).parent
    if not is_folder(folder):
        msg = f"there is no folder '{folder}' for the certificate. Create it first."
        raise ParameterError(msg)


def problem_of(
    data: IncompleteData, score: Score, rules: ParentRules
) -> dict[str, Any]:
    """Say what is scored: variables with their states and parents, and the score."""
    cuts, schema = data.discretization, data.schema
    variables = []
    for v, (name, states) in enumerate(zip(data.names, data.states, strict=True)):
        known: dict[str, Any] = {
            "name": name,
            "states": list(states),
            "max_parents": int(rules.limit[v]),
        }
        if cuts is not None and name in cuts.names:
            known["cuts"] = list(cuts.cuts_of(name))
        forbidden = [p for p in np.flatnonzero(rules.allowed[v] == 0) if p != v]
        required = np.flatnonzero(rules.required[v])
        for key, listed in (("forbidden", forbidden), ("required", required)):
            if len(listed):
                known[key] = [data.names[p] for p in listed]
        variables.append(known)
    weights = () if schema is None else schema.of("weights")
    return {
        "variables": variables,
        "score": {
            "kind": score.kind,
            "ess": float(score.ess),
            "prior": score.prior,
            "arc_penalty": float(score.arc_penalty),
            "support": float(score.support),
        },
        "weights": weights[0].name if weights else None,
        "normalise": schema is not None and schema.normalise,
    }


def write_proof(path: PathLike, kind: str, content: Mapping[str, Any]) -> str:
    """Write a proof, an entry a line; return the path as text."""
    head = {"format": FORMAT, "version": VERSION, "kind": kind}
    lines = []
    for key, value in {**head, **content}.items():
        name = json.dumps(key)
        if key == "nodes":
            entries = ",\n".join(map(_packed, value))
            lines.append(f"{name}: [\n{entries}\n]")
        else:
            lines.append(f"{name}: {_packed(value)}")
    write_text(path, "{\n" + ",\n".join(lines) + "\n}\n")
    return str(path)


def write_no_proof(path: PathLike, reason: str) -> str:
    """Write why there is no proof that others can check, and say so."""
    warn(f"{str(path)!r} holds no proof: {reason}", ShortfallWarning)
    return write_proof(path, "none", {"reason": reason})


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
