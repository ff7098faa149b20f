"""Row weights of a bootstrap sample."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.table import IncompleteData

__all__ = ["bootstrap_weights"]


def bootstrap_weights(
    data: IncompleteData, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Weigh each row by how often it is drawn, of as many draws as there are rows.

    All weights sum to what they did; a row of weight 2 counts as two rows.

    Examples
    --------
    >>> data = IncompleteData.from_table({"a": ["x", "y", "z"]})
    >>> bootstrap_weights(data, np.random.default_rng(1)).tolist()
    [1.0, 2.0, 0.0]
    """
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    total = float(weights.sum())
    if total <= 0:
        return weights.astype(np.float64)
    n_drawn = max(round(total), 1)
    counts = generator.multinomial(n_drawn, weights / total).astype(np.float64)
    return counts * (total / n_drawn)
