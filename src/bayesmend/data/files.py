"""What a caller says of the file a table is in."""

from dataclasses import dataclass, fields

from bayesmend._spelling import spell
from bayesmend.errors import ParameterError

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
    if delimiter is None or delimiter == BLANK_RUNS:
        return delimiter
    is_plain = isinstance(delimiter, str) and delimiter.isascii()
    if not is_plain or len(delimiter) != 1 or delimiter in '"\r\n\0':
        message = (
            "delimiter must be one ASCII character other than a quote or a line end,"
            f" or {BLANK_RUNS!r}. Got {delimiter!r} instead."
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
