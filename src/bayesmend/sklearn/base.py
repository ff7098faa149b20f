"""What both estimators share: their parameters, how they read tables, and learn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn.exceptions
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from bayesmend._checks import got
from bayesmend.data.reading import Columns, Discretize
from bayesmend.data.states import Label
from bayesmend.data.table import IncompleteData
from bayesmend.errors import BayesmendError, ParameterError
from bayesmend.graph.constraints import ConstraintsLike
from bayesmend.inference.align import Unknown
from bayesmend.inference.engine import MAX_MEMORY
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.learn import Method, learn
from bayesmend.learning.mechanism.given import MechanismLike
from bayesmend.learning.result import LearnResult
from bayesmend.network.mixture import Model
from bayesmend.network.network import Network
from bayesmend.score import Ess, Prior, Score
from bayesmend.sklearn.tables import read_weights
from bayesmend.structure.solve import Solver

__all__ = ["Learner", "NotFittedError"]

_LEARNING = (
    *("method", "ess", "prior", "support", "max_parents", "locality", "restarts"),
    *("n_networks", "solver", "constraints", "mechanism", "max_mechanism_parents"),
    *("gap", "full", "time_limit", "max_memory", "n_threads"),
)
_READING = (
    *("states", "columns", "discretize", "max_numeric_states", "normalise"),
    "missing",
)


class NotFittedError(BayesmendError, sklearn.exceptions.NotFittedError):  # type: ignore[misc]
    """An estimator is used before it was fitted."""


@dataclass(kw_only=True, eq=False, repr=False)
class Learner(BaseEstimator):  # type: ignore[misc]
    """The parameters of `learn` as those of an estimator.

    They are stored as they are given, and checked when it is fitted.
    """

    method: Method = "auto"
    structure_score: Score | str = "bdeu"
    ess: Ess = None
    prior: Prior | None = None
    support: float | None = None
    max_parents: int = 3
    locality: int | None = None
    restarts: int | None = None
    n_networks: int | None = None
    solver: Solver = "auto"
    constraints: ConstraintsLike = None
    mechanism: MechanismLike | None = None
    max_mechanism_parents: int = 2
    gap: float | None = None
    full: bool = False
    time_limit: float | None = None
    max_memory: float | None = None
    unknown: Unknown = "error"
    states: Mapping[Any, Iterable[Label]] | None = None
    columns: Columns | None = None
    discretize: Discretize | None = "auto"
    max_numeric_states: int = 20
    normalise: bool = False
    missing: Iterable[str | float] | str | float | None = None
    random_state: int | np.random.RandomState | None = None
    n_threads: int = 0

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that cells may be missing, and hold text."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Tell whether there is a network."""
        return hasattr(self, "model_")

    def _read(self, X: Any, sample_weight: Any) -> IncompleteData:
        """Read a table to learn from."""
        return IncompleteData.from_table(
            X,
            weights=read_weights(sample_weight),
            **{name: getattr(self, name) for name in _READING},
        )

    def _learn(self, data: IncompleteData) -> None:
        """Learn, and keep the network, and what answers in its place."""
        result: LearnResult = learn(
            data,
            score=self.structure_score,
            seed=self._seed(),
            fill_empty_rows=True,
            progress=False,
            **{name: getattr(self, name) for name in _LEARNING},
        )
        self.network_: Network = result.network
        self.model_: Model = (
            result.mixture if isinstance(result, Ensemble) else result.network
        )
        self.status_: str = result.status
        self.chosen_: str | None = result.chosen

    def _require_fitted(self, method: str) -> None:
        if not hasattr(self, "model_"):
            msg = (
                f"this {type(self).__name__} is not fitted. Call fit(X) before "
                f"{method}(X)."
            )
            raise NotFittedError(msg)

    def _seed(self) -> int:
        """Return a seed of ours, always the same for an integer."""
        try:
            generator = check_random_state(self.random_state)
        except ValueError:
            msg = (
                "random_state must be an integer from 0 to 2**32 - 1, a "
                f"numpy.random.RandomState or None. {got(self.random_state)}"
            )
            raise ParameterError(msg) from None
        return int(generator.randint(2**31 - 1))

    def _inference(self) -> dict[str, Any]:
        """Return the options of inference in new rows."""
        memory = MAX_MEMORY if self.max_memory is None else self.max_memory
        return {"n_threads": self.n_threads, "max_memory": memory}
