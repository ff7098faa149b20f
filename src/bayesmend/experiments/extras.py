"""The optional packages of the experiments, imported where they are used."""

from importlib import import_module
from typing import Any

from bayesmend.errors import MissingDependencyError

__all__ = ["need"]


def need(module: str) -> Any:
    """Import a module of the extra ``experiments``, or say how to install it.

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
        package = module.partition(".")[0]
        message = (
            f"this experiment needs {package}. Install what the experiments need: "
            'pip install "bayesmend[experiments]".'
        )
        raise MissingDependencyError(message) from error
