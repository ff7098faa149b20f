"""How large a file may become when it is read: stated, and settable from outside.

A few bytes can stand for many gigabytes. Environment variables set these limits, since
they are for all readers, of Python and of the command line, alike.
"""

from __future__ import annotations

import os

from bayesmend.errors import ParameterError

__all__ = ["max_entries", "max_unpacked"]


def max_unpacked() -> int:
    """Return the most bytes that a packed file may unpack to."""
    return _limit("BAYESMEND_MAX_UNPACKED", 2**30)


def max_entries() -> int:
    """Return the most probabilities that all tables of a network file may hold."""
    return _limit("BAYESMEND_MAX_ENTRIES", 10**7)


def _limit(name: str, usual: int) -> int:
    text = os.environ.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        msg = f"the environment variable {name} must be an integer > 0. Got {text!r}."
        raise ParameterError(msg)
    return int(text)
