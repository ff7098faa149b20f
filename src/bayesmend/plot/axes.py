"""Where a plot is drawn, and what all plots have in common."""

from __future__ import annotations

from typing import Any, NoReturn

from bayesmend._packages import require
from bayesmend.drawing.text import cut
from bayesmend.errors import ParameterError
from bayesmend.plot.colours import FAINT, SOFT

__all__ = ["axes_of", "finish", "kind_error", "shown"]

_SHORT = 24  # characters that an axis has room for


def shown(name: object) -> str:
    r"""Return a name as an axis shows it: short, and never taken for a formula.

    Examples
    --------
    >>> print(shown("in $"), shown("a" * 30))
    in \$ aaaaaaaaaaaaaaaaaaaaaaa…
    """
    return cut(name, _SHORT).replace("$", r"\$")


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
