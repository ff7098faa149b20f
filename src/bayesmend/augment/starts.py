"""Completions from which a local search starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayesmend.augment.problem import Completion, PatternProblem
from bayesmend.columns import MISSING
from bayesmend.data import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.network import Network
from bayesmend.score import FamilyScorer
from bayesmend.structure.greedy import climb_from

__all__ = ["Start", "list_starts"]

Start = Literal["mode", "em", "draws"]

# Beyond this many joint completions of patterns, expectation-maximisation is left out.
_MAX_EXPANDED = 200_000
_MAX_STEPS = 5


def list_starts(
    problem: PatternProblem,
    *,
    restarts: int,
    starts: Sequence[Start],
    given: IncompleteData | None,
    generator: np.random.Generator,
) -> NDArray[np.uint8]:
    """List completions to start from, one per row.

    Parameters
    ----------
    problem : PatternProblem
        The problem.
    restarts : int
        Number of draws from the observed marginals, where ``draws`` is among `starts`.
    starts : tuple of {"mode", "em", "draws"}
        Which kinds to use.
    given : IncompleteData or None
        A completion of the user's, which comes first.
    generator : Generator
        Source of the draws.
    """
    if not isinstance(starts, tuple | list):
        msg = f"starts must be a tuple of names. Got {starts!r} instead."
        raise ParameterError(msg)
    unknown = sorted(set(starts) - {"mode", "em", "draws"})
    if unknown:
        msg = f"starts must be among mode, em, draws. Got {unknown[0]!r} instead."
        raise ParameterError(msg)
    found: list[Completion] = []
    if given is not None:
        found.append(problem.completion_of(given))
    frequencies = _frequencies(problem)
    if "mode" in starts:
        found.append(_mode(problem, frequencies))
    if "em" in starts:
        expected = _expected(problem, _mode(problem, frequencies))
        if expected is not None:
            found.append(expected)
    if "draws" in starts:
        flat = [np.full(len(share), 1 / len(share)) for share in frequencies]
        # Every second draw is uniform: values may be missing because they are rare.
        found += [
            _draw(problem, flat if number % 2 else frequencies, generator)
            for number in range(restarts)
        ]
    if not found:
        msg = "there is no start. Name at least one of mode, em, draws in starts."
        raise ParameterError(msg)
    return _distinct(found)


def _distinct(found: list[Completion]) -> NDArray[np.uint8]:
    kept: dict[bytes, Completion] = {}
    for completion in found:
        kept.setdefault(completion.tobytes(), completion)
    return np.ascontiguousarray(np.stack(list(kept.values())))


def _frequencies(problem: PatternProblem) -> list[NDArray[np.float64]]:
    """Observed shares of the states; equal ones where nothing is observed."""
    data = problem.data
    shares = []
    for v, card in enumerate(data.card):
        column = data.codes[:, v]
        seen = column != MISSING
        weights = None if data.weights is None else data.weights[seen]
        counts = np.bincount(column[seen], weights, minlength=int(card)).astype(float)
        total = counts.sum()
        shares.append(counts / total if total > 0 else np.full(int(card), 1 / card))
    return shares


def _mode(problem: PatternProblem, shares: list[NDArray[np.float64]]) -> Completion:
    modes = np.array([share.argmax() for share in shares], np.uint8)
    return modes[problem.variable]


def _draw(
    problem: PatternProblem,
    shares: list[NDArray[np.float64]],
    generator: np.random.Generator,
) -> Completion:
    drawn = np.zeros(problem.n_cells, np.uint8)
    for v, share in enumerate(shares):
        cells = np.flatnonzero(problem.variable == v)
        drawn[cells] = generator.choice(len(share), size=len(cells), p=share)
    return drawn


def _expected(problem: PatternProblem, mode: Completion) -> Completion | None:
    """Most probable completion after expectation-maximisation of the parameters.

    The structure is the one that hill climbing finds in the mode completion; every
    joint completion of a pattern gets its posterior share of the pattern's rows.
    """
    joint = _expand(problem)
    if joint is None:
        return None
    rows, owner = joint
    scorer = FamilyScorer(problem.completed(mode), score=problem.score, n_threads=1)
    dag = climb_from(scorer, problem.rules, restarts=0, seed=0).dag
    data, n_complete = problem.data, problem.columns.shape[1]
    codes = np.asfortranarray(np.concatenate([problem.columns.T, rows]))
    table = IncompleteData.from_codes(codes, names=data.names, states=data.states)
    sizes = np.bincount(owner, minlength=len(problem.weight))
    share = 1.0 / sizes[owner]
    total = -np.inf
    for _ in range(_MAX_STEPS):
        weights = np.ones(len(codes))
        weights[n_complete:] = share * problem.weight[owner]
        weighted = IncompleteData.from_codes(
            codes, names=data.names, states=data.states, weights=weights
        )
        network = Network.fit(dag, weighted, method="posterior", ess=1.0)
        logs = network.log_likelihood(table, n_threads=1)
        share, evidence = _posterior(logs[n_complete:], owner, len(problem.weight))
        now = float(logs[:n_complete].sum() + problem.weight @ evidence)
        if now < total + 1e-3:
            break
        total = now
    return _most_probable(problem, rows, owner, share)


def _expand(
    problem: PatternProblem,
) -> tuple[NDArray[np.uint8], NDArray[np.intp]] | None:
    """List every joint completion of every pattern, and whose it is."""
    card = problem.data.card
    rows, owners, total = [], [], 0
    for p, row in enumerate(problem.codes):
        holes = np.flatnonzero(row == MISSING)
        n_states = int(np.prod(card[holes], dtype=np.float64).clip(max=1e9))
        total += n_states
        if total > _MAX_EXPANDED:
            return None
        expanded = np.repeat(row[None, :], n_states, axis=0)
        grid = np.unravel_index(np.arange(n_states), tuple(card[holes]))
        expanded[:, holes] = np.stack(grid, axis=1)
        rows.append(expanded)
        owners.append(np.full(n_states, p))
    if not rows:
        return None
    return np.concatenate(rows), np.concatenate(owners)


def _posterior(
    logs: NDArray[np.float64], owner: NDArray[np.intp], n_patterns: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Share of each joint completion in its pattern, and the log of their sum."""
    most = np.full(n_patterns, -np.inf)
    np.maximum.at(most, owner, logs)
    raw = np.exp(logs - most[owner])
    sums = np.bincount(owner, raw, minlength=n_patterns)
    return raw / sums[owner], most + np.log(sums)


def _most_probable(
    problem: PatternProblem,
    rows: NDArray[np.uint8],
    owner: NDArray[np.intp],
    share: NDArray[np.float64],
) -> Completion:
    # The last of a stable sort by (pattern, share) is the largest share of each.
    order = np.lexsort((-np.arange(len(owner)), share, owner))
    last = np.append(owner[order][1:] != owner[order][:-1], True)
    best: Completion = rows[order[last]][problem.pattern, problem.variable]
    return best
