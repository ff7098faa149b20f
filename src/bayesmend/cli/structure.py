"""The command that learns a structure from a complete table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesmend.cli.options import (
    Debug,
    Discretize,
    Ess,
    Forbid,
    Force,
    Json,
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
    from bayesmend.structure import StructureResult

__all__ = ["structure"]


def structure(
    file: Table,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Folder for network.bif and result.json; made if needed.",
            show_default=False,
        ),
    ],
    solver: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="auto, subsets or ilp (exact), order or greedy (heuristic).",
        ),
    ] = "auto",
    score: ScoreName = "bdeu",
    ess: Ess = 1.0,
    max_parents: MaxParents = 3,
    require: Require = None,
    forbid: Forbid = None,
    tier: Tier = None,
    time_limit: TimeLimit = None,
    seed: Seed = None,
    threads: Threads = 0,
    json: Json = False,
    force: Force = False,
    missing: Missing = None,
    states: States = None,
    discretize: Discretize = None,
    debug: Debug = False,
) -> None:
    """Learn the structure of a network from a complete table.

    Ctrl-C and --time-limit end the search; the best network so far is written.
    """
    from bayesmend.structure import learn_structure

    outputs = [out / "network.bif", out / "result.json"]
    check_folder(out, outputs, force=force)
    constraints = parse_constraints(require, forbid, tier)
    data = read_table(file, missing, states, discretize)
    with ProgressLine() as progress:
        result = learn_structure(
            data,
            score=score,
            ess=ess,
            max_parents=max_parents,
            solver=solver,
            constraints=constraints,
            time_limit=time_limit,
            seed=seed,
            n_threads=threads,
            progress=progress,
        )
    options = {
        "solver": solver,
        "score": score,
        "ess": ess,
        "max_parents": max_parents,
        **show_constraints(constraints),
        "time_limit": time_limit,
        "seed": seed,
        "threads": threads,
    }
    report = {
        **result.to_dict(),
        "n_rows": data.n_rows,
        "options": options,
        "version": version(),
    }
    _write(result, report, outputs)
    if json:
        print_json(report)
    else:
        typer.echo(_summary(result, outputs))


def _write(
    result: "StructureResult", report: dict[str, Any], outputs: list[Path]
) -> None:
    from bayesmend._files import write_text
    from bayesmend.formats import write_network

    network, facts = outputs
    network.parent.mkdir(parents=True, exist_ok=True)
    write_network(result.network, network)
    write_text(facts, json_text(report) + "\n")


def _summary(result: "StructureResult", outputs: list[Path]) -> str:
    certainty = {
        "optimal": "the best possible score",
        "bounded": f"at most {result.gap:.3f} below the best possible score",
        "heuristic": "no proof of the best possible score",
    }[result.certificate.value]
    lines = [
        f"score {result.score:.3f} ({certainty})",
        f"{result.dag.n_vars} variables, {result.dag.n_arcs} arcs",
        f"solver {result.solver}, {result.seconds:.2f} s",
    ]
    if result.stopped:
        lines[-1] += f", stopped by the {result.stopped.words}"
    return "\n".join([*lines, *map(str, outputs)])
