"""What learning by augmentation returns."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import Label
from bayesmend.data.table import IncompleteData
from bayesmend.graph.dag import Dag
from bayesmend.learning.augment.problem import Completion, PatternProblem
from bayesmend.network.network import Network
from bayesmend.structure.solution import TOLERANCE, Bounded

__all__ = ["AugmentResult", "CellRow", "MendedCells", "TraceEntry", "describe_status"]


class TraceEntry(NamedTuple):
    """An accepted move: the score it reached, its kind, and when."""

    score: float
    kind: str
    seconds: float


MOVES = ("start", "structure", "completion", "flip")


class CellRow(NamedTuple):
    """A mended cell: what was put there, how sure, and what else it might have been."""

    row: int
    variable: str
    state: Label
    margin: float
    runner_up: Label | None


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MendedCells:
    """Every cell that was missing, in the order of rows and variables.

    Parameters
    ----------
    rows, variables : ndarray of shape (n_cells,)
        Where: row of the table and index of the variable.
    codes : ndarray of shape (n_cells,)
        The states chosen.
    margins : ndarray of shape (n_cells,)
        How much the score drops, structure and all other cells as they are, when this
        cell alone takes its best other state; infinity where there is no other.
    runners_up : ndarray of shape (n_cells,)
        That state; the chosen one itself where there is no other.
    names, states
        Names and labels of the variables.

    Examples
    --------
    >>> import bayesmend as bm
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", None, "v", "v"]}
    >>> for cell in bm.learn(table).cells:
    ...     print(cell.row, cell.variable, cell.state, cell.runner_up)
    1 b u v
    """

    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    codes: NDArray[np.uint8]
    margins: NDArray[np.float64]
    runners_up: NDArray[np.uint8]
    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[CellRow]:
        for row, v, code, margin, other in zip(
            self.rows.tolist(),
            self.variables.tolist(),
            self.codes.tolist(),
            self.margins.tolist(),
            self.runners_up.tolist(),
            strict=True,
        ):
            labels = self.states[v]
            runner_up = labels[other] if math.isfinite(margin) else None
            yield CellRow(row, self.names[v], labels[code], margin, runner_up)

    def __repr__(self) -> str:
        return f"MendedCells({len(self)} cells)"

    def to_dict(self) -> dict[str, list[Any]]:
        """Give the columns as lists, ready for any data frame."""
        return {name: [getattr(c, name) for c in self] for name in CellRow._fields}

    def to_csv(self) -> str:
        """Give the table as CSV text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(CellRow._fields)
        for cell in self:
            writer.writerow(["" if value is None else value for value in cell])
        return text.getvalue()


@dataclass(frozen=True, slots=True, repr=False)
class AugmentResult(Bounded):
    """Network and completed table, and how good they are known to be.

    Parameters
    ----------
    network : Network
        Structure, with parameters from the completed table (posterior mean).
    completed : IncompleteData
        The table without holes; ``completed.to_table()`` is of the kind given.
    cells : MendedCells
        Each mended cell with its margin and its runner-up.
    score : float
        Score of the structure on the completed table.
    bound : float
        No structure with any completion scores higher; infinity where unknown.
    status : str
        In words: ``optimal``, ``gap 1.2 nats (0.05 %)``, ``1-local optimum``,
        ``local optimum``, ``stopped at time limit``.
    method : str
        ``exact`` or ``local``.
    trace : tuple of TraceEntry
        Every accepted move of the search that led here.
    seconds : float
        How long it took.
    detail : mapping
        Nodes, bounds at the root, why it stopped, what ``auto`` chose.
    """

    network: Network
    completed: IncompleteData
    cells: MendedCells
    score: float
    bound: float
    status: str
    method: str
    trace: tuple[TraceEntry, ...]
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
            "seconds": self.seconds,
            "arcs": [list(arc) for arc in self.dag.arcs],
            "n_mended": len(self.cells),
            "trace": [list(entry) for entry in self.trace],
            "detail": dict(self.detail),
        }

    def __repr__(self) -> str:
        return (
            f"AugmentResult({self.status}, score={self.score:.3f}, "
            f"n_arcs={self.dag.n_arcs}, n_mended={len(self.cells)}, "
            f"method={self.method!r}, seconds={self.seconds:.2f})"
        )


def describe_status(
    score: float, bound: float, *, locally: str | None, stopped: str | None
) -> str:
    """Put into words what is known.

    Examples
    --------
    >>> describe_status(-2400.0, -2398.8, locally=None, stopped="time limit")
    'gap 1.2 nats (0.05 %)'
    >>> describe_status(-10.0, float("inf"), locally="1-local optimum", stopped=None)
    '1-local optimum'
    """
    gap = bound - score
    if gap <= TOLERANCE:
        return "optimal"
    parts = [] if locally is None else [locally]
    if math.isfinite(gap):
        share = f" ({100 * gap / abs(score):.2g} %)" if score != 0 else ""
        parts.append(f"gap {gap:.3g} nats{share}")
    return ", ".join(parts) or f"stopped at {stopped}"


def trace_of(entries: list[tuple[float, int, float]]) -> tuple[TraceEntry, ...]:
    """Name the moves of a trace of the core."""
    return tuple(TraceEntry(score, MOVES[kind], t) for score, kind, t in entries)


def assemble(
    problem: PatternProblem,
    dag: Dag,
    completion: Completion,
    **more: Any,
) -> AugmentResult:
    """Fit the network, fill the table and work out the margins."""
    mender = problem.dag_mender(dag)
    losses, others = mender.margins(completion)
    completed = problem.completed(completion)
    data = problem.data
    cells = MendedCells(
        problem.rows,
        problem.variables,
        completion[problem.cell],
        losses[problem.cell],
        others[problem.cell],
        data.names,
        data.states,
    )
    network = Network.fit(dag, completed, method="posterior", ess=problem.score.ess)
    return AugmentResult(
        network=network,
        completed=completed,
        cells=cells,
        score=float(mender.score(completion)),
        **more,
    )
