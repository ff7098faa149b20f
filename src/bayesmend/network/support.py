"""Of which cells of its tables a network has seen an example.

A cell is a parent configuration with a state of the child. An example is a row of the
table learned from in which child and parents are all observed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend.data.states import MISSING
from bayesmend.errors import DataError

__all__ = ["cell_numbers", "check_support", "is_supported"]


def check_support(
    names: Sequence[str],
    support: Sequence[ArrayLike],
    cpts: Sequence[NDArray[np.float64]],
) -> tuple[NDArray[np.bool_], ...]:
    """Return read-only copies of the tables of support, shaped as the probabilities."""
    if len(support) != len(cpts):
        msg = (
            f"support must have one entry per variable ({len(cpts)}). "
            f"Got {len(support)} instead."
        )
        raise DataError(msg)
    tables = []
    for name, given, cpt in zip(names, support, cpts, strict=True):
        table = np.array(given)
        if table.shape != cpt.shape or table.dtype != bool:
            msg = (
                f"the support of {name!r} must be truth values of shape {cpt.shape}, "
                f"as its table. Got {table.dtype} of shape {table.shape} instead."
            )
            raise DataError(msg)
        table.setflags(write=False)
        tables.append(table)
    return tuple(tables)


def cell_numbers(
    cells: NDArray[np.uint8],
    card: NDArray[np.int32],
    child: int,
    parents: Sequence[int],
) -> NDArray[np.int64]:
    """Return where each row lies in the table of a family, counted along its rows.

    ``cells`` has shape (n_vars, n_rows); -1 where a member of the family is missing.

    Examples
    --------
    >>> cells = np.array([[0, 1, 1], [2, 0, MISSING]], np.uint8)
    >>> cell_numbers(cells, np.array([2, 3], np.int32), 1, (0,)).tolist()
    [2, 3, -1]
    """
    numbers = np.zeros(cells.shape[1], np.int64)
    for member in (*reversed(parents), child):  # the first parent varies fastest
        numbers = numbers * int(card[member]) + cells[member]
    numbers[(cells[[child, *parents]] == MISSING).any(axis=0)] = -1
    return numbers


def is_supported(
    support: Sequence[NDArray[np.bool_]],
    card: NDArray[np.int32],
    parents: Sequence[Sequence[int]],
    cells: NDArray[np.uint8],
) -> NDArray[np.bool_]:
    """Tell of every cell of a table whether examples stand behind it.

    They do when every family that contains the variable, its own and those of its
    children, has an example of what the row shows.

    Parameters
    ----------
    support : sequence of ndarray
        Per variable, of which cells of its table there is an example.
    card : ndarray
        Numbers of states.
    parents : sequence of sequence of int
        The parents of each variable.
    cells : ndarray of shape (n_vars, n_rows)
        The table, one variable after the other; what is still missing has no support.

    Returns
    -------
    ndarray of shape (n_vars, n_rows)
    """
    result = np.ones(cells.shape, bool)
    for child, members in enumerate(parents):
        numbers = cell_numbers(cells, card, child, members)
        has_example = support[child].ravel()[numbers] & (numbers >= 0)
        result[[child, *members]] &= has_example
    return result
