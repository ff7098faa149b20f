"""Delimited text: a source of columns, and coded tables written to be read back."""

import csv
import gzip
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._files import PathLike, file_suffix, unpack
from bayesmend._spelling import spell
from bayesmend.data.files import FileOptions
from bayesmend.data.sources import (
    FRAME_SUFFIXES,
    KEPT_VALUES,
    Origin,
    Source,
    open_table,
    read_frame,
)
from bayesmend.data.states import (
    BLANKS,
    MISSING,
    Column,
    Label,
    check_markers,
    listing,
    quantity,
)
from bayesmend.errors import DataError, ParameterError

TEXT_SUFFIXES = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None}
DELIMITERS = (",", "\t", ";", "|")
_ROWS_AT_A_TIME = 1 << 16
_DETECT = FileOptions()


def open_source(table: Any, files: FileOptions = _DETECT) -> Source:
    """Return the columns of a table in memory or, given a path, of a file.

    What was found out about a file, and might be wrong, is in the ``notes`` of the
    source.
    """
    if not isinstance(table, (str, os.PathLike)):
        files.refuse("a table in memory")
        return open_table(table)
    path = Path(table)
    suffix = file_suffix(path)
    if suffix in TEXT_SUFFIXES:
        return CsvSource(path, files)
    if suffix in FRAME_SUFFIXES and path.suffix != ".gz":
        files.refuse(f"a {suffix} file")
        return open_table(read_frame(path))
    known = listing([*TEXT_SUFFIXES, ".csv.gz", *sorted(FRAME_SUFFIXES)])
    message = (
        f"the suffix of {path.name!r} does not tell its format. Known: {known}. Use"
        f" {spell('from_csv')} for delimited text of any name."
    )
    if path.is_dir():
        message = f"{str(path)!r} is a folder. Name a file in it."
    raise DataError(message)


class CsvSource(Source):
    """Delimited text: it is read once the numeric columns are known."""

    kind = "text"

    def __init__(self, path: PathLike, files: FileOptions = _DETECT) -> None:
        delimiter = files.delimiter
        self.path = Path(path)
        self.notes, self.marker_counts = [], {}
        self._text = _read_bytes(self.path)
        self._delimiter = self._choose_delimiter(delimiter)
        self.headers, self.n_rows = (), 0
        header = _core.read_csv_header(self._text, self._delimiter)
        self._check(header.problem)
        self.headers = tuple(header.names)
        self.dtypes = (None,) * len(self.headers)
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

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
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
        if delimiter is not None:
            return delimiter
        by_suffix = TEXT_SUFFIXES.get(file_suffix(self.path))
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
        if problem.kind != _core.CsvProblemKind.none:
            message = self.path.name + _sentence(problem, self.headers)
            raise DataError(message)


def _sentence(problem: _core.CsvProblem, headers: Sequence[object]) -> str:
    line = f", line {problem.line}"
    kinds = _core.CsvProblemKind
    match problem.kind:
        case kinds.no_header:
            return " is empty. Its first line must name the variables."
        case kinds.ragged if problem.found == 0:
            return f"{line} is blank. Remove it, or give its {problem.expected} fields."
        case kinds.ragged:
            return (
                f"{line} has {quantity(problem.found, 'field')}, but the header has"
                f" {problem.expected}. Quote fields that contain the delimiter."
            )
        case kinds.encoding:
            return (
                f"{line} is not UTF-8: byte {problem.position} cannot be read. Save the"
                " file as UTF-8."
            )
        case kinds.open_quote:
            return (
                f"{line} opens a quote that never closes. Close it, or double the"
                " quotes inside a quoted field."
            )
        case kinds.after_quote:
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
            content = unpack(content)
        except gzip.BadGzipFile as error:
            message = f"{path.name} is not a complete gzip file. Compress it again."
            raise DataError(message) from error
    return np.frombuffer(content, dtype=np.uint8)


def csv_chunks(
    names: Sequence[str],
    states: Sequence[tuple[Label, ...]],
    codes: NDArray[np.uint8],
    *,
    weights: tuple[str, NDArray[np.float64]] | None,
    missing: Iterable[str],
    delimiter: str,
) -> Iterator[bytes]:
    """Yield the text of a table piece by piece, the header first."""
    markers = check_markers(missing)
    hole = _missing_text(markers, has_missing=bool(np.any(codes == MISSING)))
    if hole == "" and len(names) == 1 and weights is None:
        hole = '""'  # a blank line is easily lost
    texts = [
        [*(_quoted(_plain_text(name, s, markers), delimiter) for s in labels), hole]
        for name, labels in zip(names, states, strict=True)
    ]
    yield _header([*names, *([weights[0]] if weights else [])], delimiter)
    cells = np.ascontiguousarray(codes.T)
    for first in range(0, len(codes), _ROWS_AT_A_TIME):
        last = min(first + _ROWS_AT_A_TIME, len(codes))
        extra = [_number_text(w) for w in weights[1][first:last]] if weights else []
        yield _core.write_csv_rows(cells, first, last, texts, extra, delimiter)


def text_chunks(
    names: Sequence[str], columns: Sequence[Sequence[str]], delimiter: str
) -> Iterator[bytes]:
    """Yield a table of plain text piece by piece, the header first.

    Slower than ``csv_chunks``, for columns with more labels than a variable has.
    """
    yield _header(names, delimiter)
    # An empty field needs quotes only where it would be a whole line.
    keep = len(names) == 1
    cells = [
        [_quoted(text, delimiter) if text or keep else "" for text in texts]
        for texts in columns
    ]
    for first in range(0, len(cells[0]), _ROWS_AT_A_TIME):
        block = [texts[first : first + _ROWS_AT_A_TIME] for texts in cells]
        lines = map(delimiter.join, zip(*block, strict=True))
        yield _encode("".join(f"{line}\n" for line in lines))


def label_texts(
    name: str,
    labels: Sequence[Label],
    codes: NDArray[np.uint8],
    missing: Iterable[str],
) -> list[str]:
    """Return the cells of a variable as text that reads back identically."""
    markers = check_markers(missing)
    hole = _missing_text(markers, has_missing=bool(np.any(codes == MISSING)))
    texts = [_plain_text(name, label, markers) for label in labels]
    texts += [hole] * (MISSING + 1 - len(texts))
    return [texts[code] for code in codes.tolist()]


def name_weights(
    weights: NDArray[np.float64] | None,
    origin: Origin,
    names: Sequence[str],
    name: str | None,
) -> tuple[str, NDArray[np.float64]] | None:
    """Return the weights with the name of their column, which they must have."""
    if weights is None and name is not None:
        message = f"the table has no row weights. Leave {spell('weights')} out."
        raise ParameterError(message)
    if weights is None:
        return None
    if name is None and origin.weights is not None:
        name = str(origin.weights[0])
    if name is None or name in names:
        message = "the row weights need a column of their own. Name it in weights=."
        raise ParameterError(message)
    return name, weights


def default_delimiter(path: PathLike) -> str:
    """Return the delimiter that reading chooses for a name."""
    return TEXT_SUFFIXES.get(file_suffix(path)) or ","


def _missing_text(markers: frozenset[str], *, has_missing: bool) -> str:
    if not has_missing or "" in markers:
        return ""
    if not markers:
        message = f"missing cells need a marker. Give one in {spell('missing')}."
        raise DataError(message)
    return min(markers)


def _header(names: Sequence[str], delimiter: str) -> bytes:
    quoted = (_quoted(name, *DELIMITERS, delimiter) for name in names)
    return _encode(delimiter.join(quoted) + "\n")


def _plain_text(name: str, state: Label, markers: frozenset[str]) -> str:
    text = _number_text(state) if isinstance(state, float) else str(state)
    if text.strip(BLANKS) in markers:
        message = (
            f"state {text!r} of variable {name!r} would read back as missing. Rename"
            f" it, or list other markers in {spell('missing')}."
        )
        raise DataError(message)
    _encode(text)
    return text


def _quoted(text: str, *marks: str) -> str:
    if text and not any(mark in text for mark in (*marks, '"', "\n", "\r")):
        return text
    return '"' + text.replace('"', '""') + '"'


def _number_text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        part = error.object[error.start : error.end]
        message = f"{part!r} cannot be written as UTF-8. Rename the variable or state."
        raise DataError(message) from None
