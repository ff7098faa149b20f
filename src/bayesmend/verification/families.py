"""What families score, and the most they can score while cells are open.

A table is kept as one long whole number per state of a variable, bit r for row r, so
that rows are counted by ``&`` and ``bit_count``. A family's scores are those of units
(see `units`): sums of looked-up values, exact but for the rounding of each value,
which `Family.error` bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import prod

from bayesmend.verification.units import (
    CountLogs,
    RisingLogs,
    ln_comb,
    ln_fraction,
    to_units,
)

__all__ = ["MISSING", "WAYS", "Family", "Rule", "Scores", "Table", "score_complete"]

MISSING = -1
"""The code of a missing cell."""

WAYS = (32, 4096)
"""Ways to count open rows that are followed at once; what exceeds them is bounded."""

_MOST_KNOWN = 1000  # bounds that a family remembers


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
        # Rows count by the binary digits of their weights, or stand for themselves.
        counted, n_digits = self.rows, max(self.weights, default=0).bit_length()
        if _bit_work(self.n_rows) <= n_digits * _bit_work(len(self.rows)):
            pairs = zip(self.rows, self.weights, strict=True)
            counted = [row for row, weight in pairs for _ in range(weight)]
            self._digits = None
        else:
            self._digits = [
                (1 << d, _bits(bool(weight >> d & 1) for weight in self.weights))
                for d in range(n_digits)
            ]
        self._states = [
            [_bits(row[v] == s for row in counted) for s in range(k)]
            for v, k in enumerate(card)
        ]
        self._known: dict[tuple[int, ...], list[int]] = {(): [(1 << len(counted)) - 1]}
        self._configs: dict[tuple[int, ...], list[tuple[int, int]]] = {}

    def _sets(self, variables: tuple[int, ...]) -> list[int]:
        """Return the rows of each configuration, the last variable fastest."""
        found = self._known.get(variables)
        if found is None:
            states = self._states[variables[-1]]
            before = self._sets(variables[:-1])
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

    def configs(self, parents: tuple[int, ...]) -> list[tuple[int, int]]:
        """Return the rows of each configuration that has some, and how many."""
        found = self._configs.get(parents)
        if found is None:
            count = self.count
            found = [(rows, count(rows)) for rows in self._sets(parents) if rows]
            self._configs[parents] = found
        return found

    def counts(self, parents: tuple[int, ...], child: int) -> list[int]:
        """Count the rows in which a whole family is observed, the child fastest."""
        count, states = self.count, self._states[child]
        return [
            count(rows & own) if rows else 0
            for rows in self._sets(parents)
            for own in states
        ]


def _bit_work(n_bits: int) -> int:
    """Say how long it takes to work with a number of so many bits, by comparison."""
    return n_bits + 5000


def _bits(flags: object) -> int:
    return int("".join("1" if flag else "0" for flag in flags)[::-1] or "0", 2)  # type: ignore[attr-defined]


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
            rule, total = self.rule, Decimal(0)
            if rule.is_fair:
                total += ln_comb(n_optional, n_parents - n_required)
            if rule.kind == "bic" and self.n_rows > 0:
                total += ln_fraction(Fraction(self.n_rows)) * free / 2
            if rule.kind == "aic":
                total += free
            plain = to_units(rule.arc_penalty * n_parents)
            self._penalties[key] = to_units(total) + plain
        return self._penalties[key]


def score_complete(
    table: Table,
    scores: Scores,
    child: int,
    parents: tuple[int, ...],
    choices: tuple[int, int],
) -> int:
    """Score a family over a table without missing cells, rounded up for sure."""
    card = table.card[child]
    n_configs = prod(table.card[p] for p in parents)
    joint, given = scores.of(card, n_configs)
    total = -scores.penalty(len(parents), *choices, n_configs * (card - 1))
    *states, _ = table.states(child)
    count, configs = table.count, table.configs(parents)
    for rows, left in configs:
        total -= given[left]
        for own in states:
            n = count(rows & own)
            left -= n
            total += joint[n]
        total += joint[left]  # of the last state
    return total + len(configs) * (card + 1) + 4


@dataclass
class _Unit:
    """Rows that go the same way: how many, of how many patterns, and the ways.

    A way is a place in the table of counts, and what each pattern is paid there.
    """

    weight: int
    times: int
    ways: list[tuple[int, int]]


class Family:
    """A child and its parents, over a table with missing cells.

    A row that does not show the whole family is an item: how many rows are like it,
    where in the table of counts it goes, and the cells that decide it, each with the
    stride and the number of states of its variable.
    """

    __slots__ = (
        "_known",
        "base",
        "card",
        "cells",
        "child",
        "error",
        "given",
        "items",
        "joint",
        "parents",
        "penalty",
        "support",
    )

    def __init__(
        self,
        table: Table,
        scores: Scores,
        cell_at: Mapping[tuple[int, int], int],
        child: int,
        parents: tuple[int, ...],
        choices: tuple[int, int],
    ) -> None:
        card = self.card = table.card[child]
        self.child, self.parents = child, parents
        self.base = table.counts(parents, child)
        n_configs = len(self.base) // card
        self.joint, self.given = scores.of(card, n_configs)
        self.penalty = scores.penalty(len(parents), *choices, n_configs * (card - 1))
        self.support = scores.support
        # One unit for each value that is looked up, and for each part of the penalty.
        self.error = len(self.base) + n_configs + 4
        if self.support:
            self.error += sum(table.weights[r] for r in table.incomplete)
        members = (*parents, child)
        strides = [
            prod(table.card[v] for v in members[i + 1 :]) for i in range(len(members))
        ]
        self.items = []
        for r in table.incomplete:
            row, offset, holes = table.rows[r], 0, []
            for v, stride in zip(members, strides, strict=True):
                if row[v] == MISSING:
                    holes.append((cell_at[r, v], stride, table.card[v]))
                else:
                    offset += stride * row[v]
            if holes:
                self.items.append((table.weights[r], offset, holes))
            # A row that shows the whole family is in the base counts.
        self.cells = sorted(
            {cell for _, _, holes in self.items for cell, _, _ in holes}
        )
        self._known: dict[object, tuple[int, int]] = {}

    def score(self, fixed: Mapping[int, int]) -> int:
        """Score the family when every cell is decided."""
        counts, cost = list(self.base), self.penalty
        for weight, offset, holes in self.items:
            at = offset + sum(stride * fixed[cell] for cell, stride, _ in holes)
            counts[at] += weight
            cost += self._row_cost(at, weight)
        return self._score(counts) - cost

    def _row_cost(self, at: int, weight: int) -> int:
        return 0 if self.base[at] else weight * self.support

    def _score(self, counts: Sequence[int]) -> int:
        joint, given, card = self.joint, self.given, self.card
        total = sum([joint[count] for count in counts if count])
        for j in range(0, len(counts), card):
            config = sum(counts[j : j + card])
            if config:
                total -= given[config]
        return total

    def upper(
        self,
        fixed: Mapping[int, int],
        prices: Mapping[int, Sequence[int]],
        most_ways: int = WAYS[-1],
    ) -> int:
        """Bound the family over all values of its open cells, prices included.

        ``prices[cell][value]`` is what the family earns where it gives a cell a value,
        and below 0 what it pays. The bound is the maximum itself unless there are too
        many ways to count; it allows for the rounding of looked-up values.
        """
        key = tuple(
            [
                fixed[cell] if cell in fixed else tuple(prices.get(cell, ()))
                for cell in self.cells
            ]
        )
        bound, ways = self._known.get(key, (0, 0))
        if ways < most_ways:
            if len(self._known) > _MOST_KNOWN:
                self._known.clear()
            bound, is_exact = self._upper(fixed, prices, most_ways)
            self._known[key] = bound, WAYS[-1] if is_exact else most_ways
        return bound

    def _upper(
        self,
        fixed: Mapping[int, int],
        prices: Mapping[int, Sequence[int]],
        most_ways: int,
    ) -> tuple[int, bool]:
        """Return the bound, and whether all ways were followed."""
        counts, total = list(self.base), -self.penalty + self.error
        units: dict[tuple[object, ...], _Unit] = {}
        for weight, offset, holes in self.items:
            ways = [(offset, 0)]
            is_priced = is_open = False
            for cell, stride, card in holes:
                value = fixed.get(cell)
                if value is not None:
                    ways = [(at + stride * value, price) for at, price in ways]
                    continue
                is_open = True
                own = prices.get(cell)
                if own is None:
                    ways = [
                        (at + stride * v, price)
                        for at, price in ways
                        for v in range(card)
                    ]
                else:
                    is_priced = True
                    ways = [
                        (at + stride * v, price + own[v])
                        for at, price in ways
                        for v in range(card)
                    ]
            if not is_open:
                at = ways[0][0]
                counts[at] += weight
                total -= self._row_cost(at, weight)
                continue
            # Rows alike may all go the same way, as the score is convex in how many go
            # where, and prices that are alike are linear in that.
            key = (*ways, weight) if is_priced else tuple(ways)
            unit = units.setdefault(key, _Unit(0, 0, ways))
            unit.weight += weight
            unit.times += 1
        total += self._score(counts)
        is_exact = True
        for together in _components(list(units.values()), self.card):
            gain, is_whole = self._gain(counts, together, most_ways)
            total += gain
            is_exact = is_exact and is_whole
        return total, is_exact

    def _gain(
        self, counts: Sequence[int], units: Sequence[_Unit], most_ways: int
    ) -> tuple[int, bool]:
        """Bound what units that may meet in a configuration add to what is counted.

        All ways to count them are followed, and the best price for each; a
        configuration is settled as soon as no later unit may go there. Where the ways
        are too many the units so far make a block, and all of it is settled: later
        units are counted as if all its rows were wherever they can be and nowhere
        else, which by the chain rule can only raise what each row adds. Tells, too,
        whether there was no need for that.
        """
        if len(units) == 1:
            return self._best_way(counts, units[0]), True
        bits = sum(unit.weight for unit in units).bit_length()
        places = sorted({at for unit in units for at, _ in unit.ways})
        shift = {at: bits * place for place, at in enumerate(places)}
        last = {
            at // self.card: number
            for number, unit in enumerate(units)
            for at, _ in unit.ways
        }
        cells: dict[int, list[int]] = {}
        for at in places:
            cells.setdefault(at // self.card, []).append(at)
        near = dict.fromkeys(places, 0)
        total, is_whole = 0, True
        states: dict[int, int] = {0: 0}
        block: list[_Unit] = []
        for number, unit in enumerate(units):
            steps = [
                (
                    unit.weight << shift[at],
                    price * unit.times - self._row_cost(at, unit.weight),
                )
                for at, price in unit.ways
            ]
            if block and len(states) * len(steps) > most_ways:
                for config in sorted(
                    {at // self.card for u in block for at, _ in u.ways}
                ):
                    if last[config] >= number:
                        own = cells[config]
                        states = self._settled(states, counts, near, own, bits, shift)
                total += states[0]
                for old in block:
                    for at, _ in old.ways:
                        near[at] += old.weight
                states, block, is_whole = {0: 0}, [], False
            following: dict[int, int] = {}
            for state, price in states.items():
                for step, own_price in steps:
                    key, value = state + step, price + own_price
                    if following.get(key, value) <= value:
                        following[key] = value
            states = following
            block.append(unit)
            for config in {at // self.card for at, _ in unit.ways}:
                if last[config] == number:
                    own = cells[config]
                    states = self._settled(states, counts, near, own, bits, shift)
        return total + states[0], is_whole

    def _settled(
        self,
        states: Mapping[int, int],
        counts: Sequence[int],
        near: Mapping[int, int],
        cells: Sequence[int],
        bits: int,
        shift: Mapping[int, int],
    ) -> dict[int, int]:
        """Add what the rows in a configuration score, and forget how many they are."""
        joint, given = self.joint, self.given
        low, digit = shift[cells[0]], (1 << bits) - 1
        mask = (1 << bits * len(cells)) - 1
        config = cells[0] // self.card * self.card
        before = sum(counts[config : config + self.card])
        known: dict[int, int] = {}
        settled: dict[int, int] = {}
        for state, price in states.items():
            own = state >> low & mask
            gain = known.get(own)
            if gain is None:
                # Two looked-up values for each cell, and two for each total.
                gain, total, rest = 4 * len(cells), before, own
                for at in cells:
                    added = rest & digit
                    rest >>= bits
                    if added:
                        x, y = counts[at] + near[at], total + near[at]
                        gain += joint[x + added] - joint[x]
                        gain -= given[y + added] - given[y]
                        total += added
                known[own] = gain
            price += gain
            key = state ^ own << low
            if settled.get(key, price) <= price:
                settled[key] = price
        return settled

    def _best_way(self, counts: Sequence[int], unit: _Unit) -> int:
        """Return the most that a unit adds alone, wherever it goes."""
        joint, given, card, weight = self.joint, self.given, self.card, unit.weight
        best = None
        for at, price in unit.ways:
            config, count = at // card * card, counts[at]
            total = sum(counts[config : config + card])
            gain = price * unit.times - self._row_cost(at, weight)
            gain += joint[count + weight] - joint[count]
            gain -= given[total + weight] - given[total]
            if best is None or gain > best:
                best = gain
        assert best is not None
        return best + 4


def _components(units: Sequence[_Unit], card: int) -> list[list[_Unit]]:
    """Group units that may meet in a configuration."""
    root: dict[int, int] = {}

    def find(config: int) -> int:
        while root.setdefault(config, config) != config:
            root[config] = config = root[root[config]]
        return config

    for unit in units:
        for at, _ in unit.ways[1:]:
            root[find(at // card)] = find(unit.ways[0][0] // card)
    groups: dict[int, list[_Unit]] = {}
    for unit in sorted(units, key=lambda unit: (unit.ways, unit.weight)):
        groups.setdefault(find(unit.ways[0][0] // card), []).append(unit)
    return list(groups.values())
