"""Networks from decoded entries: name, states, parents and cpt of each variable."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import as_label
from bayesmend.formats.assemble import (
    Family,
    Variable,
    assemble,
    check_family,
    declare,
)
from bayesmend.formats.text import Source
from bayesmend.network.cpt import unfold
from bayesmend.network.network import Network

__all__ = ["Entry", "is_label", "read_entries"]

MAX_VALUE = 1e300  # an integer beyond it has no float


@dataclass(frozen=True, slots=True)
class Entry:
    """A decoded value, where it stands, and where the value of each key stands."""

    value: Any
    where: int
    offset_of: Callable[[str], int]

    def fail(self, source: Source, problem: str, key: str) -> NoReturn:
        """Raise an error at the value of a key."""
        source.fail(problem, self.offset_of(key))


def read_entries(source: Source, entries: Sequence[Entry]) -> Network:
    """Check what was decoded and make the network.

    A ``cpt`` has one row per configuration of the parents in their given order, the
    first one varying fastest.
    """
    variables: dict[str, Variable] = {}
    families: dict[str, Family] = {}
    for entry in entries:
        _declare(source, entry, variables)
    for entry in entries:
        _read_family(source, entry, variables, families)
    return assemble(source, variables, families)


def _declare(source: Source, entry: Entry, variables: dict[str, Variable]) -> None:
    if not isinstance(entry.value, dict):
        source.fail("a variable must be an object.", entry.where)
    name, states = entry.value.get("name"), entry.value.get("states")
    if not isinstance(name, str):
        entry.fail(source, "a variable must have a name, which is text.", "name")
    if not isinstance(states, list) or not all(map(is_label, states)):
        problem = "states must be a list of texts, numbers or truth values."
        entry.fail(source, problem, "states")
    variable = Variable(name, tuple(map(as_label, states)), entry.where)
    declare(source, variables, variable)


def _read_family(
    source: Source,
    entry: Entry,
    variables: dict[str, Variable],
    families: dict[str, Family],
) -> None:
    name, parents = entry.value["name"], entry.value.get("parents")
    if not isinstance(parents, list) or not all(isinstance(p, str) for p in parents):
        entry.fail(source, "parents must be a list of names.", "parents")
    family = [(member, entry.where) for member in (name, *parents)]
    card = check_family(source, variables, families, family)
    shape = (math.prod(card[1:]), card[0])
    rows = entry.value.get("cpt")
    if not _is_table(rows, shape):
        problem = f"cpt must be a list of {shape[0]} rows of {shape[1]} numbers >= 0."
        entry.fail(source, problem, "cpt")
    table = unfold(np.array(rows, dtype=np.float64), card[1:])
    support = _read_support(source, entry, shape)
    families[name] = Family(
        tuple(parents),
        table,
        entry.where,
        None if support is None else unfold(support, card[1:]),
    )


def _read_support(
    source: Source, entry: Entry, shape: tuple[int, int]
) -> NDArray[np.bool_] | None:
    rows = entry.value.get("support")
    if rows is None:
        return None
    if not _is_table(rows, shape) or not {x for row in rows for x in row} <= {0, 1}:
        problem = f"support must be a list of {shape[0]} rows of {shape[1]} 0 or 1."
        entry.fail(source, problem, "support")
    return np.array(rows, dtype=bool)


def is_label(value: object) -> bool:
    """Tell whether a decoded value can be the label of a state."""
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, (str, bool, int))


def _is_table(rows: object, shape: tuple[int, int]) -> bool:
    return (
        isinstance(rows, list)
        and len(rows) == shape[0]
        and all(isinstance(row, list) and len(row) == shape[1] for row in rows)
        and all(
            type(x) in (int, float) and 0 <= x <= MAX_VALUE for r in rows for x in r
        )
    )
