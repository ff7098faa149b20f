"""Ways to hide cells that only the experiments need."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.hiding.odds import find_state, observed_rows
from bayesmend.hiding.record import Hidden, punch
from bayesmend.seed import as_generator

__all__ = [
    "hide_any_per_variable",
    "hide_rows",
    "hide_share_of_value",
    "pick_columns",
    "rows_with",
    "split_rows",
]

Rows = NDArray[np.intp]


def pick_columns(data: IncompleteData, names: Sequence[str]) -> IncompleteData:
    """Give a table of some variables, in the order named.

    Examples
    --------
    >>> table = IncompleteData.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    >>> pick_columns(table, ["b"]).names
    ('b',)
    """
    picked = [data.index(name) for name in names]
    return IncompleteData.from_codes(
        data.codes[:, picked], names=names, states=[data.states[v] for v in picked]
    )


def rows_with(data: IncompleteData, variable: str, label: str) -> Rows:
    """Give the rows in which a variable has a label.

    Examples
    --------
    >>> table = IncompleteData.from_table({"a": ["x", "y", "x", None]})
    >>> rows_with(table, "a", "x").tolist()
    [0, 2]
    """
    column = data.index(variable)
    code = find_state(data.states[column], label)
    if code is None:
        known = ", ".join(map(str, data.states[column]))
        message = f"variable {variable!r} has no state {label!r}. It has: {known}."
        raise DataError(message)
    return np.flatnonzero(data.codes[:, column] == code)


def split_rows(rows: Rows, number: int, *, seed: int) -> list[Rows]:
    """Shuffle rows and deal them out into so many folds of nearly equal size.

    Examples
    --------
    >>> folds = split_rows(np.arange(7), 3, seed=1)
    >>> [len(fold) for fold in folds], sorted(np.concatenate(folds).tolist())
    ([3, 2, 2], [0, 1, 2, 3, 4, 5, 6])
    """
    return np.array_split(as_generator(seed).permutation(rows), number)


def hide_rows(data: IncompleteData, variable: str, rows: Rows) -> Hidden:
    """Hide one variable in the rows named.

    Examples
    --------
    >>> table = IncompleteData.from_table({"a": ["x", "y", "x"]})
    >>> hide_rows(table, "a", np.array([2, 0])).data.codes.tolist()
    [[255], [1], [255]]
    """
    request = {"mechanism": "rows", "variable": variable}
    return punch(data, {data.index(variable): np.sort(rows)}, request)


def hide_any_per_variable(
    data: IncompleteData, per_variable: int, *, seed: int
) -> Hidden:
    """Hide a number of cells of every variable, whatever they hold.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(100, seed=1)
    >>> set(hide_any_per_variable(truth, 2, seed=1).counts.values())
    {2}
    """
    generator = as_generator(seed)
    picks = {}
    for variable in range(data.n_vars):
        rows = observed_rows(data, variable)
        size = min(per_variable, rows.size)
        picks[variable] = np.sort(generator.choice(rows, size, replace=False))
    return punch(data, picks, {"mechanism": "any value", "count": per_variable})


def hide_share_of_value(
    data: IncompleteData, share: float, *, state: int, seed: int
) -> Hidden:
    """Hide a share of all cells, drawn evenly from those that hold one state.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(100, seed=1)
    >>> hidden = hide_share_of_value(truth, 0.05, state=1, seed=1)
    >>> hidden.n_hidden, set(hidden.true_codes.tolist())
    (40, {1})
    """
    number = round(share * data.codes.size)
    rows, variables = np.nonzero(data.codes == state)
    if number > rows.size:
        message = (
            f"{number} cells are to be hidden, but {rows.size} hold state {state}. "
            "Ask for a smaller share."
        )
        raise DataError(message)
    chosen = as_generator(seed).choice(rows.size, number, replace=False)
    picks = {
        variable: np.sort(rows[chosen[variables[chosen] == variable]])
        for variable in np.unique(variables[chosen]).tolist()
    }
    return punch(data, picks, {"mechanism": "share of a value", "share": share})
