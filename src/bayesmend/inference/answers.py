"""What a network says of the missing cells of a table, in the codes of the network."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.states import MISSING, Label, position_of
from bayesmend.errors import ParameterError, ShortfallWarning
from bayesmend.inference.conflict import require_possible
from bayesmend.inference.engine import CompiledHoles, Engine
from bayesmend.network.flat import flatten
from bayesmend.network.network import Network

__all__ = [
    "Marginals",
    "draw_cells",
    "find_marginals",
    "hole_distributions",
    "target_names",
    "weigher",
]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Marginals:
    """The distribution of every missing cell, given what is observed in its row.

    Parameters
    ----------
    names : tuple of str
        The variables asked for, in the order of the network.
    states : tuple of tuple
        Their states.
    rows : tuple of ndarray
        For each variable, the rows where it is missing.
    probabilities : tuple of ndarray of shape (n_missing, n_states)
        For each variable, a distribution for each of these rows.
    log_evidence : ndarray of shape (n_rows,)
        Log-probability of what is observed in each row.
    errors : tuple of ndarray, optional
        Standard errors of the probabilities, from weighting.
    effective_samples : ndarray of shape (n_rows,), optional
        How many unweighted samples would be as good, from weighting.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    rows: tuple[NDArray[np.intp], ...]
    probabilities: tuple[NDArray[np.float64], ...]
    log_evidence: NDArray[np.float64]
    errors: tuple[NDArray[np.float64], ...] | None = None
    effective_samples: NDArray[np.float64] | None = None

    def of(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the rows where a variable is missing, and its distributions there."""
        at = position_of(name, self.names)
        return self.rows[at], self.probabilities[at]

    def __repr__(self) -> str:
        n_missing = sum(map(len, self.rows))
        return f"Marginals({len(self.names)} variables, {n_missing:,} missing cells)"


def find_marginals(
    network: Network,
    cells: NDArray[np.uint8],
    engine: Engine,
    targets: str | Sequence[str] | None = None,
    *,
    compiled: CompiledHoles | None = None,
    check: Callable[..., None] = require_possible,
) -> Marginals:
    """Return the distributions of missing cells in the codes of the network.

    ``compiled`` saves work where the same cells were compiled before; ``check`` raises
    for rows of probability zero.
    """
    asked = network.names if targets is None else target_names(targets)
    wanted = sorted({position_of(name, network.names) for name in asked})
    flags = np.zeros(network.n_vars, dtype=np.uint8)
    flags[wanted] = 1
    errors = effective = None
    if engine.inference == "exact":
        some_only = flags if len(wanted) < network.n_vars else None
        compiled = compiled or engine.compile(network, cells, some_only)
        evidence = compiled.log_evidence()
        check(network, cells, evidence)
        flat = compiled.marginals()
    else:
        found = weigher(network, cells, engine).marginals(flags)
        flat, evidence, effective = (
            found.probabilities,
            found.log_evidence,
            found.effective,
        )
        check(network, cells, evidence, n_samples=engine.n_samples)
        _, errors = hole_distributions(network, cells, found.errors, wanted)
    rows, probabilities = hole_distributions(network, cells, flat, wanted)
    return Marginals(
        names=tuple(network.names[v] for v in wanted),
        states=tuple(network.states[v] for v in wanted),
        rows=tuple(rows),
        probabilities=tuple(probabilities),
        log_evidence=evidence,
        errors=None if errors is None else tuple(errors),
        effective_samples=effective,
    )


def target_names(targets: str | Sequence[str]) -> list[str]:
    """Return the names asked for, one or several."""
    if isinstance(targets, str):
        return [targets]
    try:
        return list(targets)
    except TypeError:
        msg = (
            "targets must be the name of a variable or a list of names. "
            f"Got {targets!r} instead."
        )
        raise ParameterError(msg) from None


def weigher(
    network: Network, cells: NDArray[np.uint8], engine: Engine
) -> _core.Weigher:
    """Return what answers by samples weighted with the evidence."""
    return _core.Weigher(
        *flatten(network.dag, network.cpts),
        _order(network),
        cells,
        engine.n_samples,
        engine.key(),
        engine.n_threads,
    )


def draw_cells(
    network: Network,
    cells: NDArray[np.uint8],
    engine: Engine,
    n_draws: int,
    *,
    compiled: CompiledHoles | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.float64] | None]:
    """Return cells of shape (n_draws, n_vars, n_rows) in the codes of the network.

    From weighting, the effective number of samples of each row comes with them.
    """
    if engine.inference == "exact":
        compiled = compiled or engine.compile(network, cells)
        require_possible(network, cells, compiled.log_evidence())
        return compiled.draw(n_draws, engine.key()), None
    engine.require_samples_fit()
    found = weigher(network, cells, engine).draw(n_draws)
    require_possible(network, cells, found.log_evidence, n_samples=engine.n_samples)
    _warn_of_repeats(cells, found.effective, n_draws)
    return found.cells.reshape(n_draws, *cells.shape), found.effective


def _warn_of_repeats(
    cells: NDArray[np.uint8], effective: NDArray[np.float64], n_draws: int
) -> None:
    """Say so when a row has too few samples for its draws to differ as they should."""
    has_holes = (cells == MISSING).any(axis=0)
    short = np.flatnonzero(has_holes & (effective < n_draws))
    if not short.size:
        return
    worst = short[effective[short].argmin()]
    msg = (
        f"{spell('n_draws', n_draws)} completions come from fewer samples in "
        f"{len(short):,} of {len(effective):,} rows, and repeat each other: row "
        f"{worst} has samples as good as {effective[worst]:.3g} unweighted ones. "
        f"Raise {spell('n_samples')}."
    )
    warn(msg, ShortfallWarning)


def hole_distributions(
    network: Network,
    cells: NDArray[np.uint8],
    flat: NDArray[np.float64],
    wanted: list[int] | None = None,
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.float64]]]:
    """Split what the core lays end to end: rows and distributions per variable."""
    variables = range(network.n_vars) if wanted is None else wanted
    is_hole = cells[list(variables)] == MISSING
    every = np.nonzero(is_hole)[1]
    rows, distributions, start, seen = [], [], 0, 0
    counts = is_hole.sum(axis=1).tolist()
    for v, n_holes in zip(variables, counts, strict=True):
        card = len(network.states[v])
        rows.append(every[seen : seen + n_holes])
        size = n_holes * card
        distributions.append(flat[start : start + size].reshape(n_holes, card))
        seen, start = seen + n_holes, start + size
    assert start == len(flat)
    return rows, distributions


def _order(network: Network) -> NDArray[np.int32]:
    """Return the variables, each after its parents."""
    return np.array(network.dag.topological_order(), dtype=np.int32)
