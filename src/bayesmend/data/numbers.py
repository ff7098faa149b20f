"""What is known of the numbers within intervals, so that a number can fill a cell.

Dates count as numbers: the seconds since 1970, in UTC where they have a time zone.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend.errors import DataError

__all__ = [
    "NumberKind",
    "Numbers",
    "as_one_format",
    "date_number",
    "date_text",
    "number_date",
]

NumberKind: TypeAlias = Literal["integer", "number", "date"]

KEPT = 100
"""Observed values kept per interval: enough to draw from."""

_MOST_DECIMALS = 15  # numbers with more are measurements, which no one rounds
_LOOKED_AT = 10_000  # distinct numbers whose decimals are counted
_EPOCH = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Numbers:
    """The observed numbers of a variable that is cut, interval by interval.

    Parameters
    ----------
    kind : {"integer", "number", "date"}
        What the numbers are.
    decimals : int or None
        Decimals that the observed numbers have; None when too many to be rounded.
    medians : tuple of float
        A number for each interval: the median of the observed ones, rounded as they
        are; of dates an observed one. Where none was observed, a number inside.
    values : tuple of tuple of float
        Of each interval at most 100 observed numbers, ascending, evenly spaced in
        rank; a number that counts twice has two ranks.

    Examples
    --------
    >>> numbers = np.array([20, 31, 34, 40, np.nan, 80])
    >>> Numbers.of(numbers, (34.0, 47.0))
    Numbers(kind='integer', decimals=0, medians=(31.0, 40.0, 80.0), values=...)
    """

    kind: NumberKind
    decimals: int | None
    medians: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    @classmethod
    def of(
        cls,
        numbers: NDArray[np.float64],
        cuts: Sequence[float],
        *,
        is_date: bool = False,
        counts: NDArray[np.float64] | None = None,
    ) -> Self:
        """Describe observed numbers, NaN where missing, that are cut at some points.

        ``counts`` say how often each of them counts, if not once.
        """
        seen, weights = _ascending(numbers, counts)
        decimals = None if is_date else count_decimals(np.unique(seen))
        kind: NumberKind = "integer" if decimals == 0 else "number"
        ends = np.searchsorted(seen, np.array(cuts, dtype=np.float64), side="right")
        parts, shares = np.split(seen, ends), np.split(weights, ends)
        bounds = [-np.inf, *cuts, np.inf]
        medians = [
            _median(part, share, decimals, is_date=is_date)
            if part.size
            else _inside(low, high, decimals)
            for part, share, low, high in zip(
                parts, shares, bounds[:-1], bounds[1:], strict=True
            )
        ]
        return cls(
            "date" if is_date else kind,
            decimals,
            tuple(medians),
            tuple(map(_spaced, parts, shares)),
        )

    def fill(
        self, codes: NDArray[np.uint8], draws: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return a number for each interval, its median or, given draws, one observed.

        ``draws`` are uniform between 0 and 1; an interval without observed numbers has
        its median all the same.
        """
        if draws is None:
            return np.array(self.medians)[codes]
        drawn = np.array(self.medians)[codes]
        for code, values in enumerate(self.values):
            here = codes == code
            if values and here.any():
                picks = (draws[here] * len(values)).astype(np.intp)
                drawn[here] = np.array(values)[picks]
        return drawn

    def plain(self, number: float) -> int | float | datetime:
        """Return a number as what it stands for."""
        if self.kind == "date":
            return number_date(number)
        return int(number) if self.kind == "integer" else float(number)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        return {
            "kind": self.kind,
            "decimals": self.decimals,
            "medians": list(self.medians),
            "values": [list(values) for values in self.values],
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Read what :meth:`to_dict` returns."""
        try:
            kind, decimals = plain["kind"], plain["decimals"]
            medians = tuple(float(x) for x in plain["medians"])
            values = tuple(tuple(float(x) for x in part) for part in plain["values"])
        except (KeyError, TypeError, ValueError):
            message = "numbers of a variable need kind, decimals, medians and values."
            raise DataError(message) from None
        is_whole = decimals is None or type(decimals) is int
        is_finite = all(map(np.isfinite, [*medians, *(x for v in values for x in v)]))
        if (
            kind not in get_args(NumberKind)
            or not is_whole
            or not is_finite
            or len(medians) != len(values)
        ):
            message = "the numbers of a variable do not fit each other."
            raise DataError(message)
        return cls(kind, decimals, medians, values)


def count_decimals(numbers: NDArray[np.float64]) -> int | None:
    """Return how many decimals numbers have at most; None when nobody rounds so.

    Examples
    --------
    >>> count_decimals(np.array([1.0, 2.25, 30.5])), count_decimals(np.array([3.0]))
    (2, 0)
    >>> count_decimals(np.array([1 / 3])) is None
    True
    """
    step = max(1, len(numbers) // _LOOKED_AT)
    most = 0
    for number in numbers[::step].tolist():
        if not number.is_integer():
            exponent = Decimal(repr(number)).as_tuple().exponent
            most = max(most, -int(exponent))
    return most if most <= _MOST_DECIMALS else None


def _ascending(
    numbers: NDArray[np.float64], counts: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the observed numbers in order, and how often each counts."""
    is_seen = ~np.isnan(numbers)
    if counts is None or not counts[is_seen].any():
        seen = np.sort(numbers[is_seen])
        return seen, np.ones(len(seen))
    is_seen &= counts > 0
    order = np.argsort(numbers[is_seen], kind="stable")
    return numbers[is_seen][order], counts[is_seen][order]


def _median(
    part: NDArray[np.float64],
    counts: NDArray[np.float64],
    decimals: int | None,
    *,
    is_date: bool,
) -> float:
    up_to = np.cumsum(counts)
    half = up_to[-1] / 2
    lower, upper = (
        part[min(int(np.searchsorted(up_to, half, side=side)), len(part) - 1)]
        for side in ("left", "right")
    )
    if is_date:
        return float(lower)
    middle = lower, upper
    median = float(middle[0] + (middle[1] - middle[0]) / 2)
    if decimals is not None:
        median = round(median, decimals)
    return min(max(median, float(part[0])), float(part[-1]))


def _inside(low: float, high: float, decimals: int | None) -> float:
    """Return a number above `low` and not above `high`, rounded where that is one."""
    if np.isinf(low) and np.isinf(high):
        return 0.0
    if np.isinf(low):
        tries = [_floor(high, decimals)]
    elif np.isinf(high):
        tries = [_floor(low, decimals) + 10.0 ** -(decimals or 0)]
    else:
        middle = low + (high - low) / 2
        tries = [_floor(middle, decimals), _floor(high, decimals), middle]
    last = high if np.isfinite(high) else float(np.nextafter(low, np.inf))
    return next((x for x in tries if low < x <= high), last)


def _floor(number: float, decimals: int | None) -> float:
    """Return the greatest number of so many decimals that is not above another."""
    if decimals is None:
        return number
    rounded = round(number, decimals)
    return rounded if rounded <= number else round(rounded - 10.0**-decimals, decimals)


def _spaced(
    part: NDArray[np.float64], counts: NDArray[np.float64]
) -> tuple[float, ...]:
    up_to = np.cumsum(counts)
    total = float(up_to[-1]) if len(part) else 0.0
    if (counts % 1 != 0).any():
        ranks = (np.arange(KEPT) + 0.5) * (total / KEPT)
    elif total > KEPT:
        ranks = np.linspace(0, total - 1, KEPT).round()
    else:
        ranks = np.arange(total)
    places = np.searchsorted(up_to, ranks, side="right")
    return tuple(part[np.minimum(places, len(part) - 1)].tolist())


def date_number(value: Any) -> float:
    """Return a date or time as seconds since 1970, NaN when it is none.

    Text in ISO 8601 counts, too.

    Examples
    --------
    >>> date_number(date(1970, 1, 2)), date_number("1970-01-01T00:01")
    (86400.0, 60.0)
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return np.nan
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        if value != value:  # NaT
            return np.nan
        if value.tzinfo is not None:
            value = value.astimezone(UTC).replace(tzinfo=None)
        return float((value - _EPOCH) / timedelta(seconds=1))
    if isinstance(value, date):
        return (value - _EPOCH.date()) / timedelta(seconds=1)
    return np.nan


def number_date(number: float) -> datetime:
    """Return the time so many seconds after 1970.

    Examples
    --------
    >>> number_date(86400.0)
    datetime.datetime(1970, 1, 2, 0, 0)
    """
    return _EPOCH + timedelta(microseconds=round(number * 1e6))


def as_one_format(moments: Iterable[date]) -> Callable[[date], str]:
    """Return a function that writes all of some dates or times in the same way.

    Days stand alone where no moment has a time, and fractions of a second only where
    some moment has them.

    Examples
    --------
    >>> noon = datetime(2019, 1, 1, 12)
    >>> as_one_format([noon])(date(2019, 1, 2)), as_one_format([])(date(2019, 1, 2))
    ('2019-01-02 00:00:00', '2019-01-02')
    """
    times = [moment for moment in moments if isinstance(moment, datetime)]
    # Only pandas has nanoseconds, and writes them in its own way.
    if not times or any(getattr(moment, "nanosecond", 0) for moment in times):
        return str
    zone = times[0].tzinfo
    is_fine = any(moment.microsecond for moment in times)
    steps = "microseconds" if is_fine else "seconds"

    def text(moment: date) -> str:
        if not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day, tzinfo=zone)
        return moment.isoformat(" ", steps)

    return text


def date_text(number: float) -> str:
    """Return the time so many seconds after 1970 as text, midnight as a date alone.

    Examples
    --------
    >>> date_text(86400.0), date_text(60.0)
    ('1970-01-02', '1970-01-01T00:01:00')
    """
    moment = number_date(number)
    is_midnight = moment.time() == _EPOCH.time()
    return moment.date().isoformat() if is_midnight else moment.isoformat()
