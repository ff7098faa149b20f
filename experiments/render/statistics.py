"""Is one method better than another: paired t-test, sign test, intervals of means.

The numbers are those of ``scipy.stats``; without enough values to tell they are NaN.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend.errors import ParameterError
from experiments.packages import need

__all__ = [
    "MeanInterval",
    "PairedTests",
    "mean_interval",
    "paired_tests",
    "share_interval",
]

Floats = NDArray[np.float64]

_FEWEST = 3
"""The fewest values that have an interval."""
_NAN = float("nan")


@dataclass(frozen=True, slots=True)
class PairedTests:
    """Paired t-test and exact sign test, both two-sided, of values a and b."""

    n: int
    mean_difference: float
    """Of a - b."""
    t: float
    p_t: float
    """NaN when no test is possible: fewer than two pairs, or all differences equal."""
    wins: int
    """Pairs in which a is greater."""
    losses: int
    ties: int
    p_sign: float
    """Binomial probability of so uneven a split of wins and losses; NaN when all pairs
    are ties."""


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean with its interval, whose ends are NaN with fewer than three values."""

    n: int
    mean: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def is_symmetric(self) -> bool:
        """Whether the mean lies in the middle, up to rounding."""
        off = abs(self.high + self.low - 2 * self.mean)
        return off <= 1e-9 * max(1.0, abs(self.mean))


def paired_tests(a: ArrayLike, b: ArrayLike) -> PairedTests:
    """Test whether paired values differ in the mean, and in one direction more often.

    Examples
    --------
    >>> found = paired_tests([0.9, 0.8, 0.7, 0.3], [0.8, 0.6, 0.4, 0.3])
    >>> round(found.t, 3), round(found.p_t, 3)
    (2.324, 0.103)
    >>> found.wins, found.losses, found.ties, found.p_sign
    (3, 0, 1, 0.25)
    """
    a, b = _pairs(a, b)
    wins, losses = int(np.count_nonzero(a > b)), int(np.count_nonzero(a < b))
    # Ties carry no sign: they are counted and left out.
    p_sign = _NAN
    if wins + losses:
        p_sign = float(need("scipy.stats").binomtest(wins, wins + losses).pvalue)
    t, p_t = _paired_t(a, b)
    ties = len(a) - wins - losses
    return PairedTests(len(a), _mean(a - b), t, p_t, wins, losses, ties, p_sign)


def _paired_t(a: Floats, b: Floats) -> tuple[float, float]:
    # Without a spread there is nothing to measure a difference by, however large; equal
    # differences come out of the subtraction with rounding.
    if len(a) < 2 or _error(a - b) <= 1e-14 * np.abs([a, b]).max():
        return _NAN, _NAN
    found = need("scipy.stats").ttest_rel(a, b)
    return float(found.statistic), float(found.pvalue)


def mean_interval(
    x: ArrayLike, level: float = 0.95, limits: tuple[float, float] | None = None
) -> MeanInterval:
    """Return the mean of values and the interval that covers it by the t distribution.

    Parameters
    ----------
    x : array of shape (n_values,)
        Finite values.
    level : float, default=0.95
        Coverage, between 0 and 1.
    limits : tuple of float, optional
        Between which all values lie; the interval ends there.

    Returns
    -------
    MeanInterval
        With ends NaN when there are fewer than three values: an interval of two spans
        six times their distance at either side.

    Examples
    --------
    >>> found = mean_interval([1.0, 2.0, 3.0])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, -0.484, 4.484)
    """
    _check_level(level)
    values = _finite("x", x)
    n, mean = len(values), _mean(values)
    if n < _FEWEST:
        return MeanInterval(n, mean, _NAN, _NAN)
    quantile = need("scipy.stats").t.ppf((1 + level) / 2, n - 1)
    half = float(quantile) * _error(values)
    lowest, highest = limits or (-np.inf, np.inf)
    return MeanInterval(n, mean, max(mean - half, lowest), min(mean + half, highest))


def share_interval(x: ArrayLike, level: float = 0.95) -> MeanInterval:
    """Return a share of successes with the interval of Clopper and Pearson.

    Parameters
    ----------
    x : array of shape (n_values,)
        1 for a success, 0 for a failure. A share in between (of the runs of one
        repetition) counts as so much of a success: the interval is then wider than it
        need be, as if these runs always succeeded or failed together.
    level : float, default=0.95
        Coverage at the least, between 0 and 1.

    Returns
    -------
    MeanInterval
        With ends NaN when there are fewer than three values.

    Examples
    --------
    >>> found = share_interval([1.0] * 10)
    >>> found.mean, round(found.low, 4), found.high
    (1.0, 0.6915, 1.0)
    """
    _check_level(level)
    values = _finite("x", x)
    if ((values < 0) | (values > 1)).any():
        message = "x must hold shares from 0 to 1. Leave out what is none."
        raise ParameterError(message)
    n, mean, successes = len(values), _mean(values), float(values.sum())
    if n < _FEWEST:
        return MeanInterval(n, mean, _NAN, _NAN)
    # Not that of scipy's binomial test, which takes whole successes only.
    beta, tail = need("scipy.stats").beta, (1 - level) / 2
    low, high = 0.0, 1.0
    if successes > 0:
        low = float(beta.ppf(tail, successes, n - successes + 1))
    if successes < n:
        high = float(beta.ppf(1 - tail, successes + 1, n - successes))
    return MeanInterval(n, mean, low, high)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        message = f"level must lie between 0 and 1. Got {level!r} instead."
        raise ParameterError(message)


def _pairs(a: ArrayLike, b: ArrayLike) -> tuple[Floats, Floats]:
    first, second = _finite("a", a), _finite("b", b)
    if len(first) != len(second):
        message = (
            f"a and b must be paired, but a has {len(first)} values and b has "
            f"{len(second)}. Pass the values of the same runs."
        )
        raise ParameterError(message)
    return first, second


def _finite(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all():
        message = (
            f"{name} must be a list of finite numbers. Leave out runs that have none."
        )
        raise ParameterError(message)
    return array


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else _NAN


def _error(values: Floats) -> float:
    """Give the standard error of a mean; scipy's is slow for thousands of them."""
    return float(values.std(ddof=1) / np.sqrt(len(values)))
