"""Networks: a graph with a table of probabilities per variable."""

from bayesmend.network.network import Network

__all__ = ["Network"]
