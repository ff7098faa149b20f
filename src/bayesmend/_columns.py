"""Plain text in columns, for a terminal."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

from bayesmend._visible import visible

__all__ = ["in_columns", "show_probability"]


def in_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out rows of cells as lines, each column as wide as its widest cell.

    Examples
    --------
    >>> in_columns([("lung", "no"), ("", "yes")])
    ['lung  no', '      yes']
    """
    rows = [[visible(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def show_probability(p: float, log: float = -math.inf) -> str:
    """Show a probability to six digits, a tiny one to three that count.

    With its logarithm also one that is below all numbers.

    Examples
    --------
    >>> show_probability(0.25), show_probability(1.25e-7)
    ('0.250000', '1.25e-07')
    >>> show_probability(0.0, -2000.0)
    '2.58e-869'
    """
    if p < sys.float_info.min and math.isfinite(log):
        power = math.floor(log / math.log(10))
        digits = math.exp(log - power * math.log(10))
        return f"{digits:.2f}e{power}" if digits < 9.995 else f"1.00e{power + 1}"
    return f"{p:.6f}" if p == 0 or p >= 1e-4 else f"{p:.3g}"
