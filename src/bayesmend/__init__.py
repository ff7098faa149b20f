"""Learn discrete Bayesian networks from categorical data with missing values."""

from bayesmend.columns import MAX_STATES, MISSING, MISSING_MARKERS, Label
from bayesmend.cpdag import Cpdag
from bayesmend.dag import Dag
from bayesmend.data import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.discretize import Discretization, fit_discretization
from bayesmend.distance import (
    SkeletonScores,
    skeleton_scores,
    structural_hamming_distance,
)
from bayesmend.formats import read_network, write_network
from bayesmend.hidden import Hidden, Shortfall
from bayesmend.missing import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)
from bayesmend.network import Network
from bayesmend.patterns import Patterns
from bayesmend.summary import Summary

__version__ = "0.1.0"
__all__ = [
    "MAX_STATES",
    "MISSING",
    "MISSING_MARKERS",
    "Cpdag",
    "Dag",
    "Discretization",
    "Hidden",
    "IncompleteData",
    "Label",
    "Network",
    "Patterns",
    "Shortfall",
    "SkeletonScores",
    "Summary",
    "__version__",
    "available_networks",
    "fit_discretization",
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "hide_value_of",
    "hide_value_per_variable",
    "load_network",
    "read_network",
    "skeleton_scores",
    "structural_hamming_distance",
    "write_network",
]
