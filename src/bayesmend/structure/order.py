"""Structure learning by local search over orders of the variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import check_integer
from bayesmend._clock import Clock, Progress
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.outcome import TOLERANCE, Certificate, Stopped
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.parents import ParentSets, check_parent_sets
from bayesmend.structure.solution import (
    Solution,
    dag_of,
    feasible_order,
    trivial_bound,
)

__all__ = ["FIRST_PATIENCE", "PATIENCE", "solve_order"]

PATIENCE = 100
"""Perturbations without gain that end a chain."""

FIRST_PATIENCE = 20
"""Perturbations without gain that end the search for a first answer."""

_MOST_CHOICES = 10**7


@entrance
def solve_order(
    parent_sets: ParentSets,
    *,
    time_limit: float | None = None,
    start: Dag | None = None,
    restarts: int = 2,
    patience: int | None = None,
    max_window: int = 3,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
) -> Solution:
    """Find a good DAG among many variables.

    Every variable takes its best candidate among its predecessors in an order; the
    order moves by insertion of single variables and of windows of neighbours (ASOBS and
    WINASOBS of Scanagatta et al. 2015, 2017), and where no insertion helps it is
    perturbed and climbs again.

    Parameters
    ----------
    {parent_sets}
    time_limit : float, optional
        Seconds. Without a limit every chain ends by `patience` and the result depends
        on `seed` alone.
    start : Dag, optional
        The first chain starts from an order of this DAG; the others from random ones.
    restarts : int, default=2
        Number of independent chains.
    patience : int, optional
        Perturbations in a row without gain that end a chain; 100 by default, and no
        end before the time limit where there is one.
    max_window : int, default=3
        Longest window that is moved as a whole.
    {seed, n_threads, progress}

    Returns
    -------
    Solution
        With status ``"heuristic"``, or ``"optimal"`` when every variable has its best
        candidate.

    Examples
    --------
    >>> from bayesmend.structure.parents import ParentSets
    >>> sets = ParentSets.from_lists(
    ...     ["a", "b"], [[(-5, ()), (-1, (1,))], [(-5, ()), (-3, (0,))]]
    ... )
    >>> solve_order(sets, seed=1).score
    -6.0
    """
    progress = told(progress)
    check_parent_sets(parent_sets)
    clock = Clock(time_limit)
    check_integer("restarts", restarts, 1)
    check_integer("max_window", max_window, 1)
    if patience is None:
        patience = PATIENCE if clock.left is None else int(np.iinfo(np.int64).max)
    check_integer("patience", patience, 1)
    if parent_sets.n_vars == 0:
        return _solution(parent_sets, np.zeros(0, np.int64), Stopped.NOTHING, clock)
    if restarts * parent_sets.n_vars > _MOST_CHOICES:
        msg = (
            f"{spell('restarts', restarts)} chains over {parent_sets.n_vars:,} "
            f"variables are more than {_MOST_CHOICES:,} choices in all. Ask for fewer."
        )
        raise ParameterError(msg)
    n_threads = check_integer("n_threads", n_threads)
    generator, report = as_generator(seed), clock.reporter(progress, "order search")

    def search(
        order: NDArray[np.int32], n_chains: int, seconds: float | None
    ) -> _core.OrderResult:
        return _core.search_orders(
            *parent_sets.arrays,
            order,
            n_chains,
            patience,
            max_window,
            seconds or 0.0,
            int(generator.integers(2**63)),
            n_threads,
            report,
        )

    found = search(_order_of(start, parent_sets), restarts, clock.left)
    stopped = Stopped(found.stopped.name)
    if (found.choices < 0).any():
        # No chain met an order in which every variable has a candidate.
        seconds = 1e-3 if stopped is Stopped.INTERRUPT else clock.left
        found = search(feasible_order(parent_sets), 1, seconds)
    detail = {"perturbations": found.n_perturbations, "chains": restarts}
    return _solution(parent_sets, found.choices, stopped, clock, detail)


def _solution(
    parent_sets: ParentSets,
    choices: NDArray[np.int64],
    stopped: Stopped,
    clock: Clock,
    detail: dict[str, int] | None = None,
) -> Solution:
    score, bound = float(parent_sets.scores[choices].sum()), trivial_bound(parent_sets)
    is_optimal = score >= bound - TOLERANCE
    return Solution(
        dag=dag_of(parent_sets, choices),
        score=score,
        bound=bound,
        certificate=Certificate.OPTIMAL if is_optimal else Certificate.HEURISTIC,
        stopped=stopped,
        solver="order",
        seconds=clock.seconds,
        detail=detail or {},
    )


def _order_of(start: Dag | None, parent_sets: ParentSets) -> NDArray[np.int32]:
    if start is None:
        return np.zeros(0, np.int32)
    if set(start.names) != set(parent_sets.names):
        msg = "start must be a DAG over the variables of the candidates."
        raise ParameterError(msg)
    index = {name: i for i, name in enumerate(parent_sets.names)}
    order = [index[start.names[v]] for v in start.topological_order()]
    return np.array(order, np.int32)
