"""A network in a cell's output: all of it, or what is around its middle."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from bayesmend.data.states import quantity
from bayesmend.drawing.graph import draw_graph
from bayesmend.drawing.text import cut
from bayesmend.graph.dag import Dag
from bayesmend.graph.relations import children_of
from bayesmend.notebook.pieces import note

__all__ = ["picture"]

# Of what is drawn whole, and of the part of what is not.
_MOST_VARS, _MOST_ARCS = 100, 300
_PART = 50


def picture(dag: Dag, n_mended: Sequence[int] | None = None) -> str:
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
    counts = [0] * dag.n_vars if n_mended is None else n_mended
    compelled = set(dag.cpdag().directed)
    told = ""
    if dag.n_vars > _MOST_VARS or dag.n_arcs > _MOST_ARCS:
        kept = _around_the_middle(dag, _PART)
        whole, dag = dag, _part(dag, kept)
        place = {v: k for k, v in enumerate(kept)}
        both = {(p, c) for p, c in compelled if p in place and c in place}
        compelled = {(place[p], place[c]) for p, c in both}
        counts = [counts[v] for v in kept]
        told = note(_of_a_part(whole, dag))
    if len(compelled) < dag.n_arcs:
        told += note(
            "A dashed arc points the other way in an equivalent network: the data "
            "cannot tell its direction."
        )
    drawn = draw_graph(dag, counts, compelled=compelled)
    return f'<div class="wide picture">{drawn}</div>{told}'


def _of_a_part(whole: Dag, part: Dag) -> str:
    n_vars = quantity(whole.n_vars - part.n_vars, "more variable")
    n_arcs = quantity(whole.n_arcs - part.n_arcs, "more arc")
    return (
        f"Drawn are the {part.n_vars} variables nearest to {cut(part.names[0], 24)}, "
        f"which has the most arcs. {n_vars} and {n_arcs} are left out; NetworkView "
        "shows them all."
    )


def _part(dag: Dag, kept: Sequence[int]) -> Dag:
    """Return the graph of some variables, in the order given."""
    place = {v: k for k, v in enumerate(kept)}
    parents = ([place[p] for p in dag.parents[v] if p in place] for v in kept)
    return Dag(tuple(dag.names[v] for v in kept), tuple(map(tuple, parents)))


def _around_the_middle(dag: Dag, n: int) -> list[int]:
    """Choose variables: the one with the most arcs, and those the fewest steps away."""
    children = children_of(dag.parents)
    near = [[*parents, *children[v]] for v, parents in enumerate(dag.parents)]
    by_arcs = sorted(range(dag.n_vars), key=lambda v: (-len(near[v]), v))
    kept: dict[int, None] = {}
    for first in by_arcs:  # of one part after the other, where the graph has several
        queue = deque([first])
        while queue and len(kept) < n:
            v = queue.popleft()
            if v not in kept:
                kept[v] = None
                queue.extend(near[v])
    return list(kept)
