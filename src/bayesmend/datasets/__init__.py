"""Networks that come with the package.

See the README in this folder for where the numbers were published.
"""

from importlib.resources import files

from bayesmend._entrance import entrance
from bayesmend.errors import ParameterError
from bayesmend.formats import bif
from bayesmend.network.network import Network

__all__ = ["available_networks", "load_network"]


def available_networks() -> tuple[str, ...]:
    """Return the names of the networks that :func:`load_network` knows.

    Examples
    --------
    >>> available_networks()
    ('asia', 'lucas')
    """
    folder = files("bayesmend.datasets")
    found = (file.name for file in folder.iterdir())
    return tuple(sorted(n.removesuffix(".bif") for n in found if n.endswith(".bif")))


@entrance
def load_network(name: str) -> Network:
    """Return a network that comes with the package.

    Parameters
    ----------
    name : {"asia", "lucas"}
        ASIA, chest clinic, 8 variables (Lauritzen and Spiegelhalter 1988), or LUCAS,
        lung cancer, 12 variables (Causality Workbench 2008).

    Returns
    -------
    Network
        The network.

    Examples
    --------
    >>> load_network("asia")
    Network(8 variables, 8 arcs, 18 parameters)
    """
    known = available_networks()
    if not isinstance(name, str) or name not in known:
        msg = f"no network named {name!r}. Available: {', '.join(known)}."
        raise ParameterError(msg)
    file = files("bayesmend.datasets").joinpath(f"{name}.bif")
    return bif.parse(file.read_text(encoding="utf-8"), f"{name}.bif")
