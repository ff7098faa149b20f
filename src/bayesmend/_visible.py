"""Text that is safe and short enough to show, whatever labels and files hold."""

from __future__ import annotations

import re

__all__ = ["tidy", "visible"]

# Control characters but tab and newline, and those that turn the direction of text:
# a terminal would obey them. Halves of characters have no encoding at all.
_OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_LONG_WORD = re.compile(r"\S{301,}")
_LONGEST = 4000


def visible(text: str) -> str:
    r"""Spell out the characters that a terminal would obey instead of showing.

    Examples
    --------
    >>> print(visible("red\x1b[31m"))
    red\x1b[31m
    """
    return _OBEYED.sub(lambda found: ascii(found[0])[1:-1], text)


def tidy(message: str) -> str:
    """Make a message visible, and shorten what it quotes.

    Examples
    --------
    >>> len(tidy("no state " + "x" * 10**6))
    192
    """
    text = _shorten(message, _LONGEST) if len(message) > _LONGEST else message
    return visible(_LONG_WORD.sub(lambda found: _shorten(found[0], 183), text))


def _shorten(text: str, length: int) -> str:
    end = (length - 3) // 3
    return f"{text[: length - 3 - end]}...{text[-end:]}"
