"""Checks and order of candidates held in compressed rows.

Rows of unequal length are stored end to end; ``offsets[i]`` to ``offsets[i + 1]`` is
row ``i``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayesmend.errors import ParameterError

__all__ = ["check_candidates", "offsets_of", "owners_of", "sorted_candidates"]


class Candidates(Protocol):
    """What the checks read of `bayesmend.structure.parents.ParentSets`."""

    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def offsets(self) -> NDArray[np.int64]: ...
    @property
    def scores(self) -> NDArray[np.float64]: ...
    @property
    def member_offsets(self) -> NDArray[np.int64]: ...
    @property
    def members(self) -> NDArray[np.int32]: ...
    def members_of(self, candidate: int) -> tuple[int, ...]: ...


def check_candidates(sets: Candidates) -> None:
    """Raise ``ParameterError`` unless the candidates are whole, sensible and sorted."""
    _check_shape(sets)
    _check_values(sets)
    _check_members(sets)
    _check_order(sets)


def offsets_of(sizes: Any) -> NDArray[np.int64]:
    """Offsets of rows of these sizes."""
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def owners_of(offsets: NDArray[Any]) -> NDArray[np.int64]:
    """Row of every item."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _check_shape(sets: Candidates) -> None:
    names = sets.names
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


def _check_values(sets: Candidates) -> None:
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


def _check_members(sets: Candidates) -> None:
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


def _check_order(sets: Candidates) -> None:
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


def sorted_candidates(
    offsets: NDArray[Any],
    scores: NDArray[Any],
    member_offsets: NDArray[Any],
    members: NDArray[Any],
) -> NDArray[np.int64]:
    """Candidates by variable, descending score, number of members and members."""
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
