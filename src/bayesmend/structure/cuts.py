"""Linear inequalities that every acyclic choice of families keeps, and proofs by them.

For a cluster C of variables: some variable of C has no parent in C. And of inequalities
with whole coefficients that hold, half the sum of some, with multiples of "one family
for each variable" added, holds with its coefficients and its right side rounded up (the
argument of Chvatal 1973).

Priced with multipliers that are not negative, they bound: each variable takes its
cheapest family by itself, and no acyclic choice costs less than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["UNIT", "Cluster", "Cut", "Half", "Node", "Proof"]

UNIT: Final = 2.0**-40
"""Multipliers are whole numbers of this many nats."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Some variable among these has no parent among them."""

    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Half:
    """Half of some cuts and of multiples of "one family for a variable", rounded up."""

    cuts: tuple[int, ...]
    multiples: tuple[tuple[int, int], ...]  # of a variable: how often


@dataclass(frozen=True, slots=True)
class Cut:
    """A sum over some families, each with a coefficient, is at least so much."""

    origin: Cluster | Half
    families: NDArray[np.int64]
    coefficients: NDArray[np.int64]
    least: int


@dataclass(frozen=True, slots=True)
class Node:
    """A part of all choices, and multipliers for it.

    It holds those choices of its parent in which an arc is present, or absent.
    """

    parent: int | None
    arc: tuple[int, int] | None  # from, to
    is_present: bool
    cuts: tuple[int, ...]
    multipliers: tuple[int, ...]


@dataclass(slots=True)
class Proof:
    """Cuts and a tree; ``failure`` says why the tree is not whole."""

    cuts: list[Cut] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    failure: str | None = None
