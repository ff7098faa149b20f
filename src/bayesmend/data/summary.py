"""What is in a table: states, missing shares and what is missing together.

Made by ``IncompleteData.summary`` from codes, and from what each column was taken for.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._shown import Shown
from bayesmend._visible import visible
from bayesmend.data.schema import ColumnRole
from bayesmend.data.states import MISSING, Label, listing, quantity


@dataclass(frozen=True, slots=True)
class VariableSummary:
    """One variable: its states, how often each occurs, and how often none does."""

    name: str
    states: tuple[Label, ...]
    counts: tuple[int, ...]
    n_missing: int
    missing_share: float

    @property
    def most_frequent(self) -> Label | None:
        """The state of most rows, the first of several; None when all are missing."""
        if not any(self.counts):
            return None
        return self.states[int(np.argmax(self.counts))]


@dataclass(frozen=True, slots=True)
class MissingTogether:
    """Variables that are missing together, and in how many rows exactly these are."""

    missing: tuple[str, ...]
    n_rows: int


@dataclass(frozen=True, slots=True, repr=False)
class Summary(Shown):
    """A description of a table; ``str`` gives it as text.

    Parameters
    ----------
    n_rows, n_vars : int
        Size of the table.
    n_missing : int
        Number of missing cells.
    n_complete_rows : int
        Number of rows without a missing cell.
    n_distinct_rows : int
        Number of distinct rows.
    total_weight : float or None
        Sum of the row weights; None when rows have none.
    variables : tuple of VariableSummary
        One per variable.
    missing_together : tuple of MissingTogether
        The sets of variables that are missing together, the most frequent first;
        complete rows are the empty set.
    missing_markers : tuple of (str, int)
        The markers that stand for missing cells in a file, and in how many; empty for
        other tables and for cells that are no longer those of the file.
    columns : tuple of ColumnRole
        What each column of the table that was read is taken for, and why it is passed
        through; empty for a table made of codes.

    Examples
    --------
    >>> from bayesmend import IncompleteData
    >>> table = {"smoke": ["yes", None, "no", "no"], "cough": [1, 1, 0, None]}
    >>> print(IncompleteData.from_table(table).summary())
    4 rows, 2 variables, 2 of 8 cells missing (25%)
    2 complete rows, 4 distinct rows
    <BLANKLINE>
    variable  missing  most frequent  states
    smoke         25%  no (67%)       no, yes
    cough         25%  1 (67%)        0, 1
    <BLANKLINE>
    rows  missing together
       2  (none)
       1  smoke
       1  cough
    """

    n_rows: int
    n_vars: int
    n_missing: int
    n_complete_rows: int
    n_distinct_rows: int
    total_weight: float | None
    variables: tuple[VariableSummary, ...]
    missing_together: tuple[MissingTogether, ...]
    missing_markers: tuple[tuple[str, int], ...] = ()
    columns: tuple[ColumnRole, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return plain values, ready for JSON."""
        return {
            "n_rows": self.n_rows,
            "n_vars": self.n_vars,
            "n_missing": self.n_missing,
            "n_complete_rows": self.n_complete_rows,
            "n_distinct_rows": self.n_distinct_rows,
            "total_weight": self.total_weight,
            "missing_markers": dict(self.missing_markers),
            "columns": [
                {"name": column.name, "role": column.role, "reason": column.reason}
                for column in self.columns
            ],
            "variables": [
                {
                    "name": variable.name,
                    "states": list(variable.states),
                    "counts": list(variable.counts),
                    "n_missing": variable.n_missing,
                    "missing_share": variable.missing_share,
                    "most_frequent": variable.most_frequent,
                }
                for variable in self.variables
            ],
            "missing_together": [
                {"missing": list(them.missing), "n_rows": them.n_rows}
                for them in self.missing_together
            ],
        }

    def __str__(self) -> str:
        n_cells = self.n_rows * self.n_vars
        head = [
            f"{quantity(self.n_rows, 'row')}, {quantity(self.n_vars, 'variable')},"
            f" {self.n_missing:,} of {quantity(n_cells, 'cell')} missing"
            f" ({_percent(self.n_missing, n_cells)})",
            f"{quantity(self.n_complete_rows, 'complete row')},"
            f" {quantity(self.n_distinct_rows, 'distinct row')}",
        ]
        if self.missing_markers:
            counts = sorted(self.missing_markers, key=lambda item: -item[1])
            shown = (f"{marker or 'empty'} ({count:,})" for marker, count in counts)
            head.append(f"missing markers: {listing(shown)}")
        if self.total_weight is not None:
            head.append(f"total weight {self.total_weight:g}")
        blocks = [
            head,
            _variable_lines(self),
            _role_lines(self),
            _together_lines(self.missing_together),
        ]
        return visible("\n\n".join("\n".join(lines) for lines in blocks if lines))

    def __repr__(self) -> str:
        size = f"{quantity(self.n_rows, 'row')}, {quantity(self.n_vars, 'variable')}"
        return f"Summary({size})"


_SHOWN_STATES = 6
_SHOWN_SETS = 10
_SHOWN_NAMES = 8


def summarize(
    names: Sequence[str],
    states: Sequence[tuple[Label, ...]],
    codes: NDArray[np.uint8],
    weights: NDArray[np.float64] | None,
    marker_counts: tuple[tuple[str, int], ...] = (),
    columns: tuple[ColumnRole, ...] = (),
) -> Summary:
    """Describe a coded table."""
    variables = []
    for j, (name, labels) in enumerate(zip(names, states, strict=True)):
        counts = np.bincount(codes[:, j], minlength=256)
        n_missing = int(counts[MISSING])
        share = n_missing / len(codes) if len(codes) else 0.0
        seen = tuple(counts[: len(labels)].tolist())
        variables.append(VariableSummary(name, labels, seen, n_missing, share))
    together = _find_together(names, codes)
    n_missing = sum(variable.n_missing for variable in variables)
    is_as_read = sum(count for _, count in marker_counts) == n_missing
    n_complete = sum(them.n_rows for them in together if not them.missing)
    return Summary(
        n_rows=len(codes),
        n_vars=len(names),
        n_missing=n_missing,
        n_complete_rows=n_complete,
        n_distinct_rows=len(_core.distinct_rows(np.ascontiguousarray(codes.T)).first),
        total_weight=None if weights is None else float(weights.sum()),
        variables=tuple(variables),
        missing_together=together,
        missing_markers=marker_counts if is_as_read else (),
        columns=columns,
    )


def _find_together(
    names: Sequence[str], codes: NDArray[np.uint8]
) -> tuple[MissingTogether, ...]:
    mask = np.ascontiguousarray((codes == MISSING).T.view(np.uint8))
    found = _core.distinct_rows(mask)
    first, counts = found.first, found.count
    together = []
    for k in np.argsort(-counts, kind="stable"):
        variables = np.flatnonzero(mask[:, first[k]]).tolist()
        missing = tuple(names[j] for j in variables)
        together.append(MissingTogether(missing, int(counts[k])))
    return tuple(together)


def _variable_lines(summary: Summary) -> list[str]:
    rows = [("variable", "missing", "most frequent", "states")]
    for variable in summary.variables:
        frequent, n_seen = "-", sum(variable.counts)
        if n_seen:
            share = _percent(max(variable.counts), n_seen)
            frequent = f"{_shown(variable.most_frequent)} ({share})"
        missing = _percent(variable.n_missing, summary.n_rows)
        states = listing(map(_shown, variable.states), _SHOWN_STATES)
        rows.append((variable.name, missing, frequent, states))
    width = [max(len(row[k]) for row in rows) for k in range(3)]
    return [
        f"{name:<{width[0]}}  {missing:>{width[1]}}  {frequent:<{width[2]}}  {states}"
        for name, missing, frequent, states in rows
    ]


def _shown(label: Label | None) -> str:
    """Return a label as text, in quotes when it is empty or has blanks around it."""
    text = str(label)
    return text if text and text == text.strip() else repr(text)


def _role_lines(summary: Summary) -> list[str]:
    """Say which columns are cut, and which ones are no variables."""
    n_states = {v.name: len(v.states) for v in summary.variables}
    cut = [
        f"{column.name} ({n_states[column.name]})"
        for column in summary.columns
        if column.role == "cut" and column.name in n_states
    ]
    lines = [f"cut into intervals: {', '.join(cut)}"] if cut else []
    by_reason: dict[str, list[str]] = {}
    for column in summary.columns:
        if column.role == "pass-through":
            by_reason.setdefault(column.reason, []).append(column.name)
    if by_reason:
        parts = (f"{', '.join(names)} ({why})" for why, names in by_reason.items())
        lines.append(f"passed through: {'; '.join(parts)}")
    for role, word in (("drop", "dropped"), ("weights", "row weights")):
        names = [column.name for column in summary.columns if column.role == role]
        if names:
            lines.append(f"{word}: {', '.join(names)}")
    return lines


def _together_lines(together: Sequence[MissingTogether]) -> list[str]:
    if not any(them.missing for them in together):
        return []
    shown = together[:_SHOWN_SETS]
    width = max(4, *(len(f"{them.n_rows:,}") for them in shown))
    lines = [f"{'rows':>{width}}  missing together"]
    for them in shown:
        names = listing(them.missing, _SHOWN_NAMES) or "(none)"
        lines.append(f"{them.n_rows:>{width},}  {names}")
    rest = together[_SHOWN_SETS:]
    if rest:
        n_rows = sum(them.n_rows for them in rest)
        lines.append(f"{n_rows:>{width},}  in {quantity(len(rest), 'other set')}")
    return lines


def _percent(part: int, whole: int) -> str:
    """Return whole percents, but never 0% of something nor 100% of less than all."""
    if whole == 0 or part == 0:
        return "0%"
    percent = 100 * part / whole
    if percent < 1:
        return "<1%"
    if percent > 99 and part < whole:
        return ">99%"
    return f"{percent:.0f}%"
