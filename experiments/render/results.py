"""From raw rows to results: means with intervals, and paired tests.

Everything measured comes from raw rows. The value of a repetition is the mean over the
settings of a block that have this repetition, and counts only when all of them are
there: a half-finished experiment gives a smaller number of repetitions, not a skewed
mean. Where settings have repetitions of their own, see `experiments.render.strata`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from bayesmend.errors import DataError
from experiments.design import Block, Experiment, Measure, Method, Overview
from experiments.paper.published import published_values
from experiments.render.statistics import (
    MeanInterval,
    PairedTests,
    mean_interval,
    paired_tests,
    share_interval,
)
from experiments.render.strata import Strata
from experiments.run.rawrows import Row, check_data

__all__ = ["Comparison", "Line", "Results", "summarise"]

LEVEL = 0.05
"""Significance level of the paper."""

Values = dict[int, float]


@dataclass(frozen=True, slots=True)
class Line:
    """What one method achieves in one block."""

    block: Block
    measure: Measure
    method: Method
    values: Values
    """The value of each repetition, scaled."""
    interval: MeanInterval
    published: float | None
    """The published mean, where there is one."""
    mean_hidden: float
    """Hidden cells of a run."""
    mean_seconds: float
    share_optimal: float | None
    """Share of runs with a proof, where a bound is known."""
    mean_gap: float | None
    """In nats, where a bound is known."""
    is_shown: bool = True
    """False for methods that are not the best of their family here."""
    is_best: bool = False
    """Significantly better (paired t-test, 5 %) than every competitor that is not
    itself marked."""
    is_weighted: bool = False
    """The runs there are have other shares of the settings than the design: means are
    weighted by those of the design, without an interval and tests."""

    @property
    def difference(self) -> float | None:
        """Measured minus published."""
        return None if self.published is None else self.interval.mean - self.published


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two methods on the same repetitions of a block."""

    block: Block
    measure: Measure
    method: Method
    other: Method
    tests: PairedTests


@dataclass(frozen=True, slots=True)
class Results:
    """All lines and comparisons of an experiment, and how much of it was done."""

    experiment: Experiment
    lines: tuple[Line, ...]
    comparisons: tuple[Comparison, ...]
    n_done: int
    n_all: int
    versions: tuple[str, ...]
    n_builds: int
    summary: tuple[Overview, ...] = ()
    """What all rows together show."""

    @property
    def is_complete(self) -> bool:
        """Whether every run of the full protocol is there."""
        return self.n_done >= self.n_all


def summarise(experiment: Experiment, rows: Iterable[Row]) -> Results:
    """Work out the results of the rows there are.

    Parameters
    ----------
    experiment : Experiment
        The whole design, also when a part of it was run.
    rows : iterable of dict
        Raw rows; those of settings and methods that the design does not have are
        left out.

    Raises
    ------
    DataError
        When methods were given different tables in the same run, or runs of a setting
        different data.
    """
    wanted = {(u.setting.name, u.repetition, m.name) for u, m in experiment.runs()}
    kept: dict[tuple[str, int, str], Row] = {}
    for row in rows:
        key = (row["setting"], row["repetition"], row["method"])
        if key in wanted:
            kept.setdefault(key, row)
    check_data(kept.values())
    _check_tables(kept.values())
    lines: list[Line] = []
    comparisons: list[Comparison] = []
    for measure in experiment.measures:
        for block in experiment.blocks:
            found = _block_lines(experiment, block, measure, kept)
            pairs = _compare(found, Strata.of(experiment, block))
            lines += _mark(found, pairs)
            comparisons += pairs
    versions = sorted({str(row.get("version", "")) for row in kept.values()})
    return Results(
        experiment,
        tuple(lines),
        tuple(comparisons),
        len(kept),
        len(wanted),
        tuple(versions),
        # Old rows do not name their build: it counts as one.
        len({row.get("build", "") for row in kept.values()}),
        tuple(experiment.summary(list(kept.values()))) if experiment.summary else (),
    )


def _check_tables(rows: Iterable[Row]) -> None:
    tables: dict[tuple[str, int], str] = {}
    for row in rows:
        key = (row["setting"], row["repetition"])
        if tables.setdefault(key, row.get("table", "")) != row.get("table", ""):
            message = (
                f"methods were given different tables in repetition {key[1]} of "
                f"{key[0]}: the data or the package changed between two runs. Start "
                "anew in another folder with --out."
            )
            raise DataError(message)


def _block_lines(
    experiment: Experiment,
    block: Block,
    measure: Measure,
    kept: Mapping[tuple[str, int, str], Row],
) -> list[Line]:
    published = published_values(experiment.name, block.published)
    strata = Strata.of(experiment, block)
    lines = []
    for method in experiment.methods:
        groups = _repetitions(strata, method, kept)
        values = _values(groups, measure)
        is_told = method.reports is None or measure.name in method.reports
        if not values or not is_told or not strata.is_covered(values):
            continue
        used = [(number, row) for number in values for row in groups[number]]
        gaps = _gaps(used)
        is_weighted = not strata.is_proportional(values)
        lines.append(
            Line(
                block=block,
                measure=measure,
                method=method,
                values=values,
                interval=_interval(values, measure, strata, is_weighted=is_weighted),
                published=published.get(method.family or method.name)
                if measure.name == "accuracy"
                else None,
                mean_hidden=strata.mean([(n, row["n_hidden"]) for n, row in used]),
                mean_seconds=strata.mean([(n, row["seconds"]) for n, row in used]),
                share_optimal=strata.mean(
                    # Perhaps given the mechanism.
                    [(n, row["status"].startswith("optimal")) for n, row in used]
                )
                if gaps
                else None,
                mean_gap=strata.mean(gaps) if gaps else None,
                is_weighted=is_weighted,
            )
        )
    return _choose_in_families(lines)


def _interval(
    values: Values, measure: Measure, strata: Strata, *, is_weighted: bool
) -> MeanInterval:
    numbers = list(values.values())
    if is_weighted:
        mean = strata.mean(values.items())
        return replace(mean_interval(numbers), mean=mean, low=math.nan, high=math.nan)
    if not measure.is_success:
        return mean_interval(numbers, limits=measure.limits)
    found = share_interval([number / measure.scale for number in numbers])
    return replace(
        found,
        mean=_mean(numbers),
        low=measure.scale * found.low,
        high=measure.scale * found.high,
    )


def _repetitions(
    strata: Strata, method: Method, kept: Mapping[tuple[str, int, str], Row]
) -> dict[int, list[Row]]:
    """Give the rows of each repetition that all of its settings have."""
    return {
        repetition: [kept[name, repetition, method.name] for name in names]
        for repetition, names in strata.settings.items()
        if all((name, repetition, method.name) in kept for name in names)
    }


def _values(groups: Mapping[int, Sequence[Row]], measure: Measure) -> Values:
    """Average over settings; a run without the measure (no hidden cell) has no say."""
    values = {}
    for repetition, rows in groups.items():
        known = [row[measure.name] for row in rows if row.get(measure.name) is not None]
        if known:
            values[repetition] = measure.scale * _mean(known)
    return values


def _gaps(rows: Iterable[tuple[int, Row]]) -> list[tuple[int, float]]:
    return [
        (repetition, max(0.0, row["bound"] - row["score"]))
        for repetition, row in rows
        if row.get("bound") is not None and row.get("score") is not None
    ]


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def _choose_in_families(lines: list[Line]) -> list[Line]:
    """Show the best member of each family only, as the paper does with kernels."""
    best: dict[str, Line] = {}
    for line in lines:
        family = line.method.family
        if family and (family not in best or _merit(line) > _merit(best[family])):
            best[family] = line
    return [
        line
        if not line.method.family or line is best[line.method.family]
        else replace(line, is_shown=False)
        for line in lines
    ]


def _merit(line: Line) -> float:
    return line.interval.mean * (1 if line.measure.is_better_high else -1)


def _compare(lines: Sequence[Line], strata: Strata) -> list[Comparison]:
    comparisons = []
    for one, two in combinations(lines, 2):
        common = sorted(one.values.keys() & two.values.keys())
        if not common or not strata.is_proportional(common):
            continue
        a = [one.values[repetition] for repetition in common]
        b = [two.values[repetition] for repetition in common]
        tests = paired_tests(a, b)
        comparisons.append(
            Comparison(one.block, one.measure, one.method, two.method, tests)
        )
    return comparisons


def _mark(lines: Sequence[Line], comparisons: Sequence[Comparison]) -> list[Line]:
    """Mark the fewest of the leading methods that beat all the others.

    As in the paper, two marked results are each significantly better than the rest,
    and not necessarily different from each other.
    """
    names = _rivals(lines)
    wins = {_winner(found) for found in comparisons}
    # Whoever beats all the others has more wins than any of them.
    rivals = sorted(names, key=lambda one: -sum((one, two) in wins for two in names))
    marked: set[str] = set()
    for size in range(1, len(rivals)):
        ahead, behind = rivals[:size], rivals[size:]
        if all((one, two) in wins for one in ahead for two in behind):
            marked = set(ahead)
            break
    return [replace(x, is_best=x.method.name in marked and x.is_shown) for x in lines]


def _rivals(lines: Sequence[Line]) -> list[str]:
    """Name the methods that compete; half-finished ones do not yet."""
    found = [
        x
        for x in lines
        if x.is_shown and x.measure.is_contest and not x.method.is_reference
    ]
    most = max((x.interval.n for x in found), default=0)
    return [x.method.name for x in found if x.interval.n == most]


def _winner(found: Comparison) -> tuple[str, str] | None:
    """Name the better method and the other one, if their pairs tell them apart."""
    if not found.tests.p_t < LEVEL:  # NaN is no win either
        return None
    names = (found.method.name, found.other.name)
    is_more = found.tests.mean_difference > 0
    return names if is_more == found.measure.is_better_high else names[::-1]
