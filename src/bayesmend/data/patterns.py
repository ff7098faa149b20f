"""Distinct rows of a table, with their multiplicities and missing cells.

Made by ``IncompleteData.patterns``; what is here sees codes only.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._copies import frozen_in_copies
from bayesmend.data.states import MISSING


@frozen_in_copies
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Patterns:
    """The distinct rows of a table, in order of first occurrence.

    Parameters
    ----------
    codes : ndarray of shape (n_patterns, n_vars)
        ``uint8`` codes of the distinct rows, 255 where missing, in Fortran order.
    counts : ndarray of shape (n_patterns,)
        How many rows are equal to each.
    weights : ndarray of shape (n_patterns,)
        Sum of the weights of these rows; the counts when rows have no weights.
    inverse : ndarray of shape (n_rows,)
        Which pattern each row is.

    Examples
    --------
    >>> from bayesmend import IncompleteData
    >>> table = {"a": ["x", None, "x", None], "b": ["u", "v", "u", None]}
    >>> patterns = IncompleteData.from_table(table, columns=["a", "b"]).patterns()
    >>> patterns
    Patterns(3 distinct rows of 4: 1 complete, 2 incomplete)
    >>> patterns.codes.tolist()
    [[0, 0], [255, 1], [255, 255]]
    >>> patterns.counts.tolist()
    [2, 1, 1]
    >>> [patterns.missing(k) for k in patterns.incomplete]
    [(0,), (0, 1)]
    """

    codes: NDArray[np.uint8]
    counts: NDArray[np.int64]
    weights: NDArray[np.float64]
    inverse: NDArray[np.int64]

    @property
    def n_patterns(self) -> int:
        """Number of distinct rows."""
        return int(self.codes.shape[0])

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of every distinct row."""
        n_missing: NDArray[np.int64] = np.sum(self.codes == MISSING, axis=1)
        return n_missing

    @property
    def complete(self) -> NDArray[np.intp]:
        """Positions of the distinct rows without a missing cell."""
        return np.flatnonzero(self.n_missing == 0)

    @property
    def incomplete(self) -> NDArray[np.intp]:
        """Positions of the distinct rows with a missing cell."""
        return np.flatnonzero(self.n_missing)

    def missing(self, pattern: int) -> tuple[int, ...]:
        """Return the variables that are missing in a distinct row."""
        missing = np.flatnonzero(self.codes[pattern] == MISSING)
        return tuple(missing.tolist())

    def __repr__(self) -> str:
        n_complete = len(self.complete)
        return (
            f"Patterns({self.n_patterns:,} distinct rows of {len(self.inverse):,}:"
            f" {n_complete:,} complete, {self.n_patterns - n_complete:,} incomplete)"
        )


def find_patterns(
    codes: NDArray[np.uint8], weights: NDArray[np.float64] | None
) -> Patterns:
    """Return the distinct rows of a coded table."""
    found = _core.distinct_rows(np.ascontiguousarray(codes.T))
    first, counts, inverse = found.first, found.count, found.inverse
    summed = counts.astype(np.float64)
    if weights is not None:
        summed = np.bincount(inverse, weights, len(first)).astype(np.float64)
    distinct = np.asfortranarray(codes[first])
    for array in (distinct, counts, summed, inverse):
        array.flags.writeable = False
    return Patterns(distinct, counts, summed, inverse)
