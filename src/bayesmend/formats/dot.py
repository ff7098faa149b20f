"""DOT, the language of Graphviz: the graph alone, for drawing."""

from bayesmend.network.network import Network

__all__ = ["render"]


def render(network: Network) -> str:
    """Write the graph of a network in DOT.

    Examples
    --------
    >>> from bayesmend import load_network
    >>> '"smoke" -> "lung";' in render(load_network("asia"))
    True
    """
    return network.dag.to_dot() + "\n"
