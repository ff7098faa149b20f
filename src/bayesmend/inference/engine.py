"""The way to an answer about a network: exact, or by weighted samples.

Exact answers come from clique trees over the missing cells of a row; rows that look
alike share the work. Likelihood weighting is there for networks that are too dense for
that, and only when it is asked for by name.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
)
from bayesmend._spelling import spell
from bayesmend.data.states import listing, quantity
from bayesmend.errors import InferenceError
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
    "or_weighting",
    "samples_for",
]

Inference = Literal["exact", "weighting"]
INFERENCES = get_args(Inference)
MAX_MEMORY = 2**30
"""Bytes that the tables of exact inference may take, unless ``max_memory`` says."""


N_SAMPLES = 10_000
"""Samples of each row, for weighting, unless ``n_samples`` says."""


def samples_for(inference: str, n_samples: int | None, default: int = N_SAMPLES) -> int:
    """Return the number of samples; exact inference would ignore it."""
    check_choice("inference", inference, INFERENCES)
    if n_samples is None:
        return default
    if inference == "exact":
        check_goes_with("n_samples", n_samples, "inference", inference, ["weighting"])
    return n_samples


def or_weighting() -> str:
    """Say what to do about too large tables, where there is a choice of inference."""
    return f"or use {spell('inference', 'weighting')}, which is approximate"


_BYTES_PER_ENTRY = 8
# Weighting adds up blocks of samples, so many at a time: weights, and their squares.
_BLOCKS, _SAMPLES_PER_BLOCK, _TABLES_PER_BLOCK = 64, 1024, 2


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
            scope = listing((names[v] for v in size.scope), 5)
            way_out = f"raise {spell('max_memory')}, " if size.total <= most else ""
            msg = (
                f"exact inference would need a table of {_count(size.largest)} entries "
                f"({_size(_BYTES_PER_ENTRY * size.largest)}) over "
                f"{quantity(len(size.scope), 'variable')} ({scope}), and "
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

    def require_samples_fit(self) -> None:
        """Raise ``InferenceError`` when so many samples of a row would be too many."""
        n_threads = self.n_threads or _core.n_cores()
        n_bytes = _BYTES_PER_ENTRY * self.n_samples * n_threads
        if n_bytes > self.max_memory:
            msg = (
                f"drawing from {spell('n_samples', self.n_samples)} needs "
                f"{_size(n_bytes)}, more than "
                f"{spell('max_memory', _finite(self.max_memory))}. Ask for fewer "
                "samples."
            )
            raise InferenceError(msg)

    def require_joint_fits(self, n_entries: float) -> None:
        """Raise ``InferenceError`` when so many joint states would be too large."""
        n_blocks = min(_BLOCKS, -(-self.n_samples // _SAMPLES_PER_BLOCK))
        n_bytes = _BYTES_PER_ENTRY * n_entries * _TABLES_PER_BLOCK * (n_blocks + 2)
        if n_bytes > min(self.max_memory, _BYTES_PER_ENTRY * _core.MAX_TREE_ENTRIES):
            msg = (
                f"a joint distribution of {_count(n_entries)} entries would need "
                f"{_size(n_bytes)} for the sums of its samples, which is more than "
                f"{spell('max_memory', _finite(self.max_memory))}. Ask for fewer "
                f"targets, or raise {spell('max_memory')}."
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
