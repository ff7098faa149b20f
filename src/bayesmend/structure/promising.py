"""Parents that are worth a try: lists that spare a search of many variables most work.

A climb learns for every child which parents gain the most. Later climbs on much the
same counts, above all on expected ones, which take far longer, try only these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag

__all__ = ["MOST_NOTED", "Promising"]

MOST_NOTED = 16
"""Parents noted for every parent set that a climb comes by."""


@dataclass(slots=True, repr=False, eq=False)
class Promising:
    """Which parents of each child are worth a try.

    Parameters
    ----------
    mask : ndarray of shape (n_vars, n_vars), bool
        ``mask[child, parent]``.
    """

    mask: NDArray[np.bool_]

    @classmethod
    def none(cls, n_vars: int) -> Promising:
        """Return empty lists."""
        return cls(np.zeros((n_vars, n_vars), bool))

    @classmethod
    def told(cls, packed: NDArray[np.uint8], n_vars: int) -> Promising:
        """Return what `packed` packed."""
        bits = np.unpackbits(packed, count=n_vars * n_vars)
        return cls(bits.reshape(n_vars, n_vars).astype(bool))

    def packed(self) -> NDArray[np.uint8]:
        """Return the lists as bits."""
        return np.packbits(self.mask)

    def note(self, lists: Sequence[Sequence[int]]) -> None:
        """Add to the list of every child."""
        for child, parents in enumerate(lists):
            self.mask[child, list(parents)] = True

    def within(self, rules: ParentRules, dag: Dag | None = None) -> ParentRules:
        """Return rules that allow what is listed, either way round, and arcs of a DAG.

        Examples
        --------
        >>> from bayesmend import Constraints
        >>> names = ["a", "b", "c"]
        >>> rules = Constraints().rules(names, max_parents=2)
        >>> lists = Promising.none(3)
        >>> lists.note([[1], [], []])
        >>> lists.within(rules, Dag.from_arcs(names, [("b", "c")])).allowed.tolist()
        [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
        """
        wanted = self.mask.copy()
        for child, parents in enumerate(() if dag is None else dag.parents):
            wanted[child, list(parents)] = True
        wanted |= wanted.T
        wanted |= rules.required > 0
        return replace(rules, allowed=rules.allowed & wanted)
