"""The search of structural expectation-maximisation, from one start after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import Kept
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
from bayesmend.learning.em.starts import STARTS, Start, StartPoint, learned, start
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
from bayesmend.structure.promising import Promising
from bayesmend.structure.solution import Solution
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
# From so many rows times pairs of variables on, and so many variables, climbs try only
# the parents that earlier ones found promising.
_WIDE_WORK, _WIDE_VARS = 1e7, 64
# There, parameters are fitted so far, in nats per row, until the structure is settled,
# and to the end only where that is at most so many nats below the best.
_COARSE, _HOPELESS = 1e-4, 10.0
# And a search over orders scores at most so many sets of them for each variable.
_WIDE_SETS = 300
# How many times as long as the fit of a network without arcs it takes to mend a table:
# 1 to 5 times, of 500 and of 1,000,000 rows; and some steps take a while to end.
_WINDING_UP = 7.0
# Nats that make another restart worth while.
_GAIN = 1.0


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Best:
    """The best network so far: its observed-data score and what it expects."""

    score: float
    kind: str
    fitted: Fitted
    is_rough: bool = False


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
    kept: Kept = field(default_factory=Kept)
    best: Best | None = None
    rough: Best | None = None  # what was best before it was fitted to the end
    trace: list[Step] = field(default_factory=list)
    per_start: dict[str, float] = field(default_factory=dict)
    met: list[Other] = field(default_factory=list)  # where climbs ended
    stopped: Stopped = Stopped.NOTHING
    is_settled: bool = True
    share: float = 0.0  # of the starts that are done
    too_dense: list[InferenceError] = field(default_factory=list)
    has_answer: bool = False  # though of fewer rows: none may be found here
    observed: ObservedRows = field(init=False)
    shown: _core.ShownCells = field(default_factory=_core.ShownCells)
    promising: Promising | None = field(init=False)  # where there are many parents
    reserve: float = 0.0  # seconds that are left, of a limit, for winding up

    def __post_init__(self) -> None:
        self.observed = ObservedRows(self.table.data, self.score)
        n_vars, n_rows = self.table.columns.shape
        is_wide = n_vars >= _WIDE_VARS and n_vars * n_vars * n_rows >= _WIDE_WORK
        self.promising = Promising.none(n_vars) if is_wide else None

    def run(self, starts: tuple[Start, ...], restarts: int) -> None:
        """Climb from every start, then from draws of the best network's completions."""
        if self.clock.left is not None:
            begun = self.clock.seconds
            self._keep_least()  # there must be something to return
            self.reserve = _WINDING_UP * (self.clock.seconds - begun)
            self.clock = self.clock.sooner(self.reserve)
        self._climb_from(self._points(starts, restarts), len(starts) + restarts)
        if self.best is None:
            assert self.too_dense
            raise self.too_dense[0]

    def go_on(self, dag: Dag, cpts: NDArray[np.float64]) -> None:
        """Climb from a network that was learned from fewer rows.

        When time is over, or at Ctrl-C, there may be no best network.
        """
        self.has_answer = True
        self._climb_from(iter([StartPoint("grown", dag, cpts)]), 1)

    def go_on_with_all(self, dag: Dag, cpts: NDArray[np.float64]) -> None:
        """Climb with all rows from a network that was learned from some of them.

        There is always a best network then: that one, if time is over.
        """
        begun = self.clock.seconds
        fitted = self.table.expect(dag, cpts)
        found = self._note("grown", fitted, self._expecting(fitted).dag(dag))
        self._keep(found, "grown", fitted)
        if self.clock.left is not None:
            self.reserve = _WINDING_UP * (self.clock.seconds - begun)
            self.clock = self.clock.sooner(self.reserve)
        if not self._is_over():
            self.go_on(dag, cpts)

    def _climb_from(self, points: Iterator[StartPoint], n_points: int) -> None:
        try:
            with limited_calls(self.clock.left):
                for number, point in enumerate(points):
                    if self.best is not None and self._is_over():
                        return
                    self.share = min(number / n_points, 1.0)
                    self._try(point)
        except KeyboardInterrupt:
            self.stopped = Stopped.INTERRUPT
            self._take_rough()
            if self.best is None and not self.has_answer:
                raise
        except TimeoutError:
            self.stopped = Stopped.TIME
            self._take_rough()
        except ValueError as error:
            if isinstance(error, BayesmendError):
                raise
            # Of the core: a family whose table of expected counts is too large.
            message = f"{error} Use a smaller {spell('max_parents')}."
            raise InferenceError(message) from None

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

    def gain_over(self, dag: Dag) -> float:
        """Tell how much better the best structure is than another, as it expects."""
        assert self.best is not None
        scorer = self._expecting(self.best.fitted)
        return scorer.dag(self.best.fitted.dag) - scorer.dag(dag)

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
            yield self._restart(is_thorough=is_thorough)
            gain = self.best.score - before
            in_vain = 0 if gain > _GAIN else in_vain + 1
            # It takes its time: the first tells whether climbs get caught on hills.
            is_thorough = is_thorough and gain > NEAR

    def _start(self, kind: Start) -> StartPoint | None:
        told = self.kept.step(
            "start",
            lambda: self._point_told(
                start(kind, self.table.data, self.rules, self._learn, self.generator)
            ),
            kind,
            generator=self.generator,
            clock=self.clock,
            unless=self._is_cut,
        )
        return None if told is None else self._point(kind, told)

    def _restart(self, *, is_thorough: bool) -> StartPoint:
        """Learn from a completion that is drawn from the best network so far."""
        assert self.best is not None
        learn = self._learn_thoroughly if is_thorough else self._learn
        told = self.kept.step(
            "restart",
            lambda: self._point_told(learned("restart", self._draw(), learn)),
            is_thorough,
            self.best.fitted.dag.parents,
            self.best.fitted.cpts,
            self.best.fitted.counts,
            generator=self.generator,
            clock=self.clock,
            unless=self._is_cut,
        )
        return self._point("restart", told)

    def _point_told(self, point: StartPoint | None) -> dict[str, Any] | None:
        if point is None:
            return None
        told = {"parents": point.dag.parents, "cpts": point.cpts}
        if self.promising is not None:
            told["promising"] = self.promising.packed()
        return told

    def _point(self, kind: str, told: Mapping[str, Any]) -> StartPoint:
        with self.kept.sound():
            dag = self._dag(told)
            if self.promising is not None:
                self.promising = Promising.told(told["promising"], dag.n_vars)
            cpts = np.asarray(told["cpts"], np.float64)
            split_cpts(dag, self.table.data.card, cpts)
            return StartPoint(kind, dag, cpts)

    def _dag(self, told: Mapping[str, Any]) -> Dag:
        return Dag(self.table.data.names, tuple(map(tuple, told["parents"])))

    def _is_cut(self, _: object) -> bool:
        """Tell whether the last step was cut short: it is not what it would be."""
        return self._is_over()

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
        told = self.kept.step(
            "warm",
            lambda: self._point_told(self._warmed(point)),
            point.dag.parents,
            point.cpts,
            generator=self.generator,
            clock=self.clock,
            unless=self._is_cut,
        )
        return self._point(point.kind, told)

    def _warmed(self, point: StartPoint) -> StartPoint:
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
        if point.kind in STARTS and self._solver() == "greedy":
            point = self._warm(point)
        dag, cpts, reached = point.dag, point.cpts, -np.inf
        tol = self.tol if self.promising is None else max(self.tol, _COARSE)
        settled, before = (dag, cpts), self.best
        for _ in range(self.max_iter):
            fitted, scorer, expected, found = self._fit(point.kind, dag, cpts, tol)
            self.rough = None
            if self._is_over(fitted.stopped):
                break
            new = None
            if found > reached + TOLERANCE:
                reached, settled = found, (fitted.dag, fitted.cpts)
                new = self._advance(fitted, scorer, expected)
            if new is not None:
                dag, counts = new
                cpts = self._shrink(
                    dag, estimate_cpts(dag, self.table.data.card, counts, 0.0)
                )
                continue
            if tol == self.tol or self._is_over() or self._is_hopeless(reached):
                break
            tol, (dag, cpts), reached = self.tol, settled, -np.inf
            if self.best is not None and self.best.is_rough:
                self.rough, self.best = self.best, before  # until it is fitted
        else:
            self.is_settled = False
        return max(reached, found)

    def _is_hopeless(self, reached: float) -> bool:
        """Tell whether parameters that are fitted to the end would not do."""
        return self.best is not None and reached < self.best.score - _HOPELESS

    def _fit(
        self,
        kind: str,
        dag: Dag,
        cpts: NDArray[np.float64],
        tol: float | None = None,
    ) -> tuple[Fitted, Callable[[], FamilyScorer], float, float]:
        """Fit the parameters of a structure, and keep the network if it is the best.

        Returns the fit, what gives the scorer of what it expects, the score by that,
        and the observed-data score of the structure.
        """
        fits: list[Fitted] = []
        scorer = cache(lambda: self._expecting(fits[0]))
        least = self.tol if tol is None else tol

        def fit() -> dict[str, Any]:
            fits.append(self.table.fit(dag, cpts, clock=self.clock, tol=least))
            return {**fits[0].told(), "expected": scorer().dag(dag)}

        told = self.kept.step(
            "fit",
            fit,
            dag.parents,
            cpts,
            least,
            clock=self.clock,
            unless=lambda _: fits[0].stopped,
        )
        with self.kept.sound():
            if not fits:
                fits.append(self.table.told_of(dag, told))
            expected = float(told["expected"])
        found = self._note(kind, fits[0], expected)
        self._keep(found, kind, fits[0], is_rough=least > self.tol)
        return fits[0], scorer, expected, found

    def _expecting(self, fitted: Fitted) -> FamilyScorer:
        return self.table.scorer(fitted.holes, fitted.cpts, self.score, self.rules)

    def _advance(
        self, fitted: Fitted, scorer: Callable[[], FamilyScorer], expected: float
    ) -> tuple[Dag, NDArray[np.float64]] | None:
        """Find a better structure for what a fit expects, and what that expects of it.

        None where there is no better one, or no time to find it.
        """

        def advance() -> dict[str, Any]:
            new = self._step(scorer(), fitted.dag, is_expected=True)
            if self._is_over() or scorer().dag(new) <= expected + TOLERANCE:
                return {"parents": None}
            counts = scorer().core.expected_counts(*parents_of(new))
            return {"parents": new.parents, "counts": counts}

        told = self.kept.step(
            "structure",
            advance,
            fitted.dag.parents,
            fitted.cpts,
            *([] if self.promising is None else [self.promising.packed()]),
            generator=self.generator,
            clock=self.clock,
            unless=self._is_cut,
        )
        with self.kept.sound():
            if told["parents"] is None or self._is_over():
                return None
            dag, counts = self._dag(told), np.asarray(told["counts"], np.float64)
            split_cpts(dag, self.table.data.card, counts)
            return dag, counts

    def _climb_hard(self, point: StartPoint) -> float:
        """Alternate most probable completion and plain learning until one returns.

        The last network counts, not the best on the way: it is the one that a completed
        table and its network agree on.
        """
        dag, cpts, reached, fitted = point.dag, point.cpts, -np.inf, None
        seen: set[str] = set()
        try:
            for _ in range(self.max_iter):
                completed = cache(partial(self._most_probable, dag, cpts))
                key = self.kept.step(
                    "complete",
                    partial(_digest_of, completed),
                    dag.parents,
                    cpts,
                    clock=self.clock,
                )
                if key in seen:
                    break
                seen.add(key)
                dag, fitted, expected = self._relearn(completed, dag, cpts)
                cpts = fitted.cpts
                reached = self._note(point.kind, fitted, expected)
                if self._is_over():
                    break
            else:
                self.is_settled = False
        finally:
            if fitted is not None:
                self._keep(reached, point.kind, fitted)
        return reached

    def _relearn(
        self,
        completed: Callable[[], IncompleteData],
        before: Dag,
        cpts: NDArray[np.float64],
    ) -> tuple[Dag, Fitted, float]:
        """Learn a network from a completed table as if it were complete.

        Returns it with what it expects, and the score by that.
        """
        fits: list[Fitted] = []

        def learn() -> dict[str, Any]:
            dag = self._learn(completed(), before)
            network = Network.fit(
                dag, completed(), estimate="posterior", ess=self.score.ess
            )
            new = self._shrink(dag, flatten(network.dag, network.cpts).cpts)
            fits.append(self.table.expect(dag, new))
            score = self._expecting(fits[0]).dag(dag)
            return {**fits[0].told(), "parents": dag.parents, "expected": score}

        told = self.kept.step(
            "learn",
            learn,
            before.parents,
            cpts,
            generator=self.generator,
            clock=self.clock,
            unless=self._is_cut,
        )
        with self.kept.sound():
            dag = self._dag(told)
            if not fits:
                fits.append(self.table.told_of(dag, told))
            return dag, fits[0], float(told["expected"])

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

    def _keep(
        self, found: float, kind: str, fitted: Fitted, *, is_rough: bool = False
    ) -> None:
        best, least = self.best, TOLERANCE
        if best is not None and best.is_rough != is_rough:
            # The score of parameters that are not fitted to the end is rough, too.
            least = _HOPELESS if is_rough else -_HOPELESS
        if best is None or found > best.score + least:
            self.best = Best(found, kind, fitted, is_rough)

    def _take_rough(self) -> None:
        """Return to what was best when the search ended before it was fitted."""
        rough, best = self.rough, self.best
        if rough is not None and (best is None or best.score < rough.score):
            self.best = rough

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
        rules, most = self.rules, sets_within(scorer.data, SCORING_SECONDS)
        if self.promising is not None:
            rules, most = self.promising.within(rules), min(most, _WIDE_SETS)
        sets = candidates_from(
            scorer,
            rules,
            search="all" if is_small else "promising",
            max_sets=None if is_small else most,
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
            max_memory=self.table.engine.max_memory,
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
        *,
        is_expected: bool = False,
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
            found = self._climb_by(scorer, current, restarts, is_expected=is_expected)
        if found.stopped is Stopped.INTERRUPT:
            self.stopped = Stopped.INTERRUPT
        return found.dag

    def _climb_by(
        self,
        scorer: FamilyScorer,
        current: Dag | None,
        restarts: int,
        *,
        is_expected: bool,
    ) -> Solution:
        """Climb; where there are many parents, among those that earlier climbs noted.

        A climb from none then goes on among all.
        """
        lists = self.promising
        climb = partial(climb_from, scorer, seed=self.generator)
        if lists is None or not lists.mask.any():
            return climb(
                self.rules,
                start=current,
                restarts=restarts,
                time_limit=self.clock.left,
                promising=None if is_expected else lists,
            )
        found = climb(
            lists.within(self.rules, current),
            start=current,
            restarts=restarts,
            time_limit=self.clock.left,
        )
        if current is not None or self._is_over(found.stopped):
            return found
        return climb(
            self.rules,
            start=found.dag,
            restarts=0,
            time_limit=self.clock.left,
            promising=lists,
        )


def _digest_of(completed: Callable[[], IncompleteData]) -> str:
    return sha256(completed().codes.tobytes()).hexdigest()
