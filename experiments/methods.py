"""The methods that the tables compare, each by one name in all of them.

All learners use BDeu with equivalent sample size 1 and at most three parents, the
paper's k; the paper does not give its equivalent sample size. Rows without an example
cost nothing and all structures are alike beforehand, as in the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from bayesmend.errors import ParameterError
from bayesmend.inference.impute import impute
from bayesmend.learning.augment import learn_exact, learn_local
from bayesmend.learning.em import learn_em
from bayesmend.learning.result import LearnResult
from experiments.design import Answer, Method, Task
from experiments.peers.classifiers import (
    KERNELS,
    Kernel,
    predict_class,
    predict_class_semi_supervised,
)
from experiments.peers.imputers import impute_mode

__all__ = [
    "EM",
    "EM_HARD",
    "EM_MECHANISM",
    "LAPLACIAN_SVM",
    "LOCAL_MECHANISM",
    "MODE",
    "SVMS",
    "TRUTH",
    "exact",
    "local",
]

MAX_PARENTS = 3
RESTARTS = 10


def exact(time_limit: float | None, *, mechanism: bool = False) -> Method:
    """Name exact learning with a limit of seconds for each run, 60 by default.

    With a mechanism, why cells are missing is learned first.
    """
    options: dict[str, Any] = {
        "max_parents": MAX_PARENTS,
        "restarts": RESTARTS,
        "time_limit": 60.0 if time_limit is None else time_limit,
    }
    name, label = "exact", "exact"
    if mechanism:
        options["mechanism"] = "auto"
        name, label = "exact-mechanism", "exact, mechanism"
    return Method(name, label, partial(solve_by, learn_exact), options)


def local(locality: int, *, is_single: bool = False) -> Method:
    """Name t-local learning.

    Parameters
    ----------
    locality : int
        The paper's t.
    is_single : bool, default=False
        Start from one completion drawn at random, as the paper's text reads at its
        plainest, instead of the modes and ten draws.
    """
    options = {
        "locality": locality,
        "max_parents": MAX_PARENTS,
        "restarts": 1 if is_single else RESTARTS,
        "starts": ["random"] if is_single else ["mode", "random"],
    }
    name, label = f"local-{locality}", f"{locality}-local"
    if is_single:
        name, label = f"{name}-single", f"{label}, one random start"
    return Method(name, label, solve_local, options)


def solve_by(
    learn: Callable[..., LearnResult],
    task: Task,
    *,
    seed: int,
    n_threads: int,
    prior: str = "uniform",
    support: float = 0.0,
    **options: Any,
) -> Answer:
    """Learn network and completion by a learner of the package, by plain BDeu."""
    found = learn(
        task.data,
        seed=seed,
        n_threads=n_threads,
        prior=prior,
        support=support,
        **options,
    )
    return Answer(
        found.completed,
        found.score,
        found.bound,
        found.status,
        found.network,
        {
            **({} if found.chosen is None else {"chosen": found.chosen}),
            **_labels(found),
        },
    )


def _labels(found: LearnResult) -> dict[str, Any]:
    """Give what missing cells were found to depend on, by variable."""
    if found.mechanism is None:
        return {}
    return {"labels": {why.variable: why.label for why in found.mechanism}}


solve_local = partial(solve_by, learn_local)


def solve_truth(task: Task, *, seed: int, n_threads: int) -> Answer:
    """Fill missing cells by their most probable states under the true network."""
    if task.network is None:
        message = "the true network of this table is not known. Leave 'truth' out."
        raise ParameterError(message)
    found = impute(
        task.network,
        task.data,
        method="mpe",
        fill_empty_rows=True,
        n_threads=n_threads,
    )
    return Answer(found.completed, network=task.network)


def solve_mode(task: Task, *, seed: int, n_threads: int) -> Answer:
    """Fill each missing cell with the most frequent state of its variable."""
    return Answer(impute_mode(task.data))


def solve_svm(task: Task, *, seed: int, n_threads: int, kernel: Kernel) -> Answer:
    """Predict the class from the other variables, trained on labelled rows."""
    return Answer(predict_class(task.data, _target(task), kernel=kernel))


def solve_laplacian_svm(
    task: Task, *, seed: int, n_threads: int, **options: Any
) -> Answer:
    """Predict the class with the help of unlabelled rows."""
    return Answer(predict_class_semi_supervised(task.data, _target(task), **options))


def _target(task: Task) -> str:
    if task.target is None:
        message = "this table misses cells of several variables. Leave classifiers out."
        raise ParameterError(message)
    return task.target


EM = Method(
    "em",
    "structural EM",
    partial(solve_by, learn_em),
    {"hard": False, "max_parents": MAX_PARENTS},
)
EM_MECHANISM = Method(
    "em-mechanism",
    "EM, mechanism",
    partial(solve_by, learn_em),
    {"hard": False, "max_parents": MAX_PARENTS, "mechanism": "auto"},
)
LOCAL_MECHANISM = Method(
    "local-1-mechanism",
    "1-local, mechanism",
    solve_local,
    {**local(1).options, "mechanism": "auto"},
)
EM_HARD = Method(
    "em-hard",
    "structural EM, hard",
    partial(solve_by, learn_em),
    {"hard": True, "max_parents": MAX_PARENTS},
)
MODE = Method("mode", "mode", solve_mode)
TRUTH = Method("truth", "true network (reference)", solve_truth, is_reference=True)
SVMS = tuple(
    Method(
        f"svm-{kernel}",
        f"SVM ({kernel})",
        solve_svm,
        {"kernel": kernel},
        family="svm",
        needs=("sklearn.svm",),
    )
    for kernel in KERNELS
)
LAPLACIAN_SVM = Method(
    "lapsvm", "Laplacian SVM", solve_laplacian_svm, needs=("sklearn.base",)
)
