"""The integer programme of structure learning, on SCIP.

One binary variable per candidate, exactly one candidate per variable, and for every set
C of variables (a cluster) the inequality "some variable in C has no parent in C"
(Jaakkola et al. 2010). There are exponentially many clusters, so a constraint handler
adds the violated ones at each solution of the linear relaxation; clusters of two are
given from the start, so that SCIP can combine them.

SCIP minimises the loss against the best candidate of every variable: those numbers are
small, so its tolerances are small beside the differences that matter.

Columns that reduced costs have shown to be of no use stay in SCIP's linear programmes;
once they are many, the search begins anew without them, with the rows then in use.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyscipopt import (
    SCIP_PARAMSETTING,
    SCIP_RESULT,
    SCIP_STAGE,
    Conshdlr,
    Model,
    quicksum,
)

from bayesmend import _core
from bayesmend._clock import room_within
from bayesmend.outcome import Stopped
from bayesmend.structure.branching import ArcBranching
from bayesmend.structure.problem import Problem

__all__ = ["Minimum", "Relaxation", "minimise", "relax"]

# Per round, or as many as there are variables: more slow the linear programme down than
# they tighten it.
MAX_CUTS = 40
_SHARE_OF_MEMORY = 0.5  # what its linear programmes take is not counted by itself
# At the root the point to cut off is not the solution of the linear programme, which
# jumps from corner to corner, but lies this share of the way from it to a mean of those
# before, that follows it by a fifth each round. Cuts found there are deeper.
INWARD, FOLLOWS = 0.7, 0.2
FAINT = 0.01  # what has less weight in the point is left out, for a faster search
SEARCH_STEPS = 200  # of the separation from one variable
FINAL_STEPS = 20_000  # of the same, when the short searches have found nothing
MIN_VIOLATION = 1e-3
ROUNDING_EVERY = 3  # separation rounds
# After this many rounds, and after twice as many again and again, the programme over
# the candidates that the relaxation uses is searched for a better incumbent, for so
# many rounds and nodes, where the gap is more than this share of the loss.
INNER_AFTER, INNER_ROUNDS, INNER_NODES, INNER_GAP = 40, 60, 20, 0.003
MAX_PAIR_TERMS = 100_000
# Where reduced costs leave no more than this share of the columns at the root, and take
# away so many at least, the search goes on with these alone, and the rows in use.
FEWER, LEAST_GONE = 0.6, 200
# Who closes less than this share of what is left between bound and score in half of all
# rounds will not get there soon; and what is left is little, in nats.
SLOW, LITTLE = 0.1, 1.0

# Measured on ALARM, INSURANCE and HAILFINDER with 1,000 and 5,000 rows: zero-half cuts
# in every round save most of the tree, the other separators find next to nothing, and
# a restart of SCIP's own throws the cluster cuts away.
SETTINGS: dict[str, Any] = {
    "presolving/maxrestarts": 0,
    "separating/zerohalf/freq": 1,
    "separating/zerohalf/maxrounds": -1,
    "separating/zerohalf/maxroundsroot": -1,
    "separating/zerohalf/maxsepacuts": 100,
    "separating/maxcuts": 400,
    "separating/maxstallrounds": 3,
    # Cluster cuts are forced; what is nearly parallel to one of them is worth having.
    "cutselection/hybrid/minorthoroot": 0.0,
    "cutselection/hybrid/minortho": 0.0,
    "conflict/enable": False,
    # Reductions that look at the rows alone do not see that arcs must be acyclic. Weak
    # dual ones do not: they cut off what the bound shows to be no better than the best.
    "misc/usesymmetry": 0,
    "misc/allowstrongdualreds": False,
    # The loss may be 1e4 times the tolerance we promise.
    "numerics/feastol": 1e-9,
    "numerics/dualfeastol": 1e-9,
}
KEPT_SEPARATOR = "zerohalf"


@dataclass(slots=True)
class Minimum:
    """How a run of SCIP ended."""

    chosen: NDArray[np.int32]  # candidate of each variable
    loss_bound: float  # no acyclic choice loses less
    stopped: Stopped  # nothing: proven, as close as asked, or out of patience
    counts: dict[str, int] = field(default_factory=dict)
    has_stalled: bool = False  # whether patience ended it


@dataclass(frozen=True, slots=True)
class Limits:
    """When to stop."""

    deadline: float  # of time.perf_counter()
    gap: float
    nodes: int | None
    patience: int | None = None  # rounds before slow progress ends it
    is_inner: bool = False  # whether it serves another search
    cutoff: float | None = None  # a loss from which on a choice is of no use

    def remaining(self) -> float:
        """Return the seconds left, never negative."""
        return max(0.0, self.deadline - time.perf_counter())


def minimise(
    problem: Problem,
    incumbent: NDArray[np.int32],
    limits: Limits,
    *,
    seed: int,
    report: Callable[[float, float], None] | None,
) -> Minimum:
    """Find the acyclic choice of candidates with the least loss.

    Parameters
    ----------
    problem : Problem
        The candidates.
    incumbent : ndarray of shape (n_vars,)
        An acyclic choice to start from.
    limits : Limits
        When to stop.
    seed : int
        For SCIP's own choices.
    report : callable, optional
        Called with the loss so far and the lower bound, at most ten times a second.
    """
    handler = Acyclicity(problem, incumbent, limits, report)
    # Around all of it: SCIP calls back while it builds and while it frees, and a
    # KeyboardInterrupt raised there would be lost or leave the model half freed.
    with _interrupts(handler.word):
        outcome = _solve(handler, limits, seed)
        while handler.is_shrunk and not handler.is_interrupted:
            handler = handler.smaller()
            outcome = _solve(handler, limits, seed)
    outcome.chosen = handler.numbers[outcome.chosen]
    if handler.is_interrupted:
        outcome.stopped = Stopped.INTERRUPT
    elif handler.has_stalled and outcome.stopped is Stopped.INTERRUPT:
        outcome.stopped, outcome.has_stalled = Stopped.NOTHING, True
    return outcome


@dataclass(slots=True)
class Relaxation:
    """What is known of all acyclic choices that lose less than a cutoff."""

    loss_bound: float  # none of them loses less
    through: NDArray[np.float64]  # nor one with this candidate less than this
    weights: NDArray[np.float64]  # the solution of the last linear programme
    chosen: NDArray[np.int32]  # a choice near it, or the best one
    is_settled: bool  # whether that is the best one
    stopped: Stopped
    n_rounds: int


def relax(
    problem: Problem, incumbent: NDArray[np.int32], limits: Limits, *, seed: int
) -> Relaxation:
    """Bound the least loss of an acyclic choice, and that with each candidate.

    A choice is looked for among those that lose less than ``limits.cutoff`` only. With
    one node it is the linear programme with its cuts that bounds.
    """
    assert limits.cutoff is not None
    handler = _Through(problem, incumbent, limits, None)
    with _interrupts(handler.word):
        outcome = _solve(handler, limits, seed)
    stopped = Stopped.INTERRUPT if handler.is_interrupted else outcome.stopped
    loss_bound = max(outcome.loss_bound, handler.bound)
    is_settled = stopped is Stopped.NOTHING and outcome.loss_bound < limits.cutoff
    return Relaxation(
        loss_bound,
        np.maximum(handler.through, loss_bound),
        handler.latest,
        outcome.chosen,
        is_settled,
        stopped,
        handler.n_rounds,
    )


def _solve(handler: Acyclicity, limits: Limits, seed: int) -> Minimum:
    model = Model()
    try:
        _build(model, handler, limits)
        _configure(model, limits, seed)
        if handler.is_interrupted or not limits.remaining():
            return Minimum(handler.best, handler.floor, Stopped.TIME)
        model.optimizeNogil()
        if handler.failure is not None:
            raise handler.failure
        return _outcome(model, handler, limits)
    finally:
        model.freeProb()
        handler.model = None  # the model and its handler hold each other


@dataclass(slots=True)
class Word:
    """Whether the search has been told to end."""

    is_given: bool = False

    def give(self, *_: object) -> None:
        """Note Ctrl-C; the next call of SCIP ends the search."""
        self.is_given = True


@dataclass(frozen=True, slots=True)
class Row:
    """A linear inequality over candidates that every acyclic choice keeps."""

    candidates: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    least: float | None
    most: float | None

    def among(self, place: NDArray[np.int64]) -> Row:
        """Return it over fewer candidates, by their new places; -1: out."""
        places = place[self.candidates]
        inside = places >= 0
        return Row(places[inside], self.coefficients[inside], self.least, self.most)


@contextmanager
def _interrupts(word: Word) -> Iterator[None]:
    """Let Ctrl-C end the search. SCIP's own handler would print on stdout."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, word.give)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Acyclicity(Conshdlr):  # type: ignore[misc]
    """Constraint handler: the chosen families form no directed cycle."""

    def __init__(
        self,
        problem: Problem,
        incumbent: NDArray[np.int32],
        limits: Limits,
        report: Callable[[float, float], None] | None,
    ) -> None:
        self.problem, self.limits, self.report = problem, limits, report
        self.best = incumbent
        self.best_loss = problem.loss_of(incumbent)
        self.columns: list[Any] = []
        self.transformed: list[Any] = []
        self.n_cuts = self.n_rounds = 0
        self.next_inner = 0 if limits.is_inner else INNER_AFTER
        self.bounds: list[float] = []  # after each round
        # Mean of the solutions at the root, beginning with the incumbent.
        self.centre = np.zeros(len(problem.losses))
        self.centre[incumbent] = 1.0
        self.has_stalled = self.is_shrunk = False
        self.last_report = -np.inf
        self.failure: BaseException | None = None
        self.word = Word()
        self.numbers = np.arange(len(problem.losses), dtype=np.int32)  # as given
        self.kept: list[Row] = []  # from searches over more columns,
        self.floor = 0.0  # and what they have shown: no choice loses less
        self.is_left = np.ones(len(problem.losses), np.bool_)

    @property
    def is_interrupted(self) -> bool:
        """Tell whether the search has to end."""
        return self.word.is_given

    def smaller(self) -> Acyclicity:
        """Return one that goes on with the columns and rows that are left."""
        place = np.where(self.is_left, np.cumsum(self.is_left) - 1, -1)
        after = Acyclicity(
            self.problem.select(self.is_left),
            place[self.best].astype(np.int32),
            self.limits,
            self.report,
        )
        after.numbers = self.numbers[self.is_left]
        after.centre = self.centre[self.is_left]
        rows = [row.among(place) for row in self.kept]
        after.kept = [row for row in rows if len(row.candidates)]
        after.n_cuts, after.n_rounds = self.n_cuts, self.n_rounds
        after.next_inner, after.bounds = self.next_inner, self.bounds
        after.last_report, after.word = self.last_report, self.word
        after.floor = self.least_loss()
        return after

    def least_loss(self) -> float:
        """Return what no acyclic choice can lose less than, as far as is known."""
        if self.model is not None:
            bound = self.model.getDualbound()
            if not self.model.isInfinity(abs(bound)):
                self.floor = max(self.floor, float(bound))
        return self.floor

    def conssepalp(self, constraints: Any, nusefulconss: int) -> dict[str, Any]:
        """Cut off the solution of the linear programme, and round it."""
        return self._guarded(self._separate, SCIP_RESULT.DIDNOTRUN)

    def consenfolp(
        self, constraints: Any, nusefulconss: int, solinfeasible: bool
    ) -> dict[str, Any]:
        """Cut off an integral solution with a cycle."""
        return self._guarded(self._enforce)

    def consenfops(
        self,
        constraints: Any,
        nusefulconss: int,
        solinfeasible: bool,
        objinfeasible: bool,
    ) -> dict[str, Any]:
        """Check the pseudo solution that SCIP uses without a linear programme."""
        return self._guarded(lambda: self._verdict(self._lp_weights()))

    def conscheck(self, constraints: Any, solution: Any, *_: Any) -> dict[str, Any]:
        """Check a solution that a heuristic has found."""
        return self._guarded(lambda: self._verdict(self._weights_of(solution)))

    def conslock(self, constraint: Any, locktype: Any, npos: int, nneg: int) -> None:
        """Tell SCIP that moving any variable either way may close a cycle."""
        for column in self.columns:
            self.model.addVarLocks(column, npos + nneg, npos + nneg)

    def _guarded(
        self, act: Callable[[], Any], failed: Any = SCIP_RESULT.INFEASIBLE
    ) -> dict[str, Any]:
        """Stop SCIP on an error, which `minimise` raises: callbacks cannot."""
        try:
            # Asked at every call: SCIP forgets what came before it began to solve.
            if self.is_interrupted:
                self._stop()
            return {"result": act()}
        except BaseException as error:
            self.failure = error
            self.word.give()
            self._stop()
            return {"result": failed}

    def _stop(self) -> None:
        """End the search, unless SCIP is on its way in or out and takes no word."""
        if self.model.getStage() == SCIP_STAGE.SOLVING:
            self.model.interruptSolve()

    def _separate(self) -> Any:
        weights = self._lp_weights()
        if self.n_rounds % ROUNDING_EVERY == 0:
            self._round(weights)
        self.n_rounds += 1
        if self.n_rounds == self.next_inner:
            self.next_inner *= 2
            self._search_inside(weights)
        self._tell()
        if self._is_out_of_patience():
            self.has_stalled = True
            self._stop()
        elif self._has_shrunk():
            self.is_shrunk = True
            self._stop()
            return SCIP_RESULT.DIDNOTFIND
        found = self._add_cuts(weights, must_find=False)
        return SCIP_RESULT.SEPARATED if found else SCIP_RESULT.DIDNOTFIND

    def _has_shrunk(self) -> bool:
        """Tell whether few columns are left at the root, and note which."""
        if self.model.getDepth() > 0:
            return False
        upper = np.array([column.getUbGlobal() for column in self._lp_columns()])
        self.is_left = upper > 0.5
        self.is_left[self.best] = True
        n_left, n = int(self.is_left.sum()), len(upper)
        if n_left > FEWER * n or n - n_left < LEAST_GONE:
            return False
        self.kept = self._rows_in_use()
        return True

    def _rows_in_use(self) -> list[Row]:
        """Return the inequalities of the linear programme that hold with equality."""
        rows = []
        for row in self.model.getLPRowsData():
            is_own = row.name.startswith(("variable", "pair"))
            if is_own or row.isLocal() or row.getBasisStatus() == "basic":
                continue
            columns = [int(column.getVar().name[3:]) for column in row.getCols()]
            sides = [row.getLhs(), row.getRhs()]
            least, most = (
                None if self.model.isInfinity(abs(side)) else side - row.getConstant()
                for side in sides
            )
            rows.append(Row(np.array(columns), np.array(row.getVals()), least, most))
        return rows

    def _is_out_of_patience(self) -> bool:
        """Tell whether little is left, or little was closed in half of the rounds."""
        patience = self.limits.patience
        if patience is None:
            return False
        self.bounds.append(self.least_loss())
        if self.n_rounds < patience:
            return False
        left = self.best_loss - self.bounds[-1]
        closed = self.bounds[-1] - self.bounds[self.n_rounds // 2]
        return left <= LITTLE or closed < SLOW * left

    def _enforce(self) -> Any:
        found = self._add_cuts(self._lp_weights(), must_find=True)
        return SCIP_RESULT.SEPARATED if found else SCIP_RESULT.FEASIBLE

    def _verdict(self, weights: NDArray[np.float64]) -> Any:
        cuts = self._clusters(weights, 1, must_find=True)
        return SCIP_RESULT.INFEASIBLE if len(cuts.misses) else SCIP_RESULT.FEASIBLE

    def _lp_columns(self) -> list[Any]:
        if not self.transformed:
            transform = self.model.getTransformedVar
            self.transformed = [transform(column) for column in self.columns]
        return self.transformed

    def _lp_weights(self) -> NDArray[np.float64]:
        return np.array([column.getLPSol() for column in self._lp_columns()])

    def _weights_of(self, solution: Any) -> NDArray[np.float64]:
        value = self.model.getSolVal
        return np.array([value(solution, column) for column in self.columns])

    def _cuts(
        self, weights: NDArray[np.float64], *, must_find: bool
    ) -> _core.ClusterCuts:
        """Find clusters to cut off, at the root those of a point further inside."""
        most = max(MAX_CUTS, len(self.problem.names))
        if not must_find and self.model.getDepth() == 0:
            point = INWARD * self.centre + (1 - INWARD) * weights
            self.centre += FOLLOWS * (weights - self.centre)
            point[point < FAINT] = 0.0
            cuts = self._clusters(point, most, must_find=False)
            if len(cuts.misses):
                return cuts
            self.centre = weights.copy()
        return self._clusters(weights, most, must_find=must_find)

    def _clusters(
        self, weights: NDArray[np.float64], max_clusters: int, *, must_find: bool
    ) -> _core.ClusterCuts:
        return _core.violated_clusters(
            *self.problem.arrays,
            weights,
            max_clusters=max_clusters,
            steps=SEARCH_STEPS,
            final_steps=FINAL_STEPS,
            min_violation=MIN_VIOLATION,
            # An integral point with a cycle must not pass because time is short.
            seconds=max(self.limits.remaining(), 1e-9),  # 0 would be no limit
            must_find=must_find,
        )

    def _add_cuts(self, weights: NDArray[np.float64], *, must_find: bool) -> int:
        model = self.model
        cuts = self._cuts(weights, must_find=must_find)
        candidates, starts = cuts.candidates.items, cuts.candidates.offsets.tolist()
        sizes = np.diff(cuts.clusters.offsets).tolist()
        for k, at_least_one in enumerate(cuts.misses.tolist()):
            row = model.createEmptyRowUnspec(
                f"cluster{self.n_cuts + k}",
                lhs=1.0 if at_least_one else None,
                rhs=None if at_least_one else sizes[k] - 1.0,
                local=False,
            )
            model.cacheRowExtensions(row)
            for candidate in candidates[starts[k] : starts[k + 1]].tolist():
                model.addVarToRow(row, self.transformed[candidate], 1.0)
            model.flushRowExtensions(row)
            # Left to SCIP's own choice, most would be dropped and found again.
            model.addCut(row, forcecut=True)
            model.releaseRow(row)
        self.n_cuts += len(sizes)
        return len(sizes)

    def _round(self, weights: NDArray[np.float64]) -> None:
        chosen = self.problem.round(weights, seconds=max(self.limits.remaining(), 1e-9))
        self._offer(chosen)

    def _search_inside(self, weights: NDArray[np.float64]) -> None:
        """Solve the programme over what the relaxation and the incumbent use."""
        bound = self.model.getLPObjVal()
        is_close = self.best_loss - bound <= INNER_GAP * self.best_loss
        if is_close or self.is_interrupted:
            return
        keep = (weights > FAINT) | (self.centre > FAINT)
        keep[self.best] = True
        inner = minimise(
            self.problem.select(keep),
            (np.cumsum(keep) - 1)[self.best].astype(np.int32),
            Limits(
                self.limits.deadline,
                self.limits.gap,
                INNER_NODES,
                INNER_ROUNDS,
                is_inner=True,
            ),
            seed=0,
            report=None,
        )
        self.word.is_given |= inner.stopped is Stopped.INTERRUPT
        self._offer(np.flatnonzero(keep)[inner.chosen].astype(np.int32))

    def _offer(self, chosen: NDArray[np.int32]) -> None:
        """Hand a choice over where it is better than what is known."""
        loss = self.problem.loss_of(chosen)
        if loss >= self.best_loss - 1e-9:
            return
        self.best, self.best_loss = chosen, loss
        solution = self.model.createSol()
        for candidate in chosen.tolist():
            self.model.setSolVal(solution, self.columns[candidate], 1.0)
        self.model.trySol(solution, printreason=False)

    def _tell(self) -> None:
        now = time.perf_counter()
        if self.report is not None and now - self.last_report >= 0.1:
            self.last_report = now
            self.report(self.best_loss, self.least_loss())


class _Through(Acyclicity):
    """Remembers what linear programmes at the root say of each candidate.

    As long as SCIP knows no choice, it drops nothing that loses less than the cutoff.
    """

    def __init__(
        self,
        problem: Problem,
        incumbent: NDArray[np.int32],
        limits: Limits,
        report: Callable[[float, float], None] | None,
    ) -> None:
        super().__init__(problem, incumbent, limits, report)
        self.next_inner = 0
        self.is_told = False  # whether SCIP knows the best choice
        self.bound = 0.0
        self.through = problem.losses.copy()
        self.latest = self.centre.copy()

    def _separate(self) -> Any:
        if self.model.getDepth() == 0:
            loss = self.model.getLPObjVal()
            costs = [self.model.getVarRedcost(x) for x in self._lp_columns()]
            self.bound = max(self.bound, loss)
            np.maximum(self.through, loss + np.array(costs), out=self.through)
            self.latest = self._lp_weights()
        elif not self.is_told:
            self.is_told = True
            best, self.best_loss = self.best, np.inf
            super()._offer(best)
        return super()._separate()

    def _has_shrunk(self) -> bool:
        return False  # what is known through each candidate would be lost

    def _offer(self, chosen: NDArray[np.int32]) -> None:
        if self.model.getDepth() > 0:
            super()._offer(chosen)
        elif (loss := self.problem.loss_of(chosen)) < self.best_loss:
            self.best, self.best_loss = chosen, loss


def _build(model: Model, handler: Acyclicity, limits: Limits) -> None:
    """Create variables and rows, and hand over the incumbent."""
    problem = handler.problem
    model.hideOutput()
    for c, loss in enumerate(problem.losses.tolist()):
        if c % 1000 == 0 and not limits.remaining():
            return
        handler.columns.append(model.addVar(f"x{c}", vtype="B", obj=loss))
    bounds = problem.offsets.tolist()
    for first, last in pairwise(bounds):
        model.addCons(quicksum(handler.columns[first:last]) == 1, name="variable")
    pairs = problem.opposed_pairs()
    # Beyond that their number costs more than they help; they are cut off when needed.
    if sum(map(len, pairs)) <= MAX_PAIR_TERMS:
        for pair in pairs:
            columns = [handler.columns[c] for c in pair.tolist()]
            model.addCons(quicksum(columns) <= 1, name="pair", initial=False)
    for row in handler.kept:
        entries = zip(row.candidates.tolist(), row.coefficients.tolist(), strict=True)
        total = quicksum(handler.columns[c] * times for c, times in entries)
        if row.least is not None:
            model.addCons(total >= row.least, removable=True)
        if row.most is not None:
            model.addCons(total <= row.most, removable=True)
    model.includeConshdlr(
        handler,
        "acyclicity",
        "the chosen families form no directed cycle",
        sepapriority=1,
        enfopriority=-1,
        chckpriority=-1,
        sepafreq=1,
        needscons=False,
    )
    model.includeBranchrule(
        ArcBranching(handler),
        "arcs",
        "an arc, or the order of two variables",
        priority=1_000_000,
        maxdepth=-1,
        maxbounddist=1.0,
    )
    if limits.cutoff is not None:
        model.setObjlimit(limits.cutoff)
        return
    solution = model.createSol()
    for candidate in handler.best.tolist():
        model.setSolVal(solution, handler.columns[candidate], 1.0)
    model.addSol(solution)


def _configure(model: Model, limits: Limits, seed: int) -> None:
    model.setHeuristics(SCIP_PARAMSETTING.OFF)
    model.setPresolve(SCIP_PARAMSETTING.OFF)
    for name in model.getParams():
        match name.split("/"):
            case ["separating", separator, "freq"] if separator != KEPT_SEPARATOR:
                model.setParam(name, -1)
    model.setParam("misc/catchctrlc", False)
    for name, value in SETTINGS.items():
        model.setParam(name, value)
    model.setParam("randomization/randomseedshift", seed)
    model.setParam("limits/absgap", limits.gap)
    model.setParam("limits/time", min(limits.remaining(), 1e20))
    if limits.nodes is not None:
        model.setParam("limits/totalnodes", limits.nodes)
    if (room := room_within()) < math.inf:
        model.setParam("limits/memory", max(_SHARE_OF_MEMORY * room / 2**20, 1.0))


_STOPPED = {
    "optimal": Stopped.NOTHING,
    "gaplimit": Stopped.NOTHING,  # as close as asked
    "timelimit": Stopped.TIME,
    "totalnodelimit": Stopped.NODES,
    "userinterrupt": Stopped.INTERRUPT,
    "memlimit": Stopped.MEMORY,
}


def _outcome(model: Model, handler: Acyclicity, limits: Limits) -> Minimum:
    status = model.getStatus()
    if status == "infeasible" and limits.cutoff is not None:
        return Minimum(handler.best, limits.cutoff, Stopped.NOTHING)
    if status not in _STOPPED:
        msg = f"SCIP stopped with the unexpected status {status!r}."
        raise RuntimeError(msg)
    chosen = handler.best
    if model.getNSols():
        weights = handler._weights_of(model.getBestSol())
        best = handler.problem.heaviest(weights)
        if handler.problem.loss_of(best) < handler.best_loss:
            chosen = best
    counts = {
        "n_nodes": model.getNTotalNodes(),
        "n_cuts": handler.n_cuts,
        "n_rounds": handler.n_rounds,
    }
    return Minimum(chosen, handler.least_loss(), _STOPPED[status], counts)
