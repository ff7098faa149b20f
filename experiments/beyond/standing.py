"""Where the mean of many networks stands among other ways, over all tables together.

Methods are compared on the samples that both have filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.beyond.calibration import calibration_error, error_by_chance
from experiments.design import Overview

__all__ = ["summary"]

OURS = "ensemble"
SINGLE = "em"
TRUTH = "truth"
NEAR = 0.003
"""Of accuracies: so far behind the best peer is level with it."""

Row = Mapping[str, Any]
Samples = dict[str, dict[int, Row]]
"""The rows of one setting, by method and repetition."""


def summary(rows: Sequence[Row]) -> list[Overview]:
    """Give the overviews of real tables and of calibration."""
    settings: dict[str, Samples] = {}
    for row in rows:
        samples = settings.setdefault(row["setting"], {})
        samples.setdefault(row["method"], {})[row["repetition"]] = row
    real = {
        name: samples
        for name, samples in settings.items()
        if TRUTH not in samples and OURS in samples
    }
    if not real:
        return []
    return [_against(real), _ranked(real), _calibrated(real)]


def _against(real: Mapping[str, Samples]) -> Overview:
    """Compare with each other method, and with the best peer of each table."""
    rows = []
    for method in _methods(real):
        if method == OURS:
            continue
        gains: list[float] = []
        losses: list[float] = []
        for samples in real.values():
            gains += _differences(samples, method, "accuracy")
            losses += _differences(samples, method, "log_loss")
        rows.append(
            (
                method,
                str(len(gains)),
                f"{100 * float(np.mean(gains)):+.1f}",
                _count(np.array(gains) >= -NEAR),
                f"{float(np.mean(losses)):+.3f}" if losses else "none",
                _count(np.array(losses) < 0) if losses else "none",
            )
        )
    best = [b for b in map(_behind_best, real.values()) if b is not None]
    if best:
        is_near = _count(np.array(best) >= -NEAR)
        mean = f"{100 * float(np.mean(best)):+.1f}"
        rows.append(("the best peer", str(len(best)), mean, is_near, "", ""))
    words = (
        f"`{OURS}` against each other method on real tables: differences of means over "
        "common samples, table by table. Level: ahead, or behind by at most "
        f"{100 * NEAR:g} points. The best peer of a table is the one most accurate "
        "there."
    )
    header = ("against", "tables", "accuracy (points)", "level or better")
    return Overview(words, (*header, "log-loss (nats)", "lower"), tuple(rows))


def _ranked(real: Mapping[str, Samples]) -> Overview:
    """Rank the methods that all tables of a part have."""
    methods = _methods(real)
    most = max(len(_tables_of(real, m)) for m in methods)
    ranked = [m for m in methods if 2 * len(_tables_of(real, m)) > most]
    accuracy, loss = [], []
    for samples in real.values():
        if not set(ranked) <= samples.keys():
            continue
        common = set.intersection(*(set(samples[m]) for m in ranked))
        if common:
            found = [_mean(samples[m], common, "accuracy") for m in ranked]
            accuracy.append(_ranks([-x for x in found]))
            loss.append(_ranks([_mean(samples[m], common, "log_loss") for m in ranked]))
    rows = (
        [
            (method, f"{a:.2f}", f"{b:.2f}")
            for method, a, b in zip(
                ranked, np.mean(accuracy, axis=0), np.mean(loss, axis=0), strict=True
            )
        ]
        if accuracy
        else []
    )
    rows.sort(key=lambda row: float(row[1]))
    words = (
        f"Mean ranks on the {len(accuracy)} tables that all of these methods filled (1 "
        "is best; a log-loss that is infinite comes last)."
    )
    return Overview(words, ("method", "accuracy", "log-loss"), tuple(rows))


def _calibrated(real: Mapping[str, Samples]) -> Overview:
    """Show calibration errors: sample by sample, of all samples, and by chance."""
    rows = []
    for method in _methods(real):
        single, by_chance, pooled, pooled_chance = [], [], [], []
        for samples in real.values():
            found = list(samples.get(method, {}).values())
            if not found or found[0].get("bins") is None:
                continue
            bins = np.sum([np.array(row["bins"]) for row in found], axis=0)
            single.append(np.mean([row["calibration_error"] for row in found]))
            by_chance.append(np.mean([row["calibration_by_chance"] for row in found]))
            pooled.append(calibration_error(bins))
            pooled_chance.append(error_by_chance(bins))
        if single:
            columns = (single, by_chance, pooled, pooled_chance)
            means = [f"{100 * float(np.mean(x)):.1f}" for x in columns]
            rows.append((method, str(len(single)), *means))
    words = (
        "Expected calibration error on real tables in per cent, means over tables; and "
        "what it would be by chance if every probability were exact. Of all samples: "
        "the cells of all samples of a table together."
    )
    header = ("method", "tables", "of a sample", "by chance")
    return Overview(words, (*header, "of all samples", "by chance"), tuple(rows))


def _methods(real: Mapping[str, Samples]) -> list[str]:
    return list(dict.fromkeys(m for samples in real.values() for m in samples))


def _tables_of(real: Mapping[str, Samples], method: str) -> list[str]:
    return [name for name, samples in real.items() if method in samples]


def _differences(samples: Samples, method: str, measure: str) -> Iterator[float]:
    """Give ours less another's on the samples of both; nothing if there is none."""
    common = [
        number
        for number, row in samples.get(method, {}).items()
        if number in samples[OURS]
        and row.get(measure) is not None
        and samples[OURS][number].get(measure) is not None
    ]
    if common:
        ours, other = (_mean(samples[m], common, measure) for m in (OURS, method))
        yield ours - other


def _behind_best(samples: Samples) -> float | None:
    """Give ours less the best peer's accuracy; each on the samples of both."""
    peers = [m for m in samples if m not in (OURS, SINGLE)]
    found = [d for m in peers for d in _differences(samples, m, "accuracy")]
    return min(found) if found else None


def _mean(rows: Mapping[int, Row], numbers: Any, measure: str) -> float:
    values = [rows[number].get(measure) for number in sorted(numbers)]
    return float(np.mean([np.inf if x is None else x for x in values]))


def _ranks(values: Sequence[float]) -> list[float]:
    """Rank values from the lowest; equal ones share the mean of their ranks.

    Examples
    --------
    >>> _ranks([0.3, 0.1, 0.3])
    [2.5, 1.0, 2.5]
    """
    array = np.array(values)
    return [
        float((array < x).sum() + ((array == x).sum() + 1) / 2) for x in array.tolist()
    ]


def _count(told: NDArray[np.bool_]) -> str:
    return f"{int(told.sum())} of {len(told)}"
