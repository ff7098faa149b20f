"""How options are declared: in one way, and called as the parameters of the library."""

from typing import Annotated, Any

import typer

__all__ = ["DEBUG", "Debug", "flag", "option", "repeated"]

DEBUG = "bayesmend.debug"
"""Where a command keeps whether ``--debug`` was given."""


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """Declare an option with a value; called as its parameter unless named here."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def repeated(metavar: str, help: str, *names: str) -> Any:
    """Declare an option that may be given several times."""
    return option(metavar, f"{help}; may be repeated.", *names)


def flag(name: str, help: str, **more: Any) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=help, **more)


def _remember(ctx: typer.Context, value: bool) -> bool:
    """Note that ``--debug`` was given, before or after the name of the command."""
    if value:
        ctx.meta[DEBUG] = True
    return value


Debug = Annotated[
    bool,
    flag(
        "--debug",
        "Show the traceback of an error.",
        callback=_remember,
        is_eager=True,
    ),
]
