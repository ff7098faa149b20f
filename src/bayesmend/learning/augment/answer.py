"""From what the core found to what learning returns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from bayesmend import _core
from bayesmend.data.cells import CompletedCells
from bayesmend.graph.dag import Dag
from bayesmend.learning.augment.problem import Completion, PatternProblem
from bayesmend.learning.result import LearnResult, Step
from bayesmend.learning.support import ObservedRows, supported_network
from bayesmend.network.network import Network
from bayesmend.network.support import is_supported
from bayesmend.outcome import Stopped

__all__ = ["assemble", "note_of", "trace_of"]


def trace_of(entries: list[_core.TraceEntry]) -> tuple[Step, ...]:
    """Name the moves of a trace of the core."""
    return tuple(Step(entry.score, entry.move.name, entry.seconds) for entry in entries)


def assemble(
    problem: PatternProblem,
    dag: Dag,
    completion: Completion,
    **more: Any,
) -> LearnResult:
    """Fit the network, fill the table and work out the margins.

    Ctrl-C in the middle does not lose what was found: the answer is made once more.
    """
    try:
        return _assembled(problem, dag, completion, **more)
    except KeyboardInterrupt:
        found = _assembled(problem, dag, completion, **more)
    return found if found.is_optimal else replace(found, stopped=Stopped.INTERRUPT)


def _assembled(
    problem: PatternProblem, dag: Dag, completion: Completion, **more: Any
) -> LearnResult:
    mender = problem.dag_mender(dag)
    margins = mender.margins(completion)
    completed = problem.completed(completion)
    data = problem.data
    network = supported_network(
        Network.fit(dag, completed, estimate="posterior", ess=problem.score.ess),
        ObservedRows(data, problem.score),
    )
    supported = None
    if network.support is not None:
        flags = is_supported(network.support, data.card, dag.parents, completed.codes.T)
        supported = flags[problem.variables, problem.rows]
    cells = CompletedCells(
        rows=problem.rows,
        variables=problem.variables,
        codes=completion[problem.cell],
        runners_up=margins.runners_up[problem.cell],
        names=data.names,
        states=data.states,
        margins=margins.losses[problem.cell],
        row_labels=data.labels_of_rows(problem.rows),
        supported=supported,
    )
    score = float(mender.score(completion))
    detail = {**more.pop("detail", {}), **_parts_of(problem, completion, score)}
    return LearnResult(
        network=network,
        completed=completed,
        cells=cells,
        score=score,
        detail=detail,
        **more,
    )


def _parts_of(
    problem: PatternProblem, completion: Completion, score: float
) -> dict[str, float]:
    """Tell the score of the network and that of the mechanism apart."""
    if problem.terms is None:
        return {}
    worth = problem.worth(completion)
    return {"network_score": score - worth, "mechanism_score": worth}


def note_of(problem: PatternProblem) -> dict[str, str]:
    """Say so when there was nothing to mend."""
    if problem.n_cells > 0:
        return {}
    return {"note": "no cell is missing: this is plain structure learning"}
