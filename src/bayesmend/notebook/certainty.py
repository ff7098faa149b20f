"""The least certain of many cells, those alike together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.cells import CompletedCell, CompletedCells

__all__ = ["AlikeCells", "least_certain"]

_SHOWN_ROWS = 6
_FEW = 10_000  # cells that are sorted in no time


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
    chosen = open_
    if len(open_) > _FEW:
        # Sorting the lower end is enough, unless few groups make it up.
        ours = measures[open_]
        chosen = open_[ours <= np.partition(ours, _FEW)[_FEW]]
    groups = _grouped(cells, measures, chosen, n)
    if len(groups) < n:
        groups = _grouped(cells, measures, open_, n)
    alike = [
        AlikeCells(
            cells[int(members[0])],
            float(measures[members[0]]),
            cells.rows[members[:_SHOWN_ROWS]].tolist(),
            len(members),
        )
        for members in groups
    ]
    return alike, len(open_) - sum(group.n_cells for group in alike)


def _grouped(
    cells: CompletedCells,
    measures: NDArray[np.float64],
    chosen: NDArray[np.intp],
    n: int,
) -> list[NDArray[np.intp]]:
    """Split some cells into those alike, by their measure first; return the first n."""
    told: list[NDArray[Any]] = [
        measures,
        cells.variables,
        cells.codes,
        cells.runners_up,
    ]
    if cells.supported is not None:
        told.append(cells.supported)
    keys = np.stack([values[chosen].astype(float) for values in told])
    order = np.lexsort(keys[::-1])  # rows as they were
    keys = keys[:, order]
    starts = np.flatnonzero((keys[:, 1:] != keys[:, :-1]).any(axis=0)) + 1
    return np.split(chosen[order], starts[:n])[:n]
