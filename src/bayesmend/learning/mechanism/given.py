"""What a user says of why cells are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from bayesmend._checks import check_integer
from bayesmend._hints import did_you_mean
from bayesmend._spelling import spell
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.learning.mechanism.indicators import Indicators, Sets

__all__ = ["MECHANISMS", "MechanismLike", "check_mechanism", "given_sets"]

MECHANISMS = ("ignore", "self", "auto")
MechanismLike: TypeAlias = (
    Literal["ignore", "self", "auto"] | Mapping[str, str | Sequence[str]]
)
"""How to treat missing cells: by a rule, or by what each variable's depend on."""

# States of all parents together: a table of more says nothing.
_MOST_CONFIGURATIONS = 2**16


def check_mechanism(mechanism: object, most: object, names: Sequence[str]) -> None:
    """Raise ParameterError unless it is a rule or names variables and their parents.

    Examples
    --------
    >>> check_mechanism({"income": ["income"]}, 2, ["income", "age"])
    >>> check_mechanism("slef", 2, ["income", "age"])
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: mechanism must be 'ignore', 'self', 'auto' or a ...
    """
    check_integer("max_mechanism_parents", most, 1)
    if isinstance(mechanism, str) and mechanism in MECHANISMS:
        return
    if not isinstance(mechanism, Mapping):
        msg = (
            f"{spell('mechanism')} must be 'ignore', 'self', 'auto' or a mapping such "
            f"as {{'income': ['income', 'age']}}. Got {mechanism!r} instead."
        )
        raise ParameterError(msg)
    for name, parents in mechanism.items():
        _check_name(name, names, "names")
        listed = _listed(parents)
        for parent in listed:
            _check_name(parent, names, f"gives {name!r} the parent")
        if len(set(listed)) != len(listed):
            msg = f"{spell('mechanism')} names a parent of {name!r} twice."
            raise ParameterError(msg)


def given_sets(mechanism: MechanismLike, indicators: Indicators) -> Sets | None:
    """Return the parents of each indicator; None where they are to be found."""
    data = indicators.data
    if mechanism == "auto":
        return None
    if isinstance(mechanism, str):
        return tuple((v,) for v in indicators.variables)
    sets = []
    for v in indicators.variables:
        parents = _listed(mechanism.get(data.names[v], ()))
        members = tuple(sorted(data.index(p) for p in parents))
        _check_size(data, v, members)
        sets.append(members)
    return tuple(sets)


def _listed(parents: object) -> list[str]:
    if isinstance(parents, str):
        return [parents]
    if not isinstance(parents, Sequence):
        msg = f"{spell('mechanism')} must give lists of names. Got {parents!r} instead."
        raise ParameterError(msg)
    return list(parents)


def _check_name(name: object, names: Sequence[str], what: str) -> None:
    if isinstance(name, str) and name in names:
        return
    if isinstance(name, str) and name.removeprefix("missing_").rstrip("_") in names:
        msg = (
            f"{spell('mechanism')} {what} {name!r}, which is an indicator of missing "
            "cells. Indicators are no parents: name variables."
        )
        raise ParameterError(msg)
    hint = did_you_mean(str(name), list(names))
    msg = f"{spell('mechanism')} {what} {name!r}, which is no variable. {hint}"
    raise ParameterError(msg)


def _check_size(data: IncompleteData, v: int, members: tuple[int, ...]) -> None:
    size = 1
    for p in members:
        size *= int(data.card[p])
    if size > _MOST_CONFIGURATIONS:
        msg = (
            f"{spell('mechanism')} gives {data.names[v]!r} parents with {size:,} "
            f"configurations, and there may be {_MOST_CONFIGURATIONS:,}. Name fewer."
        )
        raise ParameterError(msg)
