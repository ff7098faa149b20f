"""Cut numbers into intervals, and cut new numbers at the same points."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Context
from itertools import pairwise
from typing import Any, Literal, Self, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice, check_mapping
from bayesmend._entrance import entrance
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.csv import open_source
from bayesmend.data.files import FileOptions
from bayesmend.data.numbers import Numbers, date_number, date_text
from bayesmend.data.opening import Opening
from bayesmend.data.restore import (
    INTERVALS,
    replace_columns,
    restore_column,
    table_kind,
)
from bayesmend.data.sources import Source, are_dates
from bayesmend.data.states import (
    MAX_STATES,
    MISSING,
    as_label,
    check_names,
    listing,
    position_of,
)
from bayesmend.errors import BayesmendWarning, DataError, ParameterError

Way: TypeAlias = Literal["quantile", "uniform"]
Cutting: TypeAlias = (
    int | tuple[str, int] | Sequence[float] | Sequence[str] | Sequence[date]
)
"""A number of intervals, a way and that number, or cut points; "auto" is text."""

_WAYS = ("quantile", "uniform")
AUTO = "auto"
"""In place of a number of intervals: as many as the rows allow."""

FEWEST, MOST = 2, 8
"""How few and how many intervals of equal frequency there are by default."""
_ROWS_OF_ONE = 10  # (n / 10) ** (1/3): 2 for 100 rows, 5 for 1,000, 8 for 5,000


@dataclass(frozen=True, slots=True, repr=False)
class Discretization:
    """Cut points of some variables.

    A number ``x`` falls into the first interval whose upper end is at least ``x``.

    Parameters
    ----------
    names : tuple of str
        The variables that are cut.
    cuts : tuple of tuple of float
        Their cut points, ascending.
    numbers : tuple of Numbers or None
        What is known of the numbers within the intervals, from the table that was
        read; it does not count when rules are compared. None where nothing is known.

    Examples
    --------
    >>> rule = Discretization.from_cuts({"age": [34, 47]})
    >>> rule
    Discretization(age: 3 intervals)
    >>> rule.labels("age")
    ('<=34', '34<x<=47', '>47')
    >>> rule.apply({"age": [20, 34, 40, None, 80]})
    {'age': ['<=34', '<=34', '34<x<=47', None, '>47']}
    """

    names: tuple[str, ...]
    cuts: tuple[tuple[float, ...], ...]
    numbers: tuple[Numbers | None, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not self.numbers:
            object.__setattr__(self, "numbers", (None,) * len(self.names))

    @classmethod
    def from_cuts(cls, cuts: Mapping[str, Sequence[float]]) -> Self:
        """Make a rule from given cut points."""
        checked = [_check_cuts(name, points) for name, points in cuts.items()]
        return cls(tuple(cuts), tuple(checked))

    @classmethod
    def joined(cls, rules: Sequence[Self]) -> Self | None:
        """Make one rule of several for different variables; None of none."""
        if len(rules) < 2:
            return rules[0] if rules else None
        return cls(
            tuple(name for rule in rules for name in rule.names),
            tuple(cuts for rule in rules for cuts in rule.cuts),
            tuple(numbers for rule in rules for numbers in rule.numbers),
        )

    def only(self, names: Iterable[str]) -> Self | None:
        """Return the part of the rule that is for some variables; None of none."""
        wanted = set(names)
        kept = [k for k, name in enumerate(self.names) if name in wanted]
        if not kept:
            return None
        return replace(
            self,
            names=tuple(self.names[k] for k in kept),
            cuts=tuple(self.cuts[k] for k in kept),
            numbers=tuple(self.numbers[k] for k in kept),
        )

    def labels(self, name: str) -> tuple[str, ...]:
        """Return the intervals of a variable as text, in ascending order."""
        numbers = self.numbers_of(name)
        is_date = numbers is not None and numbers.kind == "date"
        ends = [
            date_text(cut) if is_date else str(as_label(cut))
            for cut in self.cuts_of(name)
        ]
        if not ends:
            return ("any",)
        middle = [f"{a}<x<={b}" for a, b in pairwise(ends)]
        return (f"<={ends[0]}", *middle, f">{ends[-1]}")

    def codes(self, name: str, numbers: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Return the position of each number's interval, 255 where it is NaN."""
        cuts = np.array(self.cuts_of(name))
        codes = np.searchsorted(cuts, numbers, side="left").astype(np.uint8)
        codes[np.isnan(numbers)] = MISSING
        return codes

    @entrance
    def apply(self, table: Any, **opening: Unpack[Opening]) -> Any:
        """Return a table with the numbers of these variables replaced by intervals.

        Parameters
        ----------
        table : IncompleteData, frame, array, mapping or path
            A table with these variables.
        {opening}

        Returns
        -------
        table
            Of the same kind; for a file or an ``IncompleteData``, a frame of the
            first of pandas, polars and pyarrow that is installed. The replaced
            columns are ordered categoricals in pandas, enums in polars, dictionaries
            in Arrow, and plain text elsewhere.
        """
        source = _prepared(table, self.names, opening)
        kind = table_kind(source.kind)
        columns = {}
        for name in self.names:
            position = source.names.index(name)
            codes = self.codes(name, numbers_to_cut(source, position)[0])
            columns[position] = restore_column(
                kind, INTERVALS, self.labels(name), codes
            )
        return replace_columns(source, columns)

    def numbers_of(self, name: str) -> Numbers | None:
        """Return what is known of the numbers of a variable."""
        return self.numbers[position_of(name, self.names)]

    def with_numbers(
        self,
        name: str,
        numbers: NDArray[np.float64],
        *,
        is_date: bool = False,
        weights: NDArray[np.float64] | None = None,
    ) -> Self:
        """Return the rule with what numbers of a variable tell, unless it knows some.

        Parameters
        ----------
        name : str
            The variable.
        numbers : ndarray
            Its numbers, NaN where missing; of dates, seconds since 1970.
        is_date : bool, default=False
            Whether the numbers stand for dates.
        weights : ndarray, optional
            How often each number counts, if not once.
        """
        place = position_of(name, self.names)
        if self.numbers[place] is not None:
            return self
        known = Numbers.of(numbers, self.cuts[place], is_date=is_date, counts=weights)
        return replace(
            self, numbers=(*self.numbers[:place], known, *self.numbers[place + 1 :])
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        return {
            name: {
                "cuts": list(cuts),
                "numbers": None if numbers is None else numbers.to_dict(),
            }
            for name, cuts, numbers in zip(
                self.names, self.cuts, self.numbers, strict=True
            )
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Read what :meth:`to_dict` returns.

        Examples
        --------
        >>> rule = fit_discretization({"age": [22, 31, 38, 45]}, {"age": 2})
        >>> Discretization.from_dict(rule.to_dict()) == rule
        True
        """
        if not isinstance(plain, Mapping) or not all(
            isinstance(entry, Mapping) for entry in plain.values()
        ):
            message = "a discretization must map names to cuts and numbers."
            raise DataError(message)
        rule = {
            name: _check_cuts(name, entry.get("cuts", None), at_least=0)
            for name, entry in plain.items()
        }
        numbers = [
            None
            if (known := entry.get("numbers")) is None
            else Numbers.from_dict(known)
            for entry in plain.values()
        ]
        for (name, cuts), known in zip(rule.items(), numbers, strict=True):
            if known is not None and len(known.medians) != len(cuts) + 1:
                message = f"the cuts of variable {name!r} do not fit its numbers."
                raise DataError(message)
        return cls(tuple(rule), tuple(rule.values()), tuple(numbers))

    def cuts_of(self, name: str) -> tuple[float, ...]:
        """Return the cut points of a variable."""
        return self.cuts[position_of(name, self.names)]

    def __repr__(self) -> str:
        parts = [
            f"{name}: {len(cuts) + 1} intervals"
            for name, cuts in zip(self.names, self.cuts, strict=True)
        ]
        return f"Discretization({listing(parts, 4)})"


@entrance
def fit_discretization(
    table: Any,
    cutting: Mapping[str, Cutting],
    *,
    by: Way | None = None,
    **opening: Unpack[Opening],
) -> Discretization:
    """Choose cut points from a table.

    Parameters
    ----------
    table : IncompleteData, frame, array, mapping or path
        The table.
    cutting : mapping of str to int, "auto", (way, int) or sequence
        Per variable the number of intervals, or a way and that number, or the cut
        points themselves: numbers or, for dates, ISO text or dates. ``"auto"`` is the
        rule of :meth:`IncompleteData.from_table`: as many intervals of equal frequency
        as the rows allow, 2 to 8, and one of its own for any value that more rows
        hold than would be in one of them.
    by : {"quantile", "uniform"}, optional
        How a number of intervals is met: with about equally many rows each, cut at
        values that occur (the default; long ones are rounded to as few digits as leave
        every row in its interval), or with equal widths between the least and
        the greatest.
    {opening}

    Returns
    -------
    Discretization
        Pass it as ``discretize=`` when reading other tables with the same variables.

    Warns
    -----
    BayesmendWarning
        When ties leave fewer intervals than asked for.

    Examples
    --------
    >>> table = {"age": [22, 31, 38, 45, 52, 67], "bmi": [17.9, 24, None, 31, 26, 22]}
    >>> rule = fit_discretization(table, {"age": 3, "bmi": [18.5, 25, 30]})
    >>> rule.labels("age")
    ('<=31', '31<x<=45', '>45')
    >>> rule.labels("bmi")
    ('<=18.5', '18.5<x<=25', '25<x<=30', '>30')
    """
    check_mapping("cutting", cutting, "{'age': 3}")
    given: Any = by
    if given is not None and not isinstance(given, str):
        check_choice("by", by, _WAYS)
    if by is not None and not any(map(_is_number, cutting.values())):
        message = (
            f"{spell('by')} has no part where no variable has just a number of"
            " intervals. Leave it out."
        )
        raise ParameterError(message)
    source = _prepared(table, cutting, opening)
    shortfalls: list[str] = []
    rule = fit_source(source, cutting, by or "quantile", shortfalls)
    for message in shortfalls:
        warn(message, BayesmendWarning)
    return rule


def _prepared(table: Any, cut: Iterable[str], opening: Opening) -> Source:
    """Open a table that has some variables."""
    given = opening.get("names")
    files = FileOptions(
        opening.get("delimiter"),
        opening.get("decimal"),
        opening.get("encoding"),
        opening.get("header"),
        opening.get("sheet"),
        names_given=given is not None,
    )
    source = open_source(table, files)
    names = check_names(source.headers, given)
    for name in cut:
        position_of(name, names)
    source.prepare(names, source.chosen_markers(opening.get("missing")))
    return source


def fit_source(
    source: Source,
    cutting: Mapping[str, Cutting],
    by: str = "quantile",
    shortfalls: list[str] | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Discretization:
    """Choose cut points from a source that is prepared.

    Sentences about variables with fewer intervals than asked for go to a list. A row
    of weight 2 counts as two rows.
    """
    cuts, known = [], []
    for name, how in cutting.items():
        chosen, n_bins, points = _read_cutting(name, how, by)
        numbers, is_date = numbers_to_cut(source, position_of(name, source.names))
        seen, counts = _counted(numbers, weights)
        if chosen == AUTO and seen.size:
            points = auto_cuts(seen, counts)
        elif points is None:
            points = _fit_cuts(name, seen, counts, n_bins, chosen)
            if len(points) + 1 < n_bins and shortfalls is not None:
                shortfalls.append(_shortfall(name, len(points) + 1, n_bins))
        if n_bins and chosen != "uniform" and seen.size and not is_date:
            points = tuple(_shortened(cut, numbers) for cut in points)
        cuts.append(points)
        known.append(Numbers.of(numbers, points, is_date=is_date, counts=weights))
    return Discretization(tuple(cutting), tuple(cuts), tuple(known))


_FEW_DIGITS = range(3, 16)
_SHORT = 6  # digits of a cut point that nobody minds


def _shortened(cut: float, numbers: NDArray[np.float64]) -> float:
    """Round a long cut point, an observed number, where no row changes its interval.

    Examples
    --------
    >>> _shortened(-0.5607615139559401, np.array([-0.5607615139559401, -0.4, np.nan]))
    -0.56
    """
    if cut.is_integer() or float(f"{cut:.{_SHORT}g}") == cut:
        return cut
    above = numbers[numbers > cut].min()
    for digits in _FEW_DIGITS:
        for rounding in (ROUND_HALF_EVEN, ROUND_CEILING):
            context = Context(prec=digits, rounding=rounding)
            number = float(context.create_decimal_from_float(cut))
            if cut <= number < above:
                return number
    return cut


def _counted(
    numbers: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Return the observed numbers that count, and for how much where that differs."""
    is_seen = ~np.isnan(numbers)
    if weights is None or not weights[is_seen].any():
        return numbers[is_seen], None
    counts = is_seen & (weights > 0)
    return numbers[counts], weights[counts]


def numbers_to_cut(source: Source, position: int) -> tuple[NDArray[np.float64], bool]:
    """Return a column as numbers, NaN where missing, and whether these are dates."""
    if are_dates(source.column(position)):
        return source.dates(position), True
    return source.numbers(position), False


def n_intervals(n_observed: float) -> int:
    """Return into how many intervals so many numbers are cut by default.

    Examples
    --------
    >>> [n_intervals(n) for n in (30, 100, 1_000, 5_000, 1_000_000)]
    [2, 2, 5, 8, 8]
    """
    wanted = round(math.cbrt(n_observed / _ROWS_OF_ONE))
    return min(max(wanted, FEWEST), MOST)


def auto_cuts(
    numbers: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> tuple[float, ...]:
    """Choose cut points for observed numbers by their number and their ties alone.

    A number that more than an equal share of the rows hold has an interval of its own.
    The stretches between such numbers share the other intervals, each at least one,
    and are cut into parts of equal frequency.

    Examples
    --------
    >>> auto_cuts(np.array([-1.0, *[0] * 60, *range(1, 40)]))
    (-1.0, 0.0)
    >>> auto_cuts(np.arange(1000.0))
    (199.0, 399.0, 599.0, 799.0)
    """
    values, counts = _distinct(numbers, weights)
    total = float(counts.sum())
    k = n_intervals(total)
    is_heavy = counts * k > total
    starts = np.flatnonzero(np.diff(np.append(True, is_heavy).astype(np.int8)) < 0)
    ends = np.flatnonzero(np.diff(np.append(is_heavy, True).astype(np.int8)) > 0) + 1
    stretches = [slice(*ab) for ab in zip(starts.tolist(), ends.tolist(), strict=True)]
    parts = _shared(k - int(is_heavy.sum()), [counts[part] for part in stretches])
    cuts = set(values[is_heavy].tolist())
    for part, n_parts in zip(stretches, parts, strict=True):
        below = np.cumsum(counts[part])
        # Whole numbers, so that no share is missed by rounding.
        at = np.searchsorted(below * n_parts, np.arange(1, n_parts + 1) * below[-1])
        cuts |= set(values[part][at].tolist())
    return tuple(sorted(cuts - {float(values[-1])}))


def _distinct(
    numbers: NDArray[np.float64], weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the distinct numbers, ascending, and the weight of the rows of each."""
    if weights is None:
        values, counts = np.unique(numbers, return_counts=True)
        return values, counts.astype(np.float64)
    values, inverse = np.unique(numbers, return_inverse=True)
    counts = np.bincount(inverse, weights=weights)
    return values, counts.astype(np.float64)


def _shared(n_parts: int, stretches: Sequence[NDArray[np.float64]]) -> list[int]:
    """Give each stretch one part, and each further one to the fullest parts."""
    parts = [1] * len(stretches)
    for _ in range(n_parts - len(stretches)):
        full = [
            counts.sum() / part if part < len(counts) else 0.0
            for counts, part in zip(stretches, parts, strict=True)
        ]
        if not any(full):
            break
        parts[int(np.argmax(full))] += 1
    return parts


def is_auto(how: object) -> bool:
    """Tell whether a way to cut is "auto", whatever else it may be, an array too."""
    return isinstance(how, str) and how == AUTO


def _read_cutting(
    name: str, how: Any, by: str
) -> tuple[str, int, tuple[float, ...] | None]:
    """Return the way, the number of intervals and, when given, the cut points."""
    if is_auto(how):
        return AUTO, FEWEST, None
    is_pair = isinstance(how, tuple) and len(how) == 2
    if is_pair and isinstance(how[0], str) and not isinstance(how[1], str):
        by, how = how
    if by not in _WAYS:
        message = f"{name!r} is cut by 'quantile' or 'uniform'. Got {by!r} instead."
        raise ParameterError(message)
    if _is_number(how):
        if not 2 <= how <= MAX_STATES:
            message = (
                f"variable {name!r} must be cut into 2 to {MAX_STATES} intervals. Got"
                f" {how} instead."
            )
            raise ParameterError(message)
        return by, int(how), None
    return by, 0, _check_cuts(name, how)


def _is_number(how: object) -> bool:
    return isinstance(how, (int, np.integer)) and not isinstance(how, bool)


def _check_cuts(name: str, points: Any, at_least: int = 1) -> tuple[float, ...]:
    try:
        if isinstance(points, str):
            raise TypeError
        cuts = tuple(map(_cut_point, points))
    except (TypeError, ValueError):
        message = (
            f"variable {name!r} must be cut by a number of intervals or by a sequence"
            f" of cut points. Got {points!r} instead."
        )
        raise ParameterError(message) from None
    is_ascending = all(a < b for a, b in pairwise(cuts))
    if len(cuts) < at_least or not all(np.isfinite(cuts)) or not is_ascending:
        message = (
            f"cut points of variable {name!r} must be finite and ascending. Got"
            f" {points!r} instead."
        )
        raise ParameterError(message)
    if len(cuts) >= MAX_STATES:
        message = (
            f"variable {name!r} must have at most {MAX_STATES - 1} cut points. Got"
            f" {len(cuts)} instead."
        )
        raise ParameterError(message)
    return cuts


def _cut_point(point: Any) -> float:
    """Return a cut point as a number; of a date, the seconds since 1970."""
    try:
        return float(point)
    except (TypeError, ValueError):
        seconds = date_number(point)
        if np.isnan(seconds):
            raise
        return seconds


def _fit_cuts(
    name: str,
    numbers: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    n_bins: int,
    by: str,
) -> tuple[float, ...]:
    if numbers.size == 0:
        message = (
            f"variable {name!r} has no numbers to choose cut points from. Give the cut"
            f" points in {spell('discretize')}."
        )
        raise DataError(message)
    low, high = float(numbers.min()), float(numbers.max())
    if by == "quantile":
        values, counts = _distinct(numbers, weights)
        below = np.cumsum(counts)
        # Whole numbers, so that no share is missed by rounding.
        points = values[
            np.searchsorted(below * n_bins, np.arange(1, n_bins) * below[-1])
        ]
    else:
        shares = np.arange(1, n_bins) / n_bins
        points = low * (1 - shares) + high * shares  # high - low could overflow
    # A cut at or beyond the greatest value would leave an interval empty for good.
    return tuple(float(point) for point in np.unique(points) if low <= point < high)


def _shortfall(name: str, n_found: int, n_bins: int) -> str:
    return (
        f"variable {name!r} falls into {n_found} interval{'s' * (n_found > 1)} instead"
        f" of {n_bins}, because many rows share a value."
    )
