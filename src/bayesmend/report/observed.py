"""What identifies the table of a result, as it was before it was mended."""

import hashlib

import numpy as np

from bayesmend.data.table import IncompleteData
from bayesmend.view.packed import as_json

__all__ = ["digest_of"]


def digest_of(data: IncompleteData) -> str:
    """Return a number that changes with any name, state, cell or weight of a table.

    It is the SHA-256 of names and labels as JSON, and of the codes, row by row.

    Examples
    --------
    >>> import bayesmend as bm
    >>> table = bm.IncompleteData.from_table({"a": ["x", None, "y"]})
    >>> digest_of(table)[:8] == digest_of(table.pick(np.array([0, 1, 2])))[:8]
    True
    >>> digest_of(table) == digest_of(table.pick(np.array([2, 1, 0])))
    False
    """
    labels = [[str(label) for label in states] for states in data.states]
    digest = hashlib.sha256(
        as_json([list(data.names), labels]).encode("utf-8", "replace")
    )
    digest.update(np.ascontiguousarray(data.codes).tobytes())
    if data.weights is not None:
        digest.update(np.ascontiguousarray(data.weights, dtype="<f8").tobytes())
    return digest.hexdigest()
