"""Networks as files.

========================  ====================================  ==============
suffix                    format                                read and write
========================  ====================================  ==============
``.bif``                  BIF, the interchange format           both
``.xmlbif``, ``.xml``     XMLBIF, the same in XML               both
``.json``                 our own, keeps the types of labels    both
``.graphml``              GraphML with states and tables        both
``.dot``, ``.gv``         DOT, the graph alone, for drawing     write
``.svg``                  a picture of the graph                write
``.png``, ``.pdf``        the same, with the extra ``plot``     write
========================  ====================================  ==============

Any of them may end in ``.gz``. `write_ensemble` and `read_ensemble` keep several
networks with their weights in one JSON file. `read_jkl` and `write_jkl` exchange
candidate parent sets, and `convert` makes objects of other libraries.
"""

import json as _json
import os
from importlib import import_module

from bayesmend._entrance import entrance
from bayesmend._files import PathLike, file_suffix, write_text
from bayesmend.errors import ParameterError
from bayesmend.formats import convert
from bayesmend.formats import ensemble as ensemble_format
from bayesmend.formats.jkl import read_jkl, write_jkl
from bayesmend.formats.text import read_source
from bayesmend.network.mixture import Mixture, Model, ModelLike, model_of
from bayesmend.network.network import Network, check_network

__all__ = [
    "convert",
    "read_ensemble",
    "read_jkl",
    "read_model",
    "read_network",
    "write_ensemble",
    "write_jkl",
    "write_network",
]

MODULES = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".xml": "xmlbif",
    ".json": "json",
    ".graphml": "graphml",
    ".dot": "dot",
    ".gv": "dot",
    ".svg": "picture",
    ".png": "picture",
    ".pdf": "picture",
}
_UNREADABLE = {"dot": "DOT holds the graph alone", "picture": "it is a picture"}


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
    if module in _UNREADABLE:
        msg = (
            f"{os.fspath(path)!r} cannot be read as a network: {_UNREADABLE[module]}. "
            "Write the network as BIF, XMLBIF, JSON or GraphML instead."
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
        As for :func:`read_network`, or ending in ``.dot`` or ``.gv``, or in ``.svg``,
        ``.png`` or ``.pdf`` for a picture, parents above children. An arc that points
        the other way in some equivalent graph is dashed.

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
    module = import_module(f"bayesmend.formats.{_module_of(path)}")
    if hasattr(module, "render"):
        write_text(path, module.render(network))
    else:
        module.write(network, path)


@entrance
def write_ensemble(ensemble: ModelLike, path: PathLike) -> None:
    """Write the members of an ensemble and their weights to one file.

    Parameters
    ----------
    ensemble : Mixture or Ensemble
        What is to be kept: of an `Ensemble` its `mixture`.
    path : str or path
        A file ending in ``.json`` or ``.json.gz``; one of that name is replaced as a
        whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> from bayesmend import load_network
    >>> mixture = Mixture((load_network("asia"),) * 2)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_ensemble(mixture, f"{folder}/asia.json.gz")
    ...     read_ensemble(f"{folder}/asia.json.gz") == mixture
    True
    """
    found = model_of(ensemble)
    if not isinstance(found, Mixture):
        msg = (
            "ensemble must be an Ensemble or a Mixture. Got a Network instead: write "
            "it with write_network."
        )
        raise ParameterError(msg)
    _require_json(path)
    write_text(path, ensemble_format.render(found))


@entrance
def read_ensemble(path: PathLike) -> Mixture:
    """Read the members of an ensemble and their weights.

    Parameters
    ----------
    path : str or path
        A file that `write_ensemble` has written.

    Returns
    -------
    Mixture
        `impute`, `query`, `marginals`, `log_evidence` and `draw_completions` take it
        in place of a network.

    Raises
    ------
    FormatError
        With line and column, when the file is no valid ensemble.
    """
    _require_json(path)
    return ensemble_format.parse(read_source(path))


@entrance
def read_model(path: PathLike) -> Model:
    """Read a network, or an ensemble where the file says that it is one.

    Parameters
    ----------
    path : str or path
        As for :func:`read_network` or :func:`read_ensemble`.

    Returns
    -------
    Network or Mixture

    Examples
    --------
    >>> import tempfile
    >>> from bayesmend import load_network
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_network(load_network("asia"), f"{folder}/asia.json")
    ...     read_model(f"{folder}/asia.json") == load_network("asia")
    True
    """
    if _module_of(path) != "json":
        return read_network(path)
    source = read_source(path)
    try:
        document = _json.loads(source.text)
    except (RecursionError, ValueError):
        document = None  # which reading it as a network tells better
    if isinstance(document, dict) and document.get("format") == ensemble_format.FORMAT:
        return ensemble_format.parse(source)
    return read_network(path)


def _require_json(path: PathLike) -> None:
    if file_suffix(path) != ".json":
        msg = (
            f"an ensemble is kept as JSON. Use a name ending in .json or .json.gz "
            f"instead of {os.fspath(path)!r}."
        )
        raise ParameterError(msg)


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
