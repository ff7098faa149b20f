"""Members under a mechanism: that a cell is missing is evidence of what is in it.

The mechanism is learned first, by EM, which says what each indicator depends on. Every
member then has a mechanism of its own with these parents: a table with its indicators
is an ordinary incomplete table, from which completions are drawn and networks are
learned, the families of the indicators held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.learning.mechanism.indicators import Indicators, Sets
from bayesmend.network.mechanism import Mechanism
from bayesmend.network.network import Network

__all__ = ["Indicated"]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Indicated:
    """The indicators of a table and their parents; without any, all stays as it is.

    Parameters
    ----------
    indicators : Indicators, optional
        Of the table as it was given: where more cells are hidden for a trial, these
        are known to be observed.
    mechanism : Mechanism, optional
        To start from, with an entry for each of the indicators.

    Examples
    --------
    >>> data = IncompleteData.from_table({"a": ["x", None, "y"], "b": ["u", "v", "v"]})
    >>> Indicated().table(data) is data
    True
    >>> why = Mechanism(("a",), (("b",),), ([[0.9, 0.1], [0.5, 0.5]],))
    >>> Indicated(Indicators.of(data), why).table(data).names
    ('a', 'b', 'missing_a')
    """

    indicators: Indicators | None = None
    mechanism: Mechanism | None = None

    @property
    def sets(self) -> Sets:
        """The parents of each indicator, by their places."""
        if self.indicators is None or self.mechanism is None:
            return ()
        place = {name: v for v, name in enumerate(self.indicators.data.names)}
        return tuple(
            tuple(sorted(place[p] for p in parents))
            for parents in self.mechanism.parents
        )

    def table(self, data: IncompleteData) -> IncompleteData:
        """Add the indicators to the table, or to one with more cells hidden."""
        if self.indicators is None:
            return data
        joint, n_vars = self.indicators.joint, self.indicators.n_vars
        columns = [data.codes, joint.codes[:, n_vars:]]
        return joint.with_codes(np.asfortranarray(np.hstack(columns)))

    def rules(self, rules: ParentRules) -> ParentRules:
        """Return rules for the variables as they are, and indicators held fixed."""
        if self.indicators is None:
            return rules
        return self.indicators.rules(rules, self.sets)

    def dag(self, dag: Dag) -> Dag:
        """Add the indicators to a structure."""
        return dag if self.indicators is None else self.indicators.dag(dag, self.sets)

    def cpts(self) -> NDArray[np.float64]:
        """Return the tables of all indicators, flat, to start from."""
        if self.indicators is None or self.mechanism is None:
            return np.empty(0)
        network = Network(
            Dag(self.indicators.data.names, ((),) * self.indicators.n_vars),
            self.indicators.data.states,
            tuple(np.full((1, r), 1 / r) for r in self.indicators.data.card.tolist()),
            mechanism=self.mechanism,
        )
        tables = network.with_indicators().cpts[self.indicators.n_vars :]
        return np.concatenate([table.ravel() for table in tables])

    def member(self, joint: Network) -> Network:
        """Make of the families of indicators the mechanism of a network."""
        if self.indicators is None:
            return joint
        data = self.indicators.data
        names = self.indicators.joint.names[data.n_vars :]
        variables = [data.names[v] for v in self.indicators.variables]
        of = dict(zip(names, variables, strict=True))
        return replace(joint.without_indicators(of), schema=data.schema)

    def joint(self, member: Network) -> Network:
        """Undo `member`: indicators come after the variables of the table."""
        if self.indicators is None:
            return member
        return member.with_indicators(self.indicators.n_vars)
