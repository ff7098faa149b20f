"""How far probabilities are from the shares that come true, and how far by chance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["N_BINS", "calibration", "calibration_error", "error_by_chance"]

N_BINS = 10
"""Bins of probabilities, of equal width."""


def calibration(
    probabilities: NDArray[np.float64], is_right: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Count what probabilities say and what comes true, in bins of probabilities.

    Returns
    -------
    ndarray of shape (n_bins, 4)
        Cells, the sum of their probabilities, how many are right, and the variance of
        that number if probabilities were exact. They add up over samples.

    Examples
    --------
    >>> p = np.array([0.95, 0.95, 0.55, 0.55])
    >>> found = calibration(p, np.array([True, True, True, False]))
    >>> found[[5, 9]].round(3).tolist()
    [[2.0, 1.1, 1.0, 0.495], [2.0, 1.9, 2.0, 0.095]]
    """
    bins = np.minimum((probabilities * N_BINS).astype(int), N_BINS - 1)
    told = (
        np.ones(len(bins)),
        probabilities,
        is_right,
        probabilities * (1 - probabilities),
    )
    counts = [np.bincount(bins, np.asarray(x, float), minlength=N_BINS) for x in told]
    return np.stack(counts, axis=1)


def calibration_error(bins: NDArray[np.float64]) -> float:
    """Give the mean distance of probabilities from the shares that come true.

    Examples
    --------
    >>> p = np.array([0.95, 0.95, 0.55, 0.55])
    >>> round(calibration_error(calibration(p, np.array([True, True, True, False]))), 3)
    0.05
    """
    return float(np.abs(bins[:, 1] - bins[:, 2]).sum() / bins[:, 0].sum())


def error_by_chance(bins: NDArray[np.float64]) -> float:
    """Give the mean of `calibration_error` if probabilities were exact.

    The mean of the absolute value of what is normally distributed around 0 is its
    standard deviation times the root of 2 / pi.

    Examples
    --------
    >>> p = np.full(400, 0.5)
    >>> round(error_by_chance(calibration(p, p > 1)), 4)
    0.0199
    """
    deviations = np.sqrt(2 / np.pi * bins[:, 3])
    return float(deviations.sum() / bins[:, 0].sum())
