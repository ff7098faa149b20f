"""What several networks say of the missing cells of a table, averaged.

The mean is that of the members' answers, each given what is observed: how well a single
row fits a member does not change the weight of that member.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayesmend.inference.answers import (
    Marginals,
    draw_cells,
    find_marginals,
    target_names,
)
from bayesmend.inference.conflict import require_possible
from bayesmend.inference.engine import CompiledHoles, Engine
from bayesmend.network.mixture import Mixture, Model
from bayesmend.network.network import Network
from bayesmend.seed import as_generator

__all__ = ["draws_of", "log_mean_exp", "marginals_of", "members_for"]


def marginals_of(
    model: Model,
    cells: NDArray[np.uint8],
    engine: Engine,
    targets: str | Sequence[str] | None = None,
    *,
    compiled: CompiledHoles | None = None,
    check: Callable[..., None] = require_possible,
) -> Marginals:
    """Return the distributions of missing cells under a network or a mixture.

    See `find_marginals`. Of a mixture, the evidence is the mean of the members', and
    standard errors are those of the mean.
    """
    if isinstance(model, Network):
        return find_marginals(
            model, cells, engine, targets, compiled=compiled, check=check
        )
    asked = model.names if targets is None else target_names(targets)
    total: _Mean | None = None
    for weight, member, own_cells in members_for(model, cells):
        engine = replace(engine, seed=as_generator(engine.seed))
        found = find_marginals(member, own_cells, engine, asked, check=check)
        if total is None:
            total = _Mean(found)
        total.add(weight, found)
    assert total is not None
    return total.result()


def members_for(
    mixture: Mixture, cells: NDArray[np.uint8]
) -> Iterator[tuple[float, Network, NDArray[np.uint8]]]:
    """Iterate over the members that count: weight, network, and the cells for it."""
    assert mixture.weights is not None
    for number, weight in enumerate(mixture.weights.tolist()):
        if weight > 0:
            network = mixture.networks[number]
            yield weight, network, mixture.cells_for(number, cells)


class _Mean:
    """A weighted mean of marginals that is added up one by one."""

    def __init__(self, first: Marginals) -> None:
        self._like = first
        self._sums = [np.zeros_like(p) for p in first.probabilities]
        self._squares = (
            None if first.errors is None else [np.zeros_like(e) for e in first.errors]
        )
        self._weights: list[float] = []
        self._evidence: list[NDArray[np.float64]] = []
        self._effective: list[NDArray[np.float64]] = []

    def add(self, weight: float, found: Marginals) -> None:
        for total, p in zip(self._sums, found.probabilities, strict=True):
            total += weight * p
        if self._squares is not None:
            assert found.errors is not None
            for total, e in zip(self._squares, found.errors, strict=True):
                total += (weight * e) ** 2
        self._weights.append(weight)
        self._evidence.append(found.log_evidence)
        if found.effective_samples is not None:
            self._effective.append(found.effective_samples)

    def result(self) -> Marginals:
        weights = np.array(self._weights)
        effective = None
        if self._effective:
            with np.errstate(divide="ignore"):
                each = weights[:, None] ** 2 / np.array(self._effective)
            effective = 1 / each.sum(axis=0)
        return replace(
            self._like,
            probabilities=tuple(self._sums),
            log_evidence=log_mean_exp(np.array(self._evidence), weights),
            errors=None
            if self._squares is None
            else tuple(np.sqrt(total) for total in self._squares),
            effective_samples=effective,
        )


def log_mean_exp(
    logs: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the logarithm of a weighted mean along the first axis.

    Examples
    --------
    >>> logs = np.log([[0.5], [0.25]])
    >>> np.exp(log_mean_exp(logs, np.array([0.5, 0.5]))).tolist()
    [0.375]
    """
    top = logs.max(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.exp(logs - np.where(np.isneginf(top), 0.0, top))
        found: NDArray[np.float64] = top + np.log(weights @ scaled)
    return np.where(np.isneginf(top), -np.inf, found)


def draws_of(
    model: Model,
    cells: NDArray[np.uint8],
    engine: Engine,
    n_draws: int,
    *,
    compiled: CompiledHoles | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.float64] | None]:
    """Return cells of shape (n_draws, n_vars, n_rows), as `draw_cells` does.

    Of a mixture, each table comes from one member: as often as its weight says, so that
    tables differ by what members do not agree about, too.
    """
    if isinstance(model, Network):
        return draw_cells(model, cells, engine, n_draws, compiled=compiled)
    assert model.weights is not None
    generator = as_generator(engine.seed)
    engine = replace(engine, seed=generator)
    chosen = _spread(model.weights, n_draws, generator)
    drawn = np.empty((n_draws, *cells.shape), dtype=np.uint8)
    effective: NDArray[np.float64] | None = None
    for number in np.unique(chosen).tolist():
        at = np.flatnonzero(chosen == number)
        own_cells = model.cells_for(number, cells)
        found, samples = draw_cells(model.networks[number], own_cells, engine, len(at))
        drawn[at] = found[:, : len(cells)]
        if samples is not None:
            effective = samples if effective is None else np.minimum(effective, samples)
    return drawn, effective


def _spread(
    weights: NDArray[np.float64], n_draws: int, generator: np.random.Generator
) -> NDArray[np.intp]:
    """Choose a member for each draw: in all as evenly as the weights allow."""
    order = generator.permutation(len(weights))
    ends = np.cumsum(weights[order])
    points = (np.arange(n_draws) + generator.random()) / n_draws * ends[-1]
    at = np.minimum(np.searchsorted(ends, points, side="right"), len(weights) - 1)
    return generator.permutation(order[at])
