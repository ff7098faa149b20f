"""Warnings that name the line of whoever called the package."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from bayesmend._progress import make_way
from bayesmend._visible import tidy
from bayesmend.errors import BayesmendWarning

__all__ = ["warn"]

_PACKAGE = str(Path(__file__).parent)


def warn(message: str, category: type[BayesmendWarning]) -> None:
    """Issue a warning at the first line, going outwards, that is not the package's."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    make_way()
    warnings.warn(tidy(message), category, stacklevel=level)
