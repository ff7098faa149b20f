"""What is missing in a table: shares, what is missing together, and a map."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData
from bayesmend.drawing.text import cut, escape
from bayesmend.learning.result import LearnResult
from bayesmend.report.tables import bar, table

__all__ = ["draw_missing", "missing_table", "together_table"]

_MOST_VARIABLES = 60  # of the map
_MOST_SETS, _MOST_NAMES = 10, 12
_MOST_LINES = 160  # rows of the map
_CELL, _LINE, _TOP = 16.0, 2.5, 4.0  # pixels


def missing_table(observed: IncompleteData, result: LearnResult) -> str:
    """Tabulate how much is missing of each variable, and what it was mended as."""
    cells = result.cells
    n_missing = observed.missing_mask.sum(axis=0)
    rows = []
    for v in np.argsort(-n_missing, kind="stable").tolist():
        n = int(n_missing[v])
        if n == 0:
            break
        codes = cells.codes[cells.variables == v]
        counts = np.bincount(codes, minlength=len(observed.states[v])).tolist()
        pairs = zip(observed.states[v], counts, strict=True)
        filled = [f"{escape(state)} <b>{k:,}</b>" for state, k in pairs if k]
        share = n / observed.n_rows
        rows.append(
            f"<tr><td>{escape(observed.names[v])}</td>"
            f'<td {bar(share)}>{share:.1%}</td><td class="n">{n:,}</td>'
            f"<td>{', '.join(filled) or 'left missing'}</td></tr>"
        )
    head = (
        '<tr><th>variable</th><th class="n">missing</th><th class="n">cells</th>'
        "<th>mended as</th></tr>"
    )
    return table(head, rows, "Missing cells by variable")


def together_table(observed: IncompleteData) -> str:
    """Tabulate which variables are missing together, in the same rows."""
    found = observed.summary().missing_together
    several = [them for them in found if len(them.missing) > 1][:_MOST_SETS]
    if not several:
        return '<p class="note">No row lacks more than one variable.</p>'
    rows = []
    for them in several:
        names = [escape(name) for name in them.missing[:_MOST_NAMES]]
        n_left = len(them.missing) - len(names)
        more = f" and {n_left:,} more" if n_left else ""
        share = them.n_rows / observed.n_rows
        rows.append(
            f'<tr><td class="n">{them.n_rows:,}</td>'
            f"<td {bar(share)}>{share:.1%}</td>"
            f"<td>{', '.join(names)}{more}</td></tr>"
        )
    head = (
        '<tr><th class="n">rows</th><th class="n">of all</th>'
        "<th>lack exactly these</th></tr>"
    )
    return table(head, rows, "Variables that are missing together")


def draw_missing(observed: IncompleteData) -> str:
    """Draw where cells are missing: variables across, rows down.

    Examples
    --------
    >>> data = IncompleteData.from_table({"a": ["x", None, "y"], "b": [1, 2, 1]})
    >>> svg = draw_missing(data)
    >>> svg.count("<path"), svg.count("<text"), "1 of 3 rows" in svg
    (1, 1, False)
    """
    mask = observed.missing_mask
    n_missing = mask.sum(axis=0)
    order = np.argsort(-n_missing, kind="stable")
    chosen = np.sort(order[: min(_MOST_VARIABLES, int((n_missing > 0).sum()))])
    if not len(chosen):
        return ""
    rows = _sampled(observed.n_rows)
    shown = mask[np.ix_(rows, chosen)]
    width, bottom = _CELL * len(chosen), _TOP + _LINE * len(rows)
    path = "".join(
        f"M{column * _CELL + 1:.0f},{_TOP + _LINE * start:.1f}"
        f"h{_CELL - 2:.0f}v{_LINE * length:.1f}h-{_CELL - 2:.0f}z"
        for column in range(len(chosen))
        for start, length in _runs(shown[:, column])
    )
    names = "".join(
        f'<text class="tick" transform="translate({_CELL * (k + 0.8):.0f} '
        f'{bottom + 8:.0f}) rotate(-55)" text-anchor="end">'
        f"{escape(cut(observed.names[v], 16))}</text>"
        for k, v in enumerate(chosen.tolist())
    )
    left, right, below = 64.0, 8.0, 84.0
    told = _told(observed, len(rows), len(chosen))
    return (
        f'<svg class="map" role="img" aria-label="{escape(told)}" '
        f'width="{left + width + right:.0f}" height="{bottom + below:.0f}" '
        f'viewBox="{-left:.0f} 0 {left + width + right:.0f} {bottom + below:.0f}">'
        f'<rect class="observed" x="0" y="{_TOP:.0f}" width="{width:.0f}" '
        f'height="{bottom - _TOP:.1f}"/><path class="missing" d="{path}"/>{names}</svg>'
        f'<p class="note">{escape(told)}</p>'
    )


def _told(observed: IncompleteData, n_rows: int, n_vars: int) -> str:
    rows = quantity(observed.n_rows, "row")
    if n_rows < observed.n_rows:
        rows = f"{n_rows:,} of {rows}, evenly spaced"
    every = int((observed.missing_mask.sum(axis=0) > 0).sum())
    which = "variables with missing cells"
    if n_vars < every:
        which = f"{n_vars:,} of {every:,} {which}, those with most"
    return f"Missing cells, dark: {rows} from top to bottom; {which}."


def _sampled(n_rows: int) -> NDArray[np.intp]:
    n = min(n_rows, _MOST_LINES)
    return np.arange(n) * n_rows // max(n, 1)


def _runs(column: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Give start and length of each run of missing cells."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], column, [0]])))
    for start, end in edges.reshape(-1, 2).tolist():
        yield start, end - start
