"""Ways to hide cells that only the experiments need, and all by name for sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice
from bayesmend.data.states import find_state
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.hiding.mechanisms import hide_mar, hide_mcar, hide_mnar
from bayesmend.hiding.record import Hidden, observed_rows, punch
from bayesmend.seed import as_generator

__all__ = [
    "MECHANISMS",
    "Mechanism",
    "hide",
    "hide_any_per_variable",
    "hide_one_value",
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


Mechanism = Literal["mcar", "mar", "mnar-weak", "mnar", "one-value"]
MECHANISMS: tuple[Mechanism, ...] = get_args(Mechanism)

MNAR_STRENGTHS = {"mnar-weak": 1.0, "mnar": 2.0}
"""Standard deviation of the log-odds of being hidden between states of a variable."""


def hide(
    data: IncompleteData,
    mechanism: str,
    rate: float,
    *,
    generator: np.random.Generator,
) -> Hidden:
    """Hide about a share of the cells by a mechanism.

    Parameters
    ----------
    data : IncompleteData
        The table.
    mechanism : {"mcar", "mar", "mnar-weak", "mnar", "one-value"}
        ``mcar``: each cell alike. ``mar``: a fifth of the variables, drawn at random,
        stay observed and decide which cells of the others are hidden. ``mnar``: cells
        are hidden for the state they hold, with log-odds of standard deviation 2
        between states, or 1 if ``mnar-weak``. ``one-value``: see `hide_one_value`.
    rate : float
        Share of hidden cells (``one-value``: among the cells that can be hidden).
    generator : numpy.random.Generator
        Source of randomness.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hide(truth, "mar", 0.1, generator=np.random.default_rng(1)).request["rate"]
    0.1
    """
    check_choice("mechanism", mechanism, MECHANISMS)
    if mechanism == "mcar":
        return hide_mcar(data, rate, seed=generator)
    if mechanism == "mar":
        size = max(1, data.n_vars // 5)
        causes = np.sort(generator.choice(data.n_vars, size, replace=False))
        names = [data.names[cause] for cause in causes]
        return hide_mar(data, rate, depends_on=names, seed=generator)
    if mechanism in MNAR_STRENGTHS:
        strength = MNAR_STRENGTHS[mechanism]
        return hide_mnar(data, rate, strength=strength, seed=generator)
    return hide_one_value(data, rate, generator=generator)


def hide_one_value(
    data: IncompleteData, rate: float, *, generator: np.random.Generator
) -> Hidden:
    """Hide cells of one state of each variable, as the experiments of the paper do.

    Parameters
    ----------
    data : IncompleteData
        The table.
    rate : float
        Share of the cells with that state that are hidden. The others stay, so that no
        state vanishes from the table.
    generator : numpy.random.Generator
        Draws the state, among those that occur, and the cells.

    Examples
    --------
    >>> from bayesmend.datasets import load_network
    >>> truth = load_network("asia").sample(1000, seed=1)
    >>> hidden = hide_one_value(truth, 0.2, generator=np.random.default_rng(1))
    >>> all(
    ...     len(set(hidden.true_codes[hidden.variables == v].tolist())) == 1
    ...     for v in range(8)
    ... )
    True
    """
    picks = {}
    for variable, column in enumerate(data.codes.T):
        occurring = np.unique(column[~data.missing_mask[:, variable]])
        rows = np.empty(0, dtype=np.intp)
        if occurring.size:
            rows = np.flatnonzero(column == generator.choice(occurring))
        size = round(rate * rows.size)
        picks[variable] = np.sort(generator.choice(rows, size, replace=False))
    return punch(data, picks, {"mechanism": "one value", "rate": rate})
