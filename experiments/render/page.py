"""Results as Markdown and CSV."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path

from bayesmend._files import write_text
from experiments.design import Experiment
from experiments.paper.published import SOURCE
from experiments.render.results import Comparison, Line, Results
from experiments.render.sweeps import lay_out, show_mean, show_seconds

__all__ = [
    "render_csv",
    "render_markdown",
    "render_tables",
    "render_tests_csv",
    "write_results",
]

# Columns of the CSV files, and where their values are.
_IN_LINES = {
    "block": "block.label",
    "measure": "measure.name",
    "method": "method.name",
    "label": "method.label",
    "is_shown": "is_shown",
    "is_best": "is_best",
    "published": "published",
    "measured": "interval.mean",
    "difference": "difference",
    "low": "interval.low",
    "high": "interval.high",
    "repetitions": "interval.n",
    "mean_hidden": "mean_hidden",
    "mean_seconds": "mean_seconds",
    "share_optimal": "share_optimal",
    "mean_gap": "mean_gap",
}
_IN_COMPARISONS = {
    "block": "block.label",
    "measure": "measure.name",
    "method": "method.name",
    "other": "other.name",
    "repetitions": "tests.n",
    "mean_difference": "tests.mean_difference",
    "t": "tests.t",
    "p_t": "tests.p_t",
    "better": "tests.wins",
    "worse": "tests.losses",
    "equal": "tests.ties",
    "p_sign": "tests.p_sign",
}

_BOLD = (
    "Bold: significantly better (paired t-test, 5 %) than every method of the setting "
    "that is not bold; a method with fewer repetitions than others does not compete."
)


def write_results(results: Results, folder: Path) -> list[Path]:
    """Write the tables, each whole or not at all; give their paths."""
    name = results.experiment.name
    texts = {
        f"{name}.md": render_markdown(results),
        f"{name}.csv": render_csv(results),
        f"{name}-tests.csv": render_tests_csv(results),
    }
    for file, text in texts.items():
        write_text(folder / file, text)
    return [folder / file for file in texts]


def render_markdown(results: Results) -> str:
    """Give title, table, tests and notes as one Markdown page."""
    experiment = results.experiment
    parts = [render_tables(results)]
    tests = "" if experiment.curves else _tests(results)
    if tests:
        parts.append("## Tests\n")
        parts.append(
            "Paired over repetitions: mean difference, two-sided t-test, and the exact "
            "sign test on how often the first method is better, worse or equal. All "
            f"other pairs are in `{experiment.name}-tests.csv`.\n"
        )
        parts.append(tests)
    notes = [*experiment.notes, *_limit_note(results)]
    if notes:
        parts.append("## Protocol\n")
        parts.append("\n".join(f"- {note}" for note in notes) + "\n")
    return "\n".join(parts)


def _limit_note(results: Results) -> list[str]:
    """Say how many seconds the methods of the page had, where they had a limit."""
    present = {line.method.name for line in results.lines}
    by_limit: dict[float, list[str]] = {}
    for method, limit in results.experiment.limits.items():
        if method in present:
            by_limit.setdefault(limit, []).append(method)
    texts = [f"{limit:g} s ({', '.join(found)})" for limit, found in by_limit.items()]
    return [f"Limit of each run: {', '.join(texts)}."] if texts else []


def render_tables(results: Results) -> str:
    """Give title and tables alone."""
    experiment = results.experiment
    parts = [f"# {experiment.title}\n", _extent(results)]
    if experiment.summary is not None:
        parts.append("## In short\n")
        parts += [
            f"{told.words}\n\n{_table(told.header, told.rows)}"
            for told in results.summary
        ]
    for measure in experiment.measures:
        lines = [x for x in results.lines if x.measure == measure and x.is_shown]
        parts.append(f"## {measure.label[:1].upper()}{measure.label[1:]}\n")
        if experiment.curves is None:
            parts.append(_markdown_table(lines))
        else:
            parts.append(_sweep_table(lines, experiment))
    if experiment.curves is not None:
        lines = [x for x in results.lines if x.measure == experiment.measures[0]]
        sweep = lay_out(lines, experiment.curves)
        parts.append("## Seconds of a run\n")
        parts.append(_table(*sweep.table(experiment.curves.x_label, show_seconds)))
    return "\n".join(parts)


def _extent(results: Results) -> str:
    """Say how much of the protocol the table rests on."""
    done = f"{results.n_done:,} of {results.n_all:,}"
    lacks = [] if results.is_complete else [f"{done} runs, hence fewer repetitions"]
    lacks += results.experiment.departures
    text = (
        f"**Not the full protocol:** {'; '.join(lacks)}."
        if lacks
        else f"All {done} runs of the full protocol."
    )
    versions = ", ".join(results.versions)
    builds = f", rows of {results.n_builds} builds" if results.n_builds > 1 else ""
    return f"{text} bayesmend {versions}{builds}, seed {results.experiment.seed}.\n"


def _markdown_table(lines: Sequence[Line]) -> str:
    is_compared = any(line.published is not None for line in lines)
    has_bounds = any(line.share_optimal is not None for line in lines)
    header = ["setting", "method"]
    header += ["published", "measured", "difference"] if is_compared else ["measured"]
    header += ["95 % interval", "repetitions", "hidden cells", "seconds"]
    header += ["proof"] if has_bounds else []
    rows = []
    previous = None
    for line in lines:
        digits = line.measure.digits
        mean = f"{line.interval.mean:.{digits}f}"
        measured = f"**{mean}**" if line.is_best else mean
        row = ["" if line.block is previous else line.block.label, line.method.label]
        previous = line.block
        if is_compared:
            row += [_number(line.published, digits), measured]
            row += [_number(line.difference, digits, sign="+")]
        else:
            row += [measured]
        low, high = line.interval.low, line.interval.high
        row += [f"{low:.{digits}f} to {high:.{digits}f}" if math.isfinite(low) else ""]
        row += [str(line.interval.n), f"{line.mean_hidden:.1f}"]
        row += [f"{line.mean_seconds:.3g}"]
        row += [_proof(line)] if has_bounds else []
        rows.append(row)
    legend = _BOLD
    if any(line.is_weighted for line in lines):
        legend += (
            " Without interval and tests: means over classes of which only a part of "
            "the runs is there, weighted by the numbers of runs of the full protocol."
        )
    if is_compared:
        legend += f" Published: {SOURCE}."
    return f"{_table(header, rows)}\n{legend}\n"


def _sweep_table(lines: Sequence[Line], experiment: Experiment) -> str:
    """Give one line for each setting, one column for each method."""
    assert experiment.curves is not None
    table = _table(
        *lay_out(lines, experiment.curves).table(experiment.curves.x_label, show_mean)
    )
    legend = (
        "Mean ± half the 95 % interval, or [its ends] where it is not symmetric; in "
        "brackets the repetitions of a method that has fewer than others. All else is "
        f"in `{experiment.name}.csv`, the paired tests in "
        f"`{experiment.name}-tests.csv`."
    )
    if any(line.is_best for line in lines):
        legend += f" {_BOLD}"
    return f"{table}\n{legend}\n"


def _proof(line: Line) -> str:
    if line.share_optimal is None or line.mean_gap is None:
        return ""
    text = f"{line.share_optimal:.0%} optimal"
    return text if line.share_optimal == 1 else f"{text}, mean gap {line.mean_gap:.3g}"


def _tests(results: Results) -> str:
    """Give the tests of the methods in focus, in the blocks that are drawn."""
    shown = {
        (x.block.label, x.measure.name, x.method.name)
        for x in results.lines
        if x.is_shown and x.block.is_drawn
    }
    focus = results.experiment.focus
    rows = []
    for found in results.comparisons:
        names = (found.method.name, found.other.name)
        place = (found.block.label, found.measure.name)
        if any((*place, name) not in shown for name in names):
            continue
        if focus and not set(focus) & set(names):
            continue
        is_first = not focus or found.method.name in focus
        rows.append(_test_row(found, is_first=is_first))
    header = ["setting", "measure", "method", "against", "difference", "t-test p"]
    header += ["better", "worse", "equal", "sign test p"]
    return _table(header, rows) if rows else ""


def _test_row(found: Comparison, *, is_first: bool) -> list[str]:
    """Lay out a comparison as seen by its first or its second method."""
    labels = [found.method.label, found.other.label]
    tests = found.tests
    signs = [tests.wins, tests.losses]
    difference = tests.mean_difference
    if not is_first:
        labels.reverse()
        signs.reverse()
        difference = -difference
    if not found.measure.is_better_high:
        signs.reverse()
    return [
        found.block.label,
        found.measure.label,
        *labels,
        f"{difference + 0.0:+.{found.measure.digits}f}",
        _p_value(tests.p_t),
        *(str(count) for count in signs),
        str(tests.ties),
        _p_value(tests.p_sign),
    ]


def _p_value(p: float) -> str:
    """Show a p-value.

    Examples
    --------
    >>> _p_value(0.04321), _p_value(1e-9), _p_value(float("nan"))
    ('0.043', '< 0.001', 'none')
    """
    if math.isnan(p):
        return "none"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _number(value: float | None, digits: int, *, sign: str = "") -> str:
    return "" if value is None else f"{value:{sign}.{digits}f}"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n"
        for line in lines
    )


def render_csv(results: Results) -> str:
    """Give every line, those of whole families too."""
    return _csv(results.experiment.name, _IN_LINES, results.lines)


def render_tests_csv(results: Results) -> str:
    """Give the tests of every two methods of every block."""
    return _csv(results.experiment.name, _IN_COMPARISONS, results.comparisons)


def _csv(name: str, columns: Mapping[str, str], found: Iterable[object]) -> str:
    values = attrgetter(*columns.values())
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("experiment", *columns))
    writer.writerows((name, *map(_cell, values(each))) for each in found)
    return text.getvalue()


def _cell(value: object) -> object:
    """Round off the noise of floating point; what is unknown is empty."""
    if isinstance(value, float):
        return f"{value:.8g}" if math.isfinite(value) else ""
    if isinstance(value, bool):
        return int(value)
    return "" if value is None else value
