"""Completions under a mechanism: what each state of a missing cell tells of why it is.

The mechanism is learned first, by EM, which weighs all completions: a search that chose
it along with a completion would give all missing cells of a variable one state, and
explain perfectly that they are missing. With its probabilities fixed, the logarithm of
the probability that just these cells are missing is a sum over cells, as long as no
indicator has two missing parents in a row: a term for each state of each cell, linear
in the counts. Rows alike are still completed alike, and bounds hold as they do without.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checkpoint import Kept
from bayesmend._clock import Clock, Progress
from bayesmend._spelling import spell
from bayesmend.data.states import MISSING, listing, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import Constraints
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.learning.em import learn_em
from bayesmend.learning.mechanism.given import (
    MechanismLike,
    check_mechanism,
    given_sets,
)
from bayesmend.learning.mechanism.indicators import Indicators
from bayesmend.learning.mechanism.result import LearnedMechanism
from bayesmend.learning.result import LearnResult
from bayesmend.network.mechanism import Mechanism
from bayesmend.outcome import Stopped

__all__ = ["Explained", "explain", "terms_of"]

# Of the time, where it is limited: learning the mechanism may take so much.
_SHARE = 0.5
_LEAST = 1e-300  # probability


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Explained:
    """A problem under the mechanism that was learned for it.

    Parameters
    ----------
    problem : PatternProblem
        The problem, with the terms of the mechanism; as it was without one.
    learned : LearnedMechanism, optional
        What is told of it; None when it was not asked for.
    mechanism : Mechanism, optional
        Its probabilities, where something was found.
    completed : IncompleteData, optional
        The completion that learning it gave, where something was found; or the best so
        far where no search is to follow.
    stopped : Stopped
        What ended the learning of it early.
    note : str, optional
        What else is to be told.
    """

    problem: PatternProblem
    learned: LearnedMechanism | None = None
    mechanism: Mechanism | None = None
    completed: IncompleteData | None = None
    stopped: Stopped = Stopped.NOTHING
    note: str | None = None

    def told(self, result: LearnResult) -> LearnResult:
        """Add what was learned to the answer of a search."""
        if self.learned is None:
            return result
        detail = dict(result.detail)
        if self.stopped:
            detail["mechanism_stopped"] = self.stopped.words
        if self.note is not None:
            detail["mechanism_note"] = self.note
        network = replace(result.network, mechanism=self.mechanism)
        return replace(result, network=network, mechanism=self.learned, detail=detail)


def explain(
    problem: PatternProblem,
    mechanism: MechanismLike,
    most: int,
    *,
    constraints: Constraints,
    max_parents: int,
    clock: Clock,
    generator: np.random.Generator,
    n_threads: int,
    progress: Progress | None,
    kept: Kept,
) -> Explained:
    """Learn why cells are missing, and what that says of the states they hold."""
    data = problem.data
    check_mechanism(mechanism, most, data.names)
    if mechanism == "ignore":
        return Explained(problem)
    if problem.n_cells == 0:
        return Explained(problem, LearnedMechanism(()))
    if not isinstance(mechanism, str):
        _check_given(data, mechanism)
    # Another stream of numbers: the starts of the search are those it has without.
    how: dict[str, Any] = {
        "score": problem.score,
        "max_parents": max_parents,
        "constraints": constraints,
        "mechanism": mechanism,
        "seed": generator.spawn(1)[0],
        "n_threads": n_threads,
        "progress": progress,
    }
    part, note = clock.part(_SHARE), None
    found = learn_em(
        data,
        **how,
        max_mechanism_parents=most,
        time_limit=part.left,
        checkpoint=kept.part("mechanism") if kept.is_kept else None,
    )
    rule = found.network.mechanism
    if rule is not None and not found.stopped and _tangled(data, rule):
        note = (
            "two parents of an indicator are missing in one row: the mechanism was "
            "learned again with one parent each"
        )
        found = learn_em(
            data,
            **how,
            max_mechanism_parents=1,
            time_limit=part.left,
            checkpoint=kept.part("mechanism of one") if kept.is_kept else None,
        )
        rule = found.network.mechanism
    if rule is None or _tangled(data, rule):
        learned = found.mechanism if rule is None else None
        if learned is None:
            note = "no time for a mechanism whose indicators have one parent each"
            learned = LearnedMechanism((), note=note)
        was_asked_to_end = found.stopped is Stopped.INTERRUPT
        return Explained(
            problem,
            learned,
            completed=found.completed if was_asked_to_end else None,
            stopped=found.stopped,
            note=note,
        )
    terms = terms_of(problem, rule)
    return Explained(
        replace(problem, terms=terms),
        found.mechanism,
        rule,
        found.completed,
        found.stopped,
        note,
    )


def terms_of(
    problem: PatternProblem, mechanism: Mechanism
) -> NDArray[np.float64] | None:
    """Return the log-probability of the indicators for each state of each cell.

    Only indicators that depend on the cell count: what others add is the same for all
    completions. None where there is no such indicator.
    """
    data = problem.data
    width = int(data.card[problem.variable].max(initial=1))
    terms = np.zeros((problem.n_cells, width))
    cell_at = np.full(problem.codes.shape, -1, np.intp)
    cell_at[problem.pattern, problem.variable] = np.arange(problem.n_cells)
    for name, parents, cpt in zip(
        mechanism.variables, mechanism.parents, mechanism.cpts, strict=True
    ):
        logs = np.log(np.maximum(cpt, _LEAST))
        is_missing = (problem.codes[:, data.index(name)] == MISSING).astype(np.intp)
        places = [data.index(parent) for parent in parents]
        strides = np.cumprod([1, *(int(data.card[p]) for p in places)])
        known = np.zeros(len(problem.codes), np.intp)
        for p, stride in zip(places, strides.tolist(), strict=False):
            states = problem.codes[:, p].astype(np.intp)
            known += stride * np.where(states == MISSING, 0, states)
        for p, stride in zip(places, strides.tolist(), strict=False):
            rows = np.flatnonzero(problem.codes[:, p] == MISSING)
            if not len(rows):
                continue
            card = int(data.card[p])
            configs = known[rows, None] + stride * np.arange(card)
            terms[cell_at[rows, p], :card] += logs[configs, is_missing[rows, None]]
    return terms if terms.any() else None


def _tangled(data: IncompleteData, mechanism: Mechanism) -> int:
    """Count the rows in which two parents of one indicator are missing."""
    return sum(
        _n_rows_missing_two(data, [data.index(p) for p in parents])
        for parents in mechanism.parents
    )


def _n_rows_missing_two(data: IncompleteData, places: list[int]) -> int:
    return int((data.missing_mask[:, places].sum(axis=1) > 1).sum())


def _check_given(data: IncompleteData, mechanism: MechanismLike) -> None:
    indicators = Indicators.of(data)
    for v, parents in zip(
        indicators.variables, given_sets(mechanism, indicators) or (), strict=True
    ):
        n_rows = _n_rows_missing_two(data, list(parents))
        if n_rows:
            names = listing([repr(data.names[p]) for p in parents])
            msg = (
                f"{spell('mechanism')} gives {data.names[v]!r} the parents {names}, of "
                f"which more than one is missing in {quantity(n_rows, 'row')}. A "
                "search for the best completion can weigh one in a row. Name one of "
                f"them, or use {spell('method', 'em')}."
            )
            raise ParameterError(msg)
