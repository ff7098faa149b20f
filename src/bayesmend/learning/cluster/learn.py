"""Structural EM of a long table on a cluster: samples come here, all rows stay.

The same steps as of a table in memory, to the last bit: samples are chosen by the
numbers of rows, and what all rows say is added up exactly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayesmend._checkpoint import Checkpoint, opened
from bayesmend._clock import Clock, Progress, available_memory
from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import OutOfMemoryError
from bayesmend.graph.constraints import Constraints
from bayesmend.inference.engine import Engine
from bayesmend.learning.cluster.partitions import CountingThere
from bayesmend.learning.effort import EM_RESTARTS, em_effort
from bayesmend.learning.em.expectation import Table
from bayesmend.learning.em.growth import (
    Grown,
    grow,
    on_all_rows,
    sample_sizes,
    told_of_rows,
)
from bayesmend.learning.em.learn import assemble, filled, note_of, rule_by_em
from bayesmend.learning.em.search import Search
from bayesmend.learning.em.starts import STARTS
from bayesmend.learning.result import LearnResult
from bayesmend.outcome import Certificate, Stopped
from bayesmend.score import Ess, Prior, Score
from bayesmend.seed import Seed
from bayesmend.structure.others import tell_others
from bayesmend.structure.solve import Solver

__all__ = ["bring_here", "is_large", "is_long", "learn_there", "without_rows"]

_MAX_ITER, _TOL = 100, 1e-6  # as of learn_em

# Cells, a byte each, that come here for a method to be chosen by.
_FEW_CELLS = 10**8

# Of a time limit; the rest is for all rows.
_FOR_SAMPLES = 0.5

STAYS = (
    "the rows stay on the cluster, and so do their missing cells: fill them file by"
    " file with impute_files, or partition by partition with impute"
)


def is_long(counting: CountingThere, max_memory: float) -> bool:
    """Tell whether a table is searched by samples that grow."""
    sizes = sample_sizes(counting.n_rows, counting.card, max_memory)
    return bool(sizes) and counting.n_missing > 0


def is_large(counting: CountingThere) -> bool:
    """Tell whether rows are too many to come here where there is a choice.

    Judged by sizes alone, so that no answer depends on a machine, unless they do not
    fit into this one.
    """
    return counting.n_bytes > _FEW_CELLS or 2 * counting.n_bytes > available_memory()


def bring_here(counting: CountingThere) -> IncompleteData:
    """Bring all coded rows here, for what counts in memory only."""
    room = available_memory()
    if 2 * counting.n_bytes > room:
        message = (
            f"{quantity(counting.n_rows, 'row')} would have to come here, which takes"
            f" {2 * counting.n_bytes / 2**30:,.1f} GiB, and {room / 2**30:,.1f} GiB are"
            " free. Only long tables with missing cells are counted where they are,"
            " and only by method='em' or 'auto' without full=True and mechanism=."
        )
        raise OutOfMemoryError(message)
    return counting.sample(counting.n_rows)


def without_rows(found: LearnResult, counting: CountingThere) -> LearnResult:
    """Return a result whose completed table has no rows: these are on the cluster."""
    empty = IncompleteData(
        counting.names,
        counting.states,
        np.empty((0, len(counting.names)), np.uint8),
        schema=counting.schema,
        discretization=counting.discretization,
    )
    detail = {
        **found.detail,
        "n_rows": counting.n_rows,
        "n_missing": counting.n_missing,
        "n_parts": len(counting.parts),
        "note": STAYS,
    }
    return replace(
        found, **filled(found.network, empty, Engine(n_threads=1)), detail=detail
    )


def learn_there(
    counting: CountingThere,
    *,
    is_auto: bool,
    score: Score | str,
    ess: Ess,
    prior: Prior | None,
    support: float | None,
    max_parents: int,
    restarts: int | None,
    solver: Solver,
    constraints: Constraints,
    max_memory: float,
    clock: Clock,
    seed: Seed,
    n_threads: int,
    checkpoint: Checkpoint,
    progress: Progress | None,
) -> LearnResult:
    """Learn a network of a long table whose rows are on a cluster.

    With `is_auto` the effort is chosen by the first sample.
    """
    sizes = sample_sizes(counting.n_rows, counting.card, max_memory)
    first = counting.sample(sizes[0])
    starts, tries = STARTS, EM_RESTARTS
    if is_auto:
        starts, tries = em_effort(first)
    rules = constraints.rules(counting.names, max_parents=max_parents)
    share = 1.0 if clock.left is None else _FOR_SAMPLES
    engine = Engine(
        n_threads=n_threads, max_memory=max_memory, remedy="or lower max_parents"
    )
    counting.max_memory = max_memory
    options = {
        "score": score,
        "ess": ess,
        "prior": prior,
        "support": support,
        "max_parents": max_parents,
        "restarts": restarts,
        "solver": solver,
        "constraints": constraints,
        "max_memory": max_memory,
        "is_auto": is_auto,
        "n_rows": counting.n_rows,
        "digest": counting.digest,
    }
    with opened(checkpoint, "learn", table=first, seed=seed, options=options) as at:
        clock.go_on_from(at.seconds)
        kept = at.part("there")
        rule, told_of_ess = rule_by_em(
            first,
            rules,
            score=score,
            ess=ess,
            prior=prior,
            support=support,
            kept=kept,
        )

        def search_of(rows: IncompleteData) -> Search:
            return Search(
                table=Table.of(rows, engine),
                score=rule,
                rules=rules,
                solver=solver,
                hard=False,
                max_iter=_MAX_ITER,
                tol=_TOL,
                clock=clock.part(share),
                generator=at.generator,
                progress=told_of_rows(progress, rows.n_rows, counting.n_rows),
                kept=kept.part("sample", rows.n_rows),
            )

        tries = tries if restarts is None else restarts
        search, samples = grow(counting, sizes, search_of, starts, tries)
        found = _assembled(counting, search, clock)
    detail = {
        **found.detail,
        "samples": [sample.to_dict() for sample in samples],
        **told_of_ess,
    }
    return without_rows(replace(found, detail=detail), counting)


def _assembled(counting: CountingThere, search: Search, clock: Clock) -> LearnResult:
    assert search.best is not None
    sample = search.table.data
    if sample.n_rows == counting.n_rows:
        return assemble(search, "em")
    try:
        grown = on_all_rows(counting, search, counting.schema, clock)
    except KeyboardInterrupt:
        search.stopped = search.stopped or Stopped.INTERRUPT
        grown = on_all_rows(counting, search, counting.schema, clock)
    return _told(grown, search, sample.n_rows, clock)


def _told(grown: Grown, search: Search, n_rows: int, clock: Clock) -> LearnResult:
    assert search.best is not None
    network, best = grown.network, search.best
    stopped = search.stopped or grown.stopped
    empty = search.table.data.pick(np.empty(0, np.intp))
    return LearnResult(
        network=network,
        **filled(network, empty, Engine(n_threads=1)),
        score=grown.score,
        certificate=Certificate.HEURISTIC if stopped else Certificate.LOCAL,
        stopped=stopped,
        method="em",
        structure_rows=n_rows,
        log_likelihood=grown.log_likelihood,
        trace=(grown.step,),
        seconds=clock.seconds,
        detail={
            "start": best.kind,
            **tell_others(best.fitted.dag, best.score, search.met),
            **note_of(search),
        },
    )
