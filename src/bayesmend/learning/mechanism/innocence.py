"""Whether missing cells look innocent: tests that need no model.

If cells are missing completely at random, whether a cell is missing is independent of
every variable; in the rows where another variable is observed, that can be tested. What
cannot be tested is whether it depends on the missing state itself: only a network tells
something of that, through its neighbours (`learn_em` with ``mechanism="auto"``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend._columns import in_columns, show_probability
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ParameterError
from bayesmend.seed import Seed, as_generator

__all__ = ["Dependence", "Innocence", "innocence"]

_LEVEL = 0.05
_MOST_CELLS = 10**9  # of all permutations of one variable


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
    """

    strongest: tuple[Dependence, ...]
    p_value: float
    n_permutations: int

    @property
    def is_tenable(self) -> bool:
        """Whether nothing speaks against it at the level of 5 %."""
        return self.p_value > _LEVEL

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "p_value": self.p_value,
            "n_permutations": self.n_permutations,
            "strongest": [found._asdict() for found in self.strongest],
        }

    def __str__(self) -> str:
        verdict = "tenable" if self.is_tenable else "not tenable"
        head = ("variable", "depends most on", "corrected p", "effect (V)")
        rows = [
            (d.variable, d.on, show_probability(d.corrected), f"{d.effect:.3f}")
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
    standardised sum of its statistics is compared.

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
    if table.weights is not None:
        msg = "tests of innocence count rows, and these have weights. Repeat the rows."
        raise ParameterError(msg)
    mask = np.asarray(table.missing_mask)
    some = np.flatnonzero(mask.any(axis=0) & ~mask.all(axis=0))
    hidden = mask[:, some].astype(np.float64)
    pairs, sums, drawn = [], [], []
    generator = as_generator(seed)
    for v in range(table.n_vars):
        seen = np.flatnonzero(~mask[:, v])
        codes, here = table.codes[seen, v], hidden[seen]
        states = np.unique(codes)
        if len(states) < 2:
            continue
        found, freedom = _statistics(codes[None], states, here)
        shuffled = generator.permuted(np.tile(codes, (n_permutations, 1)), axis=1)
        own = some != v  # where the other is observed, its own indicator is constant
        sums.append(float(found[0, own].sum()))
        drawn.append(_statistics(shuffled, states, here)[0][:, own].sum(axis=1))
        n_seen = len(seen)
        pairs += [
            _pair(table, int(i), v, float(g), int(df), n_seen)
            for i, g, df in zip(some, found[0], freedom, strict=True)
            if df > 0 and i != v
        ]
    return Innocence(
        _strongest(pairs, table.names), _together(sums, drawn), n_permutations
    )


def _statistics(
    codes: NDArray[np.uint8], states: NDArray[np.uint8], hidden: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return G of every indicator, for each arrangement of a variable's states."""
    n_rows = hidden.shape[0]
    total = hidden.sum(axis=0)
    alone = n_rows * math.log(n_rows) - _entropies(total) - _entropies(n_rows - total)
    statistic = np.tile(alone, (len(codes), 1))
    for state in states:
        is_state = (codes == state).astype(np.float64)
        size = float(is_state[0].sum())
        inside = np.einsum("br,ri->bi", is_state, hidden)
        statistic += _entropies(inside) + _entropies(size - inside)
        statistic -= size * math.log(size)
    varies = (total > 0) & (total < n_rows)
    freedom = np.where(varies, len(states) - 1, 0)
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


def _together(sums: list[float], drawn: list[NDArray[np.float64]]) -> float:
    """Return the share of permutations that are at least as far out as the table."""
    if not sums:
        return 1.0
    every = np.array(drawn)
    centre = every.mean(axis=1, keepdims=True)
    spread = np.maximum(every.std(axis=1, keepdims=True), 1e-9)
    most = ((every - centre) / spread).max(axis=0)
    own = float(((np.array(sums)[:, None] - centre) / spread).max())
    return float((1 + np.count_nonzero(most >= own - 1e-9)) / (1 + len(most)))
