"""What a structure solver returns, and the checks that all solvers share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._rows import owners_of
from bayesmend.data.states import listing
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.outcome import Outcome
from bayesmend.structure.others import Other
from bayesmend.structure.parents import ParentSets

__all__ = ["Solution", "dag_of", "feasible_order", "no_dag_among", "trivial_bound"]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Solution(Outcome):
    """A DAG and how good it is known to be.

    Parameters
    ----------
    dag : Dag
        The structure found.
    score : float
        Its score, the sum over its families.
    bound : float
        No DAG made of the candidates scores higher than this.
    certificate : Certificate
        ``OPTIMAL`` (the bound is met), ``BOUNDED`` (a search for a proof ended early)
        or ``HEURISTIC`` (no proof was tried).
    solver : str
        Which solver found it.
    met : tuple of Other
        Other structures near its score that the search came by.
    stopped, chosen, seconds, detail
        As in `LearnResult`; ``detail["others"]`` sums up `met`.
    """

    dag: Dag
    solver: str
    met: tuple[Other, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all in plain types, ready for JSON."""
        return {**Outcome.to_dict(self), "solver": self.solver}

    def _made(self) -> list[str]:
        return [f"solver={self.solver!r}"]


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
        raise no_dag_among(stuck)
    return np.array(order, np.int32)


def no_dag_among(stuck: Sequence[str]) -> ParameterError:
    """Make the error for candidates of which some variables can take none."""
    return ParameterError(
        "no acyclic graph can be made of the candidate parent sets: every candidate of "
        f"{listing(stuck, 5)} closes a cycle or scores minus infinity. Add candidates "
        "with fewer parents, such as the empty set."
    )
