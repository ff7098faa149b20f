"""The cells that were missing: what fills them, how sure, and what else it might be."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend._formulas import as_field
from bayesmend._shown import Shown
from bayesmend.data.states import Label, quantity

__all__ = ["CompletedCell", "CompletedCells", "join_cells"]


class CompletedCell(NamedTuple):
    """A cell that was missing; ``None`` stands for what is not known of it."""

    row: int
    variable: str
    state: Label
    probability: float | None
    margin: float | None
    runner_up: Label | None
    table: int | None
    row_label: Any = None
    supported: bool | None = None

    def __repr__(self) -> str:
        known = (f"{n}={v!r}" for n, v in self._asdict().items() if v is not None)
        return f"CompletedCell({', '.join(known)})"


# The fields of `CompletedCells` that hold something for each cell.
_PER_CELL = (
    *("rows", "variables", "codes", "runners_up"),
    *("probabilities", "margins", "tables", "row_labels", "supported"),
)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class CompletedCells(Shown):
    """Every cell that was missing, table by table, in the order of rows and variables.

    ``cells[0]`` is one cell; a slice, positions or a mask give some of them.

    Parameters
    ----------
    rows, variables : ndarray of shape (n_cells,)
        Where: row of the table and index of the variable.
    codes : ndarray of shape (n_cells,)
        The states that fill them.
    runners_up : ndarray of shape (n_cells,)
        The best other state; the one chosen where there is no other.
    names, states
        Names of the variables and labels of their states, as in the table.
    probabilities : ndarray of shape (n_cells,), optional
        Posterior probability of the state, each cell by itself, given what is observed
        in its row. Where a cell is not `supported`, it rests on what the network
        carries over from other rows, not on examples.
    margins : ndarray of shape (n_cells,), optional
        How much the score drops, structure and all other cells as they are, when this
        cell alone takes its best other state; infinity where there is no other.
    tables : ndarray of shape (n_cells,), optional
        Which of several completed tables, from 1.
    row_labels : ndarray of shape (n_cells,), optional
        What the table itself calls the rows: the index of a pandas frame, unless it
        only numbers the rows from 0.
    supported : ndarray of shape (n_cells,), optional
        Whether examples stand behind the state: every family of the network that
        contains the variable was observed as a whole, in some row of the table learned
        from, as the completed row has it.

    Examples
    --------
    >>> import bayesmend as bm
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", None, "v", "v"]}
    >>> cells = bm.learn(table).cells
    >>> for cell in cells:
    ...     print(cell.row, cell.variable, cell.state, cell.runner_up)
    1 b u v
    >>> cells[0].state, cells[cells.margins < 0.1]
    ('u', CompletedCells(0 cells))
    """

    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    codes: NDArray[np.uint8]
    runners_up: NDArray[np.uint8]
    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    probabilities: NDArray[np.float64] | None = None
    margins: NDArray[np.float64] | None = None
    tables: NDArray[np.intp] | None = None
    row_labels: NDArray[np.object_] | None = None
    supported: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, which: SupportsIndex) -> CompletedCell: ...
    @overload
    def __getitem__(self, which: slice | ArrayLike) -> Self: ...
    def __getitem__(
        self, which: SupportsIndex | slice | ArrayLike
    ) -> CompletedCell | Self:
        chosen: Any = which
        if not isinstance(which, slice):
            chosen = np.asarray(which)
            if chosen.size == 0 and chosen.dtype != bool:  # an empty list has no type
                chosen = chosen.astype(np.intp)
            if chosen.ndim == 0:
                one = np.arange(len(self))[chosen]
                return next(iter(self[one : one + 1]))
        arrays = {
            name: values[chosen]
            for name in _PER_CELL
            if (values := getattr(self, name)) is not None
        }
        return replace(self, **arrays)

    def __iter__(self) -> Iterator[CompletedCell]:
        unknown = [None] * len(self)
        for row, v, code, probability, margin, other, table, row_label, seen in zip(
            self.rows.tolist(),
            self.variables.tolist(),
            self.codes.tolist(),
            unknown if self.probabilities is None else self.probabilities.tolist(),
            unknown if self.margins is None else self.margins.tolist(),
            self.runners_up.tolist(),
            unknown if self.tables is None else self.tables.tolist(),
            unknown if self.row_labels is None else self.row_labels.tolist(),
            unknown if self.supported is None else self.supported.tolist(),
            strict=True,
        ):
            labels = self.states[v]
            runner_up = None if other == code else labels[other]
            yield CompletedCell(
                row,
                self.names[v],
                labels[code],
                probability,
                margin,
                runner_up,
                table,
                row_label,
                seen,
            )

    def __repr__(self) -> str:
        told = quantity(len(self), "cell")
        if self.n_unsupported:
            told += f", {self.n_unsupported:,} unsupported"
        return f"CompletedCells({told})"

    @property
    def n_unsupported(self) -> int:
        """Number of cells without an example; 0 where that is not known."""
        return 0 if self.supported is None else int((~self.supported).sum())

    @property
    def measure(self) -> str:
        """How certainty is measured here: ``probability`` or ``margin``."""
        return "margin" if self.probabilities is None else "probability"

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of what is known of every cell."""
        unknown = {
            name
            for name, values in (
                ("probability", self.probabilities),
                ("margin", self.margins),
                ("table", self.tables),
                ("row_label", self.row_labels),
                ("supported", self.supported),
            )
            if values is None
        }
        return tuple(name for name in CompletedCell._fields if name not in unknown)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists, ready for any data frame."""
        cells = list(self)
        return {name: [getattr(cell, name) for cell in cells] for name in self.fields}

    def to_csv(self) -> str:
        """Return the table as CSV text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        columns = self.to_dict()
        writer.writerow(map(as_field, columns))
        for row in zip(*columns.values(), strict=True):
            writer.writerow(
                as_field(value) if isinstance(value, str) else value for value in row
            )
        return text.getvalue()


def join_cells(parts: list[CompletedCells]) -> CompletedCells:
    """Put the cells of parts of a table together; the list is empty afterwards.

    Examples
    --------
    >>> import bayesmend as bm
    >>> cells = bm.learn({"a": ["x", "y", None] * 6, "b": ["u", "v"] * 9}).cells
    >>> join_cells([cells[:4], cells[4:]]).rows.tolist() == cells.rows.tolist()
    True
    """
    first = parts[0]
    known = [name for name in _PER_CELL if getattr(first, name) is not None]
    arrays = [{name: getattr(part, name) for name in known} for part in parts]
    parts.clear()
    # One after the other, so that no two copies of all of them are held.
    joined: dict[str, Any] = {
        name: np.concatenate([listed.pop(name) for listed in arrays]) for name in known
    }
    return replace(first, **joined)
