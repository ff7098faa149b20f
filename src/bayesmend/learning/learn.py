"""The front door: an incomplete table in, a network and the mended table out."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Unpack, get_args

from bayesmend._checkpoint import Checkpoint, Kept, opened
from bayesmend._checks import (
    check_choice,
    check_flag,
    check_goes_with,
    check_integer,
    check_number,
)
from bayesmend._clock import Clock, Progress, limited_calls, limited_memory
from bayesmend._entrance import entrance
from bayesmend._files import PathLike
from bayesmend._link import lend, linked
from bayesmend._progress import told
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.data.states import listing, quantity
from bayesmend.data.table import IncompleteData, require_rows
from bayesmend.errors import DataError, InferenceError
from bayesmend.graph.constraints import Constraints, ConstraintsLike
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.learning.augment.exact import learn_exact
from bayesmend.learning.augment.local import EXACT_VARS, learn_local
from bayesmend.learning.augment.problem import MOST_ROWS
from bayesmend.learning.cluster.learn import (
    bring_here,
    is_large,
    is_long,
    learn_there,
    without_rows,
)
from bayesmend.learning.cluster.partitions import read_there
from bayesmend.learning.counting import CountingHere
from bayesmend.learning.effort import (
    EM_RESTARTS,
    PROOF_WORK,
    em_effort,
    proof_work,
    suits_ensemble,
)
from bayesmend.learning.em.growth import first_rows
from bayesmend.learning.em.learn import learn_em, rule_by_em
from bayesmend.learning.em.starts import STARTS, Start
from bayesmend.learning.empty import leave_empty_rows
from bayesmend.learning.ensemble.learn import N_NETWORKS, learn_ensemble
from bayesmend.learning.mechanism.given import MechanismLike, check_mechanism
from bayesmend.learning.mechanism.innocence import brief_innocence
from bayesmend.learning.mechanism.result import LABELS
from bayesmend.learning.result import LearnResult
from bayesmend.learning.support import told_of_support
from bayesmend.outcome import Stopped
from bayesmend.proofs import check_certificate, write_no_proof
from bayesmend.score import Ess, FamilyScorer, Prior, Score, is_convex
from bayesmend.seed import Seed
from bayesmend.structure.proof import certify_table
from bayesmend.structure.solve import Solver, check_solver

__all__ = ["METHODS", "learn"]

Method = Literal["auto", "exact", "local", "em", "em-hard", "ensemble"]
METHODS = get_args(Method)
"""The names of the methods of `learn`."""

# With more missing cells than both, choosing their best completion makes the data look
# more regular than they are, and `auto` weighs all completions instead. From the
# experiments `optimism` (docs/explanation/beyond.md) and `average` (ensemble.md).
_MANY_CELLS, _LARGE_SHARE = 100, 0.05
# Draws that the local search starts from.
_RESTARTS = 10
# `auto` learns why cells are missing where no more than such a share of permutations is
# as far from missing at random. From the experiment `mechanism` (mechanism.md).
_GUILTY = 0.01
# So many variables are named of those whose missing cells depend on what is missing.
_MOST_NAMES = 5


@entrance
@told_of_support
@limited_memory
def learn(
    data: Any,
    *,
    method: Method = "auto",
    score: Score | str = "bdeu",
    ess: Ess = None,
    prior: Prior | None = None,
    support: float | None = None,
    max_parents: int = 3,
    locality: int | None = None,
    restarts: int | None = None,
    n_networks: int | None = None,
    solver: Solver = "auto",
    constraints: ConstraintsLike = None,
    mechanism: MechanismLike | None = None,
    max_mechanism_parents: int = 2,
    stability: int = 0,
    gap: float | None = None,
    full: bool = False,
    fill_empty_rows: bool = False,
    time_limit: float | None = None,
    max_memory: float | None = None,
    certificate: PathLike | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    checkpoint: Checkpoint = None,
    client: Any = None,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> LearnResult:
    """Learn a network from an incomplete table, and mend the table.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells; with `client` a dask data frame, or files.
    method : {"auto", "exact", "local", "em", "em-hard", "ensemble"}, default="auto"
        ``exact``: the best structure and completion of all, proven, or the gap when a
        limit comes first. ``local``: no change of `locality` cells with any structure
        is better. ``em``: structural expectation-maximisation, which weighs all
        completions instead of choosing the best (`learn_em` has more options);
        ``em-hard``: its variant that learns from most probable completions.
        ``ensemble``: many networks, and the table mended by the mean of what they say
        (`learn_ensemble` has more options, and needs no `ess`).
        ``auto``: exact where a proof is likely within a second or two, judged by the
        sizes of the table and by a short search that is limited in work, not in time;
        em otherwise. When more than 100 cells and more than 5 % of all are missing, and
        it takes seconds, the network is that of em, and the cells are mended by
        ensemble, which fills better than any single network. Where a test finds that
        cells are not missing completely at random, why they are is learned first (see
        `mechanism`). ``chosen`` says what it chose, why, and how to ask for a proof.
    {score, auto_ess, prior, support, max_parents}
    locality : int, optional
        How many cells may change at once in the local search of ``exact`` and
        ``local``; 1 by default.
    restarts : int, optional
        Starts drawn at random, beside those that are always made; 10 by default, and
        in ``auto`` the fewer the larger the table.
    n_networks : int, optional
        The most networks of ``ensemble``; 50 by default.
    solver : {"auto", "subsets", "ilp", "order", "greedy"} or callable, default="auto"
        Structure solver of ``local`` and ``em``; see `learn_local` and `learn_em`.
    {constraints}
    mechanism : {"ignore", "self", "auto"} or mapping, optional
        Why cells are missing. ``ignore``: for no reason that matters. ``self``: because
        of what they hold, in every variable. ``auto``: what the table says, variable by
        variable; where it says nothing, the answer is that of ``ignore``. A mapping
        gives what the missing cells of variables depend on:
        ``{"income": ["income", "age"]}``. It is learned by EM, which weighs all
        completions, and held fixed where the best completion is searched. By default
        ``ignore``; but with more than 100 missing cells ``method="auto"`` tests whether
        they can be missing completely at random, takes ``auto`` where they cannot (p at
        most 0.01), and keeps it if some are found to depend on what is missing, and
        none on observed variables alone.
    {max_mechanism_parents, stability}
    gap : float, optional
        Stop the proof of ``exact`` when the score is known to be within so many nats
        of the best; 0 by default.
    full : bool, default=False
        Whether ``em`` searches for the structure of a long table with all rows at once,
        instead of growing samples; see `learn_em`.
    {fill_empty_rows, time_limit}
    max_memory : float, optional
        Bytes that may be taken beyond what is held at the beginning. What would take
        more is refused with the figure, or left for a search that takes less; a proof
        ends with the best so far. Like a time limit, it can make an answer depend on
        the machine. By default that of the machine; the tables of exact inference in
        ``em`` and ``ensemble`` take at most 2**30 bytes.
    {certificate}
    {seed, n_threads, checkpoint}
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler. The rows are read, and stay, on its
        workers. With ``em`` those of a long table are counted there, to the same
        network, to the last bit, as in memory; ``auto`` does so beyond 100,000,000
        cells. For any other method, and for tables that are short or complete, the
        coded rows come here, and the answer is that of one machine; where parent sets
        are too many to score them all, workers score those of some variables each.
        ``completed`` has no rows then.
    {progress}
    {reading}

    Returns
    -------
    LearnResult
        ``network``, ``completed``, ``cells``, ``score``, ``bound``, ``gap``,
        ``status``, ``trace``, ``seconds``.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(100, seed=1)
    >>> incomplete = bm.hiding.hide_value_per_variable(data, 1, state=1, seed=1).data
    >>> result = bm.learn(incomplete, seed=1)
    >>> result.status
    'optimal'
    >>> result.completed.n_missing
    0
    """
    progress = told(progress)
    check_flag("fill_empty_rows", fill_empty_rows)
    check_flag("full", full)
    check_choice("method", method, METHODS)
    check_solver(solver)
    check_certificate(certificate)
    is_ignored = isinstance(mechanism, str) and mechanism == "ignore"
    _check_options(
        method,
        solver,
        locality=locality,
        gap=gap,
        certificate=certificate,
        max_memory=max_memory,
        restarts=restarts,
        n_networks=n_networks,
        mechanism=None if is_ignored else mechanism,
        stability=stability or None,
        full=full or None,
    )
    if client is not None:
        return _learn_on_cluster(
            data,
            client,
            reading,
            {
                "score": score,
                "ess": ess,
                "prior": prior,
                "support": support,
                "max_parents": max_parents,
                "restarts": restarts,
                "solver": solver,
                "constraints": Constraints.of(constraints),
                "seed": seed,
                "n_threads": n_threads,
                "checkpoint": checkpoint,
                "progress": progress,
            },
            {
                "method": method,
                "locality": locality,
                "n_networks": n_networks,
                "mechanism": mechanism,
                "max_mechanism_parents": max_mechanism_parents,
                "stability": stability,
                "full": full,
                "gap": gap,
                "certificate": certificate,
                "fill_empty_rows": fill_empty_rows,
                "max_memory": max_memory,
                "time_limit": time_limit,
            },
        )
    table = IncompleteData.from_table(data, **reading)
    require_rows(table)
    is_tested = mechanism is None and method == "auto"
    mechanism = "ignore" if mechanism is None else mechanism
    check_mechanism(mechanism, max_mechanism_parents, table.names)
    if stability and not is_tested:
        check_goes_with("stability", stability, "mechanism", mechanism, ("auto",))
    known = Constraints.of(constraints)
    options: dict[str, Any] = {
        "method": method,
        "score": score,
        "ess": ess,
        "prior": prior,
        "support": support,
        "max_parents": max_parents,
        "locality": locality,
        "restarts": restarts,
        "n_networks": n_networks,
        "solver": solver,
        "constraints": known,
        "mechanism": None if is_tested else mechanism,
        "max_mechanism_parents": max_mechanism_parents,
        "stability": stability,
        "gap": gap,
        "full": full,
        "max_memory": max_memory,
        "certificate": certificate,
    }
    clock = Clock(time_limit)
    told_of_ess: dict[str, Any] = {}
    with opened(checkpoint, "learn", table=table, seed=seed, options=options) as at:
        clock.go_on_from(at.seconds)
        if isinstance(ess, str) and method != "ensemble":  # which chooses by itself
            rules = known.rules(table.names, max_parents=max_parents)
            score, told_of_ess = rule_by_em(
                table,
                rules,
                score=score,
                ess=ess,
                prior=prior,
                support=support,
                n_rows=None if full else first_rows(table),
                kept=at.part("ess"),
            )
            ess = prior = support = None
        how = _How(
            table,
            clock=clock,
            solver=solver,
            gap=0.0 if gap is None else gap,
            restarts=restarts,
            n_networks=N_NETWORKS if n_networks is None else n_networks,
            locality=1 if locality is None else locality,
            max_memory=MAX_MEMORY if max_memory is None else max_memory,
            full=full,
            mechanism=mechanism,
            is_tested=is_tested,
            max_mechanism_parents=max_mechanism_parents,
            stability=stability,
            certificate=certificate,
            kept=at,
            common={
                "score": score,
                "ess": ess,
                "prior": prior,
                "support": support,
                "max_parents": max_parents,
                "constraints": known,
                # A number is that of each of the calls, whose draws are alike.
                "seed": at.generator if seed is None and at.is_kept else seed,
                "n_threads": n_threads,
                "progress": progress,
            },
        )
        ways: dict[str, Callable[[], LearnResult]] = {
            "em": partial(how.em, hard=False),
            "em-hard": partial(how.em, hard=True),
            "ensemble": how.ensemble,
            "local": how.local,
            "exact": how.exact,
            "auto": partial(_auto, how),
        }
        found = ways[method]()
    found = replace(found, detail={**found.detail, **told_of_ess})
    if certificate is not None and found.certificate_file is None:
        found = _with_proof_of_structure(how, found)
    return found if fill_empty_rows else leave_empty_rows(found)


def _with_proof_of_structure(how: _How, found: LearnResult) -> LearnResult:
    """Write the proof of a structure alone, or why there is none."""
    assert how.certificate is not None
    if not how.table.is_complete or math.isinf(found.bound):
        reason = f"{spell('method', found.method)} has no bound to prove."
        written = write_no_proof(how.certificate, reason)
        return replace(found, certificate_file=written)
    names, common = how.table.names, how.common
    rule = Score.of(
        common["score"],
        ess=common["ess"],
        prior=common["prior"],
        support=common["support"],
    )
    rules = common["constraints"].rules(names, max_parents=common["max_parents"])
    scorer = FamilyScorer(
        how.table, score=rule, constraints=rules, n_threads=common["n_threads"]
    )
    return certify_table(
        how.certificate,
        scorer,
        rules,
        found,
        clock=how.clock,
        progress=common["progress"],
    )


def _learn_on_cluster(
    data: Any,
    client: Any,
    reading: Reading,
    common: dict[str, Any],
    others: dict[str, Any],
) -> LearnResult:
    """Learn from rows on a cluster, which come here where they must."""
    clock = Clock(others["time_limit"])
    method, given = others["method"], others["max_memory"]
    max_memory = MAX_MEMORY if given is None else given
    is_plain = (
        method in ("auto", "em")
        and others["mechanism"] in (None, "ignore")
        and not (others["full"] or others["stability"])
    )
    with linked(client) as link:
        counting = read_there(link, data, ReadingOptions(**reading))
        if not counting.n_rows:
            msg = "the table has no rows to learn from."
            raise DataError(msg)
        stays = is_long(counting, max_memory) and (method == "em" or is_large(counting))
        if is_plain and stays:
            found = learn_there(
                counting,
                is_auto=method == "auto",
                max_memory=max_memory,
                clock=clock,
                **common,
            )
            if method == "em":
                return found
            n_rows = quantity(counting.n_rows, "row")
            return replace(
                found, chosen=f"em: {n_rows} stay on the cluster, and are counted there"
            )
        table = bring_here(counting)
        limit = others["time_limit"]
        if limit is not None:
            others = {**others, "time_limit": clock.left}
        with lend(link):
            found = learn(table, **common, **others)
        return without_rows(found, counting)


# The methods that an option is for; `auto` may come to use any of them.
_FOR = {
    "locality": ("exact", "local"),
    "gap": ("exact",),
    "certificate": ("exact",),
    "full": ("em",),
    "n_networks": ("ensemble",),
    "solver": ("local", "em", "em-hard"),
    "restarts": ("exact", "local", "em", "em-hard"),
    "mechanism": ("exact", "local", "em", "ensemble"),
    "stability": ("em",),
}


_CHECKS: dict[str, Callable[[str, object], object]] = {
    "locality": partial(check_integer, least=1),
    "gap": partial(check_number, unit="nats", least=0),
    "max_memory": partial(check_number, unit="bytes", above=0),
    "restarts": partial(check_integer, least=0),
    "n_networks": partial(check_integer, least=1),
    "stability": partial(check_integer, least=0),
}


def _check_options(method: Method, solver: Solver, **options: object) -> None:
    """Raise ParameterError for an option out of range, or that the method ignores."""
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name in _CHECKS:
            _CHECKS[name](name, value)
    if solver not in ("auto", "subsets"):  # which `exact` takes anyway
        given["solver"] = solver
    if method == "auto":
        return
    for name, value in given.items():
        if name in _FOR:
            check_goes_with(name, value, "method", method, _FOR[name])


@dataclass(frozen=True, slots=True)
class _How:
    """A table and all options, for whichever method takes them."""

    table: IncompleteData
    clock: Clock
    solver: Solver
    gap: float
    restarts: int | None
    n_networks: int
    locality: int
    max_memory: float
    full: bool
    mechanism: MechanismLike
    is_tested: bool  # whether `auto` chooses the mechanism, by the test of innocence
    max_mechanism_parents: int
    stability: int
    certificate: PathLike | None
    kept: Kept
    common: dict[str, Any]

    @property
    def searched(self) -> IncompleteData:
        """The rows that EM begins its search for structures with."""
        n_rows = None if self.full else first_rows(self.table)
        if n_rows is None:
            return self.table
        return CountingHere(self.table, Engine()).sample(n_rows)

    def exact(self, **limits: Any) -> LearnResult:
        """Look for a proof."""
        limits.setdefault("time_limit", self.clock.left)
        return learn_exact(
            self.table,
            gap=self.gap,
            locality=self.locality,
            restarts=self._restarts(_RESTARTS),
            mechanism=self.mechanism,
            max_mechanism_parents=self.max_mechanism_parents,
            certificate=self.certificate,
            **limits,
            **self._common("exact"),
        )

    def local(self) -> LearnResult:
        """Climb to the best completion."""
        return learn_local(
            self.table,
            solver=self.solver,
            locality=self.locality,
            restarts=self._restarts(_RESTARTS),
            mechanism=self.mechanism,
            max_mechanism_parents=self.max_mechanism_parents,
            time_limit=self.clock.left,
            **self._common("local"),
        )

    def em(
        self,
        *,
        hard: bool = False,
        starts: tuple[Start, ...] = STARTS,
        restarts: int = EM_RESTARTS,
    ) -> LearnResult:
        """Weigh all completions; `restarts` unless the caller of `learn` has said."""
        return learn_em(
            self.table,
            hard=hard,
            starts=starts,
            solver=self.solver,
            restarts=self._restarts(restarts),
            mechanism=self.mechanism,
            max_mechanism_parents=self.max_mechanism_parents,
            stability=self.stability if self.mechanism == "auto" else 0,
            full=self.full,
            max_memory=self.max_memory,
            time_limit=self.clock.left,
            **self._common("em", self.mechanism == "auto"),
        )

    def ensemble(self) -> LearnResult:
        """Take the mean of many networks."""
        return learn_ensemble(
            self.table,
            n_networks=self.n_networks,
            mechanism=self.mechanism,
            max_mechanism_parents=self.max_mechanism_parents,
            max_memory=self.max_memory,
            time_limit=self.clock.left,
            **self._common("ensemble"),
        )

    def _common(self, *part: object) -> dict[str, Any]:
        """Return what all methods take; what one keeps is not taken for another's."""
        kept = self.kept.part(*part) if self.kept.is_kept else None
        return {**self.common, "checkpoint": kept}

    def _restarts(self, usual: int) -> int:
        return usual if self.restarts is None else self.restarts


def _auto(how: _How) -> LearnResult:
    """Choose a method; the search for a proof is limited in work, not in time."""
    if how.table.is_complete:
        return _structure_alone(how)
    is_tested = how.is_tested and how.table.n_missing > _MANY_CELLS
    innocence = None
    if is_tested:
        with suppress(TimeoutError), limited_calls(how.clock.left):
            innocence = brief_innocence(how.table)
    if innocence is None:
        return _chosen(how)
    chance = innocence.p_value
    if chance > _GUILTY:
        return _chosen(how, chance=chance)
    explained = _explained(how)
    telling = [] if explained is None else _hidden_by_hidden(explained)
    if explained is None or not telling:
        return _chosen(how, explained=explained, chance=chance)
    found = explained
    if not found.stopped and _suits_ensemble(how):
        found = _averaged(replace(how, mechanism=_as_given(explained)), explained)
    reason = (
        f"cells are not missing completely at random (p = {chance:.2g}), and those of "
        f"{listing(telling, _MOST_NAMES)} depend on what is missing; "
        f"{spell('mechanism', 'ignore')} leaves that aside"
    )
    return _told(how, found, reason, chance)


def _explained(how: _How) -> LearnResult | None:
    """Learn why cells are missing, by EM, where exact inference fits into memory."""
    seed = deepcopy(how.common["seed"])  # what follows draws as if this had not been
    asked = replace(how, mechanism="auto", common={**how.common, "seed": seed})
    starts, restarts = em_effort(how.table)
    try:
        return asked.em(starts=starts, restarts=restarts)
    except InferenceError:
        return None


def _hidden_by_hidden(found: LearnResult) -> list[str]:
    """Return the variables whose missing cells depend on what is missing.

    None where observed variables explain some: through near copies of theirs, the same
    may stand behind the others.
    """
    assert found.mechanism is not None
    if any(why.label == LABELS[1] for why in found.mechanism):
        return []
    return [why.variable for why in found.mechanism if why.label == LABELS[2]]


def _is_harmless(found: LearnResult) -> bool:
    """Tell whether nothing was found that depends on what is missing."""
    assert found.mechanism is not None
    return not any(why.label == LABELS[2] for why in found.mechanism)


def _as_given(found: LearnResult) -> dict[str, tuple[str, ...]]:
    """Return what missing cells depend on as a caller would give it."""
    assert found.mechanism is not None
    return {why.variable: why.parents for why in found.mechanism if why.parents}


def _chosen(
    how: _How, *, explained: LearnResult | None = None, chance: float | None = None
) -> LearnResult:
    """Choose a method, it being settled how missing cells are taken.

    `explained` is the answer of EM where it has been learned why cells are missing, but
    not clear that they depend on what is missing.
    """
    reason, known = _reason_against_proof(how), explained
    if reason is None:
        left = how.clock.left
        tried = how.exact(
            work_limit=PROOF_WORK, time_limit=None if left is None else left / 2
        )
        if tried.stopped in (Stopped.NOTHING, Stopped.INTERRUPT):
            return _told(how, tried, _outcome_of_proof(how, tried), chance)
        known = tried
        reason = "a short search found no proof"
        if math.isfinite(tried.bound):
            reason += f" (gap {tried.gap:.3g} nats)"
    try:
        starts, restarts = em_effort(how.searched)
        if explained is not None and _is_harmless(explained):
            found = explained
        else:
            found = how.em(starts=starts, restarts=restarts)
        if not found.stopped and _suits_ensemble(how):
            found = _averaged(how, found)
    except InferenceError:
        reason += ", and exact inference does not fit into memory"
        found = replace(how, mechanism="ignore").local()  # which EM would learn
    except KeyboardInterrupt:  # between two searches, which answer it themselves
        if known is None:
            raise
        found = replace(known, stopped=Stopped.INTERRUPT)
    if explained is not None:
        reason += (
            f"; not completely at random (p = {chance:.2g}), but it is not clear "
            "that they depend on what is missing"
        )
    if _could_be_proven(how):
        reason += (
            f"; for a proof or a gap, use {spell('method', 'exact')}, "
            f"with a {spell('time_limit')}"
        )
    return _told(how, found, reason, chance)


def _averaged(how: _How, single: LearnResult) -> LearnResult:
    """Fill by the mean of many networks; the single best one is there to be read.

    What many agree on has weak arcs in either direction, and more of them.
    """
    found = how.ensemble()
    return replace(
        found,
        network=single.network,
        score=single.score,
        mechanism=single.mechanism,
        log_likelihood=single.log_likelihood,
        trace=single.trace,
        detail={**single.detail, **found.detail, "network": single.method},
    )


def _suits_ensemble(how: _How) -> bool:
    """Tell whether many cells are to be filled, and nothing was asked of EM alone."""
    is_free = how.solver == "auto" and how.restarts is None
    is_short = how.searched is how.table  # an ensemble looks at all rows
    return (
        is_free
        and is_short
        and _has_many_missing(how.table)
        and suits_ensemble(how.table)
    )


def _has_many_missing(table: IncompleteData) -> bool:
    share = table.n_missing / (table.n_rows * table.n_vars)
    return table.n_missing > _MANY_CELLS and share > _LARGE_SHARE


def _told(
    how: _How, found: LearnResult, reason: str, chance: float | None = None
) -> LearnResult:
    """Say what `auto` chose, what it tested for that, and count all of its time."""
    return replace(
        found,
        chosen=f"{found.method}: {reason}",
        seconds=how.clock.seconds,
        detail=found.detail
        if chance is None
        else {**found.detail, "innocence": chance},
    )


def _reason_against_proof(how: _How) -> str | None:
    """Say why a proof is not wanted or not likely; None where it is worth a try."""
    table = how.table
    if how.mechanism != "ignore":
        return "why cells are missing is learned by weighing all completions"
    if _has_many_missing(table):
        share = table.n_missing / (table.n_rows * table.n_vars)
        return f"{table.n_missing:,} cells ({share:.0%}) are missing"
    if how.solver not in ("auto", "subsets"):
        return "a proof has no use for a solver of your own"
    if table.n_vars > EXACT_VARS:
        return f"{table.n_vars} variables, a proof goes up to {EXACT_VARS}"
    if not _has_countable_rows(table):
        return (
            "a proof needs row weights that are whole numbers of at most "
            f"{MOST_ROWS:,} in all"
        )
    if not is_convex(how.common["score"]):
        return "a proof needs a score that is convex in the counts"
    rules = how.common["constraints"].rules(
        table.names, max_parents=how.common["max_parents"]
    )
    work = proof_work(
        table,
        max_parents=int(rules.limit.max()),
        n_starts=1 + (_RESTARTS if how.restarts is None else how.restarts),
    )
    if work > PROOF_WORK:
        return (
            f"{quantity(table.n_missing, 'missing cell')} among "
            f"{quantity(table.n_vars, 'variable')} are too many for a quick proof"
        )
    return None


def _could_be_proven(how: _How) -> bool:
    """Tell whether a proof may be asked for with these options at all."""
    is_small = how.table.n_vars <= EXACT_VARS
    has_own_solver = how.solver not in ("auto", "subsets")
    return (
        is_small
        and not has_own_solver
        and _has_countable_rows(how.table)
        and is_convex(how.common["score"])
    )


def _has_countable_rows(table: IncompleteData) -> bool:
    """Tell whether row weights are whole numbers, and not too many for a proof."""
    weights = table.weights
    return weights is None or bool(
        (weights % 1 == 0).all() and weights.sum() <= MOST_ROWS
    )


def _outcome_of_proof(how: _How, tried: LearnResult) -> str:
    size = (
        f"{quantity(how.table.n_vars, 'variable')} and "
        f"{quantity(how.table.n_missing, 'missing cell')}"
    )
    if tried.stopped:
        return f"{size}, interrupted before there was a proof"
    if tried.is_optimal:
        return f"{size}, few enough for a proof"
    return f"{size}, few enough to come within the {spell('gap')} asked for"


def _structure_alone(how: _How) -> LearnResult:
    """Learn a structure as usual: without missing cells nothing is to be mended."""
    is_small = how.table.n_vars <= EXACT_VARS
    solver = how.solver
    if solver == "auto":
        # The search over orders takes seconds where a proof may take hours.
        solver = "subsets" if is_small else "order"
    found = replace(how, solver=solver).em()
    note = "no cell is missing: this is plain structure learning"
    reason = "no cell is missing"
    if not found.is_optimal:
        reason += "; for a proof of the structure, use learn_structure"
    return _told(
        how,
        replace(
            found,
            method="exact" if found.is_optimal else "local",
            log_likelihood=None,
            detail={**found.detail, "note": note},
        ),
        reason,
    )
