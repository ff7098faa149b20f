"""The record of cells hidden on purpose: where they are and what they held."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._copies import frozen_in_copies
from bayesmend._files import PathLike, write_text
from bayesmend._formulas import as_field
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.alike import read_alike
from bayesmend.data.csv import plain_text
from bayesmend.data.states import MISSING, Label, match_states
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError, ShortfallWarning

__all__ = ["Hidden", "Shortfall", "observed_rows", "punch"]

_NONE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A variable that had fewer suitable cells than were asked for.

    Attributes
    ----------
    variable : str
        Its name.
    asked, hidden : int
        How many cells were asked for, and how many there were (all are hidden).
    """

    variable: str
    asked: int
    hidden: int


@frozen_in_copies
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Hidden(Shown):
    """A table with hidden cells, and the truth about them.

    Cells are listed by variable, then by row.

    Attributes
    ----------
    data : IncompleteData
        The table without the hidden cells; variables, states, weights and column
        types are those of the table that was given.
    rows, variables : ndarray of intp, shape (n_hidden,)
        Row number (from 0) and variable number of each hidden cell.
    true_codes : ndarray of uint8, shape (n_hidden,)
        The state code that each hidden cell held.
    n_candidates : int
        Number of cells that were observed, and not yet missing, in the variables
        chosen for hiding.
    request : mapping
        What was asked: the mechanism and its parameters.
    shortfalls : tuple of Shortfall
        The variables for which the request could only be met in part.
    """

    data: IncompleteData
    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    true_codes: NDArray[np.uint8]
    n_candidates: int
    request: Mapping[str, object]
    shortfalls: tuple[Shortfall, ...] = ()

    def __repr__(self) -> str:
        return (
            f"Hidden({self.request['mechanism']}: {self.n_hidden:,} of "
            f"{self.n_candidates:,} cells)"
        )

    @property
    def n_hidden(self) -> int:
        """Number of hidden cells."""
        return self.rows.size

    @property
    def counts(self) -> dict[str, int]:
        """Number of hidden cells of each variable, in table order."""
        counts = np.bincount(self.variables, minlength=self.data.n_vars)
        return dict(zip(self.data.names, counts.tolist(), strict=True))

    def cells(self) -> Iterator[tuple[int, str, Label]]:
        """Iterate over the hidden cells as (row, variable, true label)."""
        names, states = self.data.names, self.data.states
        parts = (self.rows.tolist(), self.variables.tolist(), self.true_codes.tolist())
        for row, variable, code in zip(*parts, strict=True):
            yield row, names[variable], states[variable][code]

    def accuracy(self, completed: Any) -> float:
        """Return the share of hidden cells that a completion recovered.

        Parameters
        ----------
        completed : IncompleteData, frame, array, mapping or path
            The table after completion: same rows in the same order, and at least
            the variables with hidden cells. A cell still missing is not recovered.

        Returns
        -------
        float
            Between 0 and 1; NaN when no cell was hidden.

        Examples
        --------
        >>> from bayesmend.datasets import load_network
        >>> from bayesmend.hiding.mechanisms import hide_mcar
        >>> truth = load_network("asia").sample(50, seed=1)
        >>> hide_mcar(truth, 0.2, seed=1).accuracy(truth)
        1.0
        """
        recovered = self._recovered(completed)
        return float(recovered.mean()) if recovered.size else float("nan")

    def accuracy_by_variable(self, completed: Any) -> dict[str, float]:
        """Return the share recovered for each variable that has hidden cells."""
        recovered = self._recovered(completed)
        return {
            name: float(recovered[self.variables == variable].mean())
            for variable, name in enumerate(self.data.names)
            if np.any(self.variables == variable)
        }

    def to_dict(self) -> dict[str, object]:
        """Return request, counts and shortfalls as plain values, ready for JSON."""
        return {
            "request": dict(self.request),
            "n_candidates": self.n_candidates,
            "n_hidden": self.n_hidden,
            "hidden": self.counts,
            "shortfalls": [asdict(shortfall) for shortfall in self.shortfalls],
        }

    def to_csv(self) -> str:
        """Return the hidden cells as CSV text with columns row, variable, value.

        The value of a variable that is cut into intervals is the number itself.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["row", "variable", "value"])
        numbers = self._numbers()
        for row, name, label in self.cells():
            value = numbers.get((row, name), label)
            shown = as_field(value) if isinstance(value, str) else value
            writer.writerow([row, as_field(name), shown])
        return text.getvalue()

    def _numbers(self) -> dict[tuple[int, str], str]:
        """Return the hidden cells of variables that are cut, as the table has them."""
        origin, rule = self.data.origin, self.data.discretization
        if origin.source is None or origin.codes is None or rule is None:
            return {}
        found: dict[tuple[int, str], str] = {}
        for name in rule.names:
            k = self.data.index(name)
            here = self.variables == k
            # A cell that was filled before it was hidden has no number of its own.
            is_read = origin.codes[self.rows, k] == self.true_codes
            rows = self.rows[here & is_read].tolist()
            place = origin.places[k]
            if rows and place is not None:
                values = origin.source.values(place)
                found |= {(r, name): plain_text(name, values[r], _NONE) for r in rows}
        return found

    def write_csv(self, path: PathLike) -> None:
        """Write the hidden cells as CSV; the file appears whole or not at all."""
        write_text(path, self.to_csv())

    def _recovered(self, completed: Any) -> NDArray[np.bool_]:
        """Tell for each hidden cell whether `completed` holds its true label."""
        touched = np.unique(self.variables).tolist()
        names = [self.data.names[v] for v in touched]
        other = read_alike(self.data, completed, only=names)
        if other.n_rows != self.data.n_rows:
            message = (
                f"the completed table has {other.n_rows} rows, but the incomplete one "
                f"has {self.data.n_rows}. Pass the same rows in the same order."
            )
            raise DataError(message)
        recovered = np.zeros(self.n_hidden, dtype=bool)
        for variable in touched:
            column = other.index(self.data.names[variable])
            truth = match_states(other.states[column], self.data.states[variable])
            here = self.variables == variable
            found = other.codes[self.rows[here], column]
            recovered[here] = (found != MISSING) & (
                found == truth[self.true_codes[here]]
            )
        return recovered


def observed_rows(table: IncompleteData, variable: int) -> NDArray[np.intp]:
    """Return the rows in which a variable is not missing."""
    return np.flatnonzero(table.codes[:, variable] != MISSING)


def punch(
    table: IncompleteData,
    picks: Mapping[int, NDArray[np.intp]],
    request: Mapping[str, object],
    asked: Mapping[int, int] | None = None,
    *,
    strict: bool = False,
) -> Hidden:
    """Hide the cells and make the record; report variables whose `asked` is not 0."""
    shortfalls = tuple(
        Shortfall(table.names[target], number, picks[target].size)
        for target, number in (asked or {}).items()
        if number
    )
    if shortfalls:
        _report(shortfalls, strict=strict)
    order = sorted(picks)
    sizes = [picks[target].size for target in order]
    rows = np.concatenate([picks[target] for target in order])
    variables = np.repeat(np.array(order, dtype=np.intp), sizes)
    codes = table.codes.copy(order="F")
    codes[rows, variables] = MISSING
    return Hidden(
        data=table.with_codes(codes),
        rows=_frozen(rows),
        variables=_frozen(variables),
        true_codes=_frozen(table.codes[rows, variables]),
        n_candidates=int(np.count_nonzero(table.codes[:, order] != MISSING)),
        request=MappingProxyType(dict(request)),
        shortfalls=shortfalls,
    )


def _report(shortfalls: Sequence[Shortfall], *, strict: bool) -> None:
    """Raise or warn about a request that cannot be met in full."""
    counts = ", ".join(
        f"{s.hidden} of {s.asked} asked in {s.variable!r}" for s in shortfalls
    )
    if strict:
        message = (
            f"there are too few suitable cells to hide: {counts}. "
            f"Ask for fewer, or leave {spell('strict')} out to hide all there are."
        )
        raise ParameterError(message)
    message = f"there were too few suitable cells, so all were hidden: {counts}."
    warn(message, ShortfallWarning)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
