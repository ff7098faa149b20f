"""Networks as files.

========================  ====================================  ==============
suffix                    format                                read and write
========================  ====================================  ==============
``.bif``                  BIF, the interchange format           both
``.xmlbif``, ``.xml``     XMLBIF, the same in XML               both
``.json``                 our own, keeps the types of labels    both
``.graphml``              GraphML with states and tables        both
``.dot``, ``.gv``         DOT, the graph alone, for drawing     write
========================  ====================================  ==============

Any of them may end in ``.gz``. `read_jkl` and `write_jkl` exchange candidate parent
sets, and `convert` makes objects of other libraries.
"""

import os
from importlib import import_module

from bayesmend._entrance import entrance
from bayesmend._files import PathLike, file_suffix, write_text
from bayesmend.errors import ParameterError
from bayesmend.formats import convert
from bayesmend.formats.jkl import read_jkl, write_jkl
from bayesmend.formats.text import read_source
from bayesmend.network.network import Network, check_network

__all__ = ["convert", "read_jkl", "read_network", "write_jkl", "write_network"]

MODULES = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".xml": "xmlbif",
    ".json": "json",
    ".graphml": "graphml",
    ".dot": "dot",
    ".gv": "dot",
}


@entrance
def read_network(path: PathLike) -> Network:
    """Read a network; the suffix of the file says in which format.

    Parameters
    ----------
    path : str or path
        A file ending in ``.bif``, ``.xmlbif``, ``.xml``, ``.json`` or ``.graphml``,
        or in one of these and ``.gz``.

    Returns
    -------
    Network
        Each table row divided by its sum; a ``ProbabilityWarning`` tells when that
        changed a probability by more than rounding (1e-4).

    Raises
    ------
    FormatError
        With line and column, when the file is not a valid network.

    Examples
    --------
    >>> read_network("net.doc")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: no format for 'net.doc'. Use a name ending in ...
    """
    module = _module_of(path)
    if module == "dot":
        msg = (
            f"{os.fspath(path)!r} cannot be read as a network: DOT holds the graph "
            "alone. Write the network as BIF, XMLBIF, JSON or GraphML instead."
        )
        raise ParameterError(msg)
    source = read_source(path)
    network = import_module(f"bayesmend.formats.{module}").parse(
        source.text, source.name
    )
    assert isinstance(network, Network)
    return network


@entrance
def write_network(network: Network, path: PathLike) -> None:
    """Write a network; the suffix of the file says in which format.

    What BIF, XMLBIF, JSON and GraphML write reads back equal, except that BIF and
    XMLBIF turn labels into text. All four keep how the table learned from was read
    (`Network.schema`), so that new rows are read the same way; BIF and XMLBIF in a
    property that other readers ignore. A file of that name is replaced as a whole or
    not at all.

    Parameters
    ----------
    {network}
    path : str or path
        As for :func:`read_network`, or ending in ``.dot`` or ``.gv``.

    Examples
    --------
    >>> import tempfile
    >>> from bayesmend import load_network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(load_network("asia"), f"{folder}/asia.xmlbif.gz")
    ...     read_network(f"{folder}/asia.xmlbif.gz") == load_network("asia")
    True
    """
    check_network(network)
    module = _module_of(path)
    text = import_module(f"bayesmend.formats.{module}").render(network)
    write_text(path, text)


def _module_of(path: PathLike) -> str:
    suffix = file_suffix(path)
    if suffix not in MODULES:
        known = ", ".join(MODULES)
        msg = (
            f"no format for {os.fspath(path)!r}. Use a name ending in {known}, "
            "or in one of these and .gz."
        )
        raise ParameterError(msg)
    return MODULES[suffix]
