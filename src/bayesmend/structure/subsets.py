"""Exact structure learning by dynamic programming over subsets of the variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import check_flag, check_integer
from bayesmend._clock import Clock, Progress, available_memory, or_more_memory
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.errors import ParameterError
from bayesmend.outcome import Certificate, Stopped
from bayesmend.structure.order import solve_order
from bayesmend.structure.parents import ParentSets, check_parent_sets
from bayesmend.structure.solution import Solution, dag_of, feasible_order, trivial_bound

__all__ = ["best_through", "solve_subsets", "subsets_memory"]

_MAX_VARS = 30


@entrance
def solve_subsets(
    parent_sets: ParentSets,
    *,
    time_limit: float | None = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
) -> Solution:
    """Find a best DAG, exactly, in time and memory that double with every variable.

    Parameters
    ----------
    {parent_sets}
    time_limit : float, optional
        Seconds; when they run out, or at Ctrl-C, a short order search gives the
        answer, with the bound known before.
    {n_threads, progress}

    Returns
    -------
    Solution
        With status ``"optimal"`` unless stopped.

    Examples
    --------
    >>> from bayesmend.structure.parents import ParentSets
    >>> sets = ParentSets.from_lists(
    ...     ["a", "b"], [[(-5, ()), (-1, (1,))], [(-5, ()), (-3, (0,))]]
    ... )
    >>> solve_subsets(sets)
    Solution(optimal, score=-6.000, n_arcs=1, solver='subsets', ...)
    """
    progress = told(progress)
    check_parent_sets(parent_sets)
    clock = Clock(time_limit)
    if parent_sets.n_vars == 0:
        return _solution(parent_sets, np.zeros(0, np.int64), 0.0, clock)
    _check_memory(parent_sets.n_vars, through=False)
    if progress is not None:
        progress(f"subsets of {parent_sets.n_vars} variables", -np.inf, 0.0)
    found = _run(parent_sets, False, clock.left, n_threads)
    stopped = Stopped(found.stopped.name)
    if stopped:
        return _stopped(parent_sets, clock, n_threads, stopped)
    if not np.isfinite(found.score):
        feasible_order(parent_sets)  # which names the variables that are stuck
    return _solution(parent_sets, found.choices, found.score, clock)


@entrance
def best_through(parent_sets: ParentSets, *, n_threads: int = 0) -> NDArray[np.float64]:
    """Return for each candidate the score of the best DAG that uses it.

    Parameters
    ----------
    {parent_sets, n_threads}

    Returns
    -------
    ndarray of shape (n_sets,)
        In the order of `parent_sets`; minus infinity where no DAG can use it.

    Examples
    --------
    >>> from bayesmend.structure.parents import ParentSets
    >>> sets = ParentSets.from_lists(
    ...     ["a", "b"], [[(-5, ()), (-1, (1,))], [(-5, ()), (-3, (0,))]]
    ... )
    >>> best_through(sets).tolist()  # of a: {b}, {}; of b: {a}, {}
    [-6.0, -8.0, -8.0, -6.0]
    """
    check_parent_sets(parent_sets)
    if parent_sets.n_vars == 0:
        return np.zeros(0)
    _check_memory(parent_sets.n_vars, through=True)
    found = _run(parent_sets, True, None, n_threads)
    if Stopped(found.stopped.name):
        raise KeyboardInterrupt
    return found.best_through


@entrance
def subsets_memory(n_vars: int, *, through: bool = False) -> float:
    """Count the bytes that the tables for `n_vars` variables take."""
    n_vars = check_integer("n_vars", n_vars)
    check_flag("through", through)
    return float(_core.subsets_memory(n_vars, through))


def _run(
    parent_sets: ParentSets, through: bool, seconds: float | None, n_threads: int
) -> _core.SubsetSolution:
    return _core.solve_subsets(
        *parent_sets.arrays,
        through,
        seconds or 0.0,
        check_integer("n_threads", n_threads),
    )


def _check_memory(n_vars: int, *, through: bool) -> None:
    needed = subsets_memory(n_vars, through=through)
    if n_vars > _MAX_VARS or needed > 0.9 * available_memory():
        msg = (
            f"exact search over {n_vars} variables by subsets needs about "
            f"{needed / 1e9:.3g} GB. Use {spell('solver', 'ilp')} or "
            f"{spell('solver', 'order')} instead{or_more_memory()}."
        )
        raise ParameterError(msg)


def _stopped(
    parent_sets: ParentSets, clock: Clock, n_threads: int, stopped: Stopped
) -> Solution:
    found = solve_order(
        parent_sets, time_limit=0.2, restarts=1, n_threads=n_threads, seed=0
    )
    return Solution(
        dag=found.dag,
        score=found.score,
        bound=found.bound,
        certificate=Certificate.of(found.score, found.bound),
        stopped=stopped,
        solver="subsets",
        seconds=clock.seconds,
        detail={"fallback": "order"},
    )


def _solution(
    parent_sets: ParentSets, choices: NDArray[np.int64], score: float, clock: Clock
) -> Solution:
    dag = dag_of(parent_sets, choices)
    # The sum in the order of the variables, as every other solver reports it.
    total = float(parent_sets.scores[choices].sum()) if len(choices) else score
    return Solution(
        dag=dag,
        score=total,
        bound=total,
        certificate=Certificate.OPTIMAL,
        solver="subsets",
        seconds=clock.seconds,
        detail={"trivial_bound": trivial_bound(parent_sets)},
    )
