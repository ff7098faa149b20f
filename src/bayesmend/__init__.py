"""Learn discrete Bayesian networks from categorical data with missing values."""

from bayesmend.columns import MAX_STATES, MISSING, MISSING_MARKERS, Label
from bayesmend.data import IncompleteData

__version__ = "0.1.0"
__all__ = [
    "MAX_STATES",
    "MISSING",
    "MISSING_MARKERS",
    "IncompleteData",
    "Label",
    "__version__",
]
