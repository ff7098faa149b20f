"""How far apart two graphs are."""

from __future__ import annotations

from dataclasses import dataclass

from bayesmend._entrance import entrance
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag

__all__ = ["SkeletonScores", "skeleton_scores", "structural_hamming_distance"]


@dataclass(frozen=True, slots=True)
class SkeletonScores:
    """How well the skeleton of a learned graph matches the true one.

    Parameters
    ----------
    precision : float
        Share of the learned edges that are true; 1 when no edge was learned.
    recall : float
        Share of the true edges that were learned; 1 when there is no true edge.
    f1 : float
        Harmonic mean of the two.
    """

    precision: float
    recall: float
    f1: float


@entrance
def structural_hamming_distance(a: Dag | Cpdag, b: Dag | Cpdag) -> int:
    """Count the pairs of variables joined differently in two equivalence classes.

    A pair is unjoined, joined by an edge, or joined by an arc in one of two
    directions; each pair for which the two completed graphs differ counts one.
    Variables are matched by name, their order does not matter.

    Parameters
    ----------
    a, b : Dag or Cpdag
        Graphs over the same variables. A ``Dag`` stands for its class.

    Returns
    -------
    int
        Zero exactly when the graphs are equivalent.

    Examples
    --------
    >>> chain = Dag.from_arcs("abc", [("a", "b"), ("b", "c")])
    >>> fork = Dag.from_arcs("abc", [("b", "a"), ("b", "c")])
    >>> collider = Dag.from_arcs("abc", [("a", "b"), ("c", "b")])
    >>> structural_hamming_distance(chain, fork)
    0
    >>> structural_hamming_distance(chain, collider)
    2
    """
    _check_same_names(a, b)
    ours, theirs = marks(a), marks(b)
    return sum(
        ours.get(pair) != theirs.get(pair) for pair in ours.keys() | theirs.keys()
    )


@entrance
def skeleton_scores(learned: Dag | Cpdag, truth: Dag | Cpdag) -> SkeletonScores:
    """Compare the edges of two graphs, whatever their directions.

    Parameters
    ----------
    learned, truth : Dag or Cpdag
        Graphs over the same variables, matched by name.

    Returns
    -------
    SkeletonScores
        Precision, recall and f1.

    Examples
    --------
    >>> truth = Dag.from_arcs("abc", [("a", "b"), ("b", "c")])
    >>> skeleton_scores(Dag.from_arcs("abc", [("b", "a")]), truth)
    SkeletonScores(precision=1.0, recall=0.5, f1=0.6666666666666666)
    """
    _check_same_names(learned, truth)
    found, true = _skeleton(learned), _skeleton(truth)
    shared = len(found & true)
    total = len(found) + len(true)
    return SkeletonScores(
        precision=shared / len(found) if found else 1.0,
        recall=shared / len(true) if true else 1.0,
        f1=2 * shared / total if total else 1.0,
    )


def marks(graph: Dag | Cpdag) -> dict[frozenset[str], str]:
    """Map each joined pair to the child of its arc, or to "" for an edge."""
    graph = graph.cpdag() if isinstance(graph, Dag) else graph
    marks = {frozenset(pair): "" for pair in graph.edges}
    marks.update({frozenset(arc): arc[1] for arc in graph.arcs})
    return marks


def _skeleton(graph: Dag | Cpdag) -> set[frozenset[str]]:
    pairs = graph.arcs if isinstance(graph, Dag) else graph.arcs + graph.edges
    return set(map(frozenset, pairs))


def _check_same_names(a: Dag | Cpdag, b: Dag | Cpdag) -> None:
    for graph in (a, b):
        _check_graph(graph)
    for name in sorted(set(a.names) ^ set(b.names)):
        msg = (
            f"the graphs must have the same variables, but {name!r} is in one of "
            "them only."
        )
        raise DataError(msg)


def _check_graph(graph: object) -> None:
    if not isinstance(graph, Dag | Cpdag):
        kind = type(graph).__name__
        msg = f"a graph must be a Dag or a Cpdag. Got an object of type {kind} instead."
        raise ParameterError(msg)
