"""What all structures together say: probabilities of arcs, and DAGs drawn.

The posterior weighs every DAG by the exponential of its score, so that each DAG counts
once, however many orders of the variables it agrees with. It is summed exactly for
some twenty variables (Tian and He 2009), and sampled beyond by chains over ordered
partitions (Kuipers and Moffa 2017). Both take a complete table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, NamedTuple, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import check_choice, check_integer
from bayesmend._clock import Clock, Progress, available_memory, check_threads
from bayesmend._entrance import entrance
from bayesmend._progress import told
from bayesmend._rows import offsets_of, owners_of
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.reading import Reading
from bayesmend.data.states import quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ConvergenceWarning, ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.outcome import Stopped
from bayesmend.score import Families, FamilyScorer, Prior, Score
from bayesmend.seed import Seed, as_generator
from bayesmend.structure.order import FIRST_PATIENCE, solve_order
from bayesmend.structure.parents import ParentSets

__all__ = [
    "ArcProbability",
    "StructurePosterior",
    "all_families",
    "arc_indicators",
    "layers_of",
    "posterior_memory",
    "split_r_hat",
    "structure_posterior",
]

Way = Literal["auto", "exact", "partition"]

_EXACT_VARS = 20  # beyond, time triples with every variable from minutes on
_MOST_EXACT_VARS = 25
_MOST_FAMILIES = 5_000_000
_STEPS_PER_VARIABLE = 5
_BATCHES = 10
_NEGLIGIBLE = 40.0
_R_HAT = 1.1
"""Chains further apart than this do not agree (Gelman and Rubin 1992)."""


class ArcProbability(NamedTuple):
    """How sure an arc is.

    Parameters
    ----------
    parent, child : str
        The arc.
    probability : float
        Of the arc from parent to child.
    either : float
        Of an arc between the two, whichever way.
    error, either_error : float
        Monte Carlo standard errors of the two; 0 where they are exact.
    """

    parent: str
    child: str
    probability: float
    either: float
    error: float
    either_error: float


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StructurePosterior(Shown):
    """Probabilities of arcs and paths over all structures, and DAGs drawn.

    Parameters
    ----------
    names : tuple of str
        The variables.
    arcs, paths : ndarray of shape (n_vars, n_vars)
        ``arcs[i, j]`` is the probability of an arc from variable ``i`` to ``j``,
        ``paths[i, j]`` of a directed path.
    errors, edge_errors : ndarray of shape (n_vars, n_vars)
        Monte Carlo standard errors of `arcs` and of `edges`; 0 from ``exact``.
    dags : tuple of Dag
        DAGs drawn from the posterior; chain by chain from ``partition``.
    method : str
        ``exact`` or ``partition``.
    log_total : float, optional
        From ``exact``: the logarithm of the sum over all DAGs.
    r_hat : ndarray of shape (n_vars, n_vars), optional
        From ``partition``: how far the chains are apart in each edge, 1 where they
        agree.
    n_chains : int
        Number of chains; 0 from ``exact``.
    stopped : Stopped
        What ended the work early.
    chosen : str, optional
        What ``auto`` chose, and why.
    seconds : float
        How long it took.
    """

    names: tuple[str, ...]
    arcs: NDArray[np.float64]
    paths: NDArray[np.float64]
    errors: NDArray[np.float64]
    edge_errors: NDArray[np.float64]
    dags: tuple[Dag, ...]
    method: str
    log_total: float | None = None
    r_hat: NDArray[np.float64] | None = None
    n_chains: int = 0
    stopped: Stopped = Stopped.NOTHING
    chosen: str | None = None
    seconds: float = 0.0

    @property
    def edges(self) -> NDArray[np.float64]:
        """Probability of an arc between two variables, whichever way."""
        return self.arcs + self.arcs.T

    @property
    def largest_r_hat(self) -> float:
        """How far the chains are apart where they agree least; 1 from ``exact``."""
        return 1.0 if self.r_hat is None else float(self.r_hat.max(initial=1.0))

    def arc_probabilities(self, least: float = 0.01) -> list[ArcProbability]:
        """List the arcs of at least this probability, the surest first.

        Examples
        --------
        >>> import bayesmend as bm
        >>> data = bm.load_network("asia").sample(500, seed=1)
        >>> found = bm.structure.structure_posterior(data, seed=1)
        >>> surest = found.arc_probabilities()[0]
        >>> surest.parent, surest.child, round(surest.probability, 1)
        ('bronc', 'dysp', 1.0)
        """
        order = np.argsort(-self.arcs, axis=None, kind="stable")
        pairs = [divmod(int(place), len(self.names)) for place in order]
        edges = self.edges
        return [
            ArcProbability(
                self.names[i],
                self.names[j],
                float(self.arcs[i, j]),
                float(edges[i, j]),
                float(self.errors[i, j]),
                float(self.edge_errors[i, j]),
            )
            for i, j in pairs
            if i != j and self.arcs[i, j] >= least
        ]

    def __repr__(self) -> str:
        chains = ""
        if self.n_chains:
            chains = f", n_chains={self.n_chains}, r_hat={self.largest_r_hat:.3f}"
        return (
            f"StructurePosterior({self.method}, {len(self.names)} variables, "
            f"{len(self.dags)} dags{chains}, seconds={self.seconds:.2f})"
        )


@entrance
def structure_posterior(
    data: Any,
    *,
    method: Way = "auto",
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    max_parents: int = 3,
    constraints: ConstraintsLike = None,
    n_dags: int = 1000,
    n_chains: int = 4,
    steps: int | None = None,
    time_limit: float | None = None,
    seed: Seed = None,
    n_threads: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> StructurePosterior:
    """Return how probable every arc is, given a complete table.

    Each DAG within `max_parents` and the constraints weighs the exponential of its
    score; with ``bdeu``, ``bds`` or ``k2`` that is its posterior probability, under the
    structure prior `prior`. DAGs are counted, not orders.

    Parameters
    ----------
    {complete_data}
    method : {"auto", "exact", "partition"}, default="auto"
        ``exact``: the sum over all DAGs; time triples with every variable, a minute or
        less for 20, and memory doubles (see `posterior_memory`). ``partition``: DAGs
        drawn by Markov chains over ordered partitions, for up to 256 variables, with
        Monte Carlo errors. ``auto``: exact for up to 20 variables.
    {score, ess, prior, max_parents, constraints}
    n_dags : int, default=1000
        Number of DAGs drawn, from all chains together.
    n_chains : int, default=4
        Chains of ``partition``, each from a good DAG of its own.
    steps : int, optional
        Steps of a chain between two DAGs; 5 per variable by default. Half as many as
        between all its DAGs come before the first.
    time_limit : float, optional
        Seconds. An exact sum that has not ended by half of them gives way to chains;
        chains end with the DAGs drawn so far.
    {seed, n_threads, progress}
    {reading}

    Returns
    -------
    StructurePosterior
        Probabilities of arcs, edges and paths, and DAGs.

    Warns
    -----
    ConvergenceWarning
        When the chains of ``partition`` do not agree.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = bm.load_network("asia").sample(500, seed=1)
    >>> found = structure_posterior(data, n_dags=100, seed=1)
    >>> found
    StructurePosterior(exact, 8 variables, 100 dags, seconds=...)
    >>> smoke, bronc = data.index("smoke"), data.index("bronc")
    >>> round(float(found.edges[smoke, bronc]), 2)
    1.0
    """
    progress = told(progress)
    clock = Clock(time_limit)
    check_choice("method", method, get_args(Way))
    check_integer("n_dags", n_dags, 1)
    check_integer("n_chains", n_chains, 1)
    if steps is not None:
        check_integer("steps", steps, 1)
    table = IncompleteData.from_table(data, **reading)
    rules = Constraints.of(constraints).rules(table.names, max_parents=max_parents)
    scorer = FamilyScorer(
        table,
        score=score,
        ess=ess,
        prior=prior,
        constraints=rules,
        n_threads=n_threads,
    )
    sets = all_families(scorer, rules)
    way, chosen = _choose(method, sets.n_vars)
    generator, n_threads = as_generator(seed), check_threads(n_threads)
    stopped = Stopped.NOTHING
    if way == "exact":
        _check_memory(sets.n_vars, n_threads)
        if progress is not None:
            progress(f"all DAGs of {sets.n_vars} variables", -np.inf, clock.seconds)
        found, stopped = _sum(sets, n_dags, clock, generator, n_threads)
        if found is not None:
            return _with_time(found, chosen, clock)
        chosen = f"partition: the exact sum was stopped ({stopped.words})"
    found = _sample(
        sets,
        n_dags,
        n_chains,
        steps or _STEPS_PER_VARIABLE * sets.n_vars,
        clock,
        generator,
        n_threads,
        progress,
        stopped,
    )
    _warn_of_chains(found)
    return _with_time(found, chosen, clock)


@entrance
def posterior_memory(n_vars: int, *, n_threads: int = 0) -> float:
    """Count the bytes that the exact sum over all DAGs of `n_vars` variables takes."""
    n_vars = check_integer("n_vars", n_vars)
    return float(_core.dag_average_memory(n_vars, check_threads(n_threads)))


def all_families(scorer: FamilyScorer, rules: ParentRules) -> ParentSets:
    """List the families within the rules, but for those of next to no probability.

    A DAG in which a family is replaced by a subset of it is a DAG; so a family that
    scores 40 less than one of its subsets has a probability of 4e-18 at most.
    """
    names = scorer.data.names
    n_vars, most = len(names), int(rules.limit.max(initial=0))
    n_families = Families.count_up_to(n_vars, most)
    if n_families > _MOST_FAMILIES:
        msg = (
            f"{quantity(n_vars, 'variable')} have {n_families:,} families of up to "
            f"{most} parents, more than the {_MOST_FAMILIES:,} that can be averaged. "
            f"Lower {spell('max_parents')}, or forbid arcs."
        )
        raise ParameterError(msg)
    families = Families.up_to(n_vars, most)
    scores = scorer.families(families)
    scores[~_within(families, rules)] = -np.inf
    kept = scores > _best_of_subsets(families, scores, n_vars) - _NEGLIGIBLE
    order = np.argsort(families.child, kind="stable")
    order = order[kept[order]]
    sizes = np.diff(families.first_parent)[order]
    member_offsets = offsets_of(sizes)
    shift = np.repeat(families.first_parent[order] - member_offsets[:-1], sizes)
    members = families.parents[np.arange(member_offsets[-1]) + shift]
    offsets = offsets_of(np.bincount(families.child[order], minlength=n_vars))
    return ParentSets.from_arrays(
        names, offsets, scores[order], member_offsets, members
    )


def _within(families: Families, rules: ParentRules) -> NDArray[np.bool_]:
    """Tell which families the rules allow."""
    n, sizes = len(families), np.diff(families.first_parent)
    owner = owners_of(families.first_parent)
    child = families.child[owner]
    allowed = rules.allowed[child, families.parents].astype(np.int64)
    required = rules.required[child, families.parents].astype(np.int64)
    needed = rules.required.sum(axis=1, dtype=np.int64)[families.child]
    is_within: NDArray[np.bool_] = (
        (np.bincount(owner, weights=allowed, minlength=n) == sizes)
        & (np.bincount(owner, weights=required, minlength=n) == needed)
        & (sizes <= rules.limit[families.child])
    )
    return is_within


def _best_of_subsets(
    families: Families, scores: NDArray[np.float64], n_vars: int
) -> NDArray[np.float64]:
    """Return for each family of `Families.up_to` the best score of its proper subsets.

    The families of one size lie child by child, in the order of the combinations of
    the other variables.
    """
    best = np.full(len(scores), -np.inf)
    keys, start, size = np.zeros(1, np.int64), n_vars, 1
    within = scores[:n_vars].reshape(n_vars, 1)  # best of a set and its subsets
    while start < len(scores):
        others = np.array(list(combinations(range(n_vars - 1), size)), np.int64)
        end = start + n_vars * len(others)
        below = np.full((n_vars, len(others)), -np.inf)
        for left_out in range(size):
            smaller = _key(np.delete(others, left_out, axis=1), n_vars)
            below = np.maximum(below, within[:, np.searchsorted(keys, smaller)])
        best[start:end] = below.ravel()
        within = np.maximum(below, scores[start:end].reshape(n_vars, -1))
        keys, start, size = _key(others, n_vars), end, size + 1
    return best


def _key(sets: NDArray[np.int64], n_vars: int) -> NDArray[np.int64]:
    """Give sets of one size numbers in the order of their members."""
    keys = np.zeros(len(sets), np.int64)
    for members in sets.T:
        keys = keys * n_vars + members
    return keys


def _choose(method: Way, n_vars: int) -> tuple[str, str | None]:
    most = int(_core.MAX_PARTITION_VARS)
    if n_vars > most and method != "exact":
        msg = (
            f"chains over partitions take up to {most} variables. The table has "
            f"{n_vars:,}. Leave some out."
        )
        raise ParameterError(msg)
    if method != "auto":
        return method, None
    is_small = n_vars <= _EXACT_VARS
    is_small = is_small and posterior_memory(n_vars) < available_memory() / 2
    method = "exact" if is_small else "partition"
    return method, f"{method}: {quantity(n_vars, 'variable')}"


def _check_memory(n_vars: int, n_threads: int) -> None:
    needed = posterior_memory(n_vars, n_threads=n_threads)
    if n_vars > _MOST_EXACT_VARS or needed > 0.9 * available_memory():
        msg = (
            f"the exact sum over all DAGs of {n_vars} variables needs about "
            f"{needed / 1e9:.3g} GB. Use {spell('method', 'partition')} instead."
        )
        raise ParameterError(msg)


def _sum(
    sets: ParentSets,
    n_dags: int,
    clock: Clock,
    generator: np.random.Generator,
    n_threads: int,
) -> tuple[StructurePosterior | None, Stopped]:
    """Sum over all DAGs, in half of the time that is left."""
    n_vars, left = sets.n_vars, clock.left
    found = _core.average_dags(
        *sets.arrays,
        n_dags,
        0.0 if left is None else left / 2,
        int(generator.integers(2**63)),
        n_threads,
    )
    stopped = Stopped(found.stopped.name)
    if stopped:
        return None, stopped
    if n_vars and not np.isfinite(found.log_total):
        msg = "no DAG holds the constraints. Allow more arcs, or require fewer."
        raise ParameterError(msg)
    none = np.zeros((n_vars, n_vars))
    return StructurePosterior(
        names=sets.names,
        arcs=found.arcs.reshape(n_vars, n_vars).copy(),
        paths=found.paths.reshape(n_vars, n_vars).copy(),
        errors=none,
        edge_errors=none,
        dags=_dags_of(sets, found.draws.reshape(n_dags, n_vars)),
        method="exact",
        log_total=float(found.log_total),
    ), stopped


def _sample(
    sets: ParentSets,
    n_dags: int,
    n_chains: int,
    steps: int,
    clock: Clock,
    generator: np.random.Generator,
    n_threads: int,
    progress: Progress | None,
    stopped: Stopped,
) -> StructurePosterior:
    """Draw DAGs by chains, after an interrupt only a few."""
    n_vars, per_chain = sets.n_vars, -(-n_dags // n_chains)
    seconds = 0.2 if stopped is Stopped.INTERRUPT else clock.left
    starts = [
        layers_of(
            solve_order(
                sets,
                restarts=1,
                patience=FIRST_PATIENCE,
                time_limit=None if seconds is None else seconds / (4 * n_chains),
                seed=generator,
                n_threads=n_threads,
                progress=False,
            ).dag
        )
        for _ in range(n_chains)
    ]
    found = _core.sample_partitions(
        *sets.arrays,
        np.concatenate(starts),
        n_chains,
        per_chain,
        steps,
        per_chain * steps // 2,
        seconds or 0.0,
        int(generator.integers(2**63)),
        n_threads,
        clock.reporter(progress, "chains over partitions"),
    )
    choices = found.choices.reshape(-1, n_vars)
    shape = (n_chains, found.n_samples, n_vars, n_vars)
    arcs = arc_indicators(sets, choices).reshape(shape)
    edges = arcs | arcs.swapaxes(2, 3)
    return StructurePosterior(
        names=sets.names,
        arcs=arcs.mean(axis=(0, 1)),
        paths=_paths_of(arcs.reshape(-1, n_vars, n_vars)).mean(axis=0),
        errors=_errors(arcs),
        edge_errors=_errors(edges),
        dags=_dags_of(sets, choices),
        method="partition",
        r_hat=split_r_hat(edges),
        n_chains=n_chains,
        stopped=Stopped(found.stopped.name) or stopped,
    )


def layers_of(dag: Dag) -> NDArray[np.int32]:
    """Return the layer of each variable: one after the last of those of its parents.

    Examples
    --------
    >>> layers_of(Dag(("a", "b", "c"), ((2,), (0, 2), ()))).tolist()
    [1, 2, 0]
    """
    layers = np.zeros(dag.n_vars, np.int32)
    for v in dag.topological_order():
        layers[v] = 1 + max((layers[p] for p in dag.parents[v]), default=-1)
    return layers


def arc_indicators(sets: ParentSets, choices: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Tell for DAGs, given by the candidates chosen, which arcs each has."""
    n_dags, n_vars = choices.shape
    sizes = np.diff(sets.member_offsets)[choices.ravel()]
    first = sets.member_offsets[choices.ravel()]
    ends = offsets_of(sizes)
    places = np.arange(ends[-1]) + np.repeat(first - ends[:-1], sizes)
    dag, child = np.divmod(np.repeat(np.arange(choices.size), sizes), n_vars)
    arcs = np.zeros((n_dags, n_vars, n_vars), dtype=bool)
    arcs[dag, sets.members[places], child] = True
    return arcs


def _paths_of(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Follow the arcs of each DAG to the end, by way of each variable in turn."""
    paths = arcs.copy()
    for v in range(arcs.shape[1]):
        paths |= paths[:, :, v, None] & paths[:, None, v, :]
    return paths


def _dags_of(sets: ParentSets, choices: NDArray[np.int64]) -> tuple[Dag, ...]:
    members = {int(c): sets.members_of(c) for c in np.unique(choices)}
    return tuple(
        Dag(sets.names, tuple(members[c] for c in row)) for row in choices.tolist()
    )


def _errors(arcs: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Estimate standard errors of means over chains, from means of batches of them."""
    n_chains, n_samples = arcs.shape[:2]
    n_batches = min(_BATCHES, n_samples)
    if n_chains * n_batches < 2:
        return np.full(arcs.shape[2:], np.inf)
    size = n_samples // n_batches
    kept = arcs[:, : n_batches * size].reshape(-1, size, *arcs.shape[2:])
    means = kept.mean(axis=1)
    errors: NDArray[np.float64] = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    return errors


def split_r_hat(values: NDArray[Any]) -> NDArray[np.float64]:
    """Compare the variance between halves of chains with that within (split R-hat).

    Parameters
    ----------
    values : ndarray of shape (n_chains, n_samples, ...)
        What the chains have drawn.

    Examples
    --------
    >>> agree, differ = [[0, 1, 0, 1], [1, 0, 1, 0]], [[0, 1, 0, 1], [4, 5, 4, 5]]
    >>> [round(float(split_r_hat(np.array(x))), 2) for x in (agree, differ)]
    [1.0, 3.34]
    """
    n_chains, n_samples = values.shape[:2]
    half = n_samples // 2
    if half < 2:
        return np.full(values.shape[2:], np.inf)
    parts = values[:, n_samples - 2 * half :].astype(np.float64)
    parts = parts.reshape(2 * n_chains, half, *values.shape[2:])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.sqrt((half - 1) / half + between / within)
    return np.where(between == 0, 1.0, np.maximum(1.0, found))


def _warn_of_chains(found: StructurePosterior) -> None:
    if found.largest_r_hat <= _R_HAT:
        return
    assert found.r_hat is not None
    i, j = divmod(int(found.r_hat.argmax()), len(found.names))
    warn(
        f"the chains do not agree (R-hat {found.largest_r_hat:.3g} for the edge "
        f"between {found.names[i]!r} and {found.names[j]!r}, more than {_R_HAT}). "
        f"Raise {spell('n_dags')} or {spell('steps')}.",
        ConvergenceWarning,
    )


def _with_time(
    found: StructurePosterior, chosen: str | None, clock: Clock
) -> StructurePosterior:
    return replace(found, chosen=chosen, seconds=clock.seconds)
