"""Whether missing cells look innocent: tests that need no model.

If cells are missing completely at random, whether a cell is missing is independent of
every variable; in the rows where another variable is observed, that can be tested. What
cannot be tested is whether it depends on the missing state itself: only a network tells
something of that, through its neighbours (`learn_em` with ``mechanism="auto"``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import check_integer
from bayesmend._columns import in_columns, show_probability
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ParameterError
from bayesmend.seed import Seed, as_generator

__all__ = ["Dependence", "Innocence", "brief_innocence", "innocence"]

_LEVEL = 0.05
_MOST_CELLS = 10**9  # of all permutations of one variable
_MOST_ROWS = 10**8  # that weights may stand for
# Permutations are dealt out set by set where a set of missing variables has so many
# rows, and otherwise row by row, so many cells at once.
_ROWS_PER_SET, _AT_ONCE = 8, 2**24
# Of the brief test: permutations, products that are added up, and the fewest rows.
_FEW_PERMUTATIONS, _WORK, _FEW_ROWS = 99, 3e9, 200


class Dependence(NamedTuple):
    """Whether the missing cells of one variable depend on what another holds.

    ``statistic`` is G, ``p_value`` its tail under independence, ``corrected`` the same
    corrected for the number of other variables (Holm), and ``effect`` Cramer's V: 0 for
    none, 1 where the one settles the other.
    """

    variable: str
    on: str
    statistic: float
    freedom: int
    p_value: float
    corrected: float
    effect: float

    @property
    def is_tenable(self) -> bool:
        """Whether independence is, at the level of 5 %."""
        return self.corrected > _LEVEL


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Innocence(Shown):
    """Whether missing cells can be missing completely at random.

    Parameters
    ----------
    strongest : tuple of Dependence
        For each variable with missing and observed cells, the other variable that its
        missing cells depend on most clearly; none where there is nothing to test.
    p_value : float
        Of all together, by permutation.
    n_permutations : int
        How many there were.
    n_rows : int
        Rows that were tested.
    """

    strongest: tuple[Dependence, ...]
    p_value: float
    n_permutations: int
    n_rows: int

    @property
    def is_tenable(self) -> bool:
        """Whether nothing speaks against it at the level of 5 %."""
        return self.p_value > _LEVEL

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "p_value": self.p_value,
            "n_permutations": self.n_permutations,
            "n_rows": self.n_rows,
            "strongest": [found._asdict() for found in self.strongest],
        }

    def __str__(self) -> str:
        verdict = "tenable" if self.is_tenable else "not tenable"
        head = ("variable", "at random", "depends most on", "corrected p", "effect (V)")
        rows = [
            (
                d.variable,
                "tenable" if d.is_tenable else "not tenable",
                d.on,
                show_probability(d.corrected),
                f"{d.effect:.3f}",
            )
            for d in self.strongest
        ]
        p = show_probability(self.p_value)
        first = f"missing completely at random: {verdict} (p = {p})"
        return "\n".join([first, *(in_columns([head, *rows]) if rows else [])])

    def __repr__(self) -> str:
        p = show_probability(self.p_value)
        return f"Innocence({len(self.strongest)} variables, p = {p})"


@entrance
def innocence(
    data: Any,
    *,
    n_permutations: int = 199,
    seed: Seed = None,
    **reading: Unpack[Reading],
) -> Innocence:
    """Test whether cells can be missing completely at random.

    For every pair of a variable with missing cells and another variable, a G-test in
    the rows where the other one is observed. All together by permutation: the observed
    cells of each variable are exchanged among their rows, and the largest
    sum of its statistics, standardised by their degrees of freedom, is compared.

    Parameters
    ----------
    {table}
    n_permutations : int, default=199
        For the test of all together.
    {seed}
    {reading}

    Returns
    -------
    Innocence
        Per variable the strongest dependence, and the test of all together.

    Examples
    --------
    >>> import bayesmend as bm
    >>> rows = bm.load_network("asia").sample(500, seed=1)
    >>> innocent = bm.hide_mcar(rows, 0.2, seed=1).data
    >>> bm.learning.innocence(innocent, seed=1).is_tenable
    True
    >>> telling = bm.hide_mar(rows, 0.2, depends_on=["dysp"], strength=2, seed=1).data
    >>> bm.learning.innocence(telling, seed=1).is_tenable
    False
    """
    check_integer("n_permutations", n_permutations, 1)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    if n_permutations * table.n_rows > _MOST_CELLS:
        msg = (
            f"{spell('n_permutations', n_permutations)} of {table.n_rows:,} rows are "
            f"more than {_MOST_CELLS:,} cells in all. Ask for fewer."
        )
        raise ParameterError(msg)
    if not _counts_rows(table):
        msg = (
            "tests of innocence count rows: weights must be whole numbers, of at most "
            f"{_MOST_ROWS:,} in all. Leave the weights out."
        )
        raise ParameterError(msg)
    return _tested(table, n_permutations, as_generator(seed))


def brief_innocence(table: IncompleteData) -> Innocence | None:
    """Test it within a limit of work, on some of the rows if need be.

    None where weights are no numbers of rows, or too few rows would be left. The answer
    is the same each time.
    """
    if not _counts_rows(table):
        return None
    generator = np.random.default_rng(0)
    n_some = int(table.missing_mask.any(axis=0).sum())
    per_row = _FEW_PERMUTATIONS * max(n_some, 1) * float(table.card.sum())
    most = int(_WORK / per_row)
    if table.n_rows > most:
        if most < _FEW_ROWS or table.weights is not None:
            return None
        rows = np.sort(generator.choice(table.n_rows, most, replace=False))
        table = IncompleteData.from_codes(
            table.codes[rows], names=table.names, states=table.states
        )
    return _tested(table, _FEW_PERMUTATIONS, generator)


def _counts_rows(table: IncompleteData) -> bool:
    weights = table.weights
    if weights is None:
        return True
    return bool((weights % 1 == 0).all() and weights.sum() <= _MOST_ROWS)


def _tested(
    table: IncompleteData, n_permutations: int, generator: np.random.Generator
) -> Innocence:
    rows = _Rows.of(table)
    pairs, together = [], []
    for v in range(table.n_vars):
        _core.check_calls()
        seen = table.codes[:, v] != MISSING
        states, codes = np.unique(table.codes[seen, v], return_inverse=True)
        if len(states) < 2 or not len(rows.some):
            continue
        arranged = rows.arranged(seen, codes, len(states), n_permutations, generator)
        own = rows.some != v  # where the other is observed, its indicator is constant
        found, freedom = _statistics(next(arranged))
        drawn = [_statistics(some)[0][:, own].sum(axis=1) for some in arranged]
        if freedom[own].any():
            sums = float(found[0, own].sum()), np.concatenate(drawn)
            together.append((*sums, int(freedom[own].sum())))
        n_seen = round(float(rows.weights[seen].sum()))
        pairs += [
            _pair(table, int(i), v, float(g), int(df), n_seen)
            for i, g, df in zip(rows.some, found[0], freedom, strict=True)
            if df > 0 and i != v
        ]
    return Innocence(
        _strongest(pairs, table.names),
        _together(together),
        n_permutations,
        round(float(rows.weights.sum())),
    )


class _Arranged(NamedTuple):
    """How often each state falls together with each indicator, per arrangement."""

    inside: NDArray[np.float64]  # (n_arrangements, n_states, n_indicators)
    sizes: NDArray[np.float64]  # of the states
    total: NDArray[np.float64]  # of the indicators


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Rows:
    """The rows of a table by the set of variables that are missing in them."""

    some: NDArray[np.intp]  # the variables with missing and observed cells
    sets: NDArray[np.float64]  # (n_sets, n_some), 0 or 1
    set_of: NDArray[np.intp]  # of each row
    weights: NDArray[np.float64]
    has_weights: bool

    @classmethod
    def of(cls, table: IncompleteData) -> _Rows:
        mask = np.asarray(table.missing_mask)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        counted = mask[weights > 0]
        some = np.flatnonzero(counted.any(axis=0) & ~counted.all(axis=0))
        sets, set_of = np.unique(mask[:, some], axis=0, return_inverse=True)
        return cls(
            some,
            sets.astype(np.float64),
            set_of.reshape(-1),
            weights,
            table.weights is not None,
        )

    def arranged(
        self,
        seen: NDArray[np.bool_],
        codes: NDArray[np.intp],
        n_states: int,
        n_permutations: int,
        generator: np.random.Generator,
    ) -> Iterator[_Arranged]:
        """Arrange the states of a variable as they are, then at random, in blocks."""
        set_of, weights = self.set_of[seen], self.weights[seen]
        counts = np.zeros((n_states, len(self.sets)))
        np.add.at(counts, (codes, set_of), weights)
        sizes, total = counts.sum(axis=1), counts.sum(axis=0) @ self.sets
        yield _Arranged(np.einsum("sp,pi->si", counts, self.sets)[None], sizes, total)
        if self.has_weights or len(codes) > _ROWS_PER_SET * len(self.sets):
            draws = (_dealt(counts, generator) for _ in range(n_permutations))
            for dealt in draws:
                inside = np.einsum("sp,pi->si", dealt, self.sets)
                yield _Arranged(inside[None], sizes, total)
            return
        hidden = self.sets[set_of]
        at_once = max(_AT_ONCE // max(len(codes), 1), 1)
        for begin in range(0, n_permutations, at_once):
            n = min(at_once, n_permutations - begin)
            shuffled = generator.permuted(np.tile(codes, (n, 1)), axis=1)
            inside = np.stack(
                [
                    np.einsum("br,ri->bi", (shuffled == state).astype(float), hidden)
                    for state in range(n_states)
                ],
                axis=1,
            )
            yield _Arranged(inside, sizes, total)


def _dealt(
    counts: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw a table of counts with the same margins, as if rows were exchanged."""
    left = counts.sum(axis=0).astype(np.int64)
    dealt = np.empty(counts.shape)
    for state, size in enumerate(counts.sum(axis=1).astype(np.int64)[:-1]):
        drawn = generator.multivariate_hypergeometric(left, int(size))
        dealt[state] = drawn
        left = left - drawn
    dealt[-1] = left
    return dealt


def _statistics(
    arranged: _Arranged,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return G of every indicator, for each arrangement of a variable's states."""
    inside, sizes, total = arranged
    n_rows = float(sizes.sum())
    alone = n_rows * math.log(n_rows) - _entropies(total) - _entropies(n_rows - total)
    statistic = np.tile(alone, (len(inside), 1))
    for state, size in enumerate(sizes.tolist()):
        within = inside[:, state]
        statistic += _entropies(within) + _entropies(size - within)
        statistic -= size * math.log(max(size, 1.0))
    varies = (total > 0) & (total < n_rows)
    freedom = np.where(varies, np.count_nonzero(sizes) - 1, 0)
    return np.maximum(2 * statistic, 0.0), freedom


def _entropies(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(counts * np.log(np.maximum(counts, 1.0)))


def _pair(
    table: IncompleteData, own: int, other: int, g: float, freedom: int, n_rows: int
) -> Dependence:
    return Dependence(
        table.names[own],
        table.names[other],
        g,
        freedom,
        tail_of_chi_square(g, freedom),
        1.0,
        math.sqrt(min(g / n_rows, 1.0)) if n_rows else 0.0,
    )


def tail_of_chi_square(x: float, freedom: int) -> float:
    """Return the probability of more than x, by the finite sum for whole freedoms.

    Examples
    --------
    >>> round(tail_of_chi_square(3.841459, 1), 6)
    0.05
    >>> round(tail_of_chi_square(9.21034, 2), 6)
    0.01
    """
    half = x / 2
    if half <= 0:
        return 1.0
    if freedom % 2:
        logs = [
            (k - 0.5) * math.log(half) - half - math.lgamma(k + 0.5)
            for k in range(1, freedom // 2 + 1)
        ]
        return min(math.erfc(math.sqrt(half)) + math.fsum(map(math.exp, logs)), 1.0)
    logs = [k * math.log(half) - half - math.lgamma(k + 1) for k in range(freedom // 2)]
    return min(math.fsum(map(math.exp, logs)), 1.0)


def _strongest(
    pairs: list[Dependence], names: tuple[str, ...]
) -> tuple[Dependence, ...]:
    """Return the clearest dependence of each variable, its p-value corrected."""
    found = []
    for name in names:
        own = [pair for pair in pairs if pair.variable == name]
        if not own:
            continue
        best = min(own, key=lambda pair: (pair.p_value, -pair.effect))
        # Of the smallest p-value, Holm's correction is Bonferroni's.
        found.append(best._replace(corrected=min(best.p_value * len(own), 1.0)))
    return tuple(found)


def _together(found: list[tuple[float, NDArray[np.float64], int]]) -> float:
    """Return the share of permutations that are at least as far out as the table.

    Sums are standardised as those of chi-square variables, not by what permutations
    show of them: the table is then one among alike, and the level is kept exactly.
    """
    if not found:
        return 1.0
    own = max((g - freedom) / math.sqrt(2 * freedom) for g, _, freedom in found)
    drawn = [(g - freedom) / math.sqrt(2 * freedom) for _, g, freedom in found]
    most = np.array(drawn).max(axis=0)
    return float((1 + np.count_nonzero(most >= own - 1e-9)) / (1 + len(most)))
