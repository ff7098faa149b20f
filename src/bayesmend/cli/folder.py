"""The folder of a result: its files appear together, and one run at a time has it."""

import hashlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from bayesmend._files import lock_file, write_text
from bayesmend.errors import DataError, ParameterError

# Writing takes seconds. What is older was left by a run that was killed, here or on
# another machine that sees the same files.
_DEAD_SECONDS = 3600.0

__all__ = ["kept_from_others", "there_meanwhile", "write_folder"]


def write_folder(
    out: Path,
    contents: Mapping[str, str | Callable[[Path], None]],
    *,
    earlier: str = "",
) -> None:
    """Write texts, and let functions write: all of the files, or none of them.

    A new folder takes its name once it is complete. In one that is there already, the
    files take their names one after the other once all are complete; if that fails,
    those from before are put back. Files that match `earlier` and are not written now
    are of another result, and go. What killed runs have left behind is cleared away.
    """
    out = Path(os.path.realpath(out))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        is_new = not out.exists()
        with _beside(out, out.parent if is_new else out) as made:
            _write_all(made, contents, out)
            if is_new:
                made.chmod(_usual_mode())
                made.rename(out)
            else:
                gone = {path.name for path in out.glob(earlier)} if earlier else set()
                _take_names(made, out, list(contents), sorted(gone - set(contents)))
        _clear_away(out)
    except OSError as error:
        msg = f"cannot write the files of '{out}': {error.strerror or error}."
        raise DataError(msg) from error


@contextmanager
def there_meanwhile(out: Path) -> Iterator[None]:
    """Make a folder for what is written before all else; it stays if anything was."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"cannot make the folder '{out}': {error.strerror or error}."
        raise DataError(msg) from error
    try:
        yield
    finally:
        with suppress(OSError):  # not empty
            out.rmdir()


@contextmanager
def kept_from_others(out: Path) -> Iterator[None]:
    """Refuse a folder that another run is going to write to."""
    digest = hashlib.sha256(os.path.realpath(out).encode("utf-8", "surrogateescape"))
    user = os.getuid() if hasattr(os, "getuid") else ""
    name = f"bayesmend-{user}-{digest.hexdigest()[:32]}.lock"
    path = Path(tempfile.gettempdir(), name)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        if not lock_file(handle) or not _is_there(handle, path):
            msg = (
                f"another run is at work on '{out}'. Wait for it to end, or name "
                "another folder with --out."
            )
            raise ParameterError(msg)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)
    finally:
        os.close(handle)


@contextmanager
def _beside(out: Path, home: Path) -> Iterator[Path]:
    """Give a folder for what is not complete yet."""
    # Named before it is there: Ctrl-C at any moment leaves none behind.
    made = home / f".{out.name}.{secrets.token_hex(8)}"
    try:
        made.mkdir(mode=0o700)
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _clear_away(out: Path) -> None:
    """Remove what runs that were killed as they wrote this folder have left."""
    name = re.compile(rf"\.{re.escape(out.name)}\.[0-9a-f]{{16}}")
    for home in (out.parent, out):
        with suppress(OSError):  # a folder that may not be listed
            for path in home.iterdir():
                if not name.fullmatch(path.name) or path.is_symlink():
                    continue
                age = time.time() - path.stat().st_mtime
                if path.is_dir() and age > _DEAD_SECONDS:
                    shutil.rmtree(path, ignore_errors=True)


def _write_all(
    made: Path, contents: Mapping[str, str | Callable[[Path], None]], out: Path
) -> None:
    for name, content in contents.items():
        try:
            if isinstance(content, str):
                write_text(made / name, content)
            else:
                content(made / name)
        except DataError as error:
            raise DataError(str(error).replace(str(made), str(out))) from error


def _take_names(made: Path, out: Path, names: list[str], gone: list[str]) -> None:
    before = made / "before"
    before.mkdir()
    try:
        for name in names:
            if (out / name).exists():
                (out / name).rename(before / name)
            (made / name).rename(out / name)
        for name in gone:
            (out / name).rename(before / name)
    except BaseException:
        for name in names:
            if (before / name).exists():
                (before / name).replace(out / name)
            elif not (made / name).exists():
                (out / name).unlink(missing_ok=True)
        for name in gone:
            if (before / name).exists():
                (before / name).replace(out / name)
        raise


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o777 & ~mask


def _is_there(handle: int, path: Path) -> bool:
    """Tell whether a lock is not one that its owner has just taken away."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError:
        return False
