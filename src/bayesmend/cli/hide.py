"""Hide cells of a table on purpose."""

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from bayesmend._formulas import without_formulas
from bayesmend._spelling import spell, spelling
from bayesmend.cli.options import (
    Force,
    Json,
    Reading,
    SafeCsv,
    Seed,
    TableOut,
    flag,
    option,
    pair,
    split,
    words,
)
from bayesmend.cli.terminal import (
    UsageError,
    check_outputs,
    check_stdout,
    notice,
    print_json,
    write_through,
)
from bayesmend.hiding.mechanisms import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)
from bayesmend.hiding.record import Hidden

__all__ = ["hide"]

_MECHANISMS: dict[str, Callable[..., Hidden]] = {
    "mcar": hide_mcar,
    "mar": hide_mar,
    "mnar": hide_mnar,
    "per_variable": hide_value_per_variable,
    "variable": hide_value_of,
}


@dataclass(frozen=True, slots=True)
class Request:
    """The mechanism by its own option, and what goes with it."""

    mcar: Annotated[
        float | None, option("RATE", "Hide every cell with this probability.")
    ] = None
    mar: Annotated[
        float | None,
        option("RATE", "Hide cells depending on the --depends-on variables."),
    ] = None
    mnar: Annotated[
        float | None, option("RATE", "Hide cells depending on their own value.")
    ] = None
    per_variable: Annotated[
        int | None, option("N", "Hide N cells of each variable, of one value.")
    ] = None
    variable: Annotated[
        str | None, option("NAME", "Hide --count cells of it, of one value.")
    ] = None
    count: Annotated[int | None, option("N", "Number of cells, with --variable.")] = (
        None
    )
    value: Annotated[str | None, option("LABEL", "The value of hidden cells.")] = None
    state: Annotated[
        int | None, option("K", "The same by its position among the states, from 0.")
    ] = None
    depends_on: Annotated[
        list[str] | None,
        option("A,B,...", "What --mar depends on; stays observed."),
    ] = None
    odds: Annotated[
        list[str] | None,
        option(
            "NAME=A:2,B:1",
            "Odds of hiding by state, with --mar (of a variable it depends on) or "
            "--mnar (of the hidden variable); drawn by default.",
        ),
    ] = None
    strength: Annotated[
        float | None, option("SD", "Spread of drawn log-odds; 1 by default.")
    ] = None
    variables: Annotated[
        list[str] | None, option("A,B,...", "Hide cells of these variables only.")
    ] = None
    strict: Annotated[
        bool, flag("--strict", "Fail when there are too few such cells.")
    ] = False

    def choose(self) -> tuple[str, dict[str, Any]]:
        """Return the one mechanism asked for, and what was given with it."""
        lists = {
            "depends_on": words(self.depends_on),
            "odds": _odds(self.odds),
            "variables": words(self.variables),
            "strict": self.strict or None,
        }
        items = (asdict(self) | lists).items()
        given = {name: value for name, value in items if value is not None}
        chosen = [name for name in _MECHANISMS if name in given]
        if len(chosen) != 1:
            problem = f"choose one of {', '.join(map(spell, _MECHANISMS))}."
            if chosen:
                problem += f" Got {' and '.join(map(spell, chosen))}."
            raise UsageError(problem)
        _check_goes_with(chosen[0], given)
        return chosen[0], given


def hide(
    *,
    request: Request,
    seed: Seed = None,
    out: TableOut = None,
    truth: Annotated[
        Path | None, option("FILE", "CSV of hidden cells: row, variable, value.")
    ] = None,
    json: Json = False,
    force: Force = False,
    safe_csv: SafeCsv = False,
    reading: Reading,
) -> None:
    """Hide cells of a table, and keep the truth about them.

    Choose one of --mcar, --mar, --mnar, --per-variable and --variable. --json prints
    what was hidden, and needs --out.
    """
    check_stdout(out, "--truth", truth, json)
    mechanism, options = request.choose()
    check_outputs([out, truth], force=force, are_tables=True)
    amount = options.pop(mechanism)
    data, rate = reading.table(), spell(mechanism)
    with spelling(lambda name, *_: rate if name == "rate" else None):
        hidden = _MECHANISMS[mechanism](data, amount, seed=seed, **options)
    with without_formulas(safe_csv):
        write = partial(hidden.data.write_csv, missing=reading.markers)
        write_through(out, write)
        if truth is not None:
            write_through(truth, hidden.write_csv)
    if json:
        print_json(hidden.to_dict())
    notice(f"Hid {hidden.n_hidden} of {hidden.n_candidates} cells.")


def _check_goes_with(mechanism: str, given: dict[str, Any]) -> None:
    """Compare options with the parameters of the function they are for."""
    _, _, *accepted = inspect.signature(_MECHANISMS[mechanism]).parameters.values()
    accepted = [p for p in accepted if p.kind is not p.VAR_KEYWORD]
    for name in given:
        if name not in {mechanism, *(p.name for p in accepted)}:
            message = f"{spell(name)} does not go with {spell(mechanism)}."
            raise UsageError(message)
    for parameter in accepted:
        if parameter.default is parameter.empty and parameter.name not in given:
            message = f"{spell(mechanism)} needs {spell(parameter.name)}."
            raise UsageError(message)


def _odds(texts: list[str] | None) -> dict[str, dict[str, float]] | None:
    """Read ``NAME=STATE:ODDS,...`` options."""
    odds: dict[str, dict[str, float]] = {}
    for text in texts or []:
        name, rest = pair("--odds", text)
        for word in split(rest):
            state, _, number = word.rpartition(":")
            try:
                odds.setdefault(name, {})[state] = float(number if state else "")
            except ValueError:
                message = f"--odds must look like NAME=STATE:ODDS. Got {text!r}."
                raise UsageError(message) from None
    return odds or None
