"""Bayesian networks: a graph and a conditional probability table per variable.

Symbols of the literature: ``r_i`` is ``card[i]``, ``q_i`` is ``len(cpts[i])``, and
``theta_ijk`` is ``cpts[i][j, k]``.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import check_integer, check_items
from bayesmend._copies import frozen_in_copies
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend._spelling import spell
from bayesmend.data.alike import read_alike
from bayesmend.data.reading import Reading
from bayesmend.data.schema import Schema
from bayesmend.data.states import Label, as_label, check_labels, position_of, quantity
from bayesmend.data.table import (
    IncompleteData,
    read_variables,
    require_complete,
)
from bayesmend.errors import DataError, ParameterError
from bayesmend.graph.dag import Dag, check_dag
from bayesmend.network.cpt import (
    Estimate,
    check_cpt,
    distributions,
    fold,
    prior_of,
    unfold,
)
from bayesmend.network.flat import flatten
from bayesmend.network.match import match_codes, match_names
from bayesmend.network.mechanism import (
    OBSERVED_OR_MISSING,
    Mechanism,
    indicator_names,
)
from bayesmend.network.support import check_support
from bayesmend.network.tabulated import Cpt
from bayesmend.score import count_family
from bayesmend.seed import Seed, as_generator

__all__ = ["Network", "check_network"]

MAX_ENTRIES = 2**30  # of one table: 8 GB
_MOST_CELLS = 2**36  # of a table that is drawn: 64 GB


@frozen_in_copies
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network(Shown):
    """A discrete Bayesian network.

    Parameters
    ----------
    dag : Dag
        The graph.
    states : tuple of tuple
        Labels of the states of each variable, 1 to 254 of them.
    cpts : tuple of ndarray of shape (n_parent_configs, n_states)
        ``cpts[i][j, k]`` is the probability of state ``k`` of variable ``i`` given
        configuration ``j`` of ``dag.parents[i]``, the first parent varying fastest.
        Rows sum to 1; a sum that is off by rounding (1e-6) is divided out.
    support : tuple of ndarray of bool, optional
        ``support[i][j, k]`` tells whether a row of the table learned from, with the
        variable and all its parents observed, is an example of that cell. None where
        this is not known.
    schema : Schema, optional
        How the table learned from was read: the roles of its columns, and where its
        numbers are cut. New rows are read the same way. It does not count when
        networks are compared.
    mechanism : Mechanism, optional
        Why cells are missing. It changes what missing cells hold, not what the network
        says of its variables; `with_indicators` makes variables of it.

    Examples
    --------
    >>> dag = Dag.from_arcs(["rain", "wet"], [("rain", "wet")])
    >>> states = (("no", "yes"), ("no", "yes"))
    >>> network = Network(dag, states, ([[0.8, 0.2]], [[0.9, 0.1], [0.2, 0.8]]))
    >>> network
    Network(2 variables, 1 arc, 3 parameters)
    >>> network.sample(1000, seed=1)
    IncompleteData(1,000 rows, 2 variables, 0 missing cells)
    """

    dag: Dag
    states: tuple[tuple[Label, ...], ...]
    cpts: tuple[NDArray[np.float64], ...]
    support: tuple[NDArray[np.bool_], ...] | None = None
    schema: Schema | None = None
    mechanism: Mechanism | None = None

    def __post_init__(self) -> None:
        check_dag(self.dag)
        for field in ("states", "cpts"):
            entries = check_items(field, getattr(self, field), "one entry per variable")
            if not isinstance(getattr(self, field), Sized):
                object.__setattr__(self, field, tuple(entries))
        for field in ("states", "cpts"):
            if len(getattr(self, field)) != self.n_vars:
                msg = (
                    f"{field} must have one entry per variable ({self.n_vars}). "
                    f"Got {len(getattr(self, field))} instead."
                )
                raise DataError(msg)
        states = tuple(tuple(map(as_label, labels)) for labels in self.states)
        for name, labels in zip(self.names, states, strict=True):
            check_labels(name, labels)
        object.__setattr__(self, "states", states)
        card = [len(labels) for labels in states]
        cpts = tuple(
            check_cpt(name, cpt, math.prod(card[p] for p in parents), r)
            for name, cpt, parents, r in zip(
                self.names, self.cpts, self.dag.parents, card, strict=True
            )
        )
        object.__setattr__(self, "cpts", cpts)
        if self.support is not None:
            support = check_support(self.names, self.support, cpts)
            object.__setattr__(self, "support", support)
        if self.mechanism is not None:
            self.mechanism.check(self.names, card)

    @classmethod
    @entrance
    def fit(
        cls,
        dag: Dag,
        data: Any,
        *,
        estimate: Estimate = "mle",
        ess: float | None = None,
        **reading: Unpack[Reading],
    ) -> Network:
        """Estimate the tables of a graph from complete data.

        Parameters
        ----------
        dag : Dag
            The graph; its variables are matched to those of the data by name.
        data : IncompleteData, frame, array, mapping or path
            A table without missing cells; its weights, if any, count rows.
        estimate : {"mle", "posterior"}, default="mle"
            Relative frequencies, or the posterior mean under a Dirichlet prior.
            With "mle", a parent configuration that never occurs gets the uniform
            distribution.
        ess : float, optional
            Equivalent sample size of the prior, by default 1: each cell of a table
            begins with ``ess / (n_parent_configs * n_states)``. For "posterior" only.
        {reading}

        Returns
        -------
        Network
            With the states of the data.

        Examples
        --------
        >>> dag, table = Dag.from_arcs(["a"]), {"a": ["n", "n", "y"]}
        >>> Network.fit(dag, table, estimate="posterior", ess=1.0).cpts[0].tolist()
        [[0.625, 0.375]]
        """
        check_dag(dag)
        prior = prior_of(estimate, ess)
        table = read_variables(data, dag.names, **reading)
        columns = match_names(dag.names, table.names)
        require_complete(table, "Network.fit")
        states = tuple(table.states[column] for column in columns)
        cpts = []
        for i, parents in enumerate(dag.parents):
            _check_size(dag.names[i], [len(states[p]) for p in (*parents, i)])
            members = [columns[p] for p in parents]
            counts = count_family(table, columns[i], members)
            cpts.append(distributions(counts, prior))
        return cls(dag, states, tuple(cpts), schema=table.schema)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return self.dag.names

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return self.dag.n_vars

    @property
    def card(self) -> NDArray[np.int32]:
        """Number of states of each variable."""
        return np.array([len(labels) for labels in self.states], dtype=np.int32)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: a table row of r states has r - 1."""
        return sum(len(cpt) * (cpt.shape[1] - 1) for cpt in self.cpts)

    def cpt(self, name: str) -> Cpt:
        """Return the probabilities of a variable given its parents, with their labels.

        ``network[name]`` is the same.

        Examples
        --------
        >>> import bayesmend as bm
        >>> bm.load_network("asia").cpt("bronc")
        bronc given smoke
        <BLANKLINE>
        smoke  yes       no
        yes    0.600000  0.400000
        no     0.300000  0.700000
        """
        variable = position_of(name, self.names)
        parents = self.dag.parents[variable]
        return Cpt(
            name,
            self.states[variable],
            tuple(self.names[p] for p in parents),
            tuple(self.states[p] for p in parents),
            self.cpts[variable],
        )

    def __getitem__(self, name: str) -> Cpt:
        return self.cpt(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def children(self, name: str) -> tuple[str, ...]:
        """Name the children of a variable; see :meth:`Dag.children`."""
        return self.dag.children(name)

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Name the ancestors of a variable; see :meth:`Dag.ancestors`."""
        return self.dag.ancestors(name)

    def descendants(self, name: str) -> tuple[str, ...]:
        """Name the descendants of a variable; see :meth:`Dag.descendants`."""
        return self.dag.descendants(name)

    def markov_blanket(self, name: str) -> tuple[str, ...]:
        """Name parents, children and their parents; see :meth:`Dag.markov_blanket`."""
        return self.dag.markov_blanket(name)

    def d_separated(
        self,
        x: str | Iterable[str],
        y: str | Iterable[str],
        given: str | Iterable[str] = (),
    ) -> bool:
        """Tell whether `x` and `y` are independent; see :meth:`Dag.d_separated`."""
        return self.dag.d_separated(x, y, given)

    def with_indicators(self, at: int | None = None) -> Network:
        """Return the network with the mechanism as further variables, one each.

        Without a mechanism it is the network itself.

        Parameters
        ----------
        at : int, optional
            How many variables come before them; all by default.

        Examples
        --------
        >>> dag = Dag.from_arcs(["income"])
        >>> why = Mechanism(("income",), (("income",),), ([[0.9, 0.1], [0.5, 0.5]],))
        >>> states, cpts = (("low", "high"),), ([[0.6, 0.4]],)
        >>> Network(dag, states, cpts, mechanism=why).with_indicators().dag.arcs
        (('income', 'missing_income'),)
        """
        why = self.mechanism
        if why is None:
            return self
        at = self.n_vars if at is None else at
        n_new = len(why.variables)
        place = {name: v + n_new * (v >= at) for v, name in enumerate(self.names)}
        card = {
            n: len(labels) for n, labels in zip(self.names, self.states, strict=True)
        }
        cpts = tuple(
            _in_order(cpt, [place[p] for p in parents], [card[p] for p in parents])
            for cpt, parents in zip(why.cpts, why.parents, strict=True)
        )
        support = None
        if self.support is not None:
            none = (np.ones(cpt.shape, bool) for cpt in cpts)
            support = (*self.support[:at], *none, *self.support[at:])
        # The variables keep their order, and so do the tables of their families.
        sets = [
            tuple(place[self.names[p]] for p in parents) for parents in self.dag.parents
        ]
        own = [tuple(place[p] for p in parents) for parents in why.parents]
        new = indicator_names(self.names, why.variables)
        states = (OBSERVED_OR_MISSING,) * n_new
        return Network(
            Dag(
                (*self.names[:at], *new, *self.names[at:]),
                (*sets[:at], *own, *sets[at:]),
            ),
            (*self.states[:at], *states, *self.states[at:]),
            (*self.cpts[:at], *cpts, *self.cpts[at:]),
            support,
        )

    def without_indicators(self, of: Mapping[str, str]) -> Network:
        """Undo `with_indicators`: make a mechanism of variables that are indicators.

        What is no indicator (it has children, or other states) stays a variable.

        Parameters
        ----------
        of : mapping of str to str
            The variable that each indicator is of.
        """
        used = {p for parents in self.dag.parents for p in parents}
        gone = [
            v
            for v, name in enumerate(self.names)
            if name in of
            and v not in used
            and of[name] in self.names
            and self.states[v] == OBSERVED_OR_MISSING
        ]
        variables = [of[self.names[v]] for v in gone]
        if (
            not gone
            or len(set(variables)) < len(gone)
            or set(variables) & {self.names[v] for v in gone}
        ):
            return self
        kept = [v for v in range(self.n_vars) if v not in gone]
        place = {v: k for k, v in enumerate(kept)}
        parents = tuple(tuple(place[p] for p in self.dag.parents[v]) for v in kept)
        support = self.support
        return replace(
            self,
            dag=Dag(tuple(self.names[v] for v in kept), parents),
            states=tuple(self.states[v] for v in kept),
            cpts=tuple(self.cpts[v] for v in kept),
            support=None if support is None else tuple(support[v] for v in kept),
            mechanism=Mechanism(
                tuple(variables),
                tuple(tuple(self.names[p] for p in self.dag.parents[v]) for v in gone),
                tuple(self.cpts[v] for v in gone),
            ),
        )

    @entrance
    def sample(
        self, n_rows: int, *, seed: Seed = None, n_threads: int = 0
    ) -> IncompleteData:
        """Draw independent rows.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        seed : int, numpy.random.Generator or None, default=None
            Source of randomness. With an integer, the first rows are the same
            whatever ``n_rows``.
        {n_threads}

        Returns
        -------
        IncompleteData
            A complete table with the variables and states of the network.
        """
        check_integer("n_rows", n_rows)
        if n_rows * self.n_vars > _MOST_CELLS:
            msg = (
                f"{spell('n_rows', n_rows)} of {self.n_vars} variables are more than "
                f"{_MOST_CELLS:,} cells. Draw fewer at a time."
            )
            raise ParameterError(msg)
        check_integer("n_threads", n_threads)
        key = int(as_generator(seed).integers(2**64, dtype=np.uint64))
        order = np.array(self.dag.topological_order(), dtype=np.int32)
        flat = flatten(self.dag, self.cpts)
        cells = _core.sample(*flat, order, n_rows, key, n_threads)
        cells.flags.writeable = False  # so that it need not be copied
        return IncompleteData.from_codes(cells.T, names=self.names, states=self.states)

    @entrance
    def log_likelihood(
        self,
        data: Any,
        *,
        n_threads: int = 0,
        **reading: Unpack[Reading],
    ) -> NDArray[np.float64]:
        """Return the log-probability of each row of a complete table.

        Variables are matched by name and states by label, so that their order in
        the data does not matter. A label that differs in type only (``1`` and
        ``"1"``) matches when no other does.

        Parameters
        ----------
        data : IncompleteData, frame, array, mapping or path
            A table with the variables of the network, without missing cells; other
            columns of a table that is read here are left out.
        {n_threads}
        {reading}

        Returns
        -------
        ndarray of shape (n_rows,)
            Natural logarithms; ``-inf`` for an impossible row.

        Raises
        ------
        DataError
            When a cell is missing, or a name or label is unknown to the network.
        """
        check_integer("n_threads", n_threads)
        table = read_alike(self._no_rows(), data, **reading)
        require_complete(table, "log_likelihood")
        cells = match_codes(self.names, self.states, table)
        return _core.log_likelihood(*flatten(self.dag, self.cpts), cells, n_threads)

    def _no_rows(self) -> IncompleteData:
        """Return a table without rows that has the variables, states and cuts."""
        codes = np.empty((0, self.n_vars), dtype=np.uint8)
        known = None if self.schema is None else self.schema.discretization
        return IncompleteData(
            self.names,
            self.states,
            codes,
            discretization=None if known is None else known.only(self.names),
        )

    def is_close(self, other: Network, tol: float = 1e-9) -> bool:
        """Tell whether two networks agree, every probability within ``tol``.

        Variables are matched by name and states by label: their order does not
        matter. The graphs must be the same.

        Examples
        --------
        >>> dag = Dag.from_arcs(["a"])
        >>> one = Network(dag, (("no", "yes"),), ([[0.8, 0.2]],))
        >>> two = Network(dag, (("yes", "no"),), ([[0.2, 0.8]],))
        >>> one == two, one.is_close(two)
        (False, True)
        """
        if set(self.names) != set(other.names):
            return False
        if set(self.dag.arcs) != set(other.dag.arcs):
            return False
        columns = match_names(self.names, other.names)
        if any(
            set(labels) != set(other.states[column])
            for labels, column in zip(self.states, columns, strict=True)
        ):
            return False
        return all(
            np.abs(cpt - _aligned_cpt(self, other, i, columns)).max(initial=0) <= tol
            for i, cpt in enumerate(self.cpts)
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            self.dag == other.dag
            and self.states == other.states
            and all(map(np.array_equal, self.cpts, other.cpts))
            and _same_support(self.support, other.support)
            and self.mechanism == other.mechanism
        )

    def __hash__(self) -> int:
        return hash((self.dag, self.states))

    def __repr__(self) -> str:
        return (
            f"Network({quantity(self.n_vars, 'variable')}, "
            f"{quantity(self.dag.n_arcs, 'arc')}, "
            f"{quantity(self.n_parameters, 'parameter')})"
        )


def check_network(network: object) -> None:
    """Raise ``ParameterError`` unless it is a network."""
    if isinstance(network, Network):
        return
    kind = type(network).__name__
    msg = f"network must be a Network. Got an object of type {kind} instead."
    if isinstance(getattr(network, "network", None), Network):
        msg = msg.removesuffix(".") + ": pass its .network."
    if isinstance(network, (str, os.PathLike)):
        msg = (
            f"network must be a Network. Got {network!r} instead: read a file with "
            "read_network(path), or a shipped network with load_network(name)."
        )
    raise ParameterError(msg)


def _in_order(
    cpt: NDArray[np.float64], members: list[int], card: list[int]
) -> NDArray[np.float64]:
    """Return a table for the same parents in ascending order, as graphs have them."""
    order = sorted(range(len(members)), key=members.__getitem__)
    return fold(unfold(cpt, card).transpose([*order, len(members)]))


def _same_support(
    one: tuple[NDArray[np.bool_], ...] | None,
    other: tuple[NDArray[np.bool_], ...] | None,
) -> bool:
    if one is None or other is None:
        return one is other
    return all(map(np.array_equal, one, other))


def _check_size(name: str, family_card: list[int]) -> None:
    n_entries = math.prod(family_card)
    if n_entries > MAX_ENTRIES:
        msg = (
            f"the table of {name!r} would have {n_entries} entries. "
            "Give it fewer parents."
        )
        raise ParameterError(msg)


def _aligned_cpt(
    network: Network, other: Network, i: int, columns: list[int]
) -> NDArray[np.float64]:
    """Return the table of variable ``i`` of ``other`` in the order of ``network``."""
    card = other.card
    parents = other.dag.parents[columns[i]]
    table = unfold(other.cpts[columns[i]], [int(card[p]) for p in parents])
    family = [*(columns[p] for p in network.dag.parents[i]), columns[i]]
    axis = {variable: a for a, variable in enumerate((*parents, columns[i]))}
    table = table.transpose([axis[variable] for variable in family])
    for a, variable in enumerate((*network.dag.parents[i], i)):
        theirs = other.states[columns[variable]]
        take = [theirs.index(label) for label in network.states[variable]]
        table = table.take(take, axis=a)
    return fold(table)
