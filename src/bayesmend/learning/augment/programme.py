"""Branch and bound over cells, with structures bounded by integer programmes.

The relaxation of the core is cheap and leaves a gap where many families of little worth
close cycles. Here the best DAG at given prices is bounded by the integer programme: by
its linear programme with all its cuts, or by solving it. What a family costs there, its
reduced cost, drops most families after a few prices; and the solution, one DAG or a
mean of some, tells how to move the prices, as the core does it.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import State
from bayesmend._clock import Clock, limited_calls
from bayesmend._rows import offsets_of
from bayesmend.data.states import MISSING
from bayesmend.errors import ParameterError
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.learning.result import Step
from bayesmend.outcome import TOLERANCE, Stopped
from bayesmend.structure.problem import Problem

__all__ = ["Limits", "Pair", "Programmes"]

ROOT_STEPS, NODE_STEPS = 60, 12
"""Prices tried in a node, at most."""

PATIENCE: Final = 12  # steps of the root in which the gap has to fall by this share
NODE_PATIENCE: Final = 4  # of other nodes
LEAST_FALL: Final = 0.02

MOMENTUM, SHORTER, LONGER = 0.5, 0.7, 2.0
"""Of the steps of prices, as in the core."""

LEAST_STEP: Final = 1e-3

# Steps of the first prices, where a programme closes this share of the gap, or less.
FAR, LONG_STEP, SHORT_STEP = 0.25, 0.5, 0.05

# Entries of one block of a family's table: as many as all tables have room for.
LEAST_ENTRIES, MOST_ENTRIES, ALL_ENTRIES = 256, 4096, 2**21

# Of families that a bound rests on, blocks become so many times larger, up to that, as
# long as all tables together are smaller than this.
REFINED_TIMES, REFINED_BLOCK, REFINED_ENTRIES = 64, 2**20, 2**26

REBUILT: Final = 0.7  # tables are made anew when so few of the families are left
LEAST_SHARE: Final = 1e-4  # of a family in a solution
MEND_EVERY: Final = 2  # steps of the root
KICKS: Final = 20  # of the local search for a DAG
# Of SCIP, in entries of tables for each candidate and round.
ROUND_WORK: Final = 50.0

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Pair:
    """A structure, a completion, and their score."""

    score: float
    parents: tuple[tuple[int, ...], ...]
    completion: NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop, beside the clock."""

    gap: float
    nodes: float = math.inf
    work: float = math.inf
    bytes: float = math.inf  # of open nodes


@dataclass(slots=True)
class _Node:
    """Some cells decided, and what is left of the families."""

    bound: float
    number: int
    fixed: NDArray[np.uint8]
    families: NDArray[np.int32]
    entries: NDArray[np.int64]  # of one block of each family's table
    prices: Array
    step: float

    def __lt__(self, other: _Node) -> bool:
        return (-self.bound, self.number) < (-other.bound, other.number)


@dataclass(slots=True)
class _Families:
    """Tables of the families of a node, and their parents."""

    numbers: NDArray[np.int32]
    tables: _core.PricedFamilies
    children: NDArray[np.int32]
    offsets: NDArray[np.int64]
    parents: NDArray[np.int32]

    def parents_of(self, positions: NDArray[np.int64]) -> tuple[tuple[int, ...], ...]:
        return tuple(
            tuple(self.parents[self.offsets[a] : self.offsets[a + 1]].tolist())
            for a in positions.tolist()
        )


@dataclass(slots=True)
class _Bounds:
    """What one programme says: by position of the families."""

    bound: float
    through: Array
    positions: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    shares: Array = field(default_factory=lambda: np.zeros(0))
    chosen: NDArray[np.int64] | None = None  # of each variable
    is_settled: bool = False  # whether the best DAG is what was chosen


class _OverError(Exception):
    """A limit, or Ctrl-C within SCIP."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__()
        self.stopped = stopped


class Programmes:
    """A search that begins with what the root of the core's search has left.

    Parameters
    ----------
    problem, augmenter
        What is searched.
    answer : _core.ExactResult
        The core's, after its root.
    limits : Limits
        For the whole, the root of the core's search included.
    """

    def __init__(
        self,
        problem: PatternProblem,
        augmenter: _core.Augmenter,
        answer: _core.ExactResult,
        limits: Limits,
        *,
        clock: Clock,
        n_threads: int,
    ) -> None:
        self.problem, self.augmenter, self.limits = problem, augmenter, limits
        self.clock, self.n_threads = clock, n_threads
        self.best = Pair(
            answer.score,
            tuple(tuple(members) for members in answer.parents),
            np.array(answer.completion, np.uint8),
        )
        self.bound = answer.bound
        self.n_nodes, self.work = answer.n_nodes, answer.work
        self.stopped = Stopped.NOTHING
        self.trace: list[Step] = []
        self.root_bound = answer.bound
        self.n_created = 1
        cards = problem.data.card[problem.variable]
        shape = (problem.data.n_vars, problem.n_cells, int(cards.max(initial=1)))
        self.queue = [
            _Node(
                answer.bound,
                0,
                np.full(problem.n_cells, MISSING, np.uint8),
                (families := np.array(answer.root_families, np.int32)),
                np.full(len(families), LEAST_ENTRIES),
                np.array(answer.root_prices).reshape(shape),
                1.0,
            )
        ]

    # The search.

    def run(
        self, state: State, report: Callable[[float, int, float], None] | None
    ) -> None:
        """Search until nothing better is left, or a limit strikes: see ``stopped``."""
        try:
            with state.kept.sound():
                if (kept := state.load()) is not None:
                    self.load(kept)
            if kept is None:
                self._begin()
            self._search(state, report)
        except _OverError as over:
            self.stopped = over.stopped
        except KeyboardInterrupt:
            self.stopped = Stopped.INTERRUPT
        except TimeoutError:
            self.stopped = Stopped.TIME

    def _begin(self) -> None:
        """Choose how far the first prices go, by what a programme gains at the root's.

        They were made for a weaker bound of the structure: where that is what left the
        gap, they are far from the best ones.
        """
        self._check_limits()
        node = self.queue[0]
        with limited_calls(self.clock.left):
            own = self.families(node.families, node.entries, node.fixed)
            found = self.bounds(own, self.maxima(own, node.prices))
        is_far = node.bound - found.bound >= FAR * (node.bound - self.best.score)
        node.step = LONG_STEP if is_far else SHORT_STEP
        node.bound = max(self.best.score, min(node.bound, found.bound))
        self.bound = self.root_bound = node.bound

    def _search(
        self, state: State, report: Callable[[float, int, float], None] | None
    ) -> None:
        while self.queue:
            self.bound = max(self.queue[0].bound, self.best.score)
            if self.bound <= self.cutoff:
                break
            if report is not None:
                report(self.best.score, self.n_nodes, self.bound)
            self._check_limits()
            node = heapq.heappop(self.queue)
            try:
                children = self._expand(node)
            except BaseException:
                heapq.heappush(self.queue, node)
                raise
            self.n_nodes += node.number > 0  # the root is counted by the core
            for child in children:
                if child.bound > self.cutoff:
                    heapq.heappush(self.queue, child)
            if state.is_due:
                state.save(self.kept())
        # Whatever was closed lies within the gap of the score.
        self.bound = self.best.score
        if self.limits.gap > TOLERANCE:
            self.bound = max(self.bound, min(self.root_bound, self.cutoff))

    def kept(self) -> dict[str, Any]:
        """Return the state as arrays and numbers."""
        return {
            "score": self.best.score,
            "parents": [list(members) for members in self.best.parents],
            "completion": self.best.completion,
            "root_bound": self.root_bound,
            "counts": [self.n_nodes, self.n_created],
            "work": self.work,
            "nodes": [
                [n.bound, n.number, n.fixed, n.families, n.entries, n.prices, n.step]
                for n in self.queue
            ],
        }

    def load(self, kept: dict[str, Any]) -> None:
        """Go on from a state."""
        parents = tuple(tuple(members) for members in kept["parents"])
        self.best = Pair(kept["score"], parents, kept["completion"])
        self.root_bound, self.work = kept["root_bound"], kept["work"]
        self.n_nodes, self.n_created = kept["counts"]
        self.queue = [_Node(*node) for node in kept["nodes"]]
        heapq.heapify(self.queue)

    @property
    def cutoff(self) -> float:
        """What is worth no more is of no use."""
        return self.best.score + self.limits.gap

    def _check_limits(self) -> None:
        if self.clock.is_over:
            raise _OverError(Stopped.TIME)
        if self.n_nodes >= self.limits.nodes or self.work >= self.limits.work:
            raise _OverError(Stopped.NODES)
        taken = sum(
            3 * node.families.nbytes + node.prices.nbytes for node in self.queue
        )
        if taken > self.limits.bytes:
            raise _OverError(Stopped.MEMORY)

    # One node.

    def _expand(self, node: _Node) -> list[_Node]:
        """Lower the bound of a node by prices, and split it where it is not closed."""
        with limited_calls(self.clock.left):
            work = _Work(self, node)
            is_open = work.improve_prices()
            children = work.split() if is_open else []
        if node.number == 0:
            self.root_bound = max(self.best.score, min(self.root_bound, work.bound))
        for child in children:
            child.number = self.n_created
            self.n_created += 1
        return children

    def families(
        self,
        numbers: NDArray[np.int32],
        entries: NDArray[np.int64],
        fixed: NDArray[np.uint8],
    ) -> _Families:
        """Make tables: with few families, in large blocks, which are tighter."""
        room = ALL_ENTRIES // max(len(numbers), 1)
        most = int(np.clip(room, LEAST_ENTRIES, MOST_ENTRIES))
        tables = _core.PricedFamilies(
            self.augmenter, numbers, fixed, np.maximum(entries, most), self.n_threads
        )
        self.work += 8.0 * tables.n_entries()
        return _Families(
            numbers,
            tables,
            tables.children(),
            tables.parent_offsets(),
            tables.parents(),
        )

    def maxima(self, own: _Families, prices: Array) -> Array:
        """Return the most that each family can be worth at some prices."""
        self.work += own.tables.n_entries()
        return own.tables.maxima(prices)

    def bounds(
        self, own: _Families, values: Array, *, is_exact: bool = False
    ) -> _Bounds:
        """Bound the best DAG of families of such values, and that with each of them.

        Of DAGs that are worth no more than the cutoff nothing is said.
        """
        from bayesmend.structure import scip

        through = np.full(len(values), -np.inf)
        if len(np.unique(own.children)) < len(self.problem.data.names):
            return _Bounds(-math.inf, through)
        by = own.tables.dominators(values)
        programme = self._programme(
            own, values, np.flatnonzero(by == np.arange(len(by)))
        )
        top = math.fsum(programme.scores[programme.offsets[:-1]].tolist())
        if top == -math.inf:
            return _Bounds(-math.inf, through)
        cutoff = top - self.cutoff
        if cutoff <= 0.0:
            return _Bounds(top, through)
        programme = programme.select(programme.losses < cutoff)
        places = programme.numbers
        try:
            start = programme.round(
                np.zeros(len(places)), seconds=self._seconds(), kicks=KICKS
            )
        except ParameterError:  # no DAG is left
            return _Bounds(-math.inf, through)
        limits = scip.Limits(
            time.perf_counter() + self._seconds(),
            TOLERANCE / 2,
            None if is_exact else 1,
            is_inner=True,
            cutoff=cutoff,
        )
        found = scip.relax(programme, start, limits, seed=0)
        self.work += ROUND_WORK * len(places) * max(1, found.n_rounds)
        if found.stopped not in (Stopped.NOTHING, Stopped.NODES):
            raise _OverError(found.stopped)
        through[places] = top - found.through
        of = by[is_there := np.isfinite(through[by])]
        through[is_there] = through[of] - (values[of] - values[is_there])
        weights = found.weights
        if found.is_settled:
            weights = np.zeros(len(places))
            weights[found.chosen] = 1.0
        weights = np.where(weights > LEAST_SHARE, weights, 0.0)
        used = np.flatnonzero(weights)
        sums = np.bincount(own.children[places[used]], weights[used])
        return _Bounds(
            top - found.loss_bound,
            through,
            places[used],
            weights[used] / sums[own.children[places[used]]],
            places[found.chosen],
            found.is_settled,
        )

    def _programme(
        self, own: _Families, values: Array, positions: NDArray[np.int64]
    ) -> Problem:
        order = np.lexsort((-values[positions], own.children[positions]))
        positions = positions[order]
        children, scores = own.children[positions], values[positions]
        counts = np.bincount(children, minlength=len(self.problem.data.names))
        offsets = offsets_of(counts)
        sizes = np.diff(own.offsets)[positions]
        parents = [own.parents[own.offsets[a] : own.offsets[a + 1]] for a in positions]
        losses = np.full(len(scores), np.inf)  # of those that are out
        is_in = np.isfinite(scores)
        losses[is_in] = scores[offsets[:-1]][children[is_in]] - scores[is_in]
        return Problem(
            self.problem.data.names,
            offsets,
            scores,
            offsets_of(sizes),
            np.concatenate(parents),
            losses,
            positions,
        )

    def _seconds(self) -> float:
        left = self.clock.left
        return 1e9 if left is None else left

    # Pairs.

    def mend(
        self, own: _Families, chosen: NDArray[np.int64], completion: NDArray[np.uint8]
    ) -> None:
        """Improve completion and structure in turn from a pair, and keep the best."""
        score = -math.inf
        while True:
            parents = own.parents_of(chosen)
            mender = self.problem.dag_mender(self.problem.dag(parents))
            found = mender.improve(completion, self._seconds())
            if found.score <= score + 1e-9:
                return
            score, completion = found.score, np.array(found.completion, np.uint8)
            if score > self.best.score + 1e-9:
                self.best = Pair(score, parents, completion)
                self.trace.append(Step(score, "completion", self.clock.seconds))
            scores = own.tables.scores(completion)
            by = own.tables.dominators(scores)
            kept = np.flatnonzero(by == np.arange(len(by)))
            programme = self._programme(own, scores, kept)
            weights = np.isin(programme.numbers, by[chosen]).astype(np.float64)
            best = programme.round(weights, seconds=self._seconds(), kicks=KICKS)
            if math.fsum(programme.scores[best].tolist()) <= score + 1e-9:
                return
            chosen = programme.numbers[best]


class _Work:
    """What is done for one node."""

    def __init__(self, search: Programmes, node: _Node) -> None:
        self.search, self.node = search, node
        self.bound, self.prices = node.bound, node.prices
        self.step = min(1.0, LONGER * node.step)
        self.own = search.families(node.families, node.entries, node.fixed)
        self.is_alive = np.ones(len(node.families), bool)
        self.losses = np.zeros(node.prices.shape[1:])  # of cells by value, summed

    def improve_prices(self) -> bool:
        """Lower the bound by subgradient steps; False when that closes the node."""
        search, is_root = self.search, self.node.number == 0
        patience = PATIENCE if is_root else NODE_PATIENCE
        best, gaps = self.prices, [math.inf] * patience
        direction = np.zeros_like(self.prices)
        n_steps = ROOT_STEPS if is_root else NODE_STEPS
        for step in range(n_steps):
            before = self.bound
            found = self._look()
            if self.bound < before - 1e-9 or step == 0:
                best = self.prices
            else:
                self.step *= SHORTER
            if self._drop(found):
                return False
            choices = self._choose(found)
            gaps.append(self.bound - search.best.score)
            self._refine(found)
            is_last = (
                step + 1 == n_steps
                or self.step < LEAST_STEP
                or search.work >= search.limits.work
                or gaps[-1] > (1.0 - LEAST_FALL) * gaps[-1 - patience]
            )
            if is_root and (is_last or step % MEND_EVERY == 0):
                self._mend(found, choices)
                if self.bound <= search.cutoff:
                    return False
            self._make_smaller()
            if is_last or not self._move(choices, direction, found.bound):
                break
        self.prices = best
        return True

    def split(self) -> list[_Node]:
        """Make children of the node, unless the best DAG shows that it is closed."""
        found = self._look(is_exact=True)
        if self._drop(found):
            return []
        choices = self._choose(found)
        self._mend(found, choices)
        fixed, is_left = self.node.fixed.copy(), self._values_left(found)
        is_free = fixed == MISSING
        if self.bound <= self.search.cutoff or not is_free.any():
            return []
        n_left = is_left.sum(axis=1)
        if (n_left[is_free] == 0).any():
            return []
        settled = is_free & (n_left == 1)
        fixed[settled] = is_left[settled].argmax(axis=1)
        is_free &= ~settled
        if not is_free.any():
            return [self._child(fixed)]
        losses = np.where(is_left, self.losses, np.inf)
        ranked = np.sort(losses, axis=1)
        second = np.minimum(ranked[:, 1], 1e6)
        contention = (ranked[:, 0] + 1e-3) * (second + 1e-3)
        cell = int(np.argmax(np.where(is_free, contention, -1.0)))
        children = []
        for value in np.flatnonzero(is_left[cell]).tolist():
            fixed[cell] = value
            children.append(self._child(fixed.copy()))
        return children

    def _look(self, *, is_exact: bool = False) -> _Bounds:
        values = self.search.maxima(self.own, self.prices)
        values[~self.is_alive] = -np.inf
        found = self.search.bounds(self.own, values, is_exact=is_exact)
        self.bound = min(self.bound, found.bound)
        return found

    def _drop(self, found: _Bounds) -> bool:
        """Drop the families that are of no use; True when that closes the node."""
        self.is_alive &= found.through > self.search.cutoff
        return self.bound <= self.search.cutoff

    def _refine(self, found: _Bounds) -> None:
        """Give the families that a bound rests on larger blocks."""
        tables = self.own.tables
        before = tables.n_entries()
        room = min(REFINED_ENTRIES, self.search.limits.bytes / 64.0)
        if before < room:
            block = int(min(REFINED_BLOCK, max(room / 64.0, LEAST_ENTRIES)))
            tables.refine(found.positions, REFINED_TIMES, block)
            self.search.work += 8.0 * max(0.0, tables.n_entries() - before)

    def _make_smaller(self) -> None:
        """Make tables anew, with more room for each, when many have been dropped."""
        n_left = int(self.is_alive.sum())
        if n_left >= REBUILT * len(self.is_alive):
            return
        self.own = self.search.families(*self._left(), self.node.fixed)
        self.is_alive = np.ones(n_left, bool)

    def _choose(self, found: _Bounds) -> tuple[Array, Array]:
        """Return what the families chosen take: as copies by child, and as owners."""
        told = self.own.tables.choose(found.positions, found.shares, self.prices)
        shape = self.prices.shape
        self.losses += np.asarray(told.losses).reshape(shape[1:])
        return (
            np.asarray(told.copies).reshape(shape),
            np.asarray(told.owners).reshape(shape[1:]),
        )

    def _mend(self, found: _Bounds, choices: tuple[Array, Array]) -> None:
        if found.chosen is None:
            return
        completion = self.node.fixed.copy()
        is_free = completion == MISSING
        completion[is_free] = choices[1][is_free].argmax(axis=1)
        self.search.mend(self.own, found.chosen, completion)

    def _move(
        self, choices: tuple[Array, Array], direction: Array, bound: float
    ) -> bool:
        """Make a step of prices; False where families agree and none is to be lower."""
        copies, owners = choices
        slope = owners[np.newaxis] - copies
        slope[:, self.node.fixed != MISSING] = 0.0
        cells = np.arange(self.search.problem.n_cells)
        slope[self.search.problem.variable, cells] = 0.0
        if not ((slope < 0.0) | ((slope > 0.0) & (self.prices > 0.0))).any():
            return False
        direction *= MOMENTUM
        direction += slope
        direction[(direction > 0.0) & (self.prices <= 0.0)] = 0.0
        norm = float((direction * direction).sum())
        if norm > 0.0:
            gap = max(bound - self.search.best.score, 1e-3)
            moved = self.prices - self.step * gap / norm * direction
            self.prices = np.maximum(moved, 0.0)
        return True

    def _values_left(self, found: _Bounds) -> NDArray[np.bool_]:
        """Tell which values cells may take in anything better."""
        slack = np.where(self.is_alive, found.through - self.search.cutoff, -1.0)
        told = self.own.tables.values_left(slack, self.prices)
        return told.reshape(self.prices.shape[1:]).astype(bool)

    def _child(self, fixed: NDArray[np.uint8]) -> _Node:
        return _Node(self.bound, 0, fixed, *self._left(), self.prices, self.step)

    def _left(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the numbers of the families that are left, and their entries."""
        entries = self.own.tables.max_entries()
        return self.own.numbers[self.is_alive], entries[self.is_alive]
