"""The front door for complete data: a table in, a structure out."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from bayesmend._clock import Clock, Progress, limited_memory, room_within
from bayesmend._entrance import entrance
from bayesmend._files import PathLike
from bayesmend._link import lend, linked
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData, require_complete, require_rows
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.network.network import Network
from bayesmend.outcome import TOLERANCE, Certificate, Stopped
from bayesmend.proofs import check_certificate
from bayesmend.score import Ess, FamilyScorer, Prior, Score
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.candidates import can_score_all, candidates_from
from bayesmend.structure.ess import choose_rule
from bayesmend.structure.greedy import RESTARTS, climb_from
from bayesmend.structure.order import PATIENCE, solve_order
from bayesmend.structure.others import NEAR, Other, tell_others
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.proof import certify_table
from bayesmend.structure.solution import Solution
from bayesmend.structure.solve import (
    Solver,
    check_gap,
    check_solver,
    choose_solver,
    solve,
)

__all__ = ["StructureResult", "learn_structure"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StructureResult(Solution):
    """A structure learned from complete data.

    Parameters
    ----------
    network : Network
        The structure with parameters (Dirichlet posterior mean).
    bound : float
        No structure within `max_parents` and the constraints scores higher; infinity
        where nothing is known.
    detail : mapping
        Candidate sets, and what the solver has to tell.
    dag, solver, score, certificate, stopped, chosen, seconds
        As in `Solution`; the time is that of everything, candidate sets included.
    """

    network: Network


@entrance
@limited_memory
def learn_structure(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: Ess = None,
    prior: Prior | None = None,
    max_parents: int = 3,
    solver: Solver = "auto",
    constraints: ConstraintsLike = None,
    max_sets: int | None = None,
    gap: float | None = None,
    certificate: PathLike | None = None,
    time_limit: float | None = None,
    max_memory: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    client: Any = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> StructureResult:
    """Learn the structure of a network from complete data.

    Among structures whose tables of probabilities have at most 2^26 entries each: no
    network could be used with larger ones.

    Parameters
    ----------
    {complete_data, score, auto_ess, prior, max_parents}
    solver : {"auto", "subsets", "ilp", "order", "greedy"} or callable, default="auto"
        As in `solve`; ``greedy`` climbs directly on the data.
    {constraints}
    max_sets : int, optional
        Where there are too many parent sets to score them all: how many to score per
        variable.
    {gap, certificate, time_limit}
    {own_memory}
    {seed, n_threads}
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler. Where there are too many parent sets
        to score them all, its workers score those of some variables each. The answer is
        the same; the table has to be here.
    {progress}
    {reading}

    Returns
    -------
    StructureResult
        Network, score, bound and status.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(1000, seed=1)
    >>> result = bm.learn_structure(data)
    >>> result.status, result.solver
    ('optimal', 'subsets')
    """
    progress = told(progress)
    clock = Clock(time_limit)
    check_solver(solver)
    check_gap(gap, solver)
    check_certificate(certificate)
    if solver == "greedy" and max_sets is not None:
        msg = (
            f"{spell('max_sets', max_sets)} has no part in {spell('solver', solver)}, "
            "which climbs on the data. Leave one of them out."
        )
        raise ParameterError(msg)
    table = IncompleteData.from_table(data, **reading)
    remedy = "Use learn, which takes tables with missing cells."
    require_complete(table, "learning a structure alone", remedy)
    require_rows(table)
    rules = Constraints.of(constraints).rules(table.names, max_parents=max_parents)
    rule, told_of_ess = choose_rule(
        table, partial(_climbed, rules=rules), score=score, ess=ess, prior=prior
    )
    # Without one, what was lent to the caller stays at hand.
    there = nullcontext() if client is None else linked(client)
    with there as link, nullcontext() if link is None else lend(link):
        found = find_structure(
            FamilyScorer(table, score=rule, constraints=rules, n_threads=n_threads),
            rules,
            solver=solver,
            max_sets=max_sets,
            gap=gap,
            certificate=certificate,
            time_limit=clock.left,
            seed=seed,
            progress=progress,
        )
    network = Network.fit(found.dag, table, estimate="posterior", ess=rule.ess)
    return StructureResult(
        dag=found.dag,
        network=network,
        score=found.score,
        bound=found.bound,
        certificate=found.certificate,
        met=found.met,
        stopped=found.stopped,
        chosen=found.chosen,
        solver=found.solver,
        seconds=clock.seconds,
        detail={**found.detail, **told_of_ess},
        certificate_file=found.certificate_file,
    )


def _climbed(table: IncompleteData, rule: Score, *, rules: ParentRules) -> Network:
    """Learn a network quickly, by one climb."""
    scorer = FamilyScorer(table, score=rule, constraints=rules, n_threads=1)
    dag = climb_from(scorer, rules, restarts=0, seed=0).dag
    return Network.fit(dag, table, estimate="posterior", ess=rule.ess)


def find_structure(
    scorer: FamilyScorer,
    rules: ParentRules,
    *,
    solver: Solver,
    max_sets: int | None = None,
    gap: float | None = None,
    certificate: PathLike | None = None,
    time_limit: float | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    settles: bool = False,
) -> Solution:
    """Find a structure for whatever a scorer counts.

    A search that ``settles`` ends when it gains no more, as without a time limit.
    """
    clock, generator = Clock(time_limit), as_generator(seed)
    # No network could hold larger ones.
    scorer.core.limit_tables(room_within(), passes_by_larger=True)
    search = _Search(scorer, rules, gap, clock, generator, progress, settles)
    found = search.run(solver, max_sets)
    if certificate is None:
        return found
    found = replace(found, seconds=clock.seconds)
    return certify_table(
        certificate, scorer, rules, found, clock=clock, progress=progress
    )


@dataclass(frozen=True, slots=True)
class _Search:
    scorer: FamilyScorer
    rules: ParentRules
    gap: float | None
    clock: Clock
    seed: Any
    progress: Progress | None
    settles: bool = False

    def run(self, solver: Solver, max_sets: int | None) -> Solution:
        if solver == "greedy":
            return self._climb(None, self.clock.left)
        # A fast first answer: it leads best-first candidates, and starts the others.
        first = self._climb(None, self._share(0.2))
        if first.stopped is Stopped.INTERRUPT or self.clock.is_over:
            return _only_climbed(first, first.stopped)
        is_complete = self._scores_all(max_sets)
        try:
            parent_sets = self._candidates(first.dag, is_complete, max_sets)
        except KeyboardInterrupt:
            return _only_climbed(first, Stopped.INTERRUPT)
        detail: dict[str, Any] = {
            "candidates": "all" if is_complete else "promising",
            "candidate_sets": parent_sets.n_sets,
        }
        chosen = None
        if solver == "auto" and not is_complete:
            # A proof about a part of the candidates would prove nothing.
            solver = "order"
            chosen = "order: too many parent sets to score them all"
        try:
            found = self._solve(
                parent_sets,
                solver,
                self.gap if is_complete else None,
                self.clock.left if is_complete else self._share(0.6),
                first.dag,
            )
        except KeyboardInterrupt:  # in a callable, or between two steps of a solver
            return _only_climbed(first, Stopped.INTERRUPT)
        met = [*first.met, Other(first.score, first.dag)]
        if not is_complete:
            found = _without_proof(found)
            if solver == "order":
                found = self._polish(found)
                met += found.met
        detail |= tell_others(found.dag, found.score, met)
        return replace(
            found,
            met=tuple(other for other in met if other.score > found.score - NEAR),
            chosen=chosen or found.chosen,
            detail={**found.detail, **detail},
        )

    def _solve(
        self,
        parent_sets: ParentSets,
        solver: Solver,
        gap: float | None,
        time_limit: float | None,
        start: Dag,
    ) -> Solution:
        how: dict[str, Any] = {
            "time_limit": time_limit,
            "start": start,
            "seed": self.seed,
            "n_threads": self.scorer.n_threads,
            "progress": self.progress,
        }
        name = solver
        if name == "auto":
            name, _ = choose_solver(parent_sets.n_vars, parent_sets.n_sets)
        if self.settles and name == "order":
            return solve_order(parent_sets, patience=PATIENCE, **how)
        return solve(parent_sets, solver=solver, gap=gap, **how)

    def _climb(self, start: Dag | None, time_limit: float | None) -> Solution:
        return climb_from(
            self.scorer,
            self.rules,
            start=start,
            restarts=RESTARTS,
            time_limit=time_limit,
            seed=self.seed,
            progress=self.progress,
        )

    def _polish(self, found: Solution) -> Solution:
        """Climb on from an answer, through parent sets that were no candidates.

        With a time limit again and again, for as long as that gains.
        """
        if found.stopped is Stopped.INTERRUPT:
            return found
        climbed = self._climb(found.dag, self.clock.left)
        reached = found.score
        while (
            self.clock.left is not None
            and not climbed.stopped
            and climbed.score > reached + TOLERANCE
        ):
            reached = climbed.score
            climbed = self._climb(climbed.dag, self.clock.left)
        return replace(
            found,
            dag=climbed.dag,
            score=climbed.score,
            met=climbed.met,
            stopped=climbed.stopped or found.stopped,
            detail={**found.detail, "polished": climbed.score - found.score},
        )

    def _share(self, part: float) -> float | None:
        left = self.clock.left
        return None if left is None else part * left

    def _scores_all(self, max_sets: int | None) -> bool:
        if max_sets is not None:
            return False
        data, most_parents = self.scorer.data, int(self.rules.limit.max())
        return can_score_all(data, most_parents, self.clock.left)

    def _candidates(
        self, seed_dag: Dag, is_complete: bool, max_sets: int | None
    ) -> ParentSets:
        if self.progress is not None:
            self.progress("candidate parent sets", -float("inf"), self.clock.seconds)
        if is_complete:
            return candidates_from(self.scorer, self.rules, search="all")
        return candidates_from(
            self.scorer,
            self.rules,
            search="promising",
            max_sets=max_sets,
            # The search over orders needs its share too.
            time_limit=self._share(0.4),
            seed_dag=seed_dag,
        )


def _only_climbed(first: Solution, stopped: Stopped) -> Solution:
    detail = {**first.detail, "reached": "hill climbing"}
    return replace(first, stopped=stopped, detail=detail)


def _without_proof(found: Solution) -> Solution:
    """Keep a proof that concerns a part of the candidates from being taken for one."""
    return replace(
        found,
        bound=float("inf"),
        certificate=Certificate.HEURISTIC,
        detail={**found.detail, "among_candidates": found.certificate.value},
    )
