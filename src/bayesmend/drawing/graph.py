"""A network as a part of a page: inline SVG."""

from collections.abc import Sequence

from bayesmend.drawing.picture import Link, Picture, links_of
from bayesmend.drawing.svg import box_lines, head_of, opening, path_of
from bayesmend.graph.dag import Dag

__all__ = ["draw_graph", "draw_links"]


def draw_graph(dag: Dag, n_mended: Sequence[int]) -> str:
    """Draw a graph; below the name of a variable, how many of its cells were mended.

    Arcs that point the other way in some equivalent graph are dashed.

    Examples
    --------
    >>> svg = draw_graph(Dag.from_arcs("ab", [("a", "b")]), [0, 3])
    >>> svg.startswith("<svg"), svg.count("<path"), "3 mended" in svg
    (True, 2, True)
    """
    return draw_links(dag.names, links_of(dag), n_mended)


def draw_links(
    names: Sequence[str], links: Sequence[Link], n_mended: Sequence[int]
) -> str:
    """Draw what joins some variables, as `draw_graph` does."""
    notes = [f"{n:,} mended" if n else "" for n in n_mended]
    picture = Picture.of(names, links, notes)
    arcs = [
        f'<path class="arc {curve.link.kind}" d="{path_of(curve)}"/>'
        + head_of(curve, f'class="head {curve.link.kind}"')
        for curve in picture.curves
    ]
    boxes = [
        f'<g class="variable{" mended" if box.note else ""}">'
        f'<rect x="{box.left:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.0f}" rx="8"/>{box_lines(box)}</g>'
        for box in picture.boxes
    ]
    return "\n".join([opening(picture, "The network"), *arcs, *boxes, "</svg>"])
