"""The search for structure and completion as the compiled core sees it.

Rows that agree in every observed state and every missing cell form a pattern. Scores
are convex in the counts, so some best completion treats the rows of a pattern alike:
the unit of decision is the pattern, not the cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._clock import available_memory, limited_calls, or_more_memory
from bayesmend._spelling import spell
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.constraints import Constraints, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.score import Score, core_rule, require_convex

__all__ = ["MOST_ROWS", "PatternProblem", "check_tables", "program_bytes"]

MOST_ROWS: Final = 10**8
"""What row weights may sum to, since a search counts whole rows."""

Completion = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PatternProblem:
    """Incomplete data, a score and the rules for parents, in arrays of the core.

    Parameters
    ----------
    data : IncompleteData
        The table.
    score : Score
        The rule.
    rules : ParentRules
        Allowed and required parents, and limits.
    columns : ndarray of shape (n_vars, n_complete_rows)
        The rows without missing cells, one variable after the other.
    codes : ndarray of shape (n_patterns, n_vars)
        The distinct rows with missing cells.
    weight : ndarray of shape (n_patterns,)
        How many rows each of them stands for.
    pattern, variable : ndarray of shape (n_cells,)
        Pattern and variable of each cell to decide, the order of every completion.
    rows, variables, cell : ndarray of shape (n_missing,)
        Each missing cell of the table and which cell to decide it is.
    shown : ShownCells
        What observed rows show, remembered for scores of completed tables.
    terms : ndarray of shape (n_cells, n_states), optional
        What each state of a cell to decide is worth beside the score, to each row of
        its pattern.
    """

    data: IncompleteData
    score: Score
    rules: ParentRules
    columns: NDArray[np.uint8]
    codes: NDArray[np.uint8]
    weight: NDArray[np.uint32]
    pattern: NDArray[np.intp]
    variable: NDArray[np.intp]
    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    cell: NDArray[np.intp]
    shown: _core.ShownCells = field(default_factory=_core.ShownCells)
    terms: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        data: IncompleteData,
        *,
        score: Score,
        max_parents: int,
        constraints: Constraints,
    ) -> PatternProblem:
        """Find the patterns of a table."""
        require_convex(score)
        rules = constraints.rules(data.names, max_parents=max_parents)
        patterns = data.patterns()
        counts = _whole_numbers(patterns.weights, data)
        complete, incomplete = patterns.complete, patterns.incomplete
        columns = np.repeat(patterns.codes[complete].T, counts[complete], axis=1)
        codes = np.ascontiguousarray(patterns.codes[incomplete])
        pattern, variable = np.nonzero(codes == MISSING)
        cell_at = np.full(codes.shape, -1, np.intp)
        cell_at[pattern, variable] = np.arange(len(pattern))
        rows, variables = np.nonzero(data.missing_mask)
        position = np.full(patterns.n_patterns, -1, np.intp)
        position[incomplete] = np.arange(len(incomplete))
        cell = cell_at[position[patterns.inverse[rows]], variables]
        return cls(
            data,
            score,
            rules,
            np.ascontiguousarray(columns),
            codes,
            counts[incomplete].astype(np.uint32),
            pattern,
            variable,
            rows,
            variables,
            cell,
        )

    @property
    def n_cells(self) -> int:
        """Number of cells to decide."""
        return len(self.pattern)

    def completed(self, completion: Completion) -> IncompleteData:
        """Fill the missing cells of the table."""
        codes = self.data.codes.copy(order="F")
        codes[self.rows, self.variables] = completion[self.cell]
        return self.data.with_codes(codes)

    def completion_of(self, completed: IncompleteData) -> Completion:
        """Read a completion off a table; the first row of a pattern counts."""
        completion = np.zeros(self.n_cells, np.uint8)
        # Later assignments win, so the rows go backwards.
        last_first = slice(None, None, -1)
        values = completed.codes[self.rows, self.variables]
        completion[self.cell[last_first]] = values[last_first]
        return completion

    def checked(self, completion: Completion) -> Completion:
        """Return a completion; raise ValueError for what is none."""
        card = self.data.card[self.variable]
        if completion.shape != card.shape or (completion >= card).any():
            raise ValueError
        return completion

    def worth(self, completion: Completion) -> float:
        """Sum the terms of a completion, over all rows."""
        if self.terms is None:
            return 0.0
        own = self.terms[np.arange(self.n_cells), completion]
        return float(self.weight[self.pattern] @ own)

    def augmenter(
        self, time_limit: float | None = None, drop_threads: int = 0
    ) -> _core.Augmenter:
        """Build the search over all DAGs within the rules.

        So many threads drop the families that no best pair needs; none keeps them all.
        Raises TimeoutError when its tables take longer than the time limit.
        """
        rules = (self.rules.allowed, self.rules.required, self.rules.limit)
        arguments: list[Any] = [*self._arguments(), *rules, _memory_limit()]
        arguments.append(drop_threads)
        try:
            with limited_calls(time_limit):
                augmenter = _core.Augmenter(*arguments)
        except ValueError as error:
            fewer, order = spell("max_parents"), spell("solver", "order")
            msg = f"{error}. Use a smaller {fewer}, or {order}{or_more_memory()}."
            raise ParameterError(msg) from None
        if self.terms is not None:
            augmenter.set_terms(self.terms)
        return augmenter

    def dag_mender(self, dag: Dag) -> _core.DagMender:
        """Build the search over completions for one DAG."""
        parents = [list(members) for members in dag.parents]
        arguments: list[Any] = [*self._arguments(), parents, _memory_limit()]
        try:
            mender = _core.DagMender(*arguments)
        except ValueError as error:
            fewer = spell("max_parents")
            msg = f"{error}. Use a smaller {fewer}{or_more_memory()}."
            raise ParameterError(msg) from None
        if self.terms is not None:
            mender.set_terms(self.terms)
        return mender

    def dag(self, parents: Sequence[Sequence[int]]) -> Dag:
        """Build the DAG of an answer of the core."""
        return Dag(self.data.names, tuple(tuple(members) for members in parents))

    def _arguments(self) -> tuple[Any, ...]:
        return (
            self.columns,
            self.data.card,
            self.codes,
            self.weight,
            core_rule(self.score, self.rules.choices),
        )


def program_bytes(n_vars: int) -> float:
    """Count the bytes of the dynamic programmes of one search over all DAGs."""
    return 2.0 * 8.0 * 2.0 ** (n_vars - 1) * (n_vars + 5)


def check_tables(problem: PatternProblem) -> None:
    """Raise ParameterError when the tables of all families do not fit into memory."""
    n_families, needed = _tables(problem)
    if needed <= _memory_limit():
        return
    msg = (
        f"the tables of {n_families:,.0f} families need about {needed / 1e9:.3g} GB. "
        f"Use a smaller {spell('max_parents')}, or {spell('method', 'local')}"
        f"{or_more_memory()}."
    )
    raise ParameterError(msg)


def _tables(problem: PatternProblem) -> tuple[float, float]:
    """Count the families and the bytes of their tables, without listing them."""
    rules, card = problem.rules, problem.data.card.astype(np.float64)
    holes = np.bincount(problem.variable, minlength=len(card)).astype(np.float64)
    families, needed = 0.0, 0.0
    for child, limit in enumerate(rules.limit.tolist()):
        required = rules.required[child].astype(bool)
        optional = rules.allowed[child].astype(bool) & ~required
        optional[child] = False
        # By number of parents: families, cells of their tables, holes they see.
        size = int(limit) + 1
        counts = np.zeros((3, size))
        start = min(int(required.sum()), size - 1)
        counts[:, start] = 1.0, card[required].prod(), holes[required].sum()
        for parent in np.flatnonzero(optional):
            sets, cells, seen = counts[:, :-1].copy()
            counts[0, 1:] += sets
            counts[1, 1:] += cells * card[parent]
            counts[2, 1:] += seen + sets * holes[parent]
        sets, cells, seen = counts.sum(axis=1)
        families += sets
        seen += sets * holes[child]
        needed += _FAMILY * sets + 4.0 * cells * card[child] + _HOLE * seen
    return families, needed


# Bytes of a family and of a hole it sees, in the tables of the core, with room to grow.
_FAMILY, _HOLE = 250.0, 40.0


def _memory_limit() -> float:
    return 0.5 * min(available_memory(), 1e15)


def _whole_numbers(
    weights: NDArray[np.float64], data: IncompleteData
) -> NDArray[np.int64]:
    own = data.weights
    if own is not None and (own != np.rint(own)).any():
        msg = (
            "learning by augmentation needs row weights that are whole numbers. "
            "Scale or round them, or leave them out."
        )
        raise DataError(msg)
    if (total := float(weights.sum())) > MOST_ROWS:
        msg = (
            "learning by augmentation takes row weights that sum to at most "
            f"{MOST_ROWS:,}. Got {total:,.0f} instead. Divide them all by the same "
            f"number, or use {spell('method', 'em')}."
        )
        raise DataError(msg)
    return np.rint(weights).astype(np.int64)
