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
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.seed import Seed, as_generator
from experiments.packages import need

__all__ = [
    "IMPUTERS",
    "Imputed",
    "foretell",
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
Shares = NDArray[np.float64]


class Imputed(NamedTuple):
    """A completed table, and how probable a peer takes each state of each cell."""

    completed: IncompleteData
    probabilities: tuple[Shares, ...]
    """For each variable, shape (n_rows, n_states). They mean something where a cell was
    missing, and are 0 for states that the peer was not shown."""


class Filled(NamedTuple):
    """What a model makes of columns of codes."""

    codes: Codes
    shares: list[Shares]
    """For each column, shape (n_rows, n_codes)."""


Fill = Callable[[Codes], Filled]


def impute_mode(data: Any, *, seed: Seed = None) -> IncompleteData:
    """Fill each missing cell with the most frequent state, the first of several.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", None], "b": ["u", None, "v", "v"]}
    >>> impute_mode(table).to_table()
    {'a': ['x', 'x', 'y', 'x'], 'b': ['u', 'v', 'v', 'v']}
    """
    return foretell("mode", data, seed=seed).completed


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
    return foretell("knn", data, n_neighbors=n_neighbors, seed=seed).completed


def impute_forest(
    data: Any, *, n_trees: int = 100, rounds: int = 10, seed: Seed = None
) -> IncompleteData:
    """Fill by ``IterativeImputer`` with a random forest of classification trees.

    Each variable is predicted `rounds` times from the others. The trees see their
    codes: a few splits separate any set of states, whatever their order.
    """
    found = foretell("forest", data, n_trees=n_trees, rounds=rounds, seed=seed)
    return found.completed


def impute_logistic(
    data: Any, *, rounds: int = 10, seed: Seed = None
) -> IncompleteData:
    """Fill by ``IterativeImputer`` with multinomial logistic regression.

    Each variable is predicted `rounds` times from the others, which are one-hot.
    """
    return foretell("logistic", data, rounds=rounds, seed=seed).completed


def impute_miceforest(
    data: Any, *, rounds: int = 5, seed: Seed = None
) -> IncompleteData:
    """Fill by miceforest: chained equations with boosted trees of LightGBM.

    Its default draws among near predictions, to give several different completions;
    here, where one best completion is asked for, it takes the most probable state.
    """
    return foretell("miceforest", data, rounds=rounds, seed=seed).completed


IMPUTERS: Mapping[str, Callable[..., IncompleteData]] = {
    "mode": impute_mode,
    "knn": impute_knn,
    "forest": impute_forest,
    "logistic": impute_logistic,
    "miceforest": impute_miceforest,
}


def foretell(name: str, data: Any, *, seed: Seed = None, **options: Any) -> Imputed:
    """Fill a table by a peer, and tell what it says of the states of each cell.

    Those of the mode are the shares of the observed cells; of nearest neighbours and
    forests, the shares of the votes, with one vote more that is divided among the
    states, so that none is impossible; of the others, what the models of the last round
    say, given the completed table.

    Parameters
    ----------
    name : str
        One of `IMPUTERS`.
    data, seed, **options
        As of its function.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", None], "b": ["u", "u", "v", "v"]}
    >>> found = foretell("knn", table, n_neighbors=3)
    >>> found.probabilities[0][3].round(3).tolist()
    [0.625, 0.375]
    """
    number = _number(seed)
    makers: Mapping[str, Callable[..., Fill]] = {
        "mode": _by_mode,
        "knn": _by_neighbours,
        "forest": _by_forest,
        "logistic": _by_regression,
        "miceforest": _by_boosting,
    }
    return _impute(data, makers[name](number, **options))


def _by_mode(seed: int) -> Fill:
    def fill(codes: Codes) -> Filled:
        card = codes_in_use(codes)
        counts = [
            np.bincount(column[column != MISSING], minlength=n)
            for column, n in zip(codes.T, card.tolist(), strict=True)
        ]
        shares = [np.tile(c / c.sum(), (len(codes), 1)) for c in counts]
        return Filled(codes, shares)  # the modes that are there stay

    return fill


def _by_neighbours(seed: int, *, n_neighbors: int = 5) -> Fill:
    imputer = need("sklearn.impute").KNNImputer(n_neighbors=n_neighbors)

    def fill(codes: Codes) -> Filled:
        card = codes_in_use(codes)
        columns = one_hot(codes, card)
        is_missing = np.repeat(codes == MISSING, card, axis=1)
        votes = imputer.fit_transform(np.where(is_missing, np.nan, columns))
        shares = np.split(votes, np.cumsum(card)[:-1], axis=1)
        return _chosen([_one_vote_more(s, n_neighbors) for s in shares])

    return fill


def _by_forest(seed: int, *, n_trees: int = 100, rounds: int = 10) -> Fill:
    # The imputer's own seed does not reach the model that it is given.
    forest = need("sklearn.ensemble").RandomForestClassifier(
        n_estimators=n_trees, random_state=seed
    )
    iterate = _iterate(forest, rounds, seed)

    def fill(codes: Codes) -> Filled:
        filled = iterate(codes)
        shares = [_one_vote_more(share, n_trees) for share in filled.shares]
        return filled._replace(shares=shares)

    return fill


def _by_regression(seed: int, *, rounds: int = 10) -> Fill:
    encoder = need("sklearn.preprocessing").OneHotEncoder(handle_unknown="ignore")
    regression = need("sklearn.linear_model").LogisticRegression()
    model = need("sklearn.pipeline").make_pipeline(encoder, regression)
    return _iterate(model, rounds, seed)


def _by_boosting(seed: int, *, rounds: int = 5) -> Fill:
    package, pandas = need("miceforest"), need("pandas")

    def fill(codes: Codes) -> Filled:
        card = codes_in_use(codes)
        columns = {
            str(i): pandas.Categorical.from_codes(
                np.where(column == MISSING, -1, column.astype(np.int16)),
                categories=range(n),
            )
            for i, (column, n) in enumerate(zip(codes.T, card.tolist(), strict=True))
        }
        with warnings.catch_warnings():
            # States are compared as they are: none is grouped with others.
            warnings.filterwarnings("ignore", ".* have very rare categories")
            kernel = package.ImputationKernel(
                pandas.DataFrame(columns), mean_match_candidates=0, random_state=seed
            )
        kernel.mice(rounds, verbose=False, num_threads=1)
        table = kernel.complete_data(0)
        filled = np.column_stack([table[name].cat.codes for name in columns])
        found = list(one_hot_each(filled, card))
        for name, (i, n) in zip(columns, enumerate(card.tolist()), strict=True):
            if name in kernel.imputation_order:
                features = table[kernel.variable_schema[name]]
                said = kernel.get_model(name, 0).predict(features)
                found[i] = np.column_stack([1 - said, said]) if n == 2 else said
        return Filled(filled.astype(np.uint8), found)

    return fill


def _one_vote_more(shares: Shares, n_votes: int) -> Shares:
    """Divide one vote more among all states."""
    return np.asarray((shares * n_votes + 1 / shares.shape[1]) / (n_votes + 1))


def _chosen(shares: list[Shares]) -> Filled:
    """Fill by the state with most votes, the first of several."""
    return Filled(
        np.column_stack([np.argmax(s, axis=1) for s in shares]).astype(np.uint8), shares
    )


def one_hot(codes: Codes, card: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Return one column per state, all 0 where a cell is missing.

    Examples
    --------
    >>> codes = np.array([[0, 1], [1, 255]], dtype=np.uint8)
    >>> one_hot(codes, np.array([2, 3])).tolist()
    [[1.0, 0.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0]]
    """
    return np.hstack([np.empty((len(codes), 0)), *one_hot_each(codes, card)])


def one_hot_each(codes: Codes, card: NDArray[np.integer[Any]]) -> Iterator[Shares]:
    """Go through the columns of `one_hot`, variable by variable."""
    for column, states in zip(codes.T, card, strict=True):
        yield (column[:, None] == np.arange(states)).astype(float)


def codes_in_use(codes: Codes) -> NDArray[np.intp]:
    """Return the number of states of each column whose codes are all in use."""
    used = np.where(codes == MISSING, 0, codes.astype(np.intp) + 1)
    return np.asarray(used.max(axis=0))


def _impute(data: Any, fill: Fill) -> Imputed:
    """Complete a table by a function of the columns that have two states or more."""
    table = unweighted(data)
    codes = table.codes.copy()
    seen = [np.unique(column[column != MISSING]) for column in codes.T]
    shown = [i for i, states in enumerate(seen) if len(states) >= 2]
    is_asked = codes == MISSING
    codes[is_asked] = np.broadcast_to(most_frequent(table), codes.shape)[is_asked]
    shares = list(one_hot_each(codes, table.card))
    if is_asked[:, shown].any():
        # Codes without gaps, so that no model meets a state without a row.
        dense = np.column_stack(
            [
                np.where(is_asked[:, i], MISSING, np.searchsorted(seen[i], codes[:, i]))
                for i in shown
            ]
        ).astype(np.uint8)
        filled = fill(dense)
        for column, share, i in zip(filled.codes.T, filled.shares, shown, strict=True):
            known = is_asked[:, i] & (column != MISSING)  # else the mode stays
            codes[known, i] = seen[i][column[known]]
            shares[i] = np.zeros_like(shares[i])
            shares[i][:, seen[i]] = share
    return Imputed(table.with_codes(codes), tuple(shares))


def _iterate(model: Any, rounds: int, seed: int) -> Fill:
    """Return the filling of scikit-learn's IterativeImputer with a classifier."""
    imputer = _iterative_imputer()(
        model,
        max_iter=rounds,
        initial_strategy="most_frequent",
        skip_complete=True,
        random_state=seed,
    )
    not_yet = need("sklearn.exceptions").ConvergenceWarning

    def fill(codes: Codes) -> Filled:
        with warnings.catch_warnings():
            # Codes that still change after the last round are no cause for alarm, nor
            # is a regression short of its optimum.
            warnings.simplefilter("ignore", not_yet)
            table = imputer.fit_transform(np.where(codes == MISSING, np.nan, codes))
        filled = np.asarray(np.rint(table).astype(np.uint8))
        shares = list(one_hot_each(filled, codes_in_use(codes)))
        for column, others, fitted in imputer.imputation_sequence_:  # the last counts
            shares[column] = np.zeros_like(shares[column])
            states = np.asarray(fitted.classes_, np.intp)
            shares[column][:, states] = fitted.predict_proba(table[:, others])
        return Filled(filled, shares)

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
