"""What was searched, as a proof or the options of a result say: scores and parents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.families import Rule
from bayesmend.verification.lies import Lie, integer, listed, mapping, number, text
from bayesmend.verification.rows import Variable

__all__ = ["SCORES", "Problem", "from_options", "from_proof"]

SCORES = ("bdeu", "k2", "bic", "aic", "loglik")
"""The scores that can be computed here."""

_SUPPORT = 0.2
_WITH_PRIOR = ("bdeu", "bds", "k2")


@dataclass(frozen=True)
class Problem:
    """Variables, a score, and what parents each variable may and must have."""

    variables: tuple[Variable, ...]
    rule: Rule
    allowed: tuple[frozenset[int], ...]
    required: tuple[frozenset[int], ...]
    limit: tuple[int, ...]
    weights: str | None = None

    @property
    def names(self) -> list[str]:
        """The names of the variables."""
        return [variable.name for variable in self.variables]

    def choices(self, child: int) -> tuple[int, int]:
        """Return how many parents a child may have beside those it must, and these."""
        n_required = len(self.required[child])
        return len(self.allowed[child]) - n_required, n_required

    def n_parent_sets(self, child: int) -> int:
        """Count the sets of parents that a child may have."""
        n_others, n_required = self.choices(child)
        sizes = range(min(self.limit[child] - n_required, n_others) + 1)
        return sum(comb(n_others, size) for size in sizes)

    def parent_sets(self, child: int) -> Iterator[tuple[int, ...]]:
        """List the sets of parents that a child may have."""
        required = self.required[child]
        others = sorted(self.allowed[child] - required)
        most = min(self.limit[child] - len(required), len(others))
        for size in range(most + 1):
            for more in combinations(others, size):
                yield tuple(sorted((*required, *more)))

    def check_parents(self, child: int, parents: Sequence[int]) -> None:
        """Raise Lie unless a child may have these parents."""
        names, own = self.names, set(parents)
        for odd in sorted(own - self.allowed[child]):
            msg = f"the arc {names[odd]} -> {names[child]} is forbidden."
            raise Lie(msg)
        for odd in sorted(self.required[child] - own):
            msg = f"the arc {names[odd]} -> {names[child]} is required, and not there."
            raise Lie(msg)
        if len(own) > self.limit[child]:
            msg = (
                f"{names[child]!r} has {len(own)} parents, and may have at most "
                f"{self.limit[child]}."
            )
            raise Lie(msg)


def from_proof(document: Any) -> Problem:
    """Read the problem of a proof."""
    plain = mapping(document, "the problem of the proof")
    entries = [
        mapping(entry, "a variable of the proof")
        for entry in listed(plain.get("variables"), "the variables of the proof")
    ]
    variables = tuple(
        Variable(
            text(entry.get("name"), "the name of a variable"),
            tuple(listed(entry.get("states"), "the states of a variable")),
            tuple(number(cut, "a cut point") for cut in entry["cuts"])
            if "cuts" in entry
            else None,
        )
        for entry in entries
    )
    for variable in variables:
        if len(set(map(repr, variable.states))) != len(variable.states):
            msg = f"the proof names a state of {variable.name!r} twice."
            raise Lie(msg)
    index = {variable.name: v for v, variable in enumerate(variables)}
    if len(index) != len(variables):
        msg = "the proof names a variable twice."
        raise Lie(msg)
    every = range(len(variables))
    parts: dict[str, list[frozenset[int]]] = {}
    for key in ("forbidden", "required"):
        parts[key] = [
            frozenset(
                _position(name, index) for name in listed(entry.get(key, []), key)
            )
            for entry in entries
        ]
    if plain.get("normalise"):
        msg = "labels were normalised when the table was read, which cannot be checked."
        raise DataError(msg)
    return Problem(
        variables,
        _rule(mapping(plain.get("score"), "the score of the proof")),
        tuple(frozenset(every) - parts["forbidden"][v] - {v} for v in every),
        tuple(parts["required"]),
        tuple(integer(entry.get("max_parents"), "max_parents") for entry in entries),
        plain.get("weights"),
    )


def _position(name: Any, index: Mapping[str, int]) -> int:
    if name not in index:
        msg = f"the proof has a rule for {name!r:.60}, which is no variable of it."
        raise Lie(msg)
    return index[name]


def _rule(plain: Mapping[str, Any]) -> Rule:
    kind, prior = plain.get("kind"), plain.get("prior")
    if kind not in SCORES:
        msg = f"the score {kind!r:.40} cannot be checked, only {', '.join(SCORES)}."
        raise DataError(msg)
    if prior not in ("fair", "uniform"):
        msg = f"the prior must be fair or uniform, and is {prior!r:.40}."
        raise Lie(msg)
    ess = number(plain.get("ess"), "the equivalent sample size")
    support = number(plain.get("support"), "the support")
    if ess <= 0 or support < 0:
        msg = "the equivalent sample size must be above 0, and the support not below."
        raise Lie(msg)
    penalty = number(plain.get("arc_penalty"), "the penalty of an arc")
    return Rule(
        kind, Fraction(ess), prior == "fair", Fraction(penalty), Fraction(support)
    )


def from_options(
    options: Mapping[str, Any], variables: Sequence[Variable]
) -> Problem | None:
    """Read the problem from the options of a result; None where they do not tell."""
    if (
        "score" not in options
        or options.get("ess") == "auto"
        or "columns" not in options
    ):
        return None
    kind = options["score"]
    prior = options.get("prior") or ("fair" if kind in _WITH_PRIOR else "uniform")
    given = {"ess": 1.0, "support": _SUPPORT, "arc_penalty": 0.0}
    given |= {key: options[key] for key in given if options.get(key) is not None}
    names = [variable.name for variable in variables]
    every = frozenset(range(len(names)))
    rules: dict[str, set[tuple[int, int]]] = {"required": set(), "forbidden": set()}
    for key, arcs in rules.items():
        for parent, child in options.get(key) or []:
            arcs.add((names.index(parent), names.index(child)))
    tier_of = {
        names.index(name): number
        for number, tier in enumerate(options.get("tiers") or [])
        for name in tier
    }
    allowed, required = [], []
    for v in every:
        barred = {p for p, child in rules["forbidden"] if child == v}
        barred |= {p for p in every if v in tier_of and tier_of.get(p, -1) > tier_of[v]}
        allowed.append(every - barred - {v})
        required.append(frozenset(p for p, child in rules["required"] if child == v))
    limit = min(options.get("max_parents", 3), max(len(names) - 1, 0))
    return Problem(
        tuple(variables),
        _rule({"kind": kind, "prior": prior, **given}),
        tuple(allowed),
        tuple(required),
        (limit,) * len(names),
        options.get("weights"),
    )
