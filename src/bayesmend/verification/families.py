"""What families score, and the most they can score while cells are open.

A table is kept as one long whole number per state of a variable, bit r for row r, so
that rows are counted by ``&`` and ``bit_count``. A family's scores are those of units
(see `units`): sums of looked-up values, exact but for the rounding of each value, for
which one unit each is added to what must not be too low.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import accumulate
from math import comb, prod
from operator import add

from bayesmend.verification.units import (
    CountLogs,
    RisingLogs,
    ln,
    ln_comb,
    to_units,
    units_of,
)

__all__ = [
    "ENTRIES",
    "KEPT",
    "MISSING",
    "MOST_ROWS",
    "Family",
    "OpenFamily",
    "Rule",
    "Scores",
    "Shown",
    "Table",
]

MISSING = -1
"""The code of a missing cell."""

ENTRIES = (64, 1024, 65536)
"""Ways to count open rows that are listed at once; what exceeds them is bounded."""

KEPT = 256
"""So many are listed once for all nodes, where that is all there are."""

_NEVER = -(1 << 100)
_DIGIT = 32  # bits of one count, where several are one number
MOST_ROWS = (1 << _DIGIT) - 1
"""More cannot be counted where cells are open."""


@dataclass(frozen=True)
class Rule:
    """A score, by the numbers it is made of."""

    kind: str
    ess: Fraction
    is_fair: bool
    arc_penalty: Fraction
    support: Fraction


_Logs = Mapping[int, int]


class Table:
    """Rows as codes, counted.

    Parameters
    ----------
    rows : sequence of tuples of int
        Codes of all rows; `MISSING` for a missing cell.
    card : sequence of int
        Numbers of states.
    weights : sequence of int
        How often each row counts.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[int]],
        card: Sequence[int],
        weights: Sequence[int] | None = None,
    ) -> None:
        self.card = tuple(card)
        self.n_rows = len(rows) if weights is None else sum(weights)
        self.weight_of_row = weights
        self._digits: list[tuple[int, int]] | None
        self.of_row: list[int] = []
        self.rows: list[tuple[int, ...]] = []
        self.weights: list[int] = []
        self.first: list[int] = []
        known: dict[tuple[int, ...], int] = {}
        for number, row in enumerate(map(tuple, rows)):
            at = known.setdefault(row, len(self.rows))
            if at == len(self.rows):
                self.rows.append(row)
                self.weights.append(0)
                self.first.append(number)
            self.of_row.append(at)
            self.weights[at] += 1 if weights is None else weights[number]
        self.incomplete = [r for r, row in enumerate(self.rows) if MISSING in row]
        self.holes = [
            [r for r in self.incomplete if self.rows[r][v] == MISSING]
            for v in range(len(card))
        ]
        # Rows count by the binary digits of their weights, or stand for themselves.
        counted, n_digits = self.rows, max(self.weights, default=0).bit_length()
        if _bit_work(self.n_rows) <= n_digits * _bit_work(len(self.rows)):
            pairs = zip(self.rows, self.weights, strict=True)
            counted = [row for row, weight in pairs for _ in range(weight)]
            self._digits = None
        else:
            self._digits = [
                (1 << d, _bits([weight >> d & 1 for weight in self.weights], 1))
                for d in range(n_digits)
            ]
        columns = list(zip(*counted, strict=True)) or [() for _ in card]
        self._states = [
            [_bits(column, s) for s in range(k)]
            for column, k in zip(columns, card, strict=True)
        ]
        self._known: dict[tuple[int, ...], list[int]] = {(): [(1 << len(counted)) - 1]}

    def sets(self, variables: tuple[int, ...]) -> list[int]:
        """Return the rows of each configuration, the last variable fastest."""
        found = self._known.get(variables)
        if found is None:
            states = self._states[variables[-1]]
            before = self.sets(variables[:-1])
            found = [rows & own for rows in before for own in states]
            self._known[variables] = found
        return found

    @property
    def count(self) -> Callable[[int], int]:
        """What counts rows, given as bits."""
        return int.bit_count if self._digits is None else self._weigh

    def _weigh(self, rows: int) -> int:
        digits = self._digits or ()
        return sum([weight * (rows & digit).bit_count() for weight, digit in digits])

    def states(self, variable: int) -> list[int]:
        """Return the rows of each state."""
        return self._states[variable]

    def counts(self, parents: tuple[int, ...], child: int) -> list[int]:
        """Count the rows in which a whole family is observed, the child fastest."""
        count, states = self.count, self._states[child]
        return [
            count(rows & own) if rows else 0
            for rows in self.sets(parents)
            for own in states
        ]


def _bit_work(n_bits: int) -> int:
    """Say how long it takes to work with a number of so many bits, by comparison."""
    return n_bits + 5000


def _bits(column: Sequence[int], wanted: int) -> int:
    """Return where a number stands in a column, as bits."""
    return int("".join(["1" if x == wanted else "0" for x in column])[::-1] or "0", 2)


class Scores:
    """Tables of looked-up values, shared by families."""

    def __init__(self, rule: Rule, n_rows: int) -> None:
        self.rule, self.n_rows = rule, n_rows
        self._rising: dict[Fraction, RisingLogs] = {}
        self._counts = CountLogs()
        self._of: dict[tuple[int, int], tuple[_Logs, _Logs]] = {}
        self._penalties: dict[tuple[int, int, int, int], int] = {}
        self.support = to_units(rule.support)

    def _log_table(self, pseudo_count: Fraction) -> _Logs:
        if pseudo_count not in self._rising:
            self._rising[pseudo_count] = RisingLogs(pseudo_count)
        return self._rising[pseudo_count]

    def of(self, card: int, n_configs: int) -> tuple[_Logs, _Logs]:
        """Return what a count of a cell adds, and what one of a configuration takes."""
        key = (card, n_configs)
        if key not in self._of:
            ess, counts = self.rule.ess, self._counts
            if self.rule.kind == "bdeu":
                self._of[key] = (
                    self._log_table(ess / (n_configs * card)),
                    self._log_table(ess / n_configs),
                )
            elif self.rule.kind == "k2":
                self._of[key] = (
                    self._log_table(Fraction(1)),
                    self._log_table(Fraction(card)),
                )
            else:
                self._of[key] = counts, counts
        return self._of[key]

    def penalty(
        self, n_parents: int, n_optional: int, n_required: int, free: int
    ) -> int:
        """Return what a family pays for its size."""
        key = (n_parents, n_optional, n_required, free)
        if key not in self._penalties:
            rule, total = self.rule, 0
            if rule.is_fair:
                total += ln_comb(n_optional, n_parents - n_required)
            if rule.kind == "bic" and self.n_rows > 0:
                total += ln(self.n_rows) * free // 2
            plain = to_units(rule.arc_penalty * n_parents)
            if rule.kind == "aic":
                plain += to_units(free)
            self._penalties[key] = units_of(total) + plain
        return self._penalties[key]


class Shown:
    """Scores families by the rows that show all of them, rounded up for sure.

    Rows that hide some of a family could only lower that: what a row adds to a score is
    the logarithm of a probability, or of what is at most one. A score is a sum over the
    configurations of all members, less one over those of the parents; each is worked
    out once for all families that have it.
    """

    def __init__(self, table: Table, scores: Scores) -> None:
        self._table, self._scores = table, scores
        self._joint: dict[tuple[int, ...], int] = {}
        self._given: dict[tuple[tuple[int, ...], int, int], int] = {}

    def score(
        self, child: int, parents: tuple[int, ...], choices: tuple[int, int]
    ) -> int:
        """Score a family; the parents come in order."""
        table = self._table
        card, sets = table.card[child], table.sets(parents)
        joint, given = self._scores.of(card, len(sets))
        members = tuple(sorted((*parents, child)))
        if members not in self._joint:
            states = table.states(members[-1])
            self._joint[members] = sum(
                joint[n] + 1
                for n in [
                    table.count(rows & own)
                    for rows in table.sets(members[:-1])
                    if rows
                    for own in states
                ]
                if n
            )
        key = (parents, card, child if table.holes[child] else MISSING)
        if key not in self._given:
            seen = sum(table.states(child)) if table.holes[child] else table.sets(())[0]
            self._given[key] = sum(
                given[n] - 1
                for n in [table.count(rows & seen) for rows in sets if rows]
                if n
            )
        penalty = self._scores.penalty(len(parents), *choices, len(sets) * (card - 1))
        return self._joint[members] - self._given[key] - penalty + 4


class Family:
    """A child and its parents: where rows are counted, and what the counts score."""

    def __init__(
        self,
        table: Table,
        scores: Scores,
        child: int,
        parents: Sequence[int],
        choices: tuple[int, int],
    ) -> None:
        self.child, self.parents = child, tuple(sorted(parents))
        self.members = (*self.parents, child)
        self.card = table.card[child]
        self.base = table.counts(self.parents, child)
        n_configs = len(self.base) // self.card
        self.joint, self.given = scores.of(self.card, n_configs)
        free = n_configs * (self.card - 1)
        self.penalty = scores.penalty(len(self.parents), *choices, free)
        self.support = scores.support
        cards = [table.card[v] for v in self.members]
        self.strides = [prod(cards[i + 1 :]) for i in range(len(cards))]

    def config(self, counts: Sequence[int], at: int) -> int:
        """Count the rows of the configuration that a place belongs to."""
        first = at // self.card * self.card
        return sum(counts[first : first + self.card])

    def score(self, counts: Sequence[int]) -> int:
        """Score counts; rows where the table has no example pay for that."""
        joint, given = self.joint, self.given
        total = sum([joint[n] for n in counts]) - self.penalty
        for at in range(0, len(counts), self.card):
            total -= given[self.config(counts, at)]
        if self.support:
            total -= sum(map(self.row_cost, range(len(counts)), counts))
        return total

    def row_cost(self, at: int, n_rows: int) -> int:
        """Return what rows pay for a place without an example."""
        return 0 if self.base[at] else n_rows * self.support


Hole = tuple[int, int, int]
"""A cell that decides where a row goes, with its stride there and number of states."""


class _Axis:
    """Open rows that go to the same places: what is open, and the ways to part them.

    A way says how many rows go to each place, as the digits of one number.
    """

    __slots__ = ("members", "places", "ways", "weight")

    def __init__(
        self, places: Sequence[int], weight: int, members: Sequence[Sequence[Hole]]
    ) -> None:
        self.places, self.weight, self.members = places, weight, members
        self.ways = _ways(len(places), len(members))

    def steps(self) -> Sequence[_Axis | Hole]:
        """Return what to decide, one after the other: of one row, its cells."""
        return self.members[0] if len(self.members) == 1 else [self]

    def worth(
        self, fixed: Mapping[int, int], prices: Mapping[int, Sequence[int]]
    ) -> list[int]:
        """Return the most that each way is paid; `_NEVER` where a cell rules it out."""
        paid = []
        for holes in self.members:
            worth = [0]
            for cell, _, card in holes:
                value = fixed.get(cell)
                if value is not None:
                    own: Sequence[int] = _only(card)[value]
                else:
                    own = prices.get(cell) or _only(card)[-1]
                worth = [a + b for a in worth for b in own]
            paid.append(worth)
        if len(self.places) == 2:
            gains = sorted([second - first for first, second in paid], reverse=True)
            return list(accumulate(gains, initial=sum([first for first, _ in paid])))
        best = {0: 0}
        for worth in paid:
            following: dict[int, int] = {}
            for way, total in best.items():
                for t, price in enumerate(worth):
                    key, value = way + (1 << _DIGIT * t), total + price
                    following[key] = max(value, following.get(key, value))
            best = following
        return [best[way] for way in self.ways]


@cache
def _only(card: int) -> list[list[int]]:
    """Return amounts that rule out all states but each in turn, and such as do not."""
    only = [[0 if s == own else _NEVER for s in range(card)] for own in range(card)]
    return [*only, [0] * card]


@cache
def _ways(n_places: int, n_rows: int) -> list[int]:
    """List the ways to part rows among places, those with more in the first first."""
    if n_places == 1:
        return [n_rows]
    return [
        n_rows - n + (way << _DIGIT)
        for n in range(n_rows + 1)
        for way in _ways(n_places - 1, n)
    ]


_Made = tuple[int, list[tuple[list[_Axis | Hole], list[int]]], bool]
"""A score, blocks of what is open with a number for each outcome, and if exact."""


class OpenFamily(Family):
    """A family over a table with missing cells, and the most it can score."""

    def __init__(
        self,
        table: Table,
        scores: Scores,
        cell_at: Mapping[tuple[int, int], int],
        child: int,
        parents: Sequence[int],
        choices: tuple[int, int],
    ) -> None:
        super().__init__(table, scores, child, parents, choices)
        self._rows: list[tuple[int, int, list[Hole]]] = []
        for r in sorted({r for v in self.members for r in table.holes[v]}):
            row, offset, holes = table.rows[r], 0, []
            for v, stride in zip(self.members, self.strides, strict=True):
                if row[v] == MISSING:
                    holes.append((cell_at[r, v], stride, table.card[v]))
                else:
                    offset += stride * row[v]
            self._rows.append((table.weights[r], offset, holes))
        self.cells = {cell for _, _, holes in self._rows for cell, _, _ in holes}
        # One unit for each value that is looked up, and for each part of the penalty.
        self.error = len(self.base) * (self.card + 1) // self.card + 4
        if self.support:
            self.error += sum(weight for weight, _, _ in self._rows)
        self._whole: _Made | None = None  # for any values of any cells
        self._last: tuple[object, _Made] | None = None

    def upper(
        self,
        fixed: Mapping[int, int],
        prices: Mapping[int, Sequence[int]],
        most: int = ENTRIES[-1],
    ) -> tuple[int, bool]:
        """Bound the family over all values of its open cells, prices included.

        ``prices[cell][value]`` is what the family earns where it gives a cell a value,
        and below 0 what it pays. The bound is the maximum itself unless there are more
        than so many ways to count the rows, which is told, too; it allows for the
        rounding of looked-up values.
        """
        made = self._whole
        if made is None or not made[2]:
            made = self._made(fixed, prices, most)
        total, blocks, is_exact = made
        for steps, table in blocks:
            total += _best(steps, table, fixed, prices)
        return total, is_exact

    def _made(
        self,
        fixed: Mapping[int, int],
        prices: Mapping[int, Sequence[int]],
        most: int,
    ) -> _Made:
        """Return what serves for any values of any cells, or else for these alone."""
        own = self.cells & fixed.keys()
        is_priced = not self.cells.isdisjoint(prices)
        if self._whole is None and is_priced:
            self._whole = self._make({}, False, KEPT)
        if self._whole and (self._whole[2] or (not own and most <= KEPT)):
            return self._whole
        key = (most, is_priced, *sorted((cell, fixed[cell]) for cell in own))
        if self._last is None or self._last[0] != key:
            self._last = key, self._make(fixed, not is_priced, most)
        return self._last[1]

    def quick_upper(self) -> int:
        """Bound the family over all values of all cells, each row by itself.

        Each goes where it adds most, with all rows before it counted as if they were
        there, and nowhere else: by the chain rule that can only raise what it adds.
        """
        joint, given, card, base = self.joint, self.given, self.card, self.base
        near = [0] * len(base)
        total = self.score(base) + self.error + 4 * len(self._rows)
        alike: dict[tuple[int, ...], int] = {}
        for weight, offset, holes in self._rows:
            places = [offset]
            for _, stride, n_states in holes:
                places = [at + stride * v for at in places for v in range(n_states)]
            key = tuple(places)
            alike[key] = alike.get(key, 0) + weight
        configs = [sum(base[i : i + card]) for i in range(0, len(base), card)]
        for own, weight in alike.items():
            gains = []
            for at in own:
                x, y = base[at] + near[at], configs[at // card] + near[at]
                gain = joint[x + weight] - joint[x] + given[y] - given[y + weight]
                gains.append(gain if base[at] else gain - weight * self.support)
                near[at] += weight
            total += max(gains)
        return total

    def _make(self, fixed: Mapping[int, int], is_merged: bool, most: int) -> _Made:
        """Return the score of what is decided, tables of the rest, and if it is all.

        Where nothing is paid, rows alike may all go the same way, as the score is
        convex in how many go where.
        """
        counts = list(self.base)
        groups: dict[tuple[int, ...], list[tuple[int, list[Hole]]]] = {}
        for weight, offset, holes in self._rows:
            places, left = [offset], []
            for hole in holes:
                cell, stride, card = hole
                value = fixed.get(cell)
                if value is None:
                    places = [at + stride * v for at in places for v in range(card)]
                    left.append(hole)
                else:
                    places = [at + stride * value for at in places]
            if left:
                key = (0 if is_merged else weight, *places)
                groups.setdefault(key, []).append((weight, left))
            else:
                counts[places[0]] += weight
        axes = []
        for (weight, *places), members in groups.items():
            cells = [holes for _, holes in members]
            if is_merged:
                cells, weight = cells[:1], sum([weight for weight, _ in members])
            at_once = len(cells)
            while (
                at_once > 1 < len(places) - 1
                and comb(at_once + len(places) - 1, at_once) > most
            ):
                at_once = (at_once + 1) // 2
            for i in range(0, len(cells), at_once):
                axes.append(_Axis(places, weight, cells[i : i + at_once]))
        blocks, is_exact = [], True
        for together in _components(axes, self.card):
            near, first = [0] * len(counts), 0
            while first < len(together):
                end, size = first + 1, len(together[first].ways)
                while end < len(together) and size * len(together[end].ways) <= most:
                    size *= len(together[end].ways)
                    end += 1
                block = together[first:end]
                steps = [step for axis in block for step in axis.steps()]
                blocks.append((steps, self._table(block, counts, near)))
                for axis in block:
                    for at in axis.places:
                        near[at] += axis.weight * len(axis.members)
                is_exact, first = is_exact and end == len(together), end
        return self.score(counts) + self.error, blocks, is_exact

    def _table(
        self, axes: Sequence[_Axis], counts: Sequence[int], near: Sequence[int]
    ) -> list[int]:
        """List what rows add to what is counted, for each combination of ways.

        Rows of earlier blocks are near: they are counted as if all were wherever they
        can be and nowhere else, which by the chain rule can only raise what each row
        adds.
        """
        places = sorted({at for axis in axes for at in axis.places})
        shift = {at: _DIGIT * i for i, at in enumerate(places)}
        states, totals = (
            [0],
            [0],
        )  # how many rows go where, as digits; and what they add
        for axis in axes:
            steps, costs = [], []
            for way in axis.ways:
                step = cost = 0
                for at in axis.places:
                    if n_rows := (way & MOST_ROWS) * axis.weight:
                        step += n_rows << shift[at]
                        cost -= self.row_cost(at, n_rows)
                    way >>= _DIGIT
                steps.append(step)
                costs.append(cost)
            states = [state + step for state in states for step in steps]
            totals = [total + cost for total in totals for cost in costs]
        while places:
            config = places[0] // self.card
            n_own = sum(at // self.card == config for at in places)
            own, places = places[:n_own], places[n_own:]
            low, mask = shift[own[0]], (1 << _DIGIT * n_own) - 1
            added = [state >> low & mask for state in states]
            gain = {key: self._gain(key, own, counts, near) for key in set(added)}
            totals = list(map(add, totals, map(gain.__getitem__, added)))
        return totals

    def _gain(
        self, rows: int, own: Sequence[int], counts: Sequence[int], near: Sequence[int]
    ) -> int:
        """Return what rows add that go to places of one configuration."""
        joint, given = self.joint, self.given
        # Two looked-up values for each place, and two for each total.
        gain, total = 4 * len(own), self.config(counts, own[0])
        for at in own:
            if added := rows & MOST_ROWS:
                x, y = counts[at] + near[at], total + near[at]
                gain += joint[x + added] - joint[x] + given[y] - given[y + added]
                total += added
            rows >>= _DIGIT
        return gain


def _best(
    steps: Sequence[_Axis | Hole],
    table: list[int],
    fixed: Mapping[int, int],
    prices: Mapping[int, Sequence[int]],
) -> int:
    """Return the best combination of ways, with what is paid."""
    total = 0
    for step in steps:  # the first one is the slowest
        if isinstance(step, _Axis):
            width = len(table) // len(step.ways)
            worth: Sequence[int] = step.worth(fixed, prices)
        else:
            cell, _, card = step
            width, value = len(table) // card, fixed.get(cell)
            if value is not None:
                table = table[value * width : (value + 1) * width]
                continue
            worth = prices.get(cell) or _only(card)[-1]
            if card == 2:
                total, more = total + worth[0], worth[1] - worth[0]
                table = [
                    x if x > y + more else y + more
                    for x, y in zip(table[:width], table[width:], strict=True)
                ]
                continue
        parts = [
            [entry + paid for entry in table[i * width : (i + 1) * width]]
            for i, paid in enumerate(worth)
            if paid > _NEVER // 2
        ]
        table = list(map(max, *parts)) if len(parts) > 1 else parts[0]
    return total + table[0]


def _components(axes: Sequence[_Axis], card: int) -> list[list[_Axis]]:
    """Group axes that may meet in a configuration."""
    found: list[tuple[set[int], list[_Axis]]] = []
    for axis in axes:
        configs, together, apart = {at // card for at in axis.places}, [axis], []
        for each in found:
            if configs.isdisjoint(each[0]):
                apart.append(each)
            else:
                configs, together = configs | each[0], each[1] + together
        found = [*apart, (configs, together)]
    return [together for _, together in found]
