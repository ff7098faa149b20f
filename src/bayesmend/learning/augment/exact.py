"""Exact learning: the best structure and completion together, with a proof."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from bayesmend import _core
from bayesmend._checks import check_integer, check_number
from bayesmend._clock import Clock, Progress, available_memory
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.learning.augment.answer import assemble, note_of, trace_of
from bayesmend.learning.augment.local import (
    LocalSearch,
    check_program,
    threads_for,
)
from bayesmend.learning.augment.mechanism import explain
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.learning.augment.starts import first_start, list_starts, usual_starts
from bayesmend.learning.mechanism.given import MechanismLike
from bayesmend.learning.result import LearnResult
from bayesmend.learning.support import told_of_support
from bayesmend.outcome import TOLERANCE, Certificate, Stopped
from bayesmend.score import Prior, Score
from bayesmend.seed import Seed, as_generator

__all__ = ["learn_exact"]


@entrance
@told_of_support
def learn_exact(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    locality: int = 1,
    restarts: int = 10,
    constraints: ConstraintsLike = None,
    mechanism: MechanismLike = "ignore",
    max_mechanism_parents: int = 2,
    time_limit: float | None = None,
    gap: float = 0.0,
    node_limit: int | None = None,
    work_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> LearnResult:
    """Find the structure and the completion of highest score, and prove it.

    Branch and bound over the missing cells. A node fixes some of them; its bound lets
    every family choose the others for itself, at prices that make families agree, and
    takes the best DAG under these scores.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells, of up to about 20 variables.
    {score, ess, prior, support, max_parents}
    locality, restarts : int
        Of the local search that gives the first pair; see `learn_local`.
    {constraints, mechanism, max_mechanism_parents, time_limit}
    gap : float, default=0.0
        Stop when the score is proven to be within so many nats of the best.
    node_limit : int, optional
        Stop after so many nodes.
    work_limit : float, optional
        Stop after so much work in the tree, which ``detail`` tells: in entries of
        tables, some nanoseconds each. Unlike a time limit it gives the same answer on
        every run.
    {seed, n_threads, progress}
    {reading}

    Returns
    -------
    LearnResult
        With status ``optimal`` or ``gap ... nats (... %)``; as long as nothing is
        better than the pair of the local search, ``1-local optimum, gap ...``. With a
        mechanism, which is learned first and by EM, all of it is ``given the
        mechanism``, and ``detail`` tells the score of the network and that of the
        mechanism, the log-probability of what is missing given the filled cells.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(100, seed=1)
    >>> incomplete = bm.hiding.hide_value_per_variable(data, 1, state=1, seed=1).data
    >>> result = bm.learn_exact(incomplete, seed=1)
    >>> result.status, result.bound == result.score
    ('optimal', True)
    """
    progress = told(progress)
    clock = Clock(time_limit)
    check_number("gap", gap, unit="nats", least=0)
    if node_limit is not None:
        check_integer("node_limit", node_limit, 1)
    if work_limit is not None:
        check_number("work_limit", work_limit, above=0)
    check_integer("locality", locality, 1)
    check_integer("restarts", restarts, 0)
    n_threads = check_integer("n_threads", n_threads)
    rules = Constraints.of(constraints)
    table = IncompleteData.from_table(data, **reading)
    check_program(table.n_vars)
    problem = PatternProblem.of(
        table,
        score=Score.of(score, ess=ess, prior=prior, support=support),
        max_parents=max_parents,
        constraints=rules,
    )
    generator = as_generator(seed)
    explained = explain(
        problem,
        mechanism,
        max_mechanism_parents,
        constraints=rules,
        max_parents=max_parents,
        clock=clock,
        generator=generator,
        n_threads=n_threads,
        progress=progress,
    )
    problem = explained.problem
    search = LocalSearch(problem, clock, n_threads, progress)
    if explained.stopped is Stopped.INTERRUPT:
        found = search.interrupted(first_start(problem, explained.completed))
        return explained.told(replace(found, method="exact"))
    starts = list_starts(
        problem,
        restarts=restarts,
        starts=usual_starts(problem.score),
        given=explained.completed,
        generator=generator,
    )
    try:
        augmenter = problem.augmenter(search.time_for_tables())
    except TimeoutError:
        found = search.hurried(starts, generator)
        return explained.told(replace(found, method="exact"))
    options = _core.ExactOptions(
        locality=locality,
        gap=max(gap, TOLERANCE),
        max_nodes=node_limit or 0,
        max_work=work_limit or 0.0,
        max_bytes=0.5 * min(available_memory(), 1e15),
        n_threads=threads_for(table.n_vars, n_threads),
    )
    report = clock.reporter(progress, "branch and bound")
    answer = augmenter.solve(starts, options, clock.left or 0.0, report)
    return explained.told(_result(problem, answer, locality, clock))


def _result(
    problem: PatternProblem, answer: _core.ExactResult, locality: int, clock: Clock
) -> LearnResult:
    detail = {
        "nodes": answer.n_nodes,
        "work": answer.work,
        "cells": problem.n_cells,
        "patterns": len(problem.weight),
        "families": answer.n_families,
        "families_left_at_root": answer.n_alive,
        "first_score": answer.start_score,
        "root_bound": _finite(answer.root_bound),
        "priced_root_bound": _finite(answer.priced_root_bound),
        **note_of(problem),
    }
    # The pair of the local search is certified as long as nothing better was found.
    is_local = (
        answer.start_is_certified and answer.score <= answer.start_score + TOLERANCE
    )
    return assemble(
        problem,
        problem.dag(answer.parents),
        answer.completion,
        bound=answer.bound,
        certificate=Certificate.of(answer.score, answer.bound, is_local=is_local),
        locality=locality if is_local else None,
        stopped=Stopped(answer.stopped.name),
        method="exact",
        trace=trace_of(answer.trace),
        seconds=clock.seconds,
        detail=detail,
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
