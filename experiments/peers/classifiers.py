"""Peers for one variable, the class: support vector machines on all others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from experiments.packages import need
from experiments.peers.imputers import most_frequent, one_hot, unweighted

__all__ = ["KERNELS", "predict_class", "predict_class_semi_supervised"]

Kernel = Literal["linear", "poly", "rbf", "sigmoid"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)


def predict_class(
    data: Any, variable: str, *, kernel: Kernel = "rbf"
) -> IncompleteData:
    """Fill the missing cells of one variable by a support vector machine.

    It is trained on the rows in which the variable is observed, with the defaults of
    scikit-learn's ``SVC``, and sees the other variables one-hot; another missing cell
    is 0 in all its columns.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
    >>> predict_class(table, "b", kernel="linear").to_table()["b"]
    ['u', 'u', 'v', 'v']
    """
    check_choice("kernel", kernel, KERNELS)
    machine = need("sklearn.svm").SVC(kernel=kernel)

    def predict(X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        is_labelled = y >= 0
        return np.asarray(machine.fit(X[is_labelled], y[is_labelled]).predict(X))

    return _predict(data, variable, predict)


def predict_class_semi_supervised(
    data: Any, variable: str, **options: Any
) -> IncompleteData:
    """Fill the missing cells of one binary variable by a `LaplacianSVM`.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", None, "v", None]}
    >>> predict_class_semi_supervised(table, "b").to_table()["b"]
    ['u', 'u', 'v', 'v']
    """
    machine = need("experiments.peers.lapsvm").LaplacianSVM(**options)
    return _predict(data, variable, lambda X, y: machine.fit(X, y).predict(X))


def _predict(
    data: Any,
    variable: str,
    predict: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
) -> IncompleteData:
    """Complete one variable by a classifier; an unknown label is -1."""
    table = unweighted(data)
    target = table.index(variable)
    others = [i for i in range(table.n_vars) if i != target]
    y = table.codes[:, target].astype(np.int64)
    is_asked = y == MISSING
    y[is_asked] = -1
    codes = table.codes.copy()
    if is_asked.any():
        is_constant = len(np.unique(y[~is_asked])) < 2
        X = one_hot(table.codes[:, others], table.card[others])
        found = most_frequent(table)[target] if is_constant else predict(X, y)[is_asked]
        codes[is_asked, target] = found
    return table.with_codes(codes)
