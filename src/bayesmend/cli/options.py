"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from bayesmend.cli.terminal import remember_debug

__all__ = [
    "MEMORY",
    "Debug",
    "Discretize",
    "Ess",
    "Forbid",
    "Force",
    "Json",
    "MaxMemory",
    "MaxParents",
    "Missing",
    "Net",
    "Require",
    "ScoreName",
    "Seed",
    "States",
    "Table",
    "Threads",
    "Tier",
    "TimeLimit",
]

Table = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="Table: .csv, .tsv, .txt (also .gz), .parquet or .arrow; - reads stdin.",
        show_default=False,
    ),
]
Net = Annotated[
    str,
    typer.Argument(
        metavar="NET",
        help="Network: a .bif, .xmlbif, .json or .graphml file (also .gz), "
        "a shipped one by name (asia, lucas), or - for stdin.",
        show_default=False,
    ),
]
Debug = Annotated[
    bool,
    typer.Option(
        "--debug",
        help="Show the traceback of an error.",
        callback=remember_debug,
        is_eager=True,
    ),
]
Force = Annotated[
    bool, typer.Option("--force", help="Replace files that exist already.")
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", metavar="N", help="Same seed, same result.", min=0),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TEXT",
        help="Text of a missing cell, in place of the usual ones (empty, NA, NaN, "
        "null, None, ?); may be repeated.",
    ),
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--states",
        metavar="NAME=A,B,...",
        help="States of a variable, in order; may be repeated.",
    ),
]
Discretize = Annotated[
    list[str] | None,
    typer.Option(
        "--discretize",
        metavar="NAME=HOW",
        help="Cut a numeric variable into intervals: age=4 (quantiles), "
        "age=uniform:4 (equal widths) or age=cuts:18,65; may be repeated.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Threads = Annotated[
    int,
    typer.Option(
        "--threads", metavar="N", help="Number of threads; 0: one per core.", min=0
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option("--time-limit", metavar="S", help="Seconds; no limit by default."),
]
MaxMemory = Annotated[
    float,
    typer.Option(
        "--max-memory", metavar="BYTES", help="Limit of the tables of exact inference."
    ),
]
MEMORY = 2.0**30  # what is allowed unless the user says otherwise
ScoreName = Annotated[
    str,
    typer.Option("--score", metavar="NAME", help="bdeu, k2, bic, aic or loglik."),
]
Ess = Annotated[
    float,
    typer.Option("--ess", metavar="X", help="Equivalent sample size of bdeu."),
]
MaxParents = Annotated[
    int,
    typer.Option("--max-parents", metavar="N", help="Largest number of parents."),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require",
        metavar="A,B",
        help="The arc A -> B must be there; may be repeated.",
    ),
]
Forbid = Annotated[
    list[str] | None,
    typer.Option(
        "--forbid",
        metavar="A,B",
        help="The arc A -> B must not be there; may be repeated.",
    ),
]
Tier = Annotated[
    list[str] | None,
    typer.Option(
        "--tier",
        metavar="A,B,...",
        help="Variables of one tier, the earliest first; may be repeated. No arc "
        "leads back to an earlier tier.",
    ),
]
