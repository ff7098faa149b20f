"""Augmentation: the best structure and the best completion at once."""

from bayesmend.learning.augment.exact import learn_exact
from bayesmend.learning.augment.local import learn_local
from bayesmend.learning.augment.result import (
    AugmentResult,
    CellRow,
    MendedCells,
    TraceEntry,
)

__all__ = [
    "AugmentResult",
    "CellRow",
    "MendedCells",
    "TraceEntry",
    "learn_exact",
    "learn_local",
]
