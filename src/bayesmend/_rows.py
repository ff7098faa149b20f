"""Rows of unequal length, stored end to end.

``offsets[i]`` to ``offsets[i + 1]`` is row ``i``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["offsets_of", "owners_of"]


def offsets_of(sizes: Any) -> NDArray[np.int64]:
    """Return the offsets of rows of these sizes.

    Examples
    --------
    >>> offsets_of([2, 0, 1]).tolist()
    [0, 2, 2, 3]
    """
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def owners_of(offsets: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row of every item.

    Examples
    --------
    >>> owners_of(offsets_of([2, 0, 1])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
