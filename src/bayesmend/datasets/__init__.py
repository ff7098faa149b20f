"""Networks and tables that come with the package.

See the README in this folder for where the networks were published, and how the tables
were made.
"""

import csv
from importlib.resources import files
from pathlib import Path

from bayesmend._entrance import entrance
from bayesmend.errors import ParameterError
from bayesmend.formats import bif
from bayesmend.network.network import Network

__all__ = [
    "available_networks",
    "available_tables",
    "load_network",
    "load_truth",
    "table_path",
]

_TRUTH = "-truth.csv"


def available_networks() -> tuple[str, ...]:
    """Return the names of the networks that :func:`load_network` knows.

    Examples
    --------
    >>> available_networks()
    ('asia', 'lucas')
    """
    return _names_with(".bif")


def available_tables() -> tuple[str, ...]:
    """Return the names of the tables that :func:`table_path` knows.

    Examples
    --------
    >>> available_tables()
    ('patients',)
    """
    return _names_with(_TRUTH)


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
    _check_name("network", name, available_networks())
    file = files("bayesmend.datasets").joinpath(f"{name}.bif")
    return bif.parse(file.read_text(encoding="utf-8"), f"{name}.bif")


@entrance
def table_path(name: str = "patients") -> Path:
    """Return where a table with empty fields is that comes with the package, as CSV.

    Parameters
    ----------
    name : {"patients"}
        1,000 patients of an invented registry: numbers, labels, an identifier, dates
        and remarks. Smokers left a question open more often than others, and one of
        three visits did not measure cholesterol.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> with table_path("patients").open() as file:
    ...     next(file)[:40]
    'patient,visit,date,age,sex,education,smo'
    """
    _check_name("table", name, available_tables())
    return Path(str(files("bayesmend.datasets").joinpath(f"{name}.csv")))


@entrance
def load_truth(name: str = "patients") -> dict[str, dict[int, str]]:
    """Return what the empty fields of a table that comes with the package would hold.

    Parameters
    ----------
    name : {"patients"}
        The table.

    Returns
    -------
    dict of str to dict of int to str
        For each column with such fields, the rows (from 0) and what they would hold, as
        text.

    Examples
    --------
    >>> truth = load_truth("patients")
    >>> sum(map(len, truth.values()))
    835
    """
    _check_name("table", name, available_tables())
    found: dict[str, dict[int, str]] = {}
    file = files("bayesmend.datasets").joinpath(name + _TRUTH)
    for row, variable, value in [*csv.reader(file.read_text("utf-8").splitlines())][1:]:
        found.setdefault(variable, {})[int(row)] = value
    return found


def _names_with(ending: str) -> tuple[str, ...]:
    found = (file.name for file in files("bayesmend.datasets").iterdir())
    return tuple(sorted(n.removesuffix(ending) for n in found if n.endswith(ending)))


def _check_name(kind: str, name: object, known: tuple[str, ...]) -> None:
    if not isinstance(name, str) or name not in known:
        msg = f"no {kind} named {name!r}. Available: {', '.join(known)}."
        raise ParameterError(msg)
