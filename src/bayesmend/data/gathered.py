"""A column that arrives in blocks: its labels in order, and one byte per cell.

What it comes to is what reading all blocks as one would give.
"""

from __future__ import annotations

import hashlib
import tempfile
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.sources import KEPT_VALUES, Source, is_missing
from bayesmend.data.states import (
    MAX_STATES,
    MISSING,
    Column,
    Kind,
    Label,
    number_of,
)
from bayesmend.errors import DataError

__all__ = ["Gathered", "Gathering", "Numbers", "Packed", "PartColumn", "total_markers"]

_MOST_DISTINCT = 1 << 20  # as the reader of delimited text counts
_FIRST_CELLS = 1 << 16
_GROWTH = 1.3
_WORDS = {"text": "text", "number": "numbers", "boolean": "booleans", "date": "dates"}


class Packed:
    """Cells that are added at the end, one byte each."""

    def __init__(self) -> None:
        self._cells = np.empty(_FIRST_CELLS, dtype=np.uint8)
        self.size = 0

    def add(self, cells: NDArray[np.uint8]) -> None:
        """Add cells at the end."""
        end = self.size + len(cells)
        if end > len(self._cells):
            # In place where the system can move pages; those not written take nothing.
            self._cells.resize(max(end, int(_GROWTH * end)), refcheck=False)
        self._cells[self.size : end] = cells
        self.size = end

    @property
    def cells(self) -> NDArray[np.uint8]:
        """All of them."""
        return self._cells[: self.size]

    def release(self) -> None:
        """Give up all cells."""
        self._cells, self.size = np.empty(0, dtype=np.uint8), 0


class Numbers:
    """Numbers that are added at the end, kept in a temporary file."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="bayesmend-")  # noqa: SIM115
        weakref.finalize(self, self._file.close)
        self.size = 0

    def add(self, numbers: NDArray[np.float64]) -> None:
        """Add numbers at the end."""
        self._file.write(np.ascontiguousarray(numbers, dtype=np.float64).data)
        self.size += len(numbers)

    @property
    def all(self) -> NDArray[np.float64]:
        """All of them, as pages of the file."""
        self._file.flush()
        if not self.size:
            return np.empty(0)
        return np.memmap(self._file, dtype=np.float64, mode="r")

    def close(self) -> None:
        """Give up the file."""
        self._file.close()

    def __getstate__(self) -> NDArray[np.float64]:
        return np.array(self.all)

    def __setstate__(self, numbers: NDArray[np.float64]) -> None:
        self.__init__()  # type: ignore[misc]
        self.add(numbers)


class PartColumn(NamedTuple):
    """What one part of a table says of a column, without its cells."""

    column: Column
    used: tuple[Label, ...]
    """Labels that occur, where others are declared."""
    hashes: NDArray[np.int64] | None
    """Of the distinct values, where these are only counted."""
    markers: dict[str, int]


class Gathered:
    """What is known of a column after some of its blocks.

    Up to 254 labels its cells are `packed`. With more, `numbers` are kept where all
    labels are such; of anything else it is counted how many there are.
    """

    def __init__(self, name: str, decimal: str) -> None:
        self.name, self.decimal = name, decimal
        self.kind: Kind | None = None
        self.labels: dict[Label, int] = {}
        self.packed: Packed | None = Packed()
        self.numbers: Numbers | None = None
        self.n_rows = self.n_missing = 0
        self.is_numeric = True
        self.trouble = ""
        self.is_redeclared = False
        """Whether blocks declare different states, so that none are declared."""
        self.markers: dict[str, int] = {}
        self._declared: tuple[Label, ...] | None = None
        self._hashes: NDArray[np.int64] | None = None
        self._n_distinct: int | None = None
        self._called = ""
        self._used: dict[Label, None] = {}

    def meet(self, column: Column, called: str) -> NDArray[np.uint8] | None:
        """Take in what a block says of its values, before its cells.

        Returns the code of each of its values; None where cells are packed no longer.
        """
        self.n_rows += column.n_rows
        self.n_missing += column.n_missing
        self._n_distinct = None
        is_declared = column.kind == "category"
        if column.n_observed == 0 and not is_declared:
            return self._coded(())
        self._meet_kind(column, called)
        self.is_numeric = self.is_numeric and column.is_numeric
        self.trouble = self.trouble or column.trouble
        if column.n_distinct > MAX_STATES or self.trouble:
            self._note_labels(column)
            return None
        return self._coded(column.values)

    def _coded(self, values: tuple[Label, ...]) -> NDArray[np.uint8] | None:
        if self.packed is None:
            return None
        known = self.labels
        places = [known.setdefault(value, len(known)) for value in values]
        if len(known) > MAX_STATES:
            return None
        return np.array(places, dtype=np.uint8)

    def _note_labels(self, column: Column) -> None:
        """Keep some of too many labels, for messages."""
        for value in column.values:
            if len(self.labels) >= KEPT_VALUES:
                return
            self.labels.setdefault(value, len(self.labels))

    def _meet_kind(self, column: Column, called: str) -> None:
        kind = column.kind
        if kind == "category":
            if self.kind is None:
                self._declared = column.values
            elif self._declared != column.values:
                self._forget_declared()
            kind = "category" if self._declared is not None else _kind_of(column)
            if self.kind is None:
                self.kind, self._called = kind, called
            if kind == "category":
                return
        elif self._declared is not None:
            self._forget_declared()
        if self.kind is None or self.kind == "category":
            self.kind, self._called = kind, called
        elif self.kind != kind and not self.trouble:
            one, two = (_WORDS.get(k, f"{k} values") for k in (self.kind, kind))
            self.trouble = (
                f"variable {self.name!r} mixes {one} (in {self._called}) and {two} (in"
                f" {called}). Convert it to one type."
            )
            self.kind = "mixed"

    def _forget_declared(self) -> None:
        """Take declared states, which are not the same everywhere, as plain values."""
        self._declared, self.is_redeclared = None, True
        if self.kind == "category":
            self.kind = _kind_of_labels(self.labels)
            self.is_numeric = self.kind == "number"

    def overflow(self) -> bool:
        """Give up packed cells; return whether the numbers are wanted instead."""
        packed, self.packed = self.packed, None
        is_wanted = self.is_numeric and not self.trouble
        if packed is not None and is_wanted:
            self.numbers = Numbers()
            table = np.full(MISSING + 1, np.nan)
            for label, place in self.labels.items():
                if place < MISSING:
                    table[place] = number_of(label, self.decimal)
            step = 1 << 20
            for first in range(0, packed.size, step):
                self.numbers.add(table[packed.cells[first : first + step]])
        if not is_wanted:
            self._stop_numbers()
        return is_wanted and self.numbers is not None

    def _stop_numbers(self) -> None:
        if self.numbers is not None:
            self._n_distinct = self._count_numbers()
            self.numbers.close()
            self.numbers = None

    def count(self, values: list[Any], markers: frozenset[str]) -> None:
        """Count the distinct values of a block beside those of other blocks."""
        try:
            distinct = [v for v in set(values) if not is_missing(v, markers)]
        except TypeError:  # some cannot be told apart
            return
        if self._hashes is None:
            self._hashes = _hashes_of(self.labels)
        if len(self._hashes) < _MOST_DISTINCT:
            new = np.fromiter(map(_hash, distinct), np.int64, len(distinct))
            self._hashes = np.union1d(self._hashes, new)

    def forget_count(self) -> None:
        """Count the distinct values anew when they are asked for."""
        self._n_distinct = None

    def _count_numbers(self) -> int:
        assert self.numbers is not None
        numbers = self.numbers.all
        return len(np.unique(numbers[~np.isnan(numbers)]))

    @property
    def n_distinct(self) -> int:
        """How many values differ, as far as they are counted."""
        if self._n_distinct is None:
            if self.packed is not None:
                self._n_distinct = len(self.labels)
            elif self.numbers is not None:
                self._n_distinct = self._count_numbers()
            elif self._hashes is not None:
                self._n_distinct = min(len(self._hashes), _MOST_DISTINCT)
            else:
                self._n_distinct = self.n_rows - self.n_missing
        return self._n_distinct

    def told(self) -> PartColumn:
        """Return what is known of the column but its cells."""
        labels, used = tuple(self.labels), tuple(self.labels)
        if self._declared is not None and self.packed is not None:
            is_used = self._is_used(self.packed)
            used = tuple(
                x for x, is_one in zip(labels, is_used, strict=False) if is_one
            )
        return PartColumn(self.column(), used, self._hashes, self.markers)

    def join(self, part: PartColumn, called: str) -> None:
        """Take in what another part says, whose cells stay where they are."""
        for marker, count in part.markers.items():
            self.markers[marker] = self.markers.get(marker, 0) + count
        self._used.update(dict.fromkeys(part.used))
        labels = dict(self.labels)
        if self.meet(part.column, called) is not None:
            return
        self.packed = None
        if self._hashes is None:
            self._hashes = _hashes_of(labels)
        more = _hashes_of(part.column.values) if part.hashes is None else part.hashes
        self._hashes = np.union1d(self._hashes, more)

    def settle(self) -> None:
        """Leave out labels of no row, as `finish` does, with cells elsewhere."""
        if self.is_redeclared:
            kept = [label for label in self.labels if label in self._used]
            self.labels = {label: place for place, label in enumerate(kept)}
            self._n_distinct = None

    @staticmethod
    def _is_used(packed: Packed) -> NDArray[np.bool_]:
        return np.bincount(packed.cells, minlength=MISSING + 1)[:MISSING] > 0

    def finish(self) -> None:
        """Leave out labels of no row, where states were declared and then were not."""
        if not (self.is_redeclared and self.packed is not None):
            return
        used = self._is_used(self.packed)
        places = np.cumsum(used) - 1
        table = np.full(MISSING + 1, MISSING, dtype=np.uint8)
        table[:MISSING][used] = places[used].astype(np.uint8)
        self.packed.cells[:] = table[self.packed.cells]
        kept = [label for label, place in self.labels.items() if used[place]]
        self.labels = {label: place for place, label in enumerate(kept)}
        self._n_distinct = None

    def column(self) -> Column:
        """Describe the column; its cells stay here."""
        n_observed = self.n_rows - self.n_missing
        return Column(
            self.name,
            self.kind or "text",
            tuple(self.labels)[:KEPT_VALUES],
            index=None,
            n_rows=self.n_rows,
            n_distinct=self.n_distinct,
            is_bound=self.numbers is None and self.n_distinct >= _MOST_DISTINCT,
            n_missing=self.n_missing,
            is_numeric=self.is_numeric and n_observed > 0 and self.kind != "category",
            decimal=self.decimal,
            trouble=self.trouble,
        )


class Gathering:
    """The columns of some rows, which arrive in blocks."""

    def __init__(self, names: tuple[str, ...], decimal: str) -> None:
        self.columns = [Gathered(name, decimal) for name in names]
        self.n_rows = 0
        self.markers: frozenset[str] = frozenset()
        """With which they were read: numbers as the blocks write them."""

    def take(self, block: Source, called: str) -> None:
        """Add the cells of a block that is prepared, of a file or another part."""
        self.markers |= block.markers
        self.n_rows += block.n_rows
        places, columns, tables = [], [], []
        for j, gathered in enumerate(self.columns):
            if gathered.numbers is not None and _add_numbers(gathered, block, j):
                continue
            column = block.column(j)
            table = gathered.meet(column, called)
            if table is not None:
                places.append(j)
                columns.append(column)
                tables.append(table)
            elif gathered.overflow():
                assert gathered.numbers is not None
                gathered.numbers.add(block.numbers(j))
            else:
                gathered.count(block.values(j), block.markers)
            for marker, count in block.count_markers([j]).items():
                gathered.markers[marker] = gathered.markers.get(marker, 0) + count
        if places:
            codes = block.codes(places, columns, tables)
            for k, j in enumerate(places):
                packed = self.columns[j].packed
                assert packed is not None
                packed.add(codes[:, k])

    def finish(self) -> None:
        """Settle what only all blocks together tell."""
        for gathered in self.columns:
            gathered.finish()


def total_markers(columns: Iterable[Gathered]) -> dict[str, int]:
    """Add up the cells of columns that each marker stands in."""
    total: dict[str, int] = {}
    for column in columns:
        for marker, count in column.markers.items():
            total[marker] = total.get(marker, 0) + count
    return dict(sorted(total.items()))


def _add_numbers(gathered: Gathered, block: Source, j: int) -> bool:
    """Add a block of numbers to those there; False where it holds other values."""
    assert gathered.numbers is not None
    if block.kind == "text":
        # Looking for distinct labels would take longer than reading the numbers.
        try:
            numbers = block.numbers(j)
        except DataError:
            return False
        for marker, count in block.count_markers([j]).items():
            gathered.markers[marker] = gathered.markers.get(marker, 0) + count
    else:
        own = block.own_numbers(j)
        if own is None or np.isinf(own).any():
            return False
        numbers = block.numbers(j)
    gathered.n_rows += len(numbers)
    gathered.n_missing += int(np.count_nonzero(np.isnan(numbers)))
    gathered.forget_count()
    gathered.numbers.add(numbers)
    return True


def _hashes_of(values: Iterable[Label]) -> NDArray[np.int64]:
    return np.unique(np.fromiter(map(_hash, values), np.int64))


def _hash(value: object) -> int:
    """Return a hash that is the same in every process."""
    digest = hashlib.blake2b(repr(value).encode(errors="replace"), digest_size=8)
    return int.from_bytes(digest.digest(), "little", signed=True)


def _kind_of(column: Column) -> Kind:
    return _kind_of_labels(dict.fromkeys(column.values))


def _kind_of_labels(labels: dict[Label, Any]) -> Kind:
    """Return what values are that a category declares."""
    if all(isinstance(label, str) for label in labels):
        return "text"
    if all(isinstance(label, bool) for label in labels):
        return "boolean"
    is_plain = all(isinstance(x, (int, float)) for x in labels)
    return "number" if is_plain else "mixed"
