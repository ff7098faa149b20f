"""Results as a figure: every repetition, mean and interval, and what was published."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayesmend._files import write_chunks, write_text
from experiments.colours import colour_of
from experiments.curves import draw_sweep
from experiments.extras import need
from experiments.results import Line, Results
from experiments.sweeps import lay_out

__all__ = ["draw_lines", "write_figures"]

_FORMATS = ("png", "svg")


def draw_lines(lines: Sequence[Line], *, ax: Any) -> Any:
    """Draw one block: a row for each method.

    Parameters
    ----------
    lines : sequence of Line
        The lines of one block and one measure.
    ax : matplotlib Axes
        Where to draw.

    Returns
    -------
    Axes
        The same.
    """
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
    ax.set_title(lines[0].block.label, loc="left", fontsize=9)
    ax.tick_params(labelsize=8)
    limits = lines[0].measure.limits
    if limits is not None and np.isfinite(limits).all():
        ax.set_xlim(limits)
    ax.grid(axis="x", linewidth=0.4, alpha=0.6)
    ax.set_axisbelow(True)
    return ax


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
