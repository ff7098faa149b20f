"""Plots of structures: the graph itself, and how sure its arcs are."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from bayesmend._checks import check_integer
from bayesmend._entrance import entrance
from bayesmend.data.states import quantity
from bayesmend.drawing.artists import draw_on
from bayesmend.drawing.picture import Link, Picture, links_between, links_of, with_keys
from bayesmend.graph.confidence import ArcProbabilities
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.graph.difference import GraphDifference
from bayesmend.learning.result import LearnResult
from bayesmend.plot.axes import axes_of, finish, kind_error, shown
from bayesmend.plot.colours import SOFT, colour_of
from bayesmend.structure.posterior import StructurePosterior

__all__ = ["arcs", "difference", "network"]

_PIXELS = 96.0  # per inch
_MOST_INCHES = 12.0
_EITHER = {"color": SOFT, "markerfacecolor": "white", "label": "either way"}
_THIS = {"color": colour_of("exact"), "label": "this way"}
_THINNEST, _THICKEST = 0.6, 4.0  # lines of arcs that no network, or each, has


@entrance
def difference(found: GraphDifference, *, ax: Any = None) -> Any:
    """Draw two graphs in one: what one adds to the other, loses and reverses.

    Parameters
    ----------
    found : GraphDifference
        What `graph.compare_graphs` returned.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on: arcs of both grey, added ones blue, lost ones orange and
        dotted, reversed ones purple and dashed, as the second graph has them.

    Examples
    --------
    >>> import bayesmend as bm
    >>> one, two = (bm.Dag.from_arcs("ab", [arc]) for arc in (("a", "b"), ("b", "a")))
    >>> ax = difference(bm.graph.compare_graphs(one, two))
    """
    if not isinstance(found, GraphDifference):
        kind_error("found", "what graph.compare_graphs returned", found)
    picture = Picture.of(found.names, links_between(found))
    return _drawn(with_keys(picture), ax)


@entrance
def network(graph: Any, *, ax: Any = None) -> Any:
    """Draw a graph in layers, parents above children.

    Parameters
    ----------
    graph : Network, Dag, Cpdag, LearnResult, Ensemble, Bootstrap or ArcProbabilities
        What to draw; of several networks their consensus, arcs as wide as they are
        sure. An arc that points the other way in some equivalent graph is dashed, an
        edge of a `Cpdag` has no head. A result of `learn` tells how many cells of each
        variable were mended.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on; text and all grow and shrink with it.

    Examples
    --------
    >>> import bayesmend as bm
    >>> ax = network(bm.load_network("asia").dag.cpdag())
    """
    found = _graph_of(graph)
    if found is None:
        wanted = "a Network, a Dag, a Cpdag or a result that has one"
        kind_error("graph", wanted, graph)
    links, sure = links_of(found), _confidence_of(graph)
    if sure is not None:
        links = [_weighted(link, sure) for link in links]
    return _drawn(Picture.of(found.names, links, _notes(graph, found)), ax)


def _drawn(picture: Picture, ax: Any) -> Any:
    """Draw a picture, on a new figure as large as it is, within reason."""
    scale = min(1.0, _MOST_INCHES * _PIXELS / max(picture.width, picture.height))
    size = (scale * picture.width / _PIXELS, scale * picture.height / _PIXELS)
    ax = axes_of(ax, *size)
    draw_on(ax, picture)
    return ax


def _graph_of(graph: Any) -> Dag | Cpdag | None:
    if isinstance(graph, Dag | Cpdag):
        return graph
    for name in ("dag", "consensus"):  # one network, or several
        found = getattr(graph, name, None)
        found = found() if callable(found) else found
        if isinstance(found, Dag):
            return found
    return None


def _confidence_of(graph: Any) -> ArcProbabilities | None:
    if isinstance(graph, ArcProbabilities):
        return graph
    found = getattr(graph, "arc_probabilities", None)
    found = found() if callable(found) else None
    return found if isinstance(found, ArcProbabilities) else None


def _weighted(link: Link, sure: ArcProbabilities) -> Link:
    share = float(sure.undirected[link.tail, link.head])
    return link._replace(width=_THINNEST + share * (_THICKEST - _THINNEST))


def _notes(graph: Any, found: Dag | Cpdag) -> list[str]:
    if not isinstance(graph, LearnResult):
        return []
    counts = Counter(graph.cells.variables.tolist())
    return [f"{counts[v]:,} mended" if counts[v] else "" for v in range(found.n_vars)]


class _Edge(NamedTuple):
    """Two variables, and how sure it is that they are joined, and which way."""

    parent: str
    child: str
    directed: float
    directed_error: float
    either: float
    either_error: float


@entrance
def arcs(confidence: Any, *, most: int = 20, ax: Any = None) -> Any:
    """Draw how sure arcs are: hollow dots either way, full ones the likelier way.

    Lines through them show 95 % intervals; the dotted line, where several networks were
    counted, the threshold above which an edge belongs to their consensus.

    Parameters
    ----------
    confidence : Ensemble, Bootstrap, ArcProbabilities or StructurePosterior
        What tells how probable arcs are.
    most : int, default=20
        So many edges are shown, the surest first.
    {ax}

    Returns
    -------
    matplotlib.axes.Axes
        What was drawn on.

    Examples
    --------
    >>> import bayesmend as bm
    >>> rows = bm.load_network("asia").sample(100, seed=1)
    >>> found = bm.structure.structure_posterior(rows, n_dags=10, seed=1)
    >>> ax = arcs(found, most=5)
    >>> len(ax.get_yticks())
    5
    """
    check_integer("most", most, 1)
    sure = _confidence_of(confidence)
    if sure is not None:
        edges = [_Edge(*arc) for arc in sure.edges()]
    elif isinstance(confidence, StructurePosterior):
        edges = _edges_of(confidence)
    else:
        wanted = "an Ensemble, a Bootstrap, ArcProbabilities or a StructurePosterior"
        kind_error("confidence", wanted, confidence)
    edges_shown = edges[:most]
    ax = axes_of(ax, 6.4, 0.9 + 0.24 * max(len(edges_shown), 2))
    places = np.arange(len(edges_shown))
    either = [edge.either for edge in edges_shown]
    directed = [edge.directed for edge in edges_shown]
    for shares, errors, shift, look in (
        (either, [edge.either_error for edge in edges_shown], -0.14, _EITHER),
        (directed, [edge.directed_error for edge in edges_shown], 0.14, _THIS),
    ):
        low = np.clip(np.array(shares) - 1.96 * np.array(errors), 0, 1)
        high = np.clip(np.array(shares) + 1.96 * np.array(errors), 0, 1)
        ax.hlines(places + shift, low, high, color=look["color"], linewidth=1.6)
        ax.plot(shares, places + shift, "o", markersize=5, clip_on=False, **look)
    if sure is not None:
        ax.axvline(sure.threshold, color=SOFT, linestyle=":", label="threshold")
    names = [f"{shown(e.parent)} → {shown(e.child)}" for e in edges_shown]
    ax.set_yticks(places, names)
    ax.set_ylim(max(len(edges_shown), 1) - 0.4, -0.6)
    ax.set_xlim(0, 1.02)
    ax.set_xlabel("probability of the arc")
    if len(edges) > len(edges_shown):
        rest = quantity(len(edges) - len(edges_shown), "less sure edge")
        ax.set_title(f"{rest} not shown", loc="right", fontsize="small", color=SOFT)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return finish(ax, "x")


def _edges_of(posterior: StructurePosterior) -> list[_Edge]:
    """List the edges that any probability is left for, the surest first."""
    either, found = posterior.edges, []
    for i, j in np.argwhere(np.triu(either, 1) > 0).tolist():
        is_forwards = posterior.arcs[i, j] >= posterior.arcs[j, i]
        found.append((i, j) if is_forwards else (j, i))
    found.sort(key=lambda ij: -either[*ij])
    return [
        _Edge(
            posterior.names[i],
            posterior.names[j],
            *(float(posterior.arcs[i, j]), float(posterior.errors[i, j])),
            *(float(either[i, j]), float(posterior.edge_errors[i, j])),
        )
        for i, j in found
    ]
