"""What the scripts of the page are given: network, mended cells and their rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._formulas import as_field
from bayesmend.data.mended import MendedSummary
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.result import LearnResult
from bayesmend.network.support import cell_numbers
from bayesmend.score import Families, FamilyScorer
from bayesmend.view import ArcNote, VariableNote, describe, pack, plain

__all__ = ["contents_of", "network_of"]

_MOST_RECORDS = 3_000_000  # cells of rows that the page holds


def contents_of(result: LearnResult, mended: MendedSummary) -> dict[str, Any]:
    """Return what the page of a result shows and asks, ready for JSON."""
    network = result.network
    contents: dict[str, Any] = {
        "network": network_of(result, mended),
        "isEnsemble": isinstance(result, Ensemble),
    }
    if len(result.cells):
        contents["cells"] = _cells(result)
    if network.mechanism is not None:
        whole = network.with_indicators()
        contents["mechanism"] = {
            "of": [network.names.index(name) for name in network.mechanism.variables],
            "card": whole.card.tolist(),
            "parents": [list(members) for members in whole.dag.parents],
            "cpts": pack(np.concatenate([cpt.ravel() for cpt in whole.cpts]), "f8"),
        }
    return contents


def network_of(
    result: LearnResult, mended: MendedSummary | None = None
) -> dict[str, Any]:
    """Return the network of a result, and what is known of its variables and arcs.

    What `mended` says is computed unless it is given.

    Examples
    --------
    >>> import bayesmend as bm
    >>> result = bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}, seed=1)
    >>> note = network_of(result)["notes"][1]
    >>> note["observed"], note["mended"]
    ([1, 2], [1, 0])
    """
    alarms = (result.mended if mended is None else mended).alarms
    return describe(
        result.network,
        variables=_variables(result, result.incomplete, alarms),
        arcs=_arcs(result),
    )


def _variables(
    result: LearnResult, observed: IncompleteData, alarms: Sequence[str]
) -> dict[str, VariableNote]:
    """Count states and parent configurations, of what was observed."""
    data, dag = result.completed, result.dag
    cells = np.ascontiguousarray(observed.codes.T)
    filled = result.cells
    notes = {}
    for v, name in enumerate(dag.names):
        r = int(data.card[v])
        seen = observed.codes[:, v]
        numbers = cell_numbers(cells, data.card, v, dag.parents[v])
        n_entries = result.network.cpts[v].size
        counts = np.bincount(numbers[numbers >= 0], minlength=n_entries)
        notes[name] = VariableNote(
            np.bincount(seen[seen != MISSING], minlength=r).tolist(),
            np.bincount(filled.codes[filled.variables == v], minlength=r).tolist(),
            counts.reshape(-1, r).sum(axis=1),
            is_alarm=name in alarms,
        )
    return notes


def _arcs(result: LearnResult) -> dict[tuple[str, str], ArcNote]:
    """Tell what each arc gains, and how many members of an ensemble have it."""
    dag = result.dag
    arcs = [(p, child) for child, members in enumerate(dag.parents) for p in members]
    gains = dict(zip(arcs, _gains(result, arcs), strict=True))
    found = result.arc_probabilities() if isinstance(result, Ensemble) else None
    notes = {}
    for parent, child in arcs:
        names = dag.names[parent], dag.names[child]
        known = None if found is None else found.arc(*names)
        notes[names] = ArcNote(
            gain=gains[parent, child],
            probability=None if known is None else known.probability,
            either=None if known is None else known.undirected,
        )
    return notes


def _gains(result: LearnResult, arcs: list[tuple[int, int]]) -> list[float]:
    """Return by how much the BDeu score of the completed table falls without an arc."""
    data = result.completed
    is_complete = (data.codes != MISSING).all(axis=1)
    if not arcs or not is_complete.any():
        return [0.0] * len(arcs)
    rows = data if is_complete.all() else data.pick(np.flatnonzero(is_complete))
    parents = result.dag.parents
    pairs = [(c, members) for c, members in enumerate(parents)]
    pairs += [(c, tuple(u for u in parents[c] if u != p)) for p, c in arcs]
    scores = FamilyScorer(rows).families(Families.from_pairs(pairs))
    whole, without = scores[: len(parents)], scores[len(parents) :]
    return [
        float(whole[c] - less)
        for (_, c), less in zip(arcs, without.tolist(), strict=True)
    ]


def _cells(result: LearnResult) -> dict[str, Any]:
    cells, data = result.cells, result.completed
    sure = cells.margins if cells.probabilities is None else cells.probabilities
    packed: dict[str, Any] = {
        "measure": cells.measure,
        "rows": pack(cells.rows, "i4"),
        "variables": pack(cells.variables, "u2"),
        "codes": pack(cells.codes, "u1"),
        "runners": pack(cells.runners_up, "u1"),
        "sure": pack(np.full(len(cells), np.nan) if sure is None else sure, "f8"),
        # What the command was told of formulas holds for the download, too.
        "safe": as_field("=") != "=",
    }
    if cells.supported is not None:
        packed["supported"] = pack(cells.supported, "u1")
    rows = _rows_kept(cells.rows, sure, data.n_vars)
    packed["records"] = {
        "rows": pack(rows, "i4"),
        "codes": pack(data.codes[rows], "u1"),
    }
    if cells.row_labels is not None:
        pairs = zip(cells.rows.tolist(), cells.row_labels.tolist(), strict=True)
        packed["labels"] = {str(row): plain(label) for row, label in pairs}
    return packed


def _rows_kept(
    rows: NDArray[np.intp], sure: NDArray[np.float64] | None, n_vars: int
) -> NDArray[np.intp]:
    """Return the rows that the page can hold: those of the least certain cells."""
    order = np.arange(len(rows)) if sure is None else np.argsort(sure, kind="stable")
    _, first = np.unique(rows[order], return_index=True)
    most = _MOST_RECORDS // max(n_vars, 1)
    return np.sort(rows[order][np.sort(first)[:most]])
