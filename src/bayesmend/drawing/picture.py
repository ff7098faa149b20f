"""A graph as boxes and curves: what a drawing of any kind is made of.

Lengths are pixels, y grows downwards.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from bayesmend.drawing.layout import Layout, lay_out
from bayesmend.drawing.text import cut, text_width
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.graph.difference import GraphDifference

__all__ = [
    "ARROW",
    "FONT",
    "KEY",
    "SMALL",
    "Box",
    "Curve",
    "Key",
    "Link",
    "Picture",
    "links_between",
    "links_of",
    "with_keys",
]

FONT, SMALL = 13.0, 10.5  # of a name, of the line below it
ARROW, _HALF_HEAD = 8.0, 3.5
KEY = 26.0  # of a line below a picture
_HEIGHT = 40.0  # of a variable
_STEP = 92.0  # from layer to layer
_MARGIN = 6.0
_MAX_NAME = 24


class Link(NamedTuple):
    """What joins two variables: an arc, or an edge without a head.

    The kind says what it looks like: ``fixed``, the same in all equivalent graphs;
    ``either``; and of two graphs ``both``, ``added``, ``lost`` or ``reversed``.
    """

    tail: int
    head: int
    kind: str = "fixed"
    has_head: bool = True
    width: float = 1.4


class Box(NamedTuple):
    """Where a variable stands, its name, and what is said below it."""

    left: float
    top: float
    width: float
    height: float
    name: str
    note: str = ""

    @property
    def middle(self) -> float:
        """The middle from left to right."""
        return self.left + self.width / 2


class Curve(NamedTuple):
    """How a link runs: the points of Bézier curves, three for each after the first.

    It ends where its arrow head begins, if it has one.
    """

    link: Link
    points: tuple[tuple[float, float], ...]

    @property
    def head(self) -> tuple[tuple[float, float], ...]:
        """The corners of the arrow head, its tip last; none for an edge."""
        if not self.link.has_head:
            return ()
        (_, before), (x, y) = self.points[-2:]
        tip = y + ARROW if y >= before else y - ARROW
        return ((x - _HALF_HEAD, y), (x + _HALF_HEAD, y), (x, tip))


class Key(NamedTuple):
    """What a kind of links means: a sample of its line, and a word at its right."""

    kind: str
    left: float
    top: float


def links_of(graph: Dag | Cpdag) -> list[Link]:
    """List what a graph joins; of a class of graphs the edges have no head.

    Arcs of a graph that point the other way in some equivalent one are `either`.

    Examples
    --------
    >>> dag = Dag.from_arcs("ab", [("a", "b")])
    >>> [link.kind for link in links_of(dag)], links_of(dag.cpdag())[0].has_head
    (['either'], False)
    """
    if isinstance(graph, Cpdag):
        edges = [Link(a, b, "either", has_head=False) for a, b in graph.undirected]
        return [Link(a, b) for a, b in graph.directed] + edges
    compelled = set(graph.cpdag().directed)
    return [
        Link(parent, child, "fixed" if (parent, child) in compelled else "either")
        for child, members in enumerate(graph.parents)
        for parent in members
    ]


def links_between(difference: GraphDifference) -> list[Link]:
    """List the arcs of two graphs, each by what became of it.

    Examples
    --------
    >>> from bayesmend.graph import compare_graphs
    >>> one, two = (Dag.from_arcs("abc", [arcs]) for arcs in (("a", "b"), ("b", "c")))
    >>> [link[:3] for link in links_between(compare_graphs(one, two))]
    [(1, 2, 'added'), (0, 1, 'lost')]
    """
    place = {name: v for v, name in enumerate(difference.names)}
    kinds = {
        "both": difference.same,
        "added": difference.added,
        "lost": difference.lost,
        "reversed": difference.reversed,
    }
    return [
        Link(place[parent], place[child], kind, width=1.4 if kind == "both" else 2.0)
        for kind, arcs in kinds.items()
        for parent, child in arcs
    ]


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes and curves, and how much room they take."""

    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    width: float
    height: float
    keys: tuple[Key, ...] = ()

    @classmethod
    def of(
        cls, names: Sequence[str], links: Sequence[Link], notes: Sequence[str] = ()
    ) -> Picture:
        """Lay out variables and what joins them.

        Arcs point down, unless they form a cycle: then some point up.

        Examples
        --------
        >>> picture = Picture.of(["a", "b"], [Link(0, 1)])
        >>> picture.boxes[0].top < picture.boxes[1].top, len(picture.curves[0].points)
        (True, 4)
        """
        shown = [cut(name, _MAX_NAME) for name in names]
        below = list(notes) or [""] * len(shown)
        widths = [
            max(78.0, FONT * text_width(name) + 26.0, SMALL * text_width(note) + 20.0)
            for name, note in zip(shown, below, strict=True)
        ]
        rank = _ranks(len(shown), links)
        pairs = {_downwards(link, rank) for link in links}
        parents: list[list[int]] = [[] for _ in shown]
        for parent, child in sorted(pairs):
            parents[child].append(parent)
        layout = lay_out(Dag(tuple(names), tuple(map(tuple, parents))), widths)
        courses = _Courses(layout, widths)
        boxes = tuple(
            Box(_MARGIN + x - width / 2, courses.top(layer), width, _HEIGHT, name, note)
            for x, width, layer, name, note in zip(
                layout.x, widths, layout.layer, shown, below, strict=True
            )
        )
        return cls(
            boxes,
            tuple(
                Curve(link, courses.points(link, _downwards(link, rank)))
                for link in links
            ),
            layout.width + 2 * _MARGIN,
            (layout.n_layers - 1) * _STEP + _HEIGHT + 2 * _MARGIN,
        )


def with_keys(picture: Picture) -> Picture:
    """Say below a picture what its kinds of links mean.

    Examples
    --------
    >>> found = with_keys(Picture.of(["a", "b"], [Link(0, 1, "added")]))
    >>> [key.kind for key in found.keys]
    ['added']
    """
    keys: list[Key] = []
    left, top = _MARGIN, picture.height + 14.0
    for kind in sorted({curve.link.kind for curve in picture.curves}):
        keys.append(Key(kind, left, top))
        left += KEY + 26.0 + SMALL * text_width(kind)
    if not keys:
        return picture
    width = max(picture.width, left)
    return replace(picture, width=width, height=top + 14.0, keys=tuple(keys))


def _downwards(link: Link, rank: Sequence[int]) -> tuple[int, int]:
    """Return the two ends, the upper one first."""
    is_down = rank[link.tail] < rank[link.head]
    return (link.tail, link.head) if is_down else (link.head, link.tail)


def _ranks(n_vars: int, links: Sequence[Link]) -> list[int]:
    """Give each variable a number; arcs lead to higher ones, but for cycles.

    The next one is always the first of those with the fewest parents ahead.
    """
    waiting = [0] * n_vars
    children: list[list[int]] = [[] for _ in range(n_vars)]
    for link in links:
        if link.has_head:
            waiting[link.head] += 1
            children[link.tail].append(link.head)
    rank = [-1] * n_vars
    queue = [(count, v) for v, count in enumerate(waiting)]
    heapq.heapify(queue)
    number = 0
    while queue:
        count, v = heapq.heappop(queue)
        if rank[v] >= 0 or count != waiting[v]:
            continue
        rank[v], number = number, number + 1
        for child in children[v]:
            waiting[child] -= 1
            heapq.heappush(queue, (waiting[child], child))
    return rank


class _Courses:
    """How the links of one layout run."""

    def __init__(self, layout: Layout, widths: Sequence[float]) -> None:
        self._layout, self._widths = layout, widths
        self._leaving: dict[tuple[int, int], float] = {}
        self._arriving: dict[tuple[int, int], float] = {}
        x = layout.x
        for arc, route in layout.routes.items():
            course = (x[arc[0]], *route, x[arc[1]])
            self._leaving[arc], self._arriving[arc] = course[1], course[-2]
        for v in range(len(x)):
            self._leaving |= self._ports(v, 0, self._leaving)
            self._arriving |= self._ports(v, 1, self._arriving)

    def _ports(
        self, v: int, end: int, towards: Mapping[tuple[int, int], float]
    ) -> dict[tuple[int, int], float]:
        """Spread the ends of arcs along the side of a variable."""
        arcs = sorted((a for a in towards if a[end] == v), key=towards.__getitem__)
        room = min(self._widths[v] * 0.6, 22.0 * (len(arcs) - 1))
        left, step = self._layout.x[v] - room / 2, room / max(len(arcs) - 1, 1)
        return {arc: left + step * at for at, arc in enumerate(arcs)}

    def top(self, layer: int) -> float:
        return _MARGIN + layer * _STEP

    def points(self, link: Link, arc: tuple[int, int]) -> tuple[tuple[float, float]]:
        """Return a course that leaves and arrives vertically, tail first."""
        layer = self._layout.layer
        upper, lower = arc
        is_up = link.tail == lower
        spare = ARROW if link.has_head else 0.0
        level = layer[upper]
        ends = [
            (self._leaving[arc], self.top(level) + _HEIGHT + (spare if is_up else 0.0))
        ]
        for x in self._layout.routes[arc]:
            level += 1
            ends += [(x, self.top(level)), (x, self.top(level) + _HEIGHT)]
        below = self.top(layer[lower]) - (0.0 if is_up else spare)
        ends.append((self._arriving[arc], below))
        points = [ends[0]]
        for (x0, y0), (x1, y1) in itertools.pairwise(ends):
            middle = (y0 + y1) / 2
            points += [(x0, middle), (x1, middle), (x1, y1)]
        shifted = tuple((_MARGIN + x, y) for x, y in points)
        return shifted[::-1] if is_up else shifted  # type: ignore[return-value]
