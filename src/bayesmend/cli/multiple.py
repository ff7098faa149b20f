"""Complete a table several times, for analyses that know what is not known."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from bayesmend import __version__
from bayesmend._formulas import without_formulas
from bayesmend.cli.options import (
    EMPTY_ROWS,
    Checkpoint,
    Folder,
    MaxMemory,
    Reading,
    SafeCsv,
    Search,
    defaults_of,
    option,
)
from bayesmend.cli.terminal import end_interrupted, json_text, print_json, say
from bayesmend.data.states import quantity
from bayesmend.learning.multiple import MultipleImputation, impute_multiple
from bayesmend.outcome import Stopped
from bayesmend.report.reading import reading_facts

__all__ = ["multiple"]

_MOST_TABLES = 10_000  # of one call; more are a slip of the pen
_RESULT = "result.json"
_default = defaults_of(impute_multiple)


def multiple(
    *,
    folder: Folder,
    m: Annotated[
        int,
        option("M", "Completed tables.", "--tables", min=1, max=_MOST_TABLES),
    ] = _default.m,
    method: Annotated[
        str,
        option(
            "NAME",
            "How structures are drawn: partition (from their posterior) or bootstrap.",
        ),
    ] = _default.method,
    search: Search,
    n_chains: Annotated[int, option("N", "Chains.", "--chains", min=1)] = (
        _default.n_chains
    ),
    burn_in: Annotated[
        int, option("N", "Rounds of a chain before its first table.", min=1)
    ] = _default.burn_in,
    thin: Annotated[
        int, option("N", "Rounds between two tables of a chain.", min=1)
    ] = _default.thin,
    fill: Annotated[
        str,
        option("NAME", "Numbers that were cut: filled with a number, or an interval."),
    ] = _default.fill,
    fill_empty_rows: Annotated[bool, EMPTY_ROWS] = _default.fill_empty_rows,
    max_memory: MaxMemory = _default.max_memory,
    checkpoint: Checkpoint = _default.checkpoint,
    safe_csv: SafeCsv = False,
    reading: Reading,
) -> None:
    """Complete a table several times, for multiple imputation.

    Structure, parameters and missing cells are drawn anew for each. Writes
    completed-1.csv and so on, and result.json. Ctrl-C and --time-limit end the
    drawing; the tables so far are written. After Ctrl-C the exit code is 130.
    """
    names = [_name(number, m) for number in range(m)]
    folder.check([*names, _RESULT])
    own: dict[str, Any] = {
        "method": method,
        "n_chains": n_chains,
        "burn_in": burn_in,
        "thin": thin,
        "fill": fill,
        "fill_empty_rows": fill_empty_rows,
    }
    arguments = search.arguments()
    data = reading.table()
    found = impute_multiple(
        data, m, **own, **arguments, max_memory=max_memory, checkpoint=checkpoint
    )
    facts = {
        **found.to_dict(),
        "files": names[: found.m],
        "n_rows": data.n_rows,
        **reading_facts(data),
        "options": {"m": m, **own, **search.to_dict(), **reading.to_dict()},
        "version": __version__,
    }
    files: dict[str, str | Callable[[Path], None]] = {
        names[number]: partial(
            table.write_csv, missing=reading.markers, fill=found.fill
        )
        for number, table in enumerate(found.tables)
    }
    with without_formulas(safe_csv):
        folder.write(
            {**files, _RESULT: json_text(facts) + "\n"}, earlier="completed-*.csv"
        )
    if folder.json:
        print_json(facts)
    else:
        say("\n".join([_summary(found), *(str(folder.out / name) for name in files)]))
    if found.stopped is Stopped.INTERRUPT:
        end_interrupted()


def _name(number: int, m: int) -> str:
    return f"completed-{number + 1:0{len(str(m))}d}.csv"


def _summary(found: MultipleImputation) -> str:
    tables, cells = (
        quantity(found.m, "table"),
        quantity(found.n_missing, "missing cell"),
    )
    line = f"{tables}, {cells} filled in each, {found.seconds:.2f} s"
    if found.stopped:
        line += f", stopped by the {found.stopped.words}"
    return line
