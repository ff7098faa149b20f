"""Sheets of a workbook, as text that the reader of delimited text takes.

A sheet becomes text so that whatever holds for files of text holds for it too. Marks
that no cell contains part its cells and rows, so nothing needs quotes and the line of
a row is its number in the sheet.
"""

import datetime
import io
import warnings
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bayesmend._files import max_unpacked
from bayesmend._spelling import spell
from bayesmend.data.numbers import as_one_format
from bayesmend.data.sniff import Layout, first_row_looks_like
from bayesmend.data.states import listing
from bayesmend.errors import DataError, MissingDependencyError, ParameterError

CELL_END, ROW_END = "\x1f", "\x1e"
_LOOKED_AT = 1000


def is_workbook(content: bytes) -> bool:
    """Tell whether bytes are an .xlsx workbook: an archive with known parts."""
    return content.startswith(b"PK\x03\x04") and b"xl/workbook.xml" in content


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cells of a sheet as rows of text, and notes on how it was chosen."""

    rows: list[list[str]]
    notes: list[str]

    @property
    def text(self) -> bytes:
        """All cells in UTF-8; every row has as many."""
        lines = map(CELL_END.join, self.rows)
        return ROW_END.join(lines).encode("utf-8", errors="replace")

    def layout(self, header: bool | None) -> Layout:
        """Tell how the text is laid out; empty rows above the table do not count."""
        above = next((k for k, row in enumerate(self.rows) if any(row)), 0)
        filled = self.rows[above : above + _LOOKED_AT]
        looks_like = first_row_looks_like(filled)
        return Layout(
            delimiter=CELL_END,
            skips_blanks=False,
            line_end=ROW_END,
            quote="\0",
            decimal=".",
            has_header=looks_like != "data" if header is None else header,
            begin=above * (len(self.rows[0]) if self.rows else 0),
            looks_like=looks_like,
        )


def read_sheet(path: Path, content: bytes, sheet: str | int | None) -> Sheet:
    """Read a sheet of a workbook, the first one with cells unless one is named."""
    try:
        import openpyxl
    except ImportError as error:
        message = (
            f"reading {path.name} needs openpyxl. Install it: pip install"
            " 'bayesmend[excel]'. Or save the sheet as CSV."
        )
        raise MissingDependencyError(message) from error
    try:
        _check_size(path, content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles, charts and dates beyond 9999
            book = openpyxl.load_workbook(
                io.BytesIO(content), read_only=True, data_only=True
            )
            sheets = {one.title: _rows(one) for one in book.worksheets}
    except DataError:
        raise
    except Exception as error:
        message = f"{path.name} is not a readable workbook: {error}."
        raise DataError(message) from error
    name, notes = _choose(path, sheets, sheet)
    return Sheet(_aligned(sheets[name]), notes)


def _check_size(path: Path, content: bytes) -> None:
    """Refuse a workbook that unpacks to more than is allowed."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        n_bytes = sum(part.file_size for part in archive.infolist())
    if n_bytes > max_unpacked():
        message = (
            f"{path.name} unpacks to {n_bytes:,} bytes. Save the sheet as CSV, or raise"
            " the environment variable BAYESMEND_MAX_UNPACKED."
        )
        raise DataError(message)


def _aligned(rows: list[list[str]]) -> list[list[str]]:
    """Make all rows equally long, without columns that are empty on the left."""
    width = max(map(len, rows), default=0)
    starts = (next((j for j, text in enumerate(row) if text), width) for row in rows)
    left = min(starts, default=0)
    return [(row + [""] * (width - len(row)))[left:] for row in rows]


def _rows(sheet: Any) -> list[list[str]]:
    """Return the cells of a sheet as text, without what is empty at the end."""
    table = list(sheet.iter_rows(values_only=True))
    writers = [_date_writer(column) for column in zip_longest(*table)]
    rows = []
    for cells in table:
        texts = [_text(*pair) for pair in zip(cells, writers, strict=False)]
        while texts and not texts[-1]:
            texts.pop()
        rows.append(texts)
    while rows and not rows[-1]:
        rows.pop()
    return rows


def _date_writer(column: Iterable[object]) -> Callable[[datetime.date], str]:
    """Return what writes the dates of a column: all with a time, or all without."""
    moments = [cell for cell in column if isinstance(cell, datetime.datetime)]
    if any(moment.time() != datetime.time() for moment in moments):
        return as_one_format(moments)
    return lambda moment: str(
        moment.date() if isinstance(moment, datetime.datetime) else moment
    )


def _text(cell: object, write_date: Callable[[datetime.date], str]) -> str:
    if cell is None:
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    if isinstance(cell, datetime.date):
        return write_date(cell)
    return str(cell).replace(CELL_END, " ").replace(ROW_END, " ").replace("\0", " ")


def _choose(
    path: Path, sheets: dict[str, list[list[str]]], sheet: str | int | None
) -> tuple[str, list[str]]:
    names = list(sheets)
    if isinstance(sheet, str):
        if sheet not in sheets:
            message = f"{path.name} has no sheet {sheet!r}. It has: {listing(names)}."
            raise ParameterError(message)
        return sheet, []
    if sheet is not None:
        if sheet >= len(names):
            message = (
                f"{path.name} has {len(names)} sheets, numbered from 0. Got"
                f" {spell('sheet', sheet)}."
            )
            raise ParameterError(message)
        return names[sheet], []
    filled = [name for name in names if sheets[name]]
    if not filled:
        message = f"{path.name} is empty. Its first row must name the variables."
        raise DataError(message)
    if len(filled) == 1:
        return filled[0], []
    note = (
        f"there are {len(filled)} sheets with cells ({listing(filled, 6)}), and"
        f" {filled[0]!r} was read (set {spell('sheet')} for another)"
    )
    return filled[0], [note]
