"""One network after the other: each learned from a completion that the last one drew.

A structure is found by greedy search on a bootstrap sample of the completed rows, and
its parameters are the posterior mean given all of them. Without the bootstrap the
structures would differ too little: a search has far fewer doubts than it should.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import Kept
from bayesmend._clock import left_for_calls
from bayesmend._link import Lent
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import CompiledHoles, Engine
from bayesmend.learning.em.expectation import split_cpts
from bayesmend.learning.ensemble.indicated import Indicated
from bayesmend.learning.ensemble.weighing import bootstrap_weights
from bayesmend.learning.support import ObservedRows, supported_network
from bayesmend.network.flat import flatten
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
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
    kept: Kept = field(default_factory=Kept)
    there: Lent | None = None
    """The table on a cluster whose workers make the steps."""
    joint: IncompleteData = field(init=False)
    all_rules: ParentRules = field(init=False)
    observed: ObservedRows = field(init=False)
    shown: _core.ShownCells = field(init=False)
    compiled: CompiledHoles | None = None

    def __post_init__(self) -> None:
        self.joint = self.indicated.table(self.data)
        self.all_rules = self.indicated.rules(self.rules)
        self.observed = ObservedRows(self.data, self.score)
        self.shown = _core.ShownCells()

    def step(self) -> Member:
        """Draw a completion, learn a network from it, and make it the next."""
        before = self.indicated.joint(self.start)
        made: list[Member] = []
        told = self.kept.step(
            "network",
            self._learn if self.there is None else lambda: self._learn_there(made),
            before.dag.parents,
            list(before.cpts),
            generator=self.generator,
        )
        if made:
            self.start = made[0].network
            return made[0]
        return self._member(told)

    def _learn_there(self, made: list[Member]) -> dict[str, Any]:
        """Have a worker make the step, and go on where its random numbers ended."""
        assert self.there is not None
        told, member, state = self.there.do(
            step_there,
            self.score,
            self.rules,
            self.engine,
            self.generator,
            self.start,
            self.indicated,
        )
        self.generator.bit_generator.state = state
        made.append(member)
        plain: dict[str, Any] = told
        return plain

    def step_alone(self) -> tuple[dict[str, Any], Member, Any]:
        """Make a step; return what it tells, the member, and the state it ends in."""
        told = self._learn()
        return told, self._member(told), self.generator.bit_generator.state

    def _member(self, told: dict[str, Any]) -> Member:
        """Make a learned network the next, and ask it for the missing cells."""
        with self.kept.sound():
            dag = Dag(self.joint.names, tuple(map(tuple, told["parents"])))
            tables = split_cpts(dag, self.joint.card, told["cpts"])
            network = Network(dag, self.joint.states, tables, schema=self.joint.schema)
        self.start = supported_network(self.indicated.member(network), self.observed)
        self.compiled = self._compile(self.start)
        return Member(self.start, self.compiled.marginals())

    def _learn(self) -> dict[str, Any]:
        if self.compiled is None:
            self.compiled = self._compile(self.start)
        key = int(self.generator.integers(2**64, dtype=np.uint64))
        drawn = self.compiled.draw(1, key)[0]
        completed = self.joint.with_codes(np.asfortranarray(drawn.T))
        weights = bootstrap_weights(self.data, self.generator)
        dag = greedy_structure(
            self.joint,
            replace(completed, weights=weights),
            self.score,
            self.all_rules,
            self.generator,
            shown=self.shown,
            max_memory=self.engine.max_memory,
        )
        network = Network.fit(dag, completed, estimate="posterior", ess=self.score.ess)
        return {"parents": dag.parents, "cpts": flatten(dag, network.cpts).cpts}

    def _compile(self, network: Network) -> CompiledHoles:
        cells = np.ascontiguousarray(self.joint.codes.T)
        return self.engine.compile(self.indicated.joint(network), cells)


def step_there(
    data: IncompleteData,
    score: Score,
    rules: ParentRules,
    engine: Engine,
    generator: np.random.Generator,
    start: Network,
    indicated: Indicated,
) -> tuple[dict[str, Any], Member, Any]:
    """Make the step of a chain on a worker."""
    chain = Chain(data, score, rules, engine, generator, start, indicated)
    return chain.step_alone()


def greedy_structure(
    data: IncompleteData,
    completed: IncompleteData,
    score: Score,
    rules: ParentRules,
    generator: np.random.Generator,
    *,
    shown: _core.ShownCells | None = None,
    max_memory: float | None = None,
) -> Dag:
    """Climb from the required arcs alone to a structure for weighted rows.

    Raises TimeoutError where calls are limited and there is no time for all of it.
    """
    scorer = FamilyScorer.completed(
        data,
        completed,
        score=score,
        choices=rules.choices,
        n_threads=1,
        shown=shown,
        max_memory=max_memory,
    )
    left = left_for_calls()
    found = climb_from(scorer, rules, restarts=0, time_limit=left, seed=generator)
    if found.stopped is Stopped.TIME:
        raise TimeoutError
    return found.dag
