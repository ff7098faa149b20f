"""Networks: a graph with a table of probabilities per variable."""

from bayesmend.network.network import Network
from bayesmend.network.tabulated import Cpt

__all__ = ["Cpt", "Network"]
