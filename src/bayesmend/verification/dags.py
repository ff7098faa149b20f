"""The best structure of all, by a dynamic programme over sets of variables.

Families come as one mapping per child, from the set of its parents (bit i for variable
i) to a score. Whole numbers all through, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, reduce
from operator import add, itemgetter, or_
from typing import Any

__all__ = ["NEVER", "Programme", "find_cycle"]

NEVER = -(1 << 100)
"""The score of what cannot be."""

_Getter = Callable[[list[int]], tuple[Any, ...]]


class Programme:
    """Best totals of all structures made of some families.

    Arcs can close a cycle only among variables that reach each other by arcs of some
    families, so that each group of these has a programme of its own.

    Examples
    --------
    >>> programme = Programme([{0: -5, 0b10: -1}, {0: -5, 0b01: -3}])
    >>> programme.best
    -6
    >>> programme.around(1, [0b01])  # with a -> b: the rest is a without parents
    [-5]
    """

    def __init__(self, families: Sequence[Mapping[int, int]]) -> None:
        n = len(families)
        reach = [reduce(or_, own, 0) for own in families]
        for via in range(n):
            for v in range(n):
                if reach[v] >> via & 1:
                    reach[v] |= reach[via]
        self.best = 0
        self._group_of: list[tuple[_Group, int]] = []
        known: dict[int, _Group] = {}
        for v in range(n):
            members = 1 << v
            for u in range(n):
                if reach[v] >> u & reach[u] >> v & 1:
                    members |= 1 << u
            if members not in known:
                known[members] = _Group(members, families)
                self.best += known[members].best
            place = (members & (1 << v) - 1).bit_count()
            self._group_of.append((known[members], place))

    def around(self, child: int, parent_sets: Sequence[int]) -> list[int]:
        """Return the best that can stand beside each family of a child."""
        group, place = self._group_of[child]
        rest = self.best - group.best
        return [rest + best for best in group.around(place, parent_sets)]


class _Group:
    """The programme of some variables, which are numbered anew."""

    def __init__(self, members: int, families: Sequence[Mapping[int, int]]) -> None:
        self._members = members
        own = [v for v in range(len(families)) if members >> v & 1]
        self.n = len(own)
        if self.n == 1:
            self.best = max(families[own[0]].values(), default=NEVER)
            return
        self._places = {1 << v: 1 << place for place, v in enumerate(own)}
        self._is_all = self.n == len(families)
        scores: list[dict[int, int]] = []
        for v in own:
            best: dict[int, int] = {}
            for parents, score in families[v].items():
                inner = self._inner(parents)
                if best.get(inner, score) <= score:
                    best[inner] = score
            scores.append(best)
        # The variables that are a parent in some family of each child.
        self._used = [reduce(or_, best, 0) for best in scores]
        self._chosen = [self._best_within(c, best) for c, best in enumerate(scores)]
        self._first = self._forward()
        self.best = self._first[-1]
        self._last: list[int] | None = None

    def _inner(self, parents: int) -> int:
        """Return those of the parents that are in the group, as it numbers them."""
        if self._is_all:
            return parents
        parents &= self._members
        inner = 0
        while parents:
            bit = parents & -parents
            inner |= self._places[bit]
            parents ^= bit
        return inner

    def _best_within(self, child: int, scores: Mapping[int, int]) -> list[int]:
        """Return, for every set of variables, the best family with parents in it."""
        # Over the variables that matter first: place[S] is a set among these alone.
        place = _places(self.n, self._used[child])
        width = 1 << self._used[child].bit_count()
        best = [NEVER] * width
        for parents, score in scores.items():
            best[place[parents]] = score
        half = 1
        while half < width:
            # Both halves: without the variable that is the lowest bit now, and with it.
            # Put one after the other, that variable becomes the highest bit.
            without = best[0::2]
            best = without + _higher(without, best[1::2])
            half *= 2
        return list(map(best.__getitem__, place))

    def _forward(self) -> list[int]:
        """Return the best structure over each set of variables alone."""
        totals = [0] * (1 << self.n)
        of_bit = {1 << v: chosen for v, chosen in enumerate(self._chosen)}
        for members in range(1, 1 << self.n):
            best, left = NEVER, members
            while left:
                bit = left & -left
                left ^= bit
                rest = members ^ bit
                total = totals[rest] + of_bit[bit][rest]
                if total > best:
                    best = total
            totals[members] = best
        return totals

    def _backward(self) -> list[int]:
        """Return the best that can follow when each set of variables has come first."""
        whole = (1 << self.n) - 1
        totals = [0] * (whole + 1)
        of_bit = {1 << v: chosen for v, chosen in enumerate(self._chosen)}
        for members in range(whole - 1, -1, -1):
            best, left = NEVER, whole ^ members
            while left:
                bit = left & -left
                left ^= bit
                total = of_bit[bit][members] + totals[members | bit]
                if total > best:
                    best = total
            totals[members] = best
        return totals

    def around(self, child: int, parent_sets: Sequence[int]) -> list[int]:
        """Return the best in the group beside each family of a child."""
        if self.n == 1:
            return [0] * len(parent_sets)
        if self._last is None:
            self._last = self._backward()
        without, with_it = _sets(self.n, child)
        best = list(map(add, without(self._first), with_it(self._last)))
        used = self._used[child]
        for bit in range(self.n):
            if bit != child:  # its bit is gone already
                before, after = best[0::2], best[1::2]
                is_used = used >> bit & 1
                best = before + after if is_used else _higher(before, after)
        place, width = _places(self.n, used), len(best)
        half = 1
        while half < width:
            before, after = best[0::2], best[1::2]
            best = _higher(before, after) + after
            half *= 2
        return [best[place[self._inner(parents)]] for parents in parent_sets]


@lru_cache(1000)
def _places(n: int, used: int) -> list[int]:
    """Return the place of every set of n variables among the sets of those used."""
    place, width = [0], 1
    for bit in range(n):
        if used >> bit & 1:
            place += [p + width for p in place]
            width *= 2
        else:
            place += place
    return place


def _higher(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [x if x > y else y for x, y in zip(a, b, strict=True)]


@cache
def _sets(n: int, child: int) -> tuple[_Getter, _Getter]:
    """Return getters of the sets of n variables without a child, and with it added."""
    without = [members for members in range(1 << n) if not members >> child & 1]
    if n == 1:
        return (lambda of: (of[0],)), (lambda of: (of[1],))
    return itemgetter(*without), itemgetter(*(m | 1 << child for m in without))


def find_cycle(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return variables that form a cycle, in order; none where there is no cycle.

    Examples
    --------
    >>> find_cycle([[1], [0]]), find_cycle([[1], []])
    ([1, 0], [])
    """
    done: set[int] = set()
    for start in range(len(parents)):
        path: list[int] = []
        ways = [iter([start])]
        while ways:
            step = next(ways[-1], None)
            if step is None:
                ways.pop()
                if path:
                    done.add(path.pop())
            elif step in path:
                return path[path.index(step) :][::-1]
            elif step not in done:
                path.append(step)
                ways.append(iter(parents[step]))
    return []
