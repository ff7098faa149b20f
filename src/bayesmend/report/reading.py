"""How the table of a result was read, in plain types."""

from typing import Any

from bayesmend.data.table import IncompleteData

__all__ = ["reading_facts"]


def reading_facts(data: IncompleteData) -> dict[str, Any]:
    """Return what was made of each column, and what was found out about the file.

    Examples
    --------
    >>> data = IncompleteData.from_table(
    ...     {"day": ["mon"] * 3, "x": [1, 2, 3], "y": list("aba")},
    ...     discretize={"x": 2},
    ...     columns={"day": "pass-through"},
    ... )
    >>> for column in reading_facts(data)["columns"]:
    ...     print(column)
    {'name': 'day', 'role': 'pass-through', 'reason': 'as asked'}
    {'name': 'x', 'role': 'cut', 'reason': '', 'intervals': ['<=2', '>2']}
    {'name': 'y', 'role': 'model', 'reason': ''}
    """
    columns: list[dict[str, Any]] = []
    for column in () if data.schema is None else data.schema.columns:
        known: dict[str, Any] = {
            "name": column.name,
            "role": column.role,
            "reason": column.reason,
        }
        if column.role == "cut":
            intervals = data.states[data.index(column.name)]
            known["intervals"] = [str(label) for label in intervals]
        columns.append(known)
    return {
        "columns": columns,
        "missing_markers": dict(data.origin.marker_counts),
        "notes": list(data.notes),
    }
