"""A network in a cell's output: all of it, or what is around its middle."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from bayesmend.data.states import quantity
from bayesmend.drawing.graph import draw_links
from bayesmend.drawing.picture import Link, links_of
from bayesmend.drawing.text import cut
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.notebook.pieces import note

__all__ = ["picture"]

# Of what is drawn whole, and of the part of what is not.
_MOST_VARS, _MOST_LINKS = 100, 300
_PART = 50


def picture(graph: Dag | Cpdag, n_mended: Sequence[int] | None = None) -> str:
    """Draw a graph, and say what dashed arcs mean and what is left out.

    Examples
    --------
    >>> picture(Dag.from_arcs("ab", [("a", "b")])).count("<rect")
    2
    >>> chain = [(k, k + 1) for k in range(150)]
    >>> html = picture(Dag.from_arcs([f"v{k}" for k in range(151)], chain))
    >>> html.count("<rect"), "101 more variables" in html
    (50, True)
    """
    names, links = graph.names, links_of(graph)
    counts = [0] * len(names) if n_mended is None else n_mended
    told = ""
    if len(names) > _MOST_VARS or len(links) > _MOST_LINKS:
        kept = _around_the_middle(len(names), links)
        part = _part(links, kept)
        told = note(_of_a_part(names, kept, len(links) - len(part)))
        names, links = tuple(names[v] for v in kept), part
        counts = [counts[v] for v in kept]
    if any(link.kind == "either" and link.has_head for link in links):
        told += note(
            "A dashed arc points the other way in an equivalent network: the data "
            "cannot tell its direction."
        )
    drawn = draw_links(names, links, counts)
    return f'<div class="wide picture">{drawn}</div>{told}'


def _of_a_part(names: Sequence[str], kept: Sequence[int], n_left_out: int) -> str:
    n_vars = quantity(len(names) - len(kept), "more variable")
    return (
        f"Drawn are the {len(kept)} variables nearest to {cut(names[kept[0]], 24)}, "
        f"which has the most arcs. {n_vars} and {quantity(n_left_out, 'more arc')} are "
        "left out; NetworkView shows them all."
    )


def _part(links: Sequence[Link], kept: Sequence[int]) -> list[Link]:
    """Return what joins some variables, by their places among these."""
    place = {v: k for k, v in enumerate(kept)}
    return [
        link._replace(tail=place[link.tail], head=place[link.head])
        for link in links
        if link.tail in place and link.head in place
    ]


def _around_the_middle(n_vars: int, links: Sequence[Link]) -> list[int]:
    """Choose variables: the one with the most arcs, and those the fewest steps away."""
    near: list[list[int]] = [[] for _ in range(n_vars)]
    for link in links:
        near[link.tail].append(link.head)
        near[link.head].append(link.tail)
    by_arcs = sorted(range(n_vars), key=lambda v: (-len(near[v]), v))
    kept: dict[int, None] = {}
    for first in by_arcs:  # of one part after the other, where the graph has several
        queue = deque([first])
        while queue and len(kept) < _PART:
            v = queue.popleft()
            if v not in kept:
                kept[v] = None
                queue.extend(near[v])
    return list(kept)
