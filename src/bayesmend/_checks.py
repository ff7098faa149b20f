"""What arguments must be: one check and one wording each."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["some"]


def some(names: Sequence[str]) -> str:
    """Give the first few names, for a message.

    Examples
    --------
    >>> some(["a", "b"])
    'a, b'
    >>> some([f"x{i}" for i in range(9)])
    'x0, x1, x2, x3, x4, ... (9 in all)'
    """
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown}, ... ({len(names)} in all)"
