"""The imputed cells of a table: what was put there, how sure, what else it might be."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import Label
from bayesmend.inference.align import NewData
from bayesmend.network.network import Network

__all__ = ["BYTES_PER_CELL", "ImputedCell", "ImputedCells", "list_cells"]

BYTES_PER_CELL = 34
"""What the arrays of ``ImputedCells`` take for each cell."""


class ImputedCell(NamedTuple):
    """An imputed cell: what was put there, how sure, and what else it might be."""

    row: int
    variable: str
    state: Label
    probability: float
    runner_up: Label | None
    table: int


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ImputedCells:
    """Every imputed cell, in the order of tables, rows and variables.

    Parameters
    ----------
    rows, variables : ndarray of shape (n_cells,)
        Where: row of the table and position of the variable in ``names``.
    codes : ndarray of shape (n_cells,)
        The states chosen.
    probabilities : ndarray of shape (n_cells,)
        Posterior probability of each, given what is observed in its row.
    runners_up : ndarray of shape (n_cells,)
        The most probable other state; the chosen one where there is no other.
    tables : ndarray of shape (n_cells,)
        Which of the completed tables, from 1.
    names, states
        Names of the variables and labels of their states, as in the table.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> row = {name: [None] for name in asia.names} | {"dysp": ["yes"]}
    >>> for cell in bm.impute(asia, row).cells:
    ...     print(cell.variable, cell.state, round(cell.probability, 3), cell.runner_up)
    asia no 0.99 yes
    tub no 0.981 yes
    smoke yes 0.634 no
    ...
    """

    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    codes: NDArray[np.uint8]
    probabilities: NDArray[np.float64]
    runners_up: NDArray[np.uint8]
    tables: NDArray[np.intp]
    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[ImputedCell]:
        for row, v, code, probability, other, table in zip(
            self.rows.tolist(),
            self.variables.tolist(),
            self.codes.tolist(),
            self.probabilities.tolist(),
            self.runners_up.tolist(),
            self.tables.tolist(),
            strict=True,
        ):
            labels = self.states[v]
            runner_up = None if other == code else labels[other]
            yield ImputedCell(
                row, self.names[v], labels[code], probability, runner_up, table
            )

    def __repr__(self) -> str:
        return f"ImputedCells({len(self):,} cells)"

    def to_dict(self) -> dict[str, list[Any]]:
        """Give the columns as lists, ready for any data frame."""
        cells = list(self)
        return {
            name: [cell[k] for cell in cells]
            for k, name in enumerate(ImputedCell._fields)
        }

    def to_csv(self) -> str:
        """Give the table as CSV text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(ImputedCell._fields)
        for cell in self:
            writer.writerow(["" if value is None else value for value in cell])
        return text.getvalue()


def list_cells(
    network: Network,
    new: NewData,
    filled: NDArray[np.uint8],
    rows: tuple[NDArray[np.intp], ...],
    probabilities: tuple[NDArray[np.float64], ...],
) -> ImputedCells:
    """List the holes of a table as completed tables fill them.

    ``filled`` has the shape (n_draws, n_vars, n_rows); ``rows`` and ``probabilities``
    are those of the holes, variable by variable.
    """
    n_draws, counts = len(filled), [len(at) for at in rows]
    at = np.concatenate(rows)
    variables = np.repeat(np.arange(network.n_vars), counts)
    place = np.array(new.columns, dtype=np.intp)[variables]
    order = np.lexsort((place, at))  # the same in every table
    at, variables = at[order], variables[order]
    best, second = (
        np.concatenate(states)[order] for states in _best_two(probabilities)
    )
    # The distributions lie end to end; where that of each hole starts.
    sizes = np.repeat([p.shape[1] for p in probabilities], counts)
    start = (np.cumsum(sizes) - sizes)[order]
    flat = np.concatenate([p.ravel() for p in probabilities])
    n_cells = len(at)
    codes = np.empty(n_draws * n_cells, dtype=np.uint8)
    chances, runners_up = np.empty(len(codes)), np.empty_like(codes)
    for number, cells in enumerate(filled):
        part = slice(number * n_cells, (number + 1) * n_cells)
        codes[part] = cells[variables, at]
        chances[part] = flat[start + codes[part]]
        runners_up[part] = np.where(codes[part] == best, second, best)
    return ImputedCells(
        rows=np.tile(at, n_draws),
        variables=np.tile(variables, n_draws),
        codes=codes,
        probabilities=chances,
        runners_up=runners_up,
        tables=np.repeat(np.arange(1, n_draws + 1), n_cells),
        names=network.names,
        states=tuple(
            tuple(new.data.states[column][code] for code in labels[: len(states)])
            for column, labels, states in zip(
                new.columns, new.labels, network.states, strict=True
            )
        ),
    )


def _best_two(
    probabilities: tuple[NDArray[np.float64], ...],
) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
    """Return the most probable state of each hole, and the next; a lone one twice."""
    best, second = [], []
    for p in probabilities:
        first = p.argmax(axis=1)
        others = p.copy()
        others[np.arange(len(p)), first] = -1.0
        best.append(first.astype(np.uint8))
        second.append(others.argmax(axis=1).astype(np.uint8))
    return best, second
