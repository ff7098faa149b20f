"""Scores as whole numbers, of which sums are exact.

A score is counted in units of 2**-40 nats. Logarithms are whole numbers of 2**-100
nats, right to 2**-80 and more, and rounded to units in the end: a value of these tables
is right to one unit, so that a sum of k of them is right to k units. All that follows
(sums, prices, comparisons) is arithmetic of whole numbers, without error.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from decimal import Context, Decimal
from fractions import Fraction
from functools import cache
from math import comb, prod

__all__ = ["BITS", "CountLogs", "RisingLogs", "ln", "ln_comb", "to_units", "units_of"]

BITS = 40
"""A unit is 2**-BITS nats."""

_FINE = 100  # bits of a logarithm behind the point
_ONE = 1 << _FINE
_STEPS = 64  # from 1 to 2, at which logarithms are taken from `decimal`
_DIGITS = Context(prec=40)  # whose logarithms are rounded correctly
_FACTORS = 256  # multiplied before a logarithm is taken


def to_units(value: float | Fraction) -> int:
    """Round a number to the nearest unit.

    Examples
    --------
    >>> to_units(1.0) == 2**40, to_units(Fraction(1, 2)) == 2**39
    (True, True)
    """
    return round(Fraction(value) * (1 << BITS))


def units_of(logarithm: int) -> int:
    """Round a logarithm, or a sum of some, to units."""
    return (logarithm + (1 << _FINE - BITS - 1)) >> (_FINE - BITS)


@cache
def _ln_step(step: int) -> int:
    value = _DIGITS.ln(_DIGITS.divide(Decimal(step), Decimal(_STEPS)))
    return int(_DIGITS.multiply(value, Decimal(_ONE)))


def ln(number: int) -> int:
    """Return the logarithm of a whole number above 0, in 2**-100 nats.

    It is that of a power of 2, of a number of 64ths from 1 to 2, and of what is left:
    ln x = 2 (z + z^3/3 + z^5/5 + ...) with z = (x - 1) / (x + 1), here below 2**-7.

    Examples
    --------
    >>> round(ln(10) / 2**100, 12)
    2.302585092994
    """
    doublings = number.bit_length() - 1
    surplus = doublings - _FINE
    scaled = number >> surplus if surplus > 0 else number << -surplus
    step = scaled // (_ONE // _STEPS)
    near = step * (_ONE // _STEPS)
    z = ((scaled - near) << _FINE) // (scaled + near)
    square = z * z >> _FINE
    series = 0
    for odd in (11, 9, 7, 5, 3, 1):
        series = (series * square >> _FINE) + _ONE // odd
    return doublings * _ln_step(2 * _STEPS) + _ln_step(step) + (2 * z * series >> _FINE)


def ln_comb(n: int, k: int) -> int:
    """Return the logarithm of the number of sets of k out of n."""
    return ln(comb(n, k))


class RisingLogs(dict[int, int]):
    """log(gamma(a + n) / gamma(a)) in units by n, for one pseudo-count a.

    It is the sum of log(a + i) for i < n, and computed as that: no series is needed,
    and no trust in one.

    Examples
    --------
    >>> logs = RisingLogs(Fraction(1))
    >>> logs[4] == units_of(ln(24))  # 4! = 24
    True
    """

    def __init__(self, pseudo_count: Fraction) -> None:
        super().__init__({0: 0})
        self._p, self._q = pseudo_count.numerator, pseudo_count.denominator
        self._ln_q = ln(self._q)
        self._known = [0]
        self._sums = {0: 0}

    def __missing__(self, n: int) -> int:
        """Continue from the largest n that is known below."""
        start = self._known[bisect_left(self._known, n) - 1]
        total = self._sums[start] - self._ln_q * (n - start)
        p, q = self._p, self._q
        for first in range(start, n, _FACTORS):
            end = min(first + _FACTORS, n)
            total += ln(prod(range(p + first * q, p + end * q, q)))
        insort(self._known, n)
        self._sums[n] = total
        self[n] = value = units_of(total)
        return value


class CountLogs(dict[int, int]):
    """n log n in units by n."""

    def __missing__(self, n: int) -> int:
        """Work it out once."""
        self[n] = value = units_of(n * ln(n)) if n else 0
        return value
