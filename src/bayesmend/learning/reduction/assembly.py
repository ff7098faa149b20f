"""Gadgets and columns put together: names, indices and candidates of all variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bayesmend._rows import offsets_of
from bayesmend.data.table import IncompleteData
from bayesmend.learning.reduction.expansion import Columns, Expansion
from bayesmend.learning.reduction.variants import Scope
from bayesmend.structure.parents import ParentSets

__all__ = ["Layout", "assemble", "distinct_names"]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the artificial variables of every cell stand.

    Parameters
    ----------
    cells : ndarray of shape (n_cells, 2)
        Row and variable, by variable, then by row.
    first : ndarray of shape (n_cells,)
        Index of the artificial variable of the first state.
    n_states : ndarray of shape (n_cells,)
        Number of states, and of artificial variables.
    names : tuple of str
        Original variables, then artificial ones.
    """

    cells: NDArray[np.intp]
    first: NDArray[np.intp]
    n_states: NDArray[np.intp]
    names: tuple[str, ...]

    @classmethod
    def of(cls, data: IncompleteData, scope: Scope) -> Layout:
        """Give every artificial variable its index and name."""
        pairs = [(u, v) for v, rows in enumerate(scope.rows) for u in rows.tolist()]
        cells = np.array(pairs, np.intp).reshape(len(pairs), 2)
        n_states = scope.card[cells[:, 1]].astype(np.intp)
        first = data.n_vars + np.cumsum(n_states) - n_states
        artificial = (
            f"row {u}: {data.names[v]} = {label}"
            for u, v in pairs
            for label in data.states[v]
        )
        names = distinct_names(artificial, taken=data.names)
        return cls(cells, first, n_states, (*data.names, *names))


def distinct_names(
    names: Iterable[str], *, taken: Iterable[str] = ()
) -> tuple[str, ...]:
    """Make names distinct by a number after those that occur again.

    Examples
    --------
    >>> distinct_names(["a", "b", "a", "a(2)"], taken=["b"])
    ('a', 'b(2)', 'a(3)', 'a(2)')
    """
    wanted = list(names)
    seen = set(taken)
    # A number must not make a name that somebody else has by right.
    reserved, result = seen.union(wanted), []
    for name in wanted:
        unique, number = name, 1
        while unique in seen or (number > 1 and unique in reserved):
            number += 1
            unique = f"{name}({number})"
        seen.add(unique)
        result.append(unique)
    return tuple(result)


@dataclass(slots=True)
class _Rows:
    """Candidates as they come, end to end."""

    counts: list[int] = field(default_factory=list)
    scores: list[NDArray[np.float64]] = field(default_factory=list)
    sizes: list[NDArray[np.intp]] = field(default_factory=list)
    members: list[NDArray[np.int32]] = field(default_factory=list)

    def add(
        self, blocks: Iterator[tuple[NDArray[np.float64], NDArray[np.int32]]]
    ) -> tuple[float, float]:
        """Add the candidates of one variable; give their lowest and highest score."""
        count, low, high = 0, np.inf, -np.inf
        for scores, members in blocks:
            count += len(scores)
            low, high = min(low, scores.min()), max(high, scores.max())
            self.scores.append(scores)
            self.sizes.append(np.full(len(scores), members.shape[1], np.intp))
            self.members.append(members.ravel())
        self.counts.append(count)
        return float(low), float(high)

    def build(self, names: tuple[str, ...]) -> ParentSets:
        if not names:
            return ParentSets.from_lists((), [])
        return ParentSets.from_arrays(
            names,
            offsets_of(self.counts),
            np.concatenate(self.scores),
            offsets_of(np.concatenate(self.sizes)),
            np.concatenate(self.members),
        )


def assemble(
    expansion: Expansion, layout: Layout, *, n_vars: int, prune: bool
) -> tuple[ParentSets, float]:
    """Build the candidates of all variables, and the price of a gadget.

    Whatever the sign of the scores, two graphs differ over the original variables by
    at most the sum of the ranges of their candidates. Above that sum, no graph gains
    by leaving a second artificial variable of a cell without parents.
    """
    artificial = _artificial(expansion, layout, n_vars)
    rows, ranges = _Rows(), []
    for child in range(n_vars):
        columns = expansion.columns_of(child, prune=prune)
        low, high = rows.add(_with_members(columns, artificial))
        ranges.append(high - low)
    penalty = 1.0 + sum(ranges)
    originals = np.arange(n_vars, dtype=np.int32)
    for first, n_states in zip(layout.first, layout.n_states, strict=True):
        for j in range(n_states):
            following = np.append(originals, first + (j + 1) % n_states)
            rows.add(_gadget(following.astype(np.int32), penalty))
    return rows.build(layout.names), penalty


def _gadget(
    following: NDArray[np.int32], penalty: float
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int32]]]:
    yield np.zeros(1), following[None]
    yield np.array([-penalty]), np.zeros((1, 0), np.int32)


def _artificial(
    expansion: Expansion, layout: Layout, n_vars: int
) -> list[NDArray[np.int32]]:
    """List the artificial variables that stand for each variant of a variable."""
    return [
        (layout.first[layout.cells[:, 1] == v] + expansion.variants[v].codes).astype(
            np.int32
        )
        for v in range(n_vars)
    ]


def _with_members(
    columns: Iterator[Columns], artificial: list[NDArray[np.int32]]
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.int32]]]:
    for block in columns:
        parents = np.array(block.parents, np.int32)
        by_index = np.argsort(block.variables)
        parts = [artificial[block.variables[k]][block.variants[:, k]] for k in by_index]
        repeated = np.tile(parents, (len(block.scores), 1))
        yield block.scores, np.concatenate([repeated, *parts], axis=1)
