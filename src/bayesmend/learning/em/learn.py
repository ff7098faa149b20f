"""The front door of structural expectation-maximisation (Friedman 1998)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_goes_with, check_integer, check_number
from bayesmend._clock import Clock, Progress
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ConvergenceWarning, ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.inference.impute import impute
from bayesmend.inference.posterior import log_evidence, most_probable
from bayesmend.learning.em.expectation import Table
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
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.ess import ChosenRule, choose_rule
from bayesmend.structure.learn import learn_structure
from bayesmend.structure.others import tell_others
from bayesmend.structure.solve import Solver, check_solver

__all__ = ["complete_by_em", "learn_em", "rule_by_em"]

# Of the short run that only leads to a completion.
_FEW_STEPS, _COARSE = 5, 1e-3


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
    max_memory: float = MAX_MEMORY,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
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
    {max_memory, time_limit, seed, n_threads, progress}
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
    check_integer("stability", stability)
    if stability:
        check_goes_with("stability", stability, "mechanism", mechanism, ("auto",))
    # Half of the time, if any is set, is for the mechanism and the structure under it.
    share = 1.0 if mechanism == "ignore" or time_limit is None else 0.5
    method = "em-hard" if hard else "em"
    rules = known.rules(table.names, max_parents=max_parents)
    rule, told_of_ess = rule_by_em(
        table, rules, score=score, ess=ess, prior=prior, support=support
    )
    search = Search(
        table=Table.of(
            table,
            Engine(
                n_threads=n_threads,
                max_memory=max_memory,
                remedy=f"or lower {spell('max_parents')}",
            ),
        ),
        score=rule,
        rules=rules,
        solver=solver,
        hard=hard,
        max_iter=max_iter,
        tol=tol,
        clock=clock.part(share),
        generator=as_generator(seed),
        progress=progress,
    )
    if table.is_complete:
        found = _learn_complete(search, method, known, max_parents)
        if mechanism != "ignore":
            found = replace(found, mechanism=LearnedMechanism(()))
    else:
        explained = None
        if mechanism != "ignore":
            indicators = Indicators.of(table)
            sets = given_sets(mechanism, indicators)
            explained = MechanismSearch(search, indicators, max_mechanism_parents, sets)
        found = _learn_incomplete(
            search, method, tuple(starts), restarts, explained, clock
        )
        if stability:
            found = _with_stability(found, search, known, stability)
    return replace(found, detail={**found.detail, **told_of_ess})


def _learn_incomplete(
    search: Search,
    method: str,
    starts: tuple[Start, ...],
    restarts: int,
    explained: MechanismSearch | None,
    clock: Clock,
) -> LearnResult:
    search.run(starts, restarts)
    if not search.is_settled:
        msg = (
            f"structural EM stopped at max_iter={search.max_iter} steps from a start "
            "before it settled. Raise max_iter of learn_em."
        )
        warn(msg, ConvergenceWarning)
    if explained is not None:
        search.clock = clock
        if search.stopped is Stopped.TIME and not clock.is_over:
            search.stopped = Stopped.NOTHING
        explained.run()
    try:
        return _assemble(search, method, explained)
    except KeyboardInterrupt:
        # The search is done: what it found is not lost to a first Ctrl-C.
        search.stopped = search.stopped or Stopped.INTERRUPT
        return _assemble(search, method, explained)


def _with_stability(
    result: LearnResult, search: Search, known: Constraints, n_samples: int
) -> LearnResult:
    """Learn the mechanism from bootstrap samples, too, and count the labels kept."""
    assert result.mechanism is not None
    data, generator = search.table.data, search.generator.spawn(1)[0]
    kept, n_done = dict.fromkeys((why.variable for why in result.mechanism), 0), 0
    for _ in range(n_samples):
        if search.clock.is_over or search.stopped:
            break
        found = learn_em(
            _resample(data, generator),
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
        ).mechanism
        assert found is not None
        labels = {why.variable: why.label for why in found}
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
) -> ChosenRule:
    """Return the rule asked for, ``ess="auto"`` chosen by a few steps of EM."""

    def learn(rows: IncompleteData, rule: Score) -> Network:
        search = _searched_briefly(rows, rule, rules)
        if search.stopped is Stopped.INTERRUPT:
            raise KeyboardInterrupt
        return search.network()

    return choose_rule(data, learn, score=score, ess=ess, prior=prior, support=support)


def _searched_briefly(
    data: IncompleteData,
    score: Score,
    rules: ParentRules,
    time_limit: float | None = None,
) -> Search:
    """Take a few steps of structural EM, on one thread."""
    engine = Engine(n_threads=1)
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
    )
    search.run(("mode",), 0)
    return search


def _assemble(
    search: Search, method: str, explained: MechanismSearch | None = None
) -> LearnResult:
    assert search.best is not None
    data, best = search.table.data, search.best
    network, score = search.network(), best.score
    if explained is not None and explained.best is not None:
        network, score = explained.network(), best.score + explained.gain
    engine = search.table.engine
    n_threads, max_memory = engine.n_threads, engine.max_memory
    filled = impute(
        network,
        data,
        fill_empty_rows=True,
        n_threads=n_threads,
        max_memory=max_memory,
    )
    evidence = log_evidence(network, data, n_threads=n_threads, max_memory=max_memory)
    return LearnResult(
        network=network,
        completed=filled.completed,
        cells=replace(filled.cells, tables=None),
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
            **_note_of(search),
        },
    )


def _note_of(search: Search) -> dict[str, str]:
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
    evidence = found.network.log_likelihood(data, n_threads=n_threads)
    network = supported_network(found.network, search.observed)
    return LearnResult(
        network=network,
        completed=data,
        cells=impute(network, data, n_threads=n_threads).cells,
        score=found.score,
        bound=found.bound,
        certificate=Certificate.of(
            found.score, found.bound, is_local=not found.stopped
        ),
        stopped=found.stopped,
        method=method,
        log_likelihood=_total(evidence, data),
        seconds=search.clock.seconds,
        detail=found.detail,
    )


def _total(log_probabilities: NDArray[np.float64], data: IncompleteData) -> float:
    if data.weights is None:
        return float(log_probabilities.sum())
    seen = data.weights > 0
    return float(log_probabilities[seen] @ data.weights[seen])
