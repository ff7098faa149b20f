"""Plots of tables: where cells are missing, and what is missing together."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend._entrance import entrance
from bayesmend._packages import require
from bayesmend.data.reading import Reading
from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.plot.axes import axes_of, finish, shown
from bayesmend.plot.colours import FAINT, SOFT, colour_of

__all__ = ["missing", "patterns"]

_SMALLEST = 4.0  # points of a name that can be read


@entrance
def missing(
    data: Any, *, most: int = 1000, ax: Any = None, **reading: Unpack[Reading]
) -> Any:
    """Draw which cells of a table are missing: dark, in the order of the rows.

    Parameters
    ----------
    {table}
    most : int, default=1000
        So many rows are drawn; of a longer table every second, every third and so on.
    {ax}
    {reading}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: a column for each variable, with the share that is missing.
        Columns that are passed through are no variables.

    Examples
    --------
    >>> ax = missing({"a": ["x", None, "y"], "b": ["u", "v", None]}, columns=["a", "b"])
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['a  33 %', 'b  33 %']
    """
    check_integer("most", most, 1)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    mask = table.missing_mask
    step = -(-table.n_rows // most)
    ax = axes_of(ax, *_size(table.n_vars, 4.8))
    # Each row that is drawn stands for all up to the next.
    extent = (-0.5, table.n_vars - 0.5, table.n_rows, 0)
    _draw_cells(ax, mask[::step], extent)
    shares = mask.mean(axis=0)
    names = [
        f"{shown(name)}  {_percent(share)}"
        for name, share in zip(table.names, shares.tolist(), strict=True)
    ]
    _name_columns(ax, names)
    ax.set_ylabel("row" if step == 1 else f"row, one in {step:,} drawn")
    return finish(ax)


@entrance
def patterns(
    data: Any, *, most: int = 20, ax: Any = None, **reading: Unpack[Reading]
) -> Any:
    """Draw which variables are missing together, and in how many rows.

    Parameters
    ----------
    {table}
    most : int, default=20
        So many combinations of missing variables are drawn, the most frequent first.
    {ax}
    {reading}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: a row for each combination, dark where a variable is missing.

    Examples
    --------
    >>> table = {"a": ["x", None, "y", "x"], "b": ["u", "v", None, "v"]}
    >>> ax = patterns(table, columns=["a", "b"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['2 complete rows, 50 %', '1 row, 25 %', '1 row, 25 %']
    """
    check_integer("most", most, 1)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    mask = table.missing_mask
    columns = np.flatnonzero(mask.any(axis=0))
    together, counts = np.unique(mask[:, columns], axis=0, return_counts=True)
    order = np.lexsort((together.sum(axis=1), -counts))[:most]
    n_shown = len(order)
    ax = axes_of(ax, *_size(len(columns), 1.2 + 0.26 * n_shown))
    if not len(columns):
        ax.set_xlabel("no cell is missing")
        ax.set_xticks([])
        ax.set_yticks([])
        return finish(ax)
    _draw_cells(ax, together[order], (-0.5, len(columns) - 0.5, n_shown - 0.5, -0.5))
    for x in range(1, len(columns)):
        ax.axvline(x - 0.5, color="white", linewidth=1.0)
    for y in range(1, n_shown):
        ax.axhline(y - 0.5, color="white", linewidth=1.0)
    n_rows = counts[order].tolist()
    is_complete = [not any(row) for row in together[order].tolist()]
    told = [
        f"{quantity(n, 'complete row' if whole else 'row')}, "
        f"{_percent(n / table.n_rows)}"
        for n, whole in zip(n_rows, is_complete, strict=True)
    ]
    ax.set_yticks(range(n_shown), told)
    names = [shown(table.names[v]) for v in columns]
    _name_columns(ax, names)
    ax.tick_params(length=0)
    if len(counts) > n_shown:
        rows = quantity(table.n_rows - sum(n_rows), "row")
        rest = quantity(len(counts) - n_shown, "rarer combination")
        told_rest = f"{rest} not shown ({rows})"
        ax.set_title(told_rest, loc="right", fontsize="small", color=SOFT)
    return finish(ax)


def _size(n_vars: int, height: float) -> tuple[float, float]:
    """Return the inches that so many columns take, with their names below."""
    return min(12.0, max(3.2, 1.4 + 0.26 * n_vars)), min(12.0, height + 1.0)


def _name_columns(ax: Any, names: list[str]) -> None:
    """Write the names upwards, as small as they must be, or how many there are."""
    inches = ax.get_window_extent().width / ax.figure.dpi
    size = min(10.0, 0.8 * 72.0 * inches / max(len(names), 1))
    if size >= _SMALLEST:
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize=size)
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(names):,} variables")


def _draw_cells(ax: Any, mask: NDArray[np.bool_], extent: tuple[float, ...]) -> None:
    colours = require("matplotlib.colors")
    shades = colours.ListedColormap([FAINT, colour_of("em")])
    ax.imshow(
        mask,
        cmap=shades,
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
        extent=extent,
    )


def _percent(share: float) -> str:
    """Show a share; what is there is never shown as nothing.

    Examples
    --------
    >>> [_percent(share) for share in (0, 0.001, 0.333, 0.999, 1)]
    ['0 %', '<1 %', '33 %', '>99 %', '100 %']
    """
    if 0 < share < 0.005:
        return "<1 %"
    return ">99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"
