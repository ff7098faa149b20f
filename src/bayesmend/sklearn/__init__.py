"""Estimators of scikit-learn: fill missing cells, and classify incomplete rows.

Needs scikit-learn (``pip install 'bayesmend[sklearn]'``).
"""

from bayesmend._packages import require

require("sklearn", extra="sklearn")

from bayesmend.sklearn.base import NotFittedError  # noqa: E402
from bayesmend.sklearn.classifier import BayesianNetworkClassifier  # noqa: E402
from bayesmend.sklearn.imputer import BayesianNetworkImputer  # noqa: E402

__all__ = [
    "BayesianNetworkClassifier",
    "BayesianNetworkImputer",
    "NotFittedError",
]
