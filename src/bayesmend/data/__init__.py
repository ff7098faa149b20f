"""Tables: read from any source, coded as small integers, given back as they came."""

from bayesmend.data.cells import CompletedCells
from bayesmend.data.discretize import Discretization, fit_discretization
from bayesmend.data.mended import MendedSummary, compare_mended
from bayesmend.data.patterns import Patterns
from bayesmend.data.states import MAX_STATES, MISSING, MISSING_MARKERS, Label
from bayesmend.data.summary import Summary
from bayesmend.data.table import IncompleteData

__all__ = [
    "MAX_STATES",
    "MISSING",
    "MISSING_MARKERS",
    "CompletedCells",
    "Discretization",
    "IncompleteData",
    "Label",
    "MendedSummary",
    "Patterns",
    "Summary",
    "compare_mended",
    "fit_discretization",
]
