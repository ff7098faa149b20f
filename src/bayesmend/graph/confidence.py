"""How sure the arcs of several structures are, and the one structure they agree on.

The threshold is that of Scutari and Nagarajan (2013, Identifying significant edges in
graphical models of molecular networks): probabilities are told apart into zeros and
ones where their distribution function lies nearest, in the L1 norm, to one that knows
no other values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_number
from bayesmend._columns import in_columns
from bayesmend._copies import frozen_in_copies
from bayesmend._shown import Shown
from bayesmend._visible import visible
from bayesmend.data.states import position_of, quantity
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag

__all__ = ["ArcProbabilities", "ArcProbability", "Threshold", "inclusion_threshold"]

Threshold = float | Literal["auto"]

_SHOWN = 20  # edges


class ArcProbability(NamedTuple):
    """How many of several structures hold an arc, and its edge in either direction."""

    parent: str
    child: str
    probability: float
    error: float
    undirected: float
    undirected_error: float


@frozen_in_copies
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ArcProbabilities(Shown):
    """The share of several structures that hold each arc, with Monte Carlo errors.

    The errors say how far the shares may be from those of endlessly many structures
    found in the same way; not how far from the truth.

    Parameters
    ----------
    names : tuple of str
        Names of the variables.
    directed : ndarray of shape (n_vars, n_vars)
        ``directed[i, j]`` is the share of structures with the arc i -> j.
    undirected : ndarray of shape (n_vars, n_vars)
        The share with an arc between both, in either direction.
    directed_errors, undirected_errors : ndarray of shape (n_vars, n_vars)
        Their standard errors.
    n_networks : int
        The number of structures.
    most_parents : int
        The largest number of parents of a variable in any of them.

    Examples
    --------
    >>> one = Dag.from_arcs(["a", "b", "c"], [("a", "b"), ("b", "c")])
    >>> two = Dag.from_arcs(["a", "b", "c"], [("b", "a")])
    >>> found = ArcProbabilities.of([one, two, one, one])
    >>> found
    4 structures, 3 variables
    <BLANKLINE>
    edge   probability  direction
    a - b  1.00 ± 0.15  a -> b 0.75 ± 0.23
    b - c  0.75 ± 0.23  b -> c 0.75 ± 0.23
    >>> found.consensus()
    Dag(3 variables, 2 arcs)
    """

    names: tuple[str, ...]
    directed: NDArray[np.float64]
    undirected: NDArray[np.float64]
    directed_errors: NDArray[np.float64]
    undirected_errors: NDArray[np.float64]
    n_networks: int
    most_parents: int

    @classmethod
    def of(
        cls, dags: Sequence[Dag], chains: Sequence[int] | None = None
    ) -> ArcProbabilities:
        """Count the arcs of structures over the same variables.

        With ``chains``, those of the same number were found one after the other, each
        from the one before: neighbours are alike, and the errors allow for that.
        """
        if not dags:
            msg = "there is no structure to count the arcs of. Give at least one."
            raise ParameterError(msg)
        arcs = np.stack([_matrix(dag) for dag in dags])
        edges = arcs | arcs.transpose(0, 2, 1)
        return cls(
            names=dags[0].names,
            directed=arcs.mean(axis=0),
            undirected=edges.mean(axis=0),
            directed_errors=_errors(arcs, chains),
            undirected_errors=_errors(edges, chains),
            n_networks=len(dags),
            most_parents=int(arcs.sum(axis=1).max(initial=0)),
        )

    def arc(self, parent: str, child: str) -> ArcProbability:
        """Return what is known of one arc.

        Examples
        --------
        >>> dag = Dag.from_arcs(["a", "b"], [("a", "b")])
        >>> ArcProbabilities.of([dag]).arc("b", "a").undirected
        1.0
        """
        i, j = (position_of(name, self.names) for name in (parent, child))
        return ArcProbability(
            self.names[i],
            self.names[j],
            float(self.directed[i, j]),
            float(self.directed_errors[i, j]),
            float(self.undirected[i, j]),
            float(self.undirected_errors[i, j]),
        )

    def arcs(self, least: float = 0.0) -> tuple[ArcProbability, ...]:
        """List the arcs of a probability above `least`, the most probable first."""
        check_number("least", least, least=0, most=1)
        found = np.argwhere(self.directed > least)
        first = sorted(found.tolist(), key=lambda ij: (-self.directed[*ij], ij))
        return tuple(self.arc(self.names[i], self.names[j]) for i, j in first)

    def edges(self) -> tuple[ArcProbability, ...]:
        """List the edges, the most probable first, in the more frequent direction."""
        found = []
        for i, j in np.argwhere(np.triu(self.undirected) > 0).tolist():
            is_forwards = self.directed[i, j] >= self.directed[j, i]
            found.append((i, j) if is_forwards else (j, i))
        found.sort(key=lambda ij: (-self.undirected[*ij], ij))
        return tuple(self.arc(self.names[i], self.names[j]) for i, j in found)

    @property
    def threshold(self) -> float:
        """The probability above which an edge counts, chosen by the data."""
        above = np.triu_indices(len(self.names), 1)
        return inclusion_threshold(self.undirected[above])

    def consensus(self, threshold: Threshold = "auto") -> Dag:
        """Return the structure of the edges above a threshold.

        The most probable edge comes first, each in its more frequent direction; in the
        other one where the first would close a cycle or give a variable more parents
        than any of the structures has, and not at all where none of them has it so.

        Parameters
        ----------
        threshold : float or "auto", default="auto"
            Edges of a higher probability are taken; ``auto``: see `threshold`.

        Returns
        -------
        Dag
        """
        is_auto = isinstance(threshold, str) and threshold == "auto"
        bar = self.threshold if is_auto else threshold
        bar = check_number("threshold", bar, least=0, most=1)
        n_vars = len(self.names)
        pairs = [
            (i, j)
            for i in range(n_vars)
            for j in range(i + 1, n_vars)
            if self.undirected[i, j] > bar
        ]
        # What all structures have goes first: together it breaks no rule.
        direction = np.maximum(self.directed, self.directed.T)
        pairs.sort(key=lambda ij: (-self.undirected[*ij], -direction[*ij], ij))
        parents: list[list[int]] = [[] for _ in range(n_vars)]
        for i, j in pairs:
            forwards = self.directed[i, j] >= self.directed[j, i]
            for parent, child in ((i, j), (j, i)) if forwards else ((j, i), (i, j)):
                if (
                    self.directed[parent, child] > 0
                    and len(parents[child]) < self.most_parents
                    and not _leads_to(parents, child, parent)
                ):
                    parents[child].append(parent)
                    break
        return Dag(self.names, tuple(map(tuple, parents)))

    def to_dict(self) -> dict[str, Any]:
        """Return the arcs in plain types, ready for JSON."""
        return {
            "n_networks": self.n_networks,
            "threshold": self.threshold,
            "arcs": [arc._asdict() for arc in self.arcs()],
        }

    def __repr__(self) -> str:
        n_vars = quantity(len(self.names), "variable")
        head = f"{quantity(self.n_networks, 'structure')}, {n_vars}"
        rows = [("edge", "probability", "direction")]
        edges = self.edges()
        rows += [_shown(arc) for arc in edges[:_SHOWN]]
        lines = [head, "", *in_columns(rows)]
        if len(edges) > _SHOWN:
            lines += [f"and {len(edges) - _SHOWN:,} more"]
        return visible("\n".join(lines))


def _shown(arc: ArcProbability) -> tuple[str, str, str]:
    """Show an edge as a line of the table."""
    return (
        f"{arc.parent} - {arc.child}",
        f"{arc.undirected:.2f} ± {arc.undirected_error:.2f}",
        f"{arc.parent} -> {arc.child} {arc.probability:.2f} ± {arc.error:.2f}",
    )


def inclusion_threshold(probabilities: NDArray[np.float64]) -> float:
    """Return the threshold above which probabilities count as one.

    Examples
    --------
    >>> inclusion_threshold(np.array([0.046, 0.2242, 0.3921, 0.7689, 0.8935, 0.9439]))
    0.3921
    """
    if not len(probabilities):
        return 0.5
    ordered = np.sort(probabilities)
    # The distribution function is level between knots; the level nearest to all of it,
    # in the L1 norm, is the median of its levels by length.
    knots = np.unique(np.concatenate([[0.0], ordered, [1.0]]))
    levels = np.searchsorted(ordered, knots[:-1], side="right") / len(ordered)
    length = np.cumsum(np.diff(knots))
    median = levels[np.searchsorted(length, length[-1] / 2 - 1e-12)]
    at = int(np.ceil(median * len(ordered) - 1e-9)) - 1
    return float(ordered[max(at, 0)]) if median > 0 else 0.0


def _matrix(dag: Dag) -> NDArray[np.bool_]:
    found = np.zeros((dag.n_vars, dag.n_vars), bool)
    for child, parents in enumerate(dag.parents):
        found[list(parents), child] = True
    return found


def _errors(
    found: NDArray[np.bool_], chains: Sequence[int] | None
) -> NDArray[np.float64]:
    """Return standard errors of shares; half a structure more each with and without.

    So that what all structures share is not taken for certain.
    """
    n = len(found)
    share = (found.sum(axis=0) + 0.5) / (n + 1)
    np.fill_diagonal(share, 0.0)
    errors: NDArray[np.float64] = np.sqrt(share * (1 - share) / n)
    return errors if chains is None else errors * _inflation(found, chains)


def _inflation(found: NDArray[np.bool_], chains: Sequence[int]) -> float:
    """Return by how much structures that resemble the one before widen an error.

    From the correlation of neighbours in a chain, over all arcs together, as if it fell
    off geometrically.
    """
    # Chains walk side by side: those of one are put next to each other.
    order = np.argsort(chains, kind="stable")
    number = np.asarray(chains)[order]
    centred = (found - found.mean(axis=0))[order]
    follows = np.flatnonzero(number[1:] == number[:-1]) + 1
    variance = float((centred**2).mean())
    if not len(follows) or variance == 0:
        return 1.0
    rho = float((centred[follows] * centred[follows - 1]).mean()) / variance
    rho = min(max(rho, 0.0), 0.95)
    return float(np.sqrt((1 + rho) / (1 - rho)))


def _leads_to(parents: list[list[int]], ancestor: int, variable: int) -> bool:
    """Tell whether a variable is an ancestor of another, or the same."""
    open_, seen = [variable], {variable}
    while open_:
        at = open_.pop()
        if at == ancestor:
            return True
        fresh = [p for p in parents[at] if p not in seen]
        seen.update(fresh)
        open_ += fresh
    return False
