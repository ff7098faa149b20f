"""What was made of each column of a table when it was read."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from bayesmend.data.discretize import Discretization
from bayesmend.data.numbers import date_number
from bayesmend.data.states import check_markers, number_of
from bayesmend.errors import DataError

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
    missing : tuple of str, optional
        The texts that stand for a missing cell, in order, where they were listed.
    """

    columns: tuple[ColumnRole, ...]
    discretization: Discretization | None = None
    normalise: bool = False
    missing: tuple[str, ...] | None = None

    def of(self, *roles: Role) -> tuple[ColumnRole, ...]:
        """Return the columns that have one of some roles."""
        return tuple(column for column in self.columns if column.role in roles)

    def interval_of(self, name: str, value: Any) -> str | None:
        """Return the interval of a number or date, as text; None when there is none.

        Examples
        --------
        >>> schema = Schema((), Discretization.from_cuts({"age": [34, 47]}))
        >>> schema.interval_of("age", 45), schema.interval_of("age", "?")
        ('34<x<=47', None)
        """
        rule = self.discretization
        if rule is None or name not in rule.names:
            return None
        known = rule.numbers_of(name)
        is_date = known is not None and known.kind == "date"
        number = date_number(value) if is_date else number_of(value)
        if not math.isfinite(number):
            return None
        code = int(rule.codes(name, np.array([number]))[0])
        return rule.labels(name)[code]

    def to_dict(self) -> dict[str, Any]:
        """Return the roles of columns and the cut points in plain types, for JSON."""
        return {
            "columns": [
                {
                    "name": column.name,
                    "role": column.role,
                    "dtype": column.dtype,
                    "reason": column.reason,
                }
                for column in self.columns
            ],
            "discretization": None
            if self.discretization is None
            else self.discretization.to_dict(),
            "normalise": self.normalise,
            "missing": None if self.missing is None else list(self.missing),
        }

    @classmethod
    def from_dict(cls, plain: Any) -> Self:
        """Read what :meth:`to_dict` returns.

        Examples
        --------
        >>> schema = Schema((ColumnRole("id", "pass-through", "int64", "identifier"),))
        >>> Schema.from_dict(schema.to_dict()) == schema
        True
        """
        listed = plain.get("columns") if isinstance(plain, Mapping) else None
        if not isinstance(listed, list):
            message = "a schema must list its columns."
            raise DataError(message)
        rule = plain.get("discretization")
        return cls(
            tuple(_column(entry) for entry in listed),
            None if rule is None else Discretization.from_dict(rule),
            plain.get("normalise") is True,
            _markers(plain.get("missing")),
        )


def _markers(listed: Any) -> tuple[str, ...] | None:
    if listed is None:
        return None
    if not isinstance(listed, list) or not all(isinstance(m, str) for m in listed):
        message = "the missing markers of a schema must be a list of text."
        raise DataError(message)
    return tuple(sorted(check_markers(listed)))


def _column(entry: Any) -> ColumnRole:
    known = entry if isinstance(entry, Mapping) else {}
    texts = [known.get(key, "") for key in ("name", "role", "dtype", "reason")]
    is_text = all(isinstance(text, str) for text in texts)
    if not (is_text and texts[0] and texts[1] in get_args(Role)):
        roles = ", ".join(get_args(Role))
        message = f"a column of a schema must have a name and one of the roles {roles}."
        raise DataError(message)
    return ColumnRole(*texts)
