"""Scores as whole numbers, of which sums are exact.

A score is counted in units of 2**-40 nats. Logarithms are taken with 34 digits by
`decimal`, whose ``ln`` is correctly rounded, and then rounded to units: a value of
these tables is right to one unit, so that a sum of k of them is right to k units. All
that follows (sums, prices, comparisons) is arithmetic of whole numbers, without error.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from decimal import Context, Decimal
from fractions import Fraction
from math import comb

__all__ = ["BITS", "CountLogs", "RisingLogs", "ln_comb", "ln_fraction", "to_units"]

BITS = 40
"""A unit is 2**-BITS nats."""

_DIGITS = Context(prec=34)
_KEPT_BITS = 200  # of a long integer whose logarithm is taken
_FACTORS = 256  # multiplied before a logarithm is taken
_LN_2 = _DIGITS.ln(Decimal(2))
_SCALE = Decimal(1 << BITS)


def to_units(value: float | Fraction | Decimal) -> int:
    """Round a number to the nearest unit.

    Examples
    --------
    >>> to_units(1.0) == 2**40, to_units(Fraction(1, 2)) == 2**39
    (True, True)
    """
    if isinstance(value, Decimal):
        return round(_DIGITS.multiply(value, _SCALE))
    return round(Fraction(value) * (1 << BITS))


def _ln(number: int) -> Decimal:
    """Return the logarithm of a whole number, to 33 digits."""
    surplus = number.bit_length() - _KEPT_BITS
    if surplus <= 0:
        return _DIGITS.ln(Decimal(number))
    high = _DIGITS.ln(Decimal(number >> surplus))
    return _DIGITS.add(high, _DIGITS.multiply(_LN_2, Decimal(surplus)))


def ln_fraction(value: Fraction) -> Decimal:
    """Return the logarithm of a positive fraction.

    Examples
    --------
    >>> round(ln_fraction(Fraction(1, 2)), 6)
    Decimal('-0.693147')
    """
    return _DIGITS.subtract(_ln(value.numerator), _ln(value.denominator))


def ln_comb(n: int, k: int) -> Decimal:
    """Return the logarithm of the number of sets of k out of n."""
    return _ln(comb(n, k))


class RisingLogs(dict[int, int]):
    """log(gamma(a + n) / gamma(a)) in units by n, for one pseudo-count a.

    It is the sum of log(a + i) for i < n, and computed as that: no series is needed,
    and no trust in one.

    Examples
    --------
    >>> logs = RisingLogs(Fraction(1))
    >>> logs[4] == to_units(ln_fraction(Fraction(24)))  # 4! = 24
    True
    """

    def __init__(self, pseudo_count: Fraction) -> None:
        super().__init__({0: 0})
        self._a = pseudo_count
        self._ln_q = _ln(pseudo_count.denominator)
        self._known = [0]
        self._sums = {0: Decimal(0)}

    def __missing__(self, n: int) -> int:
        """Continue from the largest n that is known below."""
        start = self._known[bisect_left(self._known, n) - 1]
        total = self._sums[start]
        p, q = self._a.numerator, self._a.denominator
        for first in range(start, n, _FACTORS):
            product = 1
            for i in range(first, min(first + _FACTORS, n)):
                product *= p + i * q
            total = _DIGITS.add(total, _ln(product))
        if q != 1:
            share = _DIGITS.multiply(self._ln_q, Decimal(n - start))
            total = _DIGITS.subtract(total, share)
        insort(self._known, n)
        self._sums[n] = total
        self[n] = value = to_units(total)
        return value


class CountLogs(dict[int, int]):
    """n log n in units by n."""

    def __missing__(self, n: int) -> int:
        """Work it out once."""
        self[n] = value = to_units(_DIGITS.multiply(_ln(n), Decimal(n))) if n else 0
        return value
