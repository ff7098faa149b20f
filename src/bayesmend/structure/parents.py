"""Candidate parent sets: what every structure solver takes in.

A structure solver chooses one candidate parent set per variable so that the arcs form
no cycle and the sum of the scores is as high as possible. `ParentSets` holds the
candidates in compressed rows, so that thousands of variables and sets with hundreds of
members cost no more than their numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_items, got
from bayesmend._copies import frozen_in_copies
from bayesmend._rows import offsets_of, owners_of
from bayesmend.data.states import listing
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag

__all__ = ["Arrays", "Family", "ParentSets", "check_parent_sets"]

Family = tuple[float, tuple[int, ...]]
"""A score and the indices of the parents it belongs to."""


Arrays = tuple[
    NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], NDArray[np.int32]
]
"""Candidates as the core takes them: offsets, scores, member offsets, members."""

_DTYPES = {
    "offsets": np.int64,
    "scores": np.float64,
    "member_offsets": np.int64,
    "members": np.int32,
}


@frozen_in_copies
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ParentSets:
    """Candidate parent sets with scores, for every variable.

    Build one with `from_lists` or `from_arrays`; the constructor takes arrays that are
    already in order and checks them.

    Parameters
    ----------
    names : tuple of str
        The variables.
    offsets : int64 ndarray of shape (n_vars + 1,)
        Candidates ``offsets[i]`` to ``offsets[i + 1]`` belong to variable ``i``, in
        descending order of score (ties: fewer members first, then lexicographic).
    scores : float64 ndarray of shape (n_sets,)
        Natural logarithms, higher is better; minus infinity forbids a candidate.
    member_offsets : int64 ndarray of shape (n_sets + 1,)
        Members ``member_offsets[c]`` to ``member_offsets[c + 1]`` belong to candidate
        ``c``.
    members : int32 ndarray
        Indices of parents, ascending within a candidate.

    Examples
    --------
    >>> sets = ParentSets.from_lists(
    ...     ["rain", "wet"], [[(-3.0, ())], [(-4.0, ()), (-1.5, (0,))]]
    ... )
    >>> sets
    ParentSets(n_vars=2, n_sets=3, max_members=1)
    >>> sets.of(1)
    [(-1.5, (0,)), (-4.0, ())]
    """

    names: tuple[str, ...]
    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    member_offsets: NDArray[np.int64]
    members: NDArray[np.int32]

    def __post_init__(self) -> None:
        for field, dtype in _DTYPES.items():
            array = np.ascontiguousarray(getattr(self, field), dtype=dtype)
            array = array.view()
            array.flags.writeable = False
            object.__setattr__(self, field, array)
        object.__setattr__(self, "names", tuple(self.names))
        _check_candidates(self)

    @classmethod
    def from_lists(
        cls,
        names: Sequence[str],
        lists: Sequence[Iterable[tuple[float, Iterable[int]]]],
    ) -> ParentSets:
        """Build from one list of ``(score, parents)`` pairs per variable, in any order.

        Examples
        --------
        >>> ParentSets.from_lists(["a"], [[]])
        Traceback (most recent call last):
        ...
        bayesmend.errors.ParameterError: variable 'a' has no candidate parent set. ...
        """
        # Letters make short names: "abc" is three of them.
        listed = list(names) if isinstance(names, str) else names
        names = check_items("names", listed, "names")
        lists = check_items("lists", lists, "lists of candidates")
        if len(names) != len(lists):
            msg = (
                f"lists must hold one list of candidates for each of the {len(names)} "
                f"names. Got {len(lists)} instead."
            )
            raise ParameterError(msg)
        rows = [list(map(_candidate, check_items("lists", r, _PAIRS))) for r in lists]
        for row in rows:
            row.sort(key=lambda family: (-family[0], len(family[1]), family[1]))
        sets = [members for row in rows for _, members in row]
        return cls(
            tuple(names),
            offsets_of([len(row) for row in rows]),
            np.array([score for row in rows for score, _ in row], dtype=np.float64),
            offsets_of([len(members) for members in sets]),
            np.array([v for members in sets for v in members], dtype=np.int32),
        )

    @classmethod
    def from_arrays(
        cls,
        names: Sequence[str],
        offsets: NDArray[Any],
        scores: NDArray[Any],
        member_offsets: NDArray[Any],
        members: NDArray[Any],
    ) -> ParentSets:
        """Build from compressed rows whose candidates are in any order.

        Members must be ascending within each candidate.
        """
        order = _sorted_candidates(offsets, scores, member_offsets, members)
        sizes = np.diff(member_offsets)[order]
        new_offsets = offsets_of(sizes)
        shift = np.repeat(np.asarray(member_offsets)[order] - new_offsets[:-1], sizes)
        moved = np.asarray(members)[np.arange(new_offsets[-1]) + shift]
        return cls(tuple(names), offsets, np.asarray(scores)[order], new_offsets, moved)

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_sets(self) -> int:
        """Number of candidates of all variables together."""
        return len(self.scores)

    @property
    def arrays(self) -> Arrays:
        """What the functions of the core take first."""
        return self.offsets, self.scores, self.member_offsets, self.members

    def of(self, variable: int) -> list[Family]:
        """List the candidates of one variable as ``(score, parents)``, best first."""
        span = range(int(self.offsets[variable]), int(self.offsets[variable + 1]))
        return [(float(self.scores[c]), self.members_of(c)) for c in span]

    def members_of(self, candidate: int) -> tuple[int, ...]:
        """Return the parents in one candidate, ascending."""
        first, last = self.member_offsets[candidate : candidate + 2]
        return tuple(self.members[first:last].tolist())

    def best(self, variable: int, allowed: Collection[int] | None = None) -> int:
        """Find the best candidate of a variable whose members are all allowed.

        Parameters
        ----------
        variable : int
            Index of the child.
        allowed : collection of int, optional
            Indices of the variables that may be parents; all of them when not given.

        Returns
        -------
        int
            Number of the candidate, or -1 when none has only allowed members.

        Examples
        --------
        >>> sets = ParentSets.from_lists("ab", [[(0, ())], [(-1, (0,)), (-2, ())]])
        >>> sets.best(1), sets.best(1, allowed=())
        (1, 2)
        """
        first, last = int(self.offsets[variable]), int(self.offsets[variable + 1])
        if allowed is None:
            return first
        may = np.zeros(self.n_vars + 1, dtype=bool)
        may[list(allowed)] = True
        for candidate in range(first, last):
            start, stop = self.member_offsets[candidate : candidate + 2]
            if may[self.members[start:stop]].all():
                return candidate
        return -1

    def find(self, variable: int, parents: Iterable[int]) -> int:
        """Find the candidate with exactly these parents, or -1."""
        wanted = np.array(sorted(parents), dtype=np.int32)
        first, last = int(self.offsets[variable]), int(self.offsets[variable + 1])
        sizes = np.diff(self.member_offsets[first : last + 1])
        left = first + np.flatnonzero(sizes == len(wanted))
        for position, member in enumerate(wanted):
            left = left[self.members[self.member_offsets[left] + position] == member]
        return int(left[0]) if len(left) else -1

    def choice_of(self, dag: Dag) -> NDArray[np.int64]:
        """Find the candidate of every variable that a DAG has chosen.

        Raises
        ------
        ParameterError
            When the DAG has other variables, or a family that is not a candidate.
        """
        if dag.names != self.names:
            msg = (
                "the DAG and the candidate parent sets must have the same variables in "
                f"the same order. Got {listing(dag.names, 5)} and "
                f"{listing(self.names, 5)} instead."
            )
            raise ParameterError(msg)
        chosen = [self.find(i, parents) for i, parents in enumerate(dag.parents)]
        if -1 in chosen:
            child = chosen.index(-1)
            parents = listing((self.names[p] for p in dag.parents[child]), 5) or "none"
            msg = (
                f"the parents of {self.names[child]!r} in the DAG ({parents}) are not "
                f"among its {self.offsets[child + 1] - self.offsets[child]} candidate "
                "parent sets. Add that candidate, or pass a DAG made of candidates."
            )
            raise ParameterError(msg)
        return np.array(chosen, dtype=np.int64)

    def score_of(self, dag: Dag) -> float:
        """Sum the scores of the families of a DAG.

        Raises
        ------
        ParameterError
            When a family of the DAG is not a candidate.

        Examples
        --------
        >>> sets = ParentSets.from_lists("ab", [[(0, ())], [(-1, (0,)), (-2, ())]])
        >>> sets.score_of(Dag(("a", "b"), ((), (0,))))
        -1.0
        """
        return float(self.scores[self.choice_of(dag)].sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParentSets):
            return NotImplemented
        return self.names == other.names and all(
            np.array_equal(getattr(self, field), getattr(other, field))
            for field in _DTYPES
        )

    def __repr__(self) -> str:
        largest = np.diff(self.member_offsets).max(initial=0)
        return (
            f"ParentSets(n_vars={self.n_vars}, n_sets={self.n_sets}, "
            f"max_members={largest})"
        )


_PAIRS = "pairs (score, parents), such as (-1.5, (0, 2)),"


def _candidate(pair: Any) -> Family:
    try:
        score, parents = pair
        return float(score), tuple(sorted(map(int, parents)))
    except (TypeError, ValueError, OverflowError):
        msg = f"lists must hold {_PAIRS} with parents by position. {got(pair)}"
        raise ParameterError(msg) from None


def check_parent_sets(value: object) -> None:
    """Raise ``ParameterError`` unless a value is `ParentSets`."""
    if not isinstance(value, ParentSets):
        msg = (
            "parent_sets must be ParentSets, as candidate_parents returns. "
            f"Got {type(value).__name__} instead."
        )
        raise ParameterError(msg)


def _check_candidates(sets: ParentSets) -> None:
    """Raise ``ParameterError`` unless the candidates are whole, sensible and sorted."""
    _check_shape(sets)
    _check_values(sets)
    _check_members(sets)
    _check_order(sets)


def _check_shape(sets: ParentSets) -> None:
    names: tuple[Any, ...] = sets.names
    for name in names:
        if not isinstance(name, str):
            msg = f"a variable name must be a string. {got(name)}"
            raise ParameterError(msg)
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        msg = f"names must be distinct. Got {twice!r} twice."
        raise ParameterError(msg)
    for field, count in (("offsets", len(names)), ("member_offsets", len(sets.scores))):
        offsets = getattr(sets, field)
        total = len(sets.scores) if field == "offsets" else len(sets.members)
        if len(offsets) != count + 1 or offsets[0] != 0 or offsets[-1] != total:
            msg = (
                f"{field} must hold {count + 1} numbers from 0 to {total}. Got "
                f"{len(offsets)} from {offsets[0] if len(offsets) else 'none'} to "
                f"{offsets[-1] if len(offsets) else 'none'} instead."
            )
            raise ParameterError(msg)
        if (np.diff(offsets) < 0).any():
            msg = f"{field} must never decrease."
            raise ParameterError(msg)
    empty = np.flatnonzero(np.diff(sets.offsets) == 0)
    if len(empty):
        msg = (
            f"variable {names[empty[0]]!r} has no candidate parent set. Give it at "
            "least one, for example the empty set."
        )
        raise ParameterError(msg)


def _check_values(sets: ParentSets) -> None:
    names, owner = sets.names, owners_of(sets.offsets)
    bad = np.flatnonzero(np.isnan(sets.scores) | (sets.scores == np.inf))
    if len(bad):
        c = bad[0]
        msg = (
            f"a score must be a number below infinity. Variable {names[owner[c]]!r} "
            f"with parents {sets.members_of(c)} has {sets.scores[c]} instead."
        )
        raise ParameterError(msg)
    holder = np.repeat(owner, np.diff(sets.member_offsets))
    bad = np.flatnonzero((sets.members < 0) | (sets.members >= len(names)))
    if len(bad):
        msg = (
            f"parents must be indices from 0 to {len(names) - 1}. Variable "
            f"{names[holder[bad[0]]]!r} has a candidate with {sets.members[bad[0]]}."
        )
        raise ParameterError(msg)
    bad = np.flatnonzero(sets.members == holder)
    if len(bad):
        msg = (
            f"variable {names[holder[bad[0]]]!r} is a parent of itself in a candidate."
        )
        raise ParameterError(msg)


def _check_members(sets: ParentSets) -> None:
    owner = owners_of(sets.offsets)
    inside = owners_of(sets.member_offsets)
    bad = np.flatnonzero((np.diff(sets.members) <= 0) & (np.diff(inside) == 0))
    if len(bad):
        c = inside[bad[0]]
        msg = (
            "the members of a candidate must be distinct and ascending. Variable "
            f"{sets.names[owner[c]]!r} has {sets.members_of(c)} instead."
        )
        raise ParameterError(msg)


def _check_order(sets: ParentSets) -> None:
    owner = owners_of(sets.offsets)
    keys = _set_keys(sets.member_offsets, sets.members)
    by_key = np.lexsort((keys, owner))
    same = (np.diff(keys[by_key]) == 0) & (np.diff(owner[by_key]) == 0)
    for k in np.flatnonzero(same):
        members = sets.members_of(by_key[k])
        if members == sets.members_of(by_key[k + 1]):
            msg = (
                f"variable {sets.names[owner[by_key[k]]]!r} has the candidate "
                f"{members} twice. Keep one of them."
            )
            raise ParameterError(msg)
    if ((sets.scores[1:] > sets.scores[:-1]) & (np.diff(owner) == 0)).any():
        msg = (
            "candidates must be in descending order of score. Use from_arrays to sort."
        )
        raise ParameterError(msg)


def _set_keys(
    member_offsets: NDArray[np.int64], members: NDArray[np.int32]
) -> NDArray[np.uint64]:
    """Give every set a number; different sets share one only by rare accident."""
    words = members.astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        words = words * np.uint64(0x9E3779B97F4A7C15)
        words = (words ^ (words >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        total = np.concatenate(([np.uint64(0)], np.cumsum(words, dtype=np.uint64)))
        keys: NDArray[np.uint64] = (
            total[member_offsets[1:]] - total[member_offsets[:-1]]
        )
    return keys


def _sorted_candidates(
    offsets: NDArray[Any],
    scores: NDArray[Any],
    member_offsets: NDArray[Any],
    members: NDArray[Any],
) -> NDArray[np.int64]:
    """Sort candidates by variable, descending score, number of members and members."""
    owner, sizes = owners_of(offsets), np.diff(member_offsets)
    scores, members = np.asarray(scores), np.asarray(members)
    order = np.lexsort((sizes, -scores, owner))
    tied = (
        (np.diff(owner[order]) == 0)
        & (scores[order][1:] == scores[order][:-1])
        & (np.diff(sizes[order]) == 0)
    )
    group = np.cumsum(np.append(True, ~tied)) if len(order) else order
    in_tie = np.append(tied, False) | np.append(False, tied)
    for size in np.unique(sizes[order[np.flatnonzero(in_tie)]]):
        places = np.flatnonzero(in_tie & (sizes[order] == size))
        chosen = order[places]
        starts = np.asarray(member_offsets)[chosen]
        keys = [members[starts + k] for k in range(size - 1, -1, -1)]
        order[places] = chosen[np.lexsort((*keys, group[places]))]
    return order
