"""Which examples of a page are ours: the blocks of other packages say whose they are.

A block that opens with ```` ```python ```` is ours; ```` ```python pgmpy ```` and
```` ```r ```` belong to another package.
"""

from __future__ import annotations

import re

__all__ = ["FENCED", "only_ours"]

FENCED = re.compile(
    r"^```(?P<language>[^\n`]+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


def only_ours(text: str) -> str:
    """Empty the blocks of other packages; lines keep their numbers."""

    def emptied(found: re.Match[str]) -> str:
        is_theirs = found["language"] == "r" or found["language"].startswith("python ")
        return "\n" * found[0].count("\n") if is_theirs else found[0]

    return FENCED.sub(emptied, text)
