"""The front door of structural expectation-maximisation (Friedman 1998)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checkpoint import Checkpoint, Kept, digest_of, opened
from bayesmend._checks import check_flag, check_goes_with, check_integer, check_number
from bayesmend._clock import Clock, Progress, memory_within, room_within
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ConvergenceWarning, ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.inference.impute import impute
from bayesmend.inference.posterior import log_evidence, most_probable
from bayesmend.learning.counting import CountingHere
from bayesmend.learning.em.expectation import Table
from bayesmend.learning.em.growth import (
    Sample,
    grow,
    network_of,
    on_all_rows,
    sample_sizes,
    share_for_samples,
    told_of_rows,
)
from bayesmend.learning.em.mechanism import MechanismSearch
from bayesmend.learning.em.search import Search
from bayesmend.learning.em.starts import STARTS, Start
from bayesmend.learning.mechanism.given import (
    MechanismLike,
    check_mechanism,
    given_sets,
)
from bayesmend.learning.mechanism.indicators import Indicators
from bayesmend.learning.mechanism.result import LABELS, LearnedMechanism
from bayesmend.learning.result import LearnResult
from bayesmend.learning.starts import check_starts
from bayesmend.learning.support import supported_network, told_of_support
from bayesmend.network.network import Network
from bayesmend.outcome import Certificate, Stopped
from bayesmend.score import Ess, Prior, Score
from bayesmend.seed import Seed
from bayesmend.structure.ess import ChosenRule, choose_rule
from bayesmend.structure.learn import learn_structure
from bayesmend.structure.others import tell_others
from bayesmend.structure.solve import Solver, check_solver

__all__ = [
    "assemble",
    "complete_by_em",
    "filled",
    "learn_em",
    "note_of",
    "rule_by_em",
]

# Of the short run that only leads to a completion.
_FEW_STEPS, _COARSE = 5, 1e-3
_LEAST_MEMORY = 2.0**24


@entrance
@told_of_support
def learn_em(
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: Ess = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    solver: Solver = "auto",
    hard: bool = False,
    starts: tuple[Start, ...] = STARTS,
    restarts: int = 10,
    max_iter: int = 100,
    tol: float = 1e-6,
    constraints: ConstraintsLike = None,
    mechanism: MechanismLike = "ignore",
    max_mechanism_parents: int = 2,
    stability: int = 0,
    full: bool = False,
    max_memory: float = MAX_MEMORY,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> LearnResult:
    """Learn a network from an incomplete table by structural EM, and mend the table.

    In turns: fit the parameters by expectation-maximisation to convergence; find a
    better structure for the counts that the network expects, all of them exact; until
    neither gains. Several starts, and the best network by its observed-data score.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table, with or without missing cells.
    score : Score or str, default="bdeu"
        The rule by which structures are compared on expected counts, or its name.
    {auto_ess, prior, support, max_parents}
    solver : {"auto", "subsets", "ilp", "order", "greedy"} or callable, default="auto"
        Finds a structure for given counts, as in `learn_structure`. ``auto`` is exact
        up to 12 variables and climbs beyond.
    hard : bool, default=False
        Replace expected counts by the most probable completion of each row, and learn
        from it as if it were complete, until it no longer changes (Rancoita and others
        2016). Faster and more optimistic.
    starts : tuple of {"empty", "complete", "mode", "random"}
        Networks to start from: no arcs; learned from the complete rows; from the table
        with each missing cell at its variable's mode, or drawn from observed shares.
    restarts : int, default=10
        Further starts, learned from completions drawn from the best network so far; up
        to as many again while they find better ones.
    max_iter : int, default=100
        Largest number of structure steps from one start.
    tol : float, default=1e-6
        Parameters have converged when an iteration gains less per row (in nats).
    {constraints, mechanism, max_mechanism_parents, stability}
    full : bool, default=False
        Search for the structure with all rows at once. By default long tables, of some
        40,000 rows on, are searched with 10,000 rows first, and with four times as many
        for as long as that changes the structure by more than 3 nats; parameters and
        score are of all rows always. ``structure_rows`` says how many it took. With
        ``hard=True`` or a `mechanism` starts and restarts are made with samples, and
        the search goes on from what they found with all rows.
    {max_memory, time_limit, seed, n_threads, checkpoint, progress}
    {reading}

    Returns
    -------
    LearnResult
        ``network``, ``completed``, ``cells``, ``score``, ``status``, ``trace`` with
        the log-likelihood per iteration, ``seconds``.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = bm.hide_mcar(asia.sample(500, seed=1), 0.1, seed=1).data
    >>> result = bm.learn_em(data, seed=1)
    >>> result.status, result.completed.n_missing
    ('local optimum', 0)
    >>> all(np.diff(step.log_likelihood).min(initial=0) >= 0 for step in result.trace)
    True
    """
    progress = told(progress)
    check_starts(starts, STARTS)
    if not starts:
        msg = f"there is no start. Name at least one of {', '.join(STARTS)} in starts."
        raise ParameterError(msg)
    check_number("tol", tol, above=0, finite=True)
    check_integer("restarts", restarts)
    check_integer("max_iter", max_iter, 1)
    check_solver(solver)
    clock = Clock(time_limit)
    known = Constraints.of(constraints)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    check_mechanism(mechanism, max_mechanism_parents, table.names)
    if hard and mechanism != "ignore":
        msg = (
            f"{spell('mechanism', mechanism)} weighs all completions, and hard=True "
            "chooses one. Leave one of the two."
        )
        raise ParameterError(msg)
    check_flag("full", full)
    check_integer("stability", stability)
    if stability:
        check_goes_with("stability", stability, "mechanism", mechanism, ("auto",))
    options: dict[str, Any] = {
        "score": score,
        "ess": ess,
        "prior": prior,
        "support": support,
        "max_parents": max_parents,
        "solver": solver,
        "hard": hard,
        "starts": starts,
        "restarts": restarts,
        "max_iter": max_iter,
        "tol": tol,
        "constraints": known,
        "mechanism": mechanism,
        "max_mechanism_parents": max_mechanism_parents,
        "stability": stability,
        "full": full,
        "max_memory": max_memory,
    }
    # Half of the time, if any is set, is for the mechanism and the structure under it.
    share = 1.0 if mechanism == "ignore" or time_limit is None else 0.5
    method = "em-hard" if hard else "em"
    rules = known.rules(table.names, max_parents=max_parents)
    sizes: tuple[int, ...] = ()
    samples: tuple[Sample, ...] = ()
    is_plain = not hard and mechanism == "ignore"
    if not (full or table.is_complete):
        sizes = sample_sizes(table.n_rows, table.card, max_memory)
    engine = Engine(
        n_threads=n_threads,
        max_memory=max_memory,
        remedy=f"or lower {spell('max_parents')}",
    )
    counting = CountingHere(table, engine)
    if sizes and time_limit is not None and is_plain:
        fill = partial(filled, engine=engine)
        share = share_for_samples(counting, sizes[0], fill, time_limit)
    # By default tables of exact inference alone are limited.
    held = None if max_memory >= MAX_MEMORY else max_memory
    with (
        memory_within(held),
        opened(checkpoint, "learn_em", table=table, seed=seed, options=options) as at,
    ):
        kept = at.part("em")
        rule, told_of_ess = rule_by_em(
            table,
            rules,
            score=score,
            ess=ess,
            prior=prior,
            support=support,
            n_rows=sizes[0] if sizes else None,
            kept=kept,
        )

        def search_of(rows: IncompleteData) -> Search:
            is_whole = rows is table
            part = share if is_whole or is_plain else share / 2
            return Search(
                table=Table.of(rows, engine),
                score=rule,
                rules=rules,
                solver=solver,
                hard=hard,
                max_iter=max_iter,
                tol=tol,
                clock=clock.part(part),
                generator=at.generator,
                progress=told_of_rows(progress, rows.n_rows, table.n_rows),
                kept=kept if is_whole else kept.part("sample", rows.n_rows),
            )

        if table.is_complete:
            found = _learn_complete(search_of(table), method, known, max_parents)
            if mechanism != "ignore":
                found = replace(found, mechanism=LearnedMechanism(()))
        elif sizes and is_plain:
            found = _learn_growing(counting, sizes, search_of, starts, restarts, clock)
        else:
            explained = None
            if sizes:
                search, samples = _begun_with_samples(
                    counting, sizes, search_of, starts, restarts
                )
            else:
                search = search_of(table)
            if mechanism != "ignore":
                indicators = Indicators.of(table)
                sets = given_sets(mechanism, indicators)
                explained = MechanismSearch(
                    search, indicators, max_mechanism_parents, sets
                )
            found = _learn_incomplete(
                search, method, tuple(starts), restarts, explained, clock
            )
            found = _with_samples(found, samples)
            if stability:
                found = _with_stability(found, search, known, stability)
    return replace(found, detail={**found.detail, **told_of_ess})


def _learn_growing(
    counting: CountingHere,
    sizes: tuple[int, ...],
    search_of: Callable[[IncompleteData], Search],
    starts: tuple[Start, ...],
    restarts: int,
    clock: Clock,
) -> LearnResult:
    """Learn the structure from samples that grow, all else from all rows."""
    search, samples = grow(counting, sizes, search_of, tuple(starts), restarts)
    if not search.is_settled:
        _warn_of_iterations(search)
    try:
        found = _assemble_grown(counting, search, clock)
    except KeyboardInterrupt:
        search.stopped = search.stopped or Stopped.INTERRUPT
        found = _assemble_grown(counting, search, clock)
    return _with_samples(found, samples)


def _with_samples(found: LearnResult, samples: Sequence[Sample]) -> LearnResult:
    """Tell what samples of the rows have shown, if any were searched."""
    if not samples:
        return found
    rows = {"samples": [sample.to_dict() for sample in samples]}
    return replace(found, detail={**found.detail, **rows})


def _begun_with_samples(
    counting: CountingHere,
    sizes: tuple[int, ...],
    search_of: Callable[[IncompleteData], Search],
    starts: tuple[Start, ...],
    restarts: int,
) -> tuple[Search, tuple[Sample, ...]]:
    """Make all starts with samples that grow, and go on with all rows."""
    small, samples = grow(counting, sizes, search_of, tuple(starts), restarts)
    if small.table.data is counting.data:
        return small, samples
    search = search_of(counting.data)
    search.too_dense += small.too_dense
    search.is_settled = small.is_settled
    if small.stopped is Stopped.INTERRUPT:
        search.stopped = small.stopped
    dag, cpts = network_of(small)
    try:
        search.go_on_with_all(dag, cpts)
    except KeyboardInterrupt:
        search.stopped = Stopped.INTERRUPT
        search.go_on_with_all(dag, cpts)
    search.stopped = search.stopped or small.stopped
    return search, samples


def _assemble_grown(
    counting: CountingHere, search: Search, clock: Clock
) -> LearnResult:
    assert search.best is not None
    table, sample = counting.data, search.table.data
    if sample is table:
        return assemble(search, "em")
    grown = on_all_rows(counting, search, table.schema, clock)
    stopped = search.stopped or grown.stopped
    return LearnResult(
        network=grown.network,
        **filled(grown.network, table, counting.engine),
        score=grown.score,
        certificate=Certificate.HEURISTIC if stopped else Certificate.LOCAL,
        stopped=stopped,
        method="em",
        structure_rows=sample.n_rows,
        log_likelihood=grown.log_likelihood,
        trace=(grown.step,),
        seconds=clock.seconds,
        detail={
            "start": search.best.kind,
            **tell_others(search.best.fitted.dag, search.best.score, search.met),
            **note_of(search),
        },
    )


def _learn_incomplete(
    search: Search,
    method: str,
    starts: tuple[Start, ...],
    restarts: int,
    explained: MechanismSearch | None,
    clock: Clock,
) -> LearnResult:
    if search.best is None:  # nothing was learned from fewer rows
        search.run(starts, restarts)
    if not search.is_settled:
        _warn_of_iterations(search)
    if explained is not None:
        clock.go_on_from(search.clock.seconds)
        search.clock = clock.sooner(search.reserve)
        if search.stopped is Stopped.TIME and not clock.is_over:
            search.stopped = Stopped.NOTHING
        explained.run()
    try:
        return assemble(search, method, explained)
    except KeyboardInterrupt:
        # The search is done: what it found is not lost to a first Ctrl-C.
        search.stopped = search.stopped or Stopped.INTERRUPT
        return assemble(search, method, explained)


def _warn_of_iterations(search: Search) -> None:
    msg = (
        f"structural EM stopped at max_iter={search.max_iter} steps from a start "
        "before it settled. Raise max_iter of learn_em."
    )
    warn(msg, ConvergenceWarning)


def _with_stability(
    result: LearnResult, search: Search, known: Constraints, n_samples: int
) -> LearnResult:
    """Learn the mechanism from bootstrap samples, too, and count the labels kept."""
    assert result.mechanism is not None
    generator = search.generator.spawn(1)[0]
    kept, n_done = dict.fromkeys((why.variable for why in result.mechanism), 0), 0
    for number in range(n_samples):
        if search.clock.is_over or search.stopped:
            break
        labels = _mechanism_again(search, known, number, generator)
        for why in result.mechanism:
            kept[why.variable] += labels.get(why.variable, LABELS[0]) == why.label
        n_done += 1
    if not n_done:
        return result
    variables = tuple(
        replace(why, stability=kept[why.variable] / n_done) for why in result.mechanism
    )
    mechanism = replace(result.mechanism, variables=variables)
    return replace(result, mechanism=mechanism, seconds=search.clock.seconds)


def _mechanism_again(
    search: Search, known: Constraints, number: int, generator: np.random.Generator
) -> dict[str, str]:
    """Learn the mechanism from one bootstrap sample; return its labels."""

    def learn() -> dict[str, str]:
        with search.kept.aside("stability", number) as kept:
            found = learn_em(
                _resample(search.table.data, generator),
                score=search.score,
                max_parents=max(int(search.rules.limit.max(initial=0)), 0),
                solver=search.solver,
                starts=("mode",),
                restarts=0,
                constraints=known,
                mechanism="auto",
                max_memory=search.table.engine.max_memory,
                time_limit=search.clock.left,
                seed=generator,
                n_threads=search.table.engine.n_threads,
                checkpoint=kept,
            )
        stopped.append(found.stopped)
        assert found.mechanism is not None
        return {why.variable: why.label for why in found.mechanism}

    stopped: list[Stopped] = []
    told = search.kept.step(
        "stability",
        learn,
        number,
        generator=generator,
        clock=search.clock,
        unless=lambda _: stopped[0],
    )
    with search.kept.sound():
        return dict(told)


def _resample(data: IncompleteData, generator: np.random.Generator) -> IncompleteData:
    """Draw as many rows with replacement, as weights of the distinct rows."""
    patterns = data.patterns()
    total = float(patterns.weights.sum())
    drawn = generator.multinomial(max(round(total), 1), patterns.weights / total)
    return IncompleteData.from_codes(
        patterns.codes, names=data.names, states=data.states, weights=drawn
    )


def complete_by_em(
    data: IncompleteData,
    score: Score,
    rules: ParentRules,
    *,
    time_limit: float | None = None,
) -> IncompleteData:
    """Complete a table by a few steps of structural EM, on one thread.

    A start for searches that go on from a completion.
    """
    search = _searched_briefly(data, score, rules, time_limit)
    if search.stopped is Stopped.INTERRUPT:
        # A start is no answer: the caller has to know.
        raise KeyboardInterrupt
    return most_probable(search.network(), data, n_threads=1).completed


def rule_by_em(
    data: IncompleteData,
    rules: ParentRules,
    *,
    score: Score | str,
    ess: Ess,
    prior: Prior | None,
    support: float | None,
    n_rows: int | None = None,
    kept: Kept | None = None,
) -> ChosenRule:
    """Return the rule asked for, ``ess="auto"`` chosen by a few steps of EM.

    By a sample of about `n_rows`, where these are given.
    """
    if isinstance(ess, str) and n_rows is not None:
        data = CountingHere(data, Engine()).sample(n_rows)
    at = Kept() if kept is None else kept.part("rule")

    def learn(rows: IncompleteData, rule: Score) -> Network:
        own = at
        if at.is_kept:
            own = at.part(rule.ess, digest_of([rows.codes, rows.weights]))
        search = _searched_briefly(rows, rule, rules, kept=own)
        if search.stopped is Stopped.INTERRUPT:
            raise KeyboardInterrupt
        return search.network()

    def choose() -> dict[str, Any]:
        chosen = choose_rule(
            data, learn, score=score, ess=ess, prior=prior, support=support
        )
        return {"ess": chosen.rule.ess, "detail": chosen.detail}

    if not isinstance(ess, str):
        return choose_rule(
            data, learn, score=score, ess=ess, prior=prior, support=support
        )
    told = at.step("choose", choose, _rule_told(score), ess, prior, support)
    with at.sound():
        rule = Score.of(score, ess=float(told["ess"]), prior=prior, support=support)
        return ChosenRule(rule, dict(told["detail"]))


def _rule_told(score: Score | str) -> str:
    return score if isinstance(score, str) else score.kind


def _searched_briefly(
    data: IncompleteData,
    score: Score,
    rules: ParentRules,
    time_limit: float | None = None,
    kept: Kept | None = None,
) -> Search:
    """Take a few steps of structural EM, on one thread."""
    # Of what a caller leaves; some tables of exact inference are there in any case.
    max_memory = max(min(MAX_MEMORY, room_within()), _LEAST_MEMORY)
    engine = Engine(n_threads=1, max_memory=max_memory)
    search = Search(
        table=Table.of(data, engine),
        score=score,
        rules=rules,
        solver="greedy",
        hard=False,
        max_iter=_FEW_STEPS,
        tol=_COARSE,
        clock=Clock(time_limit),
        generator=np.random.default_rng(0),
        progress=None,
        kept=Kept() if kept is None else kept,
    )
    search.run(("mode",), 0)
    return search


def assemble(
    search: Search, method: str, explained: MechanismSearch | None = None
) -> LearnResult:
    """Make the result of a search of all rows, and fill them."""
    assert search.best is not None
    data, best = search.table.data, search.best
    network, score = search.network(), best.score
    if explained is not None and explained.best is not None:
        network, score = explained.network(), best.score + explained.gain
    engine = search.table.engine
    n_threads, max_memory = engine.n_threads, engine.max_memory
    evidence = log_evidence(network, data, n_threads=n_threads, max_memory=max_memory)
    return LearnResult(
        network=network,
        **filled(network, data, engine),
        score=score,
        mechanism=None if explained is None else explained.learned(),
        certificate=Certificate.HEURISTIC if search.stopped else Certificate.LOCAL,
        stopped=search.stopped,
        method=method,
        log_likelihood=_total(evidence, data),
        trace=tuple(search.trace),
        seconds=search.clock.seconds,
        detail={
            "start": best.kind,
            "scores": dict(search.per_start),
            **tell_others(network.dag, best.score, search.met),
            **note_of(search),
        },
    )


def filled(network: Network, data: IncompleteData, engine: Engine) -> dict[str, Any]:
    """Return the completed table and its cells, as parts of a result."""
    found = impute(
        network,
        data,
        fill_empty_rows=True,
        n_threads=engine.n_threads,
        max_memory=engine.max_memory,
    )
    return {"completed": found.completed, "cells": replace(found.cells, tables=None)}


def note_of(search: Search) -> dict[str, str]:
    """Say how many starts came to nothing, as a part of the detail."""
    n_dense = len(search.too_dense)
    if not n_dense:
        return {}
    ends = "start ended" if n_dense == 1 else "starts ended"
    return {
        "note": f"{n_dense} {ends} at a structure too dense for exact inference within "
        f"{spell('max_memory')}; lower {spell('max_parents')}, or raise "
        f"{spell('max_memory')}"
    }


def _learn_complete(
    search: Search, method: str, constraints: Constraints, max_parents: int
) -> LearnResult:
    """Learn a structure as usual: without missing cells there is nothing to expect."""
    data, n_threads = search.table.data, search.table.engine.n_threads
    stopped = Stopped.NOTHING

    def learn() -> dict[str, Any]:
        nonlocal stopped
        found = learn_structure(
            data,
            score=search.score,
            max_parents=max_parents,
            solver=search.solver,
            constraints=constraints,
            time_limit=search.clock.left,
            seed=search.generator,
            n_threads=n_threads,
            progress=search.progress,
        )
        stopped = found.stopped
        return {
            "parents": found.dag.parents,
            "score": found.score,
            "bound": found.bound,
            "detail": found.detail,
        }

    told = search.kept.step(
        "structure",
        learn,
        generator=search.generator,
        clock=search.clock,
        unless=lambda _: stopped,
    )
    with search.kept.sound():
        dag = Dag(data.names, tuple(map(tuple, told["parents"])))
        score, bound = float(told["score"]), float(told["bound"])
        detail = dict(told["detail"])
    fitted = Network.fit(dag, data, estimate="posterior", ess=search.score.ess)
    evidence = fitted.log_likelihood(data, n_threads=n_threads)
    network = supported_network(fitted, search.observed)
    return LearnResult(
        network=network,
        completed=data,
        cells=impute(network, data, n_threads=n_threads).cells,
        score=score,
        bound=bound,
        certificate=Certificate.of(score, bound, is_local=not stopped),
        stopped=stopped,
        method=method,
        log_likelihood=_total(evidence, data),
        seconds=search.clock.seconds,
        detail=detail,
    )


def _total(log_probabilities: NDArray[np.float64], data: IncompleteData) -> float:
    if data.weights is None:
        return float(log_probabilities.sum())
    seen = data.weights > 0
    return float(log_probabilities[seen] @ data.weights[seen])
