"""How much work a search takes, judged by the sizes of a table alone.

Work is counted, not timed, so that what is decided by it is the same on any machine and
for any number of threads.
"""

from __future__ import annotations

from math import comb, inf

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.learning.em.search import SCORING_SECONDS
from bayesmend.learning.em.starts import STARTS, Start
from bayesmend.structure.candidates import scoring_seconds

__all__ = ["EM_RESTARTS", "PROOF_WORK", "em_effort", "proof_work", "suits_ensemble"]

PROOF_WORK = 1e8
"""What `auto` spends on a proof: at most half a second before it branches, and after.

In entries of tables that the core reads or writes, at some 4 ns each.
"""

EM_RESTARTS = 10
"""Restarts of expectation-maximisation, unless the table is large."""

# From so many variables on, a dynamic programme over them takes longer than the scores.
_MANY_VARS = 15
# A step of a dynamic programme, and a row that is counted, in entries of tables.
_PROGRAM_STEP, _ROW = 0.25, 0.5
# Best structures on the way of one climb.
_CLIMB_STEPS = 5

# Restarts are paid for in pairs of variables, counted in each distinct row; a pair of
# missing cells is spread over its states, which takes so many times as long.
_MISSING_PAIR = 300
_ALL_PAIRS = 1e8
# What a restart adds that scores as many candidates as it may; not all of them do.
_SCORING_PAIRS, _USUAL_PARENTS = 2e7, 3
# An ensemble of so many takes some ten seconds of a core.
_ENSEMBLE_PAIRS = 1e7
# With fewer observed cells there is nothing to weigh its members by.
_ENSEMBLE_CELLS = 500


def proof_work(data: IncompleteData, *, max_parents: int, n_starts: int) -> float:
    """Estimate what a search for a proof does before it branches.

    It scores every family for every start, and for every value that a missing cell
    could take instead. Missing cells of rows that are alike are decided as one.
    """
    n_vars = data.n_vars
    card: list[int] = data.card.tolist()
    if n_vars > 30:
        return inf
    most = min(max_parents + 1, n_vars)
    sums = [1.0] + [0.0] * most  # of the products of so many cards
    for states in card:
        for size in range(most, 0, -1):
            sums[size] += sums[size - 1] * states
    n_sets = sum(comb(n_vars, size) for size in range(most + 1))
    tables = sum(size * sums[size] for size in range(1, most + 1))
    program = float(_PROGRAM_STEP * n_vars * 2.0 ** (n_vars - 1))
    patterns = data.patterns()
    is_missing = patterns.codes[patterns.incomplete] == MISSING
    n_missing: list[int] = is_missing.sum(axis=0).tolist()
    n_flips = sum(n * (states - 1) for n, states in zip(n_missing, card, strict=True))
    per_flip = tables * most / max(n_vars, 1)
    checked = n_starts
    if n_vars >= _MANY_VARS:
        per_flip, checked = per_flip + program, 1
    return (
        _ROW * n_sets * len(patterns.complete)
        + 8.0 * tables
        + n_starts * _CLIMB_STEPS * (tables + program)
        + checked * n_flips * per_flip
    )


def em_effort(data: IncompleteData) -> tuple[tuple[Start, ...], int]:
    """Return the starts and the number of restarts of EM that `auto` takes.

    All of them for small tables; the fewer restarts the more pairs of variables and of
    missing cells there are to be counted, and the more candidates to be scored; two
    starts where the former leave no restart.
    """
    pairs = max(_pairs(data), 1.0)
    if pairs > _ALL_PAIRS:
        return ("complete", "random"), 0
    share = min(scoring_seconds(data, _USUAL_PARENTS) / SCORING_SECONDS, 1.0)
    restarts = int(_ALL_PAIRS // (pairs + share * _SCORING_PAIRS))
    return STARTS, min(EM_RESTARTS, max(restarts, 1))


def suits_ensemble(data: IncompleteData) -> bool:
    """Tell whether an ensemble takes seconds, and has enough cells to learn from."""
    n_observed = data.n_rows * data.n_vars - data.n_missing
    return n_observed >= _ENSEMBLE_CELLS and _pairs(data) <= _ENSEMBLE_PAIRS


def _pairs(data: IncompleteData) -> float:
    """Count pairs of variables in distinct rows, those of missing cells for more."""
    patterns = data.patterns()
    pairs = float(patterns.n_patterns) * data.n_vars**2
    missing = float((patterns.n_missing.astype(float) ** 2).sum())
    return pairs + _MISSING_PAIR * missing
