"""Parameters of a fixed structure from an incomplete table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer, check_number
from bayesmend._clock import Clock
from bayesmend._entrance import entrance
from bayesmend._shown import Shown
from bayesmend._warn import warn
from bayesmend.data.reading import Reading
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData, read_variables, require_rows
from bayesmend.errors import ConvergenceWarning, DataError
from bayesmend.graph.dag import Dag, check_dag
from bayesmend.inference.engine import MAX_MEMORY, Engine
from bayesmend.learning.em.expectation import (
    Table,
    estimate_cpts,
    split_cpts,
)
from bayesmend.learning.starts import observed_shares
from bayesmend.network.cpt import Estimate, prior_of
from bayesmend.network.flat import flatten, parents_of
from bayesmend.network.match import match_names
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped
from bayesmend.score import Score

__all__ = ["ParameterFit", "fit_parameters"]

# How far the states of a variable that is never observed are told apart at first.
_UNLIKE = 0.2


@dataclass(frozen=True, slots=True, repr=False)
class ParameterFit(Shown):
    """Parameters found by expectation-maximisation.

    Parameters
    ----------
    network : Network
        The structure with its parameters.
    log_likelihood : tuple of float
        Of what is observed, per iteration; the last one is that of `network`.
    objective : tuple of float
        What is maximised, per iteration; it never falls. With ``estimate="mle"`` the
        log-likelihood itself; else the log-density of the prior is added.
    converged : bool
        Whether the last gain was below the tolerance.
    seconds : float
        How long it took.
    stopped : Stopped
        The time limit or Ctrl-C, where that ended it.
    """

    network: Network
    log_likelihood: tuple[float, ...]
    objective: tuple[float, ...]
    converged: bool
    seconds: float
    stopped: Stopped = Stopped.NOTHING

    def __repr__(self) -> str:
        word = "converged" if self.converged else "not converged"
        if self.stopped:
            word = f"stopped at {self.stopped.words}"
        return (
            f"ParameterFit({word} after {len(self.log_likelihood) - 1} iterations, "
            f"log_likelihood={self.log_likelihood[-1]:.3f})"
        )


@entrance
def fit_parameters(
    dag: Dag,
    data: Any,
    *,
    start: Network | None = None,
    estimate: Estimate = "mle",
    ess: float | None = None,
    max_iter: int = 1000,
    tol: float = 1e-8,
    max_memory: float = MAX_MEMORY,
    time_limit: float | None = None,
    n_threads: int = 0,
    **reading: Unpack[Reading],
) -> ParameterFit:
    """Fit the parameters of a structure to an incomplete table.

    Expectation-maximisation with exact expected counts, and leaps ahead along its path
    wherever they gain. On complete data it gives what `Network.fit` gives.

    Parameters
    ----------
    dag : Dag
        The structure; its variables are matched to those of the data by name.
    data : IncompleteData, frame, array, mapping or path
        A table, with or without missing cells.
    start : Network, optional
        Where to start: a network with this structure. By default the expected counts
        begin with the observed shares of each variable, as if independent; states of
        a variable that is never observed are told apart by a fixed draw.
    estimate : {"mle", "posterior"}, default="mle"
        Maximum likelihood, or the mode under a Dirichlet prior that adds ``ess``,
        spread evenly over each table, to the counts.
    ess : float, optional
        Equivalent sample size of the prior, by default 1; for "posterior" only.
    max_iter : int, default=1000
        Largest number of iterations, leaps included; a warning says when it ended them.
    tol : float, default=1e-8
        Stop when an iteration gains less than this per row (in nats).
    {max_memory}
    time_limit : float, optional
        Seconds; when they run out, or at Ctrl-C, the parameters so far are returned.
    {n_threads}
    {reading}

    Returns
    -------
    ParameterFit
        The network, and the log-likelihood per iteration.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = bm.hide_mcar(asia.sample(500, seed=1), 0.2, seed=1).data
    >>> fit = bm.fit_parameters(asia.dag, data)
    >>> fit.converged
    True
    >>> bool((np.diff(fit.log_likelihood) >= 0).all())
    True
    """
    check_dag(dag)
    prior = prior_of(estimate, ess)
    check_number("tol", tol, above=0, finite=True)
    check_integer("max_iter", max_iter, 1)
    clock = Clock(time_limit)
    given = read_variables(data, dag.names, **reading)
    require_rows(given)
    columns = match_names(dag.names, given.names)
    table = Table.of(
        _arrange(given, columns), Engine(n_threads=n_threads, max_memory=max_memory)
    )
    cpts = _first_cpts(dag, table, start, prior)
    fitted = table.fit(dag, cpts, clock=clock, ess=prior, max_iter=max_iter, tol=tol)
    if not (fitted.converged or fitted.stopped):
        gain = float(np.diff(fitted.objective[-2:])[0])
        msg = (
            f"expectation-maximisation stopped at max_iter={max_iter} with gain "
            f"{gain:.2g}. Raise max_iter."
        )
        warn(msg, ConvergenceWarning)
    return ParameterFit(
        table.with_cpts(dag, fitted.cpts),
        tuple(fitted.log_likelihood.tolist()),
        tuple(fitted.objective.tolist()),
        fitted.converged,
        clock.seconds,
        fitted.stopped,
    )


def _arrange(data: IncompleteData, columns: list[int]) -> IncompleteData:
    """Return the variables in another order."""
    if columns == list(range(data.n_vars)):
        return data
    return IncompleteData.from_codes(
        np.asfortranarray(data.codes[:, columns]),
        names=[data.names[c] for c in columns],
        states=[data.states[c] for c in columns],
        weights=data.weights,
    )


def _first_cpts(
    dag: Dag, table: Table, start: Network | None, prior: float
) -> NDArray[np.float64]:
    if start is not None:
        if start.dag != dag or start.states != table.data.states:
            msg = "start must be a network with the structure and the states given."
            raise DataError(msg)
        return flatten(start.dag, start.cpts).cpts
    empty = Dag(dag.names, tuple(() for _ in dag.names))
    shares = np.concatenate(observed_shares(table.data))
    scorer = table.scorer(table.compile(empty)[0], shares, Score("loglik"))
    counts = scorer.core.expected_counts(*parents_of(dag))
    cpts = estimate_cpts(dag, table.data.card, counts, prior)
    return _break_symmetry(dag, table, cpts)


def _break_symmetry(
    dag: Dag, table: Table, cpts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Tell the states of variables that are never observed apart, by a fixed draw.

    Were they alike, every iteration would leave them alike: a saddle.
    """
    is_seen = (table.columns != MISSING).any(axis=1)
    if is_seen.all() or not table.columns.size:
        return cpts
    generator = np.random.default_rng(0)
    tables = []
    for v, cpt in enumerate(split_cpts(dag, table.data.card, cpts)):
        # A variable without neighbours has nothing to tell them apart for.
        if dag.parents[v] and not is_seen[[v, *dag.parents[v]]].all():
            drawn = generator.dirichlet(np.ones(cpt.shape[1]), len(cpt))
            cpt = (1 - _UNLIKE) * cpt + _UNLIKE * drawn
        tables.append(cpt.ravel())
    return np.concatenate(tables)
