"""t-local learning: no change of up to t cells, with any structure, is better.

The paper's ``t`` is ``locality``, its completions ``Z_h`` are those of the trace.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import Checkpoint, Kept, opened
from bayesmend._checks import check_integer
from bayesmend._clock import (
    Clock,
    Progress,
    available_memory,
    limited_memory,
    or_more_memory,
)
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.graph.dag import Dag
from bayesmend.learning.augment.answer import assemble, note_of, trace_of
from bayesmend.learning.augment.mechanism import explain
from bayesmend.learning.augment.problem import Completion, PatternProblem, program_bytes
from bayesmend.learning.augment.starts import (
    Start,
    first_start,
    list_starts,
    usual_starts,
)
from bayesmend.learning.completion import checked_completion
from bayesmend.learning.mechanism.given import MechanismLike
from bayesmend.learning.result import LearnResult, Step
from bayesmend.learning.support import told_of_support
from bayesmend.outcome import Certificate, Stopped
from bayesmend.score import FamilyScorer, Prior, Score
from bayesmend.seed import Seed
from bayesmend.structure.learn import find_structure
from bayesmend.structure.solve import Solver, check_solver

__all__ = [
    "EXACT_VARS",
    "LocalSearch",
    "check_program",
    "learn_local",
    "program_fits",
    "threads_for",
]

EXACT_VARS = 20
"""Up to so many variables a structure is found exactly, unless told otherwise."""

# What is left of a limit for the answer: so often as long as it took to find the cells
# to decide, and seconds for each variable. Measured where each of 20,000 rows has 20
# holes of its own, and on 1,000 variables.
_WINDING_UP, _PER_VARIABLE = 10.0, 4e-4


@entrance
@told_of_support
@limited_memory
def learn_local(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    locality: int = 1,
    restarts: int = 10,
    starts: tuple[Start, ...] | None = None,
    start: Any = None,
    solver: Solver = "auto",
    constraints: ConstraintsLike = None,
    mechanism: MechanismLike = "ignore",
    max_mechanism_parents: int = 2,
    time_limit: float | None = None,
    max_memory: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> LearnResult:
    """Climb to a structure and a completion that no small change improves.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells.
    {score, ess, prior, support, max_parents}
    locality : int, default=1
        The paper's t: the result is the best among all pairs whose completion differs
        in at most so many cells (a cell stands for that of all rows alike). Checked for
        every such change, not assumed.
    restarts : int, default=10
        Number of starts drawn at random: in turn from the observed marginals and from
        equal shares, since a value may be missing because it is rare.
    starts : tuple of {"mode", "examples", "em", "random"}, optional
        By default all but ``em``, and that first where structures are not found by the
        dynamic programme: there it leads further than any number of draws. ``mode``:
        the most frequent state of each variable. ``examples``: the most frequent state
        among observed rows that are alike; not without `support`. ``em``: the most
        probable completion after expectation-maximisation. ``random``: see `restarts`.
    start : IncompleteData, frame, array, mapping or path, optional
        A completion of your own, tried first; an array of ``uint8`` holds its codes.
    solver : {"auto", "subsets", "ilp", "order", "greedy"} or callable, default="auto"
        ``auto`` and ``subsets`` find the best structure exactly, up to about 20
        variables; only then is the result certified. The others, and ``auto`` beyond,
        alternate structure and completion: the result is a local optimum of these two
        steps.
    {constraints, mechanism, max_mechanism_parents, time_limit}
    {own_memory}
    {seed, n_threads, checkpoint, progress}
    {reading}

    Returns
    -------
    LearnResult
        With status ``1-local optimum`` (or another t), ``local optimum``, or
        ``stopped at time limit``. With a mechanism, as of `learn_exact`, all of it is
        ``given the mechanism``.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(200, seed=1)
    >>> incomplete = bm.hide_mcar(data, 0.02, seed=1).data
    >>> bm.learn_local(incomplete, seed=1).status
    '1-local optimum'
    """
    progress = told(progress)
    clock = Clock(time_limit)
    check_integer("locality", locality, 1)
    check_integer("restarts", restarts, 0)
    check_solver(solver)
    known = Constraints.of(constraints)
    table = IncompleteData.from_table(data, **reading)
    rule = Score.of(score, ess=ess, prior=prior, support=support)
    begun = clock.seconds
    problem = PatternProblem.of(
        table, score=rule, max_parents=max_parents, constraints=known
    )
    reserve = _WINDING_UP * (clock.seconds - begun) + _PER_VARIABLE * table.n_vars
    is_certifying = uses_program(solver, table.n_vars)
    usual = usual_starts(rule)
    if not is_certifying:
        usual = ("em", *usual)
    given = None if start is None else checked_completion(table, start)
    n_threads = check_integer("n_threads", n_threads)
    options = {
        "score": rule,
        "max_parents": max_parents,
        "locality": locality,
        "restarts": restarts,
        "starts": starts,
        "start": None if given is None else given.codes,
        "solver": solver,
        "constraints": known,
        "mechanism": mechanism,
        "max_mechanism_parents": max_mechanism_parents,
    }
    call = "learn_local"
    with opened(checkpoint, call, table=table, seed=seed, options=options) as at:
        clock.go_on_from(at.seconds)
        clock = clock.sooner(reserve)
        kept, generator = at.part("local"), at.generator
        explained = explain(
            problem,
            mechanism,
            max_mechanism_parents,
            constraints=known,
            max_parents=max_parents,
            clock=clock,
            generator=generator,
            n_threads=n_threads,
            progress=progress,
            kept=kept,
        )
        problem = explained.problem
        if given is None:
            given = explained.completed
        search = LocalSearch(problem, clock, n_threads, progress, kept)
        if explained.stopped is Stopped.INTERRUPT:
            return explained.told(search.interrupted(first_start(problem, given)))
        try:
            completions = list_starts(
                problem,
                restarts=restarts,
                starts=usual if starts is None else starts,
                given=given,
                generator=generator,
                time_limit=clock.left,
                kept=kept,
            )
        except KeyboardInterrupt:  # while a start was sought that takes long
            return explained.told(search.interrupted(first_start(problem, given)))
        if not is_certifying:
            return explained.told(search.alternating(completions, solver, generator))
        try:
            augmenter = problem.augmenter(search.time_for_tables())
        except TimeoutError:
            return explained.told(search.hurried(completions, generator))
        return explained.told(search.certified(augmenter, completions, int(locality)))


def uses_program(solver: Solver, n_vars: int) -> bool:
    """Tell whether the structure is found by the core's dynamic programme."""
    if solver == "subsets":
        check_program(n_vars)
        return True
    return solver == "auto" and n_vars <= EXACT_VARS and program_fits(n_vars)


def program_fits(n_vars: int) -> bool:
    """Tell whether the dynamic programme fits into memory."""
    return n_vars <= 30 and program_bytes(n_vars) <= 0.8 * available_memory()


def check_program(n_vars: int) -> None:
    """Raise ParameterError when the dynamic programme does not fit into memory."""
    needed = program_bytes(n_vars)
    if not program_fits(n_vars):
        msg = (
            f"exact search over {n_vars} variables needs about {needed / 1e9:.3g} GB. "
            f"Use {spell('method', 'local')} with {spell('solver', 'order')} instead"
            f"{or_more_memory()}."
        )
        raise ParameterError(msg)


@dataclass(frozen=True, slots=True)
class LocalSearch:
    """The two ways of climbing, with what they share."""

    problem: PatternProblem
    clock: Clock
    n_threads: int
    progress: Progress | None
    kept: Kept = field(default_factory=Kept)

    def time_for_tables(self) -> float | None:
        """Return half of what is left: without any search they would be in vain."""
        return None if self.clock.left is None else self.clock.left / 2

    def hurried(
        self,
        starts: NDArray[np.uint8],
        generator: np.random.Generator,
    ) -> LearnResult:
        """Climb from the first start, when the tables of all families came too late."""
        reached = self.alternating(starts[:1], "greedy", generator)
        note = "no time for the tables of all families: only hill climbing was done"
        return replace(
            reached,
            certificate=Certificate.HEURISTIC,
            stopped=reached.stopped or Stopped.TIME,
            detail={**reached.detail, "note": note},
        )

    def interrupted(self, starts: NDArray[np.uint8]) -> LearnResult:
        """Give the first start without any search, which is the best so far."""
        rules = self.problem.rules
        required = tuple(tuple(np.flatnonzero(r).tolist()) for r in rules.required)
        return assemble(
            self.problem,
            Dag(self.problem.data.names, required),
            starts[0],
            certificate=Certificate.HEURISTIC,
            stopped=Stopped.INTERRUPT,
            method="local",
            seconds=self.clock.seconds,
            detail={"starts": len(starts), **note_of(self.problem)},
        )

    def certified(
        self, augmenter: _core.Augmenter, starts: NDArray[np.uint8], locality: int
    ) -> LearnResult:
        """Climb with exact structures, and check every change of t cells."""
        problem, clock = self.problem, self.clock
        with self.kept.search("climbs", starts) as state:
            answer = augmenter.mend(
                starts,
                locality,
                clock.left or 0.0,
                threads_for(problem.data.n_vars, self.n_threads),
                clock.reporter(self.progress, "local search"),
                state,
            )
        is_local = answer.is_certified
        # Without a missing cell the structure alone is decided, and that exactly.
        is_exact = problem.n_cells == 0 and is_local
        bound = answer.score if is_exact else float("inf")
        return assemble(
            problem,
            problem.dag(answer.parents),
            answer.completion,
            bound=bound,
            certificate=Certificate.of(answer.score, bound, is_local=is_local),
            locality=locality if is_local else None,
            stopped=Stopped(answer.stopped.name),
            method="local",
            trace=trace_of(answer.trace),
            seconds=clock.seconds,
            detail={
                "starts": len(starts),
                "best_start": answer.best_start,
                "structures_solved": answer.n_solves,
                **note_of(problem),
            },
        )

    def alternating(
        self,
        starts: NDArray[np.uint8],
        solver: Solver,
        generator: np.random.Generator,
    ) -> LearnResult:
        """Alternate between structure and completion until neither step helps."""
        how: dict[str, Any] = {"solver": solver, "seed": generator, "settles": True}
        best: _Reached | None = None
        best_start = 0
        for number, start in enumerate(starts):
            if best is not None and self._is_late():
                best.stopped = Stopped.TIME
                break
            score = -np.inf if best is None else best.score
            what = f"start {number + 1} of {len(starts)}"
            how["progress"] = self._relayed(what, score, number / len(starts))
            try:
                kept = self.kept.part("start", number)
                reached = self._alternate(start, how, len(starts) - number, kept)
            except KeyboardInterrupt:  # before this start gave anything
                if best is None:
                    return self.interrupted(starts)
                best.stop(Stopped.INTERRUPT)
                break
            if best is None or reached.score > best.score + 1e-9:
                best, best_start = reached, number
            if reached.stopped is Stopped.INTERRUPT:
                best.stop(Stopped.INTERRUPT)
                break
        assert best is not None  # there is always a first start
        return self._finish(best, best_start, len(starts))

    def _relayed(self, start: str, best: float, share: float) -> Progress | None:
        """Put news of one structure search into those of the whole search."""
        tell, clock = self.progress, self.clock
        if tell is None:
            return None
        return lambda what, score, _seconds, **_more: tell(
            f"{start}: {what}", max(best, score), clock.seconds, share=share
        )

    def _is_late(self) -> bool:
        left = self.clock.left
        return left is not None and left <= 2e-3

    def _alternate(
        self, completion: Completion, how: dict[str, Any], n_left: int, kept: Kept
    ) -> _Reached:
        reached: _Reached | None = None
        budget = None if self.clock.left is None else self.clock.left / n_left
        own_clock = Clock(budget)
        try:
            while reached is None or not (reached.is_over or reached.stopped):
                left = own_clock.left
                reached = self._improve(completion, reached, how, left, kept)
                completion = reached.completion
                if left is not None and (own_clock.left or 0) <= 2e-3:
                    reached.stopped = reached.stopped or Stopped.TIME
        except KeyboardInterrupt:
            if reached is None:
                raise
            reached.stop(Stopped.INTERRUPT)
        return reached

    def _improve(
        self,
        completion: Completion,
        before: _Reached | None,
        how: dict[str, Any],
        left: float | None,
        kept: Kept,
    ) -> _Reached:
        """Take one structure step and one completion step."""
        dag, score, stopped = self._find_structure(completion, how, left, kept)
        interrupted = stopped is Stopped.INTERRUPT
        score += self.problem.worth(completion)
        if before is not None and score <= before.score + 1e-9:
            before.is_over = not interrupted
            before.stopped = Stopped.INTERRUPT if interrupted else Stopped.NOTHING
            return before
        trace = [] if before is None else before.trace
        kind = "start" if before is None else "structure"
        trace.append(Step(score, kind, self.clock.seconds))
        reached = _Reached(dag, completion, score, trace)
        try:
            interrupted = interrupted or self._complete(reached, left, kept)
        except KeyboardInterrupt:  # the structure is not lost
            interrupted = True
        if interrupted:
            reached.stop(Stopped.INTERRUPT)
        return reached

    def _find_structure(
        self,
        completion: Completion,
        how: dict[str, Any],
        left: float | None,
        kept: Kept,
    ) -> tuple[Dag, float, Stopped]:
        """Find a structure for a completed table; return what ended it, too."""
        problem = self.problem
        stopped = Stopped.NOTHING

        def find() -> dict[str, Any]:
            nonlocal stopped
            found = find_structure(
                FamilyScorer.completed(
                    problem.data,
                    problem.completed(completion),
                    score=problem.score,
                    choices=problem.rules.choices,
                    n_threads=self.n_threads,
                    shown=problem.shown,
                ),
                problem.rules,
                time_limit=None if left is None else max(left / 2, 0.05),
                **how,
            )
            stopped = found.stopped
            return {"parents": found.dag.parents, "score": found.score}

        told = kept.step(
            "structure",
            find,
            completion,
            generator=how["seed"],
            clock=self.clock,
            unless=lambda _: stopped,
        )
        with kept.sound():
            dag = Dag(problem.data.names, tuple(map(tuple, told["parents"])))
            return dag, float(told["score"]), stopped

    def _complete(self, reached: _Reached, left: float | None, kept: Kept) -> bool:
        """Improve the completion of a structure; tell whether Ctrl-C came."""
        stopped = _core.StopReason.nothing

        def improve() -> dict[str, Any]:
            nonlocal stopped
            mender = self.problem.dag_mender(reached.dag)
            better = mender.improve(reached.completion, left or 0.0)
            stopped = better.stopped
            return {"completion": better.completion, "score": better.score}

        told = kept.step(
            "completion",
            improve,
            reached.completion,
            reached.dag.parents,
            clock=self.clock,
            unless=lambda _: stopped != _core.StopReason.nothing,
        )
        with kept.sound():
            score = float(told["score"])
            completion = self.problem.checked(told["completion"])
        if score > reached.score + 1e-9:
            reached.trace.append(Step(score, "completion", self.clock.seconds))
        reached.completion, reached.score = completion, score
        return stopped == _core.StopReason.interrupt

    def _finish(self, best: _Reached, best_start: int, n_starts: int) -> LearnResult:
        return assemble(
            self.problem,
            best.dag,
            best.completion,
            certificate=Certificate.LOCAL if best.is_over else Certificate.HEURISTIC,
            stopped=best.stopped,
            method="local",
            trace=tuple(best.trace),
            seconds=self.clock.seconds,
            detail={
                "starts": n_starts,
                "best_start": best_start,
                **note_of(self.problem),
            },
        )


@dataclass(slots=True)
class _Reached:
    dag: Dag
    completion: Completion
    score: float
    trace: list[Step]
    is_over: bool = False  # neither step helped any more
    stopped: Stopped = Stopped.NOTHING

    def stop(self, why: Stopped) -> None:
        """Note that the search ended early."""
        self.is_over, self.stopped = False, why


def threads_for(n_vars: int, n_threads: int) -> int:
    """Return the number of threads whose dynamic programmes fit into memory."""
    wanted = n_threads or _core.n_cores()
    fitting = int(0.8 * available_memory() // program_bytes(n_vars))
    return max(1, min(wanted, fitting))
