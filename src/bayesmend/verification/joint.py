"""The proof that no structure with any completion scores higher: a tree, node by node.

A node fixes some cells. For each of its points, which are lists of prices, every
family that is still there is bounded by itself, and the best structure under these
bounds is found. Families whose best structure is not above the target are dropped for
the whole subtree. In the end nothing is above the target, or one cell more is fixed,
to each of its states in turn.

Three theorems are relied on, and no part of the program that wrote the proof. Family
scores are convex in the counts, so that rows with the same observed states and the
same missing cells may be filled alike. They are sums of logarithms of probabilities, a
row after the other, so that leaving rows out can only raise them, and so can counting
other rows near each of them. And for prices that are not negative, what
families score when each fills the open cells for itself, paying for copies what the
owner earns, is not below what they score when they agree. A family that has the child
of a copy among its parents earns nothing for it, as no structure has both arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.dags import Programme
from bayesmend.verification.families import (
    ENTRIES,
    MOST_ROWS,
    OpenFamily,
    Scores,
    Shown,
    Table,
)
from bayesmend.verification.lies import Lie, integer, listed
from bayesmend.verification.patterns import Patterns
from bayesmend.verification.problems import Problem
from bayesmend.verification.units import BITS

__all__ = ["PRICE_BITS", "Tree", "check_joint", "check_tree"]

_MOST_VARS = 22

PRICE_BITS = 20
"""Prices are written as multiples of 2**-PRICE_BITS nats."""

_PRICE_DIGITS = 60  # so that no sum of prices comes near what rules a value out

Amounts = dict[int, list[int]]
"""By cell, what each value earns, or costs where negative."""


@dataclass(frozen=True)
class Tree:
    """What a proof is about: cells, each with its variable and a name, and families."""

    variable: Sequence[int]
    states: Sequence[Sequence[Any]]
    cell_names: Sequence[str]
    families: Sequence[Mapping[int, OpenFamily | int]]

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.states)

    def card(self, cell: int) -> int:
        """Return the number of states of a cell."""
        return len(self.states[self.variable[cell]])


class Prices:
    """What each child pays for its copies, and what families make of it."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        # By child and owner.
        self.paid: list[dict[int, Amounts]] = [{} for _ in range(tree.n_vars)]
        # By child, who pays it, as bits; and by child and those who are no parents.
        self._payers: dict[int, int] = {}
        self._known: dict[tuple[int, int], Amounts] = {}

    def row(self, child: int, cell: int) -> list[int]:
        """Return what a child pays for a copy, to be filled in."""
        own = self.paid[child].setdefault(self.tree.variable[cell], {})
        return own.setdefault(cell, [0] * self.tree.card(cell))

    def of(self, child: int, parents: int) -> Amounts:
        """Return what a family earns for its own cells and pays for those of others."""
        payers = self._payers.get(child)
        if payers is None:
            payers = sum(1 << v for v, own in enumerate(self.paid) if child in own)
            self._payers[child] = payers
        earning = payers & ~parents
        known = self._known.get((child, earning))
        if known is None:
            known = {
                cell: [-amount for amount in row]
                for own in self.paid[child].values()
                for cell, row in own.items()
            }
            for payer, own in enumerate(self.paid):
                if earning >> payer & 1:
                    for cell, row in own[child].items():
                        known[cell] = (
                            list(map(add, known[cell], row)) if cell in known else row
                        )
            self._known[child, earning] = known
        return known


@dataclass
class _Node:
    fixed: dict[int, int]
    alive: list[list[int]]
    n_children: int = 0


def check_joint(
    problem: Problem,
    patterns: Patterns,
    nodes: Any,
    target: int,
    tell: Callable[[int, int], None] | None = None,
) -> int:
    """Raise Lie unless the nodes show that nothing is above the target; count them."""
    table, n_vars = patterns.table, len(problem.variables)
    if n_vars > _MOST_VARS:
        msg = (
            f"a proof about {n_vars} variables takes {2**n_vars:,} sets of them for "
            f"every node. At most {_MOST_VARS} variables are checked."
        )
        raise DataError(msg)
    if table.n_rows > MOST_ROWS:
        msg = f"{table.n_rows:,} rows, weights included, are too many to check."
        raise DataError(msg)
    families = _promising(problem, table, patterns.number, target)
    tree = Tree(
        [v for _, v in patterns.cells],
        [variable.states for variable in problem.variables],
        [patterns.name(cell) for cell in range(len(patterns.cells))],
        families,
    )
    check_tree(tree, nodes, target, tell)
    return len(nodes)


def _promising(
    problem: Problem,
    table: Table,
    cell_at: Mapping[tuple[int, int], int],
    target: int,
) -> list[dict[int, OpenFamily | int]]:
    """Return the families that could be in something above the target.

    First they are bounded by the rows that show all of them, which is their score where
    all rows do, and those that are left with each open row by itself.
    """
    scores = Scores(problem.rule, table.n_rows)
    shown = Shown(table, scores)
    bounds: list[dict[int, int]] = []
    parents_of: list[dict[int, tuple[int, ...]]] = []
    for child in range(len(problem.variables)):
        choices = problem.choices(child)
        own = {sum(1 << p for p in each): each for each in problem.parent_sets(child)}
        parents_of.append(own)
        bounds.append(
            {
                members: shown.score(child, each, choices)
                for members, each in own.items()
            }
        )
    bounds = _above(bounds, target)
    families: list[dict[int, OpenFamily | int]] = []
    for child, alive in enumerate(bounds):
        choices = problem.choices(child)
        families.append(dict(alive))
        for members in alive:
            parents = parents_of[child][members]
            if any(table.holes[v] for v in (child, *parents)):
                family = OpenFamily(table, scores, cell_at, child, parents, choices)
                families[child][members] = family
                alive[members] = family.quick_upper()
    return [
        {members: families[child][members] for members in alive}
        for child, alive in enumerate(_above(bounds, target))
    ]


def check_tree(
    tree: Tree, nodes: Any, target: int, tell: Callable[[int, int], None] | None = None
) -> None:
    """Raise Lie unless a tree shows that nothing is above the target."""
    nodes = listed(nodes, "the list of nodes")
    if not nodes:
        msg = "the proof has no nodes."
        raise Lie(msg)
    children = _children(tree, nodes)
    open_nodes: dict[int, _Node] = {}
    for number, entry in enumerate(nodes):
        node = _begin(tree, number, entry, open_nodes, len(children.get(number, ())))
        points = [
            _prices(tree, number, p, point)
            for p, point in enumerate(listed(entry[3], f"the points of node {number}"))
        ]
        is_leaf = number not in children
        if not is_leaf:
            _check_children(tree, number, node, children[number], nodes)
            for prices in points:
                _drop(tree, node, prices, target)
            open_nodes[number] = node
        elif not _is_closed(tree, node, points, target):
            _tell_open(number, points)
        if tell is not None:
            tell(number + 1, len(nodes))


def _children(tree: Tree, nodes: Sequence[Any]) -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for number, entry in enumerate(nodes):
        listed(entry, f"node {number}", 4)
        if number == 0:
            if entry[:3] != [None, None, None]:
                msg = "node 0 must be the root, which has no parent and fixes no cell."
                raise Lie(msg)
            continue
        integer(entry[0], f"the parent of node {number}", below=number)
        cell = integer(entry[1], f"the cell of node {number}", below=len(tree.variable))
        integer(entry[2], f"the state of node {number}", below=tree.card(cell))
        children.setdefault(entry[0], []).append(number)
    return children


def _begin(
    tree: Tree, number: int, entry: Any, open_nodes: dict[int, _Node], n_children: int
) -> _Node:
    """Take a node from its parent; the last child takes all of it."""
    if number == 0:
        alive = [list(families) for families in tree.families]
        return _Node({}, alive, n_children)
    parent, cell, value, _ = entry
    above = open_nodes[parent]
    above.n_children -= 1
    if above.n_children == 0:
        del open_nodes[parent]
    return _Node({**above.fixed, cell: value}, list(map(list, above.alive)), n_children)


def _check_children(
    tree: Tree, number: int, node: _Node, children: Sequence[int], nodes: Sequence[Any]
) -> None:
    cells = sorted({nodes[child][1] for child in children})
    if len(cells) > 1:
        names = " and ".join(tree.cell_names[cell] for cell in cells[:2])
        msg = f"the children of node {number} fix different cells: {names}."
        raise Lie(msg)
    cell, name = cells[0], tree.cell_names[cells[0]]
    if cell in node.fixed:
        msg = f"the children of node {number} fix {name}, which is fixed already."
        raise Lie(msg)
    counts = Counter(nodes[child][2] for child in children)
    for value in range(tree.card(cell)):
        if counts[value] != 1:
            state = tree.states[tree.variable[cell]][value]
            n_found = "no child" if not counts[value] else f"{counts[value]} children"
            msg = f"node {number} has {n_found} with {state!r} in {name}."
            raise Lie(msg)


def _prices(tree: Tree, number: int, p: int, point: Any) -> Prices:
    """Read the prices of copies."""
    where = f"prices {p} of node {number}"
    columns = [listed(column, where) for column in listed(point, where, 4)]
    if len({len(column) for column in columns}) != 1:
        msg = f"{where} must be four lists of one length."
        raise Lie(msg)
    prices = Prices(tree)
    seen = set()
    for child, cell, value, steps in zip(*columns, strict=True):
        integer(child, f"a child in {where}", below=tree.n_vars)
        integer(cell, f"a cell in {where}", below=len(tree.variable))
        integer(value, f"a state in {where}", below=tree.card(cell))
        if type(steps) is not int or not 0 <= steps < 1 << _PRICE_DIGITS:
            msg = (
                f"{where} hold {steps!r:.40}, but no price is below 0, broken or "
                f"above 2^{_PRICE_DIGITS}."
            )
            raise Lie(msg)
        owner = tree.variable[cell]
        if owner == child:
            msg = f"{where} have a copy of {tree.cell_names[cell]} with its own owner."
            raise Lie(msg)
        if (child, cell, value) in seen:
            msg = f"{where} price one copy of {tree.cell_names[cell]} twice."
            raise Lie(msg)
        seen.add((child, cell, value))
        prices.row(child, cell)[value] = steps << (BITS - PRICE_BITS)
    return prices


def _above(bounds: Sequence[Mapping[int, int]], target: int) -> list[dict[int, int]]:
    """Return the families, by child, that are in some structure above the target."""
    programme = Programme(bounds)
    if programme.best <= target:
        return [{} for _ in bounds]
    found: list[dict[int, int]] = []
    for child, own in enumerate(bounds):
        around = programme.around(child, list(own))
        pairs = zip(own.items(), around, strict=True)
        found.append(
            {key: bound for (key, bound), rest in pairs if bound + rest > target}
        )
    return found


def _drop(
    tree: Tree,
    node: _Node,
    prices: Prices,
    target: int,
    entries: Sequence[int] = ENTRIES[:1],
) -> bool:
    """Leave out the families that are in no structure above the target.

    Those that have too many ways to be listed are bounded better as long as others are
    not enough. Tells whether nothing is above the target.
    """
    exact: list[dict[int, int]] = [{} for _ in node.alive]
    for most in entries:
        bounds: list[dict[int, int]] = []
        for child, alive in enumerate(node.alive):
            own, families, known = {}, tree.families[child], exact[child]
            for parents in alive:
                if parents not in known:
                    family, is_exact = families[parents], True
                    if isinstance(family, int):
                        bound = family
                    else:
                        paid = prices.of(child, parents)
                        bound, is_exact = family.upper(node.fixed, paid, most)
                    if is_exact:
                        known[parents] = bound
                    own[parents] = bound
                else:
                    own[parents] = known[parents]
            bounds.append(own)
        node.alive = list(map(list, _above(bounds, target)))
        if not all(node.alive):
            return True
        if all(
            len(known) == len(own) for known, own in zip(exact, bounds, strict=True)
        ):
            break
    return False


def _is_closed(tree: Tree, node: _Node, points: Sequence[Prices], target: int) -> bool:
    """Tell whether nothing is above the target at one of the points."""
    # The last point is that of the bound; those before are for what must be dropped.
    return not all(node.alive) or any(
        _drop(tree, node, prices, target, ENTRIES) for prices in (*points[-1:], *points)
    )


def _tell_open(number: int, points: Sequence[Prices]) -> None:
    if points:
        msg = (
            f"the bound of node {number} cannot be repeated: with its prices there is "
            "still a structure above the bound of the proof."
        )
    else:
        msg = f"node {number} has neither prices that bound it nor children."
    raise Lie(msg)
