"""Between a command and the terminal: arguments, streams, files and errors.

The result of a command goes to stdout, everything else to stderr. Files appear whole
or not at all, and replace nothing unless told to.
"""

import csv
import gzip
import json
import shutil
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer
from typer.core import TyperGroup

from bayesmend.errors import (
    BayesmendError,
    BayesmendWarning,
    DataError,
    ParameterError,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from bayesmend.data.states import Label
    from bayesmend.data.table import IncompleteData
    from bayesmend.network.network import Network

__all__ = [
    "STREAM",
    "Commands",
    "check_outputs",
    "check_stdout",
    "failures_on_one_line",
    "json_text",
    "notice",
    "open_table",
    "pair",
    "print_json",
    "read_cuts",
    "read_net",
    "read_table",
    "remember_debug",
    "words",
    "write_net",
    "write_table",
    "write_through",
]

STREAM = "-"
"""The name that stands for stdin or stdout in place of a file."""

_DEBUG = "bayesmend.debug"


class Commands(TyperGroup):
    """A group of commands that reports every failure on one line of stderr."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit 1 for an error and 130 for Ctrl-C."""
        with failures_on_one_line(ctx):
            return super().invoke(ctx)


@contextmanager
def failures_on_one_line(ctx: typer.Context) -> Iterator[None]:
    """Report a failure on stderr; exit 1 for an error and 130 for Ctrl-C."""
    try:
        with _warnings_on_stderr():
            yield
    except KeyboardInterrupt:
        sys.stderr.write("Interrupted.\n")
        raise typer.Exit(130) from None
    except Exception as error:
        # What Typer itself raises (exit, usage errors) and a reader that went away
        # are handled one level up.
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


def check_outputs(
    paths: Sequence[Path | None], *, force: bool, are_tables: bool = False
) -> None:
    """Refuse, before any work, outputs that cannot or must not be written."""
    files = [path for path in paths if path is not None and str(path) != STREAM]
    if are_tables:
        _check_suffixes(files)
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


def check_stdout(out: Path | None, option: str, side: Path | None, json: bool) -> None:
    """Refuse more than one use of stdout: a table, the side output of it, JSON."""
    takers = ["--json"] if json else []
    takers += [f"{option} {STREAM}"] if str(side) == STREAM else []
    if len(takers) > 1:
        message = f"{' and '.join(takers)} both go to stdout. Name a file for one."
        raise typer.BadParameter(message)
    if takers and (out is None or str(out) == STREAM):
        message = (
            f"{takers[0]} needs --out, because the table goes to stdout without it."
        )
        raise typer.BadParameter(message)


def _check_suffixes(files: Sequence[Path]) -> None:
    """Refuse names of tables that promise another format than delimited text."""
    from bayesmend._files import file_suffix
    from bayesmend.data.csv import TEXT_SUFFIXES

    for path in files:
        suffix = file_suffix(path)
        if suffix and suffix not in TEXT_SUFFIXES:
            message = (
                f"a table is written as {', '.join(TEXT_SUFFIXES)} (also .gz). "
                f"Got '{path}' instead."
            )
            raise ParameterError(message)


def json_text(value: object) -> str:
    """Render one JSON object."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def print_json(value: object) -> None:
    """Print one JSON object on stdout."""
    typer.echo(json_text(value))


def read_table(
    file: str,
    missing: list[str] | None,
    states: list[str] | None,
    discretize: list[str] | None,
) -> "IncompleteData":
    """Read the table an argument names, with the reading options of commands."""
    from bayesmend.data.states import MISSING_MARKERS
    from bayesmend.data.table import IncompleteData

    pairs = [pair("--states", text) for text in states or []]
    with open_table(file) as path:
        return IncompleteData.from_table(
            path,
            missing=MISSING_MARKERS if missing is None else missing,
            states={name: _labels(rest) for name, rest in pairs} or None,
            discretize=read_cuts(discretize),
        )


def open_table(file: str) -> "AbstractContextManager[Path]":
    """Give the path of the table an argument names; stdin is saved to one."""
    return _opened(file, _table_suffix)


def read_cuts(
    discretize: list[str] | None,
) -> "dict[str, int | tuple[str, int] | list[float]] | None":
    """Read ``--discretize`` options."""
    return dict(map(_cutting, discretize or [])) or None


def _labels(text: str) -> "list[Label]":
    """Split states; what reads as a whole number, True or False becomes one.

    A table of text compares them as text all the same.

    Examples
    --------
    >>> _labels("0,1,007,True,yes")
    [0, 1, '007', True, 'yes']
    """
    known: dict[str, Label] = {"True": True, "False": False}
    labels: list[Label] = []
    for word in words([text]) or []:
        is_whole = word.removeprefix("-").isdecimal() and str(int(word)) == word
        labels.append(int(word) if is_whole else known.get(word, word))
    return labels


def _cutting(text: str) -> tuple[str, int | tuple[str, int] | list[float]]:
    """Read one ``--discretize`` option.

    Examples
    --------
    >>> dict(map(_cutting, ["a=4", "b=uniform:3", "c=cuts:18,65"]))
    {'a': 4, 'b': ('uniform', 3), 'c': [18.0, 65.0]}
    """
    name, how = pair("--discretize", text)
    method, _, amount = how.rpartition(":")
    try:
        if method == "cuts":
            return name, [float(word) for word in amount.split(",")]
        if method in ("quantile", "uniform"):
            return name, (method, int(amount))
        return name, int(how)
    except ValueError:
        message = (
            "--discretize must look like age=4, age=uniform:4 or age=cuts:18,65. "
            f"Got {text!r} instead."
        )
        raise typer.BadParameter(message) from None


def write_table(data: "IncompleteData", out: Path | None) -> None:
    """Write a table as CSV to a file, or to stdout."""
    write_through(out, data.write_csv)


def write_through(out: Path | None, write: Callable[[Path], None]) -> None:
    """Let a function write a CSV file, and show it on stdout when none is named."""
    if out is not None and str(out) != STREAM:
        write(out)
        return
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, "stdout.csv")
        write(path)
        _copy_to_stdout(path)


def read_net(net: str) -> "Network":
    """Read the network an argument names: a file, stdin, or one that is shipped."""
    from bayesmend.datasets import available_networks, load_network
    from bayesmend.formats import read_network

    if net == STREAM or Path(net).exists():
        with _opened(net, _network_suffix) as path:
            return read_network(path)
    known = available_networks()
    if net in known:
        return load_network(net)
    message = (
        f"there is no file '{net}' and no shipped network of that name. "
        f"Shipped: {', '.join(known)}."
    )
    raise ParameterError(message)


def write_net(network: "Network", out: Path, to: str | None) -> None:
    """Write a network to a file, or in format `to` on stdout."""
    from bayesmend.formats import MODULES, write_network

    if to is None:
        write_network(network, out)
        return
    if f".{to}" not in MODULES:
        known = ", ".join(suffix[1:] for suffix in MODULES)
        message = f"--to must be one of {known}. Got {to!r} instead."
        raise typer.BadParameter(message)
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, f"stdout.{to}")
        write_network(network, path)
        _copy_to_stdout(path)


@contextmanager
def _opened(file: str, suffix_of: Callable[[bytes], str]) -> Iterator[Path]:
    """Give the path of a file; stdin is saved to one and called ``<stdin>``."""
    if file != STREAM:
        yield Path(file)
        return
    content = sys.stdin.buffer.read()
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, f"stdin{suffix_of(content)}")
        path.write_bytes(content)
        del content
        try:
            yield path
        except BayesmendError as error:
            message = str(error).replace(str(path), "<stdin>")
            raise DataError(message.replace(path.name, "<stdin>")) from error


def _table_suffix(content: bytes) -> str:
    """Tell the kind of table by its first bytes."""
    for start, suffix in _TABLE_STARTS.items():
        if content.startswith(start):
            return suffix
    return ".csv"


_TABLE_STARTS = {b"\x1f\x8b": ".csv.gz", b"PAR1": ".parquet", b"ARROW1": ".arrow"}


def _network_suffix(content: bytes) -> str:
    """Tell the format of a network by its first bytes."""
    if content.startswith(b"\x1f\x8b"):
        return _network_suffix(gzip.decompress(content)) + ".gz"
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        return ".json"
    if start.startswith(b"<"):
        return ".graphml" if b"<graphml" in start else ".xmlbif"
    return ".bif"


def _copy_to_stdout(path: Path) -> None:
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
