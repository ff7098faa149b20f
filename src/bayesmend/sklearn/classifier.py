"""An estimator that classifies incomplete rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from bayesmend._docs import documented
from bayesmend.data.states import Label
from bayesmend.inference.align import read_for
from bayesmend.inference.averages import marginals_of
from bayesmend.inference.engine import Engine
from bayesmend.inference.impute import with_evidence
from bayesmend.learning.support import untold_of_support
from bayesmend.sklearn.base import Learner
from bayesmend.sklearn.labels import class_name, read_labels, with_class
from bayesmend.sklearn.tables import check_table

__all__ = ["BayesianNetworkClassifier"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class BayesianNetworkClassifier(ClassifierMixin, Learner):  # type: ignore[misc]
    """Classify rows by a Bayesian network, as a classifier of scikit-learn.

    The class is one more variable of the table: `fit` learns a network (or an ensemble
    of them) of all variables together, `predict_proba` asks it for the class given what
    is observed in a row. Nothing is filled for that: what is missing is summed out.
    Rows without a label are learned from, too.

    Parameters
    ----------
    method : {"auto", "exact", "local", "em", "em-hard", "ensemble"}, default="ensemble"
        As in `learn`. The mean of many networks predicts best.
    ess, mechanism, locality, restarts, n_networks, solver, gap, full, max_memory
        As in `learn`.
    structure_score : Score or str, default="bdeu"
        The ``score`` of `learn`.
    {prior, support, max_parents, constraints, max_mechanism_parents}
    {time_limit, unknown}
    states, columns, discretize, max_numeric_states, normalise, missing
        How the table is read: as in :meth:`IncompleteData.from_table`. Columns of
        arrays are called x0, x1, and so on.
    random_state : int, RandomState or None, default=None
        Source of randomness. With an integer every `fit` gives the same answer for the
        same table.
    {n_threads}
    unlabelled : int, float, str or bool, optional
        What marks a row without a label, beside None, NaN and NA, which always do:
        -1 where labels are those of ``sklearn.semi_supervised``.
    target : str, optional
        What the class is called in the network, and in ``constraints``. By default as
        ``y`` is called, or y.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    target_ : str
        What the class is called in the network.
    model_ : Network or Mixture
        What answers.
    network_ : Network
        The network; of an ensemble the one to be looked at.
    status_ : str
        The ``status`` of the `LearnResult`.
    chosen_ : str
        Its ``chosen``.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, where the table has any.

    Examples
    --------
    >>> import bayesmend as bm
    >>> from bayesmend.sklearn import BayesianNetworkClassifier
    >>> table = bm.load_network("asia").sample(300, seed=1).to_pandas()
    >>> table = table.drop(columns=["asia", "tub"])          # hardly ever yes
    >>> y = table.pop("lung").astype(object)
    >>> y[100:200] = None                                    # without a label
    >>> classifier = BayesianNetworkClassifier(method="em", random_state=1)
    >>> classifier = classifier.fit(table[:200], y[:200])
    >>> classifier.classes_.tolist()
    ['no', 'yes']
    >>> classifier.score(table[200:], y[200:]) > 0.9
    True
    """

    method: Any = "ensemble"
    unlabelled: Label | None = None
    target: str | None = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a network from a table and the class of its rows.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A table, with or without missing cells.
        y : array of shape (n_rows,)
            The labels.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts.
        """
        X = check_table(self, X, reset=True, least=2)
        labels = read_labels(y, self.unlabelled)
        data = self._read(X, sample_weight)
        assert data.schema is not None
        self._columns = tuple(column.name for column in data.schema.columns)
        self.target_ = class_name(y, self.target, self._columns)
        with untold_of_support():  # of cells that nobody will see
            self._learn(with_class(data, self.target_, labels))
        self.classes_ = labels.classes
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of each class, row by row.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A table of the same columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of ``classes_``.
        """
        self._require_fitted("predict_proba")
        X = check_table(self, X, reset=False)
        new = read_for(
            self.model_,
            X,
            allow_absent=True,
            unknown=self.unknown,
            names=self._columns,
        )
        model, cells = with_evidence(self.model_, new, "always")
        engine = Engine(remedy="or lower max_parents", **self._inference())
        return marginals_of(model, cells, engine, self.target_).probabilities[0]

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each class, row by row.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A table of the same columns.
        """
        self._require_fitted("predict_log_proba")
        with np.errstate(divide="ignore"):
            found: NDArray[np.float64] = np.log(self.predict_proba(X))
        return found

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class, row by row; of equals the first.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A table of the same columns.
        """
        self._require_fitted("predict")
        found: NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found
