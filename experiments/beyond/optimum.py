"""How often the t-local search attains the proven optimum, and how far off it is else.

The tables are those of Table 1 and of LUCAS spread all over: two cells of one state
hidden in each variable, where exact learning proves its answer in a blink. An answer
attains the optimum when its score is that of the proven best within 1e-6 nats.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from bayesmend.data.table import IncompleteData
from bayesmend.errors import BayesmendError
from bayesmend.hiding.mechanisms import hide_value_per_variable
from bayesmend.learning.augment import learn_exact
from bayesmend.learning.result import LearnResult
from experiments.data import DataFolder, network_files
from experiments.design import (
    Answer,
    Block,
    Curves,
    Experiment,
    Measure,
    Method,
    Place,
    Run,
    Setting,
    Task,
)
from experiments.methods import MAX_PARENTS, exact, solve_local
from experiments.paper import table1

__all__ = ["design"]

REPETITIONS = 100
LOCALITIES = (1, 2, 3)
RESTARTS = (1, 2, 5, 10, 20, 50)
TOLERANCE = 1e-6
TIME_LIMIT = 60.0
LUCAS = "lucas.csv"

# No contest: a row of the page has some of the methods only, a block all of them.
ATTAINED = Measure(
    "attained",
    "runs that attain the proven optimum (%)",
    100.0,
    is_contest=False,
    limits=(0.0, 100.0),
    is_success=True,
)
LOSS = Measure(
    "loss",
    "score below the proven optimum (nats)",
    digits=3,
    is_better_high=False,
    is_contest=False,
    limits=(0.0, math.inf),
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of one run of exact learning."""
    limit = TIME_LIMIT if time_limit is None else time_limit
    settings, blocks = [], []
    for name, title in _tables():
        for state in (0, 1):
            parameters = {"table": name, "state": state, "time_limit": limit}
            settings.append(
                Setting(
                    f"{name}/{state}",
                    parameters,
                    range(REPETITIONS),
                    stream=name,
                    files=(LUCAS,) if name == "lucas" else network_files(name),
                )
            )
        blocks.append(Block(title, tuple(s.name for s in settings[-2:])))
    return Experiment(
        name="optimum",
        title="How often the t-local search attains the proven optimum",
        settings=tuple(settings),
        methods=(*_locals(), exact(limit)),
        blocks=tuple(blocks),
        make=make,
        seed=seed,
        quick_repetitions=5,
        measure=partial(measure, time_limit=limit),
        measures=(ATTAINED, LOSS),
        notes=(
            "Two cells of each variable hidden, all of one state, once for each of the "
            "two states, averaged within a repetition; n = 100, LUCAS n = 2,000.",
            f"Attained: within {TOLERANCE:g} nats of the optimum that exact learning "
            f"proves within {limit:g} s; runs without a proof are left out. Intervals "
            "are those of Clopper and Pearson, with the repetitions as trials.",
            "Restarts are random completions to start from; with 'the modes too' the "
            "completion by modes is one more, as it is by default.",
        ),
        curves=Curves("restarts", place, is_log=True),
    )


def _tables() -> list[tuple[str, str]]:
    networks = [(name, title) for name, title, _ in table1.NETWORKS]
    return [*networks, ("lucas", "LUCAS, 2,000 rows")]


def _locals() -> list[Method]:
    draws = [_local(t, number, "") for t in LOCALITIES for number in RESTARTS]
    return [*draws, *(_local(1, number, "-mode") for number in RESTARTS)]


def _local(locality: int, restarts: int, suffix: str) -> Method:
    beside = " and the modes" if suffix else ""
    return Method(
        f"local-{locality}-r{restarts}{suffix}",
        f"{locality}-local from {restarts} random{beside}",
        solve_local,
        {
            "locality": locality,
            "max_parents": MAX_PARENTS,
            "restarts": restarts,
            "starts": ["mode", "random"] if suffix else ["random"],
        },
    )


def place(block: Block, method: Method) -> Place | None:
    """Put restarts on the axis, one curve for each t."""
    if method.name == "exact":
        return None
    locality = method.options["locality"]
    curve, colour = f"t = {locality}", locality
    if "mode" in method.options["starts"]:
        curve, colour = f"{curve}, the modes too", len(LOCALITIES) + 1
    return Place(block.label, method.options["restarts"], curve, colour)


def make(run: Run, folder: DataFolder) -> Task:
    """Hide cells of one state in rows of a network, or in those of LUCAS."""
    given = run.setting.parameters
    if given["table"] != "lucas":
        return table1.make(_like_table1(run), folder)
    hidden = hide_value_per_variable(
        folder.table(LUCAS), table1.PER_VARIABLE, state=given["state"], seed=run.seed
    )
    return Task(hidden, network=folder.network("lucas"))


def _like_table1(run: Run) -> Run:
    given = run.setting.parameters
    parameters = {
        "network": given["table"],
        "n_rows": table1.N_ROWS,
        "per_variable": table1.PER_VARIABLE,
        "state": given["state"],
    }
    setting = Setting(run.setting.name, parameters, (), stream=run.setting.stream)
    return Run(setting, run.repetition, run.base_seed)


def measure(task: Task, answer: Answer, *, time_limit: float) -> Mapping[str, Any]:
    """Compare a score with the proven best; null when there is no proof."""
    assert answer.score is not None
    best = _solved(_Key(task.data), time_limit)
    if not best.is_optimal:
        return {"attained": None, "loss": None}
    loss = best.score - answer.score
    if loss < -TOLERANCE:
        message = (
            f"score {answer.score:.9f} is above the proven optimum {best.score:.9f}: "
            "the proof or the score is wrong. Report it with this run."
        )
        raise BayesmendError(message)
    # Within the tolerance a score above is the same one, added up in another order.
    return {"attained": float(loss <= TOLERANCE), "loss": max(0.0, loss)}


class _Key:
    """A table as a key of the cache: equal when the cells are."""

    def __init__(self, data: IncompleteData) -> None:
        self.data = data
        self._content = (data.codes.tobytes(), data.names)

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._content == other._content


# All methods of a run are judged by the same proof, one after the other.
@lru_cache(maxsize=4)
def _solved(key: _Key, time_limit: float) -> LearnResult:
    return learn_exact(
        key.data,
        prior="uniform",
        support=0.0,
        max_parents=MAX_PARENTS,
        time_limit=time_limit,
        seed=0,
        n_threads=1,
    )
