"""Exact and approximate answers about cells in the codes of a network.

Exact ones come from clique trees over the missing cells of a row; rows that look alike
share the work. Likelihood weighting is there for networks that are too dense for that,
and only when it is asked for by name.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._checks import (
    check_choice,
    check_goes_with,
    check_integer,
    check_number,
    some,
)
from bayesmend._spelling import spell
from bayesmend.data.states import MISSING, Label, position_of
from bayesmend.errors import InferenceError, ParameterError, ShortfallWarning
from bayesmend.inference.conflict import require_possible
from bayesmend.network.flat import flatten
from bayesmend.network.network import Network
from bayesmend.seed import Seed, as_generator

__all__ = [
    "INFERENCES",
    "MAX_MEMORY",
    "N_SAMPLES",
    "CompiledHoles",
    "Engine",
    "Inference",
    "Marginals",
    "draw_cells",
    "find_marginals",
    "hole_distributions",
    "or_weighting",
    "samples_for",
    "target_names",
    "weigher",
]

Inference = Literal["exact", "weighting"]
INFERENCES = get_args(Inference)
MAX_MEMORY = 2**30
"""Bytes that the tables of exact inference may take, unless ``max_memory`` says."""


N_SAMPLES = 10_000
"""Samples of each row, for weighting, unless ``n_samples`` says."""


def samples_for(inference: str, n_samples: int | None, default: int = N_SAMPLES) -> int:
    """Return the number of samples; exact inference would ignore it."""
    if n_samples is None:
        return default
    if inference == "exact":
        check_goes_with("n_samples", n_samples, "inference", inference, ["weighting"])
    return n_samples


def or_weighting() -> str:
    """Say what to do about too large tables, where there is a choice of inference."""
    return f"or use {spell('inference', 'weighting')}, which is approximate"


_BYTES_PER_ENTRY = 8


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Marginals:
    """The distribution of every missing cell, given what is observed in its row.

    Parameters
    ----------
    names : tuple of str
        The variables asked for, in the order of the network.
    states : tuple of tuple
        Their states.
    rows : tuple of ndarray
        For each variable, the rows where it is missing.
    probabilities : tuple of ndarray of shape (n_missing, n_states)
        For each variable, a distribution for each of these rows.
    log_evidence : ndarray of shape (n_rows,)
        Log-probability of what is observed in each row.
    errors : tuple of ndarray, optional
        Standard errors of the probabilities, from weighting.
    effective_samples : ndarray of shape (n_rows,), optional
        How many unweighted samples would be as good, from weighting.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    rows: tuple[NDArray[np.intp], ...]
    probabilities: tuple[NDArray[np.float64], ...]
    log_evidence: NDArray[np.float64]
    errors: tuple[NDArray[np.float64], ...] | None = None
    effective_samples: NDArray[np.float64] | None = None

    def of(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the rows where a variable is missing, and its distributions there."""
        at = position_of(name, self.names)
        return self.rows[at], self.probabilities[at]

    def __repr__(self) -> str:
        n_missing = sum(map(len, self.rows))
        return f"Marginals({len(self.names)} variables, {n_missing:,} missing cells)"


@dataclass(frozen=True, slots=True)
class Engine:
    """The way to an answer, with its parameters checked.

    Parameters
    ----------
    inference : {"exact", "weighting"}
        Clique trees, or samples weighted by the evidence.
    n_samples : int
        Samples per row, for weighting.
    seed : int, Generator or None
        Source of randomness, for weighting and draws.
    n_threads : int
        Threads; 0 for one per core. No answer depends on it.
    max_memory : float
        Bytes that exact inference may take for its tables.
    remedy : str
        What an error about too large tables suggests, last.
    """

    inference: Inference = "exact"
    n_samples: int = N_SAMPLES
    seed: Seed = None
    n_threads: int = 0
    max_memory: float = MAX_MEMORY
    remedy: str = "or take a network with fewer arcs"

    def __post_init__(self) -> None:
        check_choice("inference", self.inference, INFERENCES)
        check_integer("n_samples", self.n_samples, 1)
        check_integer("n_threads", self.n_threads)
        check_number("max_memory", self.max_memory, unit="bytes", above=0)

    def key(self) -> int:
        """Return random bits for the core."""
        return int(as_generator(self.seed).integers(2**64, dtype=np.uint64))

    def compile(
        self,
        network: Network,
        cells: NDArray[np.uint8],
        targets: NDArray[np.uint8] | None = None,
    ) -> CompiledHoles:
        """Make ready for exact answers, or say that they would take too much memory."""
        flat = flatten(network.dag, network.cpts)
        holes = _core.Holes(
            flat.card,
            flat.parent_offsets,
            flat.parents,
            cells,
            np.empty(0),
            np.empty(0, np.uint8) if targets is None else targets,
        )
        n_threads = self.fit_threads(holes.size, network.names)
        return CompiledHoles(holes, flat.cpts, n_threads)

    def fit_threads(self, size: _core.TableSize, names: Sequence[str]) -> int:
        """Return how many threads may hold such tables at once; one must be able to."""
        n_bytes, most = _BYTES_PER_ENTRY * size.total, _core.MAX_TREE_ENTRIES
        if n_bytes > self.max_memory or size.total > most:
            limit = spell("max_memory", _finite(self.max_memory))
            if n_bytes <= self.max_memory:
                limit = f"the {_size(_BYTES_PER_ENTRY * most)} possible"
            way_out = f"raise {spell('max_memory')}, " if size.total <= most else ""
            msg = (
                f"exact inference would need a table of {_count(size.largest)} entries "
                f"({_size(_BYTES_PER_ENTRY * size.largest)}) over {len(size.scope)} "
                f"variables ({some([names[v] for v in size.scope])}), and "
                f"{_size(n_bytes)} in all, which is more than {limit}. Give more "
                f"evidence, {way_out}{self.remedy}."
            )
            raise InferenceError(msg)
        n_threads = self.n_threads or _core.n_cores()
        if n_bytes * n_threads <= self.max_memory:
            return n_threads
        return max(1, int(self.max_memory / n_bytes))

    def require_room(self, n_draws: int, bytes_per_draw: int) -> None:
        """Raise ``InferenceError`` when so many completed tables would be too large."""
        n_bytes = n_draws * bytes_per_draw
        if n_draws > 1 and n_bytes > self.max_memory:
            msg = (
                f"{spell('n_draws', n_draws)} completed tables would need "
                f"{_size(n_bytes)}, which is more than "
                f"{spell('max_memory', _finite(self.max_memory))}. Ask for fewer "
                f"draws, or raise {spell('max_memory')}."
            )
            raise InferenceError(msg)


@dataclass(frozen=True, slots=True)
class CompiledHoles:
    """Rows compiled for the structure of a network, with its probabilities."""

    holes: _core.Holes
    cpts: NDArray[np.float64]
    n_threads: int

    def log_evidence(self) -> NDArray[np.float64]:
        """Return the log-probability of what is observed in each row."""
        return self.holes.log_evidence(self.cpts, self.n_threads)

    def most_probable(self) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
        """Return completed cells and the log-probability of each row."""
        found = self.holes.explain(self.cpts, self.n_threads)
        return found.cells, found.log_probability

    def marginals(self) -> NDArray[np.float64]:
        """Return the distributions of the missing cells, variable by variable."""
        return self.holes.marginals(self.cpts, self.n_threads)

    def draw(self, n_draws: int, key: int) -> NDArray[np.uint8]:
        """Return completed cells of each draw."""
        return self.holes.draw(self.cpts, n_draws, key, self.n_threads)


def find_marginals(
    network: Network,
    cells: NDArray[np.uint8],
    engine: Engine,
    targets: str | Sequence[str] | None = None,
    *,
    compiled: CompiledHoles | None = None,
    check: Callable[..., None] = require_possible,
) -> Marginals:
    """Give the distributions of missing cells in the codes of the network.

    ``compiled`` saves work where the same cells were compiled before; ``check`` raises
    for rows of probability zero.
    """
    asked = network.names if targets is None else target_names(targets)
    wanted = sorted({position_of(name, network.names) for name in asked})
    flags = np.zeros(network.n_vars, dtype=np.uint8)
    flags[wanted] = 1
    errors = effective = None
    if engine.inference == "exact":
        some_only = flags if len(wanted) < network.n_vars else None
        compiled = compiled or engine.compile(network, cells, some_only)
        evidence = compiled.log_evidence()
        check(network, cells, evidence)
        flat = compiled.marginals()
    else:
        found = weigher(network, cells, engine).marginals(flags)
        flat, evidence, effective = (
            found.probabilities,
            found.log_evidence,
            found.effective,
        )
        check(network, cells, evidence, n_samples=engine.n_samples)
        _, errors = hole_distributions(network, cells, found.errors, wanted)
    rows, probabilities = hole_distributions(network, cells, flat, wanted)
    return Marginals(
        names=tuple(network.names[v] for v in wanted),
        states=tuple(network.states[v] for v in wanted),
        rows=tuple(rows),
        probabilities=tuple(probabilities),
        log_evidence=evidence,
        errors=None if errors is None else tuple(errors),
        effective_samples=effective,
    )


def target_names(targets: str | Sequence[str]) -> list[str]:
    """Return the names asked for, one or several."""
    if isinstance(targets, str):
        return [targets]
    try:
        return list(targets)
    except TypeError:
        msg = (
            "targets must be the name of a variable or a list of names. "
            f"Got {targets!r} instead."
        )
        raise ParameterError(msg) from None


def weigher(
    network: Network, cells: NDArray[np.uint8], engine: Engine
) -> _core.Weigher:
    """Return what answers by samples weighted with the evidence."""
    return _core.Weigher(
        *flatten(network.dag, network.cpts),
        _order(network),
        cells,
        engine.n_samples,
        engine.key(),
        engine.n_threads,
    )


def draw_cells(
    network: Network,
    cells: NDArray[np.uint8],
    engine: Engine,
    n_draws: int,
    *,
    compiled: CompiledHoles | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.float64] | None]:
    """Return cells of shape (n_draws, n_vars, n_rows) in the codes of the network.

    From weighting, the effective number of samples of each row comes with them.
    """
    if engine.inference == "exact":
        compiled = compiled or engine.compile(network, cells)
        require_possible(network, cells, compiled.log_evidence())
        return compiled.draw(n_draws, engine.key()), None
    n_threads = engine.n_threads or _core.n_cores()
    n_bytes = _BYTES_PER_ENTRY * engine.n_samples * n_threads
    if n_bytes > engine.max_memory:
        msg = (
            f"drawing from {spell('n_samples', engine.n_samples)} needs "
            f"{_size(n_bytes)}, more than "
            f"{spell('max_memory', _finite(engine.max_memory))}. Ask for fewer samples."
        )
        raise InferenceError(msg)
    found = weigher(network, cells, engine).draw(n_draws)
    require_possible(network, cells, found.log_evidence, n_samples=engine.n_samples)
    _warn_of_repeats(cells, found.effective, n_draws)
    return found.cells.reshape(n_draws, *cells.shape), found.effective


def _warn_of_repeats(
    cells: NDArray[np.uint8], effective: NDArray[np.float64], n_draws: int
) -> None:
    """Say so when a row has too few samples for its draws to differ as they should."""
    has_holes = (cells == MISSING).any(axis=0)
    short = np.flatnonzero(has_holes & (effective < n_draws))
    if not short.size:
        return
    worst = short[effective[short].argmin()]
    msg = (
        f"{spell('n_draws', n_draws)} completions come from fewer samples in "
        f"{len(short):,} of {len(effective):,} rows, and repeat each other: row "
        f"{worst} has samples as good as {effective[worst]:.3g} unweighted ones. "
        f"Raise {spell('n_samples')}."
    )
    warnings.warn(msg, ShortfallWarning, stacklevel=4)


def hole_distributions(
    network: Network,
    cells: NDArray[np.uint8],
    flat: NDArray[np.float64],
    wanted: list[int] | None = None,
) -> tuple[list[NDArray[np.intp]], list[NDArray[np.float64]]]:
    """Split what the core lays end to end: rows and distributions per variable."""
    variables = range(network.n_vars) if wanted is None else wanted
    is_hole = cells[list(variables)] == MISSING
    every = np.nonzero(is_hole)[1]
    rows, distributions, start, seen = [], [], 0, 0
    counts = is_hole.sum(axis=1).tolist()
    for v, n_holes in zip(variables, counts, strict=True):
        card = len(network.states[v])
        rows.append(every[seen : seen + n_holes])
        size = n_holes * card
        distributions.append(flat[start : start + size].reshape(n_holes, card))
        seen, start = seen + n_holes, start + size
    assert start == len(flat)
    return rows, distributions


def _order(network: Network) -> NDArray[np.int32]:
    """Return the variables, each after its parents."""
    return np.array(network.dag.topological_order(), dtype=np.int32)


def _finite(max_memory: float) -> float:
    return float(min(max_memory, sys.float_info.max))


def _count(entries: float) -> str:
    return f"{entries:,.0f}" if entries < 1e15 else f"{entries:.3g}"


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{1000 * n_bytes:.3g} TB"
