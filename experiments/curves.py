"""Sweeps as figures: a panel for each part of the sweep, a curve for each method."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.colours import colour_of
from experiments.design import Curves
from experiments.extras import need
from experiments.results import Line
from experiments.sweeps import Sweep

__all__ = ["draw_panel", "draw_sweep"]

_COLUMNS = 3


def draw_panel(sweep: Sweep, panel: str, *, ax: Any) -> Any:
    """Draw the curves of one panel, each mean with its 95 % interval.

    Parameters
    ----------
    sweep : Sweep
        All lines by their places.
    panel : str
        Title of the panel.
    ax : matplotlib Axes
        Where to draw.

    Returns
    -------
    Axes
        The same.
    """
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
    ax.set_title(panel, loc="left", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.grid(linewidth=0.4, alpha=0.6)
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
    """Draw all panels of a sweep and one legend.

    Parameters
    ----------
    sweep : Sweep
        The lines of one measure by their places.
    curves : Curves
        What is on the axis.
    label : str
        The measure.

    Returns
    -------
    matplotlib Figure
        The figure, not yet saved.
    """
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
        ncols=4,
        fontsize=7,
        frameon=False,
    )
    return figure
