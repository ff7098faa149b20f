"""The proof of a structure's bound as a file: cuts, and a tree with multipliers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from bayesmend._clock import Clock, Progress
from bayesmend._files import PathLike
from bayesmend.graph.constraints import ParentRules
from bayesmend.outcome import TOLERANCE, Outcome, Stopped
from bayesmend.proofs import problem_of, write_no_proof, write_proof
from bayesmend.score import FamilyScorer
from bayesmend.structure.candidates import can_score_all, candidates_from
from bayesmend.structure.cuts import Cluster, Cut, Proof
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.problem import Problem

__all__ = ["certify_candidates", "certify_table"]

_Found = TypeVar("_Found", bound=Outcome)

_MOST_NODES = 20_000
_LEAST_SECONDS, _TIMES = (
    60.0,
    10.0,
)  # without a time limit: so long, so often the search
_CHECKED = ("bdeu", "k2", "bic", "aic", "loglik")
_ROOM = TOLERANCE / 2  # of the tolerance, what multipliers that are rounded may take


def certify_table(
    path: PathLike,
    scorer: FamilyScorer,
    rules: ParentRules,
    found: _Found,
    *,
    clock: Clock,
    parent_sets: ParentSets | None = None,
    progress: Progress | None = None,
) -> _Found:
    """Write why no structure over a complete table scores above the bound.

    Parameters
    ----------
    path : path
        Where to.
    scorer : FamilyScorer
        Scores the table.
    rules : ParentRules
        What parents are allowed.
    found : Outcome
        What was found, with its bound.
    clock : Clock
        Of the whole search; what it leaves is spent at most.
    parent_sets : ParentSets, optional
        All candidates, where they are known.
    progress : callable, optional
        As everywhere.

    Returns
    -------
    Outcome
        What was found, with the file; stopped where Ctrl-C came meanwhile.
    """
    if scorer.score.kind not in _CHECKED:
        reason = f"the score {scorer.score.kind} cannot be checked yet."
        return _without(found, path, reason)
    if parent_sets is None and not math.isinf(found.bound):
        if not can_score_all(scorer.data, int(rules.limit.max()), clock.left):
            reason = "there are too many parent sets to score them all."
            return _without(found, path, reason)
        parent_sets = candidates_from(scorer, rules, search="all")
    about = {"problem": problem_of(scorer.data, scorer.score, rules)}
    return _write(path, about, parent_sets, found, clock, progress)


def certify_candidates(
    path: PathLike,
    parent_sets: ParentSets,
    found: _Found,
    *,
    clock: Clock,
    progress: Progress | None = None,
) -> _Found:
    """Write why no structure made of candidates scores above the bound."""
    about = {"candidates": list(parent_sets.names)}
    return _write(path, about, parent_sets, found, clock, progress)


def _write(
    path: PathLike,
    about: dict[str, Any],
    parent_sets: ParentSets | None,
    found: _Found,
    clock: Clock,
    progress: Progress | None,
) -> _Found:
    if math.isinf(found.bound) or parent_sets is None:
        return _without(found, path, "no bound was found.")
    if found.stopped is Stopped.INTERRUPT:
        return _without(found, path, "the search was interrupted.")
    if not parent_sets.n_vars:
        nodes: list[Any] = [[None, None, None, None, [], []]]
        content = {**about, "bound": found.bound, "cuts": [], "nodes": nodes}
        written = write_proof(path, "structure", content)
        return replace(found, certificate_file=written)
    try:
        proof, bound = _prove(parent_sets, found, clock, progress)
    except KeyboardInterrupt:
        # The answer is whole, but whoever called has to stop all the same.
        found = replace(found, stopped=Stopped.INTERRUPT)
        return _without(found, path, "the search for it was interrupted.")
    except ImportError as error:
        return _without(found, path, f"it takes pyscipopt ({error}).")
    if proof.failure is not None:
        return _without(found, path, f"{proof.failure}.")
    content = {**about, "bound": bound, **_tree(proof)}
    return replace(found, certificate_file=write_proof(path, "structure", content))


def _without(found: _Found, path: PathLike, reason: str) -> _Found:
    return replace(found, certificate_file=write_no_proof(path, reason))


def _prove(
    parent_sets: ParentSets, found: Outcome, clock: Clock, progress: Progress | None
) -> tuple[Proof, float]:
    """Look for multipliers that prove the bound, or all but equal it."""
    from bayesmend.structure.dual import find_multipliers

    bound = max(found.bound, found.score + _ROOM)
    problem = Problem.from_parent_sets(parent_sets)
    top = math.fsum(problem.scores[problem.offsets[:-1]].tolist())
    least_loss = top - bound
    if least_loss > 0:
        problem = problem.select(problem.losses <= least_loss + TOLERANCE)

    def tell(n_nodes: int) -> None:
        if progress is not None:
            stage = f"proof for others, {n_nodes:,} nodes"
            progress(stage, found.score, clock.seconds, bound=bound)

    seconds = clock.left
    if seconds is None:
        seconds = max(_LEAST_SECONDS, _TIMES * found.seconds)
    proof = find_multipliers(
        problem, least_loss, max_nodes=_MOST_NODES, seconds=seconds, tell=tell
    )
    return proof, bound


def _tree(proof: Proof) -> dict[str, Any]:
    """Return cuts and nodes in plain types, without the cuts that no node needs."""
    needed = np.zeros(len(proof.cuts), np.bool_)
    for node in proof.nodes:
        needed[list(node.cuts)] = True
    for number in range(len(proof.cuts) - 1, -1, -1):
        if needed[number]:
            needed[list(_ingredients(proof.cuts[number]))] = True
    place = (np.cumsum(needed) - 1).tolist()
    cuts = [
        _plain(cut, place) for cut, used in zip(proof.cuts, needed, strict=True) if used
    ]
    nodes = [
        [
            node.parent,
            *((None, None) if node.arc is None else node.arc),
            None if node.arc is None else int(node.is_present),
            [place[number] for number in node.cuts],
            list(node.multipliers),
        ]
        for node in proof.nodes
    ]
    return {"cuts": cuts, "nodes": nodes}


def _ingredients(cut: Cut) -> tuple[int, ...]:
    return () if isinstance(cut.origin, Cluster) else cut.origin.cuts


def _plain(cut: Cut, place: list[int]) -> list[Any]:
    if isinstance(cut.origin, Cluster):
        return [list(cut.origin.members)]
    variables = [variable for variable, _ in cut.origin.multiples]
    times = [number for _, number in cut.origin.multiples]
    return [[place[k] for k in cut.origin.cuts], variables, times]
