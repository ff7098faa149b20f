"""Files: what their names say, packed, locked, and written whole or not at all."""

import gzip
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from bayesmend._checks import got
from bayesmend._limits import max_unpacked
from bayesmend.errors import DataError, ParameterError

__all__ = [
    "PathLike",
    "file_suffix",
    "is_file",
    "is_folder",
    "lock_file",
    "max_unpacked",
    "resolved",
    "unpack",
    "write_chunks",
    "write_text",
]

PathLike: TypeAlias = str | os.PathLike[str]


def check_path(path: object) -> None:
    """Raise ``ParameterError`` unless it is a path."""
    if not isinstance(path, str | os.PathLike):
        msg = f"a path must be text or a Path. {got(path)}"
        raise ParameterError(msg)


def is_file(path: Path) -> bool:
    """Tell whether there is such a file; not for a name that can be none."""
    return stat.S_ISREG(_mode(path))


def is_folder(path: Path) -> bool:
    """Tell whether there is such a folder; not for a name that can be none."""
    return stat.S_ISDIR(_mode(path))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # not there, too long, or with a zero byte
        return 0


def file_suffix(path: PathLike) -> str:
    """Return the suffix that tells the format, in lower case and without .gz.

    Examples
    --------
    >>> file_suffix("survey.CSV.gz")
    '.csv'
    """
    check_path(path)
    return Path(Path(path).name.lower().removesuffix(".gz")).suffix


def unpack(content: bytes, name: str = "the file") -> bytes:
    """Return what gzip packed, or raise ``gzip.BadGzipFile`` if a part is lost.

    ``DataError`` where it is more than `max_unpacked` allows; no more is unpacked then.
    """
    most, n_bytes, chunks = max_unpacked(), 0, []
    with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
        try:
            while n_bytes <= most and (chunk := packed.read(2**20)):
                chunks.append(chunk)
                n_bytes += len(chunk)
        except (OSError, EOFError, zlib.error) as error:
            raise gzip.BadGzipFile(str(error)) from None
    if n_bytes > most:
        msg = (
            f"{name} unpacks to more than {most:,} bytes. Unpack it first, or raise "
            "the environment variable BAYESMEND_MAX_UNPACKED."
        )
        raise DataError(msg)
    return b"".join(chunks)


def write_text(path: PathLike, text: str) -> None:
    """Write a file in UTF-8, packed when named .gz; it appears whole or not at all."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        msg = f"{error.object[error.start : error.end]!r} cannot be written as UTF-8."
        raise DataError(msg) from None
    write_chunks(path, [content])


def write_chunks(path: PathLike, chunks: Iterable[bytes]) -> None:
    """Write a file, packed when named .gz; it appears whole or not at all.

    The content goes to a temporary file in the same folder, which then takes the name:
    whatever happens, the file is the old one or the new one, never half of it. A link
    stays, and what it leads to is written.
    """
    chunks = iter(chunks)
    start = next(chunks, b"")  # problems with the content come before any file
    try:
        _write(resolved(path), start, chunks)
    except OSError as error:
        msg = f"cannot write {str(path)!r}: {error.strerror or error}."
        raise DataError(msg) from error


def resolved(path: PathLike) -> Path:
    """Return where a file is written: where links lead to, and to no device or pipe."""
    check_path(path)
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        msg = f"cannot write {str(path)!r}: it is a link that leads to itself."
        raise DataError(msg)
    # The path itself: where /dev/stdout leads to a pipe, its target has no path.
    if _mode(Path(path)) and not is_file(Path(path)):
        kind = "a folder" if is_folder(Path(path)) else "a device, a pipe or the like"
        msg = f"cannot write {str(path)!r}: it is {kind}. Name a file."
        raise DataError(msg)
    return target


def _write(path: Path, start: bytes, chunks: Iterable[bytes]) -> None:
    # Named before it is there: Ctrl-C at any moment leaves none behind.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        with open(temporary, "xb", opener=_private) as file:
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    packed.write(start)
                    packed.writelines(chunks)
            else:
                file.write(start)
                file.writelines(chunks)
        temporary.chmod(_usual_mode(path))
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _usual_mode(path: Path) -> int:
    """Keep the permissions of a file replaced; a new one gets the usual ones."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


if sys.platform == "win32":
    import msvcrt

    def lock_file(handle: int) -> bool:
        """Lock an open file until it is closed; False where another process has it."""
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def lock_file(handle: int) -> bool:
        """Lock an open file until it is closed; False where another process has it."""
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
