"""Delimited text: a source of columns, and coded tables written to be read back."""

import codecs
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend._files import PathLike, file_suffix, is_folder
from bayesmend._formulas import as_field
from bayesmend._spelling import spell
from bayesmend.data.excel import CELL_END, is_workbook, read_sheet
from bayesmend.data.files import (
    BLANK_RUNS,
    FileOptions,
    check_binary,
    check_markup,
    read_bytes,
)
from bayesmend.data.sniff import (
    Layout,
    byte_order_mark,
    find_encoding,
    is_grouped,
    sniff,
)
from bayesmend.data.sources import (
    FRAME_SUFFIXES,
    KEPT_VALUES,
    Origin,
    Source,
    open_frame,
    open_table,
)
from bayesmend.data.states import (
    BLANKS,
    MISSING,
    Column,
    Label,
    file_markers,
    is_marker,
    is_number_text,
    listing,
    marker_numbers,
    number_of_text,
    quantity,
)
from bayesmend.errors import DataError, ParameterError

TEXT_SUFFIXES = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": None}
DELIMITERS = (",", "\t", ";", "|")
_ROWS_AT_A_TIME = 1 << 16
_DETECT = FileOptions()
_MARKS = {"\t": "tabs", BLANK_RUNS: "blanks"}
GUESSED_ENCODINGS = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}


def open_source(table: Any, files: FileOptions = _DETECT) -> Source:
    """Return the columns of a table in memory or, given a path, of a file.

    A file is text unless its content says otherwise. What was found out about it, and
    might be wrong, is in the ``notes`` of the source.
    """
    if isinstance(table, Source):  # a block of a file, opened before
        return table
    if not isinstance(table, (str, os.PathLike)):
        files.refuse("a table in memory")
        return open_table(table)
    path = Path(table)
    suffix = file_suffix(path)
    if suffix in FRAME_SUFFIXES and path.suffix != ".gz" and not is_folder(path):
        files.refuse(f"a {suffix} file")
        return open_frame(path)
    return CsvSource(path, files)


class CsvSource(Source):
    """Delimited text: it is read once the markers are known."""

    kind = "text"
    path: Path

    def __init__(
        self,
        path: PathLike,
        files: FileOptions = _DETECT,
        content: bytes | None = None,
    ) -> None:
        """Open a file, or its content where that is at hand."""
        self.path = Path(path)
        self.notes: list[str] = []
        self.doubts: list[str] = []
        self.lines_before = 0
        self._if_ragged = ""
        self.marker_counts: dict[str, int] = {}
        self.headers, self.n_rows = (), 0
        self._table: _core.CsvTable | None = None
        self._described: dict[int, Column] = {}
        with self.explained():
            self._open(read_bytes(self.path) if content is None else content, files)
            first = _core.read_csv_header(self._text, self._format)
            self._check(first.problem)
            self._doubt_delimiter(first.names, files)
            self.headers = self._named(first.names)
        self.dtypes = (None,) * len(self.headers)

    def prepare(self, names: tuple[str, ...], markers: frozenset[str]) -> None:
        """Settle names and markers, and read the text."""
        super().prepare(names, markers)
        self._load()
        numbers = marker_numbers(markers)
        if numbers and (spellings := self._spellings(numbers) - markers):
            self.markers = markers | spellings
            self._load()
        self.marker_counts = self.count_markers(range(len(names)))

    def _load(self) -> None:
        """Read the text, now that the names and markers are known."""
        # What a column is, is found out later: none is read as numbers beforehand.
        as_text = np.zeros(len(self.names), dtype=np.uint8)
        markers = sorted(self.markers)
        table = _core.read_csv(self._text, self._format, markers, as_text)
        self._check(table.problem)
        self._table, self.n_rows = table, table.n_rows
        self._described.clear()

    def _spellings(self, numbers: frozenset[float]) -> frozenset[str]:
        """Return how the text writes some numbers, as -9.0 for -9."""
        wanted, mark, found = [*numbers], self.decimal, set[str]()
        for position in range(len(self.names)):
            texts = self._read.labels(position)
            if self._read.profile(position).is_numeric:
                there, problem = self._read.numbers(position)
                self._check(problem)
                if not np.isin(there, wanted).any():
                    continue
                texts = self._read.texts(position)
            cells = (text.strip(BLANKS) for text in set(texts))
            found |= {
                cell
                for cell in cells
                if is_number_text(cell, mark) and number_of_text(cell, mark) in numbers
            }
        return frozenset(found)

    def count_markers(self, positions: Iterable[int]) -> dict[str, int]:
        """Count the cells of some columns that each marker stands in."""
        total = np.zeros(len(self.markers), dtype=np.int64)
        for position in positions:
            total += np.array(self._read.marker_counts(position), dtype=np.int64)
        counts = zip(sorted(self.markers), total.tolist(), strict=True)
        return {marker: count for marker, count in counts if count}

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return the labels of a column; its cells stay with the reader."""
        # Asked for by every step of reading, and long to find among many labels.
        if position not in self._described:
            self._described[position] = self._describe(position)
        return self._described[position]

    def _describe(self, position: int) -> Column:
        profile = self._read.profile(position)
        wrong = self._first_infinite(position) if profile.is_numeric else None
        return Column(
            self.names[position],
            "text",
            tuple(self._read.labels(position)),
            index=None,
            n_rows=self.n_rows,
            n_distinct=profile.n_distinct,
            is_bound=profile.is_bound,
            n_missing=sum(self._read.marker_counts(position)),
            is_numeric=profile.is_numeric,
            decimal=self.decimal,
            trouble="" if wrong is None else self._infinite(position, wrong),
        )

    def _first_infinite(self, position: int) -> int | None:
        """Return the first row of a column of numbers that is beyond all of them."""
        numbers, problem = self._read.numbers(position)
        self._check(problem)
        wrong = np.flatnonzero(np.isinf(numbers))
        return int(wrong[0]) if wrong.size else None

    def _infinite(self, position: int, row: int) -> str:
        return (
            f"variable {self.names[position]!r} has an infinite value"
            f"{self.place(row)}. Replace it by a number, or by a missing value."
        )

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return a column as floats, NaN where missing; all its cells are numbers."""
        numbers, problem = self._read.numbers(position)
        self._check(problem)
        wrong = np.flatnonzero(np.isinf(numbers))
        if wrong.size:
            raise DataError(self._infinite(position, int(wrong[0])))
        return numbers

    def values(self, position: int) -> list[str]:
        """Return the text of a column, quotes undone, however many labels it has."""
        texts: list[str] = self._read.texts(position)
        return texts

    def codes(
        self,
        positions: Sequence[int],
        columns: Sequence[Column | None],
        tables: Sequence[NDArray[np.uint8]],
    ) -> NDArray[np.uint8]:
        """Code the columns at the given positions; None is missing throughout."""
        full = np.full((len(positions), 256), MISSING, dtype=np.uint8)
        for row, table in zip(full, tables, strict=True):
            row[: len(table)] = table
        codes = self._read.codes(np.array(positions, dtype=np.int64), full)
        self._read.forget_cells()  # its own copy of them is no longer needed
        return codes.T

    def place(self, row: int) -> str:
        """Say on which line a row begins."""
        line = self.lines_before + _core.csv_line(self._text, self._format, row)
        return f" in line {line} of {self.path.name}"

    def place_of_value(self, column: Column, position: int) -> str:
        """Say on which line a label first occurs."""
        at, label = self.names.index(column.name), str(column.values[position])
        line = _core.csv_line_of_label(self._text, self._format, at, label)
        line += self.lines_before
        return f" in line {line} of {self.path.name}"

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what the core holds: it is read again from the text."""
        state = dict(self.__dict__)
        state["_table"] = self._table is not None
        del state["_format"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        is_prepared = state.pop("_table")
        self.__dict__.update(state)
        self._table, self._format = None, _format_of(self._layout)
        if is_prepared:
            self.prepare(self.names, self.markers)
            self._read.forget_cells()

    @property
    def _read(self) -> _core.CsvTable:
        assert self._table is not None, "prepare() comes first"
        return self._table

    def _open(self, content: bytes, files: FileOptions) -> None:
        """Turn the content of a file into text whose layout is known."""
        header = files.header
        if header is None and files.names_given:
            header = False
        self._is_detected = header is None
        if is_workbook(content):
            files.refuse("a workbook", "sheet", "header")
            sheet = read_sheet(self.path, content, files.sheet)
            self.notes += sheet.notes
            text, layout = sheet.text, sheet.layout(header)
        else:
            files.refuse("delimited text", *_OF_TEXT)
            check_binary(self.path, content)
            text = self._decode(content, files.encoding)
            check_markup(self.path, text)
            self._check_zeros(text)
            layout = sniff(
                text,
                delimiter=files.delimiter,
                decimal=files.decimal,
                header=header,
                usual=TEXT_SUFFIXES.get(file_suffix(self.path)),
            )
        self._note_layout(layout, files)
        self._set_text(text, layout)

    def _decode(self, content: bytes, encoding: str | None) -> bytes:
        """Return the content in UTF-8."""
        name = encoding or find_encoding(content)
        mark, marked = byte_order_mark(content)
        if codecs.lookup(name).name in ("utf-8", "utf-8-sig"):
            return content  # the reader says where it is not
        try:
            # The mark may be of the encoding, or belong to its first letters.
            start = len(mark) if marked == name else 0
            text = content[start:].decode(name).removeprefix("\ufeff")
        except UnicodeError as error:
            position = getattr(error, "start", 0)
            line = 1 + content.count(b"\n", 0, position)
            message = (
                f"{self.path.name}, line {line} is not {name}: byte {position} cannot"
                f" be read. Give another {spell('encoding')}."
            )
            raise DataError(message) from None
        if encoding is None and name in GUESSED_ENCODINGS:
            self.notes.append(tell_encoding(name))
        return text.encode("utf-8", errors="replace")

    def _check_zeros(self, text: bytes) -> None:
        position = text.find(b"\0")
        if position < 0:
            return
        before = text[:position]
        line = 1 + max(before.count(b"\n"), before.count(b"\r")) + self.lines_before
        message = (
            f"{self.path.name}, line {line} has a NUL byte, so it is not plain text."
            " Save it as CSV in UTF-8."
        )
        raise DataError(message)

    def _note_layout(self, layout: Layout, files: FileOptions) -> None:
        looks_like = layout.looks_like
        if files.header is None and files.names_given and looks_like == "header":
            self.notes.append(
                "the first line looks like names but was read as data, because"
                f" {spell('names')} are given (set {spell('header', True)} to skip it)"
            )
        elif files.header is None and not files.names_given and not layout.has_header:
            self.notes.append(
                "the first line looks like data, so the columns are called x0, x1, ..."
                f" (set {spell('header', True)} if it holds names, or give"
                f" {spell('names')})"
            )
        if layout.has_comma:
            self.notes.append(
                "numbers have a decimal comma (write cut points as 1.5, with a point)"
            )
        if layout.doubtful:
            self.notes.append(_tell_doubt(layout.doubtful[0]))
        if layout.unread:
            self.notes.append(_tell_unread(layout.unread[0], layout.decimal))

    def _doubt_delimiter(self, first: Sequence[str], files: FileOptions) -> None:
        """Note a delimiter that was found out, for errors that it may cause."""
        mark = self._layout.delimiter
        if files.delimiter is not None or mark == CELL_END:
            return
        if len(first) == 1 and not first[0].isidentifier():
            self.doubts.append(
                f"the text was read as one column (set {spell('delimiter')} if it has"
                " more, and remove lines above the table)"
            )
        elif mark != TEXT_SUFFIXES.get(file_suffix(self.path)):
            called = _MARKS.get(mark, repr(mark))
            self._if_ragged = (
                f" Fields are taken to be parted by {called}; set {spell('delimiter')}"
                " for another."
            )

    def _set_text(self, text: bytes, layout: Layout) -> None:
        self._layout, begin = layout, layout.begin
        array = np.frombuffer(text, dtype=np.uint8)
        # What comes before the table stays, so that lines keep their numbers.
        given = array[begin:]
        rest = self._without_blanks(given)
        if rest is not given:
            array = np.concatenate([array[:begin], rest])
        self._format = _format_of(layout)
        if layout.first_line:
            blanks = layout.delimiter == BLANK_RUNS
            array = _with_mark(array, layout, "\t" if blanks else layout.delimiter)
        self.delimiter, self.decimal = layout.delimiter, layout.decimal
        self.has_header = layout.has_header
        self._text = array

    def _without_blanks(self, text: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Remove the blanks that belong to delimiters."""
        layout = self._layout
        blanks = layout.delimiter == BLANK_RUNS
        if not (blanks or layout.skips_blanks):
            return text
        delimiter = "\t" if blanks else layout.delimiter
        plain = _core.CsvFormat(delimiter, layout.line_end, layout.quote)
        return _core.without_blanks(text, plain, blanks)

    # What follows is for texts that are read block by block.

    @property
    def line_end(self) -> bytes:
        """What ends a line."""
        return self._layout.line_end.encode()

    def bytes_above_rows(self, text: bytes) -> int | None:
        """Return how many bytes of the text that was opened come before its rows.

        None where there are no rows.
        """
        if not self.has_header:
            return self._layout.begin
        end = _core.csv_end_of_rows(self._text, self._format, 1)
        if end == 0:
            return None
        # Blanks may have been removed, but lines stay.
        n_lines = self._text[:end].tobytes().count(self.line_end)
        position = 0
        for _ in range(n_lines):
            position = text.index(self.line_end, position) + 1
        return position

    def release_text(self) -> None:
        """Give up the text, of which all is known that a block needs."""
        self._text = np.empty(0, dtype=np.uint8)

    def end_of_rows(self, text: bytes) -> int:
        """Return where the last whole row of a text ends that begins with a row.

        Blank lines are left to the row after them, which alone makes them an error.
        """
        end = self._last_whole(text)
        filled = len(text[:end].rstrip(b"\r\n"))
        return text.find(self.line_end, filled, end) + 1 if filled else 0

    def _last_whole(self, text: bytes) -> int:
        if self._layout.quote.encode() not in text:
            return text.rfind(self.line_end) + 1
        plain = self._without_blanks(np.frombuffer(text, dtype=np.uint8))
        layout = replace(self._layout, has_header=False, begin=0)
        end = _core.csv_end_of_rows(plain, _format_of(layout), len(text))
        n_after = plain[end:].tobytes().count(self.line_end)
        position = len(text) if end else -1
        for _ in range(n_after + 1 if end else 0):
            position = text.rfind(self.line_end, 0, position)
        return position + 1

    def begin_rows(self, begun: "CsvSource", text: bytes) -> None:
        """Take some rows of a text that was begun to be read."""
        self.n_rows, self.marker_counts = 0, {}
        self._if_ragged, self._is_detected = begun._if_ragged, False
        self._table, self._described = None, {}
        layout = replace(begun._layout, has_header=True, begin=0, first_line="")
        quote, mark = layout.quote, layout.delimiter
        names = (str(name).replace(quote, 2 * quote) for name in begun.headers)
        line = ("\t" if mark == BLANK_RUNS else mark).join(
            f"{quote}{name}{quote}" for name in names
        )
        first = f"{line}{layout.line_end}".encode()
        self.lines_before -= first.count(layout.line_end.encode())
        self._set_text(first + text, layout)

    def _named(self, fields: Sequence[str]) -> tuple[object, ...]:
        """Return the names of the columns, made up where the file has none."""
        if not self.has_header:
            return tuple(f"x{j}" for j in range(len(fields)))
        names = list(fields)
        if not self._is_quoted_first():  # whoever quotes means what is inside
            names = [name.strip(BLANKS) for name in names]
        nameless = [j for j, name in enumerate(names) if not name]
        for j in nameless:
            names[j] = _free_name(f"x{j}", names)
        if nameless:
            called = listing((names[j] for j in nameless), 6)
            verb = (
                "has no name and is" if len(nameless) == 1 else "have no name and are"
            )
            self.notes.append(
                f"{quantity(len(nameless), 'column')} {verb} called {called}"
            )
        numbers = [name for name in names if is_number_text(name)]
        if numbers and self._layout.looks_like != "header" and self._is_detected:
            self.notes.append(
                f"the first line was taken as names, though {numbers[0]} is a number"
                f" (set {spell('header', False)} if it is data)"
            )
        return tuple(names)

    def _is_quoted_first(self) -> bool:
        """Tell whether the first line has a quote."""
        first = self._text[self._layout.begin :][: 1 << 16].tobytes()
        line = first.split(self._layout.line_end.encode(), 1)[0]
        return self._layout.quote.encode() in line

    def _check(self, problem: _core.CsvProblem) -> None:
        if problem.kind != _core.CsvProblemKind.none:
            top = "header" if self.has_header else "first line"
            is_below = self.lines_before + problem.line == 2
            if problem.kind == _core.CsvProblemKind.ragged and is_below:
                self.doubts.clear()  # the line below shows that there are more columns
            line = self.lines_before + problem.line
            message = self.path.name + _sentence(problem, line, self.headers, top)
            if problem.kind == _core.CsvProblemKind.ragged and problem.found > 0:
                message += self._if_ragged
            raise DataError(message)


_OF_TEXT = ("delimiter", "decimal", "encoding", "header")


def tell_encoding(name: str) -> str:
    """Say that an encoding was guessed."""
    called = GUESSED_ENCODINGS[name]
    return (
        f"the text is not UTF-8 and was read as {called} (set {spell('encoding')} for"
        " another)"
    )


def _format_of(layout: Layout) -> _core.CsvFormat:
    """Return how the core is to read a text whose runs of blanks are tabs."""
    return _core.CsvFormat(
        "\t" if layout.delimiter == BLANK_RUNS else layout.delimiter,
        layout.line_end,
        layout.quote,
        layout.decimal,
        layout.has_header,
        layout.begin,
    )


def _tell_doubt(number: str) -> str:
    """Say how a number was read that may have decimals or thousands."""
    comma = spell("decimal", ",")
    if "," in number:
        hint = f"text (set {comma} if the comma comes before decimals)"
    else:
        hint = f"a number with decimals (set {comma} if the point parts thousands)"
    return f"{number!r} was read as {hint}"


def _tell_unread(number: str, decimal: str) -> str:
    """Say why a number is text."""
    if is_grouped(number):
        mark = "points" if "." in number else "commas"
        hint = f"remove the {mark} between thousands to have numbers"
    else:
        other = "point" if decimal == "." else "comma"
        hint = f"numbers elsewhere have a decimal {other}"
    return f"{number!r} was read as text ({hint})"


def _free_name(name: str, names: Sequence[str]) -> str:
    while name in names:
        name += "_"
    return name


def _with_mark(
    array: NDArray[np.uint8], layout: Layout, delimiter: str
) -> NDArray[np.uint8]:
    """Give the first line the delimiter of a column that it does not name."""
    at = layout.begin
    if layout.first_line == "after":
        line = array[at:].tobytes().split(layout.line_end.encode(), 1)[0]
        at += len(line.removesuffix(b"\r"))
    return np.insert(array, at, ord(delimiter))


def _sentence(
    problem: _core.CsvProblem, number: int, headers: Sequence[object], top: str
) -> str:
    line = f", line {number}"
    is_below = number == 2 and not 0 < problem.found < problem.expected
    title = "; if line 1 is a title, remove it" if is_below else ""
    kinds = _core.CsvProblemKind
    match problem.kind:
        case kinds.no_header:
            return " is empty. Its first line must name the variables."
        case kinds.ragged if problem.found == 0:
            return (
                f"{line} is blank. Remove it, or give its {problem.expected} fields"
                f"{title}."
            )
        case kinds.ragged:
            return (
                f"{line} has {quantity(problem.found, 'field')}, but the {top} has"
                f" {problem.expected}. Quote fields that contain the delimiter{title}."
            )
        case kinds.encoding:
            return (
                f"{line} is not UTF-8: byte {problem.position} cannot be read. Save the"
                f" file as UTF-8, or give its {spell('encoding')}."
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


def csv_chunks(
    names: Sequence[str],
    states: Sequence[tuple[Label, ...]],
    codes: NDArray[np.uint8],
    *,
    weights: tuple[str, NDArray[np.float64]] | None,
    missing: object,
    delimiter: str,
    decimal: str = ".",
) -> Iterator[bytes]:
    """Yield the text of a table piece by piece, the header first."""
    markers = file_markers(missing)
    is_alone = len(names) == 1 and weights is None
    quoted = _quoter(delimiter, decimal, is_alone=is_alone)
    hole = missing_text(markers, has_missing=bool(np.any(codes == MISSING)))
    if hole == "" and is_alone:
        hole = '""'  # a blank line is easily lost
    texts = [
        [*(_with_blanks(quoted, plain_text(name, s, markers)) for s in labels), hole]
        for name, labels in zip(names, states, strict=True)
    ]
    yield _header([*names, *([weights[0]] if weights else [])], delimiter)
    cells = np.ascontiguousarray(codes.T)
    for first in range(0, len(codes), _ROWS_AT_A_TIME):
        last = min(first + _ROWS_AT_A_TIME, len(codes))
        extra = [_number_text(w) for w in weights[1][first:last]] if weights else []
        yield _core.write_csv_rows(cells, first, last, texts, extra, delimiter)


def text_chunks(
    names: Sequence[str],
    columns: Sequence[Sequence[str]],
    delimiter: str,
    decimal: str = ".",
) -> Iterator[bytes]:
    """Yield a table of plain text piece by piece, the header first.

    Slower than ``csv_chunks``, for columns with more labels than a variable has.
    """
    yield _header(names, delimiter)
    quoted = _quoter(delimiter, decimal, is_alone=len(names) == 1)
    # An empty field needs quotes only where it would be a whole line.
    blank = quoted("") if len(names) == 1 else ""
    cells = []
    for texts in columns:
        fields = {text: quoted(text) if text else blank for text in set(texts)}
        cells.append([fields[text] for text in texts])
    for first in range(0, len(cells[0]), _ROWS_AT_A_TIME):
        block = [texts[first : first + _ROWS_AT_A_TIME] for texts in cells]
        lines = map(delimiter.join, zip(*block, strict=True))
        yield _encode("".join(f"{line}\n" for line in lines))


def label_texts(
    name: str,
    labels: Sequence[Label],
    codes: NDArray[np.uint8],
    missing: object,
) -> list[str]:
    """Return the cells of a variable as text that reads back identically."""
    markers = file_markers(missing)
    hole = missing_text(markers, has_missing=bool(np.any(codes == MISSING)))
    texts = [plain_text(name, label, markers) for label in labels]
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


def default_delimiter(path: PathLike, read: str = ",") -> str:
    r"""Return a tab for a name that says so, else the delimiter that was read.

    Examples
    --------
    >>> default_delimiter("a.csv", ";"), default_delimiter("a.tsv", ";")
    (';', '\t')
    >>> default_delimiter("a.csv", "blanks")
    ','
    """
    if TEXT_SUFFIXES.get(file_suffix(path)) == "\t":
        return "\t"
    return read if read in DELIMITERS else ","


def missing_text(markers: frozenset[str], *, has_missing: bool) -> str:
    """Return the text of a missing cell: empty, where there are markers at all."""
    if has_missing and not markers:
        message = f"missing cells need a marker. Give one in {spell('missing')}."
        raise DataError(message)
    return ""


def _header(names: Sequence[str], delimiter: str) -> bytes:
    quoted = (_quoted(name, *DELIMITERS, delimiter) for name in names)
    return _encode(delimiter.join(quoted) + "\n")


def plain_text(name: str, state: object, markers: frozenset[str]) -> str:
    """Return a cell of a variable as text that does not read back as missing."""
    text = _number_text(state) if isinstance(state, float) else str(state)
    if is_marker(text, markers):
        how = spell("missing", [] if not text.strip(BLANKS) else [""])
        if how.startswith("missing="):
            how = f"write_csv(..., {how})"
        message = (
            f"state {text!r} of variable {name!r} would read back as missing. Rename"
            f" it, or list other markers: {how}."
        )
        raise DataError(message)
    _encode(text)
    return text


def _quoted(text: str, *marks: str) -> str:
    text = as_field(text)
    if text and not any(mark in text for mark in (*marks, '"', "\n", "\r")):
        return text
    return '"' + text.replace('"', '""') + '"'


def _quoter(delimiter: str, decimal: str, *, is_alone: bool) -> Callable[[str], str]:
    """Return what quotes a field, so that the delimiter is found when read back.

    A comma before decimals needs no quotes where it parts no fields, unless the column
    is alone: then no delimiter speaks for itself.
    """
    marks = (*DELIMITERS, delimiter)
    others = tuple(mark for mark in marks if mark != ",")
    has_commas = decimal == "," != delimiter and not is_alone

    def quoted(text: str) -> str:
        is_plain = has_commas and is_number_text(text, ",")
        return _quoted(text, *(others if is_plain else marks))

    return quoted


def _with_blanks(quoted: Callable[[str], str], text: str) -> str:
    """Quote a blank at the beginning too, which might belong to the delimiter."""
    field = quoted(text)
    return f'"{text}"' if field == text and text[0] in BLANKS else field


def _number_text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        part = error.object[error.start : error.end]
        message = f"{part!r} cannot be written as UTF-8. Rename the variable or state."
        raise DataError(message) from None
