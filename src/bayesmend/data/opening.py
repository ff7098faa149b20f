"""How a table is opened: what its file is made of, and what stands for a missing cell.

What concerns the columns one by one is in ``reading``.
"""

from collections.abc import Iterable, Sequence
from typing import TypedDict

__all__ = ["Opening"]


class Opening(TypedDict, total=False):
    """The options by which any function opens a table, as keywords."""

    missing: Iterable[str | float] | str | float | None
    names: Sequence[str] | None
    delimiter: str | None
    decimal: str | None
    encoding: str | None
    header: bool | None
    sheet: str | int | None
