"""The incomplete tables of the benchmark, and what is measured on each.

Cells of "one value" hold the first state of their variable for odd seeds and the second
for even ones.
"""

from dataclasses import dataclass

from bayesmend import learn_exact, learn_local
from bayesmend.graph import Constraints
from bayesmend.hiding import hide_mcar, hide_value_of, hide_value_per_variable
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.learning.reduction import reduce_to_complete, solve_reduction
from bayesmend.score import Score
from experiments.design import Answer, Experiment, Method, Setting, Task
from experiments.hiding import hide_share_of_value, pick_columns

# Plain BDeu, as the targets were set for.
PRIOR, SUPPORT = "uniform", 0.0


@dataclass(frozen=True)
class Case:
    """A row of the table: how to make its instances, the aim, for how long to try."""

    title: str
    parameters: dict
    target: str
    limit: float = 60.0
    n_seeds: int = 20
    measures: tuple[str, ...] = ("exact",)


def sample(network, n_rows, **how):
    return {"network": network, "n_rows": n_rows, **how}


def lucas(**how):
    return {"file": "lucas.csv", **how}


SMOKING = {
    "file": "smoking_waves.csv",
    "columns": ["group", "tv", "manual", "quit_24m"],
    "variable": "quit_24m",
    "number": 75,
    "labels": ["0"],  # as in the paper, those of smokers
}
CAR = {
    "file": "car.csv",
    "variable": "class",
    "number": 100,
    "labels": ["unacc", "acc"],  # the two that are frequent enough
}


def spect(percent):
    return Case(
        f"SPECT, {percent} % of one value",
        {"file": "spect.csv", "share": percent / 100},
        "t = 1 certified",
        n_seeds=4,
        measures=("exact", "certify"),
    )


CASES = {
    "asia": Case(
        "ASIA n=100, 2 per variable",
        sample("asia", 100, per_variable=2),
        "proven, <= 10 ms",
        measures=("exact", "local", "enumerate", "reduce"),
    ),
    "prostate": Case(
        "11 binary, n=100, 2 per variable",
        sample("surrogate_prostate11_tan", 100, per_variable=2),
        "proven, <= 100 ms",
        measures=("exact", "local"),
    ),
    "lucas2": Case("LUCAS, 2 per variable", lucas(per_variable=2), "proven, <= 0.2 s"),
    "lucas-class": Case(
        "LUCAS, 20 of the class",
        lucas(variable="Lung_cancer", number=20, labels=["0", "1"]),
        "proven, <= 0.3 s",
    ),
    "lucas4": Case(
        "LUCAS, 4 per variable", lucas(per_variable=4), "proven in >= 95 %", limit=30.0
    ),
    "lucas8": Case(
        "LUCAS, 8 per variable", lucas(per_variable=8), "as many as possible"
    ),
    "smoking": Case("Smoking, 117 + 75 labels", SMOKING, "proven, <= 50 ms"),
    "car": Case("Car, 100 of the class", CAR, "proven, or the gap"),
    "asia-mcar": Case(
        "ASIA n=1000, 5 % MCAR", sample("asia", 1000, rate=0.05), "proven, or the gap"
    ),
    "asia-mcar10": Case(
        "ASIA n=1000, 10 % MCAR", sample("asia", 1000, rate=0.1), "gap <= 5 nats"
    ),
    "insurance": Case(
        "INSURANCE n=1000, 2 per variable",
        sample("insurance", 1000, per_variable=2),
        "proven",
        n_seeds=10,
    ),
    "alarm": Case(
        "ALARM n=1000, 2 per variable",
        sample("alarm", 1000, per_variable=2),
        "proven in 8 of 10",
        limit=300.0,
        n_seeds=10,
    ),
    "spect3": spect(3),
    "spect5": spect(5),
    "spect10": spect(10),
}


def make(run, folder):
    """Sample or read a table, and hide cells of it."""
    given, seed = run.setting.parameters, run.seed
    if "network" in given:
        data = folder.network(given["network"]).sample(given["n_rows"], seed=seed)
    else:
        data = folder.table(given["file"])
    if "columns" in given:
        data = pick_columns(data, given["columns"])
    return Task(hide(data, given, (seed + 1) % 2, seed))


def hide(data, given, state, seed):
    if "rate" in given:
        return hide_mcar(data, given["rate"], seed=seed)
    if "share" in given:
        return hide_share_of_value(data, given["share"], state=state, seed=seed)
    if "per_variable" in given:
        number = given["per_variable"]
        return hide_value_per_variable(data, number, state=state, seed=seed)
    label = given["labels"][state % len(given["labels"])]
    return hide_value_of(data, given["variable"], given["number"], label, seed=seed)


def exact(task, *, seed, n_threads, time_limit):
    """Branch and bound, local search included."""
    found = learn_exact(
        task.data,
        prior=PRIOR,
        support=SUPPORT,
        time_limit=time_limit,
        seed=seed,
        n_threads=n_threads,
    )
    detail = found.detail
    return answer_of(
        found,
        task,
        is_proven=found.is_optimal,
        gap=found.gap,
        nodes=detail["nodes"],
        decisions=detail["cells"],
        patterns=detail["patterns"],
        families=detail["families"],
        families_left=detail["families_left_at_root"],
        root_gap=above(detail["root_bound"], found.score),
        priced_gap=above(detail["priced_root_bound"], found.score),
    )


def above(bound, score):
    return None if bound is None else max(0.0, bound - score)


def answer_of(found, task, **extra):
    extra["cells"] = task.data.n_missing
    return Answer(found.completed, found.score, found.bound, found.status, extra=extra)


def local(task, *, seed, n_threads, time_limit, solver="auto"):
    """t-local search, t = 1, default restarts."""
    found = learn_local(
        task.data,
        prior=PRIOR,
        support=SUPPORT,
        solver=solver,
        time_limit=time_limit,
        seed=seed,
        n_threads=n_threads,
    )
    return answer_of(found, task, is_certified=found.locality is not None)


def enumerate_all(task, *, seed, n_threads, time_limit):
    """Every completion of the patterns with its best structure, in the same core."""
    problem = PatternProblem.of(
        task.data,
        score=Score("bdeu", prior=PRIOR, support=SUPPORT),
        max_parents=3,
        constraints=Constraints(),
    )
    found = problem.augmenter().enumerate(time_limit, n_threads)
    extra = {
        "is_proven": found.is_complete,
        "completions": found.n_completions,
        "cells": task.data.n_missing,
        "decisions": problem.n_cells,
    }
    return Answer(score=found.score, extra=extra)


def reduce(task, *, seed, n_threads, time_limit):
    """The paper's reduction, solved as an integer programme."""
    reduction = reduce_to_complete(task.data, prior=PRIOR, support=SUPPORT)
    found = solve_reduction(reduction, solver="ilp", time_limit=time_limit, seed=seed)
    extra = {"is_proven": found.status == "optimal", "columns": reduction.n_columns}
    return Answer(score=found.score, status=found.status, extra=extra)


MEASURES = {
    "exact": (exact, {}),
    "local": (local, {}),
    # With the exact structure solver whatever the size.
    "certify": (local, {"solver": "subsets"}),
    "enumerate": (enumerate_all, {}),
    "reduce": (reduce, {}),
}


def experiment_of(name, n_seeds, limit):
    """Lay out the runs of one case."""
    case = CASES[name]
    files = (case.parameters["file"],) if "file" in case.parameters else ()
    methods = tuple(
        Method(measure, measure, solve, {**options, "time_limit": limit})
        for measure, (solve, options) in MEASURES.items()
        if measure in case.measures
    )
    return Experiment(
        name="augment",
        title=case.title,
        settings=(Setting(name, case.parameters, range(1, n_seeds + 1), files=files),),
        methods=methods,
        blocks=(),
        make=make,
    )
