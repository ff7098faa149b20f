"""Weights of several ways to answer, learned from cells that none of them has seen.

Stacking (Wolpert 1992): of all weighted means of what each kind says of the hidden
cells, take the one that gives the truth the highest likelihood. That is a concave
problem, and expectation-maximisation climbs to its only top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData

__all__ = ["HeldOut", "hold_out", "stack"]

# Of the observed cells, how many are hidden; fewer than the least of them tell nothing.
_SHARE, _LEAST = 0.1, 30
# A cell for each kind beforehand, so that few cells do not leave one kind alone.
_PRIOR = 1.0
_MAX_ITER, _TOL = 1000, 1e-6
# A kind with a smaller weight is not worth its time.
_NEGLIGIBLE = 0.02


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class HeldOut:
    """A table with some more cells hidden, and what was in them.

    Parameters
    ----------
    data : IncompleteData
        The table without them.
    entries : ndarray of shape (n_cells,)
        Where the probability of what was in each of them lies, in the distributions of
        all missing cells: variable by variable, the rows ascending.
    weights : ndarray of shape (n_cells,)
        Of their rows.
    """

    data: IncompleteData
    entries: NDArray[np.intp]
    weights: NDArray[np.float64]

    def log_likelihood(self, p: NDArray[np.float64]) -> float:
        """Return the mean log-probability of what was in the cells."""
        return float(self.weights @ np.log(p) / self.weights.sum())


def hold_out(data: IncompleteData, generator: np.random.Generator) -> HeldOut | None:
    """Hide a tenth of the observed cells at random; None where there are too few.

    Examples
    --------
    >>> data = IncompleteData.from_table({"a": ["x", "y"] * 300})
    >>> held = hold_out(data, np.random.default_rng(1))
    >>> held.data.n_missing, len(held.entries)
    (60, 60)
    """
    observed = ~data.missing_mask
    if data.weights is not None:
        observed &= data.weights[:, None] > 0
    cells = np.flatnonzero(observed.T)  # variable by variable
    n_hidden = round(_SHARE * len(cells))
    if n_hidden < _LEAST:
        return None
    chosen = np.sort(generator.choice(cells, n_hidden, replace=False))
    variables, rows = np.divmod(chosen, data.n_rows)
    codes = data.codes.copy(order="F")
    truth = codes[rows, variables].astype(np.intp)
    codes[rows, variables] = MISSING
    weights = np.ones(n_hidden) if data.weights is None else data.weights[rows]
    hidden = data.with_codes(codes)
    return HeldOut(hidden, _starts(hidden)[chosen] + truth, weights)


def _starts(data: IncompleteData) -> NDArray[np.intp]:
    """Return where the distribution of each cell begins, variable by variable."""
    sizes = data.missing_mask.T * data.card[:, None].astype(np.intp)
    ends: NDArray[np.intp] = np.cumsum(sizes.ravel())
    return ends - sizes.ravel()


def stack(
    probabilities: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the weight of each kind, given what it says of the truth of each cell.

    Parameters
    ----------
    probabilities : ndarray of shape (n_kinds, n_cells)
        Of what was in the cells.
    weights : ndarray of shape (n_cells,)
        How much each cell counts.

    Examples
    --------
    >>> p = np.array([[0.9] * 50, [0.5] * 50])
    >>> stack(p, np.ones(50)).round(1).tolist()
    [1.0, 0.0]
    """
    n_kinds = len(probabilities)
    shares = np.full(n_kinds, 1 / n_kinds)
    for _ in range(_MAX_ITER):
        joint = shares[:, None] * probabilities
        counts = (joint / joint.sum(axis=0)) @ weights + _PRIOR
        new = counts / counts.sum()
        is_close = np.abs(new - shares).max() < _TOL
        shares = new
        if is_close:
            break
    kept: NDArray[np.float64] = np.where(shares < _NEGLIGIBLE, 0.0, shares)
    return kept / float(kept.sum())
