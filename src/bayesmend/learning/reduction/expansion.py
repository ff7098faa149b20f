"""Columns of the reduction: every parent set under every completion of its cells.

For each child the parent sets grow one parent at a time. A column of a set extended by
a parent is a column of the shorter set and a variant of that parent; since variants are
sorted by their number of changes, the variants that still fit are the first few, and
the position of a column follows from additions alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayesmend._rows import offsets_of
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import ParentRules
from bayesmend.learning.reduction.variants import Scope, Variants, variants_of
from bayesmend.score import Families, FamilyScorer, Score

__all__ = ["Columns", "Expansion"]

# Bytes of the table that one call of the scorer sees.
_TABLE_BYTES = 2**26
_LEAST_BATCH = 256

_Set = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns of one child and one parent set.

    Parameters
    ----------
    parents : tuple of int
        The parent set, ascending.
    variables : tuple of int
        The child and its parents in the order of `variants`.
    variants : ndarray of shape (n_columns, n_parents + 1)
        The variant of each of these variables.
    scores : ndarray of shape (n_columns,)
        What the family is worth under that completion.
    """

    parents: tuple[int, ...]
    variables: tuple[int, ...]
    variants: NDArray[np.intp]
    scores: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Node:
    """All columns of a family, in lexicographic order of the variants.

    ``first[a]`` is the first column that extends column ``a`` of the family without
    its last variable, ``root[c]`` the column of the child and the required parents.
    """

    variables: tuple[int, ...]
    variants: NDArray[np.intp]
    changes: NDArray[np.intp]
    first: NDArray[np.intp]
    root: NDArray[np.intp]


class Expansion:
    """The columns of every child, listed and scored.

    Parameters
    ----------
    data : IncompleteData
        The table.
    scope : Scope
        The cells to decide and the completions to consider.
    rules : ParentRules
        Which parents each child must and may have.
    score : Score
        The rule.
    n_threads : int
        Number of threads; 0 means one per core.
    """

    def __init__(
        self,
        data: IncompleteData,
        scope: Scope,
        rules: ParentRules,
        *,
        score: Score,
        n_threads: int,
    ) -> None:
        self._scope, self._rules = scope, rules
        self.variants = [variants_of(scope, v) for v in range(data.n_vars)]
        self._tables = _VariantScorer(
            data, scope, self.variants, score, rules.choices, n_threads
        )

    def columns_of(self, child: int, *, prune: bool) -> Iterator[Columns]:
        """Return the columns of a child, one parent set after the other.

        A column is pruned when a subset of its parents, under the same completion of
        what remains, scores at least as high.
        """
        required = np.flatnonzero(self._rules.required[child]).tolist()
        may = (self._rules.allowed[child] != 0) & (self._rules.required[child] == 0)
        optional = np.flatnonzero(may).tolist()
        nodes: dict[_Set, _Node] = {(): self._root(child, required)}
        best: dict[_Set, NDArray[np.float64]] = {}
        room = int(self._rules.limit[child]) - len(required)
        for size in range(min(room, len(optional)) + 1):
            sets = list(combinations(optional, size))
            if size:
                nodes |= {s: self._extend(nodes[s[:-1]], s[-1]) for s in sets}
            level = [nodes[s] for s in sets]
            for extra, node, scores in zip(
                sets, level, self._tables.score(level), strict=True
            ):
                below = _best_below(nodes, best, extra)
                best[extra] = np.maximum(scores, below)
                keep = _exceeds(scores, below) if prune else np.isfinite(scores)
                if keep.any():
                    parents = tuple(sorted(node.variables[1:]))
                    yield Columns(
                        parents, node.variables, node.variants[keep], scores[keep]
                    )

    def _root(self, child: int, required: list[int]) -> _Node:
        zero = np.zeros(1, np.intp)
        node = _Node((), np.zeros((1, 0), np.intp), zero, zero, zero)
        for variable in (child, *required):
            node = self._extend(node, variable)
        return _Node(
            node.variables,
            node.variants,
            node.changes,
            node.first,
            np.arange(len(node.changes)),
        )

    def _extend(self, node: _Node, variable: int) -> _Node:
        own = self.variants[variable]
        n_fitting = own.n_within[self._scope.locality - node.changes]
        first = np.cumsum(n_fitting) - n_fitting
        before = np.repeat(np.arange(len(n_fitting)), n_fitting)
        chosen = np.arange(len(before)) - first[before]
        return _Node(
            (*node.variables, variable),
            np.column_stack((node.variants[before], chosen)),
            node.changes[before] + own.changes[chosen],
            first,
            node.root[before],
        )


def _exceeds(
    scores: NDArray[np.float64], others: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Tell which scores are higher by more than rounding."""
    exceeds: NDArray[np.bool_] = scores > others + 1e-11 * np.abs(scores) + 1e-12
    return exceeds


def _best_below(
    nodes: dict[_Set, _Node], best: dict[_Set, NDArray[np.float64]], extra: _Set
) -> NDArray[np.float64]:
    """Give each column the best score among the subsets of its parents."""
    node = nodes[extra]
    below = np.full(len(node.changes), -np.inf)
    n_root = len(node.variables) - len(extra)
    for left_out in range(len(extra)):
        column: NDArray[np.intp] = node.root
        path: _Set = ()
        for position, parent in enumerate(extra):
            if position != left_out:
                path = (*path, parent)
                column = nodes[path].first[column] + node.variants[:, n_root + position]
        np.maximum(below, best[path][column], out=below)
    return below


class _VariantScorer:
    """Scores of families of variants: each is a variable of a wider table."""

    def __init__(
        self,
        data: IncompleteData,
        scope: Scope,
        variants: list[Variants],
        score: Score,
        choices: NDArray[np.int32],
        n_threads: int,
    ) -> None:
        self._data, self._rows, self._variants = data, scope.rows, variants
        # Cells of variables with a single state are in no variant.
        self._codes = np.where(data.missing_mask, np.uint8(0), data.codes)
        self._score, self._choices, self._n_threads = score, choices, n_threads
        sizes = [len(v.codes) for v in variants]
        self._offsets = offsets_of(sizes)

    def score(self, level: list[_Node]) -> list[NDArray[np.float64]]:
        """Score every column of families that have equally many parents."""
        if not level:
            return []
        wide = np.concatenate(
            [self._offsets[list(node.variables)] + node.variants for node in level]
        )
        budget = _TABLE_BYTES // max(self._data.n_rows, 1) // wide.shape[1]
        step = max(_LEAST_BATCH, budget)
        batches = [wide[b : b + step] for b in range(0, len(wide), step)]
        scores = np.concatenate([self._score_batch(batch) for batch in batches])
        ends = np.cumsum([len(node.changes) for node in level])
        return np.split(scores, ends[:-1])

    def _score_batch(self, wide: NDArray[np.intp]) -> NDArray[np.float64]:
        used, inverse = np.unique(wide, return_inverse=True)
        index = np.reshape(inverse, wide.shape).astype(np.int32)
        families = Families(
            np.ascontiguousarray(index[:, 0]),
            np.arange(len(wide) + 1, dtype=np.int64) * (wide.shape[1] - 1),
            np.ascontiguousarray(index[:, 1:]).ravel(),
        )
        owner = np.searchsorted(self._offsets, used, side="right") - 1
        scorer = FamilyScorer.completed(
            self._table(owner, np.asfortranarray(self._data.codes[:, owner])),
            self._table(owner, self._filled(owner, used)),
            score=self._score,
            choices=np.ascontiguousarray(self._choices[owner]),
            n_threads=self._n_threads,
        )
        return scorer.families(families)

    def _filled(
        self, owner: NDArray[np.intp], used: NDArray[np.intp]
    ) -> NDArray[np.uint8]:
        codes = np.asfortranarray(self._codes[:, owner])
        for variable in np.unique(owner):
            mine = np.flatnonzero(owner == variable)
            own = self._variants[variable].codes[used[mine] - self._offsets[variable]]
            codes[np.ix_(self._rows[variable], mine)] = own.T
        return codes

    def _table(
        self, owner: NDArray[np.intp], codes: NDArray[np.uint8]
    ) -> IncompleteData:
        """Make a table of columns that belong to variables of the data."""
        data = self._data
        codes.flags.writeable = False
        return IncompleteData(
            tuple(map(str, range(len(owner)))),
            tuple(data.states[v] for v in owner),
            codes,
            data.weights,
        )
