"""Text as HTML: nothing that comes from data can act as markup."""

import html
import unicodedata

__all__ = ["cut", "escape", "printable", "text_width"]


def printable(value: object) -> str:
    r"""Return a value as text, control characters as a replacement sign.

    Examples
    --------
    >>> printable("a\tb") == "a\ufffdb"
    True
    """
    return "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") else c for c in str(value)
    )


def escape(value: object) -> str:
    """Return a value as HTML, control characters as a replacement sign.

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
