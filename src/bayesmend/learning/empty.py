"""Rows in which nothing is observed: learned from, but left as they are."""

from dataclasses import replace

import numpy as np

from bayesmend.data.states import MISSING
from bayesmend.learning.result import LearnResult

__all__ = ["leave_empty_rows"]


def leave_empty_rows(result: LearnResult) -> LearnResult:
    """Make rows missing again in which every cell was mended.

    Examples
    --------
    >>> import bayesmend as bm
    >>> table = {"a": ["x", None, "y"] * 5, "b": ["u", None, "v"] * 5}
    >>> result = bm.learn_em(table, seed=1)
    >>> result.completed.n_missing, leave_empty_rows(result).completed.n_missing
    (0, 10)
    """
    cells, data = result.cells, result.completed
    is_empty = np.bincount(cells.rows, minlength=data.n_rows) == data.n_vars
    if not is_empty.any():
        return result
    codes = data.codes.copy(order="F")
    codes[is_empty] = MISSING
    codes.flags.writeable = False
    return replace(
        result, completed=data.with_codes(codes), cells=cells[~is_empty[cells.rows]]
    )
