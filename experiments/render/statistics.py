"""Is one method better than another: paired t-test, sign test, intervals of means."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend.errors import ParameterError
from experiments.packages import need

__all__ = [
    "MeanInterval",
    "PairedT",
    "SignTest",
    "mean_interval",
    "paired_t",
    "share_interval",
    "sign_test",
]

Floats = NDArray[np.float64]

_FEWEST = 3
"""The fewest values that have an interval."""


@dataclass(frozen=True, slots=True)
class PairedT:
    """Outcome of a paired, two-sided t-test.

    Attributes
    ----------
    n : int
        Number of pairs.
    mean_a, mean_b, mean_difference : float
        Means, and the mean of a - b.
    t : float
        The statistic; NaN when there is none.
    p_value : float
        NaN when no test is possible: fewer than two pairs, or all differences equal.
    note : str
        Why the p-value is NaN; empty otherwise.
    """

    n: int
    mean_a: float
    mean_b: float
    mean_difference: float
    t: float
    p_value: float
    note: str = ""

    def is_significant(self, level: float = 0.05) -> bool:
        """Tell whether the difference is significant; never without a p-value."""
        return self.p_value < level


@dataclass(frozen=True, slots=True)
class SignTest:
    """Outcome of an exact, two-sided sign test.

    Attributes
    ----------
    n : int
        Number of pairs, ties included.
    wins, losses, ties : int
        Pairs in which a is greater, smaller, equal.
    p_value : float
        Binomial probability of so uneven a split of wins and losses; NaN when all
        pairs are ties.
    note : str
        Why the p-value is NaN; empty otherwise.
    """

    n: int
    wins: int
    losses: int
    ties: int
    p_value: float
    note: str = ""

    def is_significant(self, level: float = 0.05) -> bool:
        """Tell whether the split is significant; never without a p-value."""
        return self.p_value < level


@dataclass(frozen=True, slots=True)
class MeanInterval:
    """A mean with its interval.

    Attributes
    ----------
    n : int
        Number of values.
    mean : float
        Their mean; NaN without any.
    low, high : float
        Ends of the interval; NaN with fewer than three values.
    level : float
        Its coverage.
    """

    n: int
    mean: float
    low: float
    high: float
    level: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2

    @property
    def is_symmetric(self) -> bool:
        """Whether the mean lies in the middle, up to rounding."""
        off = abs(self.high + self.low - 2 * self.mean)
        return off <= 1e-9 * max(1.0, abs(self.mean))


def paired_t(a: ArrayLike, b: ArrayLike) -> PairedT:
    """Test whether paired values differ in the mean.

    Parameters
    ----------
    a, b : array of shape (n_pairs,)
        The two values of each pair, finite.

    Returns
    -------
    PairedT
        Means, statistic and two-sided p-value.

    Examples
    --------
    >>> test = paired_t([0.9, 0.8, 0.7], [0.8, 0.6, 0.4])
    >>> round(test.t, 3), round(test.p_value, 3)
    (3.464, 0.074)
    >>> paired_t([0.9], [0.8]).note
    'one pair: no test is possible'
    """
    a, b = _pairs(a, b)
    difference = a - b
    n = len(difference)
    mean = _mean(difference)
    means = (n, _mean(a), _mean(b), mean)
    nan = float("nan")
    if n < 2:
        count = ("no", "one")[n]
        return PairedT(*means, nan, nan, f"{count} pair: no test is possible")
    error = float(difference.std(ddof=1)) / n**0.5
    # Equal differences come out of the subtraction with rounding.
    scale = float(np.abs([a, b]).max())
    if error <= 1e-14 * scale:
        # Without a spread there is nothing to measure a difference by, however large.
        value = "0" if abs(mean) <= 1e-14 * scale else "equal"
        note = f"all differences are {value}: no test is possible"
        return PairedT(*means, nan, nan, note)
    t = mean / error
    p_value = 2 * float(need("scipy.special").stdtr(n - 1, -abs(t)))
    return PairedT(*means, t, p_value)


def sign_test(a: ArrayLike, b: ArrayLike) -> SignTest:
    """Test whether one of two paired values is greater more often than the other.

    Ties carry no sign: they are counted and left out.

    Parameters
    ----------
    a, b : array of shape (n_pairs,)
        The two values of each pair, finite.

    Returns
    -------
    SignTest
        Wins of a, losses, ties and the exact two-sided p-value.

    Examples
    --------
    >>> sign_test([3, 3, 3, 3, 3, 1], [1, 1, 1, 1, 1, 1])
    SignTest(n=6, wins=5, losses=0, ties=1, p_value=0.0625, note='')
    """
    a, b = _pairs(a, b)
    wins, losses = int(np.count_nonzero(a > b)), int(np.count_nonzero(a < b))
    ties = len(a) - wins - losses
    if wins + losses == 0:
        note = "no pair differs: no test is possible"
        return SignTest(len(a), wins, losses, ties, float("nan"), note)
    tail = need("scipy.special").bdtr(min(wins, losses), wins + losses, 0.5)
    return SignTest(len(a), wins, losses, ties, min(1.0, 2 * float(tail)))


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
        return MeanInterval(n, mean, float("nan"), float("nan"), level)
    quantile = float(need("scipy.special").stdtrit(n - 1, (1 + level) / 2))
    half = quantile * float(values.std(ddof=1)) / n**0.5
    low, high = mean - half, mean + half
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return MeanInterval(n, mean, low, high, level)


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
        return MeanInterval(n, mean, float("nan"), float("nan"), level)
    quantile, tail = need("scipy.special").betaincinv, (1 - level) / 2
    low, high = 0.0, 1.0
    if successes > 0:
        low = float(quantile(successes, n - successes + 1, tail))
    if successes < n:
        high = float(quantile(successes + 1, n - successes, 1 - tail))
    return MeanInterval(n, mean, low, high, level)


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
    return float(values.mean()) if len(values) else float("nan")
