"""Results as a figure: every repetition, mean and interval, and what was published."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesmend import plot
from bayesmend._files import write_chunks, write_text
from experiments.design import Curves
from experiments.packages import need
from experiments.render.results import Line, Results
from experiments.render.sweeps import Sweep, lay_out

__all__ = ["colour_of", "draw_lines", "draw_panel", "draw_sweep", "write_figures"]

_FORMATS = ("png", "svg")
_COLUMNS = 3
# Of those that the package does not know.
_PEERS = {
    "svm": "#009e73",
    "lapsvm": "#00664a",
    "knn": "#cc79a7",
    "iterative-forest": "#9b4a7a",
    "iterative-logistic": "#e3a6c7",
    "miceforest": "#7a5c00",
    "complete": "#5f5f5f",
    "forest": "#9b4a7a",
    "logistic": "#e3a6c7",
    "naive-bayes": "#009e73",
}


def colour_of(method: str | int) -> str:
    """Give the colour of a method, the same in every figure of the project.

    Examples
    --------
    >>> colour_of("svm-rbf") == colour_of("svm-poly") != colour_of("exact")
    True
    """
    return plot.colour_of(method, others=_PEERS)


def draw_lines(lines: Sequence[Line], *, ax: Any) -> Any:
    """Draw one block: a row for each method."""
    for y, line in enumerate(lines):
        colour = colour_of(line.method.name)
        values = np.array(list(line.values.values()))
        # Equal values would hide each other: they are spread in a fixed pattern.
        spread = 0.28 * (np.arange(len(values)) * 0.618034 % 1 - 0.5)
        alpha = min(0.7, max(0.15, 10 / len(values)))
        ax.scatter(
            values,
            y + spread,
            s=8,
            color=colour,
            alpha=alpha,
            linewidths=0,
            clip_on=False,
        )
        low, high = line.interval.low, line.interval.high
        if np.isfinite(low):
            ax.plot([low, high], [y, y], color=colour, linewidth=2.5, clip_on=False)
        ax.plot(line.interval.mean, y, "o", color=colour, markersize=6, clip_on=False)
        if line.published is not None:
            ax.plot(
                line.published,
                y,
                "D",
                color="#222222",
                mfc="none",
                markersize=6,
                clip_on=False,
            )
    ax.set_yticks(range(len(lines)), [line.method.label for line in lines])
    ax.set_ylim(len(lines) - 0.5, -0.5)
    limits = lines[0].measure.limits
    if limits is not None and np.isfinite(limits).all():
        ax.set_xlim(limits)
    return _finish(ax, lines[0].block.label, size=8, grid="x")


def write_figures(results: Results, folder: Path) -> list[Path]:
    """Draw all blocks of each measure, as PNG and SVG; give the paths of the files.

    A file appears whole or not at all.
    """
    paths = []
    curves = results.experiment.curves
    for measure in results.experiment.measures:
        lines = [
            line
            for line in results.lines
            if line.measure == measure and line.is_shown and line.block.is_drawn
        ]
        if not lines:
            continue
        if curves is None:
            figure = _draw(lines, measure.label)
        else:
            figure = draw_sweep(lay_out(lines, curves), curves, measure.label)
        is_main = measure is results.experiment.measures[0]
        name = results.experiment.name + ("" if is_main else f"-{measure.name}")
        paths += [_save(figure, folder / f"{name}.{suffix}") for suffix in _FORMATS]
    return paths


def _draw(lines: Sequence[Line], label: str) -> Any:
    by_block: dict[str, list[Line]] = {}
    for line in lines:
        by_block.setdefault(line.block.label, []).append(line)
    blocks = list(by_block.values())
    # A figure of its own, apart from pyplot: no window, no state left behind.
    figure_class = need("matplotlib.figure").Figure
    heights = [len(block) + 1.2 for block in blocks]
    figure = figure_class(
        figsize=(7.5, 0.24 * sum(heights) + 1.0), layout="constrained"
    )
    axes = figure.subplots(
        len(blocks), 1, sharex=True, squeeze=False, height_ratios=heights
    )
    for ax, block in zip(axes[:, 0], blocks, strict=True):
        draw_lines(block, ax=ax)
    is_compared = any(line.published is not None for line in lines)
    published = "; diamond: published" if is_compared else ""
    axes[-1, 0].set_xlabel(
        f"{label}  (pale: repetitions; dot and bar: mean, 95 % interval{published})",
        fontsize=8,
    )
    return figure


def _save(figure: Any, path: Path) -> Path:
    """Write a figure so that the same figure gives the same file."""
    matplotlib = need("matplotlib")
    with matplotlib.rc_context({"svg.hashsalt": path.name, "svg.fonttype": "none"}):
        if path.suffix == ".svg":
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            write_text(path, text.getvalue())
            return path
        content = io.BytesIO()
        figure.savefig(content, format=path.suffix[1:], dpi=160)
    write_chunks(path, iter([content.getvalue()]))
    return path


def draw_panel(sweep: Sweep, panel: str, *, ax: Any) -> Any:
    """Draw the curves of one panel, each mean with its 95 % interval."""
    for label in sweep.curves:
        points = sweep.curve(panel, label)
        if not points:
            continue
        is_reference = points[0][1].method.is_reference
        ax.errorbar(
            [position for position, _ in points],
            [line.interval.mean for _, line in points],
            yerr=np.transpose([_reach(line) for _, line in points]),
            label=label,
            color=colour_of(sweep.places[label].colour),
            linestyle="--" if is_reference else "-",
            marker="o",
            markersize=3,
            linewidth=1.2,
            elinewidth=0.8,
            capsize=1.5,
            # Points at the end of the axis are drawn whole.
            clip_on=False,
        )
    _end_at_limits(sweep, panel, ax)
    positions = sweep.positions(panel)
    ax.set_xticks(positions, [f"{x:g}" for x in positions])
    return _finish(ax, panel, size=7, grid="both")


def _finish(ax: Any, title: str, *, size: int, grid: str) -> Any:
    ax.set_title(title, loc="left", fontsize=size + 1)
    ax.tick_params(labelsize=size)
    ax.grid(axis=grid, linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


def _end_at_limits(sweep: Sweep, panel: str, ax: Any) -> None:
    """Let the axis show nothing beyond what is possible."""
    bounds = [
        line.measure.limits
        for (title, *_), line in sweep.lines.items()
        if title == panel
    ]
    if bounds and bounds[0] is not None:
        low, high = bounds[0]
        bottom, top = ax.get_ylim()
        # Equal values at an end would leave no axis.
        if max(bottom, low) < min(top, high):
            ax.set_ylim(max(bottom, low), min(top, high))


def _reach(line: Line) -> tuple[float, float]:
    """How far the interval reaches down and up."""
    interval = line.interval
    if not np.isfinite(interval.half_width):
        return 0.0, 0.0
    return interval.mean - interval.low, interval.high - interval.mean


def draw_sweep(sweep: Sweep, curves: Curves, label: str) -> Any:
    """Draw all panels of a sweep and one legend; `label` names the measure."""
    # A figure of its own, apart from pyplot: no window, no state left behind.
    figure_class = need("matplotlib.figure").Figure
    n_columns = min(_COLUMNS, len(sweep.panels))
    n_rows = -(-len(sweep.panels) // n_columns)
    figure = figure_class(
        figsize=(3.0 * n_columns + 0.5, 2.2 * n_rows + 1.2), layout="constrained"
    )
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    handles: dict[str, Any] = {}
    for ax, panel in zip(axes.flat, sweep.panels, strict=False):
        draw_panel(sweep, panel, ax=ax)
        if curves.is_log:
            ax.set_xscale("log")
            # The scale brings ticks of its own.
            positions = sweep.positions(panel)
            ax.set_xticks(positions, [f"{x:g}" for x in positions])
            ax.minorticks_off()
        marks, labels = ax.get_legend_handles_labels()
        handles |= dict(zip(labels, marks, strict=True))
    for ax in axes.flat[len(sweep.panels) :]:
        ax.set_visible(False)
    figure.supxlabel(f"{curves.x_label}  (bars: 95 % intervals)", fontsize=8)
    figure.supylabel(label, fontsize=8)
    order = [name for name in sweep.curves if name in handles]
    figure.legend(
        [handles[name] for name in order],
        order,
        loc="outside upper center",
        ncols=min(4, n_columns + 1),
        fontsize=7,
        frameon=False,
    )
    return figure
