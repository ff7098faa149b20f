"""All kinds of members learned from one table: networks, and latent class models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from bayesmend._checkpoint import Kept
from bayesmend._clock import Clock, limited_calls
from bayesmend._link import Lent, Link
from bayesmend._spelling import spell
from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import InferenceError, OutOfMemoryError
from bayesmend.graph.constraints import ParentRules
from bayesmend.inference.engine import Engine
from bayesmend.learning.effort import em_effort
from bayesmend.learning.em.expectation import Table
from bayesmend.learning.em.search import Search
from bayesmend.learning.ensemble.average import Average
from bayesmend.learning.ensemble.chain import Chain, Member
from bayesmend.learning.ensemble.indicated import Indicated
from bayesmend.learning.ensemble.latent import ClassModels
from bayesmend.learning.ensemble.walk import BURN_IN, N_CHAINS, Walk, walk
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
from bayesmend.score import Score

__all__ = ["ClassKind", "Start", "Told", "Work", "require_room"]

# Of the run of EM that chains start from. They are slow to leave a network that fills a
# variable with what no row shows, so EM needs more than one start, too.
_STEPS, _COARSE, _RESTARTS = 20, 1e-4, 2

Told = Callable[[str, float], None]


class Start(NamedTuple):
    """A network that chains start from, and its score."""

    network: Network
    score: float
    is_interrupted: bool
    reserve: float = 0.0
    """Seconds that mending the table takes, or thereabouts, where time is limited."""


@dataclass(slots=True, repr=False, eq=False)
class ClassKind:
    """Latent class models with one number of classes."""

    n_classes: int
    networks: list[Network] = field(default_factory=list)
    average: Average = field(default_factory=Average)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Work:
    """What all members are learned with, but for the table and the score."""

    rules: ParentRules
    engine: Engine
    clock: Clock
    n_threads: int
    indicated: Indicated = field(default_factory=Indicated)
    kept: Kept = field(default_factory=Kept)
    link: Link | None = None
    """A cluster whose workers learn members."""

    def start(self, data: IncompleteData, score: Score) -> Start:
        """Return a network to start from and its score, by EM.

        Of the mechanism it has what was learned before.
        """
        starts, restarts = em_effort(data)
        search = Search(
            table=Table.of(data, self.engine),
            score=score,
            rules=self.rules,
            solver="auto",
            hard=False,
            max_iter=_STEPS,
            tol=_COARSE,
            clock=self.clock,
            generator=np.random.default_rng(0),
            progress=None,
            kept=self.kept.part("start"),
        )
        search.run(starts, min(restarts, _RESTARTS))
        assert search.best is not None
        network = replace(search.network(), mechanism=self.indicated.mechanism)
        is_interrupted = search.stopped is Stopped.INTERRUPT
        return Start(
            network,
            search.best.score,
            is_interrupted=is_interrupted,
            reserve=search.reserve,
        )

    def networks(
        self,
        data: IncompleteData,
        score: Score,
        start: Network,
        generator: np.random.Generator,
        *,
        n_networks: int,
        tol: float,
        told: Told,
        begun: Walk | None = None,
    ) -> Walk:
        """Walk from a network until there are enough, or their mean has settled.

        Where some networks have been found before, each chain goes on from its last.
        """
        found = Walk() if begun is None else begun
        if self.clock.is_over:
            found.stopped = found.stopped or Stopped.TIME
            return found
        there = Lent.to(self.link, data)
        last = dict(zip(found.chains, found.networks, strict=True))
        chains = [
            Chain(
                data,
                score,
                self.rules,
                self.engine,
                own,
                last.get(number, start),
                self.indicated,
                self.kept.part("chain", score.ess, number),
                there,
            )
            for number, own in enumerate(generator.spawn(min(N_CHAINS, n_networks)))
        ]
        return walk(
            chains,
            n_networks=n_networks,
            burn_in=0 if last else BURN_IN,
            tol=tol,
            clock=self.clock,
            n_threads=self.n_threads,
            told=lambda n: told(quantity(n, "network"), n / n_networks),
            found=found,
        )

    def class_models(
        self,
        data: IncompleteData,
        numbers: Sequence[int],
        n_starts: int,
        generator: np.random.Generator,
    ) -> list[ClassKind]:
        """Fit latent class models, from so many starts for each number of classes.

        Those that the time limit or memory leaves no room for are not there.
        """
        kinds = [ClassKind(n) for n in numbers]
        models = ClassModels(data, self.engine, self.indicated, self.kept)
        there = Lent.to(self.link, models.alone())
        tasks = [(kind, own) for kind in kinds for own in generator.spawn(n_starts)]
        jobs = [partial(self._fit, models, there, kind, own) for kind, own in tasks]
        for (kind, _), member in zip(tasks, self._in_turn(jobs), strict=True):
            if member is not None:
                kind.networks.append(member.network)
                kind.average.add(member.marginals)
        return [kind for kind in kinds if kind.networks]

    def _fit(
        self,
        models: ClassModels,
        there: Lent | None,
        kind: ClassKind,
        generator: np.random.Generator,
    ) -> Member | None:
        if self.clock.is_over:
            return None
        try:
            if there is not None:
                left = self.clock.left
                found: Member = there.do(fit_there, kind.n_classes, generator, left)
                return found
            with limited_calls(self.clock.left):
                return models.fit(kind.n_classes, generator, self.clock)
        except (InferenceError, TimeoutError):
            return None

    def _in_turn(
        self, jobs: Sequence[Callable[[], Member | None]]
    ) -> list[Member | None]:
        """Do all jobs, on threads; the results come in their order."""
        if self.n_threads == 1 or not jobs:
            return [job() for job in jobs]
        pool = ThreadPoolExecutor(min(self.n_threads, len(jobs)), "bayesmend-classes")
        try:
            futures = [pool.submit(copy_context().run, job) for job in jobs]
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def fit_there(
    models: ClassModels,
    n_classes: int,
    generator: np.random.Generator,
    time_limit: float | None,
) -> Member:
    """Fit a latent class model on a worker."""
    with limited_calls(time_limit):
        return models.fit(n_classes, generator, Clock(time_limit))


def require_room(
    data: IncompleteData, start: Network, *, n_networks: int, max_memory: float
) -> None:
    """Raise ``OutOfMemoryError`` when so many networks would not fit into memory.

    A mean takes its memory once, whatever the number of networks; each chain holds a
    completion and what its last network says of the missing cells.
    """
    n_entries = int((data.missing_mask.sum(axis=0) * data.card.astype(np.int64)).sum())
    per_chain = 8 * n_entries + 2 * data.codes.size
    n_chains = min(N_CHAINS, n_networks)
    means = 4 * 8 * n_entries + n_chains * per_chain
    members = n_networks * 9 * sum(cpt.size for cpt in start.cpts)
    if means + members > max_memory:
        needed, limit = (_size(x) for x in (means + members, max_memory))
        msg = (
            f"{spell('n_networks', n_networks)} and the distributions of "
            f"{quantity(data.n_missing, 'missing cell')} would need about {needed}, "
            f"more than {spell('max_memory')} allows ({limit}). Ask for fewer "
            f"networks, or raise {spell('max_memory')}."
        )
        raise OutOfMemoryError(msg)


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e6:,.1f} MB"
