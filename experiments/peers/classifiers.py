"""Peers for one variable, the class: support vector machines on all others."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.errors import ParameterError
from experiments.packages import need
from experiments.peers.imputers import Imputed, most_frequent, one_hot, unweighted

__all__ = ["KERNELS", "predict_class", "predict_class_semi_supervised"]

Kernel = Literal["linear", "poly", "rbf", "sigmoid"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)


def predict_class(data: Any, variable: str, *, kernel: Kernel = "rbf") -> Imputed:
    """Fill the holes of one variable by a support vector machine.

    It is trained on the rows in which the variable is observed, with the defaults of
    scikit-learn's ``SVC``, and sees the other variables one-hot; another missing cell
    is 0 in all its columns.

    Parameters
    ----------
    data : IncompleteData or table
        The table.
    variable : str
        The variable to predict.
    kernel : {"linear", "poly", "rbf", "sigmoid"}, default="rbf"
        The kernel.

    Returns
    -------
    Imputed
        The table with that variable complete, and the seconds taken.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", None]}
    >>> predict_class(table, "b", kernel="linear").completed.to_table()["b"]
    ['u', 'u', 'v', 'v']
    """
    if kernel not in KERNELS:
        message = f"kernel must be one of {', '.join(KERNELS)}. Got {kernel!r} instead."
        raise ParameterError(message)
    machine = need("sklearn.svm").SVC(kernel=kernel)

    def predict(X: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        is_labelled = y >= 0
        return np.asarray(machine.fit(X[is_labelled], y[is_labelled]).predict(X))

    return _predict(data, variable, predict)


def predict_class_semi_supervised(data: Any, variable: str, **options: Any) -> Imputed:
    """Fill the holes of one binary variable by a Laplacian SVM.

    Parameters
    ----------
    data : IncompleteData or table
        The table.
    variable : str
        The variable to predict.
    **options
        Parameters of `LaplacianSVM`.

    Returns
    -------
    Imputed
        The table with that variable complete, and the seconds taken.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", None, "v", None]}
    >>> predict_class_semi_supervised(table, "b").completed.to_table()["b"]
    ['u', 'u', 'v', 'v']
    """
    machine = need("experiments.peers.lapsvm").LaplacianSVM(**options)
    return _predict(data, variable, lambda X, y: machine.fit(X, y).predict(X))


def _predict(
    data: Any,
    variable: str,
    predict: Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]],
) -> Imputed:
    """Complete one variable by a classifier; an unknown label is -1."""
    table = unweighted(data)
    begin = perf_counter()
    target = table.index(variable)
    others = [i for i in range(table.n_vars) if i != target]
    y = table.codes[:, target].astype(np.int64)
    is_hole = y == MISSING
    y[is_hole] = -1
    codes = table.codes.copy()
    if is_hole.any():
        is_constant = len(np.unique(y[~is_hole])) < 2
        X = one_hot(table.codes[:, others], table.card[others])
        found = most_frequent(table)[target] if is_constant else predict(X, y)[is_hole]
        codes[is_hole, target] = found
    return Imputed(table.with_codes(codes), perf_counter() - begin)
