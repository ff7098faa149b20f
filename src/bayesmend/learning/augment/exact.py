"""Exact learning: the best structure and completion together, with a proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any, Final, Unpack

import numpy as np

from bayesmend import _core
from bayesmend._checkpoint import Checkpoint, opened
from bayesmend._checks import check_integer, check_number
from bayesmend._clock import Clock, Progress, available_memory, limited_memory
from bayesmend._entrance import entrance
from bayesmend._files import PathLike
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.learning.augment.answer import assemble, note_of, trace_of
from bayesmend.learning.augment.local import (
    LocalSearch,
    program_fits,
    threads_for,
)
from bayesmend.learning.augment.mechanism import explain
from bayesmend.learning.augment.problem import PatternProblem, check_tables
from bayesmend.learning.augment.programme import Limits, Programmes
from bayesmend.learning.augment.proof import record_bytes, write_joint_proof
from bayesmend.learning.augment.starts import first_start, list_starts, usual_starts
from bayesmend.learning.mechanism.given import MechanismLike
from bayesmend.learning.result import LearnResult
from bayesmend.learning.support import told_of_support
from bayesmend.outcome import TOLERANCE, Certificate, Stopped
from bayesmend.proofs import check_certificate, write_no_proof
from bayesmend.score import Prior, Score
from bayesmend.seed import Seed

__all__ = ["learn_exact"]

MOST_SUBSET_VARS: Final = 22
"""Up to so many variables the best structure is found by dynamic programming."""


MOST_VARS: Final = 60
"""Up to so many variables a bound is tried."""

_WIDE_RESTARTS = 2  # a climb takes seconds there, and few of them lead anywhere


@entrance
@told_of_support
@limited_memory
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
    max_memory: float | None = None,
    gap: float = 0.0,
    node_limit: int | None = None,
    work_limit: float | None = None,
    certificate: PathLike | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
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
        A table with missing cells, of up to 60 variables. Up to about 20 the best
        structure is found by dynamic programming, beyond it is bounded by a
        relaxation and then by integer programmes.
    {score, ess, prior, support, max_parents}
    locality, restarts : int
        Of the local search that gives the first pair; see `learn_local`. Where the
        best structure is only bounded, it starts from EM, too, which leads further, and
        makes at most two draws.
    {constraints, mechanism, max_mechanism_parents, time_limit}
    {own_memory}
    gap : float, default=0.0
        Stop when the score is proven to be within so many nats of the best.
    node_limit : int, optional
        Stop after so many nodes.
    work_limit : float, optional
        Stop after so much work in the tree, which ``detail`` tells: in entries of
        tables, some nanoseconds each. Unlike a time limit it gives the same answer on
        every run.
    {certificate}
    {seed, n_threads, checkpoint, progress}
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
    check_certificate(certificate)
    check_integer("locality", locality, 1)
    check_integer("restarts", restarts, 0)
    n_threads = check_integer("n_threads", n_threads)
    known = Constraints.of(constraints)
    table = IncompleteData.from_table(data, **reading)
    _check_size(table.n_vars)
    is_relaxed = uses_relaxation(table.n_vars)
    rule = Score.of(score, ess=ess, prior=prior, support=support)
    problem = PatternProblem.of(
        table, score=rule, max_parents=max_parents, constraints=known
    )
    if is_relaxed:
        check_tables(problem)
    options = {
        "score": rule,
        "max_parents": max_parents,
        "locality": locality,
        "restarts": restarts,
        "constraints": known,
        "mechanism": mechanism,
        "max_mechanism_parents": max_mechanism_parents,
        "gap": gap,
        "node_limit": node_limit,
        "work_limit": work_limit,
        "certificate": certificate,
    }
    call = "learn_exact"
    with opened(checkpoint, call, table=table, seed=seed, options=options) as at:
        clock.go_on_from(at.seconds)
        kept = at.part("exact")
        explained = explain(
            problem,
            mechanism,
            max_mechanism_parents,
            constraints=known,
            max_parents=max_parents,
            clock=clock,
            generator=at.generator,
            n_threads=n_threads,
            progress=progress,
            kept=kept,
        )
        problem = explained.problem
        search = LocalSearch(problem, clock, n_threads, progress, kept)
        usual = usual_starts(rule)
        if explained.stopped is Stopped.INTERRUPT:
            found = search.interrupted(first_start(problem, explained.completed))
            return explained.told(_without_bound(found, certificate))
        try:
            starts = list_starts(
                problem,
                restarts=min(restarts, _WIDE_RESTARTS) if is_relaxed else restarts,
                starts=("em", *usual) if is_relaxed else usual,
                given=explained.completed,
                generator=at.generator,
                time_limit=clock.left if is_relaxed else None,
                kept=kept,
            )
        except KeyboardInterrupt:  # while a start was sought that takes long
            found = search.interrupted(first_start(problem, explained.completed))
            return explained.told(_without_bound(found, certificate))
        threads = n_threads or _core.n_cores()
        if not is_relaxed:
            threads = threads_for(table.n_vars, n_threads)
        try:
            augmenter = problem.augmenter(
                search.time_for_tables(), drop_threads=threads if is_relaxed else 0
            )
        except TimeoutError:
            found = search.hurried(starts, at.generator)
            return explained.told(_without_bound(found, certificate))
        report = clock.reporter(progress, "branch and bound")
        # SCIP keeps no proof for others to check.
        is_first = is_relaxed and certificate is None and _has_scip()
        most_bytes = 0.5 * min(available_memory(), 1e15)
        how = _core.ExactOptions(
            locality=locality,
            gap=max(gap, TOLERANCE),
            max_nodes=1 if is_first else node_limit or 0,
            max_work=work_limit or 0.0,
            max_bytes=most_bytes,
            n_threads=threads,
            max_record_bytes=0.0 if is_relaxed else record_bytes(certificate),
            is_relaxed=is_relaxed,
        )
        with kept.search("tree", starts) as state:
            answer = augmenter.solve(starts, how, clock.left or 0.0, report, state)
        programmes = None
        has_root = len(answer.root_families) > 0
        if is_first and has_root and answer.stopped.name == Stopped.NODES:
            limits = Limits(
                max(gap, TOLERANCE),
                node_limit or math.inf,
                work_limit or math.inf,
                most_bytes,
            )
            programmes = Programmes(
                problem, augmenter, answer, limits, clock=clock, n_threads=threads
            )
            programmes.run(kept.state("programmes", starts), report)
    found = _result(problem, answer, locality, clock, programmes)
    if certificate is not None:
        written = write_joint_proof(certificate, problem, answer, is_relaxed=is_relaxed)
        found = replace(found, certificate_file=written)
    return explained.told(found)


def uses_relaxation(n_vars: int) -> bool:
    """Tell whether the best structure is bounded, not found, at every node."""
    return n_vars > MOST_SUBSET_VARS or not program_fits(n_vars)


def _check_size(n_vars: int) -> None:
    if n_vars > MOST_VARS:
        msg = (
            f"exact search takes at most {MOST_VARS} variables. Got {n_vars} instead. "
            f"Use {spell('method', 'local')} with {spell('solver', 'order')}, or fewer "
            "columns."
        )
        raise ParameterError(msg)


def _without_bound(found: LearnResult, certificate: PathLike | None) -> LearnResult:
    """Return what was found before there was any bound."""
    written = None
    if certificate is not None:
        reason = "the search was stopped before it had any bound."
        written = write_no_proof(certificate, reason)
    return replace(found, method="exact", certificate_file=written)


def _has_scip() -> bool:
    return find_spec("pyscipopt") is not None


def _result(
    problem: PatternProblem,
    answer: _core.ExactResult,
    locality: int,
    clock: Clock,
    programmes: Programmes | None = None,
) -> LearnResult:
    trace = trace_of(answer.trace)
    score, bound, priced = answer.score, answer.bound, answer.priced_root_bound
    parents: Sequence[Sequence[int]] = answer.parents
    completion = answer.completion
    n_nodes, work, stopped = answer.n_nodes, answer.work, Stopped(answer.stopped.name)
    if programmes is not None:
        best, stopped = programmes.best, programmes.stopped
        score, parents, completion = best.score, best.parents, best.completion
        bound, priced = programmes.bound, programmes.root_bound
        n_nodes, work = programmes.n_nodes, programmes.work
        trace = (*trace, *programmes.trace)
    detail = {
        "nodes": n_nodes,
        "work": work,
        "cells": problem.n_cells,
        "patterns": len(problem.weight),
        "families": answer.n_families,
        "families_left_at_root": answer.n_alive,
        "first_score": answer.start_score,
        "root_bound": _finite(answer.root_bound),
        "priced_root_bound": _finite(priced),
        **note_of(problem),
    }
    # The pair of the local search is certified as long as nothing better was found.
    is_local = answer.start_is_certified and score <= answer.start_score + TOLERANCE
    return assemble(
        problem,
        problem.dag(parents),
        completion,
        bound=bound,
        certificate=Certificate.of(score, bound, is_local=is_local),
        locality=locality if is_local else None,
        stopped=stopped,
        method="exact",
        trace=trace,
        seconds=clock.seconds,
        detail=detail,
    )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
