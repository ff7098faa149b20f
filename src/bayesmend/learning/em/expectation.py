"""The expectation step: what a network expects of the missing cells of a table.

Symbols of the literature: ``N_ijk`` expected under the network is ``counts``, laid out
as the probabilities ``theta_ijk`` are in ``cpts``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._clock import Clock
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import Engine
from bayesmend.network.cpt import distributions
from bayesmend.network.flat import parents_of
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
from bayesmend.score import FamilyScorer, Score

__all__ = ["Compiled", "Fitted", "Table", "estimate_cpts", "split_cpts"]


@dataclass(slots=True, repr=False, eq=False)
class Compiled:
    """The distinct rows of a table for one structure, compiled once it is asked for."""

    table: Table
    dag: Dag
    known: _core.Holes | None = None

    @property
    def holes(self) -> _core.Holes:
        """The rows compiled."""
        if self.known is None:
            self.known, _ = self.table.compile(self.dag)
        return self.known


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Fitted:
    """A structure with parameters fitted by expectation-maximisation.

    Parameters
    ----------
    dag : Dag
        The structure.
    compiled : Compiled
        The distinct rows, compiled for it when they are asked for.
    cpts : ndarray
        Its probabilities, flat.
    counts : ndarray
        What they make expect, laid out in the same way.
    log_likelihood : ndarray of shape (n_iterations,)
        Of what is observed, per iteration; the last one is that of `cpts`.
    objective : ndarray of shape (n_iterations,)
        The same, and with a prior its log-density: it never falls.
    converged : bool
        Whether the last gain was below the tolerance.
    stopped : Stopped
        The time limit or Ctrl-C, where that ended it.
    """

    dag: Dag
    compiled: Compiled
    cpts: NDArray[np.float64]
    counts: NDArray[np.float64]
    log_likelihood: NDArray[np.float64]
    objective: NDArray[np.float64]
    converged: bool
    stopped: Stopped

    @property
    def holes(self) -> _core.Holes:
        """The distinct rows, compiled for the structure."""
        return self.compiled.holes

    def told(self) -> dict[str, Any]:
        """Return what a fit has found in plain values, for `Table.told_of`."""
        return {
            "cpts": self.cpts,
            "counts": self.counts,
            "log_likelihood": self.log_likelihood,
            "objective": self.objective,
            "converged": bool(self.converged),
        }

    def expected_log_likelihood(self) -> float:
        """Return the log-likelihood of the expected counts."""
        seen = self.counts > 0
        return float(self.counts[seen] @ np.log(self.cpts[seen]))


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Table:
    """The distinct rows of a table, ready to be compiled for any structure."""

    data: IncompleteData
    columns: NDArray[np.uint8]
    weights: NDArray[np.float64]
    engine: Engine

    @classmethod
    def of(cls, data: IncompleteData, engine: Engine) -> Table:
        """Find the distinct rows; those without any weight say nothing."""
        patterns = data.patterns()
        seen = patterns.weights > 0
        columns = np.ascontiguousarray(patterns.codes[seen].T)
        return cls(data, columns, patterns.weights[seen], engine)

    def compile(self, dag: Dag) -> tuple[_core.Holes, int]:
        """Return the rows compiled for a structure, and how many threads fit."""
        holes = _core.Holes(
            self.data.card,
            *parents_of(dag),
            self.columns,
            self.weights,
            np.empty(0, np.uint8),
        )
        return holes, self._threads(holes)

    def _threads(self, holes: _core.Holes) -> int:
        return self.engine.fit_threads(holes.size, self.data.names)

    def fit(
        self,
        dag: Dag,
        cpts: NDArray[np.float64],
        *,
        clock: Clock,
        ess: float = 0.0,
        max_iter: int = 500,
        tol: float = 1e-6,
    ) -> Fitted:
        """Run expectation-maximisation of the parameters from ``cpts``."""
        holes, n_threads = self.compile(dag)
        left = clock.left
        found = holes.fit(
            cpts,
            ess,
            max_iter,
            tol * max(float(self.weights.sum()), 1.0),
            0.0 if left is None else max(left, 1e-9),
            n_threads,
        )
        if not np.isfinite(found.log_likelihood[-1]):
            msg = "a row is impossible under the network to start from."
            raise DataError(msg)
        return Fitted(
            dag,
            Compiled(self, dag, holes),
            found.cpts,
            found.counts,
            found.log_likelihood,
            found.objective,
            found.converged,
            Stopped(found.stopped.name),
        )

    def scorer(
        self,
        holes: _core.Holes,
        cpts: NDArray[np.float64],
        score: Score,
        rules: ParentRules | None = None,
    ) -> FamilyScorer:
        """Return a scorer of what a network expects of the rows compiled for it."""
        return FamilyScorer.expecting(
            self.data,
            holes,
            cpts,
            score=score,
            choices=None if rules is None else rules.choices,
            n_threads=self._threads(holes),
            max_memory=self.engine.max_memory,
        )

    def expect(self, dag: Dag, cpts: NDArray[np.float64]) -> Fitted:
        """Return what a network expects, its parameters as they are."""
        holes, n_threads = self.compile(dag)
        found = holes.expect(cpts, n_threads)
        trace = np.array([found.log_likelihood])
        known = Compiled(self, dag, holes)
        return Fitted(
            dag, known, cpts, found.counts, trace, trace, True, Stopped.NOTHING
        )

    def told_of(self, dag: Dag, told: Mapping[str, Any]) -> Fitted:
        """Return what `Fitted.told` told of a fit that was done to its end."""
        cpts, counts, log_likelihood, objective = (
            np.asarray(told[name], np.float64)
            for name in ("cpts", "counts", "log_likelihood", "objective")
        )
        size = sum(table.size for table in split_cpts(dag, self.data.card, cpts))
        if not cpts.shape == counts.shape == (size,) or not len(log_likelihood):
            raise ValueError
        return Fitted(
            dag,
            Compiled(self, dag),
            cpts,
            counts,
            log_likelihood,
            objective,
            bool(told["converged"]),
            Stopped.NOTHING,
        )

    def with_cpts(self, dag: Dag, cpts: NDArray[np.float64]) -> Network:
        """Return the network with these probabilities."""
        tables = split_cpts(dag, self.data.card, cpts)
        return Network(dag, self.data.states, tables, schema=self.data.schema)

    def network(self, dag: Dag, counts: NDArray[np.float64], ess: float) -> Network:
        """Return the network with the posterior mean of its parameters."""
        return self.with_cpts(dag, estimate_cpts(dag, self.data.card, counts, ess))


def split_cpts(
    dag: Dag, card: NDArray[np.int32], flat: NDArray[np.float64]
) -> tuple[NDArray[np.float64], ...]:
    """Cut flat probabilities, or counts, into one table per variable."""
    tables, start = [], 0
    for v, parents in enumerate(dag.parents):
        n_configs = int(np.prod([int(card[p]) for p in parents], dtype=np.int64))
        size = n_configs * int(card[v])
        tables.append(flat[start : start + size].reshape(n_configs, int(card[v])))
        start += size
    return tuple(tables)


def estimate_cpts(
    dag: Dag, card: NDArray[np.int32], counts: NDArray[np.float64], ess: float
) -> NDArray[np.float64]:
    """Return relative frequencies, ``ess`` spread evenly over each table.

    A parent configuration that nothing is expected of gets the uniform distribution.
    """
    tables = [distributions(table, ess) for table in split_cpts(dag, card, counts)]
    return np.concatenate([table.ravel() for table in tables])
