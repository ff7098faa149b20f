"""What the parts of a picture look like, in a file and in a figure alike."""

from typing import NamedTuple

__all__ = ["INK", "LOOKS", "PAPER", "SOFT", "TINT", "Look"]

INK, SOFT, TINT, PAPER = "#1d2433", "#5b6475", "#f4f6fa", "#ffffff"


class Look(NamedTuple):
    """Colour and dashes of a link."""

    colour: str
    dashes: tuple[int, ...] = ()


LOOKS = {
    "fixed": Look(INK),
    "either": Look(SOFT, (5, 4)),
    "both": Look(SOFT),
    # Told apart by dashes, too, for readers who do not see the colours.
    "added": Look("#0072b2"),
    "lost": Look("#d55e00", (2, 3)),
    "reversed": Look("#9b4a7a", (8, 3)),
}
"""The kinds of links."""
