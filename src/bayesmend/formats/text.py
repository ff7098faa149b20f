"""Text as the formats see it: where each character stands."""

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from bayesmend._files import PathLike, unpack
from bayesmend._limits import max_entries
from bayesmend.errors import DataError, FormatError

__all__ = ["Source", "read_source"]


@dataclass(slots=True)
class Budget:
    """Entries that the tables of a network may still have."""

    left: int

    def take(self, n_entries: int) -> bool:
        """Take entries for one table, and tell whether there were enough left."""
        self.left -= n_entries
        return self.left >= 0


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name it goes by in errors."""

    text: str
    name: str = "<text>"
    tables: "Budget" = field(default_factory=lambda: Budget(max_entries()))

    def fail(self, problem: str, offset: int) -> NoReturn:
        """Raise an error that points at a character of the text."""
        line, column = self._line_and_column(offset)
        raise FormatError(problem, self.name, line, column) from None

    def place(self, offset: int) -> str:
        """Describe a position as errors do."""
        line, column = self._line_and_column(offset)
        return f"{self.name}, line {line}, column {column}"

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        offset = min(offset, len(self.text))
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - self.text.rfind("\n", 0, offset)


def read_source(path: PathLike) -> Source:
    """Read a UTF-8 file, unpacking it when its name ends in ``.gz``."""
    path = Path(path)
    name = str(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"cannot read {name!r}: {error.strerror}."
        raise DataError(msg) from error
    if path.suffix.lower() == ".gz":
        try:
            content = unpack(content, name)
        except gzip.BadGzipFile as error:
            problem = f"the file is no complete gzip file ({error})."
            raise FormatError(problem, name, 1, 1) from None
    return Source(decode(content, name), name)


def decode(content: bytes, name: str) -> str:
    """Decode UTF-8, with or without a byte order mark."""
    try:
        return content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        problem = (
            f"the file is not UTF-8: byte {content[error.start]:#04x} at byte "
            f"position {error.start}. Save it as UTF-8."
        )
        raise FormatError(problem, name, line, column) from None
