"""A network as the core takes it: lists one after the other, and where each begins."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend._rows import offsets_of
from bayesmend.graph.dag import Dag

__all__ = ["Flat", "flatten", "parents_of"]


class Flat(NamedTuple):
    """A network as the core takes it."""

    card: NDArray[np.int32]
    parent_offsets: NDArray[np.int64]
    parents: NDArray[np.int32]
    cpt_offsets: NDArray[np.int64]
    cpts: NDArray[np.float64]


def flatten(dag: Dag, cpts: Sequence[NDArray[np.float64]]) -> Flat:
    """Lay out a graph and its tables as the core takes them."""
    return Flat(
        np.array([cpt.shape[1] for cpt in cpts], dtype=np.int32),
        *parents_of(dag),
        offsets_of([cpt.size for cpt in cpts]),
        np.concatenate([np.empty(0), *(cpt.ravel() for cpt in cpts)]),
    )


def parents_of(dag: Dag) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Lay out the parents as the core takes them: where each list starts, and all."""
    members = [p for parents in dag.parents for p in parents]
    return offsets_of([len(p) for p in dag.parents]), np.array(members, dtype=np.int32)
