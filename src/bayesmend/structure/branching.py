"""Branching on arcs and on orders instead of on single candidates.

That one of a hundred candidates of a variable is not chosen says next to nothing. Two
other splits fix many columns on both sides: an arc is there or it is not; and of two
variables either the first is no descendant of the second or the second none of the
first, so that one of the two arcs between them is out. Either pair covers all acyclic
choices. Splits are tried on the linear programme, as in strong branching, until their
gains are known from earlier nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from pyscipopt import SCIP_RESULT, Branchrule

from bayesmend._rows import owners_of
from bayesmend.structure.problem import Problem

__all__ = ["ArcBranching"]

MOST_TRIED = 16  # splits looked at in a node
MOST_IN_VAIN = 6  # tried one after the other without a better one
RELIABLE = 3  # trials after which the gains of a split are taken as known
TRIAL_STEPS = 100  # of the simplex method in one trial
FRACTIONAL = 1e-6
LEAST_GAIN = 1e-4

Columns = NDArray[np.int64]


class Limited(Protocol):
    """Limits of a search."""

    def remaining(self) -> float:
        """Return the seconds left."""


class Search(Protocol):
    """What branching asks of the search it serves."""

    problem: Problem
    best_loss: float
    transformed: list[Any]

    @property
    def limits(self) -> Limited:
        """Return when to stop."""

    def _lp_weights(self) -> NDArray[np.float64]: ...

    def _guarded(self, act: Callable[[], Any], failed: Any) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Split:
    """Two sides, each a set of columns that are out; one of them is right."""

    key: tuple[bool, int, int]  # arc or order, and the two variables
    removed: tuple[float, float]  # weight of the columns that each side takes out

    @property
    def promise(self) -> float:
        """Tell how much both sides take out at least."""
        return min(self.removed)


class Arcs:
    """The candidates that hold an arc, for all arcs."""

    def __init__(self, problem: Problem) -> None:
        self.n_vars, self.offsets = len(problem.names), problem.offsets
        sizes = np.diff(problem.member_offsets)
        self.candidates = np.repeat(np.arange(len(sizes)), sizes)
        child = owners_of(problem.offsets)[self.candidates]
        self.arcs = problem.members.astype(np.int64) * self.n_vars + child
        order = np.argsort(self.arcs, kind="stable")
        self._sorted, self._by_arc = self.arcs[order], self.candidates[order]

    def weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum the weights of the candidates that hold each arc, parent by child."""
        held = weights[self.candidates]
        totals = np.bincount(self.arcs, held, self.n_vars**2).astype(np.float64)
        return totals.reshape(self.n_vars, self.n_vars)

    def holding(self, parent: int, child: int) -> Columns:
        """Return the candidates of a child that hold a parent."""
        arc = parent * self.n_vars + child
        first, last = np.searchsorted(self._sorted, [arc, arc + 1])
        return self._by_arc[first:last]

    def without(self, parent: int, child: int) -> Columns:
        """Return the candidates of a child that do not hold a parent."""
        own = np.arange(self.offsets[child], self.offsets[child + 1])
        return np.setdiff1d(own, self.holding(parent, child), assume_unique=True)

    def sides(self, split: Split) -> tuple[Columns, Columns]:
        """Return the columns that each side takes out."""
        is_arc, first, second = split.key
        forward, backward = self.holding(first, second), self.holding(second, first)
        if not is_arc:
            return backward, forward
        return forward, np.concatenate([self.without(first, second), backward])

    def splits(self, weights: NDArray[np.float64]) -> list[Split]:
        """List the splits that cut off the weights on both sides, promising first."""
        arcs = self.weights(weights)
        found = [
            Split((True, int(u), int(v)), (arcs[u, v], 1 - arcs[u, v]))
            for u, v in np.argwhere((arcs > FRACTIONAL) & (arcs < 1 - FRACTIONAL))
        ]
        both = np.triu(np.minimum(arcs, arcs.T), 1)
        found += [
            Split((False, int(u), int(v)), (arcs[v, u], arcs[u, v]))
            for u, v in np.argwhere(both > FRACTIONAL)
        ]
        found.sort(key=lambda split: (-split.promise, split.key))
        return [
            split
            for is_arc in (False, True)
            for split in [s for s in found if s.key[0] == is_arc][: MOST_TRIED // 2]
        ]


class Gains:
    """What splits have brought, per weight taken out."""

    def __init__(self) -> None:
        self._seen: dict[tuple[bool, int, int], list[tuple[float, float]]] = {}
        self._all: dict[bool, list[float]] = {True: [0, 0, 0], False: [0, 0, 0]}

    def note(self, split: Split, gains: tuple[float, float]) -> None:
        """Remember the gains of both sides."""
        down, up = (
            gain / removed for gain, removed in zip(gains, split.removed, strict=True)
        )
        self._seen.setdefault(split.key, []).append((down, up))
        total = self._all[split.key[0]]
        total[0] += down
        total[1] += up
        total[2] += 1

    def is_known(self, split: Split) -> bool:
        """Tell whether the split was tried often enough."""
        return len(self._seen.get(split.key, ())) >= RELIABLE

    def expected(self, split: Split) -> tuple[float, float]:
        """Estimate the gains from its own ones, or from those of its kind."""
        own = self._seen.get(split.key)
        if own:
            rates = np.mean(own, axis=0)
        else:
            down, up, n = self._all[split.key[0]]
            rates = np.array([down, up]) / n if n else np.ones(2)
        return (
            float(rates[0]) * split.removed[0],
            float(rates[1]) * split.removed[1],
        )


def value_of(gains: Iterable[float]) -> float:
    """Rate the gains of both sides: both ought to rise."""
    down, up = gains
    return max(down, LEAST_GAIN) * max(up, LEAST_GAIN)


class ArcBranching(Branchrule):  # type: ignore[misc]
    """Branching rule: an arc, or the order of two variables."""

    def __init__(self, handler: Search) -> None:
        self.handler, self.arcs, self.known = handler, Arcs(handler.problem), Gains()

    def branchexeclp(self, allowaddcons: bool) -> dict[str, Any]:
        """Branch on the solution of the linear programme."""
        return self.handler._guarded(self._branch, SCIP_RESULT.DIDNOTRUN)

    def _branch(self) -> Any:
        splits = self.arcs.splits(self.handler._lp_weights())
        if not splits:
            return SCIP_RESULT.DIDNOTRUN
        sides = self.arcs.sides(self._choose(splits))
        estimate = self.model.getLocalEstimate()
        for columns in sides:
            node = self.model.createChild(1.0, estimate)
            self._take_out(columns, partial(self.model.chgVarUbNode, node))
        return SCIP_RESULT.BRANCHED

    def _choose(self, splits: list[Split]) -> Split:
        """Choose the split whose worse side gains, and whose better side gains more."""
        ranked = sorted(
            splits, key=lambda s: (-value_of(self.known.expected(s)), s.key)
        )[:MOST_TRIED]
        best, best_value, in_vain = ranked[0], -1.0, 0
        if len(ranked) == 1:
            return best
        before = self.model.getLPObjVal()  # later it is that of the last trial
        self.model.startProbing()
        try:
            for split in ranked:
                if in_vain >= MOST_IN_VAIN or not self.handler.limits.remaining():
                    break
                gains = self.known.expected(split)
                if not self.known.is_known(split):
                    gains = self._try(split, before)
                    self.known.note(split, gains)
                value = value_of(gains)
                if value > best_value:
                    best, best_value, in_vain = split, value, 0
                else:
                    in_vain += 1
        finally:
            self.model.endProbing()
        return best

    def _try(self, split: Split, before: float) -> tuple[float, float]:
        """Solve the linear programme of both sides, and tell what they gain."""
        most = max(self.handler.best_loss - before, LEAST_GAIN)
        gains = []
        for columns in self.arcs.sides(split):
            self.model.newProbingNode()
            self._take_out(columns, self.model.chgVarUbProbing)
            failed, is_out = self.model.solveProbingLP(TRIAL_STEPS)
            after = before if failed else self.model.getLPObjVal()
            gains.append(most if is_out else min(max(after - before, 0.0), most))
            self.model.backtrackProbing(0)
        return gains[0], gains[1]

    def _take_out(self, columns: Columns, change: Any) -> None:
        for column in columns.tolist():
            variable = self.handler.transformed[column]
            if variable.getUbLocal() > 0.5:
                change(variable, 0.0)
