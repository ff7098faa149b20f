"""Missing cells as a proof counts them: one for all rows that are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayesmend.verification.families import MISSING, Table
from bayesmend.verification.lies import Lie, integer, listed
from bayesmend.verification.rows import Variable

__all__ = ["Patterns"]


class Patterns:
    """The cells to decide of a table, and their order.

    Rows with the same observed states and the same missing cells are filled alike, so
    that a cell stands for those of all its rows.
    """

    def __init__(self, table: Table, variables: Sequence[Variable]) -> None:
        self.table, self.variables = table, variables
        self.cells = [
            (r, v)
            for r in table.incomplete
            for v, code in enumerate(table.rows[r])
            if code == MISSING
        ]
        self.completion: list[int] | None = None

    @property
    def number(self) -> dict[tuple[int, int], int]:
        """The cells by distinct row and variable."""
        return {cell: number for number, cell in enumerate(self.cells)}

    def name(self, cell: int) -> str:
        """Name a cell by its first row."""
        r, v = self.cells[cell]
        return f"row {self.table.first[r]} of {self.variables[v].name!r}"

    def value_of(self, r: int, v: int) -> int | None:
        """Return what a proof fills a cell with; None without a proof."""
        if self.completion is None:
            return None
        return self.completion[self._numbers[r, v]]

    def take_order(self, cells: Any, completion: Any) -> None:
        """Take the order of a proof, which names each cell by a row and a variable."""
        index = {variable.name: v for v, variable in enumerate(self.variables)}
        known: set[tuple[int, int]] = set(self.cells)
        order: dict[tuple[int, int], int] = {}
        for entry in listed(cells, "the cells of the proof"):
            row, name = listed(entry, "a cell of the proof", 2)
            integer(row, "the row of a cell", below=len(self.table.of_row))
            if name not in index:
                msg = f"the proof has a cell of {name!r:.60}, which is no variable."
                raise Lie(msg)
            cell = (self.table.of_row[row], index[name])
            if cell not in known:
                msg = f"the proof has row {row} of {name!r}, which is not missing."
                raise Lie(msg)
            if cell in order:
                msg = (
                    f"the proof has row {order[cell]} and row {row} of {name!r}, which "
                    "are filled alike."
                )
                raise Lie(msg)
            order[cell] = row
        if len(order) != len(known):
            r, v = min(known - order.keys())
            name = self.variables[v].name
            msg = f"the proof lacks row {self.table.first[r]} of {name!r}."
            raise Lie(msg)
        self.cells = list(order)
        self._numbers = self.number
        values = listed(completion, "the completion of the proof", len(order))
        self.completion = [
            integer(value, "a state of the completion", below=self.table.card[v])
            for value, (_, v) in zip(values, order, strict=True)
        ]
