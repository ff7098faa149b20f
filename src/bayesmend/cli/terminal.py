"""Between a command and the terminal: streams, files, exit codes and errors.

The result of a command goes to stdout, everything else to stderr. Files appear whole
or not at all, and replace nothing unless told to.
"""

import json
import shlex
import shutil
import sys
import tempfile
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand

from bayesmend._files import file_suffix, resolved
from bayesmend._interrupts import INTERRUPTED, answered
from bayesmend._progress import drawn_by
from bayesmend._spelling import shown, spelling
from bayesmend._visible import tidy, visible
from bayesmend.cli.bar import Bar
from bayesmend.cli.declare import DEBUG
from bayesmend.data.csv import TEXT_SUFFIXES
from bayesmend.errors import (
    BayesmendError,
    BayesmendWarning,
    DataError,
    ParameterError,
)

__all__ = [
    "STREAM",
    "Command",
    "UsageError",
    "check_outputs",
    "check_stdout",
    "end_interrupted",
    "hold",
    "input_path",
    "json_text",
    "network_suffix",
    "note",
    "notice",
    "print_json",
    "say",
    "write_through",
]

STREAM = "-"
"""The name that stands for stdin or stdout in place of a file."""

COLUMN_OPTIONS = ("model", "pass-through", "drop")
"""What a column may be, each an option of its own that lists columns."""

_FOR_THE_SHELL = " \t\n'\"\\$`;&|<>()*?[]#~!{}"


class UsageError(typer.BadParameter):
    """What was typed makes no sense; the message says why, and nothing else."""

    def format_message(self) -> str:
        """Leave out the words "Invalid value" that Typer begins with."""
        return self.message


class Command(TyperCommand):
    """A command that reports every failure on stderr, a line for each problem."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command; exit 1 for an error and 130 for Ctrl-C."""
        try:
            with (
                answered(),
                _warnings_on_stderr(),
                spelling(self.spell),
                drawn_by(Bar),
                _held,
            ):
                return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write("Interrupted.\n")
            raise typer.Exit(INTERRUPTED) from None
        except Exception as error:
            # What Typer itself raises (exit, usage errors) and a reader that went
            # away are handled one level up.
            if hasattr(error, "exit_code") or isinstance(
                error, typer.Abort | BrokenPipeError
            ):
                raise
            sys.stderr.write(f"Error: {tidy(_sentence(error))}\n")
            if ctx.meta.get(DEBUG):
                traceback.print_exc()
            raise typer.Exit(1) from None

    def spell(self, name: str, *value: object) -> str | None:
        """Name the option that stands for a parameter of the library."""
        options = {p.name: p for p in self.params if p.param_type_name == "option"}
        if name == "columns" and "pass_through" in options:
            return _spell_columns(*value)
        if name not in options:
            return "stdin (-)" if name == "from_csv" else None
        option, metavar = options[name].opts[0], options[name].metavar
        if not value or value[0] is True:
            return option
        if value[0] is False and options[name].secondary_opts:
            return options[name].secondary_opts[0]
        if isinstance(value[0], Mapping):
            how = (metavar or "").partition("=")[2]
            pairs = (
                _quoted(f"{key}={how if item is ... else _as_text(item)}")
                for key, item in value[0].items()
            )
            return " ".join(f"{option} {pair}" for pair in pairs)
        # An option that may be repeated takes one text each time, commas and all.
        items: Sequence[object] = [value[0]]
        if isinstance(value[0], list | tuple) and "," not in (metavar or ""):
            items = value[0]
        return " ".join(f"{option} {_quoted(_as_text(item))}" for item in items)


def _spell_columns(*value: object) -> str:
    r"""Name the options that say what columns are.

    Examples
    --------
    >>> _spell_columns(), _spell_columns({"id": "drop"})
    ('--model, --pass-through or --drop', '--drop id')
    >>> _spell_columns({"free, text": "model"})
    '--model \'"free, text"\''
    """
    if not value or not isinstance(value[0], Mapping):
        return "--model, --pass-through or --drop"
    roles: dict[str, list[str]] = {}
    for name, role in value[0].items():
        roles.setdefault(str(role), []).append(str(name))
    lists = {role: ",".join(map(_as_word, names)) for role, names in roles.items()}
    return " ".join(f"--{role} {_quoted(names)}" for role, names in lists.items())


def _as_word(name: str) -> str:
    """Protect a name that has commas or quotes in a list parted by commas."""
    if not set(name) & set(',"'):
        return name
    return '"' + name.replace('"', '""') + '"'


def _as_text(value: object) -> str:
    """Show a value as it is typed."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(_as_text, value))
    if value is None:
        return "none"
    return "tab" if value == "\t" else shown(value)


def _quoted(text: str) -> str:
    """Quote a word that a shell would not take as it is."""
    is_odd = not text or set(text) & set(_FOR_THE_SHELL)
    return shlex.quote(text) if is_odd else text


_held = ExitStack()


def hold(resource: AbstractContextManager[None]) -> None:
    """Enter what is left when the command ends, however it ends."""
    _held.enter_context(resource)


def notice(text: str) -> None:
    """Tell a person at the terminal; scripts and logs are left alone."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{text}\n")


def say(text: object) -> None:
    """Show the result of a command to a person."""
    typer.echo(visible(str(text)))


def note(text: str) -> None:
    """Tell what a reader of the result alone would miss."""
    sys.stderr.write(f"Note: {visible(text)}.\n")


def end_interrupted() -> NoReturn:
    """Say that Ctrl-C cut a search short, whose best answer has been written."""
    sys.stderr.write("Interrupted: this is the best answer so far.\n")
    raise typer.Exit(INTERRUPTED)


def check_outputs(
    paths: Sequence[Path | None], *, force: bool, are_tables: bool = False
) -> None:
    """Refuse, before any work, outputs that cannot or must not be written."""
    files = [path for path in paths if path is not None and str(path) != STREAM]
    if are_tables:
        _check_suffixes(files)
    if len({path.absolute() for path in files}) < len(files):
        message = "two outputs have the same name. Name two different files."
        raise UsageError(message)
    for path in files:
        if path.is_dir():
            message = f"'{path}' is a folder. Name a file in it."
        elif not path.parent.is_dir():
            message = f"there is no folder '{path.parent}'. Create it first."
        elif resolved(path).exists() and not force:
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
        raise UsageError(message)
    if takers and (out is None or str(out) == STREAM):
        message = (
            f"{takers[0]} needs --out, because the table goes to stdout without it."
        )
        raise UsageError(message)


def _check_suffixes(files: Sequence[Path]) -> None:
    """Refuse names of tables that promise another format than delimited text."""
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


def write_through(
    out: Path | None, write: Callable[[Path], None], *, suffix: str = ".csv"
) -> None:
    """Let a function write a file, and show it on stdout when none is named."""
    if out is not None and str(out) != STREAM:
        write(out)
        notice(f"Wrote {out}.")
        return
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, f"stdout{suffix}")
        write(path)
        sys.stdout.flush()
        with path.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def table_suffix(content: bytes) -> str:
    """Tell the kind of a table by its first bytes."""
    starts = {b"\x1f\x8b": ".csv.gz", b"PAR1": ".parquet", b"ARROW1": ".arrow"}
    return next((starts[key] for key in starts if content.startswith(key)), ".csv")


def network_suffix(content: bytes) -> str:
    """Tell the format of a network by its first bytes."""
    if content.startswith(b"\x1f\x8b"):
        try:
            start = zlib.decompressobj(wbits=31).decompress(content, 4096)
        except zlib.error:  # the reader will say so
            start = b""
        return network_suffix(start) + ".gz"
    start = content[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        return ".json"
    if start.startswith(b"<"):
        return ".graphml" if b"<graphml" in start else ".xmlbif"
    return ".bif"


@contextmanager
def input_path(
    file: str, suffix_of: Callable[[bytes], str] = table_suffix
) -> Iterator[Path]:
    """Return the path of a file; stdin is saved to one and called ``<stdin>``."""
    if file != STREAM:
        yield Path(file)
        return
    content = sys.stdin.buffer.read()
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, f"stdin{suffix_of(content)}")
        path.write_bytes(content)
        del content
        _saved.append(path)
        try:
            yield path
        except BayesmendError as error:
            raise DataError(_as_stdin(str(error))) from error
        finally:
            _saved.remove(path)


_saved: list[Path] = []
"""The files that stdin is in at the moment."""


def _as_stdin(text: str) -> str:
    """Call files that stdin was saved to what a user knows it by."""
    for path in _saved:
        text = text.replace(str(path), "<stdin>").replace(path.name, "<stdin>")
    return text


def _sentence(error: Exception) -> str:
    """Return the message of an error, on one line unless it tells of several."""
    if isinstance(error, OSError) and error.strerror:
        where = f"'{error.filename}'" if error.filename else "reading or writing"
        return f"{where}: {error.strerror}."
    if isinstance(error, MemoryError):
        return "not enough memory for this table or network."
    text = " ".join(str(error).split())
    if isinstance(error, BayesmendError) and ":\n- " in str(error):
        return "\n".join(" ".join(line.split()) for line in str(error).splitlines())
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
        sys.stderr.write(f"Warning: {_as_stdin(str(message))}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always", BayesmendWarning)
        warnings.showwarning = show
        yield
