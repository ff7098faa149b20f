"""Directed acyclic graphs, their equivalence classes and their topological order.

Two graphs are equivalent when they imply the same conditional independences: the same
skeleton and the same v-structures (Verma and Pearl 1990). A class is written as its
completed partially directed graph, found with the edge ordering of Chickering (1995).
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from bayesmend._checks import check_items
from bayesmend._shown import Shown
from bayesmend.data.states import position_of, quantity, unknown_name
from bayesmend.errors import CycleError, ParameterError
from bayesmend.graph.cpdag import (
    Cpdag,
    check_names,
    quote_dot,
    render_dot,
)
from bayesmend.graph.relations import are_separated, children_of, moral_graph, reach

__all__ = ["Cpdag", "Dag", "check_dag"]


@dataclass(frozen=True, slots=True, repr=False)
class Dag(Shown):
    """A directed acyclic graph over named variables.

    Parameters
    ----------
    names : tuple of str
        Names of the variables, all different.
    parents : tuple of tuple of int
        Indices of the parents of each variable; stored in ascending order.

    Raises
    ------
    CycleError
        When the arcs form a directed cycle; the message names it.

    Examples
    --------
    >>> dag = Dag(("smoke", "lung", "bronc"), ((), (0,), (0,)))
    >>> dag
    Dag(3 variables, 2 arcs)
    >>> print(dag)
    smoke
    lung <- smoke
    bronc <- smoke
    """

    names: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        names = check_names(self.names)
        if len(self.parents) != len(names):
            msg = (
                f"parents must have one entry per variable ({len(names)}). "
                f"Got {len(self.parents)} instead."
            )
            raise ParameterError(msg)
        parents = tuple(
            _checked_parents(names, child, members)
            for child, members in enumerate(self.parents)
        )
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "parents", parents)
        self.topological_order()  # raises CycleError

    @classmethod
    def from_arcs(
        cls,
        names: Iterable[str],
        arcs: Iterable[Sequence[str | SupportsIndex]] = (),
    ) -> Dag:
        """Build a graph from (parent, child) pairs of names or indices.

        Examples
        --------
        >>> Dag.from_arcs(["a", "b", "c"], [("a", "b"), ("b", "c")]).arcs
        (('a', 'b'), ('b', 'c'))
        >>> Dag.from_arcs(["a", "b"], [("a", "b"), ("b", "a")])
        Traceback (most recent call last):
        ...
        bayesmend.errors.CycleError: the arcs form a cycle: a -> b -> a. ...
        """
        names = check_names(names)
        index = {name: i for i, name in enumerate(names)}
        parents: list[list[int]] = [[] for _ in names]
        for arc in check_items("arcs", arcs, "pairs (parent, child)"):
            if not hasattr(arc, "__len__") or len(arc) != 2:
                msg = f"an arc must be a pair (parent, child). Got {arc!r} instead."
                raise ParameterError(msg)
            parent, child = (_index_of(end, names, index) for end in arc)
            parents[child].append(parent)
        return cls(names, tuple(map(tuple, parents)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, names: Iterable[str]) -> Dag:
        """Build a graph from a square matrix, true at ``[i, j]`` when i -> j.

        Examples
        --------
        >>> Dag.from_matrix([[0, 1], [0, 0]], ["a", "b"]).arcs
        (('a', 'b'),)
        """
        names = check_names(names)
        cells = np.asarray(matrix)
        if cells.shape != (len(names), len(names)):
            msg = (
                f"matrix must have shape ({len(names)}, {len(names)}), a row and a "
                f"column per variable. Got shape {cells.shape} instead."
            )
            raise ParameterError(msg)
        columns = cells.astype(bool).T
        return cls(names, tuple(tuple(np.flatnonzero(c).tolist()) for c in columns))

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_arcs(self) -> int:
        """Number of arcs."""
        return sum(map(len, self.parents))

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Pairs (parent, child) of names, ordered by child, then by parent."""
        return tuple(
            (self.names[parent], self.names[child])
            for child, members in enumerate(self.parents)
            for parent in members
        )

    def topological_order(self) -> tuple[int, ...]:
        """Order the variables so that parents precede children.

        Returns
        -------
        tuple of int
            The lexicographically smallest such order of the indices.
        """
        order, waiting = _sort(self.parents)
        if any(waiting):
            cycle = _walk_cycle(self.parents, waiting)
            path = " -> ".join(self.names[i] for i in cycle)
            msg = f"the arcs form a cycle: {path}. Remove or reverse one of them."
            raise CycleError(msg)
        return tuple(order)

    def moral_graph(self) -> tuple[tuple[int, ...], ...]:
        """Return the neighbours of each variable in the moral graph.

        Variables are neighbours when joined by an arc or when they share a child.

        Returns
        -------
        tuple of tuple of int
            Indices in ascending order, one tuple per variable.

        Examples
        --------
        >>> Dag.from_arcs("abc", [("a", "c"), ("b", "c")]).moral_graph()
        ((1, 2), (0, 2), (0, 1))
        """
        return tuple(tuple(sorted(s)) for s in moral_graph(self.parents))

    def children(self, name: str) -> tuple[str, ...]:
        """Name the children of a variable, in the order of the variables.

        Examples
        --------
        >>> dag = Dag.from_arcs("abcd", [("a", "b"), ("b", "c"), ("d", "c")])
        >>> dag.children("a")
        ('b',)
        """
        return self._named(children_of(self.parents)[self._position(name)])

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Name those from which arcs lead to a variable, directly or by way of others.

        Examples
        --------
        >>> dag = Dag.from_arcs("abcd", [("a", "b"), ("b", "c"), ("d", "c")])
        >>> dag.ancestors("c")
        ('a', 'b', 'd')
        """
        variable = self._position(name)
        return self._named(reach(self.parents, [variable]) - {variable})

    def descendants(self, name: str) -> tuple[str, ...]:
        """Name those to which arcs lead from a variable, directly or by way of others.

        Examples
        --------
        >>> dag = Dag.from_arcs("abcd", [("a", "b"), ("b", "c"), ("d", "c")])
        >>> dag.descendants("a")
        ('b', 'c')
        """
        variable = self._position(name)
        return self._named(reach(children_of(self.parents), [variable]) - {variable})

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Name the parents and children of a variable and the other parents of those.

        Given these, the variable is independent of all others.

        Examples
        --------
        >>> dag = Dag.from_arcs("abcd", [("a", "b"), ("b", "c"), ("d", "c")])
        >>> dag.markov_blanket("b")
        ('a', 'c', 'd')
        """
        return self._named(moral_graph(self.parents)[self._position(name)])

    def d_separated(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        given: str | Iterable[str] = (),
    ) -> bool:
        """Tell whether the graph implies that `x` and `y` are independent given others.

        Parameters
        ----------
        x, y : str or iterable of str
            The variables asked about, one or several on each side.
        given : str or iterable of str, default=()
            The variables that are known.

        Examples
        --------
        >>> dag = Dag.from_arcs("abcd", [("a", "b"), ("b", "c"), ("d", "c")])
        >>> dag.d_separated("a", "c"), dag.d_separated("a", "c", given="b")
        (False, True)
        >>> dag.d_separated("b", "d"), dag.d_separated("b", "d", given=["c"])
        (True, False)
        """
        sides: dict[int, str] = {}
        for side, names in (("x", x), ("y", y), ("given", given)):
            members = (
                [names] if isinstance(names, str) else check_items(side, names, "names")
            )
            for name in members:
                variable = self._position(name)
                if sides.setdefault(variable, side) != side:
                    msg = (
                        f"x, y and given must have no variable in common. Got {name!r} "
                        f"in {sides[variable]} and in {side}."
                    )
                    raise ParameterError(msg)
        one, two, known = (
            [variable for variable, own in sides.items() if own == side]
            for side in ("x", "y", "given")
        )
        return are_separated(self.parents, one, two, known)

    def _position(self, name: str) -> int:
        return position_of(name, self.names)

    def _named(self, variables: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.names[variable] for variable in sorted(variables))

    def cpdag(self) -> Cpdag:
        """Return the equivalence class as a completed partially directed graph.

        Examples
        --------
        >>> dag = Dag.from_arcs("abcd", [("a", "c"), ("b", "c"), ("c", "d")])
        >>> print(dag.cpdag())
        a -> c
        b -> c
        c -> d
        >>> print(Dag.from_arcs("ab", [("a", "b")]).cpdag())
        a -- b
        """
        compelled = _compelled_parents(self)
        directed = []
        undirected = []
        for child, members in enumerate(self.parents):
            for parent in members:
                if parent in compelled[child]:
                    directed.append((parent, child))
                else:
                    undirected.append((min(parent, child), max(parent, child)))
        return Cpdag(self.names, tuple(directed), tuple(undirected))

    def to_dot(self) -> str:
        """Return the graph in the DOT language of Graphviz.

        Examples
        --------
        >>> print(Dag.from_arcs("ab", [("a", "b")]).to_dot())
        digraph {
          "a";
          "b";
          "a" -> "b";
        }
        """
        lines = [
            f"{quote_dot(parent)} -> {quote_dot(child)}" for parent, child in self.arcs
        ]
        return render_dot(self.names, lines)

    def __repr__(self) -> str:
        n_arcs = quantity(self.n_arcs, "arc")
        return f"Dag({quantity(self.n_vars, 'variable')}, {n_arcs})"

    def __str__(self) -> str:
        return "\n".join(
            f"{name} <- {', '.join(self.names[p] for p in members)}"
            if members
            else name
            for name, members in zip(self.names, self.parents, strict=True)
        )


def check_dag(dag: object) -> None:
    """Raise ``ParameterError`` unless it is a graph.

    Examples
    --------
    >>> check_dag("a -> b")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: dag must be a Dag. Got an object of type str ...
    """
    if not isinstance(dag, Dag):
        msg = f"dag must be a Dag. Got an object of type {type(dag).__name__} instead"
        has_one = isinstance(getattr(dag, "dag", None), Dag)
        raise ParameterError(f"{msg}: pass its .dag." if has_one else f"{msg}.")


def find_cycle(parents: Sequence[Sequence[int]]) -> list[int] | None:
    """Return a directed cycle, its first variable repeated at the end, or None.

    Examples
    --------
    >>> find_cycle([[1], [0], []])
    [0, 1, 0]
    """
    _, waiting = _sort(parents)
    return _walk_cycle(parents, waiting) if any(waiting) else None


def _index_of(
    end: str | SupportsIndex, names: tuple[str, ...], index: dict[str, int]
) -> int:
    if isinstance(end, str):
        if end not in index:
            raise unknown_name(end, names)
        return index[end]
    try:
        number = operator.index(end)
    except TypeError:
        msg = f"a variable must be given by name or index. Got {end!r} instead."
        raise ParameterError(msg) from None
    _check_index(number, len(names))
    return number


def _check_index(number: int, n_vars: int) -> None:
    if not 0 <= number < n_vars:
        msg = f"a variable index must be in 0..{n_vars - 1}. Got {number} instead."
        raise ParameterError(msg)


def _checked_parents(
    names: tuple[str, ...], child: int, members: Iterable[SupportsIndex]
) -> tuple[int, ...]:
    indices = sorted(operator.index(parent) for parent in members)
    for position, parent in enumerate(indices):
        _check_index(parent, len(names))
        if parent == child:
            msg = f"variable {names[child]!r} is its own parent. Remove that arc."
            raise CycleError(msg)
        if position and parent == indices[position - 1]:
            msg = f"arc {names[parent]} -> {names[child]} is given twice."
            raise ParameterError(msg)
    return tuple(indices)


def _sort(parents: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return a topological order and how many parents each variable still awaits."""
    children = children_of(parents)
    waiting = [len(members) for members in parents]
    ready = [i for i, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        variable = heapq.heappop(ready)
        order.append(variable)
        for child in children[variable]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heapq.heappush(ready, child)
    return order, waiting


def _walk_cycle(parents: Sequence[Sequence[int]], waiting: list[int]) -> list[int]:
    """Walk upwards among the variables left over until one comes again."""
    variable = next(i for i, count in enumerate(waiting) if count > 0)
    position: dict[int, int] = {}
    walk: list[int] = []
    while variable not in position:
        position[variable] = len(walk)
        walk.append(variable)
        variable = next(p for p in parents[variable] if waiting[p] > 0)
    cycle = walk[position[variable] :][::-1]
    start = cycle.index(min(cycle))
    return [*cycle[start:], *cycle[: start + 1]]


def _compelled_parents(dag: Dag) -> list[set[int]]:
    """Find the parents of each variable whose arc every equivalent graph has.

    Chickering's Label-Edges: with variables in topological order, the last parent x
    of y decides for all arcs into y. They are compelled when x has a compelled parent
    that y lacks, or y a parent that x lacks; else y takes over those of x.
    """
    order = dag.topological_order()
    rank = {variable: position for position, variable in enumerate(order)}
    parents = [set(members) for members in dag.parents]
    compelled: list[set[int]] = [set() for _ in parents]
    for y in order:
        if parents[y]:
            x = max(parents[y], key=rank.__getitem__)
            is_covered = compelled[x] <= parents[y] <= parents[x] | {x}
            compelled[y] = compelled[x] if is_covered else parents[y]
    return compelled
