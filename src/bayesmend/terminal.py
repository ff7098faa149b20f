"""Between a command and the terminal: arguments, streams, files and errors.

The result of a command goes to stdout, everything else to stderr. Files appear whole
or not at all, and replace nothing unless told to.
"""

import csv
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import typer
from typer.core import TyperGroup

from bayesmend.errors import BayesmendWarning, DataError, ParameterError

__all__ = [
    "STREAM",
    "Commands",
    "check_outputs",
    "copy_to_stdout",
    "notice",
    "pair",
    "remember_debug",
    "saved_stdin",
    "words",
]

STREAM = "-"
"""The name that stands for stdin or stdout in place of a file."""

_DEBUG = "bayesmend.debug"


class Commands(TyperGroup):
    """A group of commands that reports every failure on one line of stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit 1 for an error and 130 for Ctrl-C."""
        try:
            with _warnings_on_stderr():
                return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted.\n")
            raise typer.Exit(130) from None
        except Exception as error:
            # What Typer itself raises (exit, usage errors) and a reader that went
            # away are handled one level up.
            if hasattr(error, "exit_code") or isinstance(
                error, typer.Abort | BrokenPipeError
            ):
                raise
            sys.stderr.write(f"Error: {_sentence(error)}\n")
            if ctx.meta.get(_DEBUG):
                traceback.print_exc()
            raise typer.Exit(1) from None


def remember_debug(ctx: typer.Context, value: bool) -> bool:
    """Note that ``--debug`` was given, before or after the name of the command."""
    if value:
        ctx.meta[_DEBUG] = True
    return value


def notice(text: str) -> None:
    """Tell a person at the terminal; scripts and logs are left alone."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{text}\n")


def words(texts: Iterable[str] | None) -> list[str] | None:
    """Split comma-separated option values; quotes protect a comma.

    Examples
    --------
    >>> words(["a,b", '"c,d"'])
    ['a', 'b', 'c,d']
    """
    if not texts:
        return None
    return [word for text in texts for word in next(csv.reader([text]), [])]


def pair(option: str, text: str) -> tuple[str, str]:
    """Split ``NAME=REST``, or raise a usage error.

    Examples
    --------
    >>> pair("--states", "income=<=50K,>50K")
    ('income', '<=50K,>50K')
    """
    name, equals, rest = text.partition("=")
    if not (name and equals and rest):
        message = f"{option} must look like NAME=VALUE. Got {text!r} instead."
        raise typer.BadParameter(message)
    return name, rest


def check_outputs(paths: Sequence[Path | None], *, force: bool) -> None:
    """Refuse, before any work, outputs that cannot or must not be written."""
    files = [path for path in paths if path is not None and str(path) != STREAM]
    if len({path.absolute() for path in files}) < len(files):
        message = "two outputs have the same name. Name two different files."
        raise typer.BadParameter(message)
    for path in files:
        if path.is_dir():
            message = f"'{path}' is a folder. Name a file in it."
        elif not path.parent.is_dir():
            message = f"there is no folder '{path.parent}'. Create it first."
        elif path.exists() and not force:
            message = f"'{path}' exists. Pass --force to replace it."
        else:
            continue
        raise ParameterError(message)


@contextmanager
def saved_stdin(suffix: str) -> Iterator[Path]:
    """Give stdin as a temporary file; in messages it is called ``<stdin>``."""
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, f"stdin{suffix}")
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield path
        except ValueError as error:
            message = str(error).replace(str(path), "<stdin>")
            raise DataError(message.replace(path.name, "<stdin>")) from error


def copy_to_stdout(path: Path) -> None:
    """Write the bytes of a file to stdout."""
    sys.stdout.flush()
    with path.open("rb") as file:
        shutil.copyfileobj(file, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _sentence(error: Exception) -> str:
    """Return the message of an error on one line."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"'{error.filename}': {error.strerror}."
    if isinstance(error, MemoryError):
        return "not enough memory for this table or network."
    text = " ".join(str(error).split())
    if isinstance(error, ValueError | ImportError | OSError) and text:
        return text
    kind = type(error).__name__
    return f"unexpected {kind}: {text or 'no message'}. See where with --debug."


@contextmanager
def _warnings_on_stderr() -> Iterator[None]:
    """Show each of our warnings on one line, without source code."""

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        sys.stderr.write(f"Warning: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", BayesmendWarning)
        warnings.showwarning = show
        yield
