"""Candidate parent sets from data.

A set stays a candidate only when it scores higher than each of its subsets; one that
does not can be replaced by the subset in any DAG without loss.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from math import comb
from typing import Any, Literal, Unpack, get_args

import numpy as np

from bayesmend import _core
from bayesmend._checks import check_choice, check_goes_with, check_integer
from bayesmend._clock import available_memory, check_time_limit, room_within
from bayesmend._entrance import entrance
from bayesmend._link import Link, at_hand, handed_on, lend, linked
from bayesmend._rows import offsets_of
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.score import FamilyScorer, Prior, Score
from bayesmend.structure.parents import ParentSets

__all__ = [
    "can_score_all",
    "candidate_parents",
    "candidates_from",
    "scoring_memory",
    "scoring_seconds",
    "sets_within",
]

Search = Literal["auto", "all", "promising"]

# Up to about this much work every set is scored; beyond, the most promising ones.
_EXHAUSTIVE_SECONDS = 20.0
_MAX_SETS = 5000
# Bytes of a scored set, as the search of its child holds it and as a candidate.
_BYTES_PER_SET, _BYTES_PER_CANDIDATE = 150.0, 64.0
# Less work than that is done before the table has come to the workers of a cluster.
_SECONDS_FOR_CLUSTER = 1.0
_BLOCKS_PER_THREAD = 4  # for some take longer than others


@entrance
def candidate_parents(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    max_parents: int = 3,
    constraints: ConstraintsLike = None,
    search: Search = "auto",
    max_sets: int | None = None,
    time_limit: float | None = None,
    seed_dag: Dag | None = None,
    n_threads: int = 0,
    client: Any = None,
    **reading: Unpack[Reading],
) -> ParentSets:
    """List the parent sets that a best DAG may use, with their scores.

    Parameters
    ----------
    {complete_data, score, ess, prior, max_parents, constraints}
    search : {"auto", "all", "promising"}, default="auto"
        ``all``: every set within the limits, less what a bound shows to be of no use.
        ``promising``: best-first, by the score that sets would have if the
        contributions of their parts added up (Scanagatta et al. 2015). ``auto``: all,
        where that takes seconds.
    max_sets : int, optional
        With ``promising``: sets scored per variable, 5,000 by default; single parents
        are always scored. The result is the same on every run.
    time_limit : float, optional
        With ``promising``: seconds for all variables together; the result then
        depends on the speed of the machine.
    seed_dag : Dag, optional
        With ``promising``: the parent sets of this DAG, and their subsets, come first.
    {n_threads}
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler. With ``promising`` its workers score
        the sets of some variables each, where that takes a second and more. The answer
        is the same.
    {reading}

    Returns
    -------
    ParentSets
        For each variable its candidates, best first.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(1000, seed=1)
    >>> candidate_parents(data, max_parents=2)
    ParentSets(n_vars=8, n_sets=..., max_members=2)
    """
    check_choice("search", search, get_args(Search))
    for name, value in (
        ("max_sets", max_sets),
        ("time_limit", time_limit),
        ("seed_dag", seed_dag),
    ):
        if value is not None:
            check_goes_with(name, value, "search", search, ("promising", "auto"))
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
    there = nullcontext() if client is None else linked(client)
    with there as link, nullcontext() if link is None else lend(link):
        return candidates_from(
            scorer,
            rules,
            search=search,
            max_sets=max_sets,
            time_limit=time_limit,
            seed_dag=seed_dag,
        )


def candidates_from(
    scorer: FamilyScorer,
    rules: ParentRules,
    *,
    search: Search,
    max_sets: int | None = None,
    time_limit: float | None = None,
    seed_dag: Dag | None = None,
) -> ParentSets:
    """Do the work of `candidate_parents` with a scorer and rules at hand."""
    if max_sets is not None:
        check_integer("max_sets", max_sets, 1)
    time_limit = check_time_limit(time_limit)
    data = scorer.data
    seeds = _seeds(seed_dag, data, rules)
    if search == "auto":
        is_small = can_score_all(data, int(rules.limit.max()), time_limit)
        search = "all" if is_small else "promising"
    if search == "all":
        _check_memory(data.n_vars, int(rules.limit.max()))
        limits = (rules.allowed, rules.required, rules.limit)
        found = _core.all_candidates(scorer.core, *limits, scorer.n_threads)
        return _sets(data.names, found)
    most = np.iinfo(np.int32).max if time_limit is not None else _MAX_SETS
    max_sets = _sets_that_fit(scorer, max_sets, most)
    score = partial(_promising, seeds=seeds, max_sets=max_sets)
    link = at_hand()
    if link is not None and _suits_cluster(scorer, max_sets, time_limit):
        return _there(link, scorer, rules, score, time_limit)
    return score(scorer, rules, time_limit)


def _promising(
    scorer: FamilyScorer,
    rules: ParentRules,
    time_limit: float | None,
    *,
    seeds: list[list[int]],
    max_sets: int,
    n_children: int | None = None,
    n_threads: int | None = None,
) -> ParentSets:
    """Score the most promising sets; with a time limit, each child has its part."""
    n_threads = (n_threads or scorer.n_threads) or _core.n_cores()
    per_child = 0.0
    if time_limit is not None:
        per_child = time_limit * n_threads / (n_children or scorer.data.n_vars)
    found = _core.promising_candidates(
        scorer.core,
        *(rules.allowed, rules.required, rules.limit),
        seeds,
        max_sets,
        per_child,
        n_threads,
    )
    return _sets(scorer.data.names, found)


def _sets(names: tuple[str, ...], found: Any) -> ParentSets:
    return ParentSets(
        names, found.offsets, found.scores, found.member_offsets, found.members
    )


# --- on a cluster ---------------------------------------------------------------------


def _suits_cluster(
    scorer: FamilyScorer, max_sets: int, time_limit: float | None
) -> bool:
    if not scorer.is_portable:
        return False
    data = scorer.data
    seconds = data.n_vars * max_sets * _seconds_per_table(data)
    return min(seconds, time_limit or np.inf) >= _SECONDS_FOR_CLUSTER


def _there(
    link: Link,
    scorer: FamilyScorer,
    rules: ParentRules,
    score: Callable[..., ParentSets],
    time_limit: float | None,
) -> ParentSets:
    """Have workers score the sets of some children each; the table travels once."""
    n_vars = scorer.data.n_vars
    n_threads = link.n_threads
    n_blocks = min(_BLOCKS_PER_THREAD * n_threads, n_vars)
    if time_limit is not None:
        n_blocks = min(n_threads, n_vars)  # all at once
    blocks = [range(first, n_vars, n_blocks) for first in range(n_blocks)]
    lent = link.submit(handed_on, scorer)
    tasks = [
        link.submit(_score_block, score, lent, rules, block, time_limit)
        for block in blocks
    ]
    lists: list[Any] = [None] * n_vars
    for block, found in zip(blocks, link.gather(tasks), strict=True):
        for child, own in zip(block, found, strict=True):
            lists[child] = own
    scores, sizes, members = zip(*lists, strict=True)
    return ParentSets(
        scorer.data.names,
        offsets_of([len(each) for each in scores]),
        np.concatenate(scores),
        offsets_of(np.concatenate(sizes)),
        np.concatenate(members),
    )


def _score_block(
    score: Callable[..., ParentSets],
    scorer: FamilyScorer,
    rules: ParentRules,
    children: range,
    time_limit: float | None,
) -> list[Any]:
    """Score the sets of some children; return scores, sizes and members of each."""
    own, n_children = _only(rules, children), len(children)
    found = score(scorer, own, time_limit, n_children=n_children, n_threads=1)
    lists = []
    for child in children:
        span = slice(int(found.offsets[child]), int(found.offsets[child + 1]))
        ends = found.member_offsets[span.start : span.stop + 1]
        members = found.members[int(ends[0]) : int(ends[-1])]
        lists.append((found.scores[span], np.diff(ends), members))
    return lists


def _only(rules: ParentRules, children: range) -> ParentRules:
    """Leave other variables without parents, which takes next to no time."""
    kept = np.zeros(len(rules.limit), bool)
    kept[list(children)] = True
    return replace(
        rules,
        allowed=np.where(kept[:, None], rules.allowed, 0).astype(np.uint8),
        required=np.where(kept[:, None], rules.required, 0).astype(np.uint8),
        limit=np.where(kept, rules.limit, 0).astype(np.int32),
    )


def _seeds(
    seed_dag: Dag | None, data: IncompleteData, rules: ParentRules
) -> list[list[int]]:
    if seed_dag is None:
        return [[] for _ in data.names]
    if seed_dag.names != data.names:
        msg = "seed_dag must be a DAG over the variables of the data, in their order."
        raise ParameterError(msg)
    if not rules.holds(seed_dag):
        msg = "seed_dag breaks the constraints or max_parents. Pass another DAG."
        raise ParameterError(msg)
    return [list(parents) for parents in seed_dag.parents]


def can_score_all(
    data: IncompleteData,
    max_parents: int,
    time_limit: float | None = None,
    *,
    most: float = _EXHAUSTIVE_SECONDS,
) -> bool:
    """Tell whether scoring every set takes seconds, judging by sizes alone.

    At most so many as `most`, and a quarter of the time limit; and whether that fits
    into memory.
    """
    seconds = scoring_seconds(data, max_parents)
    if seconds > min(most, (time_limit or np.inf) / 4):
        return False
    return scoring_memory(data.n_vars, max_parents) <= room_within() / 2


def scoring_memory(n_vars: int, max_parents: int) -> float:
    """Count the bytes that are remembered of sets while all of them are scored.

    Examples
    --------
    >>> round(scoring_memory(37, 3))
    336120
    """
    most = min(max_parents, n_vars - 1)
    # A value and how many cells occur; of smaller sets a score and a mark per child.
    n_bytes = 12.0 * comb(n_vars, max(most, 0))
    return n_bytes + (12.0 + 9.0 * n_vars) * sum(comb(n_vars, k) for k in range(most))


def _check_memory(n_vars: int, max_parents: int) -> None:
    needed = scoring_memory(n_vars, max_parents)
    if needed > 0.9 * available_memory():
        msg = (
            f"scoring all sets of up to {max_parents} parents among {n_vars} variables"
            f" needs about {needed / 1e9:.3g} GB. Use search='promising', or a smaller"
            f" {spell('max_parents')}."
        )
        raise ParameterError(msg)


def _sets_that_fit(scorer: FamilyScorer, max_sets: int | None, most: int) -> int:
    """Return how many sets to score for each variable within memory."""
    room, n_vars = room_within() / 2, max(scorer.data.n_vars, 1)
    if room == np.inf:
        return max_sets or most
    n_threads = scorer.n_threads or _core.n_cores()
    each = n_vars * _BYTES_PER_CANDIDATE + n_threads * _BYTES_PER_SET
    if max_sets is not None and max_sets * each > room:
        msg = (
            f"{spell('max_sets', max_sets)} sets for each of {n_vars} variables need"
            f" {max_sets * each / 1e6:.3g} MB, and {room / 1e6:.3g} MB are left for"
            f" them. Ask for fewer, or raise {spell('max_memory')}."
        )
        raise ParameterError(msg)
    return max_sets or max(1, min(most, int(room / each)))


def scoring_seconds(data: IncompleteData, max_parents: int) -> float:
    """Estimate the seconds that scoring every set takes, judging by sizes alone."""
    n_tables = sum(comb(data.n_vars, size) for size in range(max_parents + 2))
    return n_tables * _seconds_per_table(data)


def sets_within(data: IncompleteData, seconds: float) -> int:
    """Return how many sets per variable are scored in so many seconds, or thereabouts.

    Judged by sizes alone; as many as there are single parents at least.
    """
    n_sets = int(seconds / (data.n_vars * _seconds_per_table(data)))
    return min(max(n_sets, data.n_vars), _MAX_SETS)


def _seconds_per_table(data: IncompleteData) -> float:
    return 0.3e-6 + 0.4e-9 * data.n_rows
