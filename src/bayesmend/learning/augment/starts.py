"""Completions from which a local search starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checkpoint import Kept
from bayesmend._clock import Clock, limited_calls
from bayesmend._spelling import spell
from bayesmend.data.table import IncompleteData
from bayesmend.errors import InferenceError, ParameterError
from bayesmend.learning.augment.problem import Completion, PatternProblem
from bayesmend.learning.em import complete_by_em
from bayesmend.learning.examples import complete_by_examples
from bayesmend.learning.starts import check_starts, observed_shares
from bayesmend.score import Score

__all__ = ["Start", "first_start", "list_starts", "usual_starts"]

Start = Literal["mode", "examples", "em", "random"]


def usual_starts(score: Score) -> tuple[Start, ...]:
    """Return the kinds of starts that always pay.

    Where rows without an example cost something, a search needs a start that has
    examples: it will not find its way from one that has none.
    """
    return ("examples", "mode", "random") if score.support > 0 else ("mode", "random")


_MOST_CELLS = 10**7  # of all random starts; beyond, they take minutes and gigabytes
_CELLS_AT_ONCE = 10**6  # drawn without a look at the clock


def list_starts(
    problem: PatternProblem,
    *,
    restarts: int,
    starts: Sequence[Start],
    given: IncompleteData | None,
    generator: np.random.Generator,
    time_limit: float | None = None,
    kept: Kept | None = None,
) -> NDArray[np.uint8]:
    """List completions to start from, one per row.

    Parameters
    ----------
    problem : PatternProblem
        The problem.
    restarts : int
        Number of draws from the observed marginals, where ``random`` is among `starts`.
    starts : tuple of {"mode", "examples", "em", "random"}
        Which kinds to use.
    given : IncompleteData or None
        A completion of the user's, which comes first.
    generator : Generator
        Source of the draws.
    time_limit : float, optional
        Seconds left for the search as a whole; ``em`` may take half of them, draws end
        where half are over, and what has no time for examples takes modes.
    kept : Kept, optional
        Where the one by ``em`` is kept.
    """
    clock = Clock(None if time_limit is None else time_limit / 2)
    check_starts(starts, get_args(Start))
    found: list[Completion] = []
    if given is not None:
        found.append(problem.completion_of(given))
    frequencies = observed_shares(problem.data)
    if "em" in starts:
        expected = _expected(problem, time_limit, kept or Kept())
        if expected is not None:
            found.append(expected)
    if "examples" in starts:
        most = int(problem.rules.limit.max(initial=0))
        try:
            with limited_calls(clock.left):
                completed = complete_by_examples(problem.data, most)
            found.append(problem.completion_of(completed))
        except TimeoutError:
            found.append(_mode(problem, frequencies))
    if "mode" in starts:
        found.append(_mode(problem, frequencies))
    if "random" in starts:
        if restarts * max(problem.n_cells, 1) > _MOST_CELLS:
            msg = (
                f"{spell('restarts', restarts)} starts of {problem.n_cells:,} cells "
                f"are more than {_MOST_CELLS:,} cells in all. Ask for fewer."
            )
            raise ParameterError(msg)
        found += _draw_in_time(problem, frequencies, restarts, generator, clock)
    if not found:
        names = ", ".join(get_args(Start))
        msg = f"there is no start. Name at least one of {names} in starts."
        raise ParameterError(msg)
    return _distinct(found)


def first_start(
    problem: PatternProblem, given: IncompleteData | None
) -> NDArray[np.uint8]:
    """Return a completion that is known without any search, as the one row."""
    return list_starts(
        problem,
        restarts=0,
        starts=("mode",) if given is None else (),
        given=given,
        generator=np.random.default_rng(0),  # of no use
    )


def _distinct(found: list[Completion]) -> NDArray[np.uint8]:
    kept: dict[bytes, Completion] = {}
    for completion in found:
        kept.setdefault(completion.tobytes(), completion)
    return np.ascontiguousarray(np.stack(list(kept.values())))


def _mode(problem: PatternProblem, shares: list[NDArray[np.float64]]) -> Completion:
    modes = np.array([share.argmax() for share in shares], np.uint8)
    return modes[problem.variable]


def _draw_in_time(
    problem: PatternProblem,
    shares: list[NDArray[np.float64]],
    restarts: int,
    generator: np.random.Generator,
    clock: Clock,
) -> list[Completion]:
    """Draw completions, fewer where there is no time for more."""
    drawn: dict[bytes, Completion] = {}
    at_once = max(2, _CELLS_AT_ONCE // max(problem.n_cells, 1) // 2 * 2)
    for first in range(0, restarts, at_once):
        n_draws = min(at_once, restarts - first)
        for completion in _draw(problem, shares, n_draws, generator):
            # A copy: a row of many would keep all of them in memory.
            drawn.setdefault(completion.tobytes(), completion.copy())
        if clock.is_over:
            break
    return list(drawn.values())


def _draw(
    problem: PatternProblem,
    shares: list[NDArray[np.float64]],
    n_draws: int,
    generator: np.random.Generator,
) -> NDArray[np.uint8]:
    drawn = np.zeros((n_draws, problem.n_cells), np.uint8)
    for v, share in enumerate(shares):
        cells = np.flatnonzero(problem.variable == v)
        chance = generator.random((n_draws, len(cells)))
        codes = np.searchsorted(np.cumsum(share)[:-1], chance, side="right")
        # Every second draw is uniform: values may be missing because they are rare.
        codes[1::2] = chance[1::2] * len(share)
        drawn[:, cells] = codes
    return drawn


def _expected(
    problem: PatternProblem, time_limit: float | None, kept: Kept
) -> Completion | None:
    """Find the most probable completion under the network of a short structural EM.

    None where exact inference would take too much memory.
    """
    clock = Clock(None if time_limit is None else time_limit / 2)

    def complete() -> Completion | None:
        try:
            completed = complete_by_em(
                problem.data,
                problem.score,
                problem.rules,
                time_limit=clock.left,
            )
        except InferenceError:
            return None
        return problem.completion_of(completed)

    found = kept.step("start by em", complete, unless=lambda _: clock.is_over)
    with kept.sound():
        return None if found is None else problem.checked(found)
