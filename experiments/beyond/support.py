"""What a row without an example has to cost, and what that does where nothing is wrong.

Surveys of which one wave asked less, filled by methods that take more or less off the
score for every row in a cell of a family that no observed row shows; and samples of
networks with cells missing completely at random, with the default cost and without.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from bayesmend.data.states import MISSING
from bayesmend.hiding.record import Hidden
from bayesmend.learning.learn import learn
from bayesmend.score import SUPPORT
from bayesmend.seed import as_generator
from experiments.data import DataFolder, network_files
from experiments.design import (
    ACCURACY,
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
from experiments.hiding import hide
from experiments.methods import MAX_PARENTS
from experiments.waves import VARIANTS, consistency, draw_survey

__all__ = ["design"]

SUPPORTS = (0.0, 0.01, 0.03, 0.1, 0.2, 0.5)
LEARNERS = {"local": "augmentation", "em": "structural EM", "em-hard": "hard EM"}
SIZES = (500, 1000, 4000, 10_000)
NOISES = (0.0, 0.05)
NETWORKS = ("asia", "child", "alarm")
REPETITIONS = 20
ENOUGH = 0.99

SAFE = Measure(
    "safe",
    "runs in which 99 % of the filled cells go with their row (%)",
    100.0,
    is_contest=False,
    limits=(0.0, 100.0),
    is_success=True,
)
UNSUPPORTED = Measure(
    "unsupported",
    "mended cells without an example (%)",
    100.0,
    is_better_high=False,
    is_contest=False,
    limits=(0.0, 100.0),
)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; no method of it needs a limit of seconds."""
    surveys, networks = _surveys(), _networks()
    return Experiment(
        name="support",
        title="What a row without an example has to cost",
        settings=(*surveys, *networks),
        methods=tuple(_method(how, s) for how in LEARNERS for s in SUPPORTS),
        blocks=tuple(Block(s.name, (s.name,)) for s in (*surveys, *networks)),
        make=make,
        seed=seed,
        quick_repetitions=2,
        measure=measure,
        measures=(SAFE, UNSUPPORTED, ACCURACY),
        notes=(
            "Surveys: a question that one wave was not asked, settled in the other "
            "waves by a variable that all of them show but for the share of noise.",
            "A filled cell goes with its row when the answer is one that its known "
            "variable settles, noise apart. Without an example: the row falls, in a "
            "family of the variable, into a cell that no row with all of the family "
            "observed shows.",
            f"Networks: 1,000 rows, 10 % of the cells missing completely at random, "
            f"without the cost and with that by default, {SUPPORT:g} nats a row.",
        ),
        curves=Curves("nats taken off for a row without an example", place),
    )


def _surveys() -> tuple[Setting, ...]:
    return tuple(
        Setting(
            f"{variant}/{n_rows}/{100 * noise:g}",
            {"variant": variant, "n_rows": n_rows, "noise": noise},
            range(REPETITIONS),
            stream=f"{variant}/{n_rows}",
        )
        for variant, n_rows, noise in product(VARIANTS, SIZES, NOISES)
    )


def _networks() -> tuple[Setting, ...]:
    both = tuple(_name(how, s) for how in LEARNERS for s in (0.0, SUPPORT))
    return tuple(
        Setting(
            f"mcar/{network}",
            {"network": network, "n_rows": 1000, "rate": 0.1},
            range(REPETITIONS),
            methods=both,
            files=network_files(network),
        )
        for network in NETWORKS
    )


def _name(how: str, support: float) -> str:
    return f"{how}@{support:g}"


def _method(how: str, support: float) -> Method:
    return Method(
        _name(how, support),
        f"{LEARNERS[how]}, {support:g} nats",
        solve_supported,
        {"method": how, "support": support, "max_parents": MAX_PARENTS},
    )


def make(run: Run, folder: DataFolder) -> Task:
    """Draw a survey, or rows of a network with cells missing at random."""
    given = run.setting.parameters
    if "variant" in given:
        survey = draw_survey(
            given["variant"],
            seed=run.seed,
            n_rows=given["n_rows"],
            noise=given["noise"],
        )
        rows, variables = np.nonzero(survey.data.codes == MISSING)
        return Task(
            Hidden(
                survey.data,
                rows,
                variables,
                survey.truth.codes[rows, variables],
                rows.size,
                {"mechanism": "block"},
            )
        )
    network = folder.network(given["network"])
    generator = as_generator(run.seed)
    rows_drawn = network.sample(given["n_rows"], seed=generator)
    hidden = hide(rows_drawn, "mcar", given["rate"], generator=generator)
    return Task(hidden, network=network)


def solve_supported(
    task: Task, *, seed: int, n_threads: int, method: str, **options: Any
) -> Answer:
    """Learn with a cost of rows without an example.

    With thousands of scattered cells the certificate of a local optimum would take far
    longer than finding one, so augmentation alternates there.
    """
    if method == "local" and task.network is not None:
        options |= {"solver": "order", "restarts": 5}
    found = learn(
        task.data,
        method=method,  # type: ignore[arg-type]
        prior="uniform",
        seed=seed,
        n_threads=n_threads,
        **options,
    )
    lacking = sum(found.unsupported.values())
    return Answer(
        found.completed,
        found.score,
        found.bound,
        found.status,
        found.network,
        {"unsupported": lacking / max(task.data.n_missing, 1)},
    )


def measure(task: Task, answer: Answer) -> Mapping[str, Any]:
    """Tell whether a survey was filled as its other waves show; null for networks."""
    if task.network is not None:
        return {"safe": None}
    assert answer.completed is not None
    share = consistency(task.data, answer.completed)
    return {"safe": float(share >= ENOUGH), "consistency": share}


def place(block: Block, method: Method) -> Place:
    """Put the cost on the axis, one curve for each learner."""
    how = method.options["method"]
    return Place(block.label, method.options["support"], LEARNERS[how], how)
