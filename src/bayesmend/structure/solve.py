"""Solvers by name: one contract, several engines."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bayesmend._checks import (
    check_choice,
    check_goes_with,
    check_integer,
    check_number,
)
from bayesmend._clock import Clock, Progress, available_memory, limited_memory
from bayesmend._entrance import entrance
from bayesmend._files import PathLike
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.data.states import quantity
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.outcome import TOLERANCE, Certificate, Stopped
from bayesmend.proofs import check_certificate
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.ilp import solve_ilp
from bayesmend.structure.order import FIRST_PATIENCE, solve_order
from bayesmend.structure.parents import ParentSets, check_parent_sets
from bayesmend.structure.proof import certify_candidates
from bayesmend.structure.solution import Solution, trivial_bound
from bayesmend.structure.subsets import solve_subsets, subsets_memory

__all__ = [
    "SOLVERS",
    "Solver",
    "check_gap",
    "check_solver",
    "choose_solver",
    "solve",
]

Solver = str | Callable[[ParentSets], Any]
"""The name of a solver, or a callable that takes ParentSets and returns a Dag, a
Solution or the parents of each variable."""

SOLVERS = ("auto", "subsets", "ilp", "order")
"""The names of the structure solvers."""

_SUBSETS_VARS = 20
_ILP_SETS = 50_000
_ILP_VARS = 100
_ILP_SECONDS = 60.0
# Rounds of cutting planes that `auto` takes for a proof before it asks what is left.
_PATIENCE = 100


@entrance
@limited_memory
def solve(
    parent_sets: ParentSets,
    *,
    solver: Solver = "auto",
    gap: float | None = None,
    certificate: PathLike | None = None,
    time_limit: float | None = None,
    max_memory: float | None = None,
    start: Dag | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
) -> Solution:
    """Choose one candidate parent set per variable so that the graph has no cycle.

    Parameters
    ----------
    {parent_sets}
    solver : {"auto", "subsets", "ilp", "order"} or callable, default="auto"
        ``subsets``: dynamic programming, exact, up to about 26 variables. ``ilp``:
        integer programming, exact, tens of variables. ``order``: local search,
        thousands of variables. ``auto`` chooses by size and says what it chose. A
        callable gets the candidates and returns a Dag, a Solution or the parents of
        each variable.
    {gap, certificate, time_limit}
    {own_memory}
    start : Dag, optional
        A good DAG to start from.
    {seed, n_threads, progress}

    Returns
    -------
    Solution
        The DAG, its score and how good it is known to be.

    Examples
    --------
    >>> from bayesmend.structure.parents import ParentSets
    >>> sets = ParentSets.from_lists(
    ...     ["a", "b"], [[(-5, ()), (-1, (1,))], [(-5, ()), (-3, (0,))]]
    ... )
    >>> solution = solve(sets)
    >>> solution.status, solution.score, solution.dag.arcs
    ('optimal', -6.0, (('b', 'a'),))
    >>> solution.chosen
    'subsets: 2 variables'
    """
    progress = told(progress)
    check_parent_sets(parent_sets)
    check_gap(gap, solver)
    check_certificate(certificate)
    clock = Clock(time_limit)
    found = _solve(
        parent_sets,
        *(solver, gap, time_limit, start, as_generator(seed), n_threads, progress),
    )
    if certificate is None:
        return found
    return certify_candidates(
        certificate, parent_sets, found, clock=clock, progress=progress
    )


def _solve(
    parent_sets: ParentSets,
    solver: Solver,
    gap: float | None,
    time_limit: float | None,
    start: Dag | None,
    seed: Seed,
    n_threads: int,
    progress: Progress | None,
) -> Solution:
    if callable(solver):
        return _solve_by_callable(parent_sets, solver)
    if not (isinstance(solver, str) and solver in SOLVERS):
        msg = (
            f"solver must be one of {', '.join(SOLVERS)} or a callable. "
            f"Got {solver!r} instead."
        )
        raise ParameterError(msg)
    if solver == "auto":
        return _solve_auto(
            parent_sets, gap, time_limit, start, seed, n_threads, progress=progress
        )
    if solver == "subsets":
        return solve_subsets(
            parent_sets, time_limit=time_limit, n_threads=n_threads, progress=progress
        )
    if solver == "ilp":
        return _solve_by_ilp(
            *(parent_sets, gap or 0.0, None, time_limit, start, seed, n_threads),
            progress=progress,
        )
    return solve_order(
        parent_sets,
        time_limit=time_limit,
        start=start,
        seed=seed,
        n_threads=n_threads,
        progress=progress,
    )


def _solve_by_ilp(
    parent_sets: ParentSets,
    gap: float,
    patience: int | None,
    time_limit: float | None,
    start: Dag | None,
    seed: Seed,
    n_threads: int,
    *,
    progress: Progress | None,
) -> Solution:
    """Give the integer programme a first answer of the order search."""
    clock = Clock(time_limit)
    first = solve_order(
        parent_sets,
        time_limit=None if time_limit is None else min(0.5, 0.1 * time_limit),
        start=start,
        restarts=1,
        patience=FIRST_PATIENCE,
        seed=seed,
        n_threads=n_threads,
        progress=progress,
    )
    found = None
    if first.stopped is not Stopped.INTERRUPT:
        with suppress(KeyboardInterrupt):
            found = solve_ilp(
                parent_sets,
                time_limit=clock.left,
                gap=gap,
                patience=patience,
                start=first.dag,
                seed=seed,
                n_threads=n_threads,
                progress=progress,
            )
    if found is None:
        found = replace(
            first,
            certificate=Certificate.of(first.score, first.bound),
            stopped=Stopped.INTERRUPT,
            solver="ilp",
        )
    return replace(found, seconds=clock.seconds)


def check_solver(solver: Solver) -> None:
    """Raise ParameterError unless data can be learned from with this solver."""
    if not callable(solver):
        check_choice("solver", solver, (*SOLVERS, "greedy"))


def check_gap(gap: float | None, solver: Solver) -> None:
    """Raise ParameterError for a gap that no proof would heed."""
    if gap is None:
        return
    check_number("gap", gap, unit="nats", least=0)
    name = solver if isinstance(solver, str) else "a callable"
    check_goes_with("gap", gap, "solver", name, ("auto", "ilp"))


@entrance
def choose_solver(n_vars: int, n_sets: int) -> tuple[str, str]:
    """Return the solver that ``auto`` takes at this size, and why.

    Examples
    --------
    >>> choose_solver(37, 1_900)
    ('ilp', 'ilp: 37 variables, 1,900 candidate sets')
    """
    n_vars = check_integer("n_vars", n_vars)
    n_sets = check_integer("n_sets", n_sets)
    if n_vars <= _SUBSETS_VARS and subsets_memory(n_vars) < available_memory() / 2:
        return "subsets", f"subsets: {quantity(n_vars, 'variable')}"
    sizes = f"{n_vars:,} variables, {n_sets:,} candidate sets"
    solver = "ilp" if n_vars <= _ILP_VARS and n_sets <= _ILP_SETS else "order"
    return solver, f"{solver}: {sizes}"


def _solve_auto(
    parent_sets: ParentSets,
    gap: float | None,
    time_limit: float | None,
    start: Dag | None,
    seed: Seed,
    n_threads: int,
    *,
    progress: Progress | None,
) -> Solution:
    name, reason = choose_solver(parent_sets.n_vars, parent_sets.n_sets)
    if name == "ilp":
        if time_limit is None:
            # A proof may take hours; auto promises an answer.
            time_limit = _ILP_SECONDS
            reason += f", at most {_ILP_SECONDS:.0f} s"
        found = _solve_by_ilp(
            parent_sets,
            gap or 0.0,
            _PATIENCE if gap is None else None,
            time_limit,
            start,
            seed,
            n_threads,
            progress=progress,
        )
        if "ended" in found.detail:
            reason += (
                f"; ended with a gap of {found.gap:.2g} nats; "
                f"{spell('solver', 'ilp')} goes on"
            )
        return replace(found, chosen=reason)
    found = solve(
        parent_sets,
        solver=name,
        time_limit=time_limit,
        start=start,
        seed=seed,
        n_threads=n_threads,
        progress=progress,
    )
    return replace(found, chosen=reason)


def _solve_by_callable(
    parent_sets: ParentSets, solver: Callable[[ParentSets], Any]
) -> Solution:
    clock = Clock()
    answer = solver(parent_sets)
    if isinstance(answer, Solution):
        stated = answer
    else:
        dag = answer
        if not isinstance(dag, Dag):
            dag = _dag_of_answer(parent_sets, answer)
        bound = trivial_bound(parent_sets)
        stated = Solution(dag=dag, score=-math.inf, bound=bound, solver="")
    if stated.dag.names != parent_sets.names:
        msg = "the solver returned a DAG over other variables than the candidates."
        raise ParameterError(msg)
    score = parent_sets.score_of(stated.dag)
    is_optimal = score >= stated.bound - TOLERANCE
    return replace(
        stated,
        score=score,
        certificate=Certificate.OPTIMAL if is_optimal else stated.certificate,
        solver=getattr(solver, "__name__", type(solver).__name__),
        seconds=clock.seconds,
    )


def _dag_of_answer(parent_sets: ParentSets, answer: Any) -> Dag:
    try:
        parents = tuple(tuple(int(p) for p in each) for each in answer)
    except (TypeError, ValueError):
        msg = (
            "a solver must return a Dag, a Solution or the parents of each variable. "
            f"Got {type(answer).__name__} instead."
        )
        raise ParameterError(msg) from None
    return Dag(parent_sets.names, parents)
