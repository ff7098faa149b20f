"""Learn discrete Bayesian networks from categorical data with missing values."""

from bayesmend.columns import MAX_STATES, MISSING, MISSING_MARKERS, Label
from bayesmend.cpdag import Cpdag
from bayesmend.dag import Dag
from bayesmend.data import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.distance import (
    SkeletonScores,
    skeleton_scores,
    structural_hamming_distance,
)
from bayesmend.formats import read_network, write_network
from bayesmend.network import Network

__version__ = "0.1.0"
__all__ = [
    "MAX_STATES",
    "MISSING",
    "MISSING_MARKERS",
    "Cpdag",
    "Dag",
    "IncompleteData",
    "Label",
    "Network",
    "SkeletonScores",
    "__version__",
    "available_networks",
    "load_network",
    "read_network",
    "skeleton_scores",
    "structural_hamming_distance",
    "write_network",
]
