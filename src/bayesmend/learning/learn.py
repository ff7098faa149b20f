"""The front door: an incomplete table in, a network and the mended table out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Unpack, get_args

from bayesmend._checks import (
    check_choice,
    check_goes_with,
    check_integer,
    check_number,
)
from bayesmend._clock import Clock, Progress
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.errors import InferenceError
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.inference.engine import MAX_MEMORY
from bayesmend.learning.augment.exact import learn_exact
from bayesmend.learning.augment.local import EXACT_VARS, learn_local
from bayesmend.learning.em.learn import learn_em
from bayesmend.learning.result import LearnResult
from bayesmend.learning.support import told_of_support
from bayesmend.outcome import Certificate, Stopped
from bayesmend.score import Score
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.solve import Solver, check_solver

__all__ = ["METHODS", "learn"]

Method = Literal["auto", "exact", "local", "em", "em-hard"]
METHODS = get_args(Method)

# What `auto` takes to try for a proof, without a limit.
_AUTO_SECONDS = 60.0
# With more missing cells than both, choosing their best completion makes the data look
# more regular than they are, and `auto` weighs all completions instead. From the
# experiment `optimism` (docs/explanation/beyond.md).
_MANY_CELLS, _LARGE_SHARE = 100, 0.05


@entrance
@told_of_support
def learn(
    data: Any,
    *,
    method: Method = "auto",
    score: Score | str = "bdeu",
    ess: float | None = None,
    support: float | None = None,
    max_parents: int = 3,
    locality: int | None = None,
    restarts: int = 10,
    solver: Solver = "auto",
    constraints: ConstraintsLike = None,
    gap: float | None = None,
    time_limit: float | None = None,
    max_memory: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> LearnResult:
    """Learn a network from an incomplete table, and mend the table.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells.
    method : {"auto", "exact", "local", "em", "em-hard"}, default="auto"
        ``exact``: the best structure and completion of all, proven, or the gap when a
        limit comes first. ``local``: no change of `locality` cells with any structure
        is better. ``em``: structural expectation-maximisation, which weighs all
        completions instead of choosing the best (`learn_em` has more options);
        ``em-hard``: its variant that learns from most probable completions.
        ``auto``: em when more than 100 cells and more than 5 % of all are missing.
        Else exact for up to 20 variables within half the time limit (or of a minute);
        without a proof by then, the local optimum from there, with the bound. Local
        beyond 20 variables. ``chosen`` says what it chose.
    {score, ess, support, max_parents}
    locality : int, optional
        How many cells may change at once in the local search of ``exact`` and
        ``local``; 1 by default.
    restarts : int, default=10
        Starts of the local search drawn at random, beside the one from the modes.
    solver : {"auto", "subsets", "ilp", "order", "greedy"} or callable, default="auto"
        Structure solver of ``local`` and ``em``; see `learn_local` and `learn_em`.
    {constraints}
    gap : float, optional
        Stop the proof of ``exact`` when the score is known to be within so many nats
        of the best; 0 by default.
    {time_limit}
    max_memory : float, optional
        Bytes that the tables of exact inference may take in ``em``; 2**30 by default.
    {seed, n_threads, progress}
    {reading}

    Returns
    -------
    LearnResult
        ``network``, ``completed``, ``cells``, ``score``, ``bound``, ``gap``,
        ``status``, ``trace``, ``seconds``.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(100, seed=1)
    >>> incomplete = bm.hiding.hide_value_per_variable(data, 1, state=1, seed=1).data
    >>> result = bm.learn(incomplete, seed=1)
    >>> result.status
    'optimal'
    >>> result.completed.n_missing
    0
    """
    progress = told(progress)
    check_choice("method", method, METHODS)
    check_solver(solver)
    _check_options(method, solver, locality=locality, gap=gap, max_memory=max_memory)
    table = IncompleteData.from_table(data, **reading)
    common: dict[str, Any] = {
        "score": score,
        "ess": ess,
        "support": support,
        "max_parents": max_parents,
        "locality": 1 if locality is None else locality,
        "restarts": restarts,
        "constraints": Constraints.of(constraints),
        "seed": as_generator(seed),
        "n_threads": n_threads,
        "progress": progress,
    }
    gap = 0.0 if gap is None else gap
    memory = MAX_MEMORY if max_memory is None else max_memory
    expecting = {**common, "solver": solver, "max_memory": memory}
    if method in ("em", "em-hard"):
        return _em(table, time_limit, expecting, hard=method == "em-hard")
    if method == "local":
        return learn_local(table, solver=solver, time_limit=time_limit, **common)
    if method == "exact":
        return learn_exact(table, gap=gap, time_limit=time_limit, **common)
    share = table.n_missing / max(table.n_rows * table.n_vars, 1)
    if table.n_missing > _MANY_CELLS and share > _LARGE_SHARE:
        reason = f"{table.n_missing:,} cells ({share:.0%}) are missing"
        return _em_if_it_fits(table, time_limit, expecting, reason)
    if solver not in ("auto", "subsets") or table.n_vars > EXACT_VARS:
        reason = (
            f"local: {table.n_vars} variables, exact goes up to {EXACT_VARS}"
            if solver in ("auto", "subsets")
            else "local: exact has no use for a solver of your own"
        )
        found = learn_local(table, solver=solver, time_limit=time_limit, **common)
        return replace(found, chosen=reason)
    return _exact_then_local(table, time_limit, gap, common)


# The methods that an option is for; `auto` may come to use any of them.
_FOR = {
    "locality": ("exact", "local"),
    "gap": ("exact",),
    "max_memory": ("em", "em-hard"),
    "solver": ("local", "em", "em-hard"),
}


_CHECKS: dict[str, Callable[[str, object], object]] = {
    "locality": partial(check_integer, least=1),
    "gap": partial(check_number, unit="nats", least=0),
    "max_memory": partial(check_number, unit="bytes", above=0),
}


def _check_options(method: Method, solver: Solver, **options: object) -> None:
    """Raise ParameterError for an option out of range, or that the method ignores."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        _CHECKS[name](name, value)
    if solver not in ("auto", "subsets"):  # which `exact` takes anyway
        given["solver"] = solver
    if method == "auto":
        return
    for name, value in given.items():
        check_goes_with(name, value, "method", method, _FOR[name])


def _em_if_it_fits(
    table: IncompleteData,
    time_limit: float | None,
    options: dict[str, Any],
    reason: str,
) -> LearnResult:
    """Weigh all completions; where that takes too much memory, search for the best."""
    try:
        found = _em(table, time_limit, options, hard=False)
        reason = f"em: {reason}"
    except InferenceError:
        searching = {k: v for k, v in options.items() if k != "max_memory"}
        found = learn_local(table, time_limit=time_limit, **searching)
        reason = f"local: {reason}, and exact inference does not fit into memory"
    return replace(found, chosen=reason)


def _em(
    table: IncompleteData,
    time_limit: float | None,
    options: dict[str, Any],
    *,
    hard: bool,
) -> LearnResult:
    options = {name: value for name, value in options.items() if name != "locality"}
    return learn_em(table, hard=hard, time_limit=time_limit, **options)


def _exact_then_local(
    table: IncompleteData,
    time_limit: float | None,
    gap: float,
    common: dict[str, Any],
) -> LearnResult:
    """Try for a proof in half the time; without one, climb on from the best pair."""
    clock = Clock(_AUTO_SECONDS if time_limit is None else time_limit)
    total = clock.left or _AUTO_SECONDS
    exact = learn_exact(table, time_limit=total / 2, gap=gap, **common)
    reason = f"exact: {table.n_vars} variables, at most {total / 2:.3g} s"
    if exact.stopped in (Stopped.NOTHING, Stopped.INTERRUPT):
        return replace(exact, chosen=reason)
    local = learn_local(table, start=exact.completed, time_limit=clock.left, **common)
    reason += "; no proof in time, so the local optimum with the bound so far"
    return replace(
        local,
        bound=exact.bound,
        certificate=Certificate.of(
            local.score, exact.bound, is_local=local.certificate is Certificate.LOCAL
        ),
        chosen=reason,
        trace=exact.trace + local.trace,
        seconds=clock.seconds,
        detail={**exact.detail, **local.detail},
    )
