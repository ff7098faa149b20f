"""Ways to hide a share of all cells, by name, for sweeps over mechanisms and rates."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.hiding.mechanisms import hide_mar, hide_mcar, hide_mnar
from bayesmend.hiding.record import Hidden, punch

__all__ = ["MECHANISMS", "Mechanism", "hide", "hide_one_value"]

Mechanism = Literal["mcar", "mar", "mnar", "one-value"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)

MNAR_STRENGTH = 2.0
"""Standard deviation of the log-odds of being hidden between states of a variable."""


def hide(
    data: IncompleteData,
    mechanism: str,
    rate: float,
    *,
    generator: np.random.Generator,
) -> Hidden:
    """Hide about a share of the cells by a mechanism.

    Parameters
    ----------
    data : IncompleteData
        The table.
    mechanism : {"mcar", "mar", "mnar", "one-value"}
        ``mcar``: each cell alike. ``mar``: a fifth of the variables, drawn at random,
        stay observed and decide on the holes of all others. ``mnar``: cells are hidden
        for the state they hold, with log-odds of standard deviation 2 between states.
        ``one-value``: see `hide_one_value`.
    rate : float
        Share of hidden cells (``one-value``: among the cells that can be hidden).
    generator : numpy.random.Generator
        Source of randomness.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hide(truth, "mar", 0.1, generator=np.random.default_rng(1)).request["rate"]
    0.1
    """
    if mechanism == "mcar":
        return hide_mcar(data, rate, seed=generator)
    if mechanism == "mar":
        size = max(1, data.n_vars // 5)
        causes = np.sort(generator.choice(data.n_vars, size, replace=False))
        names = [data.names[cause] for cause in causes]
        return hide_mar(data, rate, depends_on=names, seed=generator)
    if mechanism == "mnar":
        return hide_mnar(data, rate, strength=MNAR_STRENGTH, seed=generator)
    if mechanism == "one-value":
        return hide_one_value(data, rate, generator=generator)
    message = (
        f"mechanism must be one of {', '.join(MECHANISMS)}. Got {mechanism!r} instead."
    )
    raise ParameterError(message)


def hide_one_value(
    data: IncompleteData, rate: float, *, generator: np.random.Generator
) -> Hidden:
    """Hide cells of one state of each variable, as the experiments of the paper do.

    Parameters
    ----------
    data : IncompleteData
        The table.
    rate : float
        Share of the cells with that state that are hidden. The others stay, so that no
        state vanishes from the table.
    generator : numpy.random.Generator
        Draws the state, among those that occur, and the cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_one_value(truth, 0.2, generator=np.random.default_rng(1))
    >>> all(
    ...     len(set(hidden.true_codes[hidden.variables == v].tolist())) == 1
    ...     for v in range(8)
    ... )
    True
    """
    picks = {}
    for variable, column in enumerate(data.codes.T):
        occurring = np.unique(column[~data.missing_mask[:, variable]])
        rows = np.empty(0, dtype=np.intp)
        if occurring.size:
            rows = np.flatnonzero(column == generator.choice(occurring))
        size = round(rate * rows.size)
        picks[variable] = np.sort(generator.choice(rows, size, replace=False))
    return punch(data, picks, {"mechanism": "one value", "rate": rate})
