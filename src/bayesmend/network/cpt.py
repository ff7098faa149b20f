"""Conditional probability tables as arrays.

A table has one row per parent configuration and one column per state of the child; the
first parent varies fastest along the rows.
"""

from collections.abc import Sequence
from typing import Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend._checks import check_choice, check_goes_with, check_number
from bayesmend.errors import DataError

__all__ = [
    "MAX_ROW_ERROR",
    "Estimate",
    "check_cpt",
    "distributions",
    "fold",
    "prior_of",
    "unfold",
]

Estimate = Literal["mle", "posterior"]
ESTIMATES = get_args(Estimate)
_T = TypeVar("_T", bound=np.generic)

MAX_ROW_ERROR = 1e-6  # a row sum further from 1 is an error, not rounding
EXACT = 1e-12  # a row sum nearer to 1 is left as it is, so that files read back equal


def check_cpt(
    name: str, cpt: ArrayLike, n_configs: int, card: int
) -> NDArray[np.float64]:
    """Return a read-only copy of a table whose rows are distributions.

    Rows whose sum is off by rounding (at most 1e-6) are divided by it.
    """
    try:
        table = np.array(cpt, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        msg = f"the table of {name!r} must be an array of numbers."
        raise DataError(msg) from None
    if table.shape != (n_configs, card):
        msg = (
            f"the table of {name!r} must have shape ({n_configs}, {card}): a row per "
            f"configuration of its parents, a column per state. "
            f"Got shape {table.shape} instead."
        )
        raise DataError(msg)
    is_bad = ~np.isfinite(table) | (table < 0)
    if is_bad.any():
        row, column = np.argwhere(is_bad)[0].tolist()
        msg = (
            f"the table of {name!r} must hold numbers >= 0. Got "
            f"{table[row, column]} in row {row}, column {column} instead."
        )
        raise DataError(msg)
    sums = table.sum(axis=1)
    errors = np.abs(sums - 1)
    if errors.max(initial=0) > MAX_ROW_ERROR:
        row = int(errors.argmax())
        msg = (
            f"each row of the table of {name!r} must sum to 1. "
            f"Row {row} sums to {float(sums[row])!r} instead."
        )
        raise DataError(msg)
    is_rounded = errors > EXACT
    table[is_rounded] /= sums[is_rounded, None]
    table.setflags(write=False)
    return table


def unfold(cpt: NDArray[_T], parent_card: Sequence[int]) -> NDArray[_T]:
    """Give a table an axis per parent, in order, and a last one for the child.

    Examples
    --------
    >>> cpt = np.arange(12).reshape(6, 2)
    >>> unfold(cpt, [2, 3])[1, 2].tolist() == cpt[1 + 2 * 2].tolist()
    True
    """
    n_parents = len(parent_card)
    table = cpt.reshape((*reversed(parent_card), cpt.shape[1]))
    return table.transpose((*reversed(range(n_parents)), n_parents))


def fold(table: NDArray[_T]) -> NDArray[_T]:
    """Undo :func:`unfold`: one row per parent configuration."""
    n_parents = table.ndim - 1
    rows = table.transpose((*reversed(range(n_parents)), n_parents))
    return np.ascontiguousarray(rows).reshape(-1, table.shape[-1])


def prior_of(estimate: str, ess: float | None) -> float:
    """Return the equivalent sample size behind an estimate, "mle" or "posterior".

    Examples
    --------
    >>> prior_of("mle", None), prior_of("posterior", None), prior_of("posterior", 2)
    (0.0, 1.0, 2.0)
    """
    check_choice("estimate", estimate, ESTIMATES)
    if ess is None:
        return 0.0 if estimate == "mle" else 1.0
    check_goes_with("ess", ess, "estimate", estimate, ("posterior",))
    return check_number("ess", ess, above=0, finite=True)


def distributions(counts: NDArray[np.float64], ess: float) -> NDArray[np.float64]:
    """Turn counts into distributions; uniform where there is nothing to go by.

    Examples
    --------
    >>> distributions(np.array([[1.0, 3.0], [0.0, 0.0]]), 0.0).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    counts = counts + ess / counts.size
    sums = counts.sum(axis=1, keepdims=True)
    uniform = np.full_like(counts, 1 / counts.shape[1])
    np.divide(counts, sums, out=uniform, where=sums > 0)
    return uniform
