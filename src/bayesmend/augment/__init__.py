"""Learning from incomplete data: the best structure and the best completion at once."""

from bayesmend.augment.reduction import Decoded, Reduction, reduce_to_complete
from bayesmend.augment.solve import ReductionResult, solve_reduction

__all__ = [
    "Decoded",
    "Reduction",
    "ReductionResult",
    "reduce_to_complete",
    "solve_reduction",
]
