"""Text files as the formats see them: positions, compression, whole or not at all."""

import gzip
import os
import tempfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from bayesmend.errors import DataError, FormatError

__all__ = ["Source", "read_source", "write_text"]


@dataclass(frozen=True, slots=True)
class Source:
    """A text and the name it goes by in errors."""

    text: str
    name: str = "<text>"

    def error(self, problem: str, offset: int) -> FormatError:
        """Make an error that points at a character of the text."""
        return FormatError(problem, self.name, *self._line_and_column(offset))

    def place(self, offset: int) -> str:
        """Describe a position as errors do."""
        line, column = self._line_and_column(offset)
        return f"{self.name}, line {line}, column {column}"

    def _line_and_column(self, offset: int) -> tuple[int, int]:
        offset = min(offset, len(self.text))
        line = self.text.count("\n", 0, offset) + 1
        return line, offset - self.text.rfind("\n", 0, offset)


def read_source(path: str | os.PathLike[str]) -> Source:
    """Read a UTF-8 file, unpacking it when its name ends in ``.gz``."""
    path = Path(path)
    content = path.read_bytes()
    name = str(path)
    if path.suffix.lower() == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
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


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file, packed when its name ends in ``.gz``.

    The text goes to a temporary file in the same folder, which then takes the name:
    whatever happens, the file is the old one or the new one, never half of it.
    """
    path = Path(path)
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        msg = f"{error.object[error.start : error.end]!r} cannot be written as UTF-8."
        raise DataError(msg) from None
    if path.suffix.lower() == ".gz":
        content = gzip.compress(content, mtime=0)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(_usual_mode(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _usual_mode(path: Path) -> int:
    """Keep the permissions of a file replaced; a new one gets the usual ones."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
