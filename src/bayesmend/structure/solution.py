"""What a structure solver returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from bayesmend.dag import Dag

__all__ = ["TOLERANCE", "Progress", "Solution", "Status"]

Status = Literal["optimal", "gap", "heuristic"]

Progress = Callable[[float, float, float], None]
"""Called now and then with the score so far, its upper bound and the seconds spent."""

TOLERANCE = 1e-6
"""A score is optimal when no DAG is better by more than this, in nats."""


@dataclass(frozen=True, slots=True, repr=False)
class Solution:
    """A DAG, its score, and how sure we are of it.

    Parameters
    ----------
    dag : Dag
        The graph.
    score : float
        Sum of the scores of its families.
    bound : float
        No DAG made of the candidates scores higher; infinity when nothing is known.
    status : {"optimal", "gap", "heuristic"}
        ``"optimal"`` when the bound meets the score (within `TOLERANCE`), ``"gap"``
        when a limit stopped the proof, ``"heuristic"`` when there is no bound.
    solver : str
        Name of the solver.
    seconds : float
        Time spent.
    detail : mapping
        What the solver has to say about its run.

    Examples
    --------
    >>> Solution(Dag(("a", "b"), ((), (0,))), -12.5, -12.0, "gap", "ilp", 0.25)
    Solution('gap', score=-12.5, bound=-12, gap=0.5, n_arcs=1, solver='ilp', 0.25 s)
    """

    dag: Dag
    score: float
    bound: float
    status: Status
    solver: str
    seconds: float
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gap(self) -> float:
        """How much better an unseen DAG could be: bound minus score, in nats."""
        return self.bound - self.score

    def __repr__(self) -> str:
        return (
            f"Solution({self.status!r}, score={self.score:.10g}, "
            f"bound={self.bound:.10g}, gap={self.gap:.3g}, n_arcs={self.dag.n_arcs}, "
            f"solver={self.solver!r}, {self.seconds:.2f} s)"
        )
