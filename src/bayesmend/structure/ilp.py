"""Exact structure learning by integer programming.

The model and its cutting planes are in `bayesmend.structure.scip`; this module prepares
the candidates, finds a first DAG by local search over orders, drops the candidates that
lose more than that whole DAG, and turns the outcome into a `Solution`.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer, check_number
from bayesmend._clock import Progress
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend.errors import MissingDependencyError
from bayesmend.graph.dag import Dag
from bayesmend.outcome import TOLERANCE, Certificate, Stopped
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.parents import ParentSets, check_parent_sets
from bayesmend.structure.problem import Problem
from bayesmend.structure.solution import Solution

if TYPE_CHECKING:
    from bayesmend.structure.scip import Minimum

__all__ = ["solve_ilp"]


@entrance
def solve_ilp(
    parent_sets: ParentSets,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    node_limit: int | None = None,
    patience: int | None = None,
    start: Dag | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
) -> Solution:
    """Find the best DAG made of candidate parent sets, and prove it.

    Parameters
    ----------
    {parent_sets, time_limit}
    gap : float, default=0.0
        Stop as soon as bound minus score is at most this, in nats.
    node_limit : int, optional
        Nodes of the branch-and-bound tree after which to stop.
    patience : int, optional
        Rounds of cutting planes that a proof is worth. From then on the search ends
        where at most 1 nat is left between bound and score, or where the later half of
        the rounds has closed less than a tenth of what is left; ``detail["ended"]``
        says so. Without it the search goes on.
    start : Dag, optional
        A DAG made of candidates to start from.
    seed : int, Generator or None
        Same seed, same answer, when no time limit strikes.
    n_threads : int, default=0
        Taken because every solver takes it; SCIP runs on one thread.
    {progress}

    Returns
    -------
    Solution
        With a proof, or with a gap after a limit or Ctrl-C; ``stopped`` says which.

    Raises
    ------
    ParameterError
        When the candidates allow no acyclic graph, or an argument is out of range.

    Examples
    --------
    >>> sets = ParentSets.from_lists(
    ...     ["a", "b"], [[(-5.0, ()), (-2.0, (1,))], [(-4.0, ()), (-2.5, (0,))]]
    ... )
    >>> solution = solve_ilp(sets)
    >>> solution.dag.arcs, solution.score, solution.status
    ((('b', 'a'),), -6.0, 'optimal')
    """
    progress = told(progress)
    check_parent_sets(parent_sets)
    _check(time_limit, gap, node_limit, patience)
    begun = time.perf_counter()
    run = _Run(parent_sets, begun, math.inf if time_limit is None else time_limit)
    run.report = progress
    run.seed = int(as_generator(seed).integers(2**31 - 1))
    run.prepare(start)
    if run.is_proven(0.0):
        return run.solution(0.0, Stopped.NOTHING, {})
    if run.is_interrupted:
        return run.solution(0.0, Stopped.INTERRUPT, {})
    try:
        outcome = run.minimise(max(gap, TOLERANCE / 2), node_limit, patience)
    except KeyboardInterrupt:
        return run.solution(0.0, Stopped.INTERRUPT, {})
    run.chosen = outcome.chosen
    detail: dict[str, Any] = dict(outcome.counts)
    if outcome.has_stalled:
        detail["ended"] = "little was left, or the bound rose too slowly for a proof"
    return run.solution(outcome.loss_bound, outcome.stopped, detail)


class _Run:
    """State of one call of `solve_ilp`."""

    def __init__(self, sets: ParentSets, begun: float, time_limit: float) -> None:
        self.sets, self.begun = sets, begun
        self.deadline = begun + time_limit
        self.problem = Problem.from_parent_sets(sets)
        self.chosen: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self.report: Progress | None = None
        self.is_interrupted = False
        self.seed = 0

    def prepare(self, start: Dag | None) -> None:
        """Find a first DAG and drop the candidates that lose more than all of it."""
        weights = np.zeros(len(self.problem.scores))
        if start is not None:
            weights[np.isin(self.problem.numbers, self.sets.choice_of(start))] = 1.0
        # The work of a kick grows with the square of the number of variables.
        kicks = int(np.clip(20_000 / max(1, self.sets.n_vars), 10, 500))
        remaining = max(1e-9, self.deadline - time.perf_counter())
        try:
            chosen = self.problem.round(
                weights, seconds=remaining, kicks=kicks, seed=self.seed
            )
        except KeyboardInterrupt:
            self.is_interrupted = True
            chosen = self.problem.round(weights, seconds=0.1)
        keep = self.problem.losses <= self.problem.loss_of(chosen) + TOLERANCE
        self.chosen = (np.cumsum(keep) - 1)[chosen].astype(np.int32)
        self.problem = self.problem.select(keep)

    def is_proven(self, loss_bound: float) -> bool:
        return self.problem.loss_of(self.chosen) - loss_bound <= TOLERANCE

    def minimise(
        self, gap: float, node_limit: int | None, patience: int | None
    ) -> Minimum:
        try:
            from bayesmend.structure import scip
        except ImportError as error:
            msg = f"the ilp solver needs pyscipopt ({error}). Install pyscipopt."
            raise MissingDependencyError(msg) from None
        return scip.minimise(
            self.problem,
            self.chosen,
            scip.Limits(self.deadline, gap, node_limit, patience),
            seed=self.seed,
            report=None if self.report is None else self._report,
        )

    def _report(self, loss: float, loss_bound: float) -> None:
        assert self.report is not None
        top, seconds = self._top(), time.perf_counter() - self.begun
        self.report("integer programme", top - loss, seconds, bound=top - loss_bound)

    def _top(self) -> float:
        """Sum of the best scores: no graph, acyclic or not, scores higher."""
        return math.fsum(self.problem.scores[self.problem.offsets[:-1]].tolist())

    def solution(
        self, loss_bound: float, stopped: Stopped, told: dict[str, Any]
    ) -> Solution:
        numbers = self.problem.numbers[self.chosen]
        dag = Dag(self.sets.names, tuple(self.sets.members_of(int(c)) for c in numbers))
        score = math.fsum(self.sets.scores[numbers].tolist())
        proven = self.is_proven(loss_bound)
        # Ctrl-C that came with the proof still has to stop whoever called.
        if proven and stopped is not Stopped.INTERRUPT:
            stopped = Stopped.NOTHING
        return Solution(
            dag=dag,
            score=score,
            bound=score if proven else max(score, self._top() - loss_bound),
            certificate=Certificate.OPTIMAL if proven else Certificate.BOUNDED,
            stopped=stopped,
            solver="ilp",
            seconds=time.perf_counter() - self.begun,
            detail={"candidates_left": len(self.problem.scores), **told},
        )


def _check(
    time_limit: float | None,
    gap: float,
    node_limit: int | None,
    patience: int | None,
) -> None:
    if time_limit is not None:
        check_number("time_limit", time_limit, unit="seconds", least=0)
    check_number("gap", gap, unit="nats", least=0)
    if node_limit is not None:
        check_integer("node_limit", node_limit, 1)
    if patience is not None:
        check_integer("patience", patience, 1)
