"""The proof that no structure with any completion scores higher: a tree, node by node.

A node fixes some cells. For each of its points, which are lists of prices, every
family that is still there is bounded by itself, and the best structure under these
bounds is found. Families whose best structure is not above the target are dropped for
the whole subtree. In the end nothing is above the target, or one cell more is fixed,
to each of its states in turn.

Two theorems are relied on, and no part of the program that wrote the proof. Family
scores are convex in the counts, so that rows with the same observed states and the
same missing cells may be filled alike. And for prices that are not negative, what
families score when each fills the open cells for itself, paying for copies what the
owner earns, is not below what they score when they agree. A family that has the child
of a copy among its parents earns nothing for it, as no structure has both arcs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.dags import Programme
from bayesmend.verification.families import WAYS, Family, Scores
from bayesmend.verification.lies import Lie, integer, listed
from bayesmend.verification.patterns import Patterns
from bayesmend.verification.problems import Problem
from bayesmend.verification.units import BITS

__all__ = ["PRICE_BITS", "Tree", "check_joint", "check_tree"]

_MOST_VARS = 22

PRICE_BITS = 20
"""Prices are written as multiples of 2**-PRICE_BITS nats."""

Amounts = dict[int, list[int]]
"""By cell, what each value earns, or costs where negative."""


@dataclass(frozen=True)
class Tree:
    """What a proof is about: cells, each with its variable and a name, and families."""

    variable: Sequence[int]
    states: Sequence[Sequence[Any]]
    cell_names: Sequence[str]
    families: Sequence[Mapping[int, Family]]

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
        key = (child, payers & ~parents)
        if key not in self._known:
            found = {
                cell: [-amount for amount in row]
                for own in self.paid[child].values()
                for cell, row in own.items()
            }
            for payer, own in enumerate(self.paid):
                if not key[1] >> payer & 1:
                    continue
                for cell, row in own[child].items():
                    known = found.get(cell, [0] * len(row))
                    found[cell] = [a + b for a, b in zip(known, row, strict=True)]
            self._known[key] = found
        return self._known[key]


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
    scores, cell_at = Scores(problem.rule, table.n_rows), patterns.number
    families = [
        {
            sum(1 << p for p in parents): Family(
                table, scores, cell_at, child, parents, problem.choices(child)
            )
            for parents in problem.parent_sets(child)
        }
        for child in range(n_vars)
    ]
    tree = Tree(
        [v for _, v in patterns.cells],
        [variable.states for variable in problem.variables],
        [patterns.name(cell) for cell in range(len(patterns.cells))],
        families,
    )
    check_tree(tree, nodes, target, tell)
    return len(nodes)


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
        if type(steps) is not int or steps < 0:
            msg = f"{where} hold {steps!r:.40}, but no price is below 0 or broken."
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


def _drop(tree: Tree, node: _Node, prices: Prices, target: int) -> bool:
    """Leave out the families that are in no structure above the target.

    First by bounds that are found quickly, so that few are left for better ones. Tells
    whether nothing is above the target.
    """
    before = None
    for most_ways in WAYS:
        bounds = [
            {
                parents: families[parents].upper(
                    node.fixed, prices.of(child, parents), most_ways
                )
                for parents in node.alive[child]
            }
            for child, families in enumerate(tree.families)
        ]
        if bounds == before:
            continue
        programme = Programme(bounds)
        if programme.best <= target:
            node.alive = [[] for _ in node.alive]
            return True
        for child, found in enumerate(bounds):
            around = programme.around(child, list(found))
            entries = zip(found.items(), around, strict=True)
            bounds[child] = {
                parents: bound
                for (parents, bound), rest in entries
                if bound + rest > target
            }
        node.alive = list(map(list, bounds))
        before = bounds
    return False


def _is_closed(tree: Tree, node: _Node, points: Sequence[Prices], target: int) -> bool:
    """Tell whether nothing is above the target at one of the points."""
    # The last point is that of the bound; those before are for what must be dropped.
    return not all(node.alive) or any(
        _drop(tree, node, prices, target) for prices in (*points[-1:], *points)
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
