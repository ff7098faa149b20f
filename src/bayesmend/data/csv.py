"""Tables in files: delimited text by our own reader, Parquet and Arrow by a library.

Layer: the boundary of table -> IncompleteData, beside ``frames``.
"""

import csv
import gzip
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend.data.frames import open_table
from bayesmend.data.sources import Source
from bayesmend.data.states import MISSING, Column, listing, quantity
from bayesmend.errors import DataError, MissingDependencyError, ParameterError

TEXT_SUFFIXES = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None}
_FRAME_SUFFIXES = {".parquet", ".pq", ".arrow", ".feather", ".ipc"}
DELIMITERS = (",", "\t", ";", "|")


def open_source(table: Any) -> Source:
    """Return the columns of a table in memory or, given a path, of a file."""
    if not isinstance(table, (str, os.PathLike)):
        return open_table(table)
    path = Path(table)
    suffix = data_suffix(path)
    if suffix in TEXT_SUFFIXES:
        return CsvSource(path, None)
    if suffix in _FRAME_SUFFIXES and path.suffix != ".gz":
        return open_table(_read_frame(path, suffix))
    known = listing([*TEXT_SUFFIXES, ".csv.gz", *sorted(_FRAME_SUFFIXES)])
    message = (
        f"the suffix of {path.name!r} does not tell its format. Known: {known}. Use"
        " from_csv for delimited text of any name."
    )
    raise DataError(message)


def data_suffix(path: Path) -> str:
    """Return the suffix that tells the format, in lower case and without .gz."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


def check_delimiter(delimiter: str | None) -> str | None:
    """Check that a delimiter is one plain character, or None."""
    if delimiter is None:
        return None
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        message = (
            "delimiter must be one ASCII character other than a quote or a line end."
            f" Got {delimiter!r} instead."
        )
        raise ParameterError(message)
    return delimiter


class CsvSource(Source):
    """Delimited text: it is read once the numeric columns are known."""

    kind = "text"

    def __init__(self, path: str | os.PathLike[str], delimiter: str | None) -> None:
        self.path = Path(path)
        self._text = _read_bytes(self.path)
        self._delimiter = self._choose_delimiter(delimiter)
        self.headers, self.n_rows = (), 0
        header = _core.read_csv_header(self._text, self._delimiter)
        self._check(header.problem)
        self.headers = tuple(header.names)
        self._check_header(is_given=delimiter is not None)
        self._table: _core.CsvTable | None = None
        self._rows: list[list[str]] | None = None

    def prepare(
        self, names: tuple[str, ...], markers: frozenset[str], numeric: frozenset[int]
    ) -> None:
        """Settle names and markers, and read the text."""
        super().prepare(names, markers, numeric)
        is_number = np.zeros(len(names), dtype=np.uint8)
        is_number[list(numeric)] = 1
        table = _core.read_csv(self._text, self._delimiter, sorted(markers), is_number)
        self._check(table.problem)
        self._table, self.n_rows = table, table.n_rows

    def factor(self, position: int, keep: int) -> Column:
        """Return the labels of a column; its cells stay with the reader."""
        assert self._table is not None
        labels = self._table.labels(position)
        return Column(
            self.names[position],
            "text",
            tuple(labels),
            index=None,
            n_rows=self.n_rows,
            n_distinct=len(labels),
            is_bound=self._table.is_truncated(position),
        )

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return a numeric column as floats, NaN where missing."""
        assert self._table is not None
        numbers = self._table.numbers(position)
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            message = (
                f"variable {self.names[position]!r} has an infinite value"
                f"{self.place(int(wrong[0]))}. Replace it by a number, or by a missing"
                " value."
            )
            raise DataError(message)
        return numbers

    def values(self, position: int) -> list[str]:
        """Return the text of a column, read once more, however many labels it has."""
        if self._rows is None:
            self._rows = self._read_rows()
        return [row[position] for row in self._rows]

    def _read_rows(self) -> list[list[str]]:
        text = self._text.tobytes().decode("utf-8-sig")
        lines = (f"{line}\n" for line in text.split("\n"))
        try:
            rows = [row for row in csv.reader(lines, delimiter=self._delimiter) if row]
        except csv.Error as error:
            message = f"{self.path.name} has a field that cannot be kept: {error}."
            raise DataError(message) from error
        assert len(rows) == self.n_rows + 1, "both readers see the same rows"
        return rows[1:]

    @property
    def delimiter(self) -> str:
        """What separates the fields."""
        return self._delimiter

    def dtype(self, position: int) -> object:
        """Return None: text has no types."""
        return None

    def codes(
        self,
        positions: Sequence[int],
        columns: Sequence[Column | None],
        tables: Sequence[NDArray[np.uint8]],
    ) -> NDArray[np.uint8]:
        """Code the columns at the given positions; None is missing throughout."""
        assert self._table is not None
        full = np.full((len(positions), 256), MISSING, dtype=np.uint8)
        for row, table in zip(full, tables, strict=True):
            row[: len(table)] = table
        codes = self._table.codes(np.array(positions, dtype=np.int64), full)
        self._table = None  # the reader's own copy of the cells is no longer needed
        return codes.T

    def place(self, row: int) -> str:
        """Say on which line a row begins."""
        line = _core.csv_line(self._text, self._delimiter, row)
        return f" in line {line} of {self.path.name}"

    def place_of_value(self, column: Column, position: int) -> str:
        """Say on which line a label first occurs."""
        at, label = self.names.index(column.name), str(column.values[position])
        line = _core.csv_line_of_label(self._text, self._delimiter, at, label)
        return f" in line {line} of {self.path.name}"

    def _choose_delimiter(self, delimiter: str | None) -> str:
        if check_delimiter(delimiter) is not None:
            return str(delimiter)
        by_suffix = TEXT_SUFFIXES.get(data_suffix(self.path))
        if by_suffix is not None:
            return by_suffix
        line = self._first_line()
        return max(DELIMITERS, key=lambda mark: line.count(mark.encode()))

    def _first_line(self) -> bytes:
        return self._text[: 1 << 16].tobytes().split(b"\n")[0]

    def _check_header(self, *, is_given: bool) -> None:
        name = self.path.name
        if b'"' in self._first_line():
            return  # whoever quotes means what is inside
        if any("\r" in str(header) for header in self.headers):
            message = (
                f"{name} has carriage returns within its header. Save it with line"
                " ends \\n or \\r\\n."
            )
            raise DataError(message)
        header = str(self.headers[0])
        other = next((mark for mark in DELIMITERS if mark in header), None)
        if len(self.headers) == 1 and other and not is_given:
            message = (
                f"{name} has a single column named {header!r}. Pass delimiter={other!r}"
                f" to split it, or delimiter={self._delimiter!r} to keep it."
            )
            raise DataError(message)

    def _check(self, problem: _core.CsvProblem) -> None:
        if problem.kind:
            message = self.path.name + _sentence(problem, self.headers)
            raise DataError(message)


def _sentence(problem: _core.CsvProblem, headers: Sequence[object]) -> str:
    line = f", line {problem.line}"
    match problem.kind:
        case "no_header":
            return " is empty. Its first line must name the variables."
        case "ragged" if problem.found == 0:
            return f"{line} is blank. Remove it, or give its {problem.expected} fields."
        case "ragged":
            return (
                f"{line} has {quantity(problem.found, 'field')}, but the header has"
                f" {problem.expected}. Quote fields that contain the delimiter."
            )
        case "encoding":
            return (
                f"{line} is not UTF-8: byte {problem.position} cannot be read. Save the"
                " file as UTF-8."
            )
        case "open_quote":
            return (
                f"{line} opens a quote that never closes. Close it, or double the"
                " quotes inside a quoted field."
            )
        case "after_quote":
            return (
                f"{line} has text after a closing quote. Double the quotes inside a"
                " quoted field."
            )
    return (
        f"{line} has {problem.text!r} in column {headers[problem.column]!r}, which is"
        " not a number. Only numbers can be discretized or serve as weights."
    )


def _read_bytes(path: Path) -> NDArray[np.uint8]:
    # Read, not mapped: a file that shrinks under a mapping would kill the process.
    try:
        content = path.read_bytes()
    except OSError as error:
        message = f"cannot read {str(path)!r}: {error.strerror}."
        raise DataError(message) from error
    if content.startswith(b"\x1f\x8b"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            message = f"{path.name} is not a complete gzip file. Compress it again."
            raise DataError(message) from error
    return np.frombuffer(content, dtype=np.uint8)


def _read_frame(path: Path, suffix: str) -> Any:
    if not path.is_file():
        message = f"cannot read {str(path)!r}: no such file."
        raise DataError(message)
    is_parquet = suffix in (".parquet", ".pq")
    try:
        import polars as pl
    except ImportError:
        pl = None
    try:
        if pl is not None:
            return pl.read_parquet(path) if is_parquet else pl.read_ipc(path)
        return _read_with_pyarrow(path, is_parquet=is_parquet)
    except MissingDependencyError:
        raise
    except Exception as error:
        kind = "Parquet" if is_parquet else "Arrow"
        message = f"{path.name} is not a readable {kind} file: {error}."
        raise DataError(message) from error


def _read_with_pyarrow(path: Path, *, is_parquet: bool) -> Any:
    try:
        from pyarrow import feather, parquet
    except ImportError as error:
        message = (
            f"reading {path.name} needs polars or pyarrow. Install one: pip install"
            " 'bayesmend[frames]'."
        )
        raise MissingDependencyError(message) from error
    return parquet.read_table(path) if is_parquet else feather.read_table(path)
