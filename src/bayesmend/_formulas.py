"""Text of CSV files that spreadsheets would take for formulas."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["as_field", "without_formulas"]

_is_safe: ContextVar[bool] = ContextVar("is_safe", default=False)
_NUMBER = re.compile(r"[+-](\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?", re.ASCII)


@contextmanager
def without_formulas(is_safe: bool = True) -> Iterator[None]:
    """Let `as_field` put an apostrophe before what a spreadsheet would compute."""
    token = _is_safe.set(is_safe)
    try:
        yield
    finally:
        _is_safe.reset(token)


def as_field(text: str) -> str:
    """Return a field of a CSV file; outside of `without_formulas`, just as it is.

    Examples
    --------
    >>> with without_formulas():
    ...     [as_field(text) for text in ("=1+1", "@sum", "-", "-1.5", "a=b")]
    ["'=1+1", "'@sum", "'-", '-1.5', 'a=b']
    >>> as_field("=1+1")
    '=1+1'
    """
    is_formula = text[:1] in ("=", "+", "-", "@", "\t", "\r") and (
        _NUMBER.fullmatch(text) is None
    )
    return f"'{text}" if is_formula and _is_safe.get() else text
