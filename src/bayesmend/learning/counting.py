"""Who counts: a table in memory, or parts of it wherever they lie.

Parameters of a structure need two things of a table of any length: how many rows show
each family whole, and, under given parameters, what is expected of the rest. Rows
dissolve into distinct pieces of missing cells with what is observed around them, so
that an expectation takes time by the pieces, not by the rows. All sums are exact: the
posterior of a piece is rounded to multiples of 2**-40, and whole numbers are added up
to 128 bits. So what is counted depends neither on how rows are parted nor on threads.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._clock import Clock
from bayesmend._rows import offsets_of
from bayesmend.data.states import Label
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import Engine
from bayesmend.network.flat import parents_of
from bayesmend.outcome import Stopped
from bayesmend.score import Score, core_rule

__all__ = [
    "Counting",
    "CountingHere",
    "Expected",
    "Expecting",
    "Fit",
    "add_sums",
    "expected_from",
    "fit",
    "grid_of",
    "is_sampled",
    "observed_score",
    "on_grid",
    "whole_counts",
]

Counts = NDArray[np.float64]
Sums = NDArray[np.uint64]

# Of all weights together, so many bits are exact in a double.
_BITS = 51


class Expected(NamedTuple):
    """What a network expects of a table."""

    counts: Counts
    """Laid out as its probabilities are."""
    log_likelihood: float
    """Of what is observed; minus infinity when a row is impossible."""


class Expecting(Protocol):
    """All rows of a table, compiled for a structure."""

    @property
    def dag(self) -> Dag:
        """The structure."""

    @property
    def whole(self) -> Counts:
        """How many rows show each family whole, laid out as the probabilities are."""

    def expect(self, cpts: Counts) -> Expected:
        """Return what the structure with these probabilities expects."""


class Counting(Protocol):
    """A table whose rows are counted where they lie."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""

    @property
    def states(self) -> tuple[tuple[Label, ...], ...]:
        """Labels of the states of every variable."""

    @property
    def card(self) -> NDArray[np.int32]:
        """Number of states of every variable."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def total(self) -> float:
        """Weight of all rows."""

    def sample(self, n_rows: int) -> IncompleteData:
        """Bring the rows here that `is_sampled` chooses, in their order."""

    def whole(self, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Count the rows that show all variables of a set, per cell, for each set.

        The first variable of a set varies fastest. Of a complete table these are the
        counts of families.
        """

    def under(self, dag: Dag) -> Expecting:
        """Compile all rows for a structure."""


# --- rows -----------------------------------------------------------------------------


def is_sampled(rows: NDArray[np.integer], n_rows: int, of: int) -> NDArray[np.bool_]:
    """Tell which rows are in a sample of about `n_rows`, all if there are no more.

    Rows are given by their numbers in the whole table, so that parts of it choose by
    themselves. Samples are nested: a larger one contains the smaller ones.

    Examples
    --------
    >>> rows = np.arange(1000)
    >>> small, large = is_sampled(rows, 100, 1000), is_sampled(rows, 200, 1000)
    >>> int(small.sum()), bool((small <= large).all())
    (101, True)
    """
    if n_rows >= of:
        return np.ones(len(rows), bool)
    # The hash of a number: splitmix64 (Steele, Lea and Flood 2014).
    h = rows.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    h ^= h >> np.uint64(31)
    return h < np.uint64((n_rows << 64) // of)


def grid_of(n_rows: int, largest: float) -> float:
    """Return the power of two whose multiples add up exactly, for weights of rows.

    Examples
    --------
    >>> grid_of(1000, 1.0) <= 1 / 2**40, grid_of(2**40, 2**20)
    (True, 2048.0)
    """
    if not n_rows or not largest:
        return 1.0
    _, exponent = math.frexp(largest)
    return math.ldexp(1.0, exponent + n_rows.bit_length() - _BITS)


def on_grid(weights: Counts, grid: float) -> Counts:
    """Round weights to multiples of a grid."""
    rounded: Counts = np.rint(weights / grid) * grid
    return rounded


# --- sums -----------------------------------------------------------------------------


def add_sums(parts: Iterable[Sums]) -> Sums:
    """Add up what `_core.Evidence.expect` returns of parts of a table.

    Examples
    --------
    >>> one = np.array([[2**64 - 1, 0]], np.uint64)
    >>> add_sums([one, one, one]).tolist()
    [[18446744073709551613, 2]]
    """
    first, *others = parts
    total = first.copy()
    for part in others:
        total[:, 0] += part[:, 0]
        total[:, 1] += part[:, 1] + (total[:, 0] < part[:, 0])
    return total


def expected_from(whole: Counts, sums: Sums, cpts: Counts, grid: float) -> Expected:
    """Return what is expected, given the sums over all parts of a table."""
    unit = grid / _core.GRID
    values = (np.ldexp(sums[:, 1].astype(np.float64), 64) + sums[:, 0]) * unit
    counts, hidden, impossible = values[:-2], values[-2], values[-1]
    seen = whole > 0
    with np.errstate(divide="ignore"):
        observed = float(whole[seen] @ np.log(cpts[seen]))
    return Expected(
        whole + counts, -math.inf if impossible else observed - float(hidden)
    )


def whole_counts(
    columns: NDArray[np.uint8],
    card: NDArray[np.int32],
    weights: Counts,
    sets: Sequence[Sequence[int]],
    n_threads: int,
) -> list[Counts]:
    """Count the rows that show all variables of each set, as `Counting.whole` does.

    Parameters
    ----------
    columns : ndarray of shape (n_vars, n_rows)
        Codes.
    card : ndarray
        Number of states of every variable.
    weights : ndarray
        Of the rows, on the grid; of no length where each counts once.
    sets : sequence of sequence of int
        The sets.
    n_threads : int
        Threads; 0 for one per core.
    """
    members = np.array([v for members in sets for v in members], np.int32)
    first = offsets_of([len(members) for members in sets])
    flat = _core.whole_counts(columns, card, weights, first, members, n_threads)
    sizes = [int(np.prod(card[list(members)], dtype=np.int64)) for members in sets]
    return np.split(flat, offsets_of(sizes)[1:-1]) if sizes else []


# --- in memory ------------------------------------------------------------------------


class CountingHere:
    """A table in memory, counted on the threads of this machine.

    Parameters
    ----------
    data : IncompleteData
        The table.
    engine : Engine
        Threads, and memory for exact inference.

    Examples
    --------
    >>> table = {"a": ["x", None, "y", "x"], "b": ["u", "v", "u", None]}
    >>> counting = CountingHere(IncompleteData.from_table(table), Engine())
    >>> [counts.tolist() for counts in counting.whole([[0], [0, 1]])]
    [[2.0, 1.0], [1.0, 1.0, 0.0, 0.0]]
    """

    def __init__(self, data: IncompleteData, engine: Engine) -> None:
        self.data, self.engine = data, engine
        self.names, self.states, self.card = data.names, data.states, data.card
        self.n_rows = data.n_rows
        self.columns = np.ascontiguousarray(data.codes.T)
        if data.weights is None:
            self.grid, self.weights, self.total = 1.0, np.empty(0), float(self.n_rows)
        else:
            self.grid = grid_of(self.n_rows, float(data.weights.max(initial=0.0)))
            self.weights = on_grid(data.weights, self.grid)
            self.total = float(self.weights.sum())

    def sample(self, n_rows: int) -> IncompleteData:
        """Return some of the rows; see `Counting`."""
        if n_rows >= self.n_rows:
            return self.data
        chosen = is_sampled(np.arange(self.n_rows), n_rows, self.n_rows)
        return self.data.pick(np.flatnonzero(chosen))

    def whole(self, sets: Sequence[Sequence[int]]) -> list[Counts]:
        """Count rows; see `Counting`."""
        n_threads = self.engine.n_threads
        return whole_counts(self.columns, self.card, self.weights, sets, n_threads)

    def under(self, dag: Dag) -> ExpectingHere:
        """Compile the rows for a structure; see `Counting`."""
        evidence = _core.Evidence(
            self.card,
            *parents_of(dag),
            self.columns,
            self.weights,
            self.grid,
            self.engine.n_threads,
        )
        n_threads = self.engine.fit_threads(evidence.size, self.names)
        return ExpectingHere(
            dag, evidence.observed_counts, evidence, self.grid, n_threads
        )


@dataclass(frozen=True, slots=True, eq=False)
class ExpectingHere:
    """A table in memory, compiled for a structure."""

    dag: Dag
    whole: Counts
    evidence: _core.Evidence
    grid: float
    n_threads: int

    def expect(self, cpts: Counts) -> Expected:
        """Return what is expected; see `Expecting`."""
        sums = self.evidence.expect(cpts, self.n_threads)
        return expected_from(self.whole, sums, cpts, self.grid)


# --- whoever counts -------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """Parameters fitted by expectation-maximisation, whoever has counted."""

    cpts: Counts
    counts: Counts
    log_likelihood: Counts
    converged: bool
    stopped: Stopped

    def expected_log_likelihood(self) -> float:
        """Return the log-likelihood of the expected counts."""
        seen = self.counts > 0
        return float(self.counts[seen] @ np.log(self.cpts[seen]))


def fit(
    expecting: Expecting,
    card: NDArray[np.int32],
    cpts: Counts,
    *,
    clock: Clock,
    tol: float,
    ess: float = 0.0,
    max_iter: int = 500,
) -> Fit:
    """Run expectation-maximisation of the parameters from ``cpts``.

    At the end of the time, or at Ctrl-C, what was found so far is returned; the first
    expectation is never left out.

    Parameters
    ----------
    expecting : Expecting
        Who counts.
    card : ndarray
        Number of states of every variable.
    cpts : ndarray
        Where to start.
    clock : Clock
        Its limit is kept between iterations.
    tol : float
        Converged when an iteration gains less (in nats, of all rows together).
    ess : float, default=0.0
        Of a Dirichlet prior, spread evenly over each table.
    max_iter : int, default=500
        Largest number of iterations.
    """
    ascent = _core.Ascent(card, *parents_of(expecting.dag), cpts, ess, max_iter, tol)
    stopped = Stopped.NOTHING
    try:
        while not ascent.tell(*expecting.expect(ascent.asked)):
            if clock.is_over:
                stopped = Stopped.TIME
                break
    except KeyboardInterrupt:
        if not len(ascent.run.log_likelihood):
            raise
        stopped = Stopped.INTERRUPT
    except TimeoutError:
        if not len(ascent.run.log_likelihood):
            raise
        stopped = Stopped.TIME
    found = ascent.run
    if not np.isfinite(found.log_likelihood[-1]):
        msg = "a row is impossible under the network to start from."
        raise DataError(msg)
    return Fit(
        found.cpts.copy(),
        found.counts.copy(),
        found.log_likelihood.copy(),
        found.converged,
        stopped,
    )


def observed_score(
    counting: Counting, dag: Dag, fitted: Fit, score: Score, rules: ParentRules
) -> float:
    """Return the observed-data score of a structure (Cheeseman and Stutz 1996).

    The score of what is expected under fitted parameters, less the log-likelihood of
    that, and with the log-likelihood of what is observed.
    """
    card, offset = counting.card, 0
    known: dict[tuple[int, ...], Counts] = {}
    for child, parents in enumerate(dag.parents):
        members = (child, *parents)
        shape = [int(card[v]) for v in members]
        size = math.prod(shape)
        table = fitted.counts[offset : offset + size].reshape(shape, order="F")
        offset += size
        for own, counts in ((members, table), (parents, table.sum(axis=0))):
            order, ascending = np.argsort(own), tuple(sorted(own))
            known.setdefault(ascending, counts.transpose(order).ravel(order="F"))
    sets = list(known)
    unsupported = np.zeros(len(sets))
    if score.support > 0:
        for s, shown in enumerate(counting.whole(sets)):
            unsupported[s] = known[sets[s]][shown == 0].sum()
    occupied = [counts[counts > 0] for counts in known.values()]
    scorer = _core.Scorer.known(
        card,
        counting.total,
        core_rule(score, rules.choices),
        offsets_of([len(members) for members in sets]),
        np.array([v for members in sets for v in members], np.int32),
        offsets_of([len(counts) for counts in occupied]),
        np.concatenate(occupied),
        unsupported,
    )
    families = scorer.families(
        np.arange(len(card), dtype=np.int32), *parents_of(dag), 1
    )
    expected = float(families.sum())
    return (
        expected - fitted.expected_log_likelihood() + float(fitted.log_likelihood[-1])
    )
