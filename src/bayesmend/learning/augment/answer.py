"""From what the core found to what learning returns."""

from __future__ import annotations

from typing import Any

from bayesmend.data.cells import CompletedCells
from bayesmend.graph.dag import Dag
from bayesmend.learning.augment.problem import Completion, PatternProblem
from bayesmend.learning.result import LearnResult, Step
from bayesmend.network.network import Network

__all__ = ["assemble", "note_of", "trace_of"]

MOVES = ("start", "structure", "completion", "flip")


def trace_of(entries: list[tuple[float, int, float]]) -> tuple[Step, ...]:
    """Name the moves of a trace of the core."""
    return tuple(Step(score, MOVES[kind], t) for score, kind, t in entries)


def assemble(
    problem: PatternProblem,
    dag: Dag,
    completion: Completion,
    **more: Any,
) -> LearnResult:
    """Fit the network, fill the table and work out the margins."""
    mender = problem.dag_mender(dag)
    losses, others = mender.margins(completion)
    completed = problem.completed(completion)
    data = problem.data
    cells = CompletedCells(
        rows=problem.rows,
        variables=problem.variables,
        codes=completion[problem.cell],
        runners_up=others[problem.cell],
        names=data.names,
        states=data.states,
        margins=losses[problem.cell],
    )
    network = Network.fit(dag, completed, estimate="posterior", ess=problem.score.ess)
    return LearnResult(
        network=network,
        completed=completed,
        cells=cells,
        score=float(mender.score(completion)),
        **more,
    )


def note_of(problem: PatternProblem) -> dict[str, str]:
    """Say so when there was nothing to mend."""
    if problem.n_cells > 0:
        return {}
    return {"note": "no value is missing: this is plain structure learning"}
