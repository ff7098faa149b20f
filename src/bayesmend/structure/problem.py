"""Candidates as an integer programme sees them: finite, pruned, with losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._rows import offsets_of, owners_of
from bayesmend.errors import ParameterError
from bayesmend.structure.parents import Arrays, ParentSets
from bayesmend.structure.solution import no_dag_among

__all__ = ["Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Candidates worth considering, in the layout of `ParentSets`.

    ``losses`` are the scores subtracted from the best score of the same variable;
    ``numbers`` tells which candidate of the `ParentSets` each one is.
    """

    names: tuple[str, ...]
    offsets: NDArray[np.int64]
    scores: NDArray[np.float64]
    member_offsets: NDArray[np.int64]
    members: NDArray[np.int32]
    losses: NDArray[np.float64]
    numbers: NDArray[np.int64]

    @classmethod
    def from_parent_sets(cls, sets: ParentSets) -> Problem:
        """Leave out the candidates that score minus infinity.

        Raises
        ------
        ParameterError
            When a variable has no other candidate.
        """
        best = sets.scores[sets.offsets[:-1]]
        hopeless = np.flatnonzero(np.isneginf(best))
        if len(hopeless):
            msg = (
                f"every candidate parent set of {sets.names[hopeless[0]]!r} has the "
                "score minus infinity. Give it at least one with a finite score."
            )
            raise ParameterError(msg)
        whole = cls(
            sets.names,
            *sets.arrays,
            best[owners_of(sets.offsets)] - sets.scores,
            np.arange(sets.n_sets),
        )
        return whole.select(np.isfinite(sets.scores))

    def select(self, keep: NDArray[np.bool_]) -> Problem:
        """Keep some of the candidates."""
        if keep.all():
            return self
        owners, sizes = owners_of(self.offsets)[keep], np.diff(self.member_offsets)
        counts = np.bincount(owners, minlength=len(self.names))
        return Problem(
            self.names,
            offsets_of(counts),
            self.scores[keep],
            offsets_of(sizes[keep]),
            self.members[np.repeat(keep, sizes)],
            self.losses[keep],
            self.numbers[keep],
        )

    @property
    def arrays(self) -> Arrays:
        """What the functions of the core take first."""
        return self.offsets, self.scores, self.member_offsets, self.members

    def opposed_pairs(self) -> list[NDArray[np.int64]]:
        """Group the candidates that would join the same two variables.

        One group per pair of variables for which both directions occur: of its
        candidates, an acyclic choice holds at most one.
        """
        sizes = np.diff(self.member_offsets)
        candidates = np.repeat(np.arange(len(sizes)), sizes)
        child, parent = owners_of(self.offsets)[candidates], self.members
        low, high = np.minimum(child, parent), np.maximum(child, parent)
        key = low * len(self.names) + high
        order = np.argsort(key, kind="stable")
        ends = np.flatnonzero(np.diff(key[order])) + 1
        forward = np.split((child > parent)[order], ends)
        groups = np.split(candidates[order], ends)
        return [
            group
            for group, ahead in zip(groups, forward, strict=True)
            if ahead.any() and not ahead.all()
        ]

    def loss_of(self, chosen: NDArray[np.int32]) -> float:
        """Sum of the losses of a choice."""
        return math.fsum(self.losses[chosen].tolist())

    def heaviest(self, weights: NDArray[np.float64]) -> NDArray[np.int32]:
        """Choose the candidate of each variable with the largest weight."""
        spans = zip(self.offsets[:-1], self.offsets[1:], strict=True)
        return np.array(
            [first + np.argmax(weights[first:last]) for first, last in spans],
            dtype=np.int32,
        )

    def round(
        self,
        weights: NDArray[np.float64],
        *,
        seconds: float,
        kicks: int = 0,
        seed: int = 0,
    ) -> NDArray[np.int32]:
        """Find an acyclic choice near the weights and improve it by local search.

        Raises
        ------
        ParameterError
            When no acyclic choice exists.
        """
        chosen = _core.order_from_lp(
            *self.arrays, weights, kicks=kicks, seed=seed, seconds=seconds
        )
        stuck = [self.names[i] for i in np.flatnonzero(chosen < 0)]
        if stuck:
            raise no_dag_among(stuck)
        return chosen
