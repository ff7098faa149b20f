"""Solve a reduction with any structure solver."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bayesmend._clock import Clock, Progress
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.learning.reduction.reduction import Reduction
from bayesmend.learning.starts import observed_shares
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.order import FIRST_PATIENCE, solve_order
from bayesmend.structure.solution import Solution
from bayesmend.structure.solve import Solver, solve

__all__ = ["ReductionResult", "solve_reduction"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReductionResult(Solution):
    """A structure, a completion, and how good the pair is known to be.

    Parameters
    ----------
    dag : Dag
        The structure, over the original variables.
    completed : IncompleteData
        The table with every cell filled in.
    score : float
        Score of the structure on that table.
    bound : float
        No pair that the reduction considers scores higher than this.
    solver, certificate, stopped, chosen, seconds, detail
        As in `Solution`.
    """

    completed: IncompleteData


@entrance
def solve_reduction(
    reduction: Reduction,
    *,
    solver: Solver = "auto",
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
) -> ReductionResult:
    """Find the best structure and completion that a reduction considers.

    Parameters
    ----------
    reduction : Reduction
        The candidates over original and artificial variables.
    solver : {"auto", "subsets", "ilp", "order"} or callable, default="auto"
        As in `bayesmend.structure.solve`. A callable gets ``reduction.parent_sets``.
    {time_limit, seed, n_threads, progress}

    Returns
    -------
    ReductionResult
        Structure, completion, score and bound, without the penalties of the gadgets.

    Examples
    --------
    >>> from bayesmend.learning.reduction.reduction import reduce_to_complete
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
    >>> reduction = reduce_to_complete(IncompleteData.from_table(table))
    >>> result = solve_reduction(reduction)
    >>> result.status, result.completed.to_table()["b"], round(result.score, 3)
    ('optimal', ['u', 'u', 'v', 'v'], -5.504)
    """
    progress = told(progress)
    _check_reduction(reduction)
    clock, generator = Clock(time_limit), as_generator(seed)
    sets, paid = reduction.parent_sets, reduction.n_cells * reduction.penalty
    # A pair to start from: what scores less leaves some cell with two states.
    first = None if callable(solver) else _first(reduction, generator, n_threads)
    found = solve(
        sets,
        solver=solver,
        time_limit=clock.left,
        start=first,
        seed=generator,
        n_threads=n_threads,
        progress=None if progress is None else _without_penalties(progress, paid),
    )
    dag = found.dag
    if first is not None and found.score < sets.score_of(first):
        dag = first
    decoded = reduction.decode(dag)
    # Of the bounds known, one pays for every cell and the other for none.
    best_sets = sets.scores[sets.offsets[: reduction.data.n_vars]]
    bound = min(found.bound + paid, float(best_sets.sum()))
    if found.is_optimal:
        bound = decoded.score
    return ReductionResult(
        dag=decoded.dag,
        completed=decoded.completed,
        score=decoded.score,
        bound=max(bound, decoded.score),
        certificate=found.certificate,
        stopped=found.stopped,
        chosen=found.chosen,
        solver=found.solver,
        seconds=clock.seconds,
        detail=found.detail,
    )


def _check_reduction(value: object) -> None:
    if not isinstance(value, Reduction):
        msg = (
            "reduction must be a Reduction, as reduce_to_complete returns. "
            f"Got {type(value).__name__} instead."
        )
        raise ParameterError(msg)


def _first(reduction: Reduction, seed: np.random.Generator, n_threads: int) -> Dag:
    """Find a good structure for the completion in hand, or for frequent states."""
    completed = reduction.completion or _by_mode(reduction.data)
    plain = solve_order(
        reduction.restrict(completed),
        restarts=1,
        patience=FIRST_PATIENCE,
        seed=seed,
        n_threads=n_threads,
    )
    return reduction.encode(plain.dag, completed)


def _by_mode(data: IncompleteData) -> IncompleteData:
    modes = np.array([share.argmax() for share in observed_shares(data)], np.uint8)
    return data.with_codes(np.where(data.missing_mask, modes, data.codes))


def _without_penalties(progress: Progress, paid: float) -> Progress:
    return lambda what, best, seconds, *, bound=math.inf, share=None: progress(
        what, best + paid, seconds, bound=bound + paid, share=share
    )
