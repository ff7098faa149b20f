"""The mean of the members' distributions, and how far it is settled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Average"]


class Average:
    """A running mean of vectors of probabilities, and its standard error.

    It takes twice the memory of one vector, however many there are.

    Examples
    --------
    >>> average = Average()
    >>> for p in ([0.2, 0.8], [0.4, 0.6]):
    ...     average.add(np.array(p))
    >>> average.mean.round(3).tolist(), round(average.error, 3)
    ([0.3, 0.7], 0.1)
    """

    def __init__(self) -> None:
        self.n = 0
        self.mean: NDArray[np.float64] = np.empty(0)
        self._squares: NDArray[np.float64] = np.empty(0)

    def add(self, probabilities: NDArray[np.float64]) -> None:
        """Take one more vector into the mean."""
        if not self.n:
            self.mean = np.zeros_like(probabilities)
            self._squares = np.zeros_like(probabilities)
        self.n += 1
        off = probabilities - self.mean
        self.mean += off / self.n
        self._squares += off * (probabilities - self.mean)

    @property
    def error(self) -> float:
        """Standard error of the mean, root mean square over its entries."""
        if self.n < 2 or not self.mean.size:
            return float("inf")  # of nothing, nothing is known
        return float(np.sqrt(self._squares.mean() / (self.n - 1) / self.n))
