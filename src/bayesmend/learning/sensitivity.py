"""How much an answer rests on why cells are missing.

What a variable is in the rows where it is missing cannot be checked. ``tilt`` says by
how much the log-odds of being missing, given one of its states, differ from those
learned; what is observed stays as likely as it was. The distribution of each missing
cell is then multiplied by ``exp(tilt)`` at that state. Beside it stand bounds that no
assumption enters: all cells that are missing hold the state, or none does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend._columns import in_columns
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend.data.states import MISSING, Label, position_of
from bayesmend.errors import ParameterError
from bayesmend.inference.answers import find_marginals
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.learning.result import LearnResult, check_result

__all__ = ["Sensitivity", "sensitivity"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Sensitivity(Shown):
    """What tilts of the log-odds of being missing change.

    Parameters
    ----------
    variable : str
        The variable.
    states : tuple
        Its states.
    n_missing : int
        Number of its missing cells.
    tilts : ndarray of shape (n_tilts,)
        By how much the log-odds of being missing given one state are raised.
    shares : ndarray of shape (n_states, n_tilts)
        The share of each state in the whole table when its own log-odds are tilted.
    changed : ndarray of shape (n_states, n_tilts)
        How many of the missing cells then have another most probable state.
    observed : ndarray of shape (n_states,)
        The shares among the observed cells.
    lower, upper : ndarray of shape (n_states,)
        Sharp bounds of the shares over all completions, whatever the reason.
    """

    variable: str
    states: tuple[Label, ...]
    n_missing: int
    tilts: NDArray[np.float64]
    shares: NDArray[np.float64]
    changed: NDArray[np.int64]
    observed: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "variable": self.variable,
            "states": list(self.states),
            "n_missing": self.n_missing,
            "tilts": self.tilts.tolist(),
            "shares": self.shares.tolist(),
            "changed": self.changed.tolist(),
            "observed": self.observed.tolist(),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
        }

    def __str__(self) -> str:
        tilts = [f"{tilt:+g}" for tilt in self.tilts]
        head = ("state", "observed", *tilts, "bounds", "refilled")
        rows = [
            (
                str(state),
                f"{self.observed[k]:.3f}",
                *(f"{share:.3f}" for share in self.shares[k]),
                f"{self.lower[k]:.3f} to {self.upper[k]:.3f}",
                f"{self.changed[k].max():,}",
            )
            for k, state in enumerate(self.states)
        ]
        return "\n".join(in_columns([head, *rows]))

    def __repr__(self) -> str:
        return f"Sensitivity({self.variable}, {self.n_missing:,} missing cells)"


@entrance
def sensitivity(
    result: LearnResult,
    variable: str,
    *,
    tilt: Sequence[float] = (-2.0, 2.0),
    n_tilts: int = 5,
    max_memory: float = MAX_MEMORY,
    n_threads: int = 0,
) -> Sensitivity:
    """Tell how the shares of a variable move with the reason why it is missing.

    Parameters
    ----------
    result : LearnResult
        The answer of `learn` or `learn_em`; with a mechanism, tilts start from that.
    variable : str
        A variable.
    tilt : (float, float), default=(-2, 2)
        The smallest and the largest change of the log-odds of being missing.
    n_tilts : int, default=5
        Number of tilts, evenly spaced.
    {max_memory, n_threads}

    Returns
    -------
    Sensitivity
        Shares per tilt, the cells that change, and bounds without any assumption.

    Examples
    --------
    >>> import bayesmend as bm
    >>> rows = bm.load_network("asia").sample(500, seed=1)
    >>> data = bm.hide_mnar(rows, 0.2, strength=1, seed=1).data
    >>> result = bm.learn_em(data, seed=1)
    >>> found = bm.learning.sensitivity(result, "smoke", n_tilts=3)
    >>> bool((found.shares[0][:-1] < found.shares[0][1:]).all())
    True
    """
    check_result(result)
    low, high = _check_tilt(tilt)
    check_integer("n_tilts", n_tilts, 2)
    network, data = result.network, result.incomplete
    v = position_of(variable, network.names)
    codes = data.codes
    cells = np.ascontiguousarray(codes.T)
    if network.mechanism is not None:
        indicators = network.mechanism.indicators(network.names, cells)
        cells = np.ascontiguousarray(np.concatenate([cells, indicators]))
        network = network.with_indicators()
    engine = Engine(n_threads=n_threads, max_memory=max_memory)
    found = find_marginals(network, cells, engine, [variable])
    rows, posterior = found.of(variable)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    tilts = np.linspace(low, high, n_tilts)
    seen = codes[:, v] != MISSING
    card = len(network.states[v])
    counts = np.zeros(card)
    np.add.at(counts, codes[seen, v], weights[seen])
    total = max(float(weights.sum()), 1e-300)
    shares, changed = np.zeros((card, n_tilts)), np.zeros((card, n_tilts), np.int64)
    first = posterior.argmax(axis=1)
    for k in range(card):
        for t, tilted in enumerate(tilts):
            moved = posterior.copy()
            moved[:, k] *= math.exp(tilted)
            moved /= moved.sum(axis=1, keepdims=True)
            shares[k, t] = (counts[k] + weights[rows] @ moved[:, k]) / total
            changed[k, t] = np.count_nonzero(moved.argmax(axis=1) != first)
    missing = float(weights[rows].sum())
    return Sensitivity(
        variable,
        network.states[v],
        len(rows),
        tilts,
        shares,
        changed,
        counts / max(float(counts.sum()), 1e-300),
        counts / total,
        (counts + missing) / total,
    )


def _check_tilt(tilt: object) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in tilt)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        msg = f"tilt must be two numbers, the smaller one first. Got {tilt!r} instead."
        raise ParameterError(msg)
    return low, high
