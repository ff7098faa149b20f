"""Peers for the class of incomplete rows: classifiers of scikit-learn in pipelines.

A missing cell is a label of its own to them: nothing has to be guessed, and that it is
missing may tell something.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.packages import need

__all__ = ["PIPELINES", "label_missing"]

_MISSING = "missing"


def label_missing(X: NDArray[Any]) -> NDArray[Any]:
    """Give missing cells, which are None, a label of their own.

    Examples
    --------
    >>> label_missing(np.array([["x", None]], dtype=object)).tolist()
    [['x', 'missing']]
    """
    is_missing = [[cell is None for cell in row] for row in X]
    return np.where(np.array(is_missing, dtype=bool), _MISSING, X)


def make_logistic(seed: int) -> Any:
    """Make logistic regression on one-hot columns, its defaults otherwise."""
    regression = need("sklearn.linear_model").LogisticRegression(max_iter=1000)
    return _one_hot(regression)


def make_forest(seed: int, *, n_trees: int = 200) -> Any:
    """Make a random forest on one-hot columns, its defaults otherwise."""
    forest = need("sklearn.ensemble").RandomForestClassifier
    return _one_hot(forest(n_trees, random_state=seed, n_jobs=1))


def make_naive_bayes(seed: int) -> Any:
    """Make naive Bayes of labels; a label never seen before is one of its own."""
    preprocessing = need("sklearn.preprocessing")
    return need("sklearn.pipeline").make_pipeline(
        preprocessing.FunctionTransformer(label_missing),
        preprocessing.OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=-1
        ),
        preprocessing.FunctionTransformer(_from_one),
        need("sklearn.naive_bayes").CategoricalNB(),
    )


PIPELINES: Mapping[str, Callable[..., Any]] = {
    "logistic": make_logistic,
    "forest": make_forest,
    "naive-bayes": make_naive_bayes,
}
"""By name: what makes a classifier from a seed and its options."""


def _one_hot(classifier: Any) -> Any:
    preprocessing = need("sklearn.preprocessing")
    return need("sklearn.pipeline").make_pipeline(
        preprocessing.FunctionTransformer(label_missing),
        preprocessing.OneHotEncoder(handle_unknown="ignore"),
        classifier,
    )


def _from_one(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    return codes + 1
