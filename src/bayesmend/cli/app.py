"""The command line. Commands mirror the library and add no logic of their own.

Whatever takes time to import is imported inside the command that needs it, so that
``--help`` answers at once.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesmend.cli.answering import impute, query
from bayesmend.cli.demo import demo
from bayesmend.cli.learn import learn
from bayesmend.cli.options import (
    Debug,
    Discretize,
    Force,
    Missing,
    Net,
    Seed,
    States,
    Table,
)
from bayesmend.cli.structure import structure
from bayesmend.cli.terminal import (
    STREAM,
    Commands,
    check_outputs,
    check_stdout,
    notice,
    pair,
    print_json,
    read_net,
    read_table,
    words,
    write_net,
    write_table,
    write_through,
)

if TYPE_CHECKING:
    from bayesmend.data.table import IncompleteData
    from bayesmend.hiding.record import Hidden

__all__ = ["app"]

app = typer.Typer(
    name="bayesmend",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # Rich alone would double the time of --help.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="A command explains its options: bayesmend COMMAND --help",
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
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Discrete Bayesian networks and categorical data with missing values."""


@app.command()
def summary(
    file: Table,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
    missing: Missing = None,
    states: States = None,
    discretize: Discretize = None,
    debug: Debug = False,
) -> None:
    """Describe a table: variables, states, missing cells and their patterns."""
    report = read_table(file, missing, states, discretize).summary()
    if json:
        print_json(report.to_dict())
    else:
        typer.echo(str(report))


@app.command()
def convert(
    net: Net,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write; its suffix is the format: .bif, .xmlbif, .json, "
            ".graphml or .dot (also .gz). - writes to stdout.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="FORMAT", help="Format on stdout, such as json."),
    ] = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Write a network in another format."""
    if (str(out) == STREAM) != (to is not None):
        message = "--to FORMAT goes with OUT -, and OUT - needs it."
        raise typer.BadParameter(message)
    check_outputs([out], force=force)
    write_net(read_net(net), out, to)
    notice(f"Wrote {out}.")


@app.command()
def sample(
    net: Net,
    rows: Annotated[
        int,
        typer.Option("--rows", metavar="N", help="Number of rows to draw.", min=0),
    ],
    seed: Seed = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="CSV file; stdout by default."),
    ] = None,
    force: Force = False,
    debug: Debug = False,
) -> None:
    """Draw complete rows from a network, as CSV."""
    check_outputs([out], force=force, are_tables=True)
    write_table(read_net(net).sample(rows, seed=seed), out)


@app.command()
def hide(
    file: Table,
    mcar: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="Hide every cell with this probability."),
    ] = None,
    mar: Annotated[
        float | None,
        typer.Option(
            metavar="RATE", help="Hide cells depending on the --depends-on variables."
        ),
    ] = None,
    mnar: Annotated[
        float | None,
        typer.Option(metavar="RATE", help="Hide cells depending on their own value."),
    ] = None,
    per_variable: Annotated[
        int | None,
        typer.Option(metavar="N", help="Hide N cells of each variable, of one value."),
    ] = None,
    variable: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Hide --count cells of it, of one value."),
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of cells, with --variable."),
    ] = None,
    value: Annotated[
        str | None, typer.Option(metavar="LABEL", help="The value of hidden cells.")
    ] = None,
    state: Annotated[
        int | None,
        typer.Option(metavar="K", help="The same by its position among the states."),
    ] = None,
    depends_on: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="What --mar depends on; stays observed."),
    ] = None,
    odds: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A:2,B:1",
            help="Odds of hiding by state, with --mar (of a variable it depends on) "
            "or --mnar (of the hidden variable); drawn by default.",
        ),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option(metavar="SD", help="Spread of drawn log-odds; 1 by default."),
    ] = None,
    variables: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B,...", help="Hide cells of these variables only."),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Fail when there are too few such cells.")
    ] = False,
    seed: Seed = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Table with holes; stdout by default."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV of hidden cells: row, variable, value."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print what was hidden (needs --out).")
    ] = False,
    force: Force = False,
    missing: Missing = None,
    states: States = None,
    discretize: Discretize = None,
    debug: Debug = False,
) -> None:
    """Hide cells of a table on purpose, and keep the truth about them.

    Choose one of --mcar, --mar, --mnar, --per-variable and --variable.
    """
    check_stdout(out, "--truth", truth, json)
    given = {
        "mcar": mcar,
        "mar": mar,
        "mnar": mnar,
        "per_variable": per_variable,
        "variable": variable,
        "count": count,
        "value": value,
        "state": state,
        "depends_on": words(depends_on),
        "odds": _parse_odds(odds),
        "strength": strength,
        "variables": words(variables),
        "strict": strict or None,
    }
    mechanism, options = _choose_mechanism(given)
    check_outputs([out, truth], force=force, are_tables=True)
    data = read_table(file, missing, states, discretize)
    hidden = _hide(data, mechanism, options, seed)
    write_table(hidden.data, out)
    if truth is not None:
        write_through(truth, hidden.write_csv)
    if json:
        print_json(hidden.to_dict())
    notice(f"Hid {hidden.n_hidden} of {hidden.n_candidates} cells.")


app.command()(learn)
app.command()(impute)
app.command()(query)
app.command()(structure)
app.command()(demo)


# What each way of hiding accepts besides its own option.
_ACCEPTED = {
    "mcar": {"variables"},
    "mar": {"variables", "depends_on", "odds", "strength", "strict"},
    "mnar": {"variables", "odds", "strength", "strict"},
    "per_variable": {"variables", "value", "state", "strict"},
    "variable": {"count", "value", "state", "strict"},
}
_NEEDED = {"mar": "depends_on", "variable": "count"}


def _choose_mechanism(options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the one mechanism asked for and the options given with it."""
    given = {name: value for name, value in options.items() if value is not None}
    chosen = [name for name in _ACCEPTED if name in given]
    if len(chosen) != 1:
        problem = "choose one of " + ", ".join(map(_flag, _ACCEPTED)) + "."
        if chosen:
            problem += f" Got {' and '.join(map(_flag, chosen))}."
        raise typer.BadParameter(problem)
    mechanism = chosen[0]
    for name in given.keys() - _ACCEPTED[mechanism] - {mechanism}:
        message = f"{_flag(name)} does not go with {_flag(mechanism)}."
        raise typer.BadParameter(message)
    needed = _NEEDED.get(mechanism)
    if needed and needed not in given:
        message = f"{_flag(mechanism)} needs {_flag(needed)}."
        raise typer.BadParameter(message)
    return mechanism, given


def _hide(
    data: "IncompleteData", mechanism: str, options: dict[str, Any], seed: int | None
) -> "Hidden":
    """Call the function of a mechanism."""
    from bayesmend import hiding

    amount = options.pop(mechanism)
    if mechanism == "variable":
        return hiding.hide_value_of(data, amount, seed=seed, **options)
    functions: dict[str, Callable[..., Hidden]] = {
        "mcar": hiding.hide_mcar,
        "mar": hiding.hide_mar,
        "mnar": hiding.hide_mnar,
        "per_variable": hiding.hide_value_per_variable,
    }
    return functions[mechanism](data, amount, seed=seed, **options)


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _parse_odds(texts: list[str] | None) -> dict[str, dict[str, float]] | None:
    """Read ``NAME=STATE:ODDS,...`` options."""
    if not texts:
        return None
    odds: dict[str, dict[str, float]] = {}
    for text in texts:
        name, rest = pair("--odds", text)
        for word in words([rest]) or []:
            state, _, number = word.rpartition(":")
            try:
                odds.setdefault(name, {})[state] = float(number if state else "")
            except ValueError:
                message = f"--odds must look like NAME=STATE:ODDS. Got {text!r}."
                raise typer.BadParameter(message) from None
    return odds
