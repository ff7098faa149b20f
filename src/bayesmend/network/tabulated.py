"""The probabilities of one variable, with names and labels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._columns import in_columns, show_probability
from bayesmend._copies import frozen_in_copies
from bayesmend._packages import require
from bayesmend._shown import Shown
from bayesmend._visible import visible
from bayesmend.data.states import Label, quantity

__all__ = ["Cpt", "configurations"]

_MAX_ROWS = 30


@frozen_in_copies
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Cpt(Shown):
    """The probabilities of a variable, given its parents; it prints as a table.

    ``network.cpt("lung")`` and ``network["lung"]`` make one.

    Parameters
    ----------
    variable : str
        The variable.
    states : tuple
        Labels of its states, one per column.
    parents : tuple of str
        Its parents.
    parent_states : tuple of tuple
        Labels of the states of each parent.
    probabilities : ndarray of shape (n_parent_configs, n_states)
        One row per configuration of the parents, the first parent varying fastest.

    Examples
    --------
    >>> import bayesmend as bm
    >>> bm.load_network("asia").cpt("lung")
    lung given smoke
    <BLANKLINE>
    smoke  yes       no
    yes    0.100000  0.900000
    no     0.010000  0.990000
    """

    variable: str
    states: tuple[Label, ...]
    parents: tuple[str, ...]
    parent_states: tuple[tuple[Label, ...], ...]
    probabilities: NDArray[np.float64]

    @property
    def configurations(self) -> tuple[tuple[Label, ...], ...]:
        """The states of the parents in each row."""
        return tuple(configurations(self.parent_states))

    def to_dict(self) -> dict[str, list[Any]]:
        """Give a row per probability, column by column, ready for any data frame.

        Examples
        --------
        >>> import bayesmend as bm
        >>> columns = bm.load_network("asia")["lung"].to_dict()
        >>> columns["smoke"], columns["lung"], columns["probability"]
        (['yes', 'yes', 'no', 'no'], ['yes', 'no', 'yes', 'no'], [0.1, 0.9, 0.01, 0.99])
        """
        names = (*self.parents, self.variable)
        cells = [
            (*config, state)
            for config in configurations(self.parent_states)
            for state in self.states
        ]
        columns: dict[str, list[Any]] = {
            name: [cell[k] for cell in cells] for k, name in enumerate(names)
        }
        last = "probability"
        while last in columns:
            last += "_"
        columns[last] = self.probabilities.ravel().tolist()
        return columns

    def to_pandas(self) -> Any:
        """Return a pandas frame: a row per configuration, a column per state.

        The states of the parents label the rows.
        """
        pd = require("pandas")
        columns = pd.Index(self.states, name=self.variable, dtype=object)
        if not self.parents:
            return pd.DataFrame(self.probabilities, columns=columns)
        rows = pd.MultiIndex.from_tuples(
            configurations(self.parent_states), names=self.parents
        )
        if len(self.parents) == 1:
            rows = rows.get_level_values(0)
        return pd.DataFrame(self.probabilities, index=rows, columns=columns)

    def to_polars(self) -> Any:
        """Return a polars frame with a row per probability, as :meth:`to_dict` has."""
        return require("polars").DataFrame(self.to_dict(), strict=False)

    def __repr__(self) -> str:
        given = f" given {', '.join(self.parents)}" if self.parents else ""
        rows = [tuple(map(str, (*self.parents, *self.states)))]
        configs = configurations(self.parent_states)
        for config, row in zip(configs, self.probabilities[:_MAX_ROWS], strict=False):
            shown = map(show_probability, row.tolist())
            rows.append((*map(str, config), *shown))
        lines = [f"{self.variable}{given}", "", *in_columns(rows)]
        if (n_left := len(self.probabilities) - _MAX_ROWS) > 0:
            lines.append(f"... {quantity(n_left, 'more row')}")
        return visible("\n".join(lines))


def configurations(states: Sequence[Sequence[Label]]) -> Iterator[tuple[Label, ...]]:
    """Iterate over the configurations of parents, the first varying fastest.

    Examples
    --------
    >>> list(configurations([("a", "b"), (0, 1)]))
    [('a', 0), ('b', 0), ('a', 1), ('b', 1)]
    """
    for config in itertools.product(*reversed(states)):
        yield config[::-1]
