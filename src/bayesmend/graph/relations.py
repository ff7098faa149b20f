"""Who is whose kin in a directed acyclic graph, and what separates whom.

Two sets of variables are d-separated by a third when, in the moral graph of the three
and their ancestors, every path between the two meets the third (Lauritzen and others
1990).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["are_separated", "children_of", "moral_graph", "reach"]

Links = Sequence[Iterable[int]]
"""For each variable, those that one step leads to."""


def children_of(parents: Links) -> list[list[int]]:
    """Return the children of each variable, in ascending order.

    Examples
    --------
    >>> children_of([[], [0], [0, 1]])
    [[1, 2], [2], []]
    """
    children: list[list[int]] = [[] for _ in parents]
    for child, members in enumerate(parents):
        for parent in members:
            children[parent].append(child)
    return children


def reach(links: Links, start: Iterable[int], closed: Iterable[int] = ()) -> set[int]:
    """Return what some variables lead to, themselves included, without passing others.

    Examples
    --------
    >>> reach([[1], [2], []], [0]), reach([[1], [2], []], [0], closed=[1])
    ({0, 1, 2}, {0})
    """
    closed = set(closed)
    waiting = list(start)
    reached = set(waiting)
    while waiting:
        for variable in links[waiting.pop()]:
            if variable not in reached and variable not in closed:
                reached.add(variable)
                waiting.append(variable)
    return reached


def moral_graph(parents: Links) -> list[set[int]]:
    """Return the neighbours of each variable: by an arc, or by a child in common.

    Examples
    --------
    >>> moral_graph([[], [], [0, 1]])
    [{1, 2}, {0, 2}, {0, 1}]
    """
    neighbours: list[set[int]] = [set() for _ in parents]
    for child, members in enumerate(parents):
        family = {*members, child}
        for variable in family:
            neighbours[variable] |= family - {variable}
    return neighbours


def are_separated(
    parents: Links, one: Iterable[int], two: Iterable[int], given: Iterable[int]
) -> bool:
    """Tell whether a set of variables separates two others; the three are disjoint.

    Examples
    --------
    >>> collider = [[], [], [0, 1]]
    >>> are_separated(collider, [0], [1], []), are_separated(collider, [0], [1], [2])
    (True, False)
    """
    one, two, given = set(one), set(two), set(given)
    known = reach(parents, one | two | given)
    kept = [members if v in known else () for v, members in enumerate(parents)]
    return not reach(moral_graph(kept), one, closed=given) & two
