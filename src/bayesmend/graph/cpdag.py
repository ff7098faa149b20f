"""Equivalence classes of directed acyclic graphs, and what all graphs share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bayesmend._checks import check_items
from bayesmend._shown import Shown
from bayesmend.errors import DataError, ParameterError

__all__ = ["Cpdag"]


@dataclass(frozen=True, slots=True, repr=False)
class Cpdag(Shown):
    """An equivalence class of graphs: a completed partially directed graph.

    Made by :meth:`Dag.cpdag`. An arc is directed when every graph of the class has
    it, undirected when the class holds graphs with either direction.

    Parameters
    ----------
    names : tuple of str
        Names of the variables.
    directed : tuple of (int, int)
        Directed arcs (parent, child), stored in ascending order.
    undirected : tuple of (int, int)
        Undirected edges, the smaller index first, stored in ascending order.

    Examples
    --------
    >>> from bayesmend import Dag
    >>> Dag.from_arcs("abc", [("a", "b"), ("b", "c")]).cpdag()
    Cpdag(3 variables, 0 arcs, 2 edges)
    """

    names: tuple[str, ...]
    directed: tuple[tuple[int, int], ...]
    undirected: tuple[tuple[int, int], ...]

    def __post_init__(self) -> None:
        names = check_names(self.names)
        undirected = tuple(sorted((min(pair), max(pair)) for pair in self.undirected))
        directed = tuple(sorted((parent, child) for parent, child in self.directed))
        pairs = {frozenset(pair) for pair in directed + undirected}
        if any(len(pair) < 2 or not pair <= set(range(len(names))) for pair in pairs):
            msg = f"arcs must join two different variables among 0..{len(names) - 1}."
            raise ParameterError(msg)
        if len(pairs) < len(directed) + len(undirected):
            msg = "two variables may be joined by one arc or edge only."
            raise ParameterError(msg)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "directed", directed)
        object.__setattr__(self, "undirected", undirected)

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """Directed arcs as (parent, child) pairs of names."""
        return tuple((self.names[a], self.names[b]) for a, b in self.directed)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Undirected edges as pairs of names."""
        return tuple((self.names[a], self.names[b]) for a, b in self.undirected)

    def to_dot(self) -> str:
        """Return the graph in the DOT language; edges have no arrow heads.

        Examples
        --------
        >>> from bayesmend import Dag
        >>> print(Dag.from_arcs("ab", [("a", "b")]).cpdag().to_dot())
        digraph {
          "a";
          "b";
          "a" -> "b" [dir=none];
        }
        """
        lines = [f"{quote_dot(a)} -> {quote_dot(b)}" for a, b in self.arcs]
        lines += [f"{quote_dot(a)} -> {quote_dot(b)} [dir=none]" for a, b in self.edges]
        return render_dot(self.names, lines)

    def __repr__(self) -> str:
        return (
            f"Cpdag({self.n_vars} variables, {len(self.directed)} arcs, "
            f"{len(self.undirected)} edges)"
        )

    def __str__(self) -> str:
        lines = [f"{a} -> {b}" for a, b in self.arcs]
        return "\n".join(lines + [f"{a} -- {b}" for a, b in self.edges])


def check_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names as a tuple, or say which one is no name or not unique."""
    # Letters make short names: "abc" is three of them.
    listed = list(names) if isinstance(names, str) else names
    checked = tuple(check_items("names", listed, "names"))
    seen: set[str] = set()
    for name in checked:
        if not isinstance(name, str) or not name:
            msg = f"a variable name must be a non-empty string. Got {name!r} instead."
            raise DataError(msg)
        if name in seen:
            msg = f"variable name {name!r} occurs twice. Names must be unique."
            raise DataError(msg)
        seen.add(name)
    return tuple(map(str, checked))


def quote_dot(text: str) -> str:
    r"""Quote text for DOT, where only ``"`` and a final ``\`` need care."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def render_dot(names: Sequence[str], lines: Sequence[str]) -> str:
    """Write a graph in DOT: every variable, then the given arcs."""
    body = [quote_dot(name) for name in names] + list(lines)
    return "\n".join(["digraph {", *(f"  {line};" for line in body), "}"])
