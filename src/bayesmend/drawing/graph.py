"""A network as a drawing: inline SVG."""

import itertools
from collections.abc import Collection, Mapping, Sequence

from bayesmend.drawing.layout import Layout, lay_out
from bayesmend.drawing.text import cut, escape, text_width
from bayesmend.graph.dag import Dag

__all__ = ["draw_graph"]

_FONT = 13.0
_HEIGHT = 40.0  # of a variable
_STEP = 92.0  # from layer to layer
_MARGIN = 6.0
_ARROW = 8.0
_MAX_NAME = 24


def draw_graph(
    dag: Dag,
    n_mended: Sequence[int],
    *,
    compelled: Collection[tuple[int, int]] | None = None,
) -> str:
    """Draw a graph; below the name of a variable, how many of its cells were mended.

    Arcs that point the other way in some equivalent graph are dashed: all but those
    that are `compelled`, by default those of the equivalence class of the graph.

    Examples
    --------
    >>> svg = draw_graph(Dag.from_arcs("ab", [("a", "b")]), [0, 3])
    >>> svg.startswith("<svg"), svg.count("<path"), "3 mended" in svg
    (True, 2, True)
    """
    names = [cut(name, _MAX_NAME) for name in dag.names]
    widths = [max(78.0, _FONT * text_width(name) + 26.0) for name in names]
    layout = lay_out(dag, widths)
    drawing = _Drawing(dag, layout, widths)
    if compelled is None:
        compelled = set(dag.cpdag().directed)
    arcs = [
        drawing.arc(parent, child, is_compelled=(parent, child) in compelled)
        for child, members in enumerate(dag.parents)
        for parent in members
    ]
    boxes = [drawing.box(v, names[v], n_mended[v]) for v in range(dag.n_vars)]
    width = layout.width + 2 * _MARGIN
    height = (layout.n_layers - 1) * _STEP + _HEIGHT + 2 * _MARGIN
    return "\n".join(
        [
            '<svg class="graph" role="img" aria-label="The network" '
            f'width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.1f} {height:.1f}">',
            *arcs,
            *boxes,
            "</svg>",
        ]
    )


class _Drawing:
    """Pixels of one layout."""

    def __init__(self, dag: Dag, layout: Layout, widths: Sequence[float]) -> None:
        self._layout, self._widths = layout, widths
        self._leaving: dict[tuple[int, int], float] = {}
        self._arriving: dict[tuple[int, int], float] = {}
        x = layout.x
        for arc, route in layout.routes.items():
            course = (x[arc[0]], *route, x[arc[1]])
            self._leaving[arc], self._arriving[arc] = course[1], course[-2]
        for v in range(dag.n_vars):
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

    def _top(self, layer: int) -> float:
        return _MARGIN + layer * _STEP

    def arc(self, parent: int, child: int, *, is_compelled: bool) -> str:
        """Draw an arc as a curve that leaves and arrives vertically, and its head."""
        arc, layer = (parent, child), self._layout.layer
        level = layer[parent]
        points = [(self._leaving[arc], self._top(level) + _HEIGHT)]
        for x in self._layout.routes[arc]:
            level += 1
            points += [(x, self._top(level)), (x, self._top(level) + _HEIGHT)]
        points.append((self._arriving[arc], self._top(layer[child]) - _ARROW))
        path = [f"M{_MARGIN + points[0][0]:.1f},{points[0][1]:.1f}"]
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            middle = (y0 + y1) / 2
            path.append(
                f"C{_MARGIN + x0:.1f},{middle:.1f} {_MARGIN + x1:.1f},{middle:.1f} "
                f"{_MARGIN + x1:.1f},{y1:.1f}"
            )
        kind = "fixed" if is_compelled else "either"
        # A head of its own: markers have names, which pages with many drawings share.
        x, y = _MARGIN + points[-1][0], points[-1][1]
        return (
            f'<path class="arc {kind}" d="{" ".join(path)}"/>'
            f'<path class="head {kind}" '
            f'd="M{x - 3.5:.1f},{y:.1f}h7l-3.5,{_ARROW:.0f}z"/>'
        )

    def box(self, v: int, name: str, n_mended: int) -> str:
        """Draw a variable."""
        x, y = _MARGIN + self._layout.x[v], self._top(self._layout.layer[v])
        width = self._widths[v]
        lines = f'<text x="{x:.1f}" y="{y + 24:.1f}">{escape(name)}</text>'
        if n_mended:
            lines = (
                f'<text x="{x:.1f}" y="{y + 18:.1f}">{escape(name)}</text>'
                f'<text class="small" x="{x:.1f}" y="{y + 32:.1f}">'
                f"{n_mended:,} mended</text>"
            )
        return (
            f'<g class="variable{" mended" if n_mended else ""}">'
            f'<rect x="{x - width / 2:.1f}" y="{y:.1f}" width="{width:.1f}" '
            f'height="{_HEIGHT:.0f}" rx="8"/>{lines}</g>'
        )
