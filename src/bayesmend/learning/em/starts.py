"""Networks from which structural expectation-maximisation starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.graph.constraints import ParentRules
from bayesmend.graph.dag import Dag
from bayesmend.learning.starts import observed_shares
from bayesmend.network.flat import flatten
from bayesmend.network.network import Network

__all__ = ["STARTS", "Start", "StartPoint", "learned", "start"]

Start = Literal["empty", "complete", "mode", "random"]
STARTS: tuple[Start, ...] = get_args(Start)

# The prior of parameters learned from some of the rows or from guessed cells: large
# enough that no other row is impossible, too small to matter otherwise.
_FAINT = 1e-3


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class StartPoint:
    """A network to start from, its probabilities flat."""

    kind: str
    dag: Dag
    cpts: NDArray[np.float64]


Learn = Callable[[IncompleteData], Dag]


def start(
    kind: Start,
    data: IncompleteData,
    rules: ParentRules,
    learn: Learn,
    generator: np.random.Generator,
) -> StartPoint | None:
    """Make a network to start from; None where there are no complete rows for it.

    ``learn`` finds a structure for a complete table.
    """
    if kind == "empty":
        return _independent(data, rules)
    if kind == "complete":
        keep = np.flatnonzero(~data.missing_mask.any(axis=1))
        if len(keep) == 0:
            return None
        return learned(kind, data.pick(keep), learn)
    codes = data.codes.copy(order="F")
    for v, share in enumerate(observed_shares(data)):
        holes = codes[:, v] == MISSING
        if kind == "mode":
            codes[holes, v] = share.argmax()
        else:
            codes[holes, v] = generator.choice(len(share), int(holes.sum()), p=share)
    return learned(kind, data.with_codes(codes), learn)


def learned(kind: str, completed: IncompleteData, learn: Learn) -> StartPoint:
    """Start from the network of a completed table."""
    dag = learn(completed)
    network = Network.fit(dag, completed, estimate="posterior", ess=_FAINT)
    return StartPoint(kind, dag, flatten(network.dag, network.cpts).cpts)


def _independent(data: IncompleteData, rules: ParentRules) -> StartPoint:
    """Start from the required arcs alone, which at first change nothing."""
    parents = tuple(tuple(np.flatnonzero(row).tolist()) for row in rules.required)
    tables = []
    for members, share in zip(parents, observed_shares(data, _FAINT), strict=True):
        n_configs = int(np.prod(data.card[list(members)], dtype=np.int64))
        tables.append(np.tile(share, n_configs))
    return StartPoint("empty", Dag(data.names, parents), np.concatenate(tables))
