"""The optional packages of the experiments, imported where they are used."""

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from bayesmend.errors import MissingDependencyError

__all__ = ["need", "need_all"]


def need(module: str) -> Any:
    """Import a module of another package, or say how to install it.

    Parameters
    ----------
    module : str
        Full name of the module.

    Raises
    ------
    MissingDependencyError
        When it cannot be imported.

    Examples
    --------
    >>> need("json").loads("[1]")
    [1]
    >>> need("no_such_package.part")
    Traceback (most recent call last):
    ...
    bayesmend.errors.MissingDependencyError: this experiment needs no_such_package. ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependencyError(_missing([module])) from error


def need_all(modules: Iterable[str]) -> None:
    """Raise MissingDependencyError, naming all modules that cannot be imported.

    Examples
    --------
    >>> need_all(["json", "no_such_package", "nor_this.part"])
    Traceback (most recent call last):
    ...
    bayesmend.errors.MissingDependencyError: this experiment needs no_such_package, ...
    """
    absent = []
    for module in modules:
        try:
            import_module(module)
        except ImportError:
            absent.append(module)
    if absent:
        raise MissingDependencyError(_missing(absent))


def _missing(modules: Iterable[str]) -> str:
    packages = dict.fromkeys(module.partition(".")[0] for module in modules)
    return (
        f"this experiment needs {', '.join(packages)}. Install what the experiments "
        "need: pip install --group experiments."
    )
