"""Long tables: the structure from growing samples, the parameters from all rows.

What a search for structures costs grows with the rows, and what it finds soon does not
change any more. So it begins with some rows, and goes on from what it has found with
four times as many, for as long as that makes a difference that the score can see.
Samples are nested. Parameters and the final score are of all rows, whoever counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayesmend._clock import Clock, Progress
from bayesmend.data.schema import Schema
from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData
from bayesmend.graph.dag import Dag
from bayesmend.learning.counting import Counting, fit, observed_score
from bayesmend.learning.em.expectation import estimate_cpts, split_cpts
from bayesmend.learning.em.search import Search
from bayesmend.learning.em.starts import Start
from bayesmend.learning.result import Step
from bayesmend.learning.starts import observed_shares
from bayesmend.learning.support import ObservedRows, supported_network
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
from bayesmend.structure.others import NEAR

__all__ = [
    "FIRST_ROWS",
    "Grown",
    "Sample",
    "first_rows",
    "grow",
    "network_of",
    "on_all_rows",
    "sample_sizes",
    "share_for_samples",
    "told_of_rows",
]

FIRST_ROWS: Final = 10_000
"""Rows that a search for structures begins with, unless variables have many states."""

# So many for each cell of the table of any two variables: enough to see dependence.
_ROWS_PER_CELL = 100
_GROWTH = 4
# What is done with all rows takes so many times as long as filling them takes without
# any structure.
_TIMES_FILLED = 2.0
# What is kept of each cell while candidates are scored.
_BYTES_PER_CELL = 16


@dataclass(frozen=True, slots=True)
class Sample:
    """What a sample of the rows has shown.

    Parameters
    ----------
    n_rows : int
        How many rows.
    n_arcs : int
        Of the structure learned from them.
    gain : float, optional
        Nats by which this structure is better, on these rows, than the one from the
        sample before.
    seconds : float
        When that was known.
    """

    n_rows: int
    n_arcs: int
    gain: float | None
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types."""
        return {
            "n_rows": self.n_rows,
            "n_arcs": self.n_arcs,
            "gain": None if self.gain is None else round(self.gain, 6),
            "seconds": round(self.seconds, 3),
        }


def sample_sizes(
    n_rows: int, card: NDArray[np.int32], max_memory: float
) -> tuple[int, ...]:
    """Return the rows of the samples that a structure is learned from, all at most.

    None where there are not four times as many rows as the first would have.

    Examples
    --------
    >>> card = np.array([2, 3, 4], np.int32)
    >>> sample_sizes(39_999, card, 1e9), sample_sizes(100_000, card, 1e9)
    ((), (10000, 40000, 100000))
    >>> sample_sizes(10**9, card, 1e8)
    (10000, 40000, 160000, 640000)
    >>> sample_sizes(10**6, np.array([20, 20, 20], np.int32), 1e9)
    (40000, 160000, 640000, 1000000)
    """
    size = _first_size(card)
    if n_rows < _GROWTH * size:
        return ()
    most = max_memory / (_BYTES_PER_CELL * max(len(card), 1))
    sizes = [size]
    while size < n_rows and size * _GROWTH <= max(most, sizes[0]):
        size = min(size * _GROWTH, n_rows)
        sizes.append(size)
    return tuple(sizes)


def _first_size(card: NDArray[np.int32]) -> int:
    largest = np.sort(card)[-2:].astype(float)
    return max(FIRST_ROWS, int(_ROWS_PER_CELL * largest.prod()))


def first_rows(table: IncompleteData) -> int | None:
    """Return how many rows a search begins with; None where with all of them.

    Examples
    --------
    >>> first_rows(IncompleteData.from_table({"a": ["x", "y", None] * 20_000}))
    10000
    """
    size = _first_size(table.card)
    return None if table.is_complete or table.n_rows < _GROWTH * size else size


def share_for_samples(
    counting: Counting,
    n_rows: int,
    fill: Callable[[Network, IncompleteData], Any],
    time_limit: float,
) -> float:
    """Return the share of a time limit that samples may take; the rest is for all rows.

    As much as filling all rows is likely to take, by what a sample of `n_rows` takes
    here and now, and at most half. No answer depends on it but where the limit ends the
    search.
    """
    sample = counting.sample(n_rows)
    shares = observed_shares(sample, 1.0)
    dag = Dag(sample.names, tuple(() for _ in sample.names))
    tables = tuple(share[None] for share in shares)
    independent = Network(dag, sample.states, tables)
    clock = Clock()
    fill(independent, sample)
    rest = _TIMES_FILLED * clock.seconds * counting.n_rows / max(sample.n_rows, 1)
    return 1.0 - min(rest / time_limit, 0.5)


def told_of_rows(progress: Progress | None, n_rows: int, of: int) -> Progress | None:
    """Have progress tell how many of the rows are at work."""
    if progress is None or n_rows == of:
        return progress
    rows = f"{n_rows:,} of {quantity(of, 'row')}"

    def told(what: str, *values: Any, share: float | None = None, **more: Any) -> None:
        progress(f"{what}, {rows}", *values, share=share, **more)

    return told


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A structure from samples, with parameters from all rows.

    Parameters
    ----------
    network : Network
        With the posterior mean of its parameters.
    score : float
        The observed-data score.
    log_likelihood : float
        Of what is observed, under `network`.
    step : Step
        The fit of the parameters.
    stopped : Stopped
        What ended the fit early.
    """

    network: Network
    score: float
    log_likelihood: float
    step: Step
    stopped: Stopped


def grow(
    counting: Counting,
    sizes: tuple[int, ...],
    search_of: Callable[[IncompleteData], Search],
    starts: tuple[Start, ...],
    restarts: int,
) -> tuple[Search, tuple[Sample, ...]]:
    """Search with more and more rows, until more of them change nothing.

    Parameters
    ----------
    counting : Counting
        The table.
    sizes : tuple of int
        Rows of the samples.
    search_of : callable
        Makes the search of a sample.
    starts, restarts
        Of the first search; the others go on from its network.
    """
    search = search_of(counting.sample(sizes[0]))
    search.run(starts, restarts)
    assert search.best is not None
    n_rows, seconds = search.table.data.n_rows, search.clock.seconds
    samples = [Sample(n_rows, search.best.fitted.dag.n_arcs, None, seconds)]
    for size in sizes[1:]:
        before = search.best
        if search.stopped or before is None:
            break
        larger = search_of(counting.sample(size))
        larger.go_on(*network_of(search))
        if larger.best is None:
            search.stopped = larger.stopped
            search.too_dense += larger.too_dense
            break
        gain = _gain(larger, before.fitted.dag)
        if larger.best.fitted.dag == before.fitted.dag:
            gain = 0.0  # whatever parameters gained that were fitted roughly at first
        n_rows, seconds = larger.table.data.n_rows, larger.clock.seconds
        samples.append(Sample(n_rows, larger.best.fitted.dag.n_arcs, gain, seconds))
        search = larger
        if gain <= NEAR:
            break
    return search, tuple(samples)


def network_of(search: Search) -> tuple[Dag, NDArray[np.float64]]:
    """Return what a search with more rows goes on from.

    Posterior means: under them no row is impossible.
    """
    assert search.best is not None
    return search.best.fitted.dag, _flat(search.network().cpts)


def _gain(larger: Search, before: Dag) -> float:
    """Tell by how many nats more rows have bettered a structure."""
    assert larger.best is not None
    if not larger.hard:
        return larger.best.score - larger.trace[0].score
    # Its first step learns a structure already.
    return larger.gain_over(before)


def on_all_rows(
    counting: Counting, search: Search, schema: Schema | None, clock: Clock
) -> Grown:
    """Fit the parameters of the structure that was found to all rows, and score it.

    Parameters
    ----------
    counting : Counting
        The table.
    search : Search
        Of a sample of it.
    schema : Schema, optional
        What was made of the columns of the table.
    clock : Clock
        Its limit is kept between iterations.
    """
    assert search.best is not None
    best, score = search.best, search.score
    dag = best.fitted.dag
    observed = ObservedRows.counted(counting, score)
    under = counting.under(dag)
    fitted = fit(
        under,
        counting.card,
        _flat(observed.shrink(dag, search.network().cpts)),
        clock=clock,
        tol=search.tol * max(counting.total, 1.0),
    )
    found = observed_score(counting, dag, fitted, score, search.rules)
    cpts = estimate_cpts(dag, counting.card, fitted.counts, score.ess)
    tables = split_cpts(dag, counting.card, cpts)
    network = Network(dag, counting.states, tables, schema=schema)
    network = supported_network(network, observed)
    likelihood = tuple(fitted.log_likelihood.tolist())
    return Grown(
        network,
        found,
        under.expect(_flat(network.cpts)).log_likelihood,
        Step(found, best.kind, clock.seconds, dag.n_arcs, likelihood),
        fitted.stopped,
    )


def _flat(tables: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate([table.ravel() for table in tables])
