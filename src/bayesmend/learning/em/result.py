"""What structural expectation-maximisation returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bayesmend.data.table import IncompleteData
from bayesmend.graph.dag import Dag
from bayesmend.inference.impute import ImputedCells
from bayesmend.network.network import Network
from bayesmend.structure.solution import Bounded

__all__ = ["EmResult", "EmStep"]


class EmStep(NamedTuple):
    """A structure with its parameters fitted.

    ``score`` is the observed-data score, ``kind`` the start it came from, ``seconds``
    when; ``log_likelihood`` is that of what is observed, per iteration of the
    parameters, which never falls.
    """

    score: float
    kind: str
    seconds: float
    n_arcs: int
    log_likelihood: tuple[float, ...]


@dataclass(frozen=True, slots=True, repr=False)
class EmResult(Bounded):
    """Network and completed table found by structural expectation-maximisation.

    Parameters
    ----------
    network : Network
        Structure, with the posterior mean of the parameters given expected counts.
    completed : IncompleteData
        The table with its most probable completion, row by row;
        ``completed.to_table()`` is of the kind given.
    cells : ImputedCells
        Each mended cell with its posterior probability and its runner-up.
    score : float
        Observed-data score: the score of the expected counts, corrected by the
        difference between the log-likelihood of what is observed and that of the
        expected counts (Cheeseman and Stutz 1996). On complete data the score itself.
    bound : float
        Infinity: nothing is proven, unless the data are complete.
    status : str
        ``local optimum``, ``stopped at time limit``, ``stopped at interrupt``; on
        complete data what the structure solver says.
    method : str
        ``em`` or ``em-hard``.
    log_likelihood : float
        Log-likelihood of what is observed, under `network`.
    trace : tuple of EmStep
        Every structure on the way, start by start.
    seconds : float
        How long it took.
    detail : mapping
        Score per start, which one won, why it stopped.
    """

    network: Network
    completed: IncompleteData
    cells: ImputedCells
    score: float
    bound: float
    status: str
    method: str
    log_likelihood: float
    trace: tuple[EmStep, ...]
    seconds: float
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dag(self) -> Dag:
        """The structure."""
        return self.network.dag

    def to_dict(self) -> dict[str, Any]:
        """Give all but parameters and table in plain types, ready for JSON."""
        return {
            **self.known(),
            "status": self.status,
            "method": self.method,
            "log_likelihood": self.log_likelihood,
            "seconds": self.seconds,
            "arcs": [list(arc) for arc in self.dag.arcs],
            "n_mended": len(self.cells),
            "trace": [[*step[:-1], list(step.log_likelihood)] for step in self.trace],
            "detail": dict(self.detail),
        }

    def __repr__(self) -> str:
        return (
            f"EmResult({self.status}, score={self.score:.3f}, "
            f"n_arcs={self.dag.n_arcs}, n_mended={len(self.cells)}, "
            f"method={self.method!r}, seconds={self.seconds:.2f})"
        )
