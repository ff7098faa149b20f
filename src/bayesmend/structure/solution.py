"""What a structure solver returns, and the checks that all solvers share."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import some
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.structure.parents import ParentSets
from bayesmend.structure.rows import owners_of

__all__ = [
    "TOLERANCE",
    "Bounded",
    "Solution",
    "feasible_order",
    "trivial_bound",
]

TOLERANCE = 1e-6
"""A score this close to a bound counts as equal to it."""


class Bounded:
    """A score with an upper bound: how good an answer is known to be."""

    __slots__ = ()
    score: float
    bound: float

    @property
    def gap(self) -> float:
        """How far the score may be from the best possible one."""
        return max(0.0, self.bound - self.score)

    @property
    def is_optimal(self) -> bool:
        """Whether nothing that was searched scores higher."""
        return self.gap <= TOLERANCE

    def known(self) -> dict[str, float | None]:
        """Give score, bound and gap in plain types, None where nothing is known."""
        is_known = math.isfinite(self.bound)
        return {
            "score": self.score,
            "bound": self.bound if is_known else None,
            "gap": self.gap if is_known else None,
        }


@dataclass(frozen=True, slots=True, repr=False)
class Solution(Bounded):
    """A DAG and how good it is known to be.

    Parameters
    ----------
    dag : Dag
        The structure found.
    score : float
        Its score, the sum over its families.
    bound : float
        No DAG made of the candidates scores higher than this.
    status : str
        ``"optimal"`` (the bound is met), ``"gap"`` (a search for a proof ended early)
        or ``"heuristic"`` (no proof was tried).
    solver : str
        Which solver found it.
    seconds : float
        How long it took.
    detail : mapping
        What the solver has to tell: why it stopped, nodes, cuts, perturbations.
    """

    dag: Dag
    score: float
    bound: float
    status: str
    solver: str
    seconds: float
    detail: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Solution({self.status}, score={self.score:.3f}, bound={self.bound:.3f}, "
            f"n_arcs={self.dag.n_arcs}, solver={self.solver!r}, "
            f"seconds={self.seconds:.2f})"
        )


def trivial_bound(parent_sets: ParentSets) -> float:
    """Sum the best candidate of every variable, cycles aside."""
    if parent_sets.n_vars == 0:
        return 0.0
    return float(parent_sets.scores[parent_sets.offsets[:-1]].sum())


def dag_of(parent_sets: ParentSets, choices: NDArray[np.int64]) -> Dag:
    """Build the DAG of one candidate per variable."""
    return Dag(
        parent_sets.names,
        tuple(parent_sets.members_of(int(c)) for c in choices),
    )


def feasible_order(parent_sets: ParentSets) -> NDArray[np.int32]:
    """Find an order in which every variable has a candidate among its predecessors.

    Raises
    ------
    ParameterError
        When there is none; the message names the variables that are stuck.
    """
    # Members of each candidate that are still to come; a variable is ready when one of
    # its candidates waits for nobody.
    waits = np.diff(parent_sets.member_offsets)
    owner = owners_of(parent_sets.offsets)
    holders: list[list[int]] = [[] for _ in parent_sets.names]
    possible = np.isfinite(parent_sets.scores)
    inside = owners_of(parent_sets.member_offsets)
    for candidate, member in zip(
        inside.tolist(), parent_sets.members.tolist(), strict=True
    ):
        holders[member].append(candidate)
    ready = np.unique(owner[possible & (waits == 0)]).tolist()
    order, placed = list(ready), set(ready)
    for variable in order:
        for candidate in holders[variable]:
            waits[candidate] -= 1
            child = int(owner[candidate])
            if waits[candidate] == 0 and possible[candidate] and child not in placed:
                placed.add(child)
                order.append(child)
    if len(order) < parent_sets.n_vars:
        stuck = [n for v, n in enumerate(parent_sets.names) if v not in placed]
        msg = (
            "no acyclic graph can be made of the candidate parent sets: every "
            f"candidate of {some(stuck)} closes a cycle or scores minus infinity. "
            "Add candidates with fewer parents, such as the empty set."
        )
        raise ParameterError(msg)
    return np.array(order, np.int32)
