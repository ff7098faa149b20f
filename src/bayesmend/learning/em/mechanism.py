"""The search for the mechanism, and for the structure under it.

From the answer that ignores why cells are missing: choose parents for every indicator;
fit all parameters together; again, until none changes. Then the structure is learned
again under the mechanism, and so on until neither changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import Kept
from bayesmend._clock import limited_calls
from bayesmend.data.states import Label
from bayesmend.errors import InferenceError
from bayesmend.graph.dag import Dag
from bayesmend.inference.answers import hole_distributions
from bayesmend.learning.em.expectation import (
    Fitted,
    Table,
    split_cpts,
)
from bayesmend.learning.em.search import Search
from bayesmend.learning.em.starts import StartPoint
from bayesmend.learning.mechanism.explain import (
    Explanation,
    Mixture,
    Rows,
    explanation_of,
    explanations_of,
    identified,
    mixture_gain,
)
from bayesmend.learning.mechanism.indicators import HIDDEN, Indicators, Sets
from bayesmend.learning.mechanism.result import LABELS, LearnedMechanism, MissingCells
from bayesmend.learning.support import supported_network
from bayesmend.network.cpt import distributions
from bayesmend.network.mechanism import Mechanism
from bayesmend.network.network import Network
from bayesmend.outcome import TOLERANCE, Stopped

__all__ = ["JointSearch", "MechanismSearch"]

# Rounds of mechanism and structure, and changes of the mechanism within one.
_ROUNDS, _SWEEPS = 4, 8
# The search goes on from every variable masking itself, where that gains such a share
# of what the search from no parents has found.
_WORTH = 0.3
# Arcs between a variable and others that may explain its missing cells beside itself.
_NEAR = 2
# Rows that the tables of indicators begin with, so that no probability is 0.
_FAINT = 1.0
# Numbers that are held at once where rows are crossed with configurations of parents.
_ENTRIES = 2**22
_LEAST = 1e-300


@dataclass(slots=True, repr=False, eq=False)
class JointSearch(Search):
    """A search over a table with indicators, whose families never change."""

    n_vars: int = 0

    def improve(self, point: StartPoint) -> None:
        """Climb from a network."""
        self._try(point)

    def _shrink(self, dag: Dag, cpts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Shrink the tables of the variables alone.

        Of an indicator's own variable no row shows a missing state: that is no lack of
        examples.
        """
        before = split_cpts(dag, self.table.data.card, cpts)
        after = split_cpts(
            dag, self.table.data.card, super(JointSearch, self)._shrink(dag, cpts)
        )
        tables = (*after[: self.n_vars], *before[self.n_vars :])
        return np.concatenate([table.ravel() for table in tables])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class State:
    """A structure with a mechanism, fitted; and its observed-data score."""

    sets: Sets
    fitted: Fitted
    score: float


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class View:
    """What a fitted network says of the rows: asked for again and again."""

    fitted: Fitted
    rows: Rows
    tables: list[NDArray[np.float64]]
    mixtures: dict[int, Mixture] = field(default_factory=dict)


@dataclass(slots=True, repr=False, eq=False)
class MechanismSearch:
    """What explains the missing cells of a table that a blind search has learned."""

    blind: Search
    indicators: Indicators
    most: int
    fixed: Sets | None = None
    note: str | None = None
    best: State | None = None
    table: Table = field(init=False)
    hidden: NDArray[np.bool_] = field(init=False)
    n_fits: int = 0
    view: View | None = None
    without: State | None = None

    def __post_init__(self) -> None:
        self.table = Table.of(self.indicators.joint, self.blind.table.engine)
        self.hidden = self.indicators.is_hidden(self.table.columns)

    @property
    def kept(self) -> Kept:
        """Where finished steps are kept."""
        return self.blind.kept.part("mechanism")

    @property
    def n_rows(self) -> float:
        """The weight of all rows."""
        return float(self.table.weights.sum())

    @property
    def gain(self) -> float:
        """By how much the best state scores above the answer of the blind search."""
        return 0.0 if self.best is None else self.best.score - self.nothing().score

    def run(self) -> None:
        """Find the best mechanism and structure: none where nothing is explained."""
        best: list[State] = []
        try:
            with limited_calls(self.blind.clock.left):
                for state in self._climb():
                    if not best or state.score > best[-1].score + TOLERANCE:
                        best.append(state)
        except InferenceError as error:
            self.note = str(error)
        except TimeoutError:
            self.blind.stopped = Stopped.TIME
        except KeyboardInterrupt:
            self.blind.stopped = Stopped.INTERRUPT
        if best and any(best[-1].sets):
            self.best = best[-1]

    def network(self) -> Network:
        """Return the network of the best state, with its mechanism."""
        assert self.best is not None
        fitted, n_vars = self.best.fitted, self.indicators.n_vars
        ess = self.blind.score.ess
        joint = self.table.network(fitted.dag, fitted.counts, ess)
        data = self.indicators.data
        network = Network(
            self.indicators.without(fitted.dag),
            data.states,
            joint.cpts[:n_vars],
            schema=data.schema,
            mechanism=Mechanism(
                tuple(data.names[v] for v in self.indicators.variables),
                tuple(tuple(data.names[p] for p in s) for s in self.best.sets),
                joint.cpts[n_vars:],
            ),
        )
        return supported_network(network, self.blind.observed)

    def learned(self) -> LearnedMechanism:
        """Tell why cells are missing."""
        state = self.best or self.nothing()
        return LearnedMechanism(tuple(self.describe(state)), self.gain, self.note)

    def nothing(self) -> State:
        """Return the answer of the blind search, no indicator having a parent."""
        if self.without is not None:
            return self.without
        assert self.blind.best is not None
        blind = self.blind.best.fitted
        sets: Sets = tuple(() for _ in self.indicators.variables)
        shares = self.hidden @ self.table.weights / max(self.n_rows, _LEAST)
        tables = [np.array([1 - share, share]) for share in shares]
        cpts = np.concatenate([blind.cpts, *tables])
        self.without = self._expect(blind.dag, sets, cpts)
        return self.without

    def _climb(self) -> Iterator[State]:
        """Change mechanism and structure in turns; each state, best or not."""
        state = self.nothing()
        if self.fixed is not None:
            yield from self._alternate(state)
            return
        yield state
        base, found = state.score, state.score
        for other in self._alternate(state):
            found = max(found, other.score)
            yield other
        if self._is_over():
            return
        state = self._masking_themselves(state)
        yield state
        if state.score - base > _WORTH * (found - base):
            state = self._learn(state)
            yield state
            yield from self._alternate(state)

    def _alternate(self, state: State) -> Iterator[State]:
        for _ in range(_ROUNDS):
            before = state.score
            state = self._explain(state)
            yield state
            if self._is_over() or not any(state.sets):
                return
            state = self._learn(state)
            yield state
            if state.score <= before + TOLERANCE:
                return

    def _masking_themselves(self, state: State) -> State:
        """Fit all parameters with every variable the one parent of its indicator.

        From no parent at all, what one variable hides may be explained by others.
        """
        sets: Sets = tuple((v,) for v in self.indicators.variables)
        rows, _ = self._rows(state)
        starts = []
        for k in range(len(sets)):
            mixture = self._mixture(state, k)
            starts.append(
                distributions(self._expected(rows, k, sets[k], mixture), _FAINT)
            )
        return self._fit(self.indicators.without(state.fitted.dag), sets, state, starts)

    def _explain(self, state: State) -> State:
        """Choose the parents of all indicators and fit, until none changes."""
        seen = {state.sets}
        for _ in range(_SWEEPS):
            sets, tables = self._choose(state)
            if self._is_over() or sets in seen:
                break
            seen.add(sets)
            state = self._fit(
                self.indicators.without(state.fitted.dag), sets, state, tables
            )
        return state

    def _is_over(self) -> bool:
        if self.blind.clock.is_over:
            self.blind.stopped = Stopped.TIME
        return bool(self.blind.stopped)

    def _choose(self, state: State) -> tuple[Sets, list[NDArray[np.float64]]]:
        """Choose the parents of every indicator, and tables for them to start from."""
        told = self.kept.step(
            "choose",
            partial(self._chosen, state),
            state.sets,
            state.fitted.dag.parents,
            state.fitted.cpts,
            state.fitted.counts,
            clock=self.blind.clock,
        )
        with self.kept.sound():
            sets: Sets = tuple(map(tuple, told["sets"]))
            card, n_vars = self.table.data.card, self.indicators.n_vars
            for parents, table in zip(sets, told["tables"], strict=True):
                n_configs = int(np.prod([int(card[p]) for p in parents]))
                if table.shape != (n_configs, 2) or max(parents, default=0) >= n_vars:
                    raise ValueError
            return sets, list(told["tables"])

    def _chosen(self, state: State) -> dict[str, Any]:
        rows, _ = self._rows(state)
        mixtures = [self._mixture(state, k) for k in range(len(self.hidden))]
        sets = self.fixed
        if sets is None:
            every = [
                explanations_of(
                    rows,
                    own,
                    self.hidden[k],
                    mixtures[k],
                    self.most,
                    _beside_itself(state.fitted.dag, own, self.indicators.n_vars),
                )
                for k, own in enumerate(self.indicators.variables)
            ]
            chosen = choose(every, self.indicators.variables)
            sets = tuple(found.parents for found in chosen)
        starts = [
            distributions(self._expected(rows, k, parents, mixtures[k]), _FAINT)
            for k, parents in enumerate(sets)
        ]
        return {"sets": sets, "tables": starts}

    def _rows(self, state: State) -> tuple[Rows, list[NDArray[np.float64]]]:
        """Return what the network says of every cell, and the tables of indicators."""
        if self.view is None or self.view.fitted is not state.fitted:
            self.view = View(state.fitted, *self._seen_by(state))
        return self.view.rows, self.view.tables

    def _seen_by(self, state: State) -> tuple[Rows, list[NDArray[np.float64]]]:
        n_vars, card = self.indicators.n_vars, self.table.data.card
        fitted = state.fitted
        counts = split_cpts(fitted.dag, card, fitted.counts)[n_vars:]
        tables = [distributions(table, _FAINT) for table in counts]
        before = split_cpts(fitted.dag, card, fitted.cpts)[:n_vars]
        cpts = np.concatenate([part.ravel() for part in (*before, *tables)])
        network = self.table.with_cpts(fitted.dag, cpts)
        flat = fitted.holes.marginals(cpts, self.table.engine.n_threads)
        where, found = hole_distributions(network, self.table.columns, flat)
        soft = []
        for v in range(n_vars):
            part = np.zeros((self.table.columns.shape[1], int(card[v])))
            seen = np.ones(len(part), bool)
            seen[where[v]] = False
            part[np.flatnonzero(seen), self.table.columns[v, seen]] = 1.0
            part[where[v]] = found[v]
            soft.append(part)
        return Rows(self.table.weights, soft), tables

    def _likelihood(
        self, rows: Rows, state: State, tables: list[NDArray[np.float64]], k: int
    ) -> NDArray[np.float64]:
        """Return P(rest of row | state) where a variable is missing, to a factor."""
        own = self.indicators.variables[k]
        at = self.hidden[k]
        share = rows.weights @ rows.soft[own] / max(self.n_rows, _LEAST)
        posterior = rows.soft[own][at]
        weight = self._own_weight(rows, state, tables, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(share > 1e-12, posterior / weight / share, 0.0))

    def _own_weight(
        self, rows: Rows, state: State, tables: list[NDArray[np.float64]], k: int
    ) -> NDArray[np.float64]:
        """Return what the indicator itself says of its variable where it is missing."""
        own, parents = self.indicators.variables[k], state.sets[k]
        at = self.hidden[k]
        if own not in parents:
            return np.ones((1, 1))
        hidden = tables[k][:, HIDDEN]
        cards = [rows.soft[p].shape[1] for p in parents]
        cube = hidden.reshape(cards[::-1]).transpose(range(len(parents))[::-1])
        cube = np.moveaxis(cube, parents.index(own), 0)
        others = [rows.soft[p][at] for p in parents if p != own]
        weight = cube[None]
        for other in others:  # summed out one after the other: axis 2 is the next
            shape = (len(other), 1, other.shape[1], *[1] * (weight.ndim - 3))
            weight = (other.reshape(shape) * weight).sum(axis=2)
        return np.asarray(weight)

    def _expected(
        self, rows: Rows, k: int, parents: tuple[int, ...], mixture: Mixture | None
    ) -> NDArray[np.float64]:
        """Count observed and missing given the parents, as the mixture expects.

        The mixture is that of its own variable, needed if that is among them.
        """
        own, is_hidden = self.indicators.variables[k], self.hidden[k]
        parts = []
        for p in parents:
            soft = rows.soft[p]
            if p == own:
                assert mixture is not None
                soft = soft.copy()
                soft[is_hidden] = mixture.posterior
            parts.append(soft)
        n_configs = math.prod(part.shape[1] for part in parts)
        n_at_once = max(_ENTRIES // n_configs, 1)
        counts = np.zeros((n_configs, 2))
        for begin in range(0, len(rows.weights), n_at_once):
            _core.check_calls()
            some = slice(begin, begin + n_at_once)
            joint = rows.weights[some, None]
            for part in parts:  # the first parent varies fastest
                joint = np.einsum("rg,rx->rxg", joint, part[some])
                joint = joint.reshape(len(joint), -1)
            hidden = is_hidden[some]
            counts[:, 0] += joint[~hidden].sum(axis=0)
            counts[:, 1] += joint[hidden].sum(axis=0)
        return counts

    def _fit(
        self, dag: Dag, sets: Sets, state: State, tables: Sequence[NDArray[np.float64]]
    ) -> State:
        """Fit all parameters together, from those at hand and tables for indicators."""
        card, n_vars = self.table.data.card, self.indicators.n_vars
        before = split_cpts(state.fitted.dag, card, state.fitted.cpts)[:n_vars]
        cpts = np.concatenate([part.ravel() for part in (*before, *tables)])
        joint = self.indicators.dag(dag, sets)
        self.n_fits += 1
        return self._state(
            "fit",
            sets,
            joint,
            cpts,
            partial(
                self.table.fit,
                joint,
                cpts,
                clock=self.blind.clock,
                tol=self.blind.tol,
            ),
        )

    def _expect(self, dag: Dag, sets: Sets, cpts: NDArray[np.float64]) -> State:
        joint = self.indicators.dag(dag, sets)
        expect = partial(self.table.expect, joint, cpts)
        return self._state("expect", sets, joint, cpts, expect)

    def _state(
        self,
        kind: str,
        sets: Sets,
        joint: Dag,
        cpts: NDArray[np.float64],
        fit: Callable[[], Fitted],
    ) -> State:
        """Return what a fit gives, with its score."""
        states: list[State] = []

        def work() -> dict[str, Any]:
            fitted = fit()
            states.append(State(sets, fitted, self._score(sets, fitted)))
            return {**fitted.told(), "score": states[0].score}

        told = self.kept.step(
            kind,
            work,
            sets,
            joint.parents,
            cpts,
            clock=self.blind.clock,
            unless=lambda _: states[0].fitted.stopped,
        )
        with self.kept.sound():
            if not states:
                fitted = self.table.told_of(joint, told)
                states.append(State(sets, fitted, float(told["score"])))
            return states[0]

    def _learn(self, state: State) -> State:
        """Learn the structure again under the mechanism."""
        rules = self.indicators.rules(self.blind.rules, state.sets)
        search = JointSearch(
            table=self.table,
            score=self.blind.score,
            rules=rules,
            solver=self.blind.solver,
            hard=False,
            max_iter=self.blind.max_iter,
            tol=self.blind.tol,
            clock=self.blind.clock,
            generator=np.random.default_rng(0),
            progress=self.blind.progress,
            kept=self.kept.part("under", state.sets),
            n_vars=self.indicators.n_vars,
        )
        search.improve(StartPoint("mechanism", state.fitted.dag, state.fitted.cpts))
        if search.best is None:  # every other structure was too dense
            return state
        self.blind.trace += search.trace
        fitted = search.best.fitted
        return State(state.sets, fitted, self._score(state.sets, fitted))

    def _score(self, sets: Sets, fitted: Fitted) -> float:
        """Return the observed-data score, each indicator priced by its parameters."""
        card, n_vars = self.table.data.card, self.indicators.n_vars
        rules = self.indicators.rules(self.blind.rules, sets)
        scorer = self.table.scorer(fitted.holes, fitted.cpts, self.blind.score, rules)
        names = fitted.dag.names
        families = sum(
            scorer.family(names[v], [names[p] for p in fitted.dag.parents[v]])
            for v in range(n_vars)
        )
        counts = split_cpts(fitted.dag, card, fitted.counts)[:n_vars]
        cpts = split_cpts(fitted.dag, card, fitted.cpts)[:n_vars]
        expected = sum(
            float(n[n > 0] @ np.log(p[n > 0]))
            for n, p in zip(counts, cpts, strict=True)
        )
        found = families - expected + float(fitted.log_likelihood[-1])
        return found - self._price(sets, fitted)

    def _price(self, sets: Sets, fitted: Fitted) -> float:
        """Return by how much the likelihood overstates the mechanism."""
        if not any(sets):
            return 0.0
        explained = self._evaluate(State(sets, fitted, 0.0))
        kinds = [
            _kind(parents, own)
            for parents, own in zip(sets, self.indicators.variables, strict=True)
        ]
        return sum(found.price for found in explained) - _log_usual(kinds)

    def _evaluate(self, state: State) -> list[Explanation]:
        """Return what the parents of every indicator gain."""
        rows, _ = self._rows(state)
        found = []
        for k, own in enumerate(self.indicators.variables):
            parents = state.sets[k]
            mixture = None
            if own in parents:
                mixture = self._mixture(state, k)
            found.append(explanation_of(rows, own, parents, self.hidden[k], mixture))
        return found

    def _mixture(self, state: State, k: int) -> Mixture:
        """Return what a variable is where it is missing, if that depends on itself."""
        rows, tables = self._rows(state)
        assert self.view is not None
        if k not in self.view.mixtures:
            _core.check_calls()
            at = self.hidden[k]
            seen = rows.weights[~at] @ rows.soft[self.indicators.variables[k]][~at]
            likelihood = self._likelihood(rows, state, tables, k)
            self.view.mixtures[k] = mixture_gain(likelihood, rows.weights[at], seen)
        return self.view.mixtures[k]

    def describe(self, state: State) -> list[MissingCells]:
        """Tell for every variable with missing cells what explains them."""
        rows, tables = self._rows(state)
        data, n_vars = self.indicators.data, self.indicators.n_vars
        has_missing = np.asarray(data.missing_mask.any(axis=0))
        counts_of = split_cpts(
            state.fitted.dag, self.table.data.card, state.fitted.counts
        )
        found = []
        for k, (own, parents) in enumerate(
            zip(self.indicators.variables, state.sets, strict=True)
        ):
            likelihood = self._likelihood(rows, state, tables, k)
            mixture = self._mixture(state, k) if own in parents else None
            if mixture is not None and parents == (own,):
                errors = mixture.errors
            else:  # by Jeffreys' half a row each, no interval is of width 0
                counts = self._expected(rows, k, parents, mixture) + 0.5
                errors = np.sqrt((1 / counts).sum(axis=1))
            place = list(parents)
            names = [data.names[p] for p in place]
            depends = own in parents or any(has_missing[place].tolist())
            final = distributions(counts_of[n_vars + k], self.blind.score.ess)
            final = final[:, HIDDEN]
            odds = np.log(final / (1 - final))
            found.append(
                MissingCells(
                    variable=data.names[own],
                    parents=tuple(names),
                    label=LABELS[0 if not parents else 2 if depends else 1],
                    share=float(
                        self.hidden[k] @ rows.weights / max(self.n_rows, _LEAST)
                    ),
                    configurations=_configurations([data.states[p] for p in place]),
                    probabilities=final,
                    lower=_logistic(odds - _Z * errors),
                    upper=_logistic(odds + _Z * errors),
                    gain=explanation_of(
                        rows, own, parents, self.hidden[k], mixture
                    ).gain,
                    identified=identified(likelihood, rows, own, self.hidden[k]),
                )
            )
        return found


def _logistic(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * x)))


def _configurations(
    states: list[tuple[Label, ...]],
) -> tuple[tuple[Label, ...], ...]:
    """List the configurations of parents, the first parent varying fastest."""
    return tuple(c[::-1] for c in product(*states[::-1]))


_Z = 1.96  # of 95 %
_KINDS = 3  # no parent, others alone, its own variable
# How much less likely, beforehand, an explanation is than chance, in log-odds. Without
# it what the rows tell nothing of would be called whatever a few others are.
_DOUBT = math.log(4)


def _beside_itself(dag: Dag, own: int, n_vars: int) -> list[int]:
    """List the variables that may explain missing cells together with their own state.

    Not its neighbours, nor theirs: where it is missing, what hides it and how it hangs
    together with them can hardly be told apart, and any fault of the structure between
    them would pass for a mechanism.
    """
    near = {own}
    for _ in range(_NEAR):
        reached = set(near)
        for child in range(n_vars):
            for v in dag.parents[child]:
                if v in near or child in near:
                    reached |= {v, child}
        near = reached
    return [v for v in range(n_vars) if v not in near]


def _kind(parents: tuple[int, ...], own: int) -> int:
    return 0 if not parents else 2 if own in parents else 1


def _log_usual(kinds: list[int]) -> float:
    """Return the log-probability of so many of each kind, their shares unknown.

    Above that of nothing being explained at all.
    """
    counts = np.bincount(kinds, minlength=_KINDS)
    a = 0.5
    usual = sum(math.lgamma(a + n) - math.lgamma(a) for n in counts.tolist())
    innocent = math.lgamma(a + len(kinds)) - math.lgamma(a)
    return usual - innocent - _DOUBT * int(counts[1:].sum())


def choose(
    every: list[list[Explanation]], variables: Sequence[int]
) -> list[Explanation]:
    """Choose an explanation for each indicator, by net gain and what is usual.

    How often missing cells have nothing to explain them, other variables, or their
    own, is learned from all indicators together (empirical Bayes): where most are
    innocent, more has to speak against one, and the other way round. Where the rows
    tell nothing of any, doubt decides, and all are innocent.
    """
    n = len(every)
    best: list[list[Explanation]] = []
    nets = np.full((n, _KINDS), -np.inf)
    for row, (listed, own) in enumerate(zip(every, variables, strict=True)):
        kinds: list[Explanation | None] = [None] * _KINDS
        for found in listed:
            kind = _kind(found.parents, own)
            if found.net > nets[row, kind]:
                nets[row, kind], kinds[kind] = found.net, found
        best.append([found or listed[0] for found in kinds])
    shares = np.full(_KINDS, 1 / _KINDS)
    nets[:, 1:] -= _DOUBT
    for _ in range(100):
        chances = np.exp(nets - nets.max(axis=1, keepdims=True)) * shares
        chances /= chances.sum(axis=1, keepdims=True)
        new = (chances.sum(axis=0) + 0.5) / (n + 0.5 * _KINDS)
        if np.abs(new - shares).max() < 1e-9:
            break
        shares = new
    picks = (nets + np.log(shares)).argmax(axis=1)
    return [best[row][kind] for row, kind in enumerate(picks)]
