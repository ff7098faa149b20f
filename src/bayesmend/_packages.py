"""Optional packages, imported where they are needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bayesmend.errors import MissingDependencyError

__all__ = ["require"]


def require(module: str, *, extra: str | None = None) -> Any:
    """Import a module of an optional package, or say how to install that.

    With `extra`, the one of our own that brings it.

    Examples
    --------
    >>> require("no_such_package.part")
    Traceback (most recent call last):
    ...
    bayesmend.errors.MissingDependencyError: no_such_package is not installed. ...
    """
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        wanted = package if extra is None else f"'bayesmend[{extra}]'"
        msg = f"{package} is not installed. Install it with: pip install {wanted}"
        raise MissingDependencyError(msg) from None
