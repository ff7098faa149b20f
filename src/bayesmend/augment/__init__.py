"""Learning from incomplete data: the best structure and the best completion at once."""

from bayesmend.augment.exact import learn_exact
from bayesmend.augment.local import learn_local
from bayesmend.augment.reduction import Decoded, Reduction, reduce_to_complete
from bayesmend.augment.result import AugmentResult, CellRow, MendedCells, TraceEntry
from bayesmend.augment.solve import ReductionResult, solve_reduction

__all__ = [
    "AugmentResult",
    "CellRow",
    "Decoded",
    "MendedCells",
    "Reduction",
    "ReductionResult",
    "TraceEntry",
    "learn_exact",
    "learn_local",
    "reduce_to_complete",
    "solve_reduction",
]
