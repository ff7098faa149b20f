"""What was made of each column of a table when it was read."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from bayesmend.data.discretize import Discretization

__all__ = ["ColumnRole", "Role", "Schema"]

Role: TypeAlias = Literal["model", "cut", "pass-through", "drop", "weights"]
"""A variable, a variable cut into intervals, a column kept aside, gone, or weights."""


@dataclass(frozen=True, slots=True)
class ColumnRole:
    """What a column of a table is taken for.

    Parameters
    ----------
    name : str
        Name of the column.
    role : {"model", "cut", "pass-through", "drop", "weights"}
        Its part.
    dtype : str
        The table's own type of it, as text; empty where it has none.
    reason : str
        Why it is passed through; empty for other roles.
    """

    name: str
    role: Role
    dtype: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table in their order, and how they were read.

    Parameters
    ----------
    columns : tuple of ColumnRole
        One per column of the table that was read.
    discretization : Discretization, optional
        The rule by which numbers are cut.
    normalise : bool
        Whether labels that differ only in blanks or case are one.
    """

    columns: tuple[ColumnRole, ...]
    discretization: Discretization | None = None
    normalise: bool = False

    def of(self, *roles: Role) -> tuple[ColumnRole, ...]:
        """Return the columns that have one of some roles."""
        return tuple(column for column in self.columns if column.role in roles)
