"""The command line. Commands mirror the library and add no logic of their own.

What ``import bayesmend`` does not load is not loaded here either, but inside the
functions that need it, so that ``--help`` answers at once.
"""

from typing import Annotated

import typer

from bayesmend import __version__
from bayesmend.cli.compare import compare
from bayesmend.cli.convert import convert
from bayesmend.cli.demo import demo
from bayesmend.cli.hide import hide
from bayesmend.cli.impute import impute
from bayesmend.cli.learn import learn
from bayesmend.cli.multiple import multiple
from bayesmend.cli.options import Debug, flag, spread
from bayesmend.cli.query import query
from bayesmend.cli.sample import sample
from bayesmend.cli.structure import structure
from bayesmend.cli.summary import summary
from bayesmend.cli.terminal import Command

__all__ = ["app"]

app = typer.Typer(
    name="bayesmend",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # Rich alone would double the time of --help.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Start with bayesmend demo; bayesmend COMMAND --help has the options.",
)


def _print_version(value: bool) -> None:
    if value:
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


for command in (
    *(demo, summary, learn, compare, impute, multiple, query),
    *(structure, sample, hide, convert),
):
    app.command(cls=Command)(spread(command))
