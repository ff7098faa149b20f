"""A table in several files, or in one too large to hold: read batch by batch.

The files are the parts of one table, one below the other. They are read once, into one
byte per cell; numbers that are more than states go to a temporary file meanwhile. What
comes out is what reading all of them as one table would give: the same columns, states
in the same order, the same intervals.
"""

from __future__ import annotations

import glob
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._clock import available_memory
from bayesmend._files import PathLike, file_suffix, is_file
from bayesmend._limits import max_unpacked
from bayesmend._spelling import spell
from bayesmend.data.blocks import BlockFile, kind_of, open_blocks
from bayesmend.data.csv import open_source
from bayesmend.data.files import FileOptions
from bayesmend.data.gathered import Gathered, Gathering, total_markers
from bayesmend.data.sources import FRAME_SUFFIXES, KEPT_VALUES, Source
from bayesmend.data.states import (
    MISSING,
    Column,
    Label,
    apply_codes,
    listing,
    name_listing,
    number_of,
)
from bayesmend.errors import DataError, OutOfMemoryError

__all__ = ["PartsSource", "files_of", "open_any", "open_parts", "tell_redeclared"]

WHOLE_TEXT = 1 << 28
"""Text of more bytes is read in batches."""

_WHOLE_PACKED = 1 << 25  # bytes of text that gzip packed


def open_any(table: Any, files: FileOptions) -> Source:
    """Return the columns of a table in memory, in a file, or in several."""
    paths = files_of(table)
    return open_source(table, files) if paths is None else PartsSource(paths, files)


def files_of(table: Any) -> list[Path] | None:
    """Return the files that a table is to be read from in batches.

    None for a table in memory, and for a file that is read whole.
    """
    if isinstance(table, (list, tuple)):
        if not table or not all(isinstance(p, (str, os.PathLike)) for p in table):
            return None
        return [path for part in table for path in _files_named(part)]
    if not isinstance(table, (str, os.PathLike)):
        return None
    path = Path(table)
    if is_file(path):
        return [path] if _is_large(path) else None
    return _files_named(table) if glob.has_magic(os.fspath(table)) else None


def _files_named(part: PathLike) -> list[Path]:
    """Return a file, or those that a pattern stands for, in order of their names."""
    if is_file(Path(part)) or not glob.has_magic(os.fspath(part)):
        return [Path(part)]
    names = sorted(glob.glob(os.fspath(part), recursive=True), key=_in_order)  # noqa: PTH207
    files = [path for path in map(Path, names) if is_file(path)]
    if not files:
        message = f"no file is called like {os.fspath(part)!r}."
        raise DataError(message)
    return files


def _in_order(name: str) -> list[tuple[bool, int, str]]:
    """Sort names with numbers as numbers: part-10 comes after part-9.

    Examples
    --------
    >>> sorted(["p10.csv", "p9.csv"], key=_in_order)
    ['p9.csv', 'p10.csv']
    """
    pieces: list[tuple[bool, int, str]] = []
    digits = ""
    for letter in [*name, ""]:
        if letter.isascii() and letter.isdigit():
            digits += letter
            continue
        if digits:
            pieces.append((False, int(digits), digits))
            digits = ""
        pieces.append((True, 0, letter))
    return pieces


def _is_large(path: Path) -> bool:
    """Tell whether a file is too large to be read whole."""
    suffix = file_suffix(path)
    n_bytes = path.stat().st_size
    if path.suffix.lower() == ".gz":
        return n_bytes > _WHOLE_PACKED
    if suffix not in FRAME_SUFFIXES:
        return n_bytes > WHOLE_TEXT
    if 256 * n_bytes < max_unpacked():  # such a one never has so many cells
        return False
    file = open_blocks(path, FileOptions())
    return 8 * (file.n_rows or 0) * len(file.headers) > max_unpacked()


class PartsSource(Source):
    """The files of a table, read batch by batch."""

    is_kept = False

    def __init__(self, paths: Sequence[Path], files: FileOptions) -> None:
        self.notes: list[str] = []
        self.parts = open_parts(paths, files, self.notes)
        first = self.parts[0]
        self.path = first.path if len(self.parts) == 1 else None
        self.kind = first.kind
        self.headers, self.dtypes = first.headers, first.dtypes
        self.decimal, self.delimiter = first.decimal, first.delimiter
        self.notes += [note for note in first.notes if note not in self.notes]
        self.doubts = first.doubts
        self.n_rows = 0
        self._gathered: list[Gathered] = []
        self._begins: list[tuple[int, str, int]] = []  # row, file, row of the file
        _check_room(
            sum(part.expected_rows for part in self.parts) * len(self.headers),
            self.called,
        )

    @property
    def called(self) -> str:
        """What messages call the table."""
        if self.path is not None:
            return self.path.name
        return f"the table of {len(self.parts)} files"

    def prepare(self, names: tuple[str, ...], markers: frozenset[str]) -> None:
        """Settle names and markers, and read all files."""
        super().prepare(names, markers)
        found = self._gather()
        if found - markers:  # numbers as the files write them
            self.markers = markers | found
            self._gather()
        total: dict[str, int] = {}
        for gathered in self._gathered:
            for marker, count in gathered.markers.items():
                total[marker] = total.get(marker, 0) + count
        self.marker_counts = {m: total[m] for m in sorted(total)}
        self.notes += tell_redeclared(self._gathered)

    def _gather(self) -> frozenset[str]:
        """Read all files; return the markers that they were read with."""
        gathering = Gathering(self.names, self.decimal)
        for block, called in self._blocks():
            gathering.take(block, called)
            _check_room(float(block.n_rows * len(self.names)), self.called)
        gathering.finish()
        self._gathered, self.n_rows = gathering.columns, gathering.n_rows
        return self.markers | gathering.markers

    def _blocks(self) -> Iterator[tuple[Source, str]]:
        """Read the files, block by block, each prepared, with the name of its file."""
        first_row = 0
        self._begins = []
        for part in self.parts:
            row_of_file = 0
            for block in part.blocks():
                block.first_row = row_of_file
                block.prepare(self.names, self.markers)
                self._begins.append((first_row, part.path.name, row_of_file))
                yield block, part.path.name
                row_of_file += block.n_rows
                first_row += block.n_rows

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return the labels of a column; its cells stay here."""
        return self._gathered[position].column()

    def count_markers(self, positions: Iterable[int]) -> dict[str, int]:
        """Count the cells of some columns that each marker stands in."""
        return total_markers(self._gathered[position] for position in positions)

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return a column as floats, NaN where missing; dates as seconds since 1970."""
        gathered = self._gathered[position]
        if gathered.numbers is not None:
            return gathered.numbers.all
        column = gathered.column()
        if column.kind == "date":
            return self.dates(position)
        if column.trouble:
            raise DataError(column.trouble)
        if gathered.packed is None:
            return np.concatenate([b.numbers(position) for b, _ in self._blocks()])
        table = np.full(MISSING + 1, np.nan)
        for k, value in enumerate(column.values):
            table[k] = number_of(value, self.decimal)
            if np.isnan(table[k]):
                message = (
                    f"variable {column.name!r} has the value {value!r}"
                    f"{self.place_of_value(column, k)}, which is not a number. Only"
                    " numbers can be discretized or serve as weights."
                )
                raise DataError(message)
        numbers: NDArray[np.float64] = table[gathered.packed.cells]
        return numbers

    def dates(self, position: int) -> NDArray[np.float64]:
        """Return a column of dates or of ISO text as seconds, NaN where missing."""
        blocks = [block.dates(position) for block, _ in self._blocks()]
        return np.concatenate(blocks) if blocks else np.empty(0)

    def values(self, position: int) -> list[Any]:
        """Return the labels of a column, or where there are many its own cells."""
        gathered = self._gathered[position]
        if gathered.packed is None:
            blocks = (block.values(position) for block, _ in self._blocks())
            return [value for values in blocks for value in values]
        labels: dict[int, Label] = dict(enumerate(gathered.labels))
        return [labels.get(code) for code in gathered.packed.cells.tolist()]

    def codes(
        self,
        positions: Sequence[int],
        columns: Sequence[Column | None],
        tables: Sequence[NDArray[np.uint8]],
    ) -> NDArray[np.uint8]:
        """Code the columns at the given positions; None is missing throughout."""
        # Pages are taken as they are written, and those of packed cells given back.
        codes = np.empty((self.n_rows, len(columns)), dtype=np.uint8, order="F")
        for k, (j, column, table) in enumerate(
            zip(positions, columns, tables, strict=True)
        ):
            if column is None:
                codes[:, k] = MISSING
                continue
            packed = self._gathered[j].packed
            if packed is None:
                codes[:, k] = self._coded_again(j, column, table)
                continue
            apply_codes(table, packed.cells, codes[:, k])
            packed.release()
        return codes

    def _coded_again(
        self, position: int, column: Column, table: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Code a column of more labels than are packed, as its files are read again."""
        known = {value: int(table[k]) for k, value in enumerate(column.values)}
        cells = (known.get(value, MISSING) for value in self.values(position))
        return np.fromiter(cells, np.uint8, self.n_rows)

    def place(self, row: int) -> str:
        """Say in words where a row is."""
        if not self._begins:
            return f" in row {row}"
        at = bisect_right(self._begins, row, key=lambda begin: begin[0]) - 1
        first, called, row_of_file = self._begins[max(at, 0)]
        return f" in row {row - first + row_of_file} of {called}"

    def place_of_value(self, column: Column, position: int) -> str:
        """Say in words where a distinct value first occurs; empty when nowhere."""
        packed = self._gathered[self.names.index(column.name)].packed
        if packed is None:
            return ""
        rows = np.flatnonzero(packed.cells == position)
        return self.place(int(rows[0])) if rows.size else ""


def tell_redeclared(columns: Iterable[Gathered]) -> list[str]:
    """Say that parts of a table declare different states."""
    names = [column.name for column in columns if column.is_redeclared]
    if not names:
        return []
    return [
        f"the files declare different states of {name_listing(names, 6)}, so that those"
        f" that occur are taken (list them with {spell('states', {names[0]: ...})})"
    ]


def open_parts(
    paths: Sequence[Path], files: FileOptions, notes: list[str]
) -> list[BlockFile]:
    """Open all files, which must have the columns of the first one."""
    filled = [path for path in paths if not is_file(path) or path.stat().st_size]
    hollow = [path.name for path in paths if path not in filled]
    if hollow:
        if not filled:
            message = f"{listing(hollow)}: there is nothing in it."
            raise DataError(message)
        notes.append(f"no bytes, hence no rows, are in {listing(hollow, 6)}")
    parts: list[BlockFile] = []
    for path in filled:
        if parts and kind_of(path) != parts[0].kind:
            message = (
                f"{path.name} and {parts[0].path.name} are files of different kinds."
                " Give all parts of a table one format."
            )
            raise DataError(message)
        part = open_blocks(path, files)
        if parts:
            _check_alike(parts[0], part)
        else:
            files = part.like(files)
        parts.append(part)
    return parts


def _check_alike(first: BlockFile, part: BlockFile) -> None:
    """Refuse a part that has not the columns of the first, in their order."""
    if part.headers == first.headers:
        return
    one, other = [list(map(str, file.headers)) for file in (first, part)]
    lacking = [name for name in one if name not in other]
    added = [name for name in other if name not in one]
    if lacking:
        what = f"lacks {name_listing(map(repr, lacking), 6)}, which {first.path.name}"
        end = "has. Add what is missing, or leave that file out."
    elif added:
        what = f"has {name_listing(map(repr, added), 6)}, which {first.path.name}"
        end = "lacks. Drop it there, or leave that file out."
    else:
        at = next(
            j
            for j, pair in enumerate(zip(one, other, strict=True))
            if len(set(pair)) > 1
        )
        what = (
            f"has the columns of {first.path.name} in another order: column {at + 1} is"
            f" {other[at]!r} instead of {one[at]!r}."
        )
        end = "Write them in one order."
    message = f"{part.path.name} {what} {end}"
    raise DataError(message)


def _check_room(n_cells: float, called: str) -> None:
    """Refuse a table whose cells do not fit into memory, a byte each."""
    room = available_memory()
    if n_cells > room:
        message = (
            f"{called} needs about {n_cells / 2**30:,.1f} GiB for its cells, a byte"
            f" each, and {room / 2**30:,.1f} GiB of memory are free. Read some of the"
            " files, drop columns, or use more machines."
        )
        raise OutOfMemoryError(message)
