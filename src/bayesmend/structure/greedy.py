"""Structure learning by hill climbing on the data."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from bayesmend import _core
from bayesmend._checks import check_integer
from bayesmend._clock import Clock, Progress, room_within
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.outcome import Stopped
from bayesmend.score import FamilyScorer, Prior, Score
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.others import NEAR, Other, tell_others
from bayesmend.structure.promising import MOST_NOTED, Promising
from bayesmend.structure.solution import Solution

__all__ = ["RESTARTS", "climb", "climb_from"]

RESTARTS = 100
"""Climbs in a row from random changes of the best DAG that gain nothing, by default."""

# Gains of parent sets that were met: so many numbers at most, and of what room there is
# a quarter; a list that grows is there twice for a moment.
_MOST_REMEMBERED, _BYTES_REMEMBERED = 2**24, 4 * 8 * 2


@entrance
def climb(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    max_parents: int = 3,
    constraints: ConstraintsLike = None,
    start: Dag | None = None,
    tabu_length: int = 20,
    tabu_moves: int = 20,
    restarts: int = RESTARTS,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Solution:
    """Climb from a DAG by adding, deleting and reversing arcs.

    Parameters
    ----------
    {complete_data, score, ess, prior, max_parents, constraints}
    start : Dag, optional
        Where to start; by default from the required arcs alone.
    tabu_length : int, default=20
        For so many changes a changed pair of variables stays as it is.
    tabu_moves : int, default=20
        The climb goes on through so many changes without a gain.
    restarts : int, default=100
        The search ends when so many climbs in a row, each from random changes of the
        best DAG, have gained nothing; after 20 times as many among up to 50 variables,
        fewer among more.
    {time_limit, seed, n_threads, progress}
    {reading}

    Returns
    -------
    Solution
        With status ``"heuristic"`` and an infinite bound: none is computed.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(5000, seed=1)
    >>> climb(data, seed=1).dag
    Dag(8 variables, ... arcs)
    """
    progress = told(progress)
    table = IncompleteData.from_table(data, **reading)
    rules = Constraints.of(constraints).rules(table.names, max_parents=max_parents)
    scorer = FamilyScorer(
        table,
        score=score,
        ess=ess,
        prior=prior,
        constraints=rules,
        n_threads=n_threads,
    )
    return climb_from(
        scorer,
        rules,
        start=start,
        tabu_length=tabu_length,
        tabu_moves=tabu_moves,
        restarts=restarts,
        time_limit=time_limit,
        seed=seed,
        progress=progress,
    )


def climb_from(
    scorer: FamilyScorer,
    rules: ParentRules,
    *,
    start: Dag | None = None,
    tabu_length: int = 20,
    tabu_moves: int = 20,
    restarts: int = RESTARTS,
    time_limit: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    promising: Promising | None = None,
) -> Solution:
    """Do the work of `climb` with a scorer and rules at hand.

    Where given, `promising` notes which parents gain the most.
    """
    clock = Clock(time_limit)
    for name, value in (
        ("tabu_length", tabu_length),
        ("tabu_moves", tabu_moves),
        ("restarts", restarts),
    ):
        check_integer(name, value)
    names = scorer.data.names
    found = _core.climb_greedily(
        scorer.core,
        rules.allowed,
        rules.required,
        rules.limit,
        _start_parents(start, rules, names),
        tabu_length,
        tabu_moves,
        restarts,
        NEAR,
        0 if promising is None else MOST_NOTED,
        int(min(room_within() / _BYTES_REMEMBERED, _MOST_REMEMBERED)),
        time_limit or 0.0,
        int(as_generator(seed).integers(2**63)),
        scorer.n_threads,
        clock.reporter(progress, "hill climbing"),
    )
    dag = Dag(names, tuple(map(tuple, found.parents)))
    if promising is not None:
        promising.note(found.promising)
    score = scorer.dag(dag)
    met = tuple(
        Other(reached, Dag(names, tuple(map(tuple, parents))))
        for reached, parents in found.others
    )
    return Solution(
        dag=dag,
        score=score,
        met=met,
        stopped=Stopped(found.stopped.name),
        solver="greedy",
        seconds=clock.seconds,
        detail={
            "changes": found.n_changes,
            "restarts": found.n_restarts,
            **tell_others(dag, score, met),
        },
    )


def _start_parents(
    start: Dag | None, rules: ParentRules, names: tuple[str, ...]
) -> list[list[int]]:
    if start is None:
        return [np.flatnonzero(row).tolist() for row in rules.required]
    if not isinstance(start, Dag) or start.names != names:
        msg = "start must be a DAG over the variables of the data, in their order."
        raise ParameterError(msg)
    if not rules.holds(start):
        msg = "start breaks the constraints or max_parents. Start from another DAG."
        raise ParameterError(msg)
    return [list(parents) for parents in start.parents]
