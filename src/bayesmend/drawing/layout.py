"""Where to draw the variables of a graph: in layers, parents above children.

The steps are those of Sugiyama, Tagawa and Toda (1981): layers, a place within each
layer that keeps crossings few, and coordinates that keep arcs straight. A long arc
passes through a dummy vertex on every layer between its ends.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

from bayesmend.graph.dag import Dag

__all__ = ["Layout", "lay_out"]

_GAP = 26.0  # between neighbours of a layer
_DUMMY = 10.0  # width kept free for an arc passing through
_SWEEPS = 16


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions on a plane whose unit is a pixel across and a layer down.

    Parameters
    ----------
    x : tuple of float
        Middle of each variable.
    layer : tuple of int
        Layer of each variable, 0 at the top.
    routes : dict of (parent, child) to tuple of float
        Where each arc crosses the layers between its ends, from the top.
    width : float
        Of the whole drawing.
    n_layers : int
        Number of layers.
    """

    x: tuple[float, ...]
    layer: tuple[int, ...]
    routes: dict[tuple[int, int], tuple[float, ...]]
    width: float
    n_layers: int


def lay_out(dag: Dag, widths: Sequence[float]) -> Layout:
    """Place the variables of a graph, each `widths` pixels wide.

    Examples
    --------
    >>> dag = Dag.from_arcs("abc", [("a", "b"), ("b", "c"), ("a", "c")])
    >>> layout = lay_out(dag, [40.0] * 3)
    >>> layout.layer, len(layout.routes[0, 2])
    ((0, 1, 2), 1)
    """
    joined = {p for members in dag.parents for p in members}
    joined |= {v for v, members in enumerate(dag.parents) if members}
    layer = _layers(dag)
    graph = _Layered(list(widths), [[] for _ in range(max(layer, default=0) + 1)])
    for v in sorted(joined):
        graph.layers[layer[v]].append(v)
    chains = {
        (parent, child): graph.connect(parent, child, layer[parent], layer[child])
        for child, members in enumerate(dag.parents)
        for parent in members
    }
    graph.layers = [members for members in graph.layers if members]
    graph.order()
    x = graph.coordinates()
    width = graph.width(x)
    n_layers = len(graph.layers)
    loose = [v for v in range(dag.n_vars) if v not in joined]
    for row in _wrapped(loose, widths, max(width, 640.0)):
        left = 0.0
        for v in row:
            layer[v], x[v] = n_layers, left + widths[v] / 2
            left += widths[v] + _GAP
        n_layers, width = n_layers + 1, max(width, left - _GAP)
    return Layout(
        tuple(x[v] for v in range(dag.n_vars)),
        tuple(layer),
        {arc: tuple(x[d] for d in chain) for arc, chain in chains.items()},
        width,
        n_layers,
    )


def _layers(dag: Dag) -> list[int]:
    """Give each variable the longest path that leads to it, then shorten arcs."""
    order = dag.topological_order()
    layer = [0] * dag.n_vars
    children: list[list[int]] = [[] for _ in dag.names]
    for v in order:
        layer[v] = max((layer[p] + 1 for p in dag.parents[v]), default=0)
        for p in dag.parents[v]:
            children[p].append(v)
    for v in reversed(order):
        if len(children[v]) > len(dag.parents[v]):
            layer[v] = min(layer[c] for c in children[v]) - 1
    return layer


def _wrapped(
    loose: list[int], widths: Sequence[float], limit: float
) -> list[list[int]]:
    """Break variables without arcs into rows no wider than the limit."""
    rows: list[list[int]] = []
    left = 0.0
    for v in loose:
        if not rows or left + widths[v] > limit:
            rows.append([])
            left = 0.0
        rows[-1].append(v)
        left += widths[v] + _GAP
    return rows


@dataclass(slots=True)
class _Layered:
    """Vertices in layers, each joined to vertices of the next layers only."""

    widths: list[float]
    layers: list[list[int]]
    above: dict[int, list[int]] = field(default_factory=dict)
    below: dict[int, list[int]] = field(default_factory=dict)

    def connect(self, parent: int, child: int, top: int, bottom: int) -> list[int]:
        """Join two vertices through dummies; give these."""
        chain = []
        for level in range(top + 1, bottom):
            chain.append(len(self.widths))
            self.widths.append(_DUMMY)
            self.layers[level].append(chain[-1])
        for a, b in zip([parent, *chain], [*chain, child], strict=True):
            self.below.setdefault(a, []).append(b)
            self.above.setdefault(b, []).append(a)
        return chain

    def order(self) -> None:
        """Sort every layer by the mean place of its neighbours, up and down."""
        best, fewest = [list(members) for members in self.layers], self._crossings()
        for sweep in range(_SWEEPS):
            if fewest == 0:
                break
            down = sweep % 2 == 0
            numbers = range(len(self.layers))
            for number in numbers if down else reversed(numbers):
                self._sort(number, self.above if down else self.below)
            now = self._crossings()
            if now < fewest:
                best, fewest = [list(members) for members in self.layers], now
        self.layers = best

    def _sort(self, number: int, towards: dict[int, list[int]]) -> None:
        place = self._places()
        members = self.layers[number]

        def mean(v: int) -> float:
            near = towards.get(v)
            return sum(place[u] for u in near) / len(near) if near else place[v]

        members.sort(key=mean)

    def _places(self) -> dict[int, float]:
        """Return the place of each vertex within its layer, from 0 to 1."""
        return {
            v: (at + 0.5) / len(members)
            for members in self.layers
            for at, v in enumerate(members)
        }

    def _crossings(self) -> int:
        total = 0
        for upper, lower in zip(self.layers, self.layers[1:], strict=False):
            place = {v: at for at, v in enumerate(lower)}
            ends = [
                end
                for v in upper
                for end in sorted(place[u] for u in self.below.get(v, []))
            ]
            total += _inversions(ends, len(lower))
        return total

    def coordinates(self) -> dict[int, float]:
        """Move each vertex towards its neighbours as far as its layer allows."""
        x: dict[int, float] = {}
        for members in self.layers:
            left = 0.0
            for v in members:
                x[v] = left + self.widths[v] / 2
                left += self.widths[v] + _GAP
            for v in members:
                x[v] -= (left - _GAP) / 2
        for sweep in range(_SWEEPS):
            down = sweep % 2 == 0
            layers = self.layers if down else self.layers[::-1]
            for members in layers:
                wanted = [self._wanted(v, x, down, sweep) for v in members]
                for v, value in zip(
                    members, self._spread(members, wanted), strict=True
                ):
                    x[v] = value
        left = min((x[v] - self.widths[v] / 2 for v in x), default=0.0)
        return {v: value - left for v, value in x.items()}

    def _wanted(self, v: int, x: dict[int, float], down: bool, sweep: int) -> float:
        near = (self.above if down else self.below).get(v, [])
        if sweep >= _SWEEPS // 2 or not near:
            near = [*self.above.get(v, []), *self.below.get(v, [])]
        return sum(x[u] for u in near) / len(near) if near else x[v]

    def _spread(self, members: list[int], wanted: list[float]) -> list[float]:
        """Come as near to the wanted places as order and widths allow.

        Least squares under an order is pooling of neighbours that collide.
        """
        offset, offsets = 0.0, [0.0]
        for a, b in itertools.pairwise(members):
            offset += (self.widths[a] + self.widths[b]) / 2 + _GAP
            offsets.append(offset)
        pools: list[tuple[float, int]] = []  # mean and number of members
        for place, shift in zip(wanted, offsets, strict=True):
            mean, n = place - shift, 1
            while pools and pools[-1][0] >= mean:
                other, m = pools.pop()
                mean, n = (mean * n + other * m) / (n + m), n + m
            pools.append((mean, n))
        means = [mean for mean, n in pools for _ in range(n)]
        return [mean + shift for mean, shift in zip(means, offsets, strict=True)]

    def width(self, x: dict[int, float]) -> float:
        """Return the right edge of everything."""
        return max((x[v] + self.widths[v] / 2 for v in x), default=0.0)


def _inversions(ends: list[int], size: int) -> int:
    """Count the pairs in the wrong order, with a binary indexed tree."""
    tree = [0] * (size + 1)
    total = 0
    for seen, end in enumerate(ends):
        at, before = end + 1, 0
        while at > 0:
            before += tree[at]
            at -= at & -at
        total += seen - before
        at = end + 1
        while at <= size:
            tree[at] += 1
            at += at & -at
    return total
