"""How sure the structure of one method is: it is learned anew from many samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, nullcontext
from contextvars import copy_context
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from bayesmend import _core
from bayesmend._checkpoint import Checkpoint, Kept, digest_of, opened
from bayesmend._checks import check_choice, check_integer
from bayesmend._clock import Clock, Progress
from bayesmend._entrance import entrance
from bayesmend._link import Lent, linked
from bayesmend._progress import told
from bayesmend._shown import Shown
from bayesmend.data.reading import Reading
from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ParameterError
from bayesmend.graph.confidence import ArcProbabilities, Threshold
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.graph.dag import Dag
from bayesmend.learning.ensemble.weighing import bootstrap_weights
from bayesmend.learning.learn import Method, learn
from bayesmend.learning.support import untold_of_support
from bayesmend.outcome import Stopped
from bayesmend.score import Ess, Prior, Score
from bayesmend.seed import Seed
from bayesmend.structure.solve import Solver, check_solver

__all__ = ["Bootstrap", "bootstrap"]

# An ensemble has confidences of its own.
_METHODS = ("auto", "exact", "local", "em", "em-hard")


@dataclass(frozen=True, slots=True, repr=False)
class Bootstrap(Shown):
    """Structures that one method finds in bootstrap samples of a table.

    Parameters
    ----------
    structures : tuple of Dag
        One for each sample.
    method : str
        The method, as asked for.
    stopped : Stopped
        The time limit or Ctrl-C, where that left fewer samples than asked for.
    seconds : float
        How long it took.
    """

    structures: tuple[Dag, ...]
    method: str
    stopped: Stopped = Stopped.NOTHING
    seconds: float = 0.0

    def arc_probabilities(self) -> ArcProbabilities:
        """Return the share of the structures that hold each arc."""
        return ArcProbabilities.of(self.structures)

    def consensus(self, threshold: Threshold = "auto") -> Dag:
        """Return the structure that samples agree on; see `ArcProbabilities`."""
        return self.arc_probabilities().consensus(threshold)

    def __repr__(self) -> str:
        ended = f", stopped at {self.stopped.words}" if self.stopped else ""
        return (
            f"Bootstrap({quantity(len(self.structures), 'structure')}, "
            f"method={self.method!r}{ended}, seconds={self.seconds:.2f})"
        )


@entrance
def bootstrap(
    data: Any,
    *,
    n: int = 200,
    method: Method = "auto",
    score: Score | str = "bdeu",
    ess: Ess = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    restarts: int | None = None,
    solver: Solver = "auto",
    constraints: ConstraintsLike = None,
    max_memory: float | None = None,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Bootstrap:
    """Learn structures from bootstrap samples of a table, to tell how sure arcs are.

    Each sample draws as many rows as there are, with replacement, missing cells and
    all, and the method learns from it as `learn` does (Friedman, Goldszmidt and Wyner
    1999).

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table, with or without missing cells.
    n : int, default=200
        Number of samples.
    method : {"auto", "exact", "local", "em", "em-hard"}, default="auto"
        As in `learn`. `learn_ensemble` tells confidences by itself.
    {score, auto_ess, prior, support, max_parents}
    restarts : int, optional
        As in `learn`.
    solver : {"auto", "subsets", "ilp", "order", "greedy"} or callable, default="auto"
        As in `learn`: with ``method="em"`` and ``greedy`` a complete table has its arcs
        counted over runs of hill climbing.
    {constraints}
    max_memory : float, optional
        As in `learn`.
    {time_limit, seed, n_threads, checkpoint}
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler: its workers learn from the samples,
        as many at once as they have threads. The answer is the same.
    {progress}
    {reading}

    Returns
    -------
    Bootstrap
        ``structures``, ``arc_probabilities()``, ``consensus()``.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(500, seed=1)
    >>> found = bm.bootstrap(data, n=20, method="em", seed=1)
    >>> arc = found.arc_probabilities().arc("smoke", "bronc")
    >>> arc.undirected > 0.9
    True
    """
    progress = told(progress)
    check_integer("n", n, 1)
    check_choice("method", method, _METHODS)
    check_solver(solver)
    clock = Clock(time_limit)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    options: dict[str, Any] = {
        "method": method,
        "score": score,
        "ess": ess,
        "prior": prior,
        "support": support,
        "max_parents": max_parents,
        "restarts": restarts,
        "solver": solver,
        "constraints": Constraints.of(constraints),
        "max_memory": max_memory,
    }
    # A checkpoint of fewer samples goes on to more: each has its own random numbers.
    with (
        nullcontext() if client is None else linked(client) as link,
        opened(checkpoint, "bootstrap", table=table, seed=seed, options=options) as at,
    ):
        n_there = _core.n_cores() if link is None else link.n_threads
        n_threads = min(n_threads if link is None and n_threads else n_there, n)
        clock.go_on_from(at.seconds)
        samples = _Samples(table, options, clock, at, Lent.to(link, table))
        parent = at.generator
        found, stopped = samples.learn(
            (parent.spawn(1)[0] for _ in range(n)),
            n_threads,
            _teller(progress, n, clock),
        )
    if not found:
        if stopped is Stopped.INTERRUPT:
            raise KeyboardInterrupt
        msg = (
            "the time limit left no time for a single sample. Raise it, or take a "
            "faster method."
        )
        raise ParameterError(msg)
    return Bootstrap(tuple(found), method, stopped, clock.seconds)


def _teller(progress: Progress | None, n: int, clock: Clock) -> Callable[[int], None]:
    def tell(done: int) -> None:
        if progress is not None:
            what = f"bootstrap: {done} of {n} samples"
            progress(what, float("nan"), clock.seconds, share=done / n)

    return tell


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Samples:
    """A table and how to learn from samples of it."""

    table: IncompleteData
    options: dict[str, Any]
    clock: Clock
    kept: Kept
    there: Lent | None = None
    """A cluster that learns, and the table on it."""

    def learn(
        self,
        generators: Iterator[np.random.Generator],
        n_threads: int,
        tell: Callable[[int], None],
    ) -> tuple[list[Dag], Stopped]:
        """Learn from a sample of each generator; what there is when it is ended."""
        found: list[Dag] = []
        try:
            with closing(self._in_turn(generators, n_threads)) as dags:
                for dag in dags:
                    if dag is None:
                        return found, Stopped.TIME
                    found.append(dag)
                    tell(len(found))
        except KeyboardInterrupt:
            return found, Stopped.INTERRUPT
        return found, Stopped.NOTHING

    def _in_turn(
        self, generators: Iterator[np.random.Generator], n_threads: int
    ) -> Generator[Dag | None]:
        """Give the structures in the order of the samples, a few learned ahead."""
        if n_threads == 1:
            yield from map(self._one, generators)
            return
        pool = ThreadPoolExecutor(n_threads, "bayesmend-bootstrap")
        waiting: deque[Future[Dag | None]] = deque()
        try:
            for generator in generators:
                waiting.append(pool.submit(copy_context().run, self._one, generator))
                if len(waiting) > 2 * n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            # Those that wait are not begun; those under way are waited for.
            pool.shutdown(wait=True, cancel_futures=True)

    def _one(self, generator: np.random.Generator) -> Dag | None:
        """Learn from one sample; None where time is over before it is done."""
        if self.clock.is_over:
            return None
        number = digest_of(dict(generator.bit_generator.state))

        def learn() -> tuple[tuple[int, ...], ...]:
            with self.kept.aside("sample", number) as kept:
                return self._parents(generator, kept)

        try:
            parents = self.kept.step("sample", learn, generator=generator)
        except TimeoutError:
            return None
        with self.kept.sound():
            return Dag(self.table.names, tuple(map(tuple, parents)))

    def _parents(
        self, generator: np.random.Generator, kept: Kept
    ) -> tuple[tuple[int, ...], ...]:
        limit = self.clock.left
        if self.there is not None:
            found: tuple[tuple[int, ...], ...] = self.there.do(
                _learn_from, generator, limit, None, self.options
            )
            return found
        own = kept if kept.is_kept else None
        return _learn_from(self.table, generator, limit, own, self.options)


def _learn_from(
    table: IncompleteData,
    generator: np.random.Generator,
    time_limit: float | None,
    kept: Kept | None,
    options: dict[str, Any],
) -> tuple[tuple[int, ...], ...]:
    """Learn from a bootstrap sample of a table, on one thread."""
    sample = replace(table, weights=bootstrap_weights(table, generator))
    with untold_of_support():
        found = learn(
            sample,
            seed=generator,
            n_threads=1,
            time_limit=time_limit,
            checkpoint=kept,
            progress=False,
            **options,
        )
    if found.stopped is Stopped.INTERRUPT:
        raise KeyboardInterrupt
    if found.stopped is Stopped.TIME:
        raise TimeoutError
    return found.dag.parents
