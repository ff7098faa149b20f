"""Indicators of missing cells: one binary variable beside each variable with some.

An indicator is always observed, is nobody's parent, and may have variables for parents,
its own included. A table with its indicators is an ordinary incomplete table and a
network over both an ordinary network (the m-graphs of Mohan and Pearl). Rows differ in
their indicators only where they differ in what is missing: there are no more patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.network.mechanism import OBSERVED_OR_MISSING, indicator_names

__all__ = ["HIDDEN", "Indicators", "Sets"]

HIDDEN = 1  # the state of an indicator; the other one is 0

Sets = tuple[tuple[int, ...], ...]
"""The parents of each indicator, in the order of the indicators."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Indicators:
    """A table and the indicators of its variables with missing and observed cells.

    Parameters
    ----------
    data : IncompleteData
        The table.
    variables : tuple of int
        The variables that have an indicator: what is missing in every row, or in
        none, leaves nothing to explain.
    joint : IncompleteData
        The table with the indicators as further columns.
    """

    data: IncompleteData
    variables: tuple[int, ...]
    joint: IncompleteData

    @classmethod
    def of(cls, data: IncompleteData) -> Indicators:
        """Add the indicators to a table."""
        mask = data.missing_mask
        counted = mask if data.weights is None else mask[data.weights > 0]
        some = counted.any(axis=0) & ~counted.all(axis=0)
        variables = tuple(np.flatnonzero(some).tolist())
        with_some = [data.names[v] for v in variables]
        columns = [data.codes, mask[:, list(variables)].astype(np.uint8)]
        joint = IncompleteData.from_codes(
            np.asfortranarray(np.hstack(columns)),
            names=(*data.names, *indicator_names(data.names, with_some)),
            states=(*data.states, *(OBSERVED_OR_MISSING for _ in variables)),
            weights=data.weights,
        )
        return cls(data, variables, joint)

    @property
    def n_vars(self) -> int:
        """Number of variables without the indicators: the place of the first one."""
        return self.data.n_vars

    def dag(self, dag: Dag, sets: Sets) -> Dag:
        """Return a structure with the indicators added as sinks."""
        return Dag(self.joint.names, (*dag.parents, *sets))

    def without(self, dag: Dag) -> Dag:
        """Undo `dag`."""
        return Dag(self.data.names, dag.parents[: self.n_vars])

    def rules(self, rules: ParentRules, sets: Sets) -> ParentRules:
        """Return rules for the variables as they are, and indicators held fixed."""
        n_all = self.joint.n_vars
        allowed = np.zeros((n_all, n_all), np.uint8)
        required = np.zeros_like(allowed)
        allowed[: self.n_vars, : self.n_vars] = rules.allowed
        required[: self.n_vars, : self.n_vars] = rules.required
        for place, parents in enumerate(sets, self.n_vars):
            allowed[place, list(parents)] = required[place, list(parents)] = 1
        sizes = np.array([len(parents) for parents in sets], np.int32)
        return ParentRules(allowed, required, np.concatenate([rules.limit, sizes]))

    def is_hidden(self, columns: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Tell which cells are missing of the variables that have an indicator."""
        return np.equal(columns[list(self.variables)], MISSING)
