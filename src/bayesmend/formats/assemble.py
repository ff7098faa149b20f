"""From what a file declares to a checked network, with positions in every error."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend._limits import max_entries
from bayesmend._warn import warn
from bayesmend.data.states import Label, check_labels
from bayesmend.errors import DataError, ProbabilityWarning
from bayesmend.formats.text import Source
from bayesmend.graph.dag import Dag, find_cycle
from bayesmend.network.cpt import EXACT, fold
from bayesmend.network.network import Network

__all__ = [
    "Family",
    "Variable",
    "assemble",
    "check_family",
    "declare",
    "parse_numbers",
    "text_labels",
]

_HALF = re.compile("[\ud800-\udfff]")
MAX_SUM_ERROR = 1e-4  # beyond it, a renormalised row is worth a warning
MAX_PARENTS = 31  # what NumPy takes as axes; 2**31 configurations are out of reach


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable as declared; ``where`` is an offset in the text."""

    name: str
    states: tuple[Label, ...]
    where: int


@dataclass(frozen=True, slots=True)
class Family:
    """A table as given; its axes are the parents as listed, then the child."""

    parents: tuple[str, ...]
    table: NDArray[np.float64]
    where: int
    support: NDArray[np.bool_] | None = None


def declare(source: Source, variables: dict[str, Variable], new: Variable) -> None:
    """Add a variable, or say why it cannot be one."""
    if _HALF.search("".join([new.name, *map(str, new.states)])):
        msg = f"variable {new.name!r} holds half of a character (a lone surrogate)."
        source.fail(msg, new.where)
    if not new.name:
        source.fail("a variable must have a name.", new.where)
    if new.name in variables:
        source.fail(f"variable {new.name!r} is declared twice.", new.where)
    try:
        check_labels(new.name, new.states)
    except DataError as error:
        source.fail(str(error), new.where)
    variables[new.name] = new


def check_family(
    source: Source,
    variables: Mapping[str, Variable],
    families: Mapping[str, Family],
    family: Sequence[tuple[str, int]],
) -> tuple[int, ...]:
    """Check a child and its parents, given with positions; return their card."""
    seen: set[str] = set()
    for name, where in family:
        if name not in variables:
            source.fail(f"no variable named {name!r} is declared.", where)
        if name in seen:
            source.fail(f"variable {name!r} occurs twice in this family.", where)
        seen.add(name)
    child, where = family[0]
    if child in families:
        source.fail(f"variable {child!r} has a second table here.", where)
    if len(family) > MAX_PARENTS + 1:
        source.fail(f"variable {child!r} has more than {MAX_PARENTS} parents.", where)
    card = tuple(len(variables[name].states) for name, _ in family)
    if not source.tables.take(math.prod(card)):
        msg = (
            f"with the table of {child!r}, which has {math.prod(card):,} entries, the "
            f"network has more than {max_entries():,} in all. Raise the environment "
            "variable BAYESMEND_MAX_ENTRIES if you trust the file."
        )
        source.fail(msg, where)
    return card


def assemble(
    source: Source, variables: Mapping[str, Variable], families: Mapping[str, Family]
) -> Network:
    """Make the network: sort parents, renormalise rows, refuse cycles and gaps."""
    if not variables:
        source.fail("the file declares no variable.", len(source.text))
    names = tuple(variables)
    index = {name: i for i, name in enumerate(names)}
    parents: list[tuple[int, ...]] = []
    cpts, support = [], []
    for name, variable in variables.items():
        if name not in families:
            source.fail(f"variable {name!r} has no probabilities.", variable.where)
        family = families[name]
        members = [index[parent] for parent in family.parents]
        order = sorted(range(len(members)), key=members.__getitem__)
        table = family.table.transpose((*order, len(members)))
        cpts.append(_normalise(source, name, fold(table), family.where))
        if family.support is not None:
            support.append(fold(family.support.transpose((*order, len(members)))))
        parents.append(tuple(sorted(members)))
    cycle = find_cycle(parents)
    if cycle is not None:
        path = " -> ".join(names[i] for i in cycle)
        source.fail(f"the arcs form a cycle: {path}.", families[names[cycle[0]]].where)
    states = tuple(variable.states for variable in variables.values())
    return Network(
        Dag(names, tuple(parents)),
        states,
        tuple(cpts),
        support=tuple(support) if len(support) == len(names) else None,
    )


def parse_numbers(source: Source, text: str, where: int) -> list[float]:
    """Read numbers >= 0 between commas and blanks; the text begins at ``where``."""
    words = text.replace(",", " ").split()
    try:
        numbers = list(map(float, words))
    except ValueError:
        numbers = []
    is_plain = len(numbers) == len(words) and "_" not in text
    if not (is_plain and all(0 <= x < math.inf for x in numbers)):
        bad = next(word for word in words if not _is_number(word))
        msg = f"expected a number >= 0. Got {bad!r} instead."
        source.fail(msg, where + max(text.find(bad), 0))
    return numbers


def text_labels(network: Network) -> list[list[str]]:
    """Return the labels as text, which must still tell the states apart."""
    labels = [[str(label) for label in states] for states in network.states]
    for name, texts in zip(network.names, labels, strict=True):
        if len(set(texts)) < len(texts):
            twice = next(x for i, x in enumerate(texts) if x in texts[:i])
            msg = (
                f"two states of {name!r} are both {twice!r} as text. "
                "Rename one, or write JSON, which keeps types."
            )
            raise DataError(msg)
    return labels


def _is_number(word: str) -> bool:
    try:
        return "_" not in word and 0 <= float(word) < math.inf
    except ValueError:
        return False


def _normalise(
    source: Source, name: str, cpt: NDArray[np.float64], where: int
) -> NDArray[np.float64]:
    with np.errstate(over="ignore"):
        sums = cpt.sum(axis=1)
    errors = np.abs(sums - 1)
    if not (np.isfinite(sums).all() and (sums > 0).all()):
        row = int((~(np.isfinite(sums) & (sums > 0))).argmax())
        msg = (
            f"a row of the table of {name!r} sums to {float(sums[row])!r} instead of 1."
        )
        source.fail(msg, where)
    if errors.max() > MAX_SUM_ERROR:
        worst = float(sums[errors.argmax()])
        msg = (
            f"{source.place(where)}: a row of the table of {name!r} sums to "
            f"{worst!r} instead of 1; it was divided by its sum."
        )
        warn(msg, ProbabilityWarning)
    is_rounded = errors > EXACT
    cpt = cpt.copy()
    cpt[is_rounded] /= sums[is_rounded, None]
    return cpt
