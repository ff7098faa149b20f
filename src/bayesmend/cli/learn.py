"""The command that learns a network from a table with holes, and mends the table."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesmend.cli.options import (
    MEMORY,
    Debug,
    Discretize,
    Ess,
    Forbid,
    Force,
    Json,
    MaxMemory,
    MaxParents,
    Missing,
    Require,
    ScoreName,
    Seed,
    States,
    Table,
    Threads,
    Tier,
    TimeLimit,
)
from bayesmend.cli.progress import (
    ProgressLine,
    check_folder,
    parse_constraints,
    show_constraints,
    version,
)
from bayesmend.cli.terminal import json_text, print_json, read_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayesmend.learning.result import LearnResult

__all__ = ["OUTPUTS", "learn", "summarise", "write_outputs"]

OUTPUTS = {
    "network.bif": "the network learned",
    "completed.csv": "the table with every hole filled",
    "cells.csv": "each mended cell: row (from 0), variable, state, how sure, runner_up",
    "result.json": "score, bound, gap, status, arcs, options",
    "report.html": "all of this to look at in a browser",
}
_SHOWN_ARCS = 30
_SHOWN_CELLS = 5


def learn(
    file: Table,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help=f"Folder for {', '.join(OUTPUTS)}; made if needed.",
            show_default=False,
        ),
    ],
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="exact (proven, or the gap), local (no small change is better), em or "
            "em-hard (structural EM, which weighs all completions), or auto: em if "
            "more than 100 cells and 5 % are missing; else exact up to 20 variables "
            "for half of --time-limit, and local beyond.",
        ),
    ] = "auto",
    score: ScoreName = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    locality: Annotated[
        int,
        typer.Option(metavar="T", help="Cells the local search changes at once."),
    ] = 1,
    restarts: Annotated[
        int, typer.Option(metavar="N", help="Random starts of local and em.")
    ] = 10,
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Structure solver of local and em: auto, subsets, ilp, order or "
            "greedy.",
        ),
    ] = "auto",
    require: Require = None,
    forbid: Forbid = None,
    tier: Tier = None,
    gap: Annotated[
        float,
        typer.Option(metavar="NATS", help="Stop exact when it is proven this close."),
    ] = 0.0,
    time_limit: TimeLimit = None,
    max_memory: MaxMemory = MEMORY,
    seed: Seed = None,
    threads: Threads = 0,
    json: Json = False,
    force: Force = False,
    missing: Missing = None,
    states: States = None,
    discretize: Discretize = None,
    debug: Debug = False,
) -> None:
    """Learn a network from a table with missing cells, and mend the table.

    Ctrl-C and --time-limit end the search; the best answer so far is written.
    """
    from bayesmend.learning.learn import learn as run

    check_folder(out, [out / name for name in OUTPUTS], force=force)
    constraints = parse_constraints(require, forbid, tier)
    data = read_table(file, missing, states, discretize)
    options: dict[str, Any] = {
        "method": method,
        "score": score,
        "ess": ess,
        "max_parents": max_parents,
        "locality": locality,
        "restarts": restarts,
        "solver": solver,
        "gap": gap,
        "time_limit": time_limit,
        "seed": seed,
    }
    with ProgressLine() as progress:
        result = run(
            data,
            **options,
            constraints=constraints,
            n_threads=threads,
            max_memory=max_memory,
            progress=progress,
        )
    options |= {**show_constraints(constraints), "threads": threads}
    facts = write_outputs(result, out, options, missing=missing)
    _tell(result)
    if json:
        print_json(facts)
    else:
        files = "\n".join(str(out / name) for name in OUTPUTS)
        typer.echo(f"{summarise(result)}\n{files}")


def write_outputs(
    result: "LearnResult",
    folder: Path,
    options: dict[str, Any],
    *,
    missing: list[str] | None = None,
    notes: "Mapping[str, str] | None" = None,
) -> dict[str, Any]:
    """Write the files of a result, each whole or not at all; give those of the JSON."""
    from bayesmend._files import write_text
    from bayesmend.data.states import MISSING_MARKERS
    from bayesmend.formats.bif import render as render_bif
    from bayesmend.report import render_report

    facts = {
        **result.to_dict(),
        "n_rows": result.completed.n_rows,
        "options": options,
        "version": version(),
    }
    # All is made before anything is written: what goes wrong leaves no files behind.
    texts = {
        "network.bif": render_bif(result.network),
        "cells.csv": result.cells.to_csv(),
        "result.json": json_text(facts) + "\n",
        "report.html": render_report(result, notes=notes),
    }
    folder.mkdir(parents=True, exist_ok=True)
    result.completed.write_csv(
        folder / "completed.csv",
        missing=MISSING_MARKERS if missing is None else missing,
    )
    for name, text in texts.items():
        write_text(folder / name, text)
    return facts


def summarise(result: "LearnResult") -> str:
    """Describe a result on a few lines."""
    from bayesmend.report.words import certificate, number, stopping

    ended = stopping(result)
    lines = [
        f"{result.status}. {certificate(result)}",
        f"score {number(result.score)}, bound {number(result.bound)}, "
        f"gap {number(result.gap)} (nats)",
        f"method {result.method}, {result.seconds:.2f} s"
        + (f", stopped by {ended}" if ended else ""),
    ]
    if result.chosen is not None:
        lines[-1] += f" (auto chose {result.chosen})"
    return "\n".join([*lines, "", *_arcs(result), "", *_cells(result), ""])


def _arcs(result: "LearnResult") -> list[str]:
    arcs = result.dag.arcs
    lines = [f"{result.dag.n_vars} variables, {_count(len(arcs), 'arc')}"]
    lines += [f"  {parent} -> {child}" for parent, child in arcs[:_SHOWN_ARCS]]
    if len(arcs) > _SHOWN_ARCS:
        lines.append(f"  and {len(arcs) - _SHOWN_ARCS} more in network.bif")
    return lines


def _cells(result: "LearnResult") -> list[str]:
    from bayesmend.report.words import Alike, least_certain, number, sureness

    n_cells = len(result.cells)
    total = result.completed.n_rows * result.completed.n_vars
    doubtful = least_certain(result)[:_SHOWN_CELLS]
    measure = sureness(result)
    lines = [f"{n_cells:,} of {total:,} cells mended"]
    if doubtful:
        lines[0] += f"; the least certain, by {measure.name}{measure.unit}:"
    for cell, rows in doubtful:
        where = f"row{'s' * (len(rows) > 1)} {Alike(cell, rows).show_rows(4)}"
        told = f"{cell.variable} = {cell.state}, else {cell.runner_up}: {where}"
        lines.append(f"  {number(measure.of(cell))}  {told}")
    return lines


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")


def _tell(result: "LearnResult") -> None:
    """Say on stderr what a reader of the files alone would miss."""
    from bayesmend.report.words import stopping

    if "note" in result.detail:
        sys.stderr.write(f"Note: {result.detail['note']}.\n")
    if stopping(result) == "Ctrl-C":
        sys.stderr.write("Interrupted: this is the best answer so far.\n")
