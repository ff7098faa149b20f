"""Evidence of probability zero: find it, and name the part that contradicts itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._spelling import spell
from bayesmend.data.states import MISSING, listing
from bayesmend.errors import InferenceError
from bayesmend.network.flat import flatten
from bayesmend.network.network import Network

__all__ = ["evidence_words", "find_conflict", "require_possible"]

# A conflict is narrowed down only where that is quick.
_MAX_OBSERVED = 200
_MAX_ENTRIES = 2**20


def require_possible(
    network: Network,
    cells: NDArray[np.uint8],
    log_evidence: NDArray[np.float64],
    *,
    n_samples: int | None = None,
) -> None:
    """Raise ``InferenceError`` for the first incomplete row that is impossible.

    ``n_samples``: from so many samples, none of which agrees with the row.
    """
    bad = np.flatnonzero(np.isneginf(log_evidence))
    bad = bad[(cells[:, bad] == MISSING).any(axis=0)]
    if not bad.size:
        return
    row = int(bad[0])
    if n_samples is not None:
        shown = evidence_words(network, cells[:, row])
        msg = (
            f"none of {n_samples:,} samples agrees with row {row} ({shown}). Raise "
            f"{spell('n_samples')}, or ask for exact inference."
        )
        raise InferenceError(msg)
    shown = evidence_words(network, find_conflict(network, cells[:, row]))
    msg = (
        f"row {row} is impossible in this network: {shown} has probability zero. "
        f"Correct the row, or estimate the network with "
        f"{spell('estimate', 'posterior')}, which leaves no zeros."
    )
    raise InferenceError(msg)


def find_conflict(network: Network, row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the row with as much evidence hidden as still leaves it impossible."""
    row = _impossible_family(network, row)
    observed = np.flatnonzero(row != MISSING).tolist()
    if len(observed) > _MAX_OBSERVED:
        return row
    for variable in observed:
        less = row.copy()
        less[variable] = MISSING
        if _is_impossible(network, less):
            row = less
    return row


def evidence_words(network: Network, row: NDArray[np.uint8]) -> str:
    """Return the evidence of a row as ``name=state, ...``."""
    evidence = (
        f"{name}={labels[code]}"
        for name, labels, code in zip(
            network.names, network.states, row.tolist(), strict=True
        )
        if code != MISSING
    )
    return listing(evidence, 5)


def _impossible_family(network: Network, row: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Keep a child and its parents alone where their table says zero outright."""
    card = network.card
    for child, parents in enumerate(network.dag.parents):
        family = [child, *parents]
        if (row[family] == MISSING).any():
            continue
        config, stride = 0, 1
        for parent in parents:
            config += stride * int(row[parent])
            stride *= int(card[parent])
        if network.cpts[child][config, row[child]] == 0:
            alone = np.full_like(row, MISSING)
            alone[family] = row[family]
            return alone
    return row


def _is_impossible(network: Network, row: NDArray[np.uint8]) -> bool:
    """Tell whether a row has probability zero; False where that is hard to tell."""
    flat = flatten(network.dag, network.cpts)
    holes = _core.Holes(
        flat.card,
        flat.parent_offsets,
        flat.parents,
        np.ascontiguousarray(row[:, None]),
        np.empty(0),
        np.zeros(network.n_vars, dtype=np.uint8),
    )
    if holes.size.total > _MAX_ENTRIES:
        return False
    return bool(np.isneginf(holes.log_evidence(flat.cpts, 1)[0]))
