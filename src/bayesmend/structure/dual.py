"""Multipliers that bound every acyclic choice of candidates, by linear programming.

Cuts (see `cuts`) are added to the linear programme until its dual solution reaches the
target, and where that does not, an arc is present in one half of the tree and absent
in the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray
from pyscipopt import LP

from bayesmend import _core
from bayesmend._rows import owners_of
from bayesmend.structure.cuts import UNIT, Cluster, Cut, Half, Node, Proof
from bayesmend.structure.problem import Problem

__all__ = ["find_multipliers"]

_MAX_CLUSTERS = 100  # added to the linear programme at a time
_FEW_CLUSTERS = 5  # with fewer, half cuts are looked for, too
_MAX_HALVES = 60
_SHUFFLES = 6  # orders in which rows are eliminated
_MAX_COEFFICIENT = 8  # of a half cut; larger ones are of cuts that bound little
_SEARCH_STEPS, _FINAL_STEPS = 200, 2000
_MIN_VIOLATION = 1e-4
_MIN_HALF_VIOLATION = 0.01
_ROOT_ROUNDS, _NODE_ROUNDS = 200, 12
_SLOW = 1e-3  # rounds that close less of what is left, one after the other, end it
_ROOT_PATIENCE, _NODE_PATIENCE = 8, 2
_ZERO = 1e-7
_SPARE_ROWS = 300
_DEAR = 10.0  # times the target: what no choice within it can take


def find_multipliers(
    problem: Problem,
    least_loss: float,
    *,
    max_nodes: int,
    seconds: float,
    seed: int = 0,
    tell: Callable[[int], None] | None = None,
) -> Proof:
    """Prove that no acyclic choice of candidates loses less.

    Parameters
    ----------
    problem : Problem
        The candidates.
    least_loss : float
        What is to be proven.
    max_nodes, seconds : int, float
        When to give up.
    seed : int
        For the order in which cuts are combined.
    tell : callable, optional
        Called with the number of nodes done.
    """
    search = _Search(problem, least_loss, seed)
    search.run(max_nodes, time.perf_counter() + seconds, tell)
    return search.proof


@dataclass(slots=True)
class _Open:
    """A node that is to be bounded."""

    parent: int | None
    arc: tuple[int, int] | None
    is_present: bool
    alive: NDArray[np.bool_]


class _Search:
    """The cuts so far, the linear programme, and the tree.

    Columns are the candidates, and for each variable one more without parents, so dear
    that no choice within the target takes it: with these the programme always has a
    solution, and multipliers.
    """

    def __init__(self, problem: Problem, least_loss: float, seed: int) -> None:
        self.problem, self.target = problem, least_loss
        n = self.n = len(problem.names)
        n_families = self.n_families = len(problem.losses)
        self.owner = np.append(owners_of(problem.offsets), np.arange(n))
        self.losses = np.append(problem.losses, np.full(n, _DEAR * (1 + least_loss)))
        self.has = np.zeros((n_families + n, n), np.bool_)
        self.has[owners_of(problem.member_offsets), problem.members] = True
        self.rng = np.random.default_rng(seed)
        self.proof = Proof()
        self.rows: list[int] = []  # the cuts of the rows after those of the variables
        self.is_used = np.ones(n_families + n, np.bool_)
        self.programme = self._programme()
        self.n_lasting = 0

    # --- the tree -------------------------------------------------------------------

    def run(
        self, max_nodes: int, deadline: float, tell: Callable[[int], None] | None
    ) -> None:
        """Follow the tree to its end; the deepest open node is always the next."""
        nodes = self.proof.nodes
        open_nodes = [_Open(None, None, False, np.ones(len(self.owner), np.bool_))]
        while open_nodes:
            if len(nodes) >= max_nodes:
                self.proof.failure = f"its tree has more than {max_nodes:,} nodes"
                return
            node = open_nodes.pop()
            weights, duals = self._tighten(node, deadline)
            if time.perf_counter() >= deadline:
                self.proof.failure = "time ran out"
                return
            number = len(nodes)
            is_closed = self._record(node, duals)
            self._purge(duals, is_root=node.parent is None)
            if tell is not None:
                tell(len(nodes))
            if is_closed:
                continue
            arc = self._arc(weights)
            if arc is None:
                self.proof.failure = "its numbers are too close to tell apart"
                return
            for is_present in (True, False):
                alive = self._with_arc(node.alive, arc, is_present)
                open_nodes.append(_Open(number, arc, is_present, alive))

    def _record(self, node: _Open, duals: NDArray[np.float64]) -> bool:
        """Write a node down, drop what it shows to be of no use; tell if it is all."""
        steps = np.maximum(np.rint(duals / UNIT), 0).astype(np.int64)
        losses, constant = self.losses.copy(), 0.0
        chosen = [(self.rows[k], int(steps[k])) for k in np.flatnonzero(steps).tolist()]
        for number, multiplier in chosen:
            cut, price = self.proof.cuts[number], multiplier * UNIT
            losses[cut.families] -= price * cut.coefficients
            constant += price * cut.least
        losses[~node.alive] = np.inf
        real = losses[: self.n_families]
        least = np.minimum.reduceat(real, self.problem.offsets[:-1])
        if np.isinf(least).any():
            chosen = []  # a variable without a family needs no multipliers
        self.proof.nodes.append(
            Node(
                node.parent,
                node.arc,
                node.is_present,
                tuple(number for number, _ in chosen),
                tuple(multiplier for _, multiplier in chosen),
            )
        )
        bound = float(least.sum()) + constant
        if bound >= self.target:
            return True
        more = real - least[self.owner[: self.n_families]]
        node.alive[: self.n_families] &= bound + more < self.target
        return False

    def _arc(self, weights: NDArray[np.float64]) -> tuple[int, int] | None:
        """Choose the arc that is nearest to half present."""
        found = np.flatnonzero(weights > _ZERO)
        present = np.zeros((self.n, self.n))
        np.add.at(present, self.owner[found], self.has[found] * weights[found, None])
        doubt = np.minimum(present, 1 - present)
        child, source = np.unravel_index(int(np.argmax(doubt)), doubt.shape)
        if doubt[child, source] < _ZERO:
            return None
        return int(source), int(child)

    def _with_arc(
        self, alive: NDArray[np.bool_], arc: tuple[int, int], is_present: bool
    ) -> NDArray[np.bool_]:
        source, child = arc
        fits = (self.owner != child) | (self.has[:, source] == is_present)
        if is_present:
            fits &= (self.owner != source) | ~self.has[:, child]
        fits[self.n_families :] = True
        kept: NDArray[np.bool_] = alive & fits
        return kept

    # --- the linear programme -------------------------------------------------------

    def _programme(self) -> LP:
        """Build the linear programme, of the rows that are kept."""
        programme = LP("multipliers", "minimize")
        n_columns = len(self.owner)
        programme.addCols(
            [[] for _ in range(n_columns)],
            objs=self.losses.tolist(),
            lbs=[0.0] * n_columns,
            ubs=self.is_used.astype(float).tolist(),
        )
        spans = pairwise(self.problem.offsets.tolist())
        for v, (first, last) in enumerate(spans):
            own = [*range(first, last), self.n_families + v]
            programme.addRow([(c, 1.0) for c in own], 1.0, 1.0)
        for number in self.rows:
            _add_row(programme, self.proof.cuts[number])
        return programme

    def _purge(self, duals: NDArray[np.float64], *, is_root: bool) -> None:
        """Leave out rows that bound nothing now, when there are many of them."""
        if is_root or len(self.rows) > self.n_lasting + _SPARE_ROWS:
            used = np.flatnonzero(duals > _ZERO).tolist()
            self.rows = [self.rows[k] for k in used]
            self.n_lasting = len(self.rows)
            self.programme = self._programme()

    def _tighten(
        self, node: _Open, deadline: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Add cuts until the target is reached or none helps; return the solution."""
        for column in np.flatnonzero(node.alive != self.is_used).tolist():
            self.programme.chgBound(column, 0.0, float(node.alive[column]))
        self.is_used = node.alive.copy()
        is_root = node.parent is None
        most = _ROOT_ROUNDS if is_root else _NODE_ROUNDS
        patience = _ROOT_PATIENCE if is_root else _NODE_PATIENCE
        before, n_slow, n_rounds = -np.inf, 0, 0
        while True:
            value = self.programme.solve(True)
            weights = np.array(self.programme.getPrimal())
            duals = np.array(self.programme.getDual()[self.n :])
            is_slow = value - before < _SLOW * (self.target - value)
            before, n_slow = value, n_slow + 1 if is_slow else 0
            n_rounds += 1
            is_enough = n_rounds >= most or n_slow > patience
            if (
                value >= self.target
                # Where no arc is in doubt, only cuts can tell that there is a cycle.
                or (is_enough and self._arc(weights) is not None)
                or time.perf_counter() >= deadline
                or not self._separate(weights, deadline)
            ):
                break
        return weights, duals

    def _separate(self, weights: NDArray[np.float64], deadline: float) -> int:
        """Add cuts that a solution violates; return how many."""
        found = _core.violated_clusters(
            *self.problem.arrays,
            np.clip(weights[: self.n_families], 0.0, 1.0),
            max_clusters=_MAX_CLUSTERS,
            steps=_SEARCH_STEPS,
            final_steps=_FINAL_STEPS,
            min_violation=_MIN_VIOLATION,
            seconds=max(deadline - time.perf_counter(), 1e-9),
            must_find=False,
        ).clusters
        cuts = [
            self._cluster(found.items[first:last])
            for first, last in pairwise(found.offsets.tolist())
        ]
        cuts = [cut for cut in cuts if _violation(cut, weights) >= _MIN_VIOLATION]
        if len(cuts) < _FEW_CLUSTERS:
            cuts += self._halves(weights)
        for cut in cuts:
            self.rows.append(len(self.proof.cuts))
            self.proof.cuts.append(cut)
            _add_row(self.programme, cut)
        return len(cuts)

    def _cluster(self, members: NDArray[np.int32]) -> Cut:
        is_inside = np.zeros(self.n, np.bool_)
        is_inside[members] = True
        families = np.flatnonzero(is_inside[self.owner])
        families = families[~self.has[np.ix_(families, members)].any(axis=1)]
        origin = Cluster(tuple(sorted(members.tolist())))
        return Cut(origin, families, np.ones(len(families), np.int64), 1)

    # --- half cuts ------------------------------------------------------------------

    def _halves(self, weights: NDArray[np.float64]) -> list[Cut]:
        """Combine rows that hold with equality to half cuts that are violated.

        With even coefficients where the weights are, and an odd right side, a half
        sum is violated by a half: combinations are found by elimination modulo 2.
        """
        place = np.full(len(weights), -1)
        columns = np.flatnonzero(weights > _ZERO)
        place[columns] = np.arange(len(columns))
        entries = []  # bits of odd coefficients, whether the right side is odd, what
        for v in range(self.n):
            entries.append((_bits(place[columns[self.owner[columns] == v]]), 1, 1 << v))
        for k, number in enumerate(self.rows):
            cut = self.proof.cuts[number]
            if _violation(cut, weights) > -_ZERO:
                odd = place[cut.families[cut.coefficients % 2 == 1]]
                entries.append((_bits(odd[odd >= 0]), cut.least % 2, 1 << self.n + k))
        found: dict[int, None] = {}
        for _ in range(_SHUFFLES):
            order = [*range(self.n), *self.rng.permutation(range(self.n, len(entries)))]
            found |= dict.fromkeys(_odd_combinations([entries[k] for k in order]))
        cuts: list[tuple[float, int, Cut]] = []
        for combination in found:
            half = self._half(combination)
            if half is not None:
                violation = _violation(half, weights)
                if violation > _MIN_HALF_VIOLATION:
                    depth = violation / float(np.sqrt((half.coefficients**2).sum()))
                    cuts.append((-depth, len(cuts), half))
        return [cut for _, _, cut in sorted(cuts, key=itemgetter(0, 1))[:_MAX_HALVES]]

    def _half(self, combination: int) -> Cut | None:
        numbers = _places(combination)
        rows = [self.rows[k - self.n] for k in numbers if k >= self.n]
        total, least = np.zeros(len(self.owner), np.int64), 0
        for number in rows:
            cut = self.proof.cuts[number]
            total[cut.families] += cut.coefficients
            least += cut.least
        multiples = np.zeros(self.n, np.int64)
        multiples[[v for v in numbers if v < self.n]] = -1
        rounded = -((-(total + multiples[self.owner])) // 2)
        # The smallest coefficient of each variable may as well be 0.
        smallest = np.full(self.n, np.iinfo(np.int64).max)
        np.minimum.at(smallest, self.owner, rounded)
        multiples -= 2 * smallest
        rounded -= smallest[self.owner]
        least = -((-(least + int(multiples.sum()))) // 2)
        families = np.flatnonzero(rounded)
        coefficients = rounded[families]
        if not len(families) or coefficients.max() > _MAX_COEFFICIENT:
            return None
        own = [(v, int(m)) for v, m in enumerate(multiples) if m]
        return Cut(Half(tuple(rows), tuple(own)), families, coefficients, least)


def _add_row(programme: LP, cut: Cut) -> None:
    entries = zip(cut.families.tolist(), cut.coefficients.tolist(), strict=True)
    row = [(column, float(coefficient)) for column, coefficient in entries]
    programme.addRow(row, float(cut.least), programme.infinity())


def _violation(cut: Cut, weights: NDArray[np.float64]) -> float:
    return float(cut.least - cut.coefficients @ weights[cut.families])


def _bits(places: NDArray[np.int64]) -> int:
    bits = 0
    for place in places.tolist():
        bits |= 1 << place
    return bits


def _places(bits: int) -> list[int]:
    found = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _odd_combinations(entries: Sequence[tuple[int, int, int]]) -> Iterator[int]:
    """List combinations of rows that are even on the left and odd on the right."""
    pivots: dict[int, tuple[int, int, int]] = {}
    for left, right, what in entries:
        while left:
            low = left & -left
            if low not in pivots:
                pivots[low] = left, right, what
                break
            other = pivots[low]
            left, right, what = left ^ other[0], right ^ other[1], what ^ other[2]
        else:
            if right:
                yield what
