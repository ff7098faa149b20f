"""Completions that users bring along, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError

__all__ = ["checked_completion"]


def checked_completion(
    data: IncompleteData, completion: IncompleteData | NDArray[np.uint8]
) -> IncompleteData:
    """Return a completion of `data` as a table, or say where it is none."""
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
