"""Completions that users bring along, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesmend.data.alike import check_alike, read_alike
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError

__all__ = ["checked_completion"]


def checked_completion(data: IncompleteData, completion: Any) -> IncompleteData:
    """Return a completion of `data` as a table, or say where it is none.

    Examples
    --------
    >>> data = IncompleteData.from_table({"a": ["x", None, "y"]})
    >>> checked_completion(data, {"a": ["x", "y", "y"]}).codes.ravel().tolist()
    [0, 1, 1]
    """
    table = _read(data, completion)
    check_alike(data, table, "completion")
    wrong = (table.codes != data.codes) & ~data.missing_mask
    wrong |= table.codes == MISSING
    if wrong.any():
        row, variable = (int(x) for x in np.argwhere(wrong)[0])
        code = table.codes[row, variable]
        problem = (
            "is still missing"
            if code == MISSING
            else f"is {data.states[variable][code]!r} where the data have "
            f"{data.states[variable][data.codes[row, variable]]!r}"
        )
        msg = f"in the completion, {data.names[variable]!r} in row {row} {problem}."
        raise DataError(msg)
    return table


def _read(data: IncompleteData, completion: Any) -> IncompleteData:
    """Read a table in the codes of `data`; an array of bytes holds codes already."""
    if isinstance(completion, IncompleteData):
        return completion
    is_array = isinstance(completion, np.ndarray)
    if is_array and completion.dtype == np.uint8:
        return data.with_codes(completion)
    return read_alike(data, completion, names=data.names if is_array else None)
