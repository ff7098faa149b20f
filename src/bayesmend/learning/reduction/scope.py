"""Which completions of a table a search considers, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError
from bayesmend.learning.reduction.variants import Scope

__all__ = ["checked_completion", "scope_of"]


def scope_of(
    data: IncompleteData,
    completion: IncompleteData | NDArray[np.uint8] | None,
    locality: int | None,
) -> tuple[Scope, IncompleteData | None]:
    """Find the cells to decide, and check the completion to stay near to.

    A missing cell of a variable with a single state has nothing to decide.
    """
    if (completion is None) != (locality is None):
        given, lacking = ("locality", "completion")
        if locality is None:
            given, lacking = lacking, given
        msg = f"{given} was given without {lacking}. Pass both, or neither."
        raise ParameterError(msg)
    card = data.card
    open_cells = data.missing_mask & (card > 1)
    rows = tuple(np.flatnonzero(column) for column in open_cells.T)
    if completion is None or locality is None:
        return Scope(card, rows), None
    check_integer("locality", locality)
    near = checked_completion(data, completion)
    base = tuple(near.codes[mine, v] for v, mine in enumerate(rows))
    n_cells = sum(len(mine) for mine in rows)
    return Scope(card, rows, base, min(int(locality), n_cells)), near


def checked_completion(
    data: IncompleteData, completion: IncompleteData | NDArray[np.uint8]
) -> IncompleteData:
    """Give a completion of `data` as a table, or say where it is none."""
    if not isinstance(completion, IncompleteData):
        completion = data.with_codes(completion)
    if (completion.names, completion.states) != (data.names, data.states):
        msg = "the completion must have the variables and states of the data."
        raise DataError(msg)
    if completion.n_rows != data.n_rows:
        msg = (
            f"the completion must have the {data.n_rows} rows of the data. "
            f"Got {completion.n_rows} instead."
        )
        raise DataError(msg)
    wrong = (completion.codes != data.codes) & ~data.missing_mask
    wrong |= completion.codes == MISSING
    if wrong.any():
        row, variable = (int(x) for x in np.argwhere(wrong)[0])
        code = completion.codes[row, variable]
        problem = (
            "is still missing"
            if code == MISSING
            else f"is {data.states[variable][code]!r} where the data have "
            f"{data.states[variable][data.codes[row, variable]]!r}"
        )
        msg = f"in the completion, {data.names[variable]!r} in row {row} {problem}."
        raise DataError(msg)
    return completion
