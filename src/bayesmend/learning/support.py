"""What observed rows say of a learned network: its support, and where it has none.

A parent configuration that no row shows with the whole family observed was learned from
filled cells alone. It takes the distribution of the child given fewer parents instead,
those for which there are observed rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import wraps
from itertools import combinations
from typing import NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayesmend._warn import warn
from bayesmend.data.mended import mutual_information
from bayesmend.data.states import MISSING, listing, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import SupportWarning
from bayesmend.graph.dag import Dag
from bayesmend.learning.counting import Counting
from bayesmend.learning.result import LearnResult
from bayesmend.network.cpt import distributions
from bayesmend.network.network import Network
from bayesmend.network.support import cell_numbers
from bayesmend.score import Score

__all__ = [
    "ObservedRows",
    "supported_network",
    "told_of_support",
    "unsupported_in_words",
    "untold_of_support",
]

_P = ParamSpec("_P")
_R = TypeVar("_R", bound=LearnResult)
# How many learning functions, each called by the one before, are at work.
_depth: ContextVar[int] = ContextVar("_depth", default=0)
# So few unsupported cells of a variable, or so small a share of its mended cells, are
# no news: rare states and rare configurations have no example by chance.
_FEW, _SMALL_SHARE = 10, 0.1
_SHOWN = 8  # variables


_MOST_KNOWN = 2**22  # probabilities that are remembered

_Family = tuple[int, tuple[int, ...]]


class _Shrunk(NamedTuple):
    """Parent configurations without any example, and what they take instead."""

    configs: NDArray[np.intp]
    distributions: NDArray[np.float64]


def told_of_support(
    function: Callable[_P, _R],
) -> Callable[_P, _R]:
    """Have a learning function warn of mended cells without an observed example.

    Only the outermost of them does: `learn` calls others.
    """

    @wraps(function)
    def call(*args: _P.args, **options: _P.kwargs) -> _R:
        token = _depth.set(_depth.get() + 1)
        try:
            result = function(*args, **options)
        finally:
            _depth.reset(token)
        if _depth.get() == 0 and (message := unsupported_in_words(result)):
            warn(message, SupportWarning)
        return result

    return call


@contextmanager
def untold_of_support() -> Iterator[None]:
    """Have learning functions not warn: nobody will look at what they mend."""
    token = _depth.set(_depth.get() + 1)
    try:
        yield
    finally:
        _depth.reset(token)


def unsupported_in_words(result: LearnResult) -> str | None:
    """Count the mended cells without an observed example, and say what to do.

    None where they are no news: in no variable more than 10 of them, and more than a
    tenth of its mended cells.
    """
    names = result.cells.names
    mended = np.bincount(result.cells.variables, minlength=len(names)).tolist()
    totals = dict(zip(names, mended, strict=True))
    counts = {
        name: count
        for name, count in result.unsupported.items()
        if count > _FEW and count > _SMALL_SHARE * totals[name]
    }
    if not counts:
        return None
    most_first = sorted(counts, key=lambda name: -counts[name])
    listed = [f"{name} ({counts[name]:,} of {totals[name]:,})" for name in most_first]
    n_cells = quantity(sum(counts.values()), "mended cell")
    return (
        f"{n_cells} have no observed example of what fills them: "
        f"{listing(listed, _SHOWN)}. Their states are carried over from other rows, "
        "and their probabilities are not to be trusted: look at the cells whose "
        "supported is False, and leave them missing unless you can vouch for them."
    )


def supported_network(network: Network, observed: ObservedRows) -> Network:
    """Note of which cells observed rows give an example, and shrink the rest.

    With a support of 0 all stays as it is.

    Parameters
    ----------
    network : Network
        Learned from the table, its variables in the same order.
    observed : ObservedRows
        What is observed of the table.
    """
    if not observed.matters:
        return network
    support = tuple(
        observed.count(child, parents) > 0
        for child, parents in enumerate(network.dag.parents)
    )
    return replace(
        network, cpts=observed.shrink(network.dag, network.cpts), support=support
    )


class ObservedRows:
    """The rows of a table where a family is observed, to count and to shrink to.

    Parameters
    ----------
    data : IncompleteData
        The table with its missing cells.
    score : Score
        The rule of learning: its equivalent sample size is that of distributions given
        fewer parents. With a support of 0 nothing matters.
    """

    def __init__(self, data: IncompleteData, score: Score) -> None:
        patterns = data.patterns()
        seen = patterns.weights > 0
        self.cells = np.ascontiguousarray(patterns.codes[seen].T)
        self.weights, self.card = patterns.weights[seen], data.card
        self.ess, self.matters = score.ess, score.support > 0
        self._known: dict[_Family, _Shrunk | None] = {}
        self._n_known = 0

    @classmethod
    def counted(cls, counting: Counting, score: Score) -> ObservedRows:
        """Ask for counts of rows that lie elsewhere."""
        return _RowsElsewhere(counting, score)

    def shrink(
        self, dag: Dag, cpts: Sequence[NDArray[np.float64]]
    ) -> tuple[NDArray[np.float64], ...]:
        """Give parent configurations without any example what fewer parents say.

        In families that miss a cell somewhere. As many parents stay as leave an
        observed row, and among these the ones that tell most about the child in the
        observed rows (mutual information; then the first). Families of a variable that
        is never observed stay as they are: of them there is nothing else to go by.
        """
        if not self.matters:
            return tuple(cpts)
        tables = []
        for child, (parents, cpt) in enumerate(zip(dag.parents, cpts, strict=True)):
            shrunk = self._shrunk(child, tuple(parents))
            if shrunk is not None:
                cpt = cpt.copy()
                cpt[shrunk.configs] = shrunk.distributions
            tables.append(cpt)
        return tuple(tables)

    def count(self, child: int, parents: Sequence[int]) -> NDArray[np.float64]:
        """Count the rows that show a whole family, in the layout of its table."""
        numbers = cell_numbers(self.cells, self.card, child, parents)
        whole = numbers >= 0
        n_configs = int(np.prod(self.card[list(parents)], dtype=np.int64))
        card = int(self.card[child])
        counts = np.bincount(
            numbers[whole], self.weights[whole], minlength=n_configs * card
        )
        return counts.astype(np.float64).reshape(n_configs, card)

    def _lacks_some(self, family: list[int]) -> bool:
        """Tell whether a family misses cells, but of no variable all of them."""
        is_missing = self.cells[family] == MISSING
        return bool(is_missing.any() and not is_missing.all(axis=1).any())

    def _shrunk(self, child: int, parents: tuple[int, ...]) -> _Shrunk | None:
        family = child, parents
        if family not in self._known:
            self._known[family] = None
            if self._lacks_some([child, *parents]):
                configs = np.flatnonzero(self.count(child, parents).sum(axis=1) == 0)
                if len(configs):
                    found = self._given_fewer(child, parents, configs)
                    self._remember(family, _Shrunk(configs, found))
        return self._known[family]

    def _remember(self, family: _Family, shrunk: _Shrunk) -> None:
        self._n_known += shrunk.distributions.size
        if self._n_known > _MOST_KNOWN:
            self._known.clear()
            self._n_known = shrunk.distributions.size
        self._known[family] = shrunk

    def _given_fewer(
        self, child: int, parents: Sequence[int], configs: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return distributions of the child for parent configurations never seen."""
        states = _states_of(configs, [int(self.card[p]) for p in parents])
        result = np.empty((len(configs), int(self.card[child])))
        is_open = np.ones(len(configs), bool)
        for size in range(len(parents) - 1, -1, -1):
            for kept in self._by_information(child, parents, size):
                members = [parents[k] for k in kept]
                counts = self.count(child, members)
                place = _number_of(
                    states[:, kept], [int(self.card[m]) for m in members]
                )
                # Without any parent there is nothing left to drop.
                found = is_open & ((counts.sum(axis=1) > 0)[place] | (size == 0))
                result[found] = distributions(counts, self.ess)[place[found]]
                is_open &= ~found
                if not is_open.any():
                    return result
        return result

    def _by_information(
        self, child: int, parents: Sequence[int], size: int
    ) -> list[list[int]]:
        """List the ways to keep so many parents, the most informative first."""
        ways = [list(kept) for kept in combinations(range(len(parents)), size)]
        told = [
            mutual_information(self.count(child, [parents[k] for k in kept]))
            for kept in ways
        ]
        # To rounding, so that equal ones are told apart by their order alone.
        return [ways[w] for w in np.argsort(-np.round(told, 12), kind="stable")]


class _RowsElsewhere(ObservedRows):
    """The same of rows that are counted where they lie."""

    def __init__(self, counting: Counting, score: Score) -> None:
        self.counting, self.card = counting, counting.card
        self.ess, self.matters = score.ess, score.support > 0
        self._known, self._n_known = {}, 0
        self._counts: dict[_Family, NDArray[np.float64]] = {}
        each = counting.whole([[v] for v in range(len(counting.names))])
        self._n_shown = [float(counts.sum()) for counts in each]

    def count(self, child: int, parents: Sequence[int]) -> NDArray[np.float64]:
        """Count the rows that show a whole family, in the layout of its table."""
        family = child, tuple(parents)
        if family not in self._counts:
            counts = self.counting.whole([[child, *parents]])[0]
            self._counts[family] = counts.reshape(-1, int(self.card[child]))
        return self._counts[family]

    def _lacks_some(self, family: list[int]) -> bool:
        shown = [self._n_shown[v] for v in family]
        return min(shown) < self.counting.total and min(shown) > 0


def _states_of(configs: NDArray[np.intp], card: list[int]) -> NDArray[np.intp]:
    """Return the state of each parent in each configuration, the first fastest."""
    states = np.empty((len(configs), len(card)), np.intp)
    for k, r in enumerate(card):
        states[:, k] = configs % r
        configs = configs // r
    return states


def _number_of(states: NDArray[np.intp], card: list[int]) -> NDArray[np.intp]:
    """Undo `_states_of`."""
    numbers = np.zeros(len(states), np.intp)
    for k in range(len(card) - 1, -1, -1):
        numbers = numbers * card[k] + states[:, k]
    return numbers
