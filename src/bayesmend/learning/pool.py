"""Rubin's rules: one answer from the answers to several completed tables.

Beside the usual symbols: ``m`` is the number of tables, ``within`` the mean of their
variances (U), ``between`` the variance of their estimates (B), ``total`` the sum
``U + (1 + 1/m) B`` (T).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_number
from bayesmend._columns import in_columns
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend.errors import ParameterError

__all__ = ["Pooled", "pool"]

_SHOWN = 50


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Pooled(Shown):
    """Estimates pooled over completed tables; arrays have the shape of one estimate.

    Parameters
    ----------
    estimate, se : ndarray
        The pooled estimate, and its standard error.
    lower, upper : ndarray
        The interval that covers the truth with the probability `level`.
    df : ndarray
        Degrees of freedom of the t distribution it is made from.
    within, between, total : ndarray
        Variance within the tables, between them, and of the estimate.
    increase : ndarray
        Relative increase of the variance by the missing cells.
    fmi : ndarray
        Fraction of the information that is missing.
    level : float
        The probability.
    m : int
        Number of tables.
    """

    estimate: NDArray[np.float64]
    se: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    df: NDArray[np.float64]
    within: NDArray[np.float64]
    between: NDArray[np.float64]
    total: NDArray[np.float64]
    increase: NDArray[np.float64]
    fmi: NDArray[np.float64]
    level: float
    m: int

    @property
    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lower and the upper ends."""
        return self.lower, self.upper

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        names = ("estimate", "se", "lower", "upper", "df", "fmi")
        plain = {}
        for name in names:
            values = np.array(getattr(self, name), dtype=object)
            values[~np.isfinite(values.astype(float))] = None
            plain[name] = values.tolist()
        return {**plain, "level": self.level, "m": self.m}

    def __str__(self) -> str:
        rows = [("estimate", "se", "lower", "upper", "df", "fmi")]
        columns = [np.ravel(getattr(self, name))[:_SHOWN] for name in rows[0]]
        rows += [
            tuple(f"{value:.4g}" for value in line)  # type: ignore[misc]
            for line in zip(*columns, strict=True)
        ]
        left_out = np.size(self.estimate) - _SHOWN
        more = f"\n... and {left_out:,} more" if left_out > 0 else ""
        return "\n".join(in_columns(rows)) + more

    def __repr__(self) -> str:
        shape = np.shape(self.estimate)
        size = f"{shape[0]} estimates" if shape else "1 estimate"
        return f"Pooled({size}, m={self.m}, level={self.level:g})"


@entrance
def pool(
    estimates: Any,
    variances: Any,
    *,
    df: float | None = None,
    level: float = 0.95,
) -> Pooled:
    """Pool estimates from several completed tables by Rubin's rules.

    Parameters
    ----------
    estimates : array of shape (m,) or (m, ...)
        What was estimated from each of the m tables, at least two.
    variances : array of the same shape
        The squared standard error of each.
    df : float, optional
        Degrees of freedom that the estimate would have from a table without missing
        cells, say rows less coefficients (Barnard and Rubin 1999). Infinity by
        default, as for large tables (Rubin 1987).
    level : float, default=0.95
        Probability with which the interval covers the truth.

    Returns
    -------
    Pooled
        Estimate, standard error, interval, degrees of freedom and the fraction of
        missing information.

    Examples
    --------
    >>> pooled = pool([1.0, 1.2, 0.8], [0.04, 0.05, 0.06], df=97)
    >>> print(pooled)
    estimate  se      lower   upper  df     fmi
    1         0.3215  0.2267  1.773  6.454  0.6185
    """
    check_number("level", level, above=0)
    if not level < 1:
        msg = f"level must be a number between 0 and 1. Got {level!r} instead."
        raise ParameterError(msg)
    complete = math.inf if df is None else check_number("df", df, above=0)
    values, squares = _checked(estimates, variances)
    m = len(values)
    within, between = squares.mean(axis=0), values.var(axis=0, ddof=1)
    extra = (1 + 1 / m) * between
    total = within + extra
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(total > 0, extra / total, 0.0)
        increase = np.where(extra > 0, extra / within, 0.0)
        freedom = _degrees(m, share, complete)
        # At infinite increase, all that was to be known is missing.
        fmi = np.where(
            np.isinf(increase), 1.0, (increase + 2 / (freedom + 3)) / (increase + 1)
        )
    fmi = np.where(extra > 0, fmi, 0.0)
    estimate, se = values.mean(axis=0), np.sqrt(total)
    quantile = np.vectorize(t_quantile, otypes=[float])((1 + level) / 2, freedom)
    return Pooled(
        estimate=estimate,
        se=se,
        lower=estimate - quantile * se,
        upper=estimate + quantile * se,
        df=freedom,
        within=within,
        between=between,
        total=total,
        increase=increase,
        fmi=fmi,
        level=float(level),
        m=m,
    )


def _checked(
    estimates: Any, variances: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    try:
        values = np.asarray(estimates, dtype=np.float64)
        squares = np.asarray(variances, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        msg = "estimates and variances must be arrays of numbers, one entry per table."
        raise ParameterError(msg) from None
    if values.shape != squares.shape:
        msg = (
            "estimates and variances must have the same shape. Got "
            f"{values.shape} and {squares.shape} instead."
        )
        raise ParameterError(msg)
    if values.ndim == 0 or len(values) < 2:
        n_tables = len(values) if values.ndim else 1
        msg = (
            "pooling takes estimates from at least two completed tables. Got "
            f"{n_tables} instead."
        )
        raise ParameterError(msg)
    if not np.isfinite(values).all() or not np.isfinite(squares).all():
        msg = "estimates and variances must be finite numbers."
        raise ParameterError(msg)
    if (squares < 0).any():
        msg = (
            f"variances must be numbers >= 0. Got {squares.min():g}. Pass squared "
            "standard errors."
        )
        raise ParameterError(msg)
    return values, squares


def _degrees(
    m: int, share: NDArray[np.float64], complete: float
) -> NDArray[np.float64]:
    """Return Rubin's degrees of freedom, corrected for those of the complete table."""
    old = (m - 1) / share**2
    if math.isinf(complete):
        return old
    seen = (complete + 1) / (complete + 3) * complete * (1 - share)
    return np.where(np.isinf(old), seen, old * seen / (old + seen))


def t_quantile(p: float, df: float) -> float:
    """Return the quantile of Student's t distribution, for p of at least a half.

    Examples
    --------
    >>> [round(t_quantile(0.975, df), 3) for df in (1, 10, float("inf"))]
    [12.706, 2.228, 1.96]
    """
    from statistics import NormalDist

    if not df > 0:  # nothing is known
        return math.inf
    if df > 1e8:
        return NormalDist().inv_cdf(p)
    # P(|T| > t) = I_x(df / 2, 1 / 2) at x = df / (df + t^2).
    low, high = 0.0, 1.0
    while _upper_tail(high, df) > 1 - p:
        low, high = high, 2 * high
        if high > 1e150:
            return math.inf
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if _upper_tail(middle, df) > 1 - p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _upper_tail(t: float, df: float) -> float:
    """Return the probability above t."""
    return 0.5 * _incomplete_beta(df / 2, 0.5, df / (df + t * t), t * t / (df + t * t))


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """Return the regularised incomplete beta function at x = 1 - rest."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    front = math.exp(
        math.lgamma(a + b)
        - math.lgamma(a)
        - math.lgamma(b)
        + a * math.log(x)
        + b * math.log(rest)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1.0 - front * _fraction(b, a, rest) / b


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    value = d
    for k in range(1, 10_000):
        even = k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k))
        odd = -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
        for term in (even, odd):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return value
