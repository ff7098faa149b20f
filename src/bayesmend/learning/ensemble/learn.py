"""The front door of the ensemble: many networks, and the mean of what they say."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checkpoint import Checkpoint, Kept, opened
from bayesmend._checks import check_integer, check_items, check_number
from bayesmend._clock import Clock, Progress
from bayesmend._entrance import entrance
from bayesmend._link import Link, linked
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.data.cells import CompletedCells
from bayesmend.data.reading import Reading
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import InferenceError, ParameterError
from bayesmend.graph.confidence import Threshold
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.inference.align import read_for
from bayesmend.inference.answers import Marginals, hole_distributions
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.inference.impute import list_cells, most_probable_each
from bayesmend.learning.effort import em_effort
from bayesmend.learning.em.expectation import Fitted, Table
from bayesmend.learning.em.learn import learn_em
from bayesmend.learning.ensemble.chain import Member
from bayesmend.learning.ensemble.indicated import Indicated
from bayesmend.learning.ensemble.kinds import (
    ClassKind,
    Start,
    Told,
    Work,
    require_room,
)
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.ensemble.stacking import HeldOut, hold_out, stack
from bayesmend.learning.ensemble.walk import Walk
from bayesmend.learning.mechanism.given import MechanismLike, check_mechanism
from bayesmend.learning.mechanism.indicators import Indicators
from bayesmend.learning.mechanism.result import LearnedMechanism
from bayesmend.learning.starts import observed_shares
from bayesmend.learning.support import (
    ObservedRows,
    supported_network,
    told_of_support,
)
from bayesmend.network.flat import flatten
from bayesmend.network.mixture import Mixture
from bayesmend.network.network import Network
from bayesmend.outcome import Certificate, Stopped
from bayesmend.score import Ess, Prior, Score
from bayesmend.seed import Seed

__all__ = ["CLASSES", "N_NETWORKS", "learn_ensemble"]

N_NETWORKS = 50
"""Networks, unless ``n_networks`` says."""

CLASSES = (4, 8, 12)
"""Numbers of latent classes, unless ``classes`` says."""

# Equivalent sample sizes that are tried where none is given: small for tables that a
# sparse network made, larger for most others.
_ESS = (1.0, 10.0)
# Of the trial that only decides on ess and weights.
_FEW_NETWORKS, _FEW_STARTS = 12, 3
# Of what is left of a time limit.
_TRIAL_SHARE, _MECHANISM_SHARE = 0.3, 0.4
# What it takes to fit the consensus and fill the table, against filling alone.
_CONSENSUS = 2.0


@entrance
@told_of_support
def learn_ensemble(
    data: Any,
    *,
    n_networks: int = N_NETWORKS,
    classes: Sequence[int] | None = None,
    class_starts: int = 6,
    score: Score | str = "bdeu",
    ess: Ess = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    tol: float = 0.01,
    threshold: Threshold = "auto",
    constraints: ConstraintsLike = None,
    mechanism: MechanismLike = "ignore",
    max_mechanism_parents: int = 2,
    resume: Ensemble | None = None,
    max_memory: float = MAX_MEMORY,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Ensemble:
    """Learn many networks from an incomplete table, and mend it by their mean.

    Again and again: draw a completion from the network at hand, learn a structure from
    a bootstrap sample of its rows by greedy search, and fit the parameters to all of
    them; that is the next network. The missing cells take the mean of what the networks
    say, and of latent class models beside them: a hidden variable that is the parent of
    all others. How much each kind counts is learned from cells that are hidden on
    purpose, a tenth of those observed.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table, with or without missing cells.
    n_networks : int, default=50
        The most networks; fewer where their mean has settled.
    classes : sequence of int, optional
        Numbers of latent classes; none for networks alone. By default 4, 8 and 12, and
        none where a mechanism was found: held-out cells, which were observed, cannot
        tell how well a kind does on those that are missing for a reason.
    class_starts : int, default=6
        Latent class models for each of these numbers, from random starts.
    score : Score or str, default="bdeu"
        The rule of the structures, or its name: bdeu, bds, k2, bic, aic, qnml, loglik.
    ess : float or "auto", optional
        Equivalent sample size. ``auto``, the default: 1 or 10, whichever gives hidden
        cells the higher likelihood. A `Score` has its own.
    {prior, support, max_parents}
    tol : float, default=0.01
        The mean has settled when its standard error (root mean square over all missing
        cells and states) is no larger, from 20 networks on.
    threshold : float or "auto", default="auto"
        The probability above which an edge is in the consensus; see
        `Ensemble.consensus`.
    {constraints, mechanism, max_mechanism_parents}
    resume : Ensemble, optional
        What this function returned for the same table, at Ctrl-C, at a time limit or
        with fewer networks: its networks count among `n_networks`, and its chains go
        on. It has its own sample size, kinds, weights and mechanism; give the score and
        the constraints that it was learned with.
    max_memory : float, default=2**30
        Bytes that the tables of exact inference may take, and that the networks and
        means may.
    {time_limit, seed, n_threads, checkpoint}
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler, whose workers learn the members: up
        to four networks at once, and latent class models as many as it has threads. The
        answer is the same.
    {progress}
    {reading}

    Returns
    -------
    Ensemble
        Also a `LearnResult`: ``completed``, ``cells``, and ``network``, the consensus.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = bm.hide_mcar(asia.sample(200, seed=1), 0.1, seed=1).data
    >>> found = learn_ensemble(data, n_networks=20, seed=1)
    >>> found.completed.n_missing, len(found.mixture.structures)
    (0, 20)
    >>> found.arc_probabilities().arc("smoke", "bronc").undirected > 0.5
    True
    """
    progress = told(progress)
    check_integer("n_networks", n_networks, 1)
    numbers = [
        check_integer("classes", n, 2)
        for n in check_items(
            "classes", CLASSES if classes is None else classes, "numbers of classes"
        )
    ]
    check_integer("class_starts", class_starts, 1)
    check_number("tol", tol, least=0, finite=True)
    if not (isinstance(threshold, str) and threshold == "auto"):
        check_number("threshold", threshold, least=0, most=1)
    clock = Clock(time_limit)
    known = Constraints.of(constraints)
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    remedy = f"or lower {spell('max_parents')}"
    check_mechanism(mechanism, max_mechanism_parents, table.names)
    if resume is not None:
        begun: dict[str, Any] = {"ess": ess, "classes": classes}
        if mechanism != "ignore":
            begun["mechanism"] = mechanism
        _check_resume(resume, table, begun)
        if resume.detail["planned"] is not None:
            ess = None if isinstance(score, Score) else resume.detail["sample_size"]
        if checkpoint is not None:
            msg = (
                f"{spell('resume')} and {spell('checkpoint')} are two ways to go on. "
                "Leave one of the two."
            )
            raise ParameterError(msg)
    options: dict[str, Any] = {
        "n_networks": n_networks,
        "classes": classes,
        "class_starts": class_starts,
        "score": score,
        "ess": ess,
        "prior": prior,
        "support": support,
        "max_parents": max_parents,
        "tol": tol,
        "threshold": threshold,
        "constraints": known,
        "mechanism": mechanism,
        "max_mechanism_parents": max_mechanism_parents,
        "max_memory": max_memory,
    }
    scores = _scores(score, ess, prior, support)
    call = "learn_ensemble"
    with (
        nullcontext() if client is None else linked(client) as link,
        opened(checkpoint, call, table=table, seed=seed, options=options) as kept,
    ):
        clock.go_on_from(kept.seconds)
        task = _Task(
            table,
            scores,
            known.rules(table.names, max_parents=max_parents),
            Engine(n_threads=1, max_memory=max_memory, remedy=remedy),
            clock,
            (n_threads or _core.n_cores()) if link is None else link.n_threads,
            progress,
            kept.generator,
            kept.part("ensemble"),
            link=link,
        )
        if resume is not None:
            task = task.resumed(resume)
            if task.indicated.mechanism is not None:
                numbers = []
        elif mechanism != "ignore":
            task = task.explained(
                {
                    "constraints": known,
                    "max_parents": max_parents,
                    "mechanism": mechanism,
                    "max_mechanism_parents": max_mechanism_parents,
                }
            )
            if classes is None and task.indicated.mechanism is not None:
                numbers = []
        return task.run(n_networks, tuple(numbers), class_starts, tol, threshold)


def _check_resume(resume: object, table: IncompleteData, given: dict[str, Any]) -> None:
    """Raise ParameterError unless it is an ensemble of the table that is resumed."""
    if not isinstance(resume, Ensemble):
        msg = f"resume must be what learn_ensemble returned. Got {resume!r} instead."
        raise ParameterError(msg)
    if resume.completed.names != table.names or resume.completed.states != table.states:
        msg = (
            "resume was learned from a table with other variables or states. Give the "
            "table that it was learned from."
        )
        raise ParameterError(msg)
    is_observed = ~table.missing_mask
    before = resume.completed.codes
    if before.shape != table.codes.shape or not np.array_equal(
        before[is_observed], table.codes[is_observed]
    ):
        msg = (
            "resume was learned from a table with other cells. Give the table that it "
            "was learned from."
        )
        raise ParameterError(msg)
    for name, value in given.items():
        if value is not None:
            msg = (
                f"{spell(name, value)} has no effect on an ensemble that is resumed, "
                f"which has its own. Leave out {spell(name)}, or resume."
            )
            raise ParameterError(msg)


def _scores(
    score: Score | str,
    ess: Ess,
    prior: Prior | None,
    support: float | None,
) -> list[Score]:
    """Return the rules to choose from."""
    is_open = ess is None or (isinstance(ess, str) and ess == "auto")
    if isinstance(score, Score) or not is_open:
        return [Score.of(score, ess=ess, prior=prior, support=support)]  # type: ignore[arg-type]
    return [Score.of(score, ess=e, prior=prior, support=support) for e in _ESS]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What the trial decided: the rule, the kinds and their weights."""

    score: Score
    classes: tuple[int, ...]
    weights: dict[str, float]
    is_learned: bool = True


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class _Task:
    """One call of `learn_ensemble`."""

    data: IncompleteData
    scores: list[Score]
    rules: ParentRules
    engine: Engine
    clock: Clock
    n_threads: int
    progress: Progress | None
    generator: np.random.Generator
    kept: Kept = field(default_factory=Kept)
    indicated: Indicated = field(default_factory=Indicated)
    mechanism: LearnedMechanism | None = None
    known_start: Start | None = None
    before: Ensemble | None = None
    link: Link | None = None

    def resumed(self, before: Ensemble) -> _Task:
        """Go on from an ensemble, or from its network where it had only begun."""
        why = before.mixture.mechanism
        indicated = Indicated()
        if why is not None:
            indicated = Indicated(Indicators.of(self.data), why)
        start = Start(before.members[0], before.score, is_interrupted=False)
        return replace(
            self,
            indicated=indicated,
            mechanism=before.mechanism,
            known_start=start,
            before=None if before.detail["planned"] is None else before,
        )

    def _members_before(self) -> tuple[Walk, list[ClassKind]]:
        """Return the networks and the latent class models of the ensemble resumed."""
        found, kinds = Walk(), dict[int, ClassKind]()
        if self.before is None:
            return found, []
        mixture, n_vars = self.before.mixture, self.data.n_vars
        assert mixture.chains is not None
        cells = _cells(self.indicated.table(self.data))
        for network, chain in zip(mixture.networks, mixture.chains, strict=True):
            joint = self.indicated.joint(network)
            if network.n_vars == n_vars:
                member = Member(network, self.engine.compile(joint, cells).marginals())
                if self.before.detail["n_networks"]:
                    found.keep(chain, member)
                continue
            hidden = np.full((1, cells.shape[1]), MISSING, np.uint8)
            asked = np.array([*[1] * len(cells), 0], np.uint8)
            own = np.ascontiguousarray(np.concatenate([cells, hidden]))
            compiled = self.engine.compile(joint, own, asked)
            n_classes = len(network.states[-1])
            kind = kinds.setdefault(n_classes, ClassKind(n_classes))
            kind.networks.append(network)
            kind.average.add(compiled.marginals())
        return found, list(kinds.values())

    def explained(self, how: dict[str, Any]) -> _Task:
        """Learn by EM why cells are missing; where nothing is found all stays.

        The network found under the mechanism is the one to start from.
        """
        starts, restarts = em_effort(self.data)
        found = learn_em(
            self.data,
            **how,
            score=self.scores[0],
            starts=starts,
            restarts=restarts,
            max_memory=self.engine.max_memory,
            time_limit=self.clock.part(_MECHANISM_SHARE).left,
            n_threads=self.n_threads,
            seed=0,
            checkpoint=self.kept.part("mechanism") if self.kept.is_kept else None,
            progress=self.progress,
        )
        indicated, start = Indicated(), None
        is_interrupted = found.stopped is Stopped.INTERRUPT
        if found.network.mechanism is not None:
            indicated = Indicated(Indicators.of(self.data), found.network.mechanism)
        if found.network.mechanism is not None or is_interrupted:
            start = Start(found.network, found.score, is_interrupted=is_interrupted)
        return replace(
            self, indicated=indicated, mechanism=found.mechanism, known_start=start
        )

    def run(
        self,
        n_networks: int,
        classes: tuple[int, ...],
        class_starts: int,
        tol: float,
        threshold: Threshold,
    ) -> Ensemble:
        """Decide on rule and weights, learn all members, and take their mean."""
        trial, networks, class_models = self.generator.spawn(3)
        first = self.known_start
        if first is None:
            first = self._work(self.clock, "all").start(self.data, self.scores[0])
        start, reached = first.network, first.score
        require_room(
            self.data, start, n_networks=n_networks, max_memory=self.engine.max_memory
        )
        stopped = Stopped.NOTHING
        clock = self.clock.sooner(_CONSENSUS * first.reserve)
        plan = _Plan(self.scores[0], (), {"networks": 1.0}, is_learned=False)
        found, kinds = self._members_before()
        try:
            if first.is_interrupted:
                raise KeyboardInterrupt
            plan = self._plan(classes, trial, first, clock)
            work = self._work(clock, "all")
            if plan.classes and not kinds:
                kinds = work.class_models(
                    self.data, plan.classes, class_starts, class_models
                )
            found = work.networks(
                self.data,
                plan.score,
                start,
                networks,
                n_networks=n_networks,
                tol=tol,
                told=self._teller("learning", reached, 0.4, 1.0),
                begun=found,
            )
            stopped = found.stopped
        except KeyboardInterrupt:
            stopped = Stopped.INTERRUPT
        if not stopped and clock.is_over and len(found.networks) < n_networks:
            stopped = Stopped.TIME
        try:
            return self._assemble(plan, start, found, kinds, threshold, stopped)
        except KeyboardInterrupt:
            # The search is done: what it found is not lost to a first Ctrl-C.
            stopped = stopped or Stopped.INTERRUPT
            return self._assemble(plan, start, found, kinds, threshold, stopped)

    def _work(self, clock: Clock, part: str) -> Work:
        return Work(
            self.rules,
            self.engine,
            clock,
            self.n_threads,
            self.indicated,
            self.kept.part(part),
            self.link,
        )

    def _teller(self, what: str, score: float, first: float, last: float) -> Told:
        """Return what tells the progress of a part of the work.

        The score is that of the network all members start from: there is no best one.
        """

        def tell(detail: str, share: float) -> None:
            if self.progress is not None:
                self.progress(
                    f"ensemble: {what}, {detail}",
                    score,
                    self.clock.seconds,
                    share=first + share * (last - first),
                )

        return tell

    def _plan(
        self,
        classes: tuple[int, ...],
        generator: np.random.Generator,
        start: Start,
        clock: Clock,
    ) -> _Plan:
        """Learn a few members of each kind without some cells, and judge by these."""
        if self.before is not None:
            known = self.before.detail
            return _Plan(self.scores[0], tuple(known["classes"]), known["planned"])
        alone = _Plan(self.scores[-1], (), {"networks": 1.0})
        left = clock.left
        limit = None if left is None else _TRIAL_SHARE * left
        is_hurried = limit is not None and limit < start.reserve
        if is_hurried or (len(self.scores) == 1 and not classes):
            return alone
        held = hold_out(self.data, generator)
        if held is None:
            return alone
        work = self._work(Clock(limit), "trial")
        best, p = self._best_score(work, held, generator, start.score)
        if p is None:  # no time: nothing is known of any kind
            return alone
        kinds = work.class_models(held.data, classes, _FEW_STARTS, generator)
        told_truth = [p, *(kind.average.mean[held.entries] for kind in kinds)]
        shares = stack(np.stack(told_truth), held.weights).tolist()
        weights = {"networks": shares[0]}
        for kind, share in zip(kinds, shares[1:], strict=True):
            if share > 0:
                weights[_name(kind.n_classes)] = share
        used = tuple(k.n_classes for k in kinds if _name(k.n_classes) in weights)
        return _Plan(best, used, weights)

    def _best_score(
        self,
        work: Work,
        held: HeldOut,
        generator: np.random.Generator,
        reached: float,
    ) -> tuple[Score, NDArray[np.float64] | None]:
        """Return the rule that foretells hidden cells best, and its probabilities."""
        first = work.start(held.data, self.scores[0])
        if first.is_interrupted:
            raise KeyboardInterrupt
        best: tuple[float, Score, NDArray[np.float64]] | None = None
        for number, score in enumerate(self.scores):
            share = 0.4 / len(self.scores)
            found = work.networks(
                held.data,
                score,
                first.network,
                generator,
                n_networks=_FEW_NETWORKS,
                tol=0.0,
                told=self._teller(
                    "weighing", reached, number * share, (number + 1) * share
                ),
            )
            if found.stopped is Stopped.INTERRUPT:
                raise KeyboardInterrupt
            if not found.networks:
                break
            p = found.average.mean[held.entries]
            reached = held.log_likelihood(p)
            if best is None or reached > best[0]:
                best = reached, score, p
        return (self.scores[-1], None) if best is None else best[1:]

    def _assemble(
        self,
        plan: _Plan,
        start: Network,
        found: Walk,
        kinds: list[ClassKind],
        threshold: Threshold,
        stopped: Stopped,
    ) -> Ensemble:
        observed = ObservedRows(self.data, plan.score)
        n_networks = len(found.networks)
        if not found.networks:  # no time for one: the start stands for all
            start = supported_network(start, observed)
            joint = _cells(self.indicated.table(self.data))
            compiled = self.engine.compile(self.indicated.joint(start), joint)
            found.networks.append(start)
            found.chains.append(0)
            found.average.add(compiled.marginals())
        mixture, mean, weights = _mix(plan, found, kinds, len(self.data.names))
        network, reached, log_likelihood = self._consensus(
            mixture, threshold, plan.score, observed
        )
        completed, cells = _fill(self.data, mixture, mean)
        return Ensemble(
            mixture=mixture,
            network=network,
            completed=completed,
            cells=cells,
            score=reached,
            certificate=Certificate.HEURISTIC,
            stopped=stopped,
            method="ensemble",
            mechanism=self.mechanism,
            log_likelihood=log_likelihood,
            seconds=self.clock.seconds,
            detail={
                "sample_size": plan.score.ess,
                "weights": weights,
                "classes": plan.classes,
                "planned": plan.weights if plan.is_learned else None,
                "n_networks": n_networks,
                "error": found.average.error if found.average.n > 1 else None,
                "settled": found.is_settled,
            },
        )

    def _consensus(
        self,
        mixture: Mixture,
        threshold: Threshold,
        score: Score,
        observed: ObservedRows,
    ) -> tuple[Network, float, float]:
        """Fit the consensus, or the densest part of it that exact inference can do.

        Returns it with its observed-data score and the log-likelihood of what is
        observed. That some cells are missing counts in its parameters alone.
        """
        joint = Table.of(self.indicated.table(self.data), self.engine)
        probabilities = mixture.arc_probabilities()
        dag = probabilities.consensus(threshold)
        while True:
            try:
                first = _first_cpts(self.data, dag, score)
                first = np.concatenate([first, self.indicated.cpts()])
                fitted = self._fitted(joint, self.indicated.dag(dag), first)
                break
            except InferenceError:
                if not dag.n_arcs:
                    raise
                bar = min(probabilities.arc(*arc).undirected for arc in dag.arcs)
                dag = probabilities.consensus(bar)
        found = joint.network(fitted.dag, fitted.counts, score.ess)
        network = self.indicated.member(found)
        table = joint
        if self.indicated.indicators is not None:
            table = Table.of(self.data, self.engine)
            fitted = table.expect(dag, flatten(dag, network.cpts).cpts)
        scorer = table.scorer(fitted.holes, fitted.cpts, score, self.rules)
        log_likelihood = float(fitted.log_likelihood[-1])
        reached = scorer.dag(dag) - fitted.expected_log_likelihood() + log_likelihood
        if len(mixture.networks) == 1:
            return mixture.networks[0], reached, log_likelihood
        return supported_network(network, observed), reached, log_likelihood

    def _fitted(self, table: Table, dag: Dag, first: NDArray[np.float64]) -> Fitted:
        """Fit the parameters of the consensus."""
        fits: list[Fitted] = []

        def fit() -> dict[str, Any]:
            fits.append(table.fit(dag, first, clock=self.clock))
            return fits[0].told()

        told = self.kept.step(
            "consensus",
            fit,
            dag.parents,
            first,
            unless=lambda _: fits[0].stopped,
        )
        with self.kept.sound():
            return table.told_of(dag, told)


def _name(n_classes: int) -> str:
    return f"{n_classes} classes"


def _cells(data: IncompleteData) -> NDArray[np.uint8]:
    return np.ascontiguousarray(data.codes.T)


def _first_cpts(data: IncompleteData, dag: Dag, score: Score) -> NDArray[np.float64]:
    """Start from each cell filled at random by the observed shares."""
    codes, generator = data.codes.copy(order="F"), np.random.default_rng(0)
    for v, share in enumerate(observed_shares(data)):
        holes = codes[:, v] == MISSING
        codes[holes, v] = generator.choice(len(share), int(holes.sum()), p=share)
    network = Network.fit(
        dag, data.with_codes(codes), estimate="posterior", ess=score.ess
    )
    return flatten(network.dag, network.cpts).cpts


def _mix(
    plan: _Plan, found: Walk, kinds: list[ClassKind], n_vars: int
) -> tuple[Mixture, NDArray[np.float64], dict[str, float]]:
    """Weigh all members, and the means of what each kind says.

    Kinds that the limit of time left no member of leave their weight to the others.
    """
    groups = [
        (_name(kind.n_classes), kind.networks, kind.average.mean) for kind in kinds
    ]
    groups.insert(0, ("networks", found.networks, found.average.mean))
    shares = np.array([plan.weights.get(name, 0.0) for name, _, _ in groups])
    if shares.sum() <= 0:
        shares[0] = 1.0
    shares /= shares.sum()
    mean = np.zeros_like(found.average.mean)
    weights: list[NDArray[np.float64]] = []
    for share, (_, networks, average) in zip(shares, groups, strict=True):
        mean += share * average
        weights.append(np.full(len(networks), share / len(networks)))
    members = tuple(network for _, networks, _ in groups for network in networks)
    n_others = len(members) - len(found.networks)
    mixture = Mixture(
        members,
        np.concatenate(weights),
        n_vars,
        (
            *found.chains,
            *range(max(found.chains) + 1, max(found.chains) + 1 + n_others),
        ),
    )
    names = [name for name, _, _ in groups]
    return mixture, mean, dict(zip(names, shares.tolist(), strict=True))


def _fill(
    data: IncompleteData, mixture: Mixture, mean: NDArray[np.float64]
) -> tuple[IncompleteData, CompletedCells]:
    """Fill every missing cell with its most probable state by the mean."""
    new = read_for(mixture, data)
    rows, probabilities = hole_distributions(mixture.networks[0], new.cells, mean)
    found = Marginals(
        mixture.names,
        mixture.states,
        tuple(rows),
        tuple(probabilities),
        np.zeros(data.n_rows),
    )
    filled = most_probable_each(new.cells, found)
    cells = list_cells(mixture, new, filled[None], found)
    return new.completed(filled), replace(cells, tables=None)
