"""Peers: other ways of filling the missing cells of a table of categories.

Each peer is a function of a table (an `IncompleteData`, or what makes one) that returns
it completed. Observed cells stay as they are, the same seed gives the same answer, and
one thread is used. A variable with fewer than two observed states is filled with its
only state (the first declared one when none was observed) and is not shown to the
models.

scikit-learn's ``IterativeImputer`` was made for numbers, but accepts a classifier: with
codes for values and the most frequent code as first guess, every value it fits,
predicts and stores is a code of a state. So it is used as it is; only what the
classifier sees is ours, see :func:`impute_forest` and :func:`impute_logistic`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.seed import Seed, as_generator
from experiments.packages import need

__all__ = [
    "IMPUTERS",
    "impute_forest",
    "impute_knn",
    "impute_logistic",
    "impute_miceforest",
    "impute_mode",
    "most_frequent",
    "one_hot",
    "unweighted",
]

Codes = NDArray[np.uint8]


def impute_mode(data: Any, *, seed: Seed = None) -> IncompleteData:
    """Fill each missing cell with the most frequent state, the first of several.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", None], "b": ["u", None, "v", "v"]}
    >>> impute_mode(table).to_table()
    {'a': ['x', 'x', 'y', 'x'], 'b': ['u', 'v', 'v', 'v']}
    """
    return _impute(data, lambda codes: codes)


def impute_knn(data: Any, *, n_neighbors: int = 5, seed: Seed = None) -> IncompleteData:
    """Fill each missing cell by a vote of the rows most alike.

    scikit-learn's ``KNNImputer`` on one-hot columns: rows are compared on the variables
    that both have, and the mean of the neighbours' columns counts their votes. Ties go
    to the first state.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", None], "b": ["u", "u", "v", "v"]}
    >>> impute_knn(table, n_neighbors=1).to_table()["a"]
    ['x', 'x', 'y', 'y']
    """
    imputer = need("sklearn.impute").KNNImputer(n_neighbors=n_neighbors)

    def fill(codes: Codes) -> Codes:
        card = codes_in_use(codes)
        columns = one_hot(codes, card)
        is_missing = np.repeat(codes == MISSING, card, axis=1)
        votes = imputer.fit_transform(np.where(is_missing, np.nan, columns))
        ends = np.cumsum(card)
        filled = [np.argmax(v, axis=1) for v in np.split(votes, ends[:-1], axis=1)]
        return np.column_stack(filled).astype(np.uint8)

    return _impute(data, fill)


def impute_forest(
    data: Any, *, n_trees: int = 100, rounds: int = 10, seed: Seed = None
) -> IncompleteData:
    """Fill by ``IterativeImputer`` with a random forest of classification trees.

    Each variable is predicted `rounds` times from the others. The trees see their
    codes: a few splits separate any set of states, whatever their order.
    """
    # The imputer's own seed does not reach the model that it is given.
    number = _number(seed)
    forest = need("sklearn.ensemble").RandomForestClassifier(
        n_estimators=n_trees, random_state=number
    )
    return _impute(data, _iterate(forest, rounds, number))


def impute_logistic(
    data: Any, *, rounds: int = 10, seed: Seed = None
) -> IncompleteData:
    """Fill by ``IterativeImputer`` with multinomial logistic regression.

    Each variable is predicted `rounds` times from the others, which are one-hot.
    """
    encoder = need("sklearn.preprocessing").OneHotEncoder(handle_unknown="ignore")
    regression = need("sklearn.linear_model").LogisticRegression()
    model = need("sklearn.pipeline").make_pipeline(encoder, regression)
    return _impute(data, _iterate(model, rounds, seed))


def impute_miceforest(
    data: Any, *, rounds: int = 5, seed: Seed = None
) -> IncompleteData:
    """Fill by miceforest: chained equations with boosted trees of LightGBM.

    Its default draws among near predictions, to give several different completions;
    here, where one best completion is asked for, it takes the most probable state.
    """
    package, pandas = need("miceforest"), need("pandas")
    number = _number(seed)

    def fill(codes: Codes) -> Codes:
        columns = {
            str(i): pandas.Categorical.from_codes(
                np.where(column == MISSING, -1, column.astype(np.int16)),
                categories=range(card),
            )
            for i, (column, card) in enumerate(
                zip(codes.T, codes_in_use(codes), strict=True)
            )
        }
        with warnings.catch_warnings():
            # States are compared as they are: none is grouped with others.
            warnings.filterwarnings("ignore", ".* have very rare categories")
            kernel = package.ImputationKernel(
                pandas.DataFrame(columns), mean_match_candidates=0, random_state=number
            )
        kernel.mice(rounds, verbose=False, num_threads=1)
        filled = kernel.complete_data(0)
        return np.column_stack([filled[name].cat.codes for name in columns]).astype(
            np.uint8
        )

    return _impute(data, fill)


IMPUTERS: Mapping[str, Callable[..., IncompleteData]] = {
    "mode": impute_mode,
    "knn": impute_knn,
    "forest": impute_forest,
    "logistic": impute_logistic,
    "miceforest": impute_miceforest,
}


def one_hot(codes: Codes, card: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return one column per state, all 0 where a cell is missing.

    Examples
    --------
    >>> codes = np.array([[0, 1], [1, 255]], dtype=np.uint8)
    >>> one_hot(codes, np.array([2, 3])).tolist()
    [[1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]]
    """
    columns = [
        column[:, None] == np.arange(states)
        for column, states in zip(codes.T, card, strict=True)
    ]
    return np.hstack([np.empty((len(codes), 0)), *columns]).astype(float)


def codes_in_use(codes: Codes) -> NDArray[np.intp]:
    """Return the number of states of each column whose codes are all in use."""
    used = np.where(codes == MISSING, 0, codes.astype(np.intp) + 1)
    return np.asarray(used.max(axis=0))


def _impute(data: Any, fill: Callable[[Codes], Codes]) -> IncompleteData:
    """Complete a table by a function of the columns that have two states or more."""
    table = unweighted(data)
    codes = table.codes.copy()
    seen = [np.unique(column[column != MISSING]) for column in codes.T]
    shown = [i for i, states in enumerate(seen) if len(states) >= 2]
    is_asked = codes == MISSING
    codes[is_asked] = np.broadcast_to(most_frequent(table), codes.shape)[is_asked]
    if is_asked[:, shown].any():
        # Codes without gaps, so that no model meets a state without a row.
        dense = np.column_stack(
            [
                np.where(is_asked[:, i], MISSING, np.searchsorted(seen[i], codes[:, i]))
                for i in shown
            ]
        ).astype(np.uint8)
        filled = fill(dense)
        for column, i in zip(filled.T, shown, strict=True):
            known = is_asked[:, i] & (column != MISSING)  # else the mode stays
            codes[known, i] = seen[i][column[known]]
    return table.with_codes(codes)


def _iterate(model: Any, rounds: int, seed: Seed) -> Callable[[Codes], Codes]:
    """Return the filling of scikit-learn's IterativeImputer with a classifier."""
    imputer = _iterative_imputer()(
        model,
        max_iter=rounds,
        initial_strategy="most_frequent",
        skip_complete=True,
        random_state=_number(seed),
    )
    not_yet = need("sklearn.exceptions").ConvergenceWarning

    def fill(codes: Codes) -> Codes:
        with warnings.catch_warnings():
            # Codes that still change after the last round are no cause for alarm, nor
            # is a regression short of its optimum.
            warnings.simplefilter("ignore", not_yet)
            filled = imputer.fit_transform(np.where(codes == MISSING, np.nan, codes))
        return np.asarray(np.rint(filled).astype(np.uint8))

    return fill


def _iterative_imputer() -> Any:
    """Return the class, which older scikit-learn hides behind a switch."""
    impute = need("sklearn.impute")
    try:
        return impute.IterativeImputer
    except (ImportError, AttributeError):
        need("sklearn.experimental.enable_iterative_imputer")
        return impute.IterativeImputer


def unweighted(data: Any) -> IncompleteData:
    """Read a table; refuse row weights, which the peers know nothing of."""
    table = IncompleteData.from_table(data)
    if table.weights is not None:
        message = "the peers take no row weights. Repeat the rows, or drop the weights."
        raise DataError(message)
    return table


def most_frequent(table: IncompleteData) -> Codes:
    """Return the first of the most frequent codes of each variable."""
    counts = [np.bincount(column, minlength=256)[:MISSING] for column in table.codes.T]
    return np.array([np.argmax(count) for count in counts], dtype=np.uint8)


def _number(seed: Seed) -> int:
    return int(as_generator(seed).integers(2**31))
