"""One network after the other: each learned from a completion that the last one drew.

A structure is found by greedy search on a bootstrap sample of the completed rows, and
its parameters are the posterior mean given all of them. Without the bootstrap the
structures would differ too little: a search has far fewer doubts than it should.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import CompiledHoles, Engine
from bayesmend.learning.ensemble.indicated import Indicated
from bayesmend.learning.ensemble.weighing import bootstrap_weights
from bayesmend.learning.support import ObservedRows, supported_network
from bayesmend.network.network import Network
from bayesmend.score import FamilyScorer, Score
from bayesmend.structure.greedy import climb_from

__all__ = ["Chain", "Member", "greedy_structure"]


class Member(NamedTuple):
    """A network, and the distributions of the missing cells under it.

    Variable by variable, the rows ascending, one distribution after the other.
    """

    network: Network
    marginals: NDArray[np.float64]


@dataclass(slots=True, repr=False, eq=False)
class Chain:
    """A walk over networks; a step draws a completion and learns from it.

    With indicators, the network at hand has a mechanism, and both are learned from the
    completion. It works on one thread, and has its own source of randomness: several
    chains side by side find what they find one after the other.
    """

    data: IncompleteData
    score: Score
    rules: ParentRules
    engine: Engine
    generator: np.random.Generator
    start: Network
    indicated: Indicated = field(default_factory=Indicated)
    joint: IncompleteData = field(init=False)
    observed: ObservedRows = field(init=False)
    shown: _core.ShownCells = field(init=False)
    compiled: CompiledHoles | None = None

    def __post_init__(self) -> None:
        self.joint = self.indicated.table(self.data)
        self.rules = self.indicated.rules(self.rules)
        self.observed = ObservedRows(self.data, self.score)
        self.shown = _core.ShownCells()

    def step(self) -> Member:
        """Draw a completion, learn a network from it, and make it the next."""
        if self.compiled is None:
            self.compiled = self._compile(self.start)
        key = int(self.generator.integers(2**64, dtype=np.uint64))
        drawn = self.compiled.draw(1, key)[0]
        completed = self.joint.with_codes(np.asfortranarray(drawn.T))
        network = self._learn(completed)
        self.compiled = self._compile(network)
        return Member(network, self.compiled.marginals())

    def _learn(self, completed: IncompleteData) -> Network:
        weights = bootstrap_weights(self.data, self.generator)
        dag = greedy_structure(
            self.joint,
            replace(completed, weights=weights),
            self.score,
            self.rules,
            self.generator,
            shown=self.shown,
        )
        network = Network.fit(dag, completed, estimate="posterior", ess=self.score.ess)
        return supported_network(self.indicated.member(network), self.observed)

    def _compile(self, network: Network) -> CompiledHoles:
        cells = np.ascontiguousarray(self.joint.codes.T)
        return self.engine.compile(self.indicated.joint(network), cells)


def greedy_structure(
    data: IncompleteData,
    completed: IncompleteData,
    score: Score,
    rules: ParentRules,
    generator: np.random.Generator,
    *,
    shown: _core.ShownCells | None = None,
) -> Dag:
    """Climb from the required arcs alone to a structure for weighted rows."""
    scorer = FamilyScorer.completed(
        data, completed, score=score, choices=rules.choices, n_threads=1, shown=shown
    )
    return climb_from(scorer, rules, restarts=0, seed=generator).dag
