"""What a network says of missing cells: most probable states, marginals, draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer
from bayesmend._entrance import entrance
from bayesmend.data.reading import Reading
from bayesmend.data.table import IncompleteData
from bayesmend.inference.align import Unknown, read_for
from bayesmend.inference.answers import Marginals, hole_distributions, weigher
from bayesmend.inference.averages import (
    draws_of,
    log_mean_exp,
    marginals_of,
    members_for,
)
from bayesmend.inference.conflict import require_possible
from bayesmend.inference.engine import (
    MAX_MEMORY,
    Engine,
    Inference,
    or_weighting,
    samples_for,
)
from bayesmend.network.mixture import Mixture, Model, ModelLike, model_of
from bayesmend.network.network import Network, check_network
from bayesmend.seed import Seed, as_generator

__all__ = [
    "MostProbable",
    "draw_completions",
    "log_evidence",
    "marginals",
    "most_probable",
]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MostProbable:
    """The most probable completion of every row.

    Parameters
    ----------
    completed : IncompleteData
        The table, without missing cells in the variables of the network.
    log_probability : ndarray of shape (n_rows,)
        Log-probability of each completed row.
    log_evidence : ndarray of shape (n_rows,)
        Log-probability of what was observed in it. The completion as a whole has the
        posterior probability ``exp(log_probability - log_evidence)``.
    rows, variables : ndarray of shape (n_missing,)
        The cells that were missing: row, and position of the variable in ``completed``.
    confidence : ndarray of shape (n_missing,)
        Posterior probability of the state chosen for each cell, by itself.
    """

    completed: IncompleteData
    log_probability: NDArray[np.float64]
    log_evidence: NDArray[np.float64]
    rows: NDArray[np.intp]
    variables: NDArray[np.intp]
    confidence: NDArray[np.float64]

    @property
    def posterior(self) -> NDArray[np.float64]:
        """Posterior probability of each row's completion as a whole."""
        with np.errstate(invalid="ignore"):
            return np.exp(self.log_probability - self.log_evidence)

    def __repr__(self) -> str:
        n_rows, n_missing = len(self.log_probability), len(self.rows)
        return f"MostProbable({n_rows:,} rows, {n_missing:,} missing cells)"


@entrance
def most_probable(
    network: Network,
    data: Any,
    *,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
    **reading: Unpack[Reading],
) -> MostProbable:
    """Find the most probable completion of every row, all its missing cells together.

    Among completions that are equally probable (within 1e-9, relatively) it is the one
    whose states come first, variable by variable in the order of the network.

    Parameters
    ----------
    {network}
    data : IncompleteData, frame, array, mapping or path
        A table with missing cells. Variables are matched by name and states by label;
        what the network does not know is left out (`impute` keeps it).
    allow_absent : bool, default=False
        Whether the table may lack variables of the network; these are then missing in
        every row, and come last in the result.
    {unknown, n_threads, max_memory}
    {reading}

    Returns
    -------
    MostProbable
        The completed table, with log-probabilities and a confidence per missing cell.

    Raises
    ------
    InferenceError
        When an incomplete row has probability zero, or the tables would be too large.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = bm.hide_mcar(asia.sample(100, seed=1), 0.1, seed=1).data
    >>> found = bm.most_probable(asia, data)
    >>> found.completed
    IncompleteData(100 rows, 8 variables, 0 missing cells)
    >>> bool((found.log_probability <= found.log_evidence + 1e-9).all())
    True
    """
    remedy = (
        "or impute with inference='weighting': most probable states are always exact"
    )
    check_network(network)
    engine = Engine(n_threads=n_threads, max_memory=max_memory, remedy=remedy)
    new = read_for(network, data, allow_absent=allow_absent, unknown=unknown, **reading)
    compiled = engine.compile(network, new.cells)
    cells, log_probability = compiled.most_probable()
    require_possible(network, new.cells, log_probability)
    rows, chances = hole_distributions(network, new.cells, compiled.marginals())
    confidence = [
        p[np.arange(len(p)), cells[v, at]]
        for v, (at, p) in enumerate(zip(rows, chances, strict=True))
    ]
    where = np.repeat(np.array(new.columns, dtype=np.intp), [len(at) for at in rows])
    return MostProbable(
        completed=new.completed(cells),
        log_probability=log_probability,
        log_evidence=compiled.log_evidence(),
        rows=np.concatenate(rows),
        variables=where,
        confidence=np.concatenate(confidence),
    )


@entrance
def marginals(
    network: ModelLike,
    data: Any,
    *,
    targets: str | Sequence[str] | None = None,
    inference: Inference = "exact",
    n_samples: int | None = None,
    seed: Seed = None,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
    **reading: Unpack[Reading],
) -> Marginals:
    """Return the distribution of every missing cell of a table.

    Parameters
    ----------
    network, data, allow_absent, unknown, n_threads, max_memory
        As in `most_probable`.
    targets : str or sequence of str, optional
        The variables asked for; all by default. Fewer may be much faster.
    inference : {"exact", "weighting"}, default="exact"
        ``weighting`` estimates from samples, with standard errors.
    n_samples : int, optional
        Samples per row, for weighting; 10,000 by default.
    seed : int, Generator or None
        Source of randomness, for weighting.
    {reading}

    Returns
    -------
    Marginals
        Per variable the rows where it is missing and its distributions there.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> row = {name: ["yes" if name == "dysp" else None] for name in asia.names}
    >>> rows, probabilities = bm.marginals(asia, row).of("bronc")
    >>> probabilities.round(3).tolist()
    [[0.834, 0.166]]
    """
    n_samples = samples_for(inference, n_samples)
    engine = Engine(inference, n_samples, seed, n_threads, max_memory, or_weighting())
    network = model_of(network)
    new = read_for(network, data, allow_absent=allow_absent, unknown=unknown, **reading)
    return marginals_of(network, new.cells, engine, targets)


@entrance
def log_evidence(
    network: ModelLike,
    data: Any,
    *,
    inference: Inference = "exact",
    n_samples: int | None = None,
    seed: Seed = None,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
    **reading: Unpack[Reading],
) -> NDArray[np.float64]:
    """Return the log-probability of what is observed in each row.

    Parameters
    ----------
    network, data, inference, n_samples, seed, allow_absent, unknown, n_threads
        As in `marginals`.
    max_memory
        As in `marginals`.
    {reading}

    Returns
    -------
    ndarray of shape (n_rows,)
        Natural logarithms; ``-inf`` for an impossible row. From weighting, an estimate
        (of the probability, without bias), and ``-inf`` when no sample agrees.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> row = {name: [None] for name in asia.names} | {"smoke": ["yes"]}
    >>> np.exp(bm.log_evidence(asia, row)).round(6).tolist()
    [0.5]
    """
    n_samples = samples_for(inference, n_samples)
    engine = Engine(inference, n_samples, seed, n_threads, max_memory, or_weighting())
    network = model_of(network)
    new = read_for(network, data, allow_absent=allow_absent, unknown=unknown, **reading)
    return _evidence_of(network, new.cells, engine)


def _evidence_of(
    model: Model, cells: NDArray[np.uint8], engine: Engine
) -> NDArray[np.float64]:
    if isinstance(model, Mixture):
        engine = replace(engine, seed=as_generator(engine.seed))
        weights, logs = zip(
            *(
                (weight, _evidence_of(member, own_cells, engine))
                for weight, member, own_cells in members_for(model, cells)
            ),
            strict=True,
        )
        return log_mean_exp(np.array(logs), np.array(weights))
    none = np.zeros(model.n_vars, dtype=np.uint8)
    if engine.inference == "exact":
        return engine.compile(model, cells, none).log_evidence()
    return weigher(model, cells, engine).marginals(none).log_evidence


@entrance
def draw_completions(
    network: ModelLike,
    data: Any,
    *,
    n_draws: int = 1,
    seed: Seed = None,
    inference: Inference = "exact",
    n_samples: int | None = None,
    allow_absent: bool = False,
    unknown: Unknown = "error",
    n_threads: int = 0,
    max_memory: float = MAX_MEMORY,
    **reading: Unpack[Reading],
) -> tuple[IncompleteData, ...]:
    """Complete a table at random, each row from its joint posterior distribution.

    Parameters
    ----------
    network, data, inference, n_samples, allow_absent, unknown, n_threads, max_memory
        As in `marginals`.
    n_draws : int, default=1
        Number of completed tables.
    {seed}
    {reading}

    Warns
    -----
    ShortfallWarning
        When weighting has fewer effective samples of a row than draws.

    Returns
    -------
    tuple of IncompleteData
        The completed tables.

    Examples
    --------
    >>> import bayesmend as bm
    >>> asia = bm.load_network("asia")
    >>> data = bm.hide_mcar(asia.sample(100, seed=1), 0.1, seed=1).data
    >>> one, two = bm.draw_completions(asia, data, n_draws=2, seed=1)
    >>> one.is_complete, one == two
    (True, False)
    """
    check_integer("n_draws", n_draws, 1)
    n_samples = samples_for(inference, n_samples)
    engine = Engine(inference, n_samples, seed, n_threads, max_memory, or_weighting())
    network = model_of(network)
    new = read_for(network, data, allow_absent=allow_absent, unknown=unknown, **reading)
    # The cells as drawn, and once more in the codes of the table.
    engine.require_room(n_draws, 2 * new.data.codes.size)
    drawn, _ = draws_of(network, new.cells, engine, n_draws)
    return new.all_completed(drawn, engine.key())
