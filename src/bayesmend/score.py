"""What a family is worth: BDeu, BDs, K2, BIC, AIC, qNML and log-likelihood.

All scores are natural logs, higher is better, and a score of a DAG is the sum over its
families (a child and its parents). Symbols are the usual ones: ``r_i`` is ``card[i]``,
``q_i`` the number of parent configurations, ``N_ijk`` is ``counts[j, k]``.

Where the data decide what a score is made of (BDs counts the parent configurations that
occur), it is not convex in the counts, and learning by augmentation cannot take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, combinations
from math import comb
from typing import Any, Final, Literal, Unpack, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import (
    check_choice,
    check_goes_with,
    check_integer,
    check_items,
    check_number,
    got,
)
from bayesmend._clock import check_threads
from bayesmend._docs import documented
from bayesmend._entrance import entrance
from bayesmend._rows import offsets_of
from bayesmend._spelling import spell
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData, read_variables, require_complete
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.constraints import Constraints, ConstraintsLike, ParentRules
from bayesmend.graph.dag import Dag, check_dag

__all__ = [
    "SUPPORT",
    "Families",
    "FamilyScorer",
    "Score",
    "dag_score",
    "family_counts",
    "family_score",
    "score_families",
]

ScoreKind = Literal["bdeu", "bds", "k2", "bic", "aic", "qnml", "loglik"]
_KINDS: Final = get_args(ScoreKind)
Prior = Literal["fair", "uniform"]
Ess = float | Literal["auto"] | None
"""A number, 1 where None, or what predicts best."""
_PRIORS: Final = get_args(Prior)
# A marginal likelihood says nothing of how many parent sets there were to choose from;
# the others charge for the size of a family as it is.
_WITH_PRIOR: Final = ("bdeu", "bds", "k2")
_WITH_ESS: Final = ("bdeu", "bds")
_LEAST_ESS: Final = 1e-6
_MOST_ESS: Final = 1e12  # within these, scores are right to 9 digits
_MOST_FAMILIES: Final = 10**8
SUPPORT: Final = 0.2
"""What a row costs in a cell of which no observed row gives an example, in nats."""


_NOTHING_MISSING: Final = np.zeros((0, 0), np.uint8)
_NO_CHOICES: Final = np.zeros((0, 2), np.int32)


@dataclass(frozen=True, slots=True)
class Score:
    """A scoring rule.

    Parameters
    ----------
    kind : {"bdeu", "bds", "k2", "bic", "aic", "qnml", "loglik"}, default="bdeu"
        ``bdeu``: Bayesian Dirichlet, equivalent and uniform. ``bds``: the same, `ess`
        spread over the parent configurations that occur. ``k2``: Bayesian Dirichlet
        with one pseudo-count per cell. ``bic`` and ``aic``: log-likelihood less
        ``log(n_rows) / 2`` or 1 per free parameter. ``qnml``: the log of the quotient
        normalised maximum likelihood, of child and parents against the parents alone.
        ``loglik``: log-likelihood alone.
    ess : float, default=1.0
        Equivalent sample size of ``bdeu`` and ``bds``, and of the parameters that are
        learned by any of them; from 1e-6 to 1e12.
    prior : {"fair", "uniform"}, optional
        Structure prior. ``fair``: all numbers of parents are alike, and all sets of one
        size, so that a set of k out of m possible parents costs log C(m, k). Parents
        that constraints forbid are not counted, nor those that they require.
        ``uniform``: all structures are alike. By default ``fair`` for ``bdeu``, ``bds``
        and ``k2``, and ``uniform`` for the others, which charge for the size of a
        family as they are.
    arc_penalty : float, default=0.0
        Taken off the score for every arc.
    support : float, default=SUPPORT
        Taken off, of incomplete tables, for every row that falls into a cell (parent
        configuration and state of the child) of which no row with the whole family
        observed gives an example. 0 for none.

    Examples
    --------
    >>> Score("bdeu", ess=10)
    Score(kind='bdeu', ess=10, prior='fair', arc_penalty=0.0, support=0.2)
    >>> Score("bic").prior
    'uniform'
    """

    kind: ScoreKind = "bdeu"
    ess: float = 1.0
    prior: Prior | None = None
    arc_penalty: float = 0.0
    support: float = SUPPORT

    def __post_init__(self) -> None:
        check_choice("score", self.kind, _KINDS)
        check_number("ess", self.ess, least=_LEAST_ESS, most=_MOST_ESS)
        if self.prior is None:
            usual = "fair" if self.kind in _WITH_PRIOR else "uniform"
            object.__setattr__(self, "prior", usual)
        check_choice("prior", self.prior, _PRIORS)
        check_number("arc_penalty", self.arc_penalty, finite=True)
        check_number("support", self.support, least=0, finite=True)

    @classmethod
    def of(
        cls,
        score: Score | str,
        *,
        ess: float | None = None,
        prior: Prior | None = None,
        support: float | None = None,
    ) -> Score:
        """Return `score` itself, or the rule of that name.

        Examples
        --------
        >>> Score.of("bic").kind
        'bic'
        """
        if not isinstance(score, cls):
            return cls(
                score,  # type: ignore[arg-type]
                ess=1.0 if ess is None else ess,
                prior=prior,
                support=SUPPORT if support is None else support,
            )
        for name, value in (("ess", ess), ("prior", prior), ("support", support)):
            if value is not None:
                msg = (
                    f"{spell(name, value)} goes with the name of a score. {score!r} "
                    "has its own."
                )
                raise ParameterError(msg)
        return score


@dataclass(frozen=True, slots=True)
class Families:
    """Many families in compressed form, for one call of the core.

    Parameters
    ----------
    child : ndarray of shape (n_families,), int32
        The child of each family.
    first_parent : ndarray of shape (n_families + 1,), int64
        The parents of family ``f`` are
        ``parents[first_parent[f]:first_parent[f + 1]]``.
    parents : ndarray, int32
        All parents, one family after the other.
    """

    child: NDArray[np.int32]
    first_parent: NDArray[np.int64]
    parents: NDArray[np.int32]

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[int, Sequence[int]]]) -> Families:
        """Collect (child, parents) pairs of variable indices.

        Examples
        --------
        >>> len(Families.from_pairs([(0, []), (1, [0])]))
        2
        """
        listed = check_items("families", pairs, "pairs (child, parents)")
        for pair in listed:
            _check_pair(pair)
        sizes = [len(parents) for _, parents in listed]
        return cls(
            np.array([child for child, _ in listed], np.int32),
            offsets_of(sizes),
            np.array([p for _, parents in listed for p in parents], np.int32),
        )

    @classmethod
    def up_to(cls, n_vars: int, max_parents: int) -> Families:
        """List every family of `n_vars` variables with at most `max_parents` parents.

        Examples
        --------
        >>> len(Families.up_to(37, 3))
        288859
        """
        n_vars = check_integer("n_vars", n_vars)
        max_parents = min(check_integer("max_parents", max_parents), n_vars - 1)
        if n_vars == 0:
            return cls.from_pairs([])
        # Few terms are enough to be too many; all of them may take for ever.
        n_so_far = accumulate(comb(n_vars - 1, k) for k in range(max_parents + 1))
        if any(n_vars * n > _MOST_FAMILIES for n in n_so_far):
            msg = (
                f"{n_vars:,} variables with up to {max_parents:,} parents have more "
                f"than {_MOST_FAMILIES:,} families. Use a smaller "
                f"{spell('max_parents')}."
            )
            raise ParameterError(msg)
        children, sizes, parents = [], [], []
        for size in range(max_parents + 1):
            others = list(combinations(range(n_vars - 1), size))
            block = np.array(others, np.int32).reshape(len(others), size)
            for child in range(n_vars):
                children.append(np.full(len(others), child, np.int32))
                sizes.append(np.full(len(others), size, np.int64))
                # Index j of the others is variable j, or j + 1 from the child on.
                parents.append((block + (block >= child)).astype(np.int32).ravel())
        return cls(
            np.concatenate(children),
            offsets_of(np.concatenate(sizes)),
            np.concatenate(parents),
        )

    @staticmethod
    def count_up_to(n_vars: int, max_parents: int) -> int:
        """Count the families that `up_to` lists.

        Examples
        --------
        >>> Families.count_up_to(37, 3)
        288859
        """
        return n_vars * sum(comb(n_vars - 1, k) for k in range(max_parents + 1))

    def __len__(self) -> int:
        return len(self.child)

    def __repr__(self) -> str:
        return f"Families({len(self)} families)"


@entrance
class FamilyScorer:
    """One complete table, ready to have families scored again and again.

    Parameters
    ----------
    {complete_data, score, ess, prior}
    constraints : Constraints, mapping or ParentRules, optional
        What structures are chosen from, which the fair prior counts; everything by
        default.
    {n_threads, reading}

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmend import IncompleteData
    >>> data = IncompleteData.from_table(np.array([["a", "x"], ["b", "y"]]))
    >>> scorer = FamilyScorer(data)
    >>> round(scorer.family("x1", ["x0"]), 6)
    -1.386294
    """

    def __init__(
        self,
        data: Any,
        *,
        score: Score | str = "bdeu",
        ess: float | None = None,
        prior: Prior | None = None,
        constraints: ConstraintsLike | ParentRules = None,
        n_threads: int = 0,
        **reading: Unpack[Reading],
    ) -> None:
        table = IncompleteData.from_table(data, **reading)
        require_complete(table, "a score")
        self.data, self.score = table, rule_for_scores(score, ess, prior)
        self.n_threads = check_threads(n_threads)
        rules = _rules_of(constraints, table)
        self._again: Callable[[], FamilyScorer] | None = partial(
            FamilyScorer,
            table,
            score=self.score,
            constraints=rules,
            n_threads=self.n_threads,
        )
        self.core = _core.Scorer(
            table.codes.T,
            table.card,
            weights_of(table),
            core_rule(self.score, rules.choices),
            _NOTHING_MISSING,
            None,
        )

    @classmethod
    def completed(
        cls,
        data: IncompleteData,
        completed: IncompleteData,
        *,
        score: Score,
        choices: NDArray[np.int32] | None = None,
        n_threads: int = 0,
        shown: _core.ShownCells | None = None,
        max_memory: float | None = None,
    ) -> FamilyScorer:
        """Score a completed table, knowing which of its cells were missing.

        Parameters
        ----------
        data : IncompleteData
            The table as it was observed.
        completed : IncompleteData
            The same without missing cells.
        score : Score
            The rule; its `support` is for cells that no row of `data` shows.
        choices : ndarray of shape (n_vars, 2), optional
            What the fair prior counts: how many parents each child may have beside
            those it must, and these; without constraints all others.
        n_threads : int, default=0
            Number of threads; 0 means one per core.
        shown : ShownCells, optional
            Shared by scorers of completions of the same `data`, which saves time.
        max_memory : float, optional
            Bytes; searches pass by families whose tables would take a quarter of it.
        """
        require_complete(completed, "a score")
        scorer = cls.__new__(cls)
        scorer.data, scorer.score = completed, score
        scorer.n_threads = check_threads(n_threads)
        scorer._again = partial(
            cls.completed,
            data,
            completed,
            score=score,
            choices=choices,
            n_threads=scorer.n_threads,
            max_memory=max_memory,
        )
        scorer.core = _core.Scorer(
            completed.codes.T,
            completed.card,
            weights_of(completed),
            core_rule(score, _or_free(choices, data)),
            missing_flags(data) if score.support > 0 else _NOTHING_MISSING,
            shown,
        )
        if max_memory is not None:
            scorer.core.limit_tables(max_memory, passes_by_larger=True)
        return scorer

    @classmethod
    @documented
    def expecting(
        cls,
        data: IncompleteData,
        holes: _core.Holes,
        cpts: NDArray[np.float64],
        *,
        score: Score,
        choices: NDArray[np.int32] | None = None,
        max_memory: float,
        n_threads: int = 0,
    ) -> FamilyScorer:
        """Score the counts expected of an incomplete table under a network.

        Parameters
        ----------
        data : IncompleteData
            The table.
        holes : Holes
            Its distinct rows, compiled for the structure of the network.
        cpts : ndarray
            The probabilities of the network, flat.
        score : Score
            The rule.
        choices : ndarray of shape (n_vars, 2), optional
            What the fair prior counts: how many parents each child may have beside
            those it must, and these; without constraints all others.
        {n_threads}
        max_memory : float
            Bytes for posteriors; those that do not fit are computed anew.
        """
        scorer = cls.__new__(cls)
        scorer.data, scorer.score = data, score
        scorer.n_threads = check_threads(n_threads)
        scorer._again = None
        scorer.core = _core.Scorer.expecting(
            holes,
            cpts,
            core_rule(score, _or_free(choices, data)),
            scorer.n_threads,
            float(max_memory),
        )
        return scorer

    @property
    def is_portable(self) -> bool:
        """Whether it can be copied to another process."""
        return self._again is not None

    def __reduce__(self) -> tuple[Callable[[], FamilyScorer], tuple[()]]:
        if self._again is None:
            msg = "a scorer of expected counts cannot be copied. Make it anew."
            raise TypeError(msg)
        return self._again, ()

    def family(self, child: str, parents: Sequence[str] = ()) -> float:
        """Score one family, given by names."""
        family = resolve_family(self.data, child, parents)
        return float(self.families(Families.from_pairs([family]))[0])

    def families(self, families: Families) -> NDArray[np.float64]:
        """Score many families in one call: an array with one score for each."""
        _check_families(families, self.data.n_vars)
        try:
            return self.core.families(
                families.child, families.first_parent, families.parents, self.n_threads
            )
        except ValueError as error:  # a family that names a variable twice
            raise ParameterError(str(error)) from None

    def dag(self, dag: Dag) -> float:
        """Score a DAG: the sum over its families, matched by variable names."""
        check_dag(dag)
        missing = sorted(set(self.data.names).symmetric_difference(dag.names))
        if missing:
            msg = f"the DAG and the data differ in the variables {', '.join(missing)}."
            raise DataError(msg)
        index = [self.data.index(name) for name in dag.names]
        pairs = [
            (index[child], [index[p] for p in parents])
            for child, parents in enumerate(dag.parents)
        ]
        return float(self.families(Families.from_pairs(pairs)).sum())


@entrance
def family_score(
    data: Any,
    child: str,
    parents: Sequence[str] = (),
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    **reading: Unpack[Reading],
) -> float:
    """Score one family of a complete table.

    Parameters
    ----------
    {complete_data}
    child : str
        Name of the child.
    parents : sequence of str, default=()
        Names of its parents.
    {score, ess, prior}
    {reading}

    Returns
    -------
    float
        The score, a natural log.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmend import IncompleteData
    >>> data = IncompleteData.from_table(np.array([["a"], ["a"], ["b"]]))
    >>> round(family_score(data, "x0", score="loglik"), 6)
    -1.909543
    """
    scorer = FamilyScorer(
        data, score=score, ess=ess, prior=prior, n_threads=1, **reading
    )
    return scorer.family(child, parents)


@entrance
def score_families(
    data: Any,
    families: Families | Iterable[tuple[str, Sequence[str]]],
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    n_threads: int = 0,
    **reading: Unpack[Reading],
) -> NDArray[np.float64]:
    """Score many families in one call.

    Parameters
    ----------
    {complete_data}
    families : Families or iterable of (child, parents)
        Indices in compressed form, or pairs of names.
    {score, ess, prior, n_threads}
    {reading}

    Returns
    -------
    ndarray of shape (n_families,)
        One score per family.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmend import IncompleteData
    >>> data = IncompleteData.from_table(np.array([["a", "x"], ["b", "y"]]))
    >>> score_families(data, [("x0", []), ("x1", ["x0"])]).round(3).tolist()
    [-2.079, -1.386]
    """
    table = IncompleteData.from_table(data, **reading)
    if not isinstance(families, Families):
        named = check_items("families", families, "pairs (child, parents)")
        families = Families.from_pairs(
            resolve_family(table, *_check_pair(pair)) for pair in named
        )
    scorer = FamilyScorer(table, score=score, ess=ess, prior=prior, n_threads=n_threads)
    return scorer.families(families)


@entrance
def dag_score(
    dag: Dag,
    data: Any,
    *,
    score: Score | str = "bdeu",
    ess: float | None = None,
    prior: Prior | None = None,
    constraints: ConstraintsLike = None,
    **reading: Unpack[Reading],
) -> float:
    """Score a DAG on a complete table: the sum over its families.

    Parameters
    ----------
    dag : Dag
        The DAG.
    {complete_data, score, ess, prior}
    constraints : Constraints or mapping, optional
        Under which the DAG was chosen: the fair prior counts what they leave.
    {reading}

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmend import Dag, IncompleteData
    >>> data = IncompleteData.from_table(np.array([["a", "x"], ["b", "y"]]))
    >>> round(dag_score(Dag.from_arcs(["x0", "x1"], [("x0", "x1")]), data), 3)
    -3.466
    """
    check_dag(dag)
    table = read_variables(data, dag.names, **reading)
    scorer = FamilyScorer(
        table, score=score, ess=ess, prior=prior, constraints=constraints
    )
    return scorer.dag(dag)


@entrance
def family_counts(
    data: Any,
    child: str,
    parents: Sequence[str] = (),
    **reading: Unpack[Reading],
) -> NDArray[np.float64]:
    """Count child states for every configuration of the parents.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        A table without missing cells; its row weights are summed.
    child : str
        Name of the child.
    parents : sequence of str, default=()
        Names of the parents; the first one varies fastest along axis 0.
    {reading}

    Returns
    -------
    ndarray of shape (n_parent_configs, n_child_states)
        ``counts[j, k]`` is the number of rows with parent configuration ``j`` and
        child state ``k`` (N_ijk in the paper).

    Examples
    --------
    >>> import numpy as np
    >>> from bayesmend import IncompleteData
    >>> data = IncompleteData.from_table(np.array([["a", "x"], ["b", "y"], ["b", "x"]]))
    >>> family_counts(data, "x1", ["x0"]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    table = IncompleteData.from_table(data, **reading)
    require_complete(table, "a score")
    index, parent_indices = resolve_family(table, child, parents)
    n_cells = float(np.prod([float(table.card[v]) for v in (index, *parent_indices)]))
    if n_cells > 2**28:
        msg = (
            f"the table of {child!r} given {len(parents)} parents has {n_cells:.3g} "
            "cells. Use fewer parents; scores need no such table."
        )
        raise ParameterError(msg)
    return count_family(table, index, parent_indices)


def count_family(
    data: IncompleteData, child: int, parents: Sequence[int]
) -> NDArray[np.float64]:
    """Count the states of a variable of a complete table, all given by position."""
    members = np.array(parents, np.int32)
    return _core.family_counts(
        data.codes.T, data.card, weights_of(data), child, members
    )


def rule_for_scores(
    score: Score | str,
    ess: float | None,
    prior: Prior | None = None,
    support: float | None = None,
) -> Score:
    """Return a rule where no parameters are fitted: few scores have a use for `ess`.

    Examples
    --------
    >>> rule_for_scores("bic", 2.0)
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: ess=2 goes with score='bdeu' or score='bds'. ...
    """
    rule = Score.of(score, ess=ess, prior=prior, support=support)
    if ess is not None:
        check_goes_with("ess", ess, "score", rule.kind, _WITH_ESS)
    return rule


def is_convex(score: Score | str) -> bool:
    """Tell whether a score is convex in the counts, as choosing completions needs."""
    return Score.of(score).kind != "bds"


def require_convex(score: Score) -> None:
    """Refuse a score that completions cannot be chosen by.

    Examples
    --------
    >>> require_convex(Score("bds"))
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: score='bds' is not convex in the counts: ...
    """
    if not is_convex(score):
        msg = (
            f"{spell('score', score.kind)} is not convex in the counts: how many "
            "parent configurations occur depends on the completion, so that bounds do "
            "not hold, and like rows need not be filled alike. Use "
            f"{spell('method', 'em')}, or {spell('score', 'bdeu')}."
        )
        raise ParameterError(msg)


def core_rule(score: Score, choices: NDArray[np.int32]) -> _core.ScoreRule:
    """Return a rule as the core knows it, with what the fair prior counts."""
    return _core.ScoreRule(
        _core.ScoreKind[score.kind],
        float(score.ess),
        float(score.arc_penalty),
        float(score.support),
        choices if score.prior == "fair" else _NO_CHOICES,
    )


def _rules_of(
    constraints: ConstraintsLike | ParentRules, table: IncompleteData
) -> ParentRules:
    if isinstance(constraints, ParentRules):
        return constraints
    limit = max(table.n_vars - 1, 0)
    return Constraints.of(constraints).rules(table.names, max_parents=limit)


def _or_free(
    choices: NDArray[np.int32] | None, table: IncompleteData
) -> NDArray[np.int32]:
    return _rules_of(None, table).choices if choices is None else choices


def weights_of(data: IncompleteData) -> NDArray[np.float64]:
    """Return row weights as the core wants them: empty when every row counts one."""
    return np.zeros(0) if data.weights is None else data.weights


def missing_flags(data: IncompleteData) -> NDArray[np.uint8]:
    """Mark the missing cells, one variable after the other, as the core wants it."""
    return np.ascontiguousarray(data.missing_mask.T).view(np.uint8)


def resolve_family(
    data: IncompleteData, child: str, parents: Sequence[str]
) -> tuple[int, list[int]]:
    """Turn names into indices; a family holds each variable once."""
    parents = check_items("parents", parents, "names")
    index, parent_indices = data.index(child), [data.index(p) for p in parents]
    if len({index, *parent_indices}) != 1 + len(parent_indices):
        msg = f"the family of {child!r} names a variable twice: {', '.join(parents)}."
        raise ParameterError(msg)
    return index, parent_indices


def _check_pair(pair: Any) -> tuple[Any, Sequence[Any]]:
    """Return a child and its parents, or say that it is no such pair."""
    is_pair = isinstance(pair, tuple | list) and len(pair) == 2
    if not is_pair or isinstance(pair[1], str) or not hasattr(pair[1], "__len__"):
        msg = f"a family must be a pair (child, parents). {got(pair)}"
        raise ParameterError(msg)
    return pair[0], pair[1]


def _check_families(families: Families, n_vars: int) -> None:
    first, n_parents = families.first_parent, len(families.parents)
    if len(first) != len(families) + 1 or first[0] != 0 or first[-1] != n_parents:
        msg = (
            "first_parent must rise from 0 to the number of parents, one step a family."
        )
        raise ParameterError(msg)
    sizes = np.diff(first)
    if (sizes < 0).any():
        msg = "first_parent must not fall."
        raise ParameterError(msg)
    for part in (families.child, families.parents):
        if len(part) and (part.min() < 0 or part.max() >= n_vars):
            msg = f"families name variables outside 0 to {n_vars - 1}."
            raise ParameterError(msg)
