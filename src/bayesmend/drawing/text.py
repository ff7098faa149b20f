"""Text as HTML: nothing that comes from data can act as markup."""

import html
import unicodedata

__all__ = ["cut", "escape", "printable", "text_width"]


def printable(value: object) -> str:
    r"""Return a value as text; what acts on text instead becomes a replacement sign.

    That is control characters, and those that turn the direction of what follows.

    Examples
    --------
    >>> printable("a\tb") == "a\ufffdb"
    True
    """
    return "".join("\ufffd" if _is_acting(c) else c for c in str(value))


def _is_acting(c: str) -> bool:
    turns = "\u202a" <= c <= "\u202e" or "\u2066" <= c <= "\u2069"
    return turns or unicodedata.category(c) in ("Cc", "Cs")


def escape(value: object) -> str:
    """Return a value as HTML, `printable` and nothing but text.

    Examples
    --------
    >>> escape('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    return html.escape(printable(value))


def cut(value: object, length: int) -> str:
    """Shorten a text to so many characters, the last then being an ellipsis.

    Examples
    --------
    >>> cut("temperature", 6)
    'tempe…'
    """
    text = str(value)
    return text if len(text) <= length else text[: length - 1] + "…"


def text_width(text: str) -> float:
    """Estimate the width of a text, in units of the font size.

    Examples
    --------
    >>> text_width("lung") < text_width("LUNG") < text_width("肺肺肺肺")
    True
    """
    return sum(map(_glyph, text))


def _glyph(c: str) -> float:
    if unicodedata.east_asian_width(c) in ("W", "F"):
        return 1.05
    if c in "ijlt.,:;|!'()[] ":
        return 0.36
    return 0.72 if c.isupper() or c in "mw@%" else 0.58
