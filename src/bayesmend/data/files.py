"""The file a table is in: what a caller says of it, its bytes, and what it is not."""

import gzip
import re
from dataclasses import dataclass, fields
from pathlib import Path

from bayesmend._files import file_suffix, is_folder, unpack
from bayesmend._spelling import spell
from bayesmend.errors import DataError, ParameterError

BLANK_RUNS = "blanks"
"""The delimiter of files whose fields are parted by runs of blanks."""


@dataclass(frozen=True, slots=True)
class FileOptions:
    """How a file is to be read; None is found out from the file.

    Parameters
    ----------
    delimiter : str, optional
        One character, or "blanks" for runs of blanks.
    decimal : {".", ","}, optional
        The mark before the decimals of a number.
    encoding : str, optional
        Name of the encoding, as Python knows it.
    header : bool, optional
        Whether the first line names the columns.
    sheet : str or int, optional
        Name or number (from 0) of the sheet of a workbook.
    names_given : bool, default=False
        Whether the caller names the columns: then no line does, unless ``header``
        says so.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | int | None = None
    names_given: bool = False

    def __post_init__(self) -> None:
        check_delimiter(self.delimiter)
        if self.decimal not in (None, ".", ","):
            message = f"decimal must be '.' or ','. Got {self.decimal!r} instead."
            raise ParameterError(message)
        if self.header not in (None, True, False):
            message = f"header must be True or False. Got {self.header!r} instead."
            raise ParameterError(message)
        _check_encoding(self.encoding)
        _check_sheet(self.sheet)

    def refuse(self, what: str, *allowed: str) -> None:
        """Refuse options that mean nothing for a table, which is called by a noun."""
        for option in fields(self):
            value = getattr(self, option.name)
            if option.name in (*allowed, "names_given") or value is None:
                continue
            message = (
                f"{spell(option.name, value)} has no part in reading {what}. Leave it"
                " out."
            )
            raise ParameterError(message)


def check_delimiter(delimiter: str | None) -> str | None:
    """Check that a delimiter is one plain character, "blanks" or None."""
    if delimiter == BLANK_RUNS:
        return delimiter
    return check_character(delimiter, f", or {BLANK_RUNS!r}")


def check_character(delimiter: str | None, otherwise: str = "") -> str | None:
    """Check that a delimiter is one plain character, or None."""
    if delimiter is None:
        return None
    is_plain = isinstance(delimiter, str) and delimiter.isascii()
    if not is_plain or len(delimiter) != 1 or delimiter in '"\r\n\0':
        message = (
            "delimiter must be one ASCII character other than a quote or a line end"
            f"{otherwise}. Got {delimiter!r} instead."
        )
        raise ParameterError(message)
    return delimiter


def _check_encoding(encoding: str | None) -> None:
    if encoding is None:
        return
    try:
        "".encode(encoding)
    except (LookupError, TypeError):
        message = (
            "encoding must be the name of one, such as 'utf-8' or 'cp1252'. Got"
            f" {encoding!r} instead."
        )
        raise ParameterError(message) from None


def _check_sheet(sheet: object) -> None:
    is_number = isinstance(sheet, int) and not isinstance(sheet, bool) and sheet >= 0
    if sheet is not None and not is_number and not isinstance(sheet, str):
        message = (
            "sheet must be the name of a sheet or its number, from 0. Got"
            f" {sheet!r} instead."
        )
        raise ParameterError(message)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked where gzip packed it."""
    if is_folder(path):
        message = f"{str(path)!r} is a directory. Name a file in it."
        raise DataError(message)
    # Read, not mapped: a file that shrinks under a mapping would kill the process.
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        message = f"cannot read {str(path)!r}: {why}."
        raise DataError(message) from error
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return unpack(content, path.name)
    except gzip.BadGzipFile as error:
        message = f"{path.name} is not a complete gzip file. Compress it again."
        raise DataError(message) from error


_EXPORT = "Save it as CSV or Parquet"
_UNPACK = "Unpack it, or pack it by gzip"
_WITHIN = "Unpack it, and name the file within"
_ELSEWHERE = "Name a file that holds a table"
_SPSS = ("an SPSS file", "Pass the frame that pandas.read_spss gives")
_STATA = ("a Stata file", "Pass the frame that pandas.read_stata gives")
_SAS = ("a SAS file", "Pass the frame that pandas.read_sas gives")
_R = ("an R file", "Save it with write.csv() in R")
_OLD_EXCEL = ("an old Excel file", "Save it as .xlsx or CSV")
# Archives that are known by a part of them.
_ARCHIVES = (
    (b"xl/workbook.bin", "a binary workbook", "Save it as .xlsx or CSV"),
    (
        b"application/vnd.oasis.opendocument",
        "an OpenDocument",
        "Save it as .xlsx or CSV",
    ),
    (b"word/document.xml", "a document", "Copy its table into a CSV file"),
)
# How files that are no table of text begin, what they are, and what to do.
_SIGNATURES = (
    (b"PK\x03\x04", "a zip archive", _WITHIN),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _WITHIN),
    (b"BZh", "packed by bzip2", _UNPACK),
    (b"\xfd7zXZ\0", "packed by xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", _UNPACK),
    (b"\xd0\xcf\x11\xe0", *_OLD_EXCEL),
    (b"$FL2", *_SPSS),
    (b"$FL3", *_SPSS),
    (b"<stata_dta>", *_STATA),
    (b"\0" * 12 + b"\xc2\xea\x81\x60", *_SAS),
    (b"HEADER RECORD***", *_SAS),
    (b"X\n\0\0", *_R),
    (b"RDX", *_R),
    (b"SQLite format 3", "an SQLite database", "Export its table as CSV"),
    (b"%PDF", "a PDF", "Copy its table into a CSV file"),
    (b"\x89HDF", "an HDF5 file", _EXPORT),
    (b"PAR1", "a Parquet file", "Give it the suffix .parquet"),
    (b"ARROW1", "an Arrow file", "Give it the suffix .arrow"),
    (b"\x93NUMPY", "a NumPy array", "Pass the array that numpy.load gives"),
    (b"FEA1", "a Feather file of version 1", _EXPORT),
    (b"\x89PNG", "an image", _ELSEWHERE),
    (b"\xff\xd8\xff", "an image", _ELSEWHERE),
)
# The same by suffix, for formats that begin in no way of their own.
_SUFFIXES = {
    ".dta": _STATA,
    ".sas7bdat": _SAS,
    ".xpt": _SAS,
    ".sav": _SPSS,
    ".xls": _OLD_EXCEL,
    ".rds": _R,
    ".rdata": _R,
}
_PAGE = rb"\s*<(!doctype\s+html|html|head|body|table|div)\b"
_TEXT_FORMATS = (
    (
        rb"\s*<(!doctype\s+html|html|head|body|table|div)\b",
        "a web page",
        "Download the file it shows",
    ),
    (rb"\s*<\?xml", "an XML file", _EXPORT),
    (rb"(%[^\n]*\n|\s)*@relation\s", "an ARFF file", "Save its rows as CSV"),
    (rb'\s*[\[{]\s*[\[{"]', "a JSON file", _EXPORT),
)


def check_binary(path: Path, content: bytes) -> None:
    """Refuse what is recognisably no text, and say what to do with it."""
    for part, kind, remedy in _ARCHIVES:
        if content.startswith(b"PK\x03\x04") and part in content:
            raise _refusal(path, kind, remedy)
    if content[257:262] == b"ustar":
        raise _refusal(path, "a tar archive", _WITHIN)
    for start, kind, remedy in _SIGNATURES:
        if content.startswith(start):
            raise _refusal(path, kind, remedy)
    suffix = file_suffix(path)
    if suffix in _SUFFIXES and not content[:1024].isascii():
        raise _refusal(path, *_SUFFIXES[suffix])


def check_markup(path: Path, text: bytes) -> None:
    """Refuse text that is recognisably no table, and say what to do with it."""
    for pattern, kind, remedy in _TEXT_FORMATS:
        if re.match(pattern, text[:1024].removeprefix(b"\xef\xbb\xbf"), re.IGNORECASE):
            raise _refusal(path, kind, remedy)


def _refusal(path: Path, kind: str, remedy: str) -> DataError:
    return DataError(f"{path.name} is {kind}, not delimited text. {remedy}.")
