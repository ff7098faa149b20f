"""What sets two graphs apart, arc by arc, and as classes of equivalent graphs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesmend._columns import in_columns
from bayesmend._entrance import entrance
from bayesmend._visible import visible
from bayesmend.graph.dag import Dag, check_dag
from bayesmend.graph.distance import (
    SkeletonScores,
    marks,
    skeleton_scores,
    structural_hamming_distance,
)

__all__ = ["GraphDifference", "compare_graphs"]

Arc = tuple[str, str]


@dataclass(frozen=True, slots=True, repr=False)
class GraphDifference:
    """What leads from one graph to another; it prints itself.

    Parameters
    ----------
    names : tuple of str
        Names of the variables, in the order of the first graph.
    same : tuple of (parent, child)
        Arcs of both graphs.
    added : tuple of (parent, child)
        Arcs of the second graph between variables that the first does not join.
    lost : tuple of (parent, child)
        Arcs of the first graph between variables that the second does not join.
    reversed : tuple of (parent, child)
        Arcs of the second graph that point the other way in the first.
    classes : tuple of (str, str)
        Pairs joined differently in the two equivalence classes: how in the first, and
        how in the second, empty where not at all.
    distance : int
        Their number: the structural Hamming distance. Arcs that are reversed need not
        count: no data tells equivalent graphs apart.
    skeleton : SkeletonScores
        How well the edges of the second graph match those of the first.
    """

    names: tuple[str, ...]
    same: tuple[Arc, ...]
    added: tuple[Arc, ...]
    lost: tuple[Arc, ...]
    reversed: tuple[Arc, ...]
    classes: tuple[tuple[str, str], ...]
    distance: int
    skeleton: SkeletonScores

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in plain types, ready for JSON."""
        arcs = {name: getattr(self, name) for name in _KINDS}
        return {
            "n_vars": len(self.names),
            "distance": self.distance,
            "precision": self.skeleton.precision,
            "recall": self.skeleton.recall,
            "f1": self.skeleton.f1,
            **{name: [list(arc) for arc in found] for name, found in arcs.items()},
            "classes": [list(pair) for pair in self.classes],
        }

    def __str__(self) -> str:
        scores = self.skeleton
        lines = [
            f"distance {self.distance}; of the edges, whatever their direction: "
            f"precision {scores.precision:.3f}, recall {scores.recall:.3f}, "
            f"f1 {scores.f1:.3f}",
        ]
        for name in _KINDS:
            arcs = getattr(self, name)
            lines.append(f"{name}: {len(arcs)}")
            if name != "same":
                lines += [f"  {parent} -> {child}" for parent, child in arcs]
        lines.append(f"joined differently in the equivalence classes: {self.distance}")
        rows = [
            (f"  {first or 'nothing'}", "became", second or "nothing")
            for first, second in self.classes
        ]
        return visible("\n".join([*lines, *in_columns(rows)]))

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(getattr(self, name))} {name}" for name in _KINDS)
        return f"GraphDifference(distance={self.distance}, {counts})"


_KINDS = ("same", "added", "lost", "reversed")


@entrance
def compare_graphs(first: Dag, second: Dag) -> GraphDifference:
    """Tell what leads from one graph to another: arcs added, lost and reversed.

    Parameters
    ----------
    first, second : Dag
        Graphs over the same variables, matched by name.

    Returns
    -------
    GraphDifference
        Also what sets their equivalence classes apart, the distance, and how well the
        edges of the second match those of the first.

    Examples
    --------
    >>> chain = Dag.from_arcs("abc", [("a", "b"), ("b", "c")])
    >>> other = Dag.from_arcs("abc", [("b", "a"), ("a", "c")])
    >>> found = compare_graphs(chain, other)
    >>> found.added, found.lost, found.reversed, found.distance
    ((('a', 'c'),), (('b', 'c'),), (('b', 'a'),), 2)
    >>> print(found)
    distance 2; of the edges, whatever their direction: precision 0.500, ...
    same: 0
    added: 1
      a -> c
    lost: 1
      b -> c
    reversed: 1
      b -> a
    joined differently in the equivalence classes: 2
      nothing  became  a -- c
      b -- c   became  nothing
    """
    check_dag(first)
    check_dag(second)
    distance = structural_hamming_distance(first, second)
    ours, theirs = set(first.arcs), set(second.arcs)
    turned = {(child, parent) for parent, child in ours}
    return GraphDifference(
        first.names,
        tuple(arc for arc in first.arcs if arc in theirs),
        tuple(arc for arc in second.arcs if arc not in ours | turned),
        tuple(arc for arc in first.arcs if not {arc, arc[::-1]} & theirs),
        tuple(arc for arc in second.arcs if arc in turned),
        _classes(first, second),
        distance,
        skeleton_scores(second, first),
    )


def _classes(first: Dag, second: Dag) -> tuple[tuple[str, str], ...]:
    """Pair what joins two variables in one class with what does in the other."""
    ours, theirs = marks(first), marks(second)
    place = {name: v for v, name in enumerate(first.names)}
    pairs = sorted(
        sorted(pair, key=place.__getitem__)
        for pair in ours.keys() | theirs.keys()
        if ours.get(pair) != theirs.get(pair)
    )
    pairs.sort(key=lambda pair: [place[name] for name in pair])
    return tuple(
        (
            _joined(pair, ours.get(frozenset(pair))),
            _joined(pair, theirs.get(frozenset(pair))),
        )
        for pair in pairs
    )


def _joined(pair: list[str], child: str | None) -> str:
    """Show an arc or an edge.

    Examples
    --------
    >>> _joined(["a", "b"], "a"), _joined(["a", "b"], ""), _joined(["a", "b"], None)
    ('b -> a', 'a -- b', '')
    """
    if child is None:
        return ""
    if not child:
        return " -- ".join(pair)
    (parent,) = (name for name in pair if name != child)
    return f"{parent} -> {child}"
