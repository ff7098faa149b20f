"""The command line. Commands mirror the library and add no logic of their own.

A command is loaded when it is called, and what ``import bayesmend`` does not load is
not loaded by the file of a command either, but inside the functions that need it:
``--help`` answers at once.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bayesmend.cli.declare import Debug, flag

__all__ = ["COMMANDS", "app"]

COMMANDS = {
    "demo": "Mend a table of 1,000 invented patients, and compare with the truth.",
    "summary": "Describe a table: variables, states and missing cells.",
    "learn": "Learn a network from a table with missing cells, and mend the table.",
    "report": "Show a saved result as a page, without learning again.",
    "compare": "Tell which method fills a table best: hide cells, fill them, and "
    "compare.",
    "impute": "Fill the missing cells of a table from a network or an ensemble.",
    "multiple": "Complete a table several times, for multiple imputation.",
    "query": "Ask a network or an ensemble for distributions, given what is known.",
    "structure": "Learn the structure of a network from a complete table.",
    "verify": "Check a result and its proof by other means than those that found them.",
    "sample": "Draw complete rows from a network, as CSV.",
    "hide": "Hide cells of a table, and keep the truth about them.",
    "diff": "Tell what sets two networks apart: distance, arcs added, lost, reversed.",
    "convert": "Write a network in another format, or as a picture.",
    "completion": "Print a script that completes commands, options, values in a shell.",
}
"""Each command, the function of the file of its name, and how its help begins."""

_SETTINGS: dict[str, Any] = {
    "rich_markup_mode": None,  # Rich alone would double the time of --help.
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(Mapping[str, Any]):
    """The commands by their names, each loaded when it is asked for."""

    def __init__(self) -> None:
        self._loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in COMMANDS:
            raise KeyError(name)
        if name not in self._loaded:
            self._loaded[name] = _load(name)
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


def _load(name: str) -> Any:
    """Make the command of a file."""
    from bayesmend.cli.options import command_of

    function = getattr(import_module(f"bayesmend.cli.{name}"), name)
    return command_of(function, **_SETTINGS)


class _Group(TyperGroup):
    """All commands, which are listed without being loaded."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Commands()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Return their names, in the order of the help."""
        return list(COMMANDS)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write what each does, as far as a line goes."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


app = typer.Typer(
    name="bayesmend",
    cls=_Group,
    no_args_is_help=True,
    add_completion=False,
    epilog="Start with bayesmend demo; bayesmend COMMAND --help has the options.",
    **_SETTINGS,
)


def _print_version(value: bool) -> None:
    if value:
        from bayesmend import __version__

        typer.echo(f"bayesmend {__version__}")
        raise typer.Exit


@app.callback()
def _bayesmend(
    version: Annotated[
        bool,
        flag(
            "--version",
            "Show the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Learn and use discrete Bayesian networks; mend tables with missing cells."""
