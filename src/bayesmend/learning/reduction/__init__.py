"""The paper's reduction: an incomplete table as a problem of complete data."""

from bayesmend.learning.reduction.reduction import (
    Decoded,
    Reduction,
    reduce_to_complete,
)
from bayesmend.learning.reduction.solve import ReductionResult, solve_reduction

__all__ = [
    "Decoded",
    "Reduction",
    "ReductionResult",
    "reduce_to_complete",
    "solve_reduction",
]
