"""The methods that the experiments beyond the paper compare.

Structures have at most three parents and the score is BDeu with equivalent sample size
1 throughout. With thousands of missing cells the certificate of a 1-local optimum takes
far longer than finding one, so augmentation alternates here between the completion and
a structure found by search over orders, from the modes and five draws.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from bayesmend.learning.learn import learn
from experiments.design import Answer, Method, Task
from experiments.methods import (
    EM,
    EM_HARD,
    EM_MECHANISM,
    MAX_PARENTS,
    MODE,
    TRUTH,
    solve_by,
)
from experiments.peers.imputers import IMPUTERS

__all__ = [
    "COMPLETE",
    "KNN",
    "LEARNERS",
    "LOCAL",
    "MECHANISMS",
    "PEERS",
    "REFERENCE",
    "auto",
    "learners",
]


def learners(em_seconds: float) -> tuple[Method, ...]:
    """Name the learners, structural EM with a limit of seconds for each run.

    Augmentation has none: search over orders ends by itself, but spends all of a limit.
    """
    return (
        *(
            replace(method, options={**method.options, "time_limit": em_seconds})
            for method in (EM, EM_HARD)
        ),
        LOCAL,
    )


def auto(time_limit: float) -> Method:
    """Name what a user gets who chooses nothing but a limit of seconds."""
    options = {
        "method": "auto",
        "max_parents": MAX_PARENTS,
        "time_limit": time_limit,
    }
    return Method("auto", "auto", partial(solve_by, learn), options)


def solve_imputer(
    task: Task, *, seed: int, n_threads: int, name: str, **options: Any
) -> Answer:
    """Fill the missing cells by a peer; it uses one thread."""
    return Answer(IMPUTERS[name](task.data, seed=seed, **options))


def solve_complete(task: Task, *, seed: int, n_threads: int) -> Answer:
    """Give back what was hidden: what can be learned when nothing is missing."""
    hidden = task.hidden
    codes = hidden.data.codes.copy(order="F")
    codes[hidden.rows, hidden.variables] = hidden.true_codes
    return Answer(hidden.data.with_codes(codes))


LOCAL = Method(
    "local",
    "augmentation",
    partial(solve_by, learn),
    {"method": "local", "max_parents": MAX_PARENTS, "restarts": 5, "solver": "order"},
)
LEARNERS = (EM, EM_HARD, LOCAL)
MECHANISMS = (
    EM_MECHANISM,
    replace(
        LOCAL,
        name="local-mechanism",
        label="augmentation, mechanism",
        options={**LOCAL.options, "mechanism": "auto"},
    ),
)
"""The learners that learn why cells are missing, too."""
REFERENCE = replace(TRUTH, reports=("accuracy", "log_loss"))
COMPLETE = Method(
    "complete",
    "nothing hidden",
    solve_complete,
    is_reference=True,
    reports=("shd", "divergence", "entropy_excess", "log_loss"),
)
KNN = Method(
    "knn",
    "k nearest neighbours",
    solve_imputer,
    {"name": "knn"},
    needs=("sklearn.impute",),
)
PEERS = (
    Method(
        "iterative-forest",
        "IterativeImputer, random forests",
        solve_imputer,
        {"name": "forest", "n_trees": 100, "rounds": 5},
        needs=("sklearn.ensemble",),
    ),
    Method(
        "iterative-logistic",
        "IterativeImputer, logistic regression",
        solve_imputer,
        {"name": "logistic", "rounds": 5},
        needs=("sklearn.linear_model",),
    ),
    Method(
        "miceforest",
        "miceforest",
        solve_imputer,
        {"name": "miceforest", "rounds": 5},
        needs=("pandas", "lightgbm", "miceforest"),
    ),
    KNN,
    MODE,
)
