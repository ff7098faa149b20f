"""What a structure must, may and must not contain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_integer, check_items, check_mapping
from bayesmend._entrance import entrance
from bayesmend._hints import did_you_mean
from bayesmend._spelling import spell
from bayesmend.errors import CycleError, ParameterError
from bayesmend.graph.dag import Dag

__all__ = ["Constraints", "ConstraintsLike", "ParentRules"]

Arc = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ParentRules:
    """Constraints as the core wants them, per child and parent.

    Parameters
    ----------
    allowed, required : ndarray of shape (n_vars, n_vars), uint8
        ``allowed[child, parent]`` and ``required[child, parent]``.
    limit : ndarray of shape (n_vars,), int32
        Largest number of parents of each child.
    """

    allowed: NDArray[np.uint8]
    required: NDArray[np.uint8]
    limit: NDArray[np.int32]

    @property
    def choices(self) -> NDArray[np.int32]:
        """How many parents each child may have beside those it must, and these.

        An array of shape (n_vars, 2).
        """
        required = self.required.sum(axis=1, dtype=np.int32)
        allowed = self.allowed.sum(axis=1, dtype=np.int32)
        return np.stack([allowed - required, required], axis=1)

    def holds(self, dag: Dag) -> bool:
        """Tell whether a DAG keeps the rules."""
        arcs = np.zeros_like(self.allowed)
        for child, parents in enumerate(dag.parents):
            arcs[child, list(parents)] = 1
        return bool(
            (arcs <= self.allowed).all()
            and (arcs >= self.required).all()
            and (arcs.sum(axis=1) <= self.limit).all()
        )


@entrance
@dataclass(frozen=True, slots=True)
class Constraints:
    """Prior knowledge about the arcs of a structure.

    Parameters
    ----------
    required : iterable of (parent, child), default=()
        Arcs that must be there.
    forbidden : iterable of (parent, child), default=()
        Arcs that must not be there; the opposite direction stays free.
    tiers : sequence of sequences of str, default=()
        Temporal order: no arc leads from a later tier to an earlier one. Variables
        that no tier names are free.
    max_parents : mapping of str to int, default={}
        Limits for single variables, below the general one.

    Examples
    --------
    >>> known = Constraints(required=[("smoke", "cough")], tiers=[["smoke"], ["cough"]])
    >>> known.rules(["smoke", "cough"], max_parents=3).allowed.tolist()
    [[0, 0], [1, 0]]
    """

    required: Iterable[Arc] = ()
    forbidden: Iterable[Arc] = ()
    tiers: Sequence[Sequence[str]] = ()
    max_parents: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Kept as tuples: an iterator given here must serve more than once.
        for name, what in _PARTS.items():
            parts = check_items(name, getattr(self, name), what)
            value = tuple(_tuple_of(part, name, what) for part in parts)
            object.__setattr__(self, name, value)
        check_mapping("max_parents", self.max_parents, "{'cough': 2}")

    @classmethod
    def of(cls, given: object) -> Constraints:
        """Return constraints given as such, by the names of their parts, or not at all.

        Examples
        --------
        >>> Constraints.of({"forbidden": [("cough", "smoke")]}).forbidden
        (('cough', 'smoke'),)
        >>> Constraints.of({"forbiden": [("cough", "smoke")]})
        Traceback (most recent call last):
        ...
        bayesmend.errors.ParameterError: constraints have no part 'forbiden'. ...
        """
        if isinstance(given, Constraints):
            return given
        if given is None:
            return cls()
        if not isinstance(given, Mapping):
            msg = (
                "constraints must be a Constraints, or a mapping such as "
                f"{{'forbidden': [('a', 'b')]}}. Got {given!r} instead."
            )
            raise ParameterError(msg)
        parts = [part.name for part in fields(cls)]
        for name in given:
            if name not in parts:
                hint = did_you_mean(name, parts)
                msg = f"constraints have no part {name!r}. {hint}"
                raise ParameterError(msg)
        return cls(**given)

    def rules(self, names: Sequence[str], *, max_parents: int) -> ParentRules:
        """Turn names into arrays, or name the constraints that contradict each other.

        Parameters
        ----------
        names : sequence of str
            The variables, in the order of the data.
        max_parents : int
            The general limit.
        """
        check_integer("max_parents", max_parents)
        index = {name: i for i, name in enumerate(names)}
        n_vars = len(index)
        allowed = np.ones((n_vars, n_vars), np.uint8)
        np.fill_diagonal(allowed, 0)
        required = np.zeros_like(allowed)
        for parent, child in _indices(self.forbidden, index, "forbidden"):
            allowed[child, parent] = 0
        tier = _tier_of(self.tiers, index)
        allowed[(tier[:, None] < tier[None, :]) & (tier >= 0)[:, None]] = 0
        for parent, child in _indices(self.required, index, "required"):
            if not allowed[child, parent]:
                by_tiers = bool(tier[parent] > tier[child] >= 0)
                _refuse_required(names[parent], names[child], by_tiers)
            required[child, parent] = 1
        limit = np.full(n_vars, min(max_parents, max(n_vars - 1, 0)), np.int32)
        for name, own in self.max_parents.items():
            variable = _index(name, index, "max_parents")
            limit[variable] = min(
                check_integer(f"max_parents of {name!r}", own), int(limit[variable])
            )
        _check_required(names, required, limit)
        return ParentRules(allowed, required, limit)


ConstraintsLike: TypeAlias = Constraints | Mapping[str, Any] | None
"""What is accepted as constraints; `Constraints.of` makes them of it."""

_PARTS = {
    "required": "(parent, child) pairs",
    "forbidden": "(parent, child) pairs",
    "tiers": "groups of names",
}


def _tuple_of(part: object, name: str, what: str) -> tuple[str, ...]:
    # A string would fall apart into its letters.
    if isinstance(part, str) or not isinstance(part, Iterable):
        msg = f"{spell(name)} must hold {what}. Got {part!r} instead."
        raise ParameterError(msg)
    return tuple(part)


def _index(name: str, index: Mapping[str, int], where: str) -> int:
    if name not in index:
        available = ", ".join(index)
        msg = (
            f"{spell(where)} names {name!r}, which is no variable. "
            f"Available: {available}."
        )
        raise ParameterError(msg)
    return index[name]


def _indices(
    arcs: Iterable[Sequence[str]], index: Mapping[str, int], where: str
) -> list[tuple[int, int]]:
    pairs = []
    for arc in arcs:
        if len(arc) != 2:
            what = f"{spell(where)} must hold (parent, child) pairs"
            msg = f"{what}. Got {arc!r} instead."
            raise ParameterError(msg)
        parent, child = (_index(name, index, where) for name in arc)
        if parent == child:
            msg = f"{spell(where)} holds an arc from {arc[0]!r} to itself."
            raise ParameterError(msg)
        pairs.append((parent, child))
    return pairs


def _tier_of(
    tiers: Sequence[Sequence[str]], index: Mapping[str, int]
) -> NDArray[np.int64]:
    # -1 for variables that no tier names: they may stand anywhere.
    tier = np.full(len(index), -1, np.int64)
    for number, members in enumerate(tiers):
        for name in members:
            variable = _index(name, index, "tiers")
            if tier[variable] >= 0:
                msg = f"variable {name!r} is in two tiers. Leave it in one."
                raise ParameterError(msg)
            tier[variable] = number
    return tier


def _refuse_required(parent: str, child: str, by_tiers: bool) -> None:
    reason = "the tiers forbid it" if by_tiers else f"it is in {spell('forbidden')}"
    msg = f"arc {parent} -> {child} is required, but {reason}. Drop one of the two."
    raise ParameterError(msg)


def _check_required(
    names: Sequence[str], required: NDArray[np.uint8], limit: NDArray[np.int32]
) -> None:
    for child in np.flatnonzero(required.sum(axis=1) > limit).tolist():
        parents = [names[p] for p in np.flatnonzero(required[child]).tolist()]
        msg = (
            f"the required arcs give {names[child]!r} the parents "
            f"{', '.join(parents)}, but it may have at most {limit[child]}. "
            f"Raise {spell('max_parents')} or drop one."
        )
        raise ParameterError(msg)
    try:
        Dag(
            tuple(names), tuple(tuple(np.flatnonzero(row).tolist()) for row in required)
        )
    except CycleError as error:
        msg = f"the required arcs contradict each other: {error}"
        raise ParameterError(msg) from None
