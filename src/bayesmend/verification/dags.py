"""The best structure of all, by a dynamic programme over sets of variables.

Families come as one mapping per child, from the set of its parents (bit i for variable
i) to a score. Whole numbers all through, so that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, reduce
from operator import add, itemgetter, or_
from typing import Any

__all__ = ["NEVER", "Programme", "find_cycle"]

NEVER = -(1 << 100)
"""The score of what cannot be."""

_Getter = Callable[[list[int]], tuple[Any, ...]]


class Programme:
    """Best totals of all structures made of some families.

    Examples
    --------
    >>> programme = Programme([{0: -5, 0b10: -1}, {0: -5, 0b01: -3}])
    >>> programme.best
    -6
    >>> programme.around(1, [0b01])  # with a -> b: the rest is a without parents
    [-5]
    """

    def __init__(self, families: Sequence[Mapping[int, int]]) -> None:
        self.n = len(families)
        # The variables that are a parent in some family of each child.
        self._used = [reduce(or_, own, 0) for own in families]
        self._chosen = [
            self._best_within(child, families[child]) for child in range(self.n)
        ]
        self._first = self._forward()
        self.best = self._first[-1]
        self._last: list[int] | None = None

    def _best_within(self, child: int, scores: Mapping[int, int]) -> list[int]:
        """Return, for every set of variables, the best family with parents in it."""
        # Over the variables that matter first: place[S] is a set among these alone.
        place, width = [0], 1
        for bit in range(self.n):
            if self._used[child] >> bit & 1:
                place += [p + width for p in place]
                width *= 2
            else:
                place += place
        best = [NEVER] * width
        for parents, score in scores.items():
            best[place[parents]] = score
        half = 1
        while half < width:
            # Both halves: without the variable that is the lowest bit now, and with it.
            # Put one after the other, that variable becomes the highest bit.
            without = best[0::2]
            best = without + list(map(max, without, best[1::2]))
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
        """Return the best that can stand beside each family of a child."""
        if self._last is None:
            self._last = self._backward()
        without, with_it = _sets(self.n, child)
        best = list(map(add, without(self._first), with_it(self._last)))
        place, width = [0], 1
        for bit in range(self.n):
            if bit == child:
                place += place  # its bit is gone already
                continue
            before, after = best[0::2], best[1::2]
            if self._used[child] >> bit & 1:
                best = before + after
                place += [p + width for p in place]
                width *= 2
            else:
                best = list(map(max, before, after))
                place += place
        half = 1
        while half < width:
            before, after = best[0::2], best[1::2]
            best = list(map(max, before, after)) + after
            half *= 2
        return [best[place[parents]] for parents in parent_sets]


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
