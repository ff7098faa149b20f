"""Where a plot is drawn, and what all plots have in common."""

from __future__ import annotations

from typing import Any, NoReturn

from bayesmend._packages import require
from bayesmend.errors import ParameterError
from bayesmend.plot.colours import FAINT, SOFT

__all__ = ["SHORT", "axes_of", "finish", "kind_error"]

SHORT = 24
"""Characters of a name that an axis has room for."""


def axes_of(ax: Any, width: float = 6.4, height: float = 4.0) -> Any:
    """Return the axes that were given, or those of a new figure (in inches)."""
    axes = require("matplotlib.axes", extra="plot").Axes
    if ax is None:
        pyplot = require("matplotlib.pyplot", extra="plot")
        return pyplot.subplots(figsize=(width, height), layout="constrained")[1]
    if not isinstance(ax, axes):
        msg = (
            "ax must be the axes of a matplotlib figure. Got an object of type "
            f"{type(ax).__name__} instead."
        )
        raise ParameterError(msg)
    return ax


def finish(ax: Any, grid: str | None = None) -> Any:
    """Leave out what does not tell anything."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(SOFT)
    if grid is not None:
        ax.grid(axis=grid, color=FAINT, linewidth=0.6)
        ax.set_axisbelow(True)
    return ax


def kind_error(name: str, wanted: str, got: object) -> NoReturn:
    """Say what a plot is made of."""
    msg = (
        f"{name} must be {wanted}. Got an object of type {type(got).__name__} instead."
    )
    raise ParameterError(msg)
