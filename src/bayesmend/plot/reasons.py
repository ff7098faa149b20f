"""Plots of why cells are missing, and of what rests on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayesmend._checks import check_items
from bayesmend._entrance import entrance
from bayesmend.errors import DataError
from bayesmend.learning.mechanism.result import LABELS, LearnedMechanism, MissingCells
from bayesmend.learning.result import LearnResult
from bayesmend.learning.sensitivity import Sensitivity
from bayesmend.plot.axes import axes_of, finish, kind_error, shown
from bayesmend.plot.colours import FAINT, SOFT, colour_of

__all__ = ["mechanism", "sensitivity"]

_COLOURS = dict(zip(LABELS, (SOFT, colour_of("exact"), colour_of("em")), strict=True))


@entrance
def mechanism(
    found: LearnResult | LearnedMechanism,
    *,
    variables: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw how probable it is that a cell is missing, given what that depends on.

    Parameters
    ----------
    found : LearnResult or LearnedMechanism
        What was learned with ``mechanism=``.
    variables : sequence of str, optional
        Which variables to draw; by default those that depend on something first.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: for each variable the configurations of what its missing
        cells depend on, with about 95 % confidence intervals; the bar behind is the
        share of its cells that are missing.

    Examples
    --------
    >>> import bayesmend as bm
    >>> rows = bm.load_network("asia").sample(300, seed=1)
    >>> data = bm.hide_mnar(rows, 0.2, strength=1, seed=1).data
    >>> ax = mechanism(bm.learn_em(data, mechanism="self", seed=1), variables=["smoke"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['smoke', 'smoke=yes', 'smoke=no']
    """
    learned = found.mechanism if isinstance(found, LearnResult) else found
    if learned is None:
        msg = "no reason was learned for missing cells. Pass mechanism='auto' to learn."
        raise DataError(msg)
    if not isinstance(learned, LearnedMechanism):
        kind_error("found", "a LearnResult or its mechanism", found)
    chosen = _chosen(learned, variables)
    if not chosen:
        msg = "no variable has missing and observed cells: there is nothing to draw."
        raise DataError(msg)
    n_rows = sum(1 + len(why.configurations) * bool(why.parents) for why in chosen)
    ax = axes_of(ax, 6.4, min(14.0, 1.2 + 0.25 * n_rows))
    labels, heads = list[str](), list[int]()
    for why in chosen:
        top = len(labels)
        labels.append(shown(why.variable))
        if why.parents:
            labels += [_told(why, at) for at in range(len(why.configurations))]
        _draw_reason(ax, why, top)
        heads.append(top)
    ax.set_yticks(range(len(labels)), labels)
    for head in heads:
        ax.get_yticklabels()[head].set_fontweight("bold")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("probability that a cell is missing")
    _explain(ax, {why.label for why in chosen})
    return finish(ax, "x")


def _chosen(
    learned: LearnedMechanism, variables: Sequence[str] | None
) -> list[MissingCells]:
    if variables is not None:
        names = check_items("variables", variables, "names of variables")
        return [learned.of(name) for name in names]
    return sorted(learned, key=lambda why: not why.parents)


def _told(why: MissingCells, at: int) -> str:
    states = why.configurations[at]
    pairs = zip(why.parents, states, strict=True)
    return ", ".join(f"{shown(p)}={shown(state)}" for p, state in pairs)


def _draw_reason(ax: Any, why: MissingCells, top: int) -> None:
    """Draw one variable: its share as a bar, behind what it depends on."""
    n = len(why.configurations) if why.parents else 0
    ax.fill_between([0, why.share], top - 0.4, top + n + 0.4, color=FAINT, alpha=0.6)
    colour = _COLOURS[why.label]
    if not why.parents:
        ax.plot(why.share, top, "o", color=colour, markersize=5)
        return
    y = np.arange(top + 1, top + 1 + n)
    ax.hlines(y, why.lower, why.upper, color=colour, linewidth=1.5)
    ax.plot(why.probabilities, y, "o", color=colour, markersize=5)


def _explain(ax: Any, labels: set[str]) -> None:
    for label in LABELS:
        if label in labels:
            ax.plot([], [], "o", color=_COLOURS[label], markersize=5, label=label)
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=len(labels),
        frameon=False,
        fontsize="small",
    )


@entrance
def sensitivity(found: Sensitivity, *, ax: Any = None) -> Any:
    """Draw how the shares of states move when cells are missing for another reason.

    Parameters
    ----------
    found : Sensitivity
        What `learning.sensitivity` returned.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: a line for each state, its band what holds whatever the
        reason, and a dotted line the share among the observed cells.
    """
    if not isinstance(found, Sensitivity):
        kind_error("found", "what learning.sensitivity returned", found)
    ax = axes_of(ax)
    for k, state in enumerate(found.states):
        colour = colour_of(k + 1)
        ax.fill_between(
            found.tilts, found.lower[k], found.upper[k], color=colour, alpha=0.12, lw=0
        )
        ax.plot(found.tilts, found.shares[k], color=colour, label=shown(state))
        ax.axhline(found.observed[k], color=colour, linestyle=":", linewidth=1.0)
    ax.set_xlim(found.tilts[0], found.tilts[-1])
    ax.set_xlabel("log-odds of being missing given the state, tilted by")
    ax.set_ylabel(f"share of each state of {shown(found.variable)}")
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax, "y")
