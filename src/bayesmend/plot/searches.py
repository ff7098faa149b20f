"""Plots of how learning went, and how good it is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayesmend._checks import check_choice
from bayesmend._entrance import entrance
from bayesmend._packages import require
from bayesmend.errors import DataError
from bayesmend.learning.multiple import MultipleImputation
from bayesmend.learning.result import LearnResult, comparable
from bayesmend.plot.axes import axes_of, finish, kind_error, shown
from bayesmend.plot.colours import SOFT, colour_of
from bayesmend.validation import Comparison

__all__ = ["calibration", "chains", "trace"]


@entrance
def calibration(comparison: Comparison, *, ax: Any = None) -> Any:
    """Draw how often the probabilities of fillings came true, for each method.

    A curve below the diagonal is that of a method too sure of itself.

    Parameters
    ----------
    comparison : Comparison
        What `cross_validate` returned.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on. Lines show the 95 % interval of each share, as if cells were
        independent.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(200, seed=1)
    >>> found = bm.cross_validate(data, methods=["em"], n_repeats=1, seed=1)
    >>> calibration(found).get_legend_handles_labels()[1]
    ['em, off by ...']
    """
    if not isinstance(comparison, Comparison):
        kind_error("comparison", "what cross_validate returned", comparison)
    ax = axes_of(ax, 5.2, 4.6)
    ax.plot([0, 1], [0, 1], color=SOFT, linewidth=1.0, linestyle=":")
    for number, method in enumerate(comparison.methods):
        p, share, n = np.array(method.curve, dtype=float).T
        error = 1.96 * np.sqrt(share * (1 - share) / n)
        colour = colour_of(method.method)
        if colour in {colour_of(m.method) for m in comparison.methods[:number]}:
            colour = colour_of(number + 1)
        ax.vlines(
            p,
            np.clip(share - error, 0, 1),
            np.clip(share + error, 0, 1),
            color=colour,
            linewidth=1.0,
            alpha=0.5,
        )
        told = f"{method.method}, off by {100 * method.calibration_error:.1f} %"
        ax.plot(p, share, color=colour, marker="o", markersize=4, label=told)
    least = min(min(share[:2]) for m in comparison.methods for share in m.curve)
    ax.set(xlim=(least - 0.05, 1.01), ylim=(least - 0.05, 1.01), aspect="equal")
    ax.set_xlabel("probability of what fills a cell")
    ax.set_ylabel("share that is right")
    ax.legend(frameon=False, loc="upper left")
    return finish(ax, "both")


@entrance
def trace(result: LearnResult, *, ax: Any = None) -> Any:
    """Draw the score against time, and the bound that no answer exceeds.

    Parameters
    ----------
    result : LearnResult
        What `learn` returned.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: each step of the search, the best score so far as a line, and
        the bound where one is known. Where a mechanism was found, the steps under it.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.hide_mcar(bm.load_network("asia").sample(50, seed=1), 0.1, seed=1)
    >>> ax = trace(bm.learn(data.data, method="local", seed=1))
    >>> ax.get_xlabel()
    'seconds'
    """
    if not isinstance(result, LearnResult):
        kind_error("result", "a LearnResult, as learn returns", result)
    if not comparable(result):
        msg = f"the method {result.method} keeps no trace of its search."
        raise DataError(msg)
    ax = axes_of(ax)
    steps = comparable(result)
    seconds = np.array([step.seconds for step in steps])
    scores = np.array([step.score for step in steps])
    best = np.maximum.accumulate(scores)
    colour = colour_of(result.method)
    ax.plot(seconds, scores, "o", color=colour, markersize=4, alpha=0.5, label="step")
    ends = [*seconds, max(result.seconds, seconds[-1])]
    ax.step(
        ends,
        [*best, best[-1]],
        where="post",
        color=colour,
        label=f"best, {result.method}",
    )
    if math.isfinite(result.bound):
        _draw_bound(ax, result.bound, scores)
    plain = require("matplotlib.ticker").ScalarFormatter(useOffset=False)
    ax.yaxis.set_major_formatter(plain)
    ax.set_xlim(left=0)
    ax.set_xlabel("seconds")
    ax.set_ylabel("score, nats")
    ax.legend(frameon=False, loc="lower right")
    return finish(ax, "y")


def _draw_bound(ax: Any, bound: float, scores: Any) -> None:
    """Draw the bound; one far above is told, lest it press the search into a line."""
    spread = float(scores.max() - scores.min())
    if bound - scores.max() <= 3 * max(spread, 1e-3 * abs(bound)):
        ax.axhline(bound, color=SOFT, linestyle="--", label="bound")
    else:
        told = f"bound {bound:,.1f}, above"
        ax.set_title(told, loc="right", fontsize="small", color=SOFT)


@entrance
def chains(result: MultipleImputation, name: str = "arcs", *, ax: Any = None) -> Any:
    """Draw a summary over the rounds of each chain of a multiple imputation.

    Chains that have forgotten where they began are one band.

    Parameters
    ----------
    result : MultipleImputation
        What `impute_multiple` returned.
    name : str, default="arcs"
        The number of arcs, or the name of a variable with missing cells: the share of
        its first state among them (a key of ``result.trace``).
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on; no table is taken from the rounds left of the dotted line.
    """
    if not isinstance(result, MultipleImputation):
        kind_error("result", "what impute_multiple returned", result)
    check_choice("name", name, tuple(result.trace))
    ax = axes_of(ax, 6.4, 3.2)
    for number, values in enumerate(result.trace[name], 1):
        colour = colour_of(number)
        ax.plot(values, linewidth=0.8, color=colour, label=f"chain {number}")
    ax.axvline(result.burn_in - 0.5, color=SOFT, linestyle=":")
    ax.set_xlabel("round")
    is_arcs = name == "arcs"
    ax.set_ylabel(
        "number of arcs" if is_arcs else f"first state of {shown(name)}, share"
    )
    return finish(ax, "y")
