"""The least certain of many cells, those alike together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayesmend.data.cells import CompletedCell, CompletedCells

__all__ = ["AlikeCells", "least_certain"]

_SHOWN_ROWS = 6


@dataclass(frozen=True, slots=True)
class AlikeCells:
    """Completed cells that differ in nothing but the row.

    Parameters
    ----------
    cell : CompletedCell
        The first of them.
    measure : float
        Its margin or its probability.
    rows : list of int
        The first few rows.
    n_cells : int
        How many cells there are.
    """

    cell: CompletedCell
    measure: float
    rows: list[int]
    n_cells: int

    def rows_in_words(self) -> str:
        """List the first rows, and how many follow."""
        n_left = self.n_cells - len(self.rows)
        return ", ".join(map(str, self.rows)) + f" and {n_left:,} more" * (n_left > 0)


def least_certain(cells: CompletedCells, n: int) -> tuple[list[AlikeCells], int]:
    """Return the n least certain groups of cells, and how many cells are left.

    Cells of variables with a single state are certain, and do not count.

    Examples
    --------
    >>> import bayesmend as bm
    >>> table = {"a": list("xxyyxx"), "b": ["u", "u", "v", "v", None, None]}
    >>> (alike,), n_left = least_certain(bm.learn(table).cells, 5)
    >>> alike.cell.state, alike.n_cells, alike.rows, n_left
    ('u', 2, [4, 5], 0)
    """
    open_ = np.flatnonzero(cells.codes != cells.runners_up)
    measures = cells.margins if cells.probabilities is None else cells.probabilities
    if measures is None or not len(open_):
        return [], len(open_)
    supported = cells.supported
    keys = np.stack(
        [
            measures[open_],
            cells.variables[open_].astype(float),
            cells.codes[open_].astype(float),
            cells.runners_up[open_].astype(float),
            np.zeros(len(open_))
            if supported is None
            else supported[open_].astype(float),
        ]
    )
    order = np.lexsort(keys[::-1])  # by the measure first; rows as they were
    keys = keys[:, order]
    starts = np.flatnonzero(np.r_[True, (keys[:, 1:] != keys[:, :-1]).any(axis=0)])
    ends = np.r_[starts[1:], len(open_)]
    alike = []
    for start, end in zip(starts[:n].tolist(), ends[:n].tolist(), strict=True):
        members = open_[order[start:end]]
        alike.append(
            AlikeCells(
                cells[int(members[0])],
                float(measures[members[0]]),
                cells.rows[members[:_SHOWN_ROWS]].tolist(),
                end - start,
            )
        )
    n_shown = int(ends[min(n, len(ends)) - 1])
    return alike, len(open_) - n_shown
