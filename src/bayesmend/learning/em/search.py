"""The search of structural expectation-maximisation, from one start after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._clock import Clock, Progress, limited_calls
from bayesmend._spelling import spell
from bayesmend.data.table import IncompleteData
from bayesmend.errors import BayesmendError, InferenceError
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import CompiledHoles
from bayesmend.learning.em.expectation import (
    Fitted,
    Table,
    estimate_cpts,
    split_cpts,
)
from bayesmend.learning.em.starts import Start, StartPoint, learned, start
from bayesmend.learning.result import Step
from bayesmend.learning.support import ObservedRows, supported_network
from bayesmend.network.flat import flatten, parents_of
from bayesmend.network.network import Network
from bayesmend.outcome import TOLERANCE, Stopped
from bayesmend.score import FamilyScorer, Score
from bayesmend.structure.candidates import can_score_all, candidates_from, sets_within
from bayesmend.structure.greedy import climb_from
from bayesmend.structure.order import FIRST_PATIENCE, solve_order
from bayesmend.structure.others import NEAR, Other
from bayesmend.structure.solve import Solver, solve

__all__ = ["SCORING_SECONDS", "Best", "Search"]

# Up to so many variables the best structure is found exactly in every step.
_SUBSET_VARS = 12
# Steps on most probable completions that bring a start closer.
_WARM_STEPS = 5
# Climbs from random changes, from a structure at hand and from none.
_FURTHER_RESTARTS = 0
_FIRST_RESTARTS = 20
# What a search over orders may spend on scores; of all candidates if that is enough.
SCORING_SECONDS = 0.5
# Nats that make another restart worth while.
_GAIN = 1.0


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Best:
    """The best network so far: its observed-data score and what it expects."""

    score: float
    kind: str
    fitted: Fitted


@dataclass(slots=True, repr=False, eq=False)
class Search:
    """A run from every start that keeps the best network and a trace."""

    table: Table
    score: Score
    rules: ParentRules
    solver: Solver
    hard: bool
    max_iter: int
    tol: float
    clock: Clock
    generator: np.random.Generator
    progress: Progress | None
    best: Best | None = None
    trace: list[Step] = field(default_factory=list)
    per_start: dict[str, float] = field(default_factory=dict)
    met: list[Other] = field(default_factory=list)  # where climbs ended
    stopped: Stopped = Stopped.NOTHING
    is_settled: bool = True
    share: float = 0.0  # of the starts that are done
    too_dense: list[InferenceError] = field(default_factory=list)
    observed: ObservedRows = field(init=False)
    shown: _core.ShownCells = field(default_factory=_core.ShownCells)

    def __post_init__(self) -> None:
        self.observed = ObservedRows(self.table.data, self.score)

    def run(self, starts: tuple[Start, ...], restarts: int) -> None:
        """Climb from every start, then from draws of the best network's completions."""
        left = self.clock.left
        if left is not None:
            self._keep_least()  # there must be something to return
        try:
            with limited_calls(left):
                n_points = len(starts) + restarts
                for number, point in enumerate(self._points(starts, restarts)):
                    if self.best is not None and self._is_over():
                        return
                    self.share = min(number / n_points, 1.0)
                    self._try(point)
        except KeyboardInterrupt:
            self.stopped = Stopped.INTERRUPT
            if self.best is None:
                raise
        except TimeoutError:
            self.stopped = Stopped.TIME
        except ValueError as error:
            if isinstance(error, BayesmendError):
                raise
            # Of the core: a family whose table of expected counts is too large.
            message = f"{error} Use a smaller {spell('max_parents')}."
            raise InferenceError(message) from None
        if self.best is None:
            assert self.too_dense
            raise self.too_dense[0]

    def _keep_least(self) -> None:
        """Keep the network of the required arcs alone, which takes next to no time."""
        point = self._start("empty")
        assert point is not None
        self._fit(point.kind, point.dag, point.cpts)

    def _try(self, point: StartPoint) -> None:
        """Climb from a start until a structure is too dense for exact inference."""
        climb = self._climb_hard if self.hard else self._climb
        try:
            reached = climb(self._shrunk(point))
        except InferenceError as error:
            # Its frames would keep all their tables, and this search, alive.
            self.too_dense.append(error.with_traceback(None))
            return
        before = self.per_start.get(point.kind, -np.inf)
        self.per_start[point.kind] = max(before, reached)

    def network(self) -> Network:
        """Return the best network so far."""
        assert self.best is not None
        fitted = self.best.fitted
        if self.hard:  # learned from a completed table: expected counts play no part
            network = self.table.with_cpts(fitted.dag, fitted.cpts)
        else:
            network = self.table.network(fitted.dag, fitted.counts, self.score.ess)
        return supported_network(network, self.observed)

    def _points(self, starts: tuple[Start, ...], restarts: int) -> Iterator[StartPoint]:
        for kind in starts:
            point = self._start(kind)
            if point is not None:
                yield point
        if self.best is None:  # no complete rows, and no other start was asked for
            point = self._start("empty")
            assert point is not None
            yield point
        if self.best is not None:
            yield from self._restarts(restarts)

    def _restarts(self, restarts: int) -> Iterator[StartPoint]:
        """Draw completions to start from; twice as many for as long as they gain."""
        in_vain, is_thorough = 0, self._solver() == "greedy"
        for number in range(2 * restarts):
            if number >= restarts and 2 * in_vain >= restarts:
                return
            assert self.best is not None
            before = self.best.score
            learn = self._learn_thoroughly if is_thorough else self._learn
            yield learned("restart", self._draw(), learn)
            gain = self.best.score - before
            in_vain = 0 if gain > _GAIN else in_vain + 1
            # It takes its time: the first tells whether climbs get caught on hills.
            is_thorough = is_thorough and gain > NEAR

    def _start(self, kind: Start) -> StartPoint | None:
        data = self.table.data
        return start(kind, data, self.rules, self._learn, self.generator)

    def _draw(self) -> IncompleteData:
        """Complete the table at random from the best network so far."""
        key = int(self.generator.integers(2**64, dtype=np.uint64))
        return self._completed(self._compile(self.network()).draw(1, key)[0])

    def _most_probable(self, dag: Dag, cpts: NDArray[np.float64]) -> IncompleteData:
        """Fill the missing cells of each row with its most probable states together."""
        return self._completed(
            self._compile(self.table.with_cpts(dag, cpts)).most_probable()[0]
        )

    def _compile(self, network: Network) -> CompiledHoles:
        cells = np.ascontiguousarray(self.table.data.codes.T)
        return self.table.engine.compile(network, cells)

    def _completed(self, cells: NDArray[np.uint8]) -> IncompleteData:
        return self.table.data.with_codes(np.asfortranarray(cells.T))

    def _warm(self, point: StartPoint) -> StartPoint:
        """Come closer by a few steps on most probable completions, which are fast."""
        before = b""
        for _ in range(_WARM_STEPS):
            table = self._most_probable(point.dag, point.cpts)
            if table.codes.tobytes() == before:
                break
            before = table.codes.tobytes()
            learn = partial(self._learn, current=point.dag)
            point = self._shrunk(learned(point.kind, table, learn))
            if self._is_over():
                break
        return point

    def _shrunk(self, point: StartPoint) -> StartPoint:
        return replace(point, cpts=self._shrink(point.dag, point.cpts))

    def _shrink(self, dag: Dag, cpts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Have what no row shows begin with what observed rows say of it.

        The likelihood is flat there: parameters stay as they are, and structures that
        are of no use with other ones would never be left again.
        """
        tables = split_cpts(dag, self.table.data.card, cpts)
        shrunk = self.observed.shrink(dag, tables)
        return np.concatenate([table.ravel() for table in shrunk])

    def _climb(self, point: StartPoint) -> float:
        """Alternate parameters and structure until neither gains; return the score."""
        if point.kind not in ("restart", "mechanism") and self._solver() == "greedy":
            point = self._warm(point)
        dag, cpts, reached = point.dag, point.cpts, -np.inf
        for _ in range(self.max_iter):
            scorer, expected, found, stopped = self._fit(point.kind, dag, cpts)
            if found <= reached + TOLERANCE or self._is_over(stopped):
                break
            reached = found
            new = self._step(scorer, dag)
            if self._is_over() or scorer.dag(new) <= expected + TOLERANCE:
                break
            counts = scorer.core.expected_counts(*parents_of(new))
            dag = new
            cpts = self._shrink(
                new, estimate_cpts(new, self.table.data.card, counts, 0.0)
            )
        else:
            self.is_settled = False
        return max(reached, found)

    def _fit(
        self, kind: str, dag: Dag, cpts: NDArray[np.float64]
    ) -> tuple[FamilyScorer, float, float, Stopped]:
        """Fit the parameters of a structure, and keep the network if it is the best.

        Returns the scorer of what it expects, the score by that and the observed-data
        score of the structure, and what ended the fit early.
        """
        fitted = self.table.fit(dag, cpts, clock=self.clock, tol=self.tol)
        scorer = self.table.scorer(fitted.holes, fitted.cpts, self.score, self.rules)
        expected = scorer.dag(dag)
        found = self._note(kind, fitted, expected)
        self._keep(found, kind, fitted)
        return scorer, expected, found, fitted.stopped

    def _climb_hard(self, point: StartPoint) -> float:
        """Alternate most probable completion and plain learning until one returns.

        The last network counts, not the best on the way: it is the one that a completed
        table and its network agree on.
        """
        dag, cpts, reached, fitted = point.dag, point.cpts, -np.inf, None
        seen: set[bytes] = set()
        try:
            for _ in range(self.max_iter):
                table = self._most_probable(dag, cpts)
                key = table.codes.tobytes()
                if key in seen:
                    break
                seen.add(key)
                dag = self._learn(table, dag)
                network = Network.fit(
                    dag, table, estimate="posterior", ess=self.score.ess
                )
                cpts = self._shrink(dag, flatten(network.dag, network.cpts).cpts)
                expected = self.table.expect(dag, cpts)
                scorer = self.table.scorer(expected.holes, cpts, self.score, self.rules)
                reached = self._note(point.kind, expected, scorer.dag(dag))
                fitted = expected
                if self._is_over():
                    break
            else:
                self.is_settled = False
        finally:
            if fitted is not None:
                self._keep(reached, point.kind, fitted)
        return reached

    def _note(self, kind: str, fitted: Fitted, expected_score: float) -> float:
        """Add to the trace; return the observed-data score (Cheeseman and Stutz)."""
        log_likelihood = float(fitted.log_likelihood[-1])
        found = expected_score - fitted.expected_log_likelihood() + log_likelihood
        if self.best is None or found > self.best.score - NEAR:
            self.met.append(Other(found, fitted.dag))
        trace = tuple(fitted.log_likelihood.tolist())
        seconds = self.clock.seconds
        self.trace.append(Step(found, kind, seconds, fitted.dag.n_arcs, trace))
        if self.progress is not None:
            best = found if self.best is None else max(found, self.best.score)
            what = f"structural EM ({kind})"
            self.progress(what, best, seconds, share=self.share)
        return found

    def _keep(self, found: float, kind: str, fitted: Fitted) -> None:
        if self.best is None or found > self.best.score + TOLERANCE:
            self.best = Best(found, kind, fitted)

    def _is_over(self, stopped: Stopped = Stopped.NOTHING) -> bool:
        if stopped:
            self.stopped = stopped
        elif self.clock.is_over:
            self.stopped = Stopped.TIME
        return bool(self.stopped)

    def _learn(self, completed: IncompleteData, current: Dag | None = None) -> Dag:
        """Find a structure for a complete table, better than one at hand."""
        restarts = _FIRST_RESTARTS if current is None else _FURTHER_RESTARTS
        return self._step(self._scorer_of(completed), current, restarts)

    def _learn_thoroughly(self, completed: IncompleteData) -> Dag:
        """Find one by a search over orders, which no hill holds up, and climb on."""
        scorer, left = self._scorer_of(completed), self.clock.left
        most_parents = int(self.rules.limit.max())
        is_small = can_score_all(scorer.data, most_parents, left, most=SCORING_SECONDS)
        sets = candidates_from(
            scorer,
            self.rules,
            search="all" if is_small else "promising",
            max_sets=None if is_small else sets_within(scorer.data, SCORING_SECONDS),
            time_limit=None if is_small or left is None else left / 2,
        )
        found = solve_order(
            sets,
            time_limit=self.clock.left,
            restarts=1,
            patience=FIRST_PATIENCE,
            seed=self.generator,
            n_threads=scorer.n_threads,
        )
        if found.stopped is Stopped.INTERRUPT:
            self.stopped = Stopped.INTERRUPT
        return self._step(scorer, found.dag)

    def _scorer_of(self, completed: IncompleteData) -> FamilyScorer:
        data, threads = self.table.data, self.table.engine.n_threads
        # Of some rows only, the complete ones, every cell was observed.
        before = data if completed.n_rows == data.n_rows else completed
        return FamilyScorer.completed(
            before,
            completed,
            score=self.score,
            choices=self.rules.choices,
            n_threads=threads,
            shown=self.shown if before is data else None,
        )

    def _solver(self) -> Solver:
        if self.solver != "auto":
            return self.solver
        return "subsets" if self.table.data.n_vars <= _SUBSET_VARS else "greedy"

    def _step(
        self,
        scorer: FamilyScorer,
        current: Dag | None,
        restarts: int = _FURTHER_RESTARTS,
    ) -> Dag:
        """Find a better structure for the counts of a scorer."""
        solver = self._solver()
        left = self.clock.left
        if solver != "greedy":
            is_small = can_score_all(scorer.data, int(self.rules.limit.max()), left)
            sets = candidates_from(
                scorer,
                self.rules,
                search="all" if is_small else "promising",
                time_limit=None if left is None else left / 2,
                seed_dag=None if is_small else current,
            )
            found = solve(
                sets,
                solver=solver,
                time_limit=self.clock.left,
                start=current,
                seed=self.generator,
                n_threads=scorer.n_threads,
            )
        else:
            found = climb_from(
                scorer,
                self.rules,
                start=current,
                restarts=restarts,
                time_limit=left,
                seed=self.generator,
            )
        if found.stopped is Stopped.INTERRUPT:
            self.stopped = Stopped.INTERRUPT
        return found.dag
