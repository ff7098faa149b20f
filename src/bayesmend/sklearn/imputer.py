"""An estimator that fills missing cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils._set_output import _get_output_config

from bayesmend._checks import check_flag
from bayesmend._docs import documented
from bayesmend._spelling import spell
from bayesmend.data.states import listing
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.inference.impute import Imputation, impute
from bayesmend.sklearn.base import Learner
from bayesmend.sklearn.tables import (
    check_table,
    find_constants,
    missing_by_column,
    with_cells,
    with_columns,
)

__all__ = ["BayesianNetworkImputer"]


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class BayesianNetworkImputer(
    OneToOneFeatureMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    Learner,
):
    """Fill missing cells from a Bayesian network, as a transformer of scikit-learn.

    `fit` learns a network (or an ensemble of them) from a table with missing cells by
    `learn`, `transform` fills the missing cells of that table or another by `impute`.
    Tables are read as by `learn`: labels, numbers, booleans and mixtures of them, in
    frames of pandas, polars and pyarrow or in arrays. A table comes back as it was, its
    observed cells unchanged, and of the kind given, or that ``set_output`` asks for.

    Columns that cannot be modelled (identifiers, dates, free text, a column without any
    observed cell) come back as they are, missing cells included; a `ReadingWarning`
    names them. One that holds the same in every observed cell is filled with that.

    Parameters
    ----------
    method, ess, mechanism, locality, restarts, n_networks, solver, gap, full
        As in `learn`.
    max_memory
        As in `learn`.
    structure_score : Score or str, default="bdeu"
        The ``score`` of `learn`.
    {prior, support, max_parents, constraints, max_mechanism_parents}
    {time_limit, unknown}
    states, columns, discretize, max_numeric_states, normalise, missing
        How the table is read: as in :meth:`IncompleteData.from_table`. Columns of
        arrays are called x0, x1, and so on.
    random_state : int, RandomState or None, default=None
        Source of randomness. With an integer every `fit` and every `transform` gives
        the same answer for the same table.
    {n_threads}
    sample_posterior : bool, default=False
        Whether cells take states drawn from their joint posterior distribution instead
        of the most probable ones; for multiple imputation, with a random state for
        each table.
    add_indicator : bool, default=False
        Whether columns are added that tell which cells were missing, one for each
        column with missing cells when it was fitted.
    fill_empty_rows : bool, default=True
        Whether to fill rows in which nothing is observed.

    Attributes
    ----------
    model_ : Network or Mixture
        What fills the cells: ``impute(imputer.model_, X).cells`` tells how sure each
        one is.
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
    >>> from bayesmend.sklearn import BayesianNetworkImputer
    >>> asia = bm.load_network("asia")
    >>> table = bm.hide_mcar(asia.sample(200, seed=1), 0.1, seed=1).data.to_pandas()
    >>> imputer = BayesianNetworkImputer(
    ...     method="em", columns=list(table), random_state=1
    ... )
    >>> filled = imputer.fit_transform(table)
    >>> int(table.isna().sum().sum()), int(filled.isna().sum().sum())
    (153, 0)
    """

    sample_posterior: bool = False
    add_indicator: bool = False
    fill_empty_rows: bool = True

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn a network from a table.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A table with missing cells.
        y : object
            Ignored; it is there for pipelines.
        sample_weight : array of shape (n_rows,), optional
            How much each row counts.
        """
        for name in ("sample_posterior", "add_indicator", "fill_empty_rows"):
            check_flag(name, getattr(self, name))
        X = check_table(self, X, reset=True, least=2)
        data = self._read(X, sample_weight)
        self._columns = _names(data)
        self._learn(data)
        self._constants = find_constants(data)
        self._indicated = np.flatnonzero(missing_by_column(data).any(axis=0))
        return self

    def transform(self, X: Any) -> Any:
        """Return a table with its missing cells filled.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A table of the same columns.
        """
        self._require_fitted("transform")
        X = check_table(self, X, reset=False)
        found = impute(
            self.model_,
            X,
            method="draw" if self.sample_posterior else None,
            seed=self._seed() if self.sample_posterior else None,
            unknown=self.unknown,
            fill_empty_rows=self.fill_empty_rows,
            mechanism="always",
            names=self._columns,
            **self._inference(),
        )
        table = self._laid_out(found.completed)
        if not (self.add_indicator or self._constants):
            return table
        was_missing = _flags(found)
        for place, value in self._constants.items():
            if was_missing[:, place].any():
                table = with_cells(table, place, was_missing[:, place], value)
        if not self.add_indicator:
            return table
        names = self.get_feature_names_out()[self.n_features_in_ :].tolist()
        return with_columns(table, names, was_missing[:, self._indicated])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of a transformed table.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns, where the table fitted had none.
        """
        self._require_fitted("transform")
        names = super().get_feature_names_out(input_features)
        if not self.add_indicator:
            return np.asarray(names, dtype=object)
        added = [f"missingindicator_{names[k]}" for k in self._indicated]
        return np.array([*names, *added], dtype=object)

    def _laid_out(self, completed: IncompleteData) -> Any:
        """Return the table in the kind that was asked for, or that was given."""
        kind = _get_output_config("transform", self)["dense"]
        if kind == "pandas":
            return completed.to_pandas()
        return completed.to_polars() if kind == "polars" else completed.to_table()


def _names(data: IncompleteData) -> tuple[str, ...]:
    """Return the names of the columns that come back: all of them."""
    assert data.schema is not None
    if dropped := [column.name for column in data.schema.of("drop")]:
        msg = (
            f"{spell('columns')} cannot drop {listing(dropped, 6)}: an imputer gives "
            "back every column. Pass them through, or drop them by a ColumnTransformer."
        )
        raise ParameterError(msg)
    return tuple(column.name for column in data.schema.columns)


def _flags(found: Imputation) -> NDArray[np.bool_]:
    """Tell which cells were missing, column by column."""
    data, new = found.completed, found.source
    flags = missing_by_column(data)
    if new.unknown is not None:  # labels, if not known ones
        places = data.origin.places or tuple(range(data.n_vars))
        for unknown, column in zip(new.unknown, new.columns, strict=True):
            flags[unknown, places[column]] = False
    return flags
