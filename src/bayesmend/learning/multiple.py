"""Proper multiple imputation: structure, parameters and cells drawn for every table.

A chain goes in turns: given the completed table it draws a structure, given both it
draws the parameters, and given these the missing cells (Gibbs sampling, the data
augmentation of Tanner and Wong 1987). So tables differ by all that is not known, and
what is estimated from them has intervals that are wide enough.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import Checkpoint, Kept, State, opened
from bayesmend._checks import check_choice, check_flag, check_integer, check_number
from bayesmend._clock import (
    Clock,
    Progress,
    check_threads,
    left_for_calls,
    limited_calls,
)
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._rows import offsets_of
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.reading import Reading
from bayesmend.data.restore import Fill
from bayesmend.data.states import MISSING, quantity
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import ParameterError, ShortfallWarning
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.learning.em import complete_by_em
from bayesmend.learning.pool import Pooled, pool
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
from bayesmend.score import FamilyScorer, Prior, Score
from bayesmend.seed import Seed
from bayesmend.structure.greedy import climb_from
from bayesmend.structure.posterior import all_families, layers_of, split_r_hat

__all__ = ["MultipleImputation", "impute_multiple"]

Draw = Literal["partition", "bootstrap"]

_STEPS_PER_VARIABLE = 5
_AT_ONCE = 2**20  # probabilities drawn between two looks at the clock
_START_SHARE = 0.25  # of the time limit, for the completion to start from


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MultipleImputation(Shown):
    """Completed tables, each with the network that it was drawn from.

    Parameters
    ----------
    tables : tuple of IncompleteData
        The completed tables.
    networks : tuple of Network
        The structure and the parameters drawn for each table.
    trace : mapping of str to ndarray of shape (n_chains, n_rounds)
        Summaries of each round of each chain: ``arcs``, their number, and for every
        variable with missing cells the share of its first state among the filled cells.
    burn_in : int
        Number of rounds of each chain before its first table.
    method : str
        How structures were drawn.
    fill : str
        Whether variables that are cut come back as a ``number`` or an ``interval``.
    n_missing : int
        Number of cells that were filled.
    stopped : Stopped
        What ended the chains early.
    seconds : float
        How long it took.
    """

    tables: tuple[IncompleteData, ...]
    networks: tuple[Network, ...]
    trace: Mapping[str, NDArray[np.float64]]
    burn_in: int
    method: str
    fill: Fill = "number"
    n_missing: int = 0
    stopped: Stopped = Stopped.NOTHING
    seconds: float = 0.0

    @property
    def m(self) -> int:
        """Number of completed tables."""
        return len(self.tables)

    def to_table(self, number: int = 0) -> Any:
        """Return a completed table of the kind given, with all its columns."""
        return self.tables[number].to_table(fill=self.fill)

    def to_tables(self) -> list[Any]:
        """Return all completed tables, of the kind given."""
        return [self.to_table(number) for number in range(self.m)]

    def estimate(
        self,
        analyse: Callable[[Any], tuple[Any, Any]],
        *,
        df: float | None = None,
        level: float = 0.95,
    ) -> Pooled:
        """Analyse every completed table, and pool what comes out.

        Parameters
        ----------
        analyse : callable
            Takes a completed table of the kind given, and returns estimates and their
            variances.
        df : float, optional
            Degrees of freedom of the analysis of a table without missing cells.
        level : float, default=0.95
            Probability with which the interval covers the truth.
        """
        found = [_as_pair(analyse(table)) for table in self.to_tables()]
        estimates, variances = zip(*found, strict=True)
        return pool(estimates, variances, df=df, level=level)

    def r_hat(self) -> dict[str, float]:
        """Tell how far the chains are apart in each summary; 1 where they agree."""
        return {
            name: float(split_r_hat(values[:, self.burn_in :]))
            for name, values in self.trace.items()
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all but the tables in plain types, ready for JSON."""
        return {
            "m": self.m,
            "method": self.method,
            "n_missing": self.n_missing,
            "burn_in": self.burn_in,
            "r_hat": {
                name: value if np.isfinite(value) else None
                for name, value in self.r_hat().items()
            },
            "stopped": self.stopped.value,
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        return (
            f"MultipleImputation(m={self.m}, {self.n_missing:,} cells, "
            f"{self.method!r}, seconds={self.seconds:.2f})"
        )


@entrance
def impute_multiple(
    data: Any,
    m: int = 20,
    *,
    method: Draw = "partition",
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    max_parents: int = 3,
    constraints: ConstraintsLike = None,
    n_chains: int = 4,
    burn_in: int = 20,
    thin: int = 5,
    fill: Fill = "number",
    fill_empty_rows: bool = False,
    max_memory: float = MAX_MEMORY,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> MultipleImputation:
    """Complete a table m times, each time with a network of its own.

    Structure, parameters and missing cells are drawn from their joint posterior
    distribution, so that the tables differ by all that is not known. Analyse each as
    if it were complete, and `pool` what comes out.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells.
    m : int, default=20
        Number of completed tables.
    method : {"partition", "bootstrap"}, default="partition"
        How structures are drawn given a completed table. ``partition``: from their
        posterior, by a chain over ordered partitions. ``bootstrap``: by a climb on
        rows drawn with replacement.
    score : Score or str, default="bdeu"
        The rule, or its name; its `ess` is that of the parameters, too.
    {ess, prior, max_parents, constraints}
    n_chains : int, default=4
        Chains; tables are taken from them in turn.
    burn_in : int, default=20
        Rounds of each chain before its first table.
    thin : int, default=5
        Rounds between two tables of a chain.
    fill : {"number", "interval"}, default="number"
        How variables that are cut come back: with a missing cell as one of the numbers
        observed within its interval, drawn, or all of them as intervals.
    {fill_empty_rows}
    max_memory : float, default=2**30
        Bytes that the tables of exact inference may take, and the completed tables.
    time_limit : float, optional
        Seconds; the tables drawn by then are returned.
    {seed, n_threads, checkpoint, progress}
    {reading}

    Returns
    -------
    MultipleImputation
        Completed tables, the networks drawn with them, and a trace of the chains.

    Warns
    -----
    ShortfallWarning
        When time or an interrupt ended the chains before the last table.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = bm.hide_mcar(asia.sample(200, seed=1), 0.2, seed=1).data
    >>> found = bm.impute_multiple(data, m=4, burn_in=5, thin=2, seed=1)
    >>> found.m, found.tables[0].is_complete, found.tables[0] == found.tables[1]
    (4, True, False)
    """
    progress = told(progress)
    clock = Clock(time_limit)
    _check(m, method, n_chains, burn_in, thin, fill)
    check_flag("fill_empty_rows", fill_empty_rows)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    _check_room(table, m, max_memory)
    rules = Constraints.of(constraints).rules(table.names, max_parents=max_parents)
    options: dict[str, Any] = {
        "m": m,
        "method": method,
        "score": Score.of(score, ess=ess, prior=prior),
        "max_parents": max_parents,
        "constraints": Constraints.of(constraints),
        "n_chains": n_chains,
        "burn_in": burn_in,
        "thin": thin,
        "max_memory": max_memory,
    }
    call = "impute_multiple"
    with opened(checkpoint, call, table=table, seed=seed, options=options) as kept:
        clock.go_on_from(kept.seconds)
        generator = kept.generator
        draws = _Draws(
            table=table,
            score=options["score"],
            rules=rules,
            method=method,
            engine=Engine(
                n_threads=check_threads(n_threads),
                max_memory=max_memory,
                remedy=f"or lower {spell('max_parents')}",
            ),
            generators=[
                np.random.default_rng(int(generator.integers(2**63)))
                for _ in range(min(n_chains, m))
            ],
            at=kept,
        )
        draws.run(m, burn_in, thin, clock, progress)
    if len(draws.kept) < m:
        warn(
            f"{len(draws.kept)} of {quantity(m, 'table')} were drawn before the "
            f"{draws.stopped.words}. Raise {spell('time_limit')}, or lower "
            f"{spell('m')}.",
            ShortfallWarning,
        )
    return _assemble(draws, burn_in, fill, fill_empty_rows, generator, clock)


def _check(
    m: int, method: str, n_chains: int, burn_in: int, thin: int, fill: str
) -> None:
    check_integer("m", m, 1)
    check_choice("method", method, get_args(Draw))
    check_integer("n_chains", n_chains, 1)
    check_integer("burn_in", burn_in, 1)
    check_integer("thin", thin, 1)
    check_choice("fill", fill, get_args(Fill))


def _check_room(table: IncompleteData, m: int, max_memory: float) -> None:
    check_number("max_memory", max_memory, unit="bytes", above=0)
    n_bytes = 2 * m * table.codes.size
    if n_bytes > max_memory:
        msg = (
            f"{spell('m', m)} completed tables would need {n_bytes / 1e6:.3g} MB, "
            f"which is more than {spell('max_memory', float(max_memory))}. Ask for "
            f"fewer tables, or raise {spell('max_memory')}."
        )
        raise ParameterError(msg)


@dataclass(slots=True)
class _State:
    """Where a chain is: a completed table and what it was drawn from."""

    codes: NDArray[np.uint8]
    dag: Dag
    cpts: NDArray[np.float64]


@dataclass(slots=True)
class _Draws:
    """The chains, and what has been kept of them."""

    table: IncompleteData
    score: Score
    rules: ParentRules
    method: Draw
    engine: Engine
    generators: list[np.random.Generator]
    at: Kept = field(default_factory=Kept)
    states: list[_State] = field(default_factory=list)
    kept: list[_State] = field(default_factory=list)
    trace: list[list[list[float]]] = field(default_factory=list)
    stopped: Stopped = Stopped.NOTHING

    def run(
        self, m: int, burn_in: int, thin: int, clock: Clock, progress: Progress | None
    ) -> None:
        """Draw m tables, or as many as there is time for; at least one."""
        self._start(clock)
        n_chains = len(self.generators)
        n_rounds = burn_in + thin * (-(-m // n_chains) - 1)
        state = self.at.state("rounds", self._filled(self.states[0]))
        n_done = self._go_on(state, n_rounds, m)
        latest: dict[str, Any] | None = None
        try:
            with limited_calls(clock.left):
                for number in range(n_done, n_rounds):
                    self._round(clock)
                    if number + 1 >= burn_in and (number + 1 - burn_in) % thin == 0:
                        self.kept += self.states[: m - len(self.kept)]
                    latest = self._told(number + 1)
                    if state.is_due or number + 1 == n_rounds:
                        state.save(latest)
                        latest = None
                    if progress is not None:
                        what = f"round {number + 1} of {n_rounds}"
                        progress(what, len(self.kept), clock.seconds)
        except KeyboardInterrupt:
            self.stopped = Stopped.INTERRUPT
        except TimeoutError:
            self.stopped = Stopped.TIME
        if latest is not None:
            state.save(latest)
        if not self.kept:
            self.kept = self.states[:m]

    def _told(self, n_done: int) -> dict[str, Any]:
        """Return where all chains are, after a round."""
        return {
            "done": n_done,
            "states": [self._state_told(state) for state in self.states],
            "kept": [self._state_told(state) for state in self.kept],
            "trace": [list(row) for row in self.trace],
            "generators": [dict(g.bit_generator.state) for g in self.generators],
        }

    def _state_told(self, state: _State) -> dict[str, Any]:
        return {
            "filled": self._filled(state),
            "parents": state.dag.parents,
            "cpts": state.cpts,
        }

    def _filled(self, state: _State) -> NDArray[np.uint8]:
        return np.asarray(state.codes[self.table.missing_mask], np.uint8)

    def _go_on(self, kept: State, n_rounds: int, m: int) -> int:
        """Take all chains to where a checkpoint has them; return the rounds done."""
        told = kept.load()
        if told is None:
            return 0
        try:
            n_done = int(told["done"])
            states = [self._state_of(each) for each in told["states"]]
            done = [self._state_of(each) for each in told["kept"]]
            trace = [[list(map(float, each)) for each in row] for row in told["trace"]]
            for generator, where in zip(
                self.generators, told["generators"], strict=True
            ):
                generator.bit_generator.state = where
            n_chains = len(self.generators)
            sizes = {n_done, *map(len, trace)}
            if not (
                0 < n_done <= n_rounds
                and sizes == {n_done}
                and len(states) == len(trace) == n_chains
                and len(done) <= m
            ):
                raise ValueError
        except (ArithmeticError, LookupError, TypeError, ValueError):
            kept.refuse_damage()
        self.states, self.kept, self.trace = states, done, trace
        return n_done

    def _state_of(self, told: dict[str, Any]) -> _State:
        dag = Dag(self.table.names, tuple(map(tuple, told["parents"])))
        cpts = np.asarray(told["cpts"], np.float64)
        self.network(dag, cpts)  # checks their sizes
        codes = self.table.codes.copy(order="F")
        codes[self.table.missing_mask] = told["filled"]
        if (codes >= self.table.card).any():
            raise ValueError
        return _State(codes, dag, cpts)

    def _start(self, clock: Clock) -> None:
        """Begin with the completion that structural EM finds, and no arcs but it."""
        left = clock.left
        part = Clock(None if left is None else left * _START_SHARE)
        filled = self.at.step(
            "start",
            lambda: self._completed_by_em(part),
            unless=lambda _: part.is_over,
        )
        codes = self.table.codes.copy(order="F")
        with self.at.sound():
            codes[self.table.missing_mask] = filled
            if (codes >= self.table.card).any():
                raise ValueError
        dag = Dag(
            self.table.names,
            tuple(tuple(np.flatnonzero(row).tolist()) for row in self.rules.required),
        )
        generator = np.random.default_rng(0)
        cpts = self._draw_parameters(codes, dag, generator)
        self.states = [_State(codes, dag, cpts) for _ in self.generators]
        self.trace = [[] for _ in self.generators]

    def _completed_by_em(self, clock: Clock) -> NDArray[np.uint8]:
        completed = complete_by_em(
            self.table, self.score, self.rules, time_limit=clock.left
        )
        return np.asarray(completed.codes[self.table.missing_mask])

    def _round(self, clock: Clock) -> None:
        """Take every chain a step on, or none of them."""
        states = []
        for state, generator in zip(self.states, self.generators, strict=True):
            if clock.is_over:
                raise TimeoutError
            states.append(self._step(state, generator, clock))
        self.states = states
        for row, state in zip(self.trace, states, strict=True):
            row.append(self._summaries(state))

    def _step(
        self, state: _State, generator: np.random.Generator, clock: Clock
    ) -> _State:
        dag = self._draw_structure(state, generator)
        cpts = self._draw_parameters(state.codes, dag, generator, clock)
        return _State(self._draw_cells(dag, cpts, generator), dag, cpts)

    def _draw_structure(self, state: _State, generator: np.random.Generator) -> Dag:
        if self.method == "bootstrap":
            return self._climb(state, generator)
        scorer = self._scorer(state.codes, self.table.weights)
        sets = all_families(scorer, self.rules)
        steps = _STEPS_PER_VARIABLE * sets.n_vars
        found = _core.sample_partitions(
            *sets.arrays,
            layers_of(state.dag),
            1,
            1,
            steps,
            0,
            left_for_calls() or 0.0,
            int(generator.integers(2**63)),
            1,
            None,
        )
        stopped = Stopped(found.stopped.name)
        if stopped is Stopped.TIME:
            raise TimeoutError
        if stopped:
            raise KeyboardInterrupt
        return Dag(
            self.table.names, tuple(sets.members_of(c) for c in found.choices.tolist())
        )

    def _climb(self, state: _State, generator: np.random.Generator) -> Dag:
        """Learn from rows drawn with replacement."""
        n_rows, weights = self.table.n_rows, self.table.weights
        drawn = generator.multinomial(n_rows, np.full(n_rows, 1 / n_rows))
        weights = drawn.astype(float) * (1.0 if weights is None else weights)
        found = climb_from(
            self._scorer(state.codes, weights),
            self.rules,
            restarts=0,
            time_limit=left_for_calls(),
            seed=generator,
        )
        if found.stopped is Stopped.TIME:
            raise TimeoutError
        if found.stopped:
            raise KeyboardInterrupt
        return found.dag

    def _scorer(
        self, codes: NDArray[np.uint8], weights: NDArray[np.float64] | None
    ) -> FamilyScorer:
        completed = IncompleteData.from_codes(
            codes, names=self.table.names, states=self.table.states, weights=weights
        )
        return FamilyScorer(
            completed,
            score=self.score,
            constraints=self.rules,
            n_threads=self.engine.n_threads,
        )

    def _draw_parameters(
        self,
        codes: NDArray[np.uint8],
        dag: Dag,
        generator: np.random.Generator,
        clock: Clock | None = None,
    ) -> NDArray[np.float64]:
        """Draw each distribution from its Dirichlet posterior."""
        card, weights = self.table.card.tolist(), self.table.weights
        tables = []
        for v, parents in enumerate(dag.parents):
            places = np.zeros(len(codes), np.intp)
            for p in reversed(parents):
                places = places * card[p] + codes[:, p]
            n_configs = int(np.prod([card[p] for p in parents], initial=1))
            counts = np.bincount(
                places * card[v] + codes[:, v],
                weights=weights,
                minlength=n_configs * card[v],
            ).reshape(n_configs, card[v])
            prior = self.score.ess / counts.size
            n_at_once = max(1, _AT_ONCE // card[v])
            for first in range(0, n_configs, n_at_once):
                if clock is not None and clock.is_over:
                    raise TimeoutError
                part = counts[first : first + n_at_once].astype(np.float64) + prior
                tables.append(_draw_distributions(part, generator).ravel())
        return np.concatenate(tables)

    def _draw_cells(
        self, dag: Dag, cpts: NDArray[np.float64], generator: np.random.Generator
    ) -> NDArray[np.uint8]:
        network = self.network(dag, cpts)
        cells = np.ascontiguousarray(self.table.codes.T)
        compiled = self.engine.compile(network, cells)
        key = int(generator.integers(2**64, dtype=np.uint64))
        codes: NDArray[np.uint8] = compiled.draw(1, key)[0].T
        return codes

    def network(self, dag: Dag, cpts: NDArray[np.float64]) -> Network:
        """Return the network that was drawn."""
        card = self.table.card.tolist()
        sizes = [
            card[v] * int(np.prod([card[p] for p in parents], initial=1))
            for v, parents in enumerate(dag.parents)
        ]
        ends = offsets_of(sizes)
        tables = tuple(
            cpts[ends[v] : ends[v + 1]].reshape(-1, card[v]) for v in range(len(card))
        )
        return Network(dag, self.table.states, tables, schema=self.table.schema)

    def _summaries(self, state: _State) -> list[float]:
        missing = self.table.missing_mask
        shares = [
            float((state.codes[missing[:, v], v] == 0).mean())
            for v in np.flatnonzero(missing.any(axis=0))
        ]
        return [float(state.dag.n_arcs), *shares]

    def traces(self) -> dict[str, NDArray[np.float64]]:
        """Return the summaries of all rounds by name, chains in rows."""
        missing = self.table.missing_mask.any(axis=0)
        names = ["arcs", *(self.table.names[v] for v in np.flatnonzero(missing))]
        rounds = np.array(self.trace, dtype=np.float64)
        rounds = rounds.reshape(len(self.trace), -1, len(names))
        return {name: rounds[:, :, k] for k, name in enumerate(names)}


def _draw_distributions(
    counts: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw a distribution for each row of counts, prior included.

    By logarithms, since a gamma variate of a small shape may be below all numbers.
    """
    shape = np.maximum(counts, 1e-12)
    logs = np.log(generator.standard_gamma(shape + 1.0))
    logs += np.log1p(-generator.random(shape.shape)) / shape
    drawn: NDArray[np.float64] = np.exp(logs - logs.max(axis=1, keepdims=True))
    drawn /= drawn.sum(axis=1, keepdims=True)
    return drawn


def _assemble(
    draws: _Draws,
    burn_in: int,
    fill: Fill,
    fill_empty_rows: bool,
    generator: np.random.Generator,
    clock: Clock,
) -> MultipleImputation:
    table = draws.table
    kept_empty = table.missing_mask.all(axis=1) & (not fill_empty_rows)
    key = int(generator.integers(2**64, dtype=np.uint64))
    tables = []
    for number, state in enumerate(draws.kept):
        codes = np.array(state.codes, order="F")
        codes[kept_empty] = MISSING
        codes.flags.writeable = False
        completed = table.with_codes(codes)
        origin = replace(completed.origin, draw=(key, number))
        tables.append(replace(completed, origin=origin))
    return MultipleImputation(
        tables=tuple(tables),
        networks=tuple(draws.network(s.dag, s.cpts) for s in draws.kept),
        trace=draws.traces(),
        burn_in=burn_in,
        method=draws.method,
        fill=fill,
        n_missing=int(table.missing_mask[~kept_empty].sum()),
        stopped=draws.stopped,
        seconds=clock.seconds,
    )


def _as_pair(found: Any) -> tuple[Any, Any]:
    """Return what an analysis found, if it is estimates and their variances."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        message = (
            "analyse must return a pair: estimates, and their variances (squared "
            f"standard errors). Got {found!r} instead."
        )
        raise ParameterError(message)
    return found[0], found[1]
