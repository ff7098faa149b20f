"""Completions of single variables, and how many columns they make together.

A family's score depends on the completion of its own variables only, so the completions
of a family are combinations of completions of its variables: their *variants*. Beside
the symbols of the paper: ``c`` is the number of missing cells of a family, ``t`` is
``locality``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.constraints import ParentRules
from bayesmend.learning.completion import checked_completion

__all__ = [
    "Scope",
    "Variants",
    "check_columns",
    "count_columns",
    "scope_of",
    "variants_of",
]

ChangeCounts = tuple[int, ...]
"""How many variants make 0, 1, ... changes to the completion in hand."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The cells to decide, and which of their completions to consider.

    Parameters
    ----------
    card : ndarray of shape (n_vars,)
        Number of states of every variable.
    rows : tuple of ndarray
        The rows in which each variable has to be decided.
    base : tuple of ndarray, optional
        Codes of these cells in the completion in hand; None when all completions are
        considered.
    locality : int, default=0
        Largest number of changes to `base` inside a family.
    """

    card: NDArray[np.int32]
    rows: tuple[NDArray[np.intp], ...]
    base: tuple[NDArray[np.uint8], ...] | None = None
    locality: int = 0

    @property
    def n_cells(self) -> int:
        """Number of cells to decide."""
        return sum(len(rows) for rows in self.rows)

    def change_counts(self, variable: int) -> ChangeCounts:
        """Count the variants of a variable by their number of changes.

        Where all completions are considered, none of them counts as a change.
        """
        n_cells, card = len(self.rows[variable]), int(self.card[variable])
        if self.base is None:
            return (card**n_cells,)
        largest = min(self.locality, n_cells)
        return tuple(comb(n_cells, s) * (card - 1) ** s for s in range(largest + 1))


def scope_of(
    data: IncompleteData,
    completion: Any,
    locality: int | None,
) -> tuple[Scope, IncompleteData | None]:
    """Find the cells to decide, and check the completion to stay near to.

    A missing cell of a variable with a single state has nothing to decide.
    """
    if (completion is None) != (locality is None):
        given, lacking = ("locality", "completion")
        if locality is None:
            given, lacking = lacking, given
        msg = f"{given} was given without {lacking}. Pass both, or neither."
        raise ParameterError(msg)
    card = data.card
    open_cells = data.missing_mask & (card > 1)
    rows = tuple(np.flatnonzero(column) for column in open_cells.T)
    if completion is None or locality is None:
        return Scope(card, rows), None
    check_integer("locality", locality)
    near = checked_completion(data, completion)
    base = tuple(near.codes[mine, v] for v, mine in enumerate(rows))
    n_cells = sum(len(mine) for mine in rows)
    return Scope(card, rows, base, min(int(locality), n_cells)), near


@dataclass(frozen=True, slots=True)
class Variants:
    """The completions of one variable, those with fewer changes first.

    Parameters
    ----------
    codes : ndarray of shape (n_variants, n_cells), uint8
        The states of the cells in every variant.
    changes : ndarray of shape (n_variants,)
        How many of them differ from the completion in hand.
    n_within : ndarray of shape (locality + 1,)
        ``n_within[s]`` variants make at most ``s`` changes; they come first.
    """

    codes: NDArray[np.uint8]
    changes: NDArray[np.intp]
    n_within: NDArray[np.intp]


def variants_of(scope: Scope, variable: int) -> Variants:
    """List the completions of one variable.

    Examples
    --------
    >>> rows = (np.array([4, 7]),)
    >>> variants_of(Scope(np.array([2]), rows), 0).codes.tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> base = (np.array([1, 0], np.uint8),)
    >>> near = Scope(np.array([2]), rows, base, locality=1)
    >>> variants_of(near, 0).codes.tolist()
    [[1, 0], [0, 0], [1, 1]]
    """
    card, n_cells = int(scope.card[variable]), len(scope.rows[variable])
    counts = scope.change_counts(variable)
    n_within = np.cumsum([*counts, *[0] * (scope.locality + 1 - len(counts))])
    changes = np.repeat(np.arange(len(counts)), counts)
    if scope.base is None:
        powers = card ** np.arange(n_cells - 1, -1, -1, dtype=np.int64)
        codes = np.arange(counts[0])[:, None] // powers % card
    else:
        codes = _near(scope.base[variable], card, len(counts) - 1)
    return Variants(codes.astype(np.uint8), changes, n_within.astype(np.intp))


def _near(base: NDArray[np.uint8], card: int, most: int) -> NDArray[np.int64]:
    """List completions with at most `most` cells other than in `base`."""
    blocks = []
    for n_changes in range(most + 1):
        moved = list(combinations(range(len(base)), n_changes))
        steps = list(product(range(1, card), repeat=n_changes))
        block = np.tile(base.astype(np.int64), (len(moved), len(steps), 1))
        where = np.array(moved, np.intp).reshape(len(moved), 1, n_changes)
        here = np.arange(len(moved))[:, None, None], np.arange(len(steps))[:, None]
        shift = np.array(steps, np.int64).reshape(len(steps), n_changes)
        block[(*here, where)] = (block[(*here, where)] + shift) % card
        blocks.append(block.reshape(len(moved) * len(steps), len(base)))
    return np.concatenate(blocks)


def count_columns(scope: Scope, rules: ParentRules) -> int:
    """Count the parent sets with completions, without listing one.

    Returns
    -------
    int
        Exact, however large.

    Examples
    --------
    >>> from bayesmend.graph.constraints import Constraints
    >>> rules = Constraints().rules(["a", "b"], max_parents=1)
    >>> count_columns(Scope(np.array([2, 3]), (np.arange(2), np.arange(1))), rules)
    31
    """
    counts = [scope.change_counts(v) for v in range(len(scope.rows))]
    return sum(_count_of(child, counts, scope, rules) for child in range(len(counts)))


def _count_of(
    child: int, counts: Sequence[ChangeCounts], scope: Scope, rules: ParentRules
) -> int:
    required = np.flatnonzero(rules.required[child]).tolist()
    base = counts[child]
    for parent in required:
        base = _convolve(base, counts[parent], scope.locality)
    room = int(rules.limit[child]) - len(required)
    # by_size[s]: choices of s further parents; parents with equal counts go together.
    by_size: list[ChangeCounts] = [base] + [(0,)] * room
    may = (rules.allowed[child] != 0) & (rules.required[child] == 0)
    optional = np.flatnonzero(may).tolist()
    for own, n_alike in Counter(counts[p] for p in optional).items():
        for size in range(room, 0, -1):
            power: ChangeCounts = (1,)
            for taken in range(1, min(size, n_alike) + 1):
                power = _convolve(power, own, scope.locality)
                more = _convolve(by_size[size - taken], power, scope.locality)
                ways = comb(n_alike, taken)
                by_size[size] = _add(by_size[size], tuple(ways * n for n in more))
    return sum(map(sum, by_size))


def _convolve(one: ChangeCounts, two: ChangeCounts, most: int) -> ChangeCounts:
    total = [0] * min(len(one) + len(two) - 1, most + 1)
    for i, a in enumerate(one):
        for j, b in enumerate(two[: most + 1 - i]):
            total[i + j] += a * b
    return tuple(total)


def _add(one: ChangeCounts, two: ChangeCounts) -> ChangeCounts:
    if len(one) < len(two):
        one, two = two, one
    return tuple(a + (two[i] if i < len(two) else 0) for i, a in enumerate(one))


def check_columns(n_columns: int, max_columns: int) -> None:
    """Refuse a reduction that would be too large, and say what to do instead."""
    check_integer("max_columns", max_columns, 1)
    if n_columns <= max_columns:
        return
    # Python prints no integer of thousands of digits.
    exponent = log10(n_columns)
    size = f"{n_columns:,}" if exponent < 15 else f"about 10^{exponent:.0f}"
    msg = (
        f"the reduction needs {size} columns (parent sets with a completion of their "
        f"cells), more than max_columns={max_columns:,}. Use method='exact' (branch "
        "and bound), pass a completion with a locality, lower max_parents, leave "
        "fewer cells missing, or raise max_columns."
    )
    raise ParameterError(msg)
