"""The proof that no structure over complete data scores higher: cuts, and a tree.

Every acyclic graph keeps the cuts. One of a cluster C of variables says that some
variable of C has no parent in C. Another is half the sum of earlier ones, with some
multiples of "each variable has one family" added, its coefficients and its right side
rounded up: what is true of whole numbers stays true. With a multiplier that is not
negative for each cut, every variable then takes its best family by itself; what that
sums to, no acyclic graph exceeds. A node of the tree holds the graphs with an arc, or
without it. Families that are in no graph above the target are dropped below a node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.families import Scores, Shown, Table
from bayesmend.verification.lies import Lie, integer, listed
from bayesmend.verification.problems import Problem

__all__ = ["Families", "check_structure", "families_of_table"]

Families = Sequence[Mapping[int, int]]
"""By child, from the set of the parents (bit i for variable i) to a score in units,
rounded up where it is rounded."""

_MOST_FAMILIES = 5_000_000
_TIE = 1 << 17
"""Scores this close, in units (1e-7 nats), may have been told apart the other way."""


def families_of_table(
    problem: Problem, table: Table, tell: Callable[[int, int], None] | None = None
) -> list[dict[int, int]]:
    """Score all sets of parents that are allowed, but for those of no use.

    A set that scores no more than a part of it that is allowed is of no use: the part
    can replace it in any graph. Where it scores more by a trifle, the part is taken to
    score as much.
    """
    n_families = sum(problem.n_parent_sets(child) for child in range(len(table.card)))
    if n_families > _MOST_FAMILIES:
        msg = (
            f"there are {n_families:,} sets of parents to score, too many to check. At "
            f"most {_MOST_FAMILIES:,} are."
        )
        raise DataError(msg)
    shown = Shown(table, Scores(problem.rule, table.n_rows))
    found: list[dict[int, int]] = []
    for child in range(len(table.card)):
        if tell is not None:
            tell(child, len(table.card))
        choices, required = problem.choices(child), problem.required[child]
        kept: dict[int, int] = {}
        best: dict[int, tuple[int, int]] = {}  # the best part of each set, itself too
        for parents in problem.parent_sets(child):  # smaller ones come first
            own = shown.score(child, parents, choices)
            members = sum(1 << p for p in parents)
            parts = [members ^ 1 << p for p in parents if p not in required]
            rival = max((best[part] for part in parts), default=None)
            if rival is None or own > rival[0] + _TIE:
                kept[members] = own
                best[members] = own, members
                continue
            best[members] = rival
            if own > kept[rival[1]]:
                kept[rival[1]] = own
        found.append(kept)
    return found


@dataclass(frozen=True)
class _Cut:
    """Members of a cluster; or cuts whose half is taken, and multiples by variable."""

    members: int
    cuts: tuple[int, ...] = ()
    multiples: Mapping[int, int] | None = None


@dataclass
class _Node:
    alive: list[list[int]]
    n_children: int = 0


def check_structure(
    names: Sequence[str],
    families: Families,
    cuts: Any,
    nodes: Any,
    target: int,
    tell: Callable[[int, int], None] | None = None,
) -> int:
    """Raise Lie unless the nodes show that nothing is above the target; count them."""
    plain = _read_cuts(len(names), cuts)
    nodes = listed(nodes, "the list of nodes")
    if not nodes:
        msg = "the proof has no nodes."
        raise Lie(msg)
    children = _children(names, nodes)
    programme = _Programme(families, plain)
    open_nodes: dict[int, _Node] = {}
    for number, entry in enumerate(nodes):
        multipliers = _multipliers(number, entry, len(plain))
        if number == 0:
            node = programme.root(target)
        else:
            node = _part(programme, entry, open_nodes)
        bound = programme.bound(node.alive, multipliers, target)
        own = children.get(number, [])
        if not own and bound > target:
            _tell_open(number, multipliers)
        if own and number == 0:
            node = programme.without_dropped(node.alive)
        node.n_children = len(own)
        open_nodes[number] = node
        if tell is not None:
            tell(number + 1, len(nodes))
    return len(nodes)


class _Programme:
    """Families and cuts, and what multipliers make of them."""

    def __init__(self, families: Families, cuts: Sequence[_Cut]) -> None:
        self.masks = [list(own) for own in families]
        self.scores = [list(own.values()) for own in families]
        self.cuts = cuts
        self.least: list[int] = []  # the right sides
        for cut in cuts:
            if cut.multiples is None:
                self.least.append(1)
            else:
                total = sum([self.least[part] for part in cut.cuts])
                self.least.append(-(-(total + sum(cut.multiples.values())) // 2))
        self._rows: dict[int, dict[int, list[int]]] = {}

    def root(self, target: int) -> _Node:
        """Return a node of all families but those too bad whatever else is there."""
        node = _Node([list(range(len(own))) for own in self.masks])
        self.bound(node.alive, {}, target)
        return self.without_dropped(node.alive)

    def without_dropped(self, alive: Sequence[Sequence[int]]) -> _Node:
        """Forget the families that are not alive, for good."""
        for v, own in enumerate(alive):
            self.masks[v] = [self.masks[v][i] for i in own]
            self.scores[v] = [self.scores[v][i] for i in own]
        self._rows.clear()
        return _Node([list(range(len(own))) for own in alive])

    def bound(
        self, alive: list[list[int]], multipliers: Mapping[int, int], target: int
    ) -> int:
        """Return the bound, and leave out of `alive` what it shows to be of no use."""
        values = [
            dict(zip(own, map(self.scores[v].__getitem__, own), strict=True))
            for v, own in enumerate(alive)
        ]
        constant = 0
        for cut, multiplier in multipliers.items():
            constant += multiplier * self.least[cut]
            for v, coefficients in self.row(cut).items():
                value = values[v]
                for i in value:
                    if coefficients[i]:
                        value[i] += multiplier * coefficients[i]
        if not all(values):
            return target
        best = [max(value.values()) for value in values]
        bound = sum(best) - constant
        for v, value in enumerate(values):
            least = target - bound + best[v]
            alive[v] = [i for i in alive[v] if value[i] > least]
        return bound

    def row(self, number: int) -> dict[int, list[int]]:
        """Return the coefficients of a cut, by variable, where they are not all 0."""
        if number not in self._rows:
            for part in self._parts(number):  # earlier ones first
                if part not in self._rows:
                    self._rows[part] = self._row(part)
        return self._rows[number]

    def _parts(self, number: int) -> list[int]:
        """List a cut and all that it is made of."""
        found, left = {number}, [number]
        while left:
            new = set(self.cuts[left.pop()].cuts) - found
            found |= new
            left += new
        return sorted(found)

    def _row(self, number: int) -> dict[int, list[int]]:
        cut, row = self.cuts[number], {}
        if cut.multiples is None:
            for v, masks in enumerate(self.masks):
                if cut.members >> v & 1:
                    row[v] = [0 if mask & cut.members else 1 for mask in masks]
        else:
            parts: dict[int, list[list[int]]] = {v: [] for v in cut.multiples}
            for part in cut.cuts:
                for v, coefficients in self._rows[part].items():
                    parts.setdefault(v, []).append(coefficients)
            for v, own in parts.items():
                start = [cut.multiples.get(v, 0)] * len(self.masks[v])
                row[v] = [-(-sum(each) // 2) for each in zip(start, *own, strict=True)]
        return row


def _part(
    programme: _Programme, entry: Sequence[Any], open_nodes: dict[int, _Node]
) -> _Node:
    """Take a node from its parent: with an arc, or without it."""
    parent, source, child, is_present = entry[:4]
    above = open_nodes[parent]
    above.n_children -= 1
    if not above.n_children:
        del open_nodes[parent]
    alive = list(above.alive)
    masks = programme.masks
    alive[child] = [
        i for i in alive[child] if masks[child][i] >> source & 1 == is_present
    ]
    if is_present:
        alive[source] = [i for i in alive[source] if not masks[source][i] >> child & 1]
    return _Node(alive)


def _read_cuts(n_vars: int, cuts: Any) -> list[_Cut]:
    found: list[_Cut] = []
    for number, entry in enumerate(listed(cuts, "the list of cuts")):
        where = f"cut {number}"
        parts = [listed(part, where) for part in listed(entry, where)]
        if len(parts) == 1:
            members = [
                integer(v, f"a variable of {where}", below=n_vars) for v in parts[0]
            ]
            if not members or len(set(members)) != len(members):
                msg = f"{where} must be of different variables, at least one."
                raise Lie(msg)
            found.append(_Cut(sum(1 << v for v in members)))
            continue
        if len(parts) != 3 or len(parts[1]) != len(parts[2]):
            msg = (
                f"{where} must be the variables of a cluster, or cuts, variables and "
                "as many multiples."
            )
            raise Lie(msg)
        of = [
            integer(k, f"a cut that {where} is made of", below=number) for k in parts[0]
        ]
        multiples = {}
        for v, times in zip(parts[1], parts[2], strict=True):
            integer(v, f"a variable of {where}", below=n_vars)
            if type(times) is not int or v in multiples:
                msg = f"{where} must have one whole multiple for each of its variables."
                raise Lie(msg)
            multiples[v] = times
        found.append(_Cut(0, tuple(of), multiples))
    return found


def _children(names: Sequence[str], nodes: Sequence[Any]) -> dict[int, list[int]]:
    """Check that each node that has children has two, with an arc and without."""
    children: dict[int, list[int]] = {}
    for number, entry in enumerate(nodes):
        listed(entry, f"node {number}", 6)
        if number == 0:
            if entry[:4] != [None, None, None, None]:
                msg = "node 0 must be the root, which has no parent and no arc."
                raise Lie(msg)
            continue
        integer(entry[0], f"the parent of node {number}", below=number)
        for place, what in ((1, "start"), (2, "end")):
            where = f"the {what} of the arc of node {number}"
            integer(entry[place], where, below=len(names))
        integer(entry[3], f"whether node {number} has its arc", below=2)
        children.setdefault(entry[0], []).append(number)
    for number, own in children.items():
        arcs = [tuple(nodes[child][1:3]) for child in own]
        kinds = sorted(nodes[child][3] for child in own)
        if len(set(arcs)) > 1 or arcs[0][0] == arcs[0][1]:
            said = " and ".join(f"{names[a]} -> {names[b]}" for a, b in arcs[:2])
            msg = f"the children of node {number} must be about one arc: {said}."
            raise Lie(msg)
        if kinds != [0, 1]:
            said = f"{names[arcs[0][0]]} -> {names[arcs[0][1]]}"
            msg = f"node {number} must have one child with {said} and one without."
            raise Lie(msg)
    return children


def _multipliers(number: int, entry: Sequence[Any], n_cuts: int) -> dict[int, int]:
    where = f"the multipliers of node {number}"
    cuts = listed(entry[4], where)
    multipliers = {}
    for cut, multiplier in zip(cuts, listed(entry[5], where, len(cuts)), strict=True):
        integer(cut, f"a cut in {where}", below=n_cuts)
        integer(multiplier, where)
        if cut in multipliers:
            msg = f"{where} have cut {cut} twice."
            raise Lie(msg)
        multipliers[cut] = multiplier
    return multipliers


def _tell_open(number: int, multipliers: Mapping[int, int]) -> None:
    if multipliers:
        msg = (
            f"the bound of node {number} cannot be repeated: with its multipliers "
            "there is still a structure above the bound of the proof."
        )
    else:
        msg = f"node {number} has neither multipliers that bound it nor children."
    raise Lie(msg)
