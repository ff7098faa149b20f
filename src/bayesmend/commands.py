"""Commands that learn from a table."""

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayesmend.errors import ParameterError
from bayesmend.options import (
    Debug,
    Discretize,
    Force,
    Json,
    Missing,
    Seed,
    States,
    Table,
    Threads,
    TimeLimit,
)
from bayesmend.terminal import (
    check_outputs,
    json_text,
    print_json,
    read_table,
    words,
)

if TYPE_CHECKING:
    from bayesmend.constraints import Constraints
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
    score: Annotated[
        str, typer.Option(metavar="NAME", help="bdeu, k2, bic, aic or loglik.")
    ] = "bdeu",
    ess: Annotated[
        float, typer.Option(metavar="X", help="Equivalent sample size of bdeu.")
    ] = 1.0,
    max_parents: Annotated[
        int, typer.Option(metavar="N", help="Largest number of parents.")
    ] = 3,
    require: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="The arc A -> B must be there; may be repeated."
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="The arc A -> B must not be there; may be repeated."
        ),
    ] = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            help="Variables of one tier, the earliest first; may be repeated. No arc "
            "leads back to an earlier tier.",
        ),
    ] = None,
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
    constraints = _constraints(require, forbid, tier)
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
        "required": [list(arc) for arc in constraints.required],
        "forbidden": [list(arc) for arc in constraints.forbidden],
        "tiers": [list(names) for names in constraints.tiers],
        "time_limit": time_limit,
        "seed": seed,
        "threads": threads,
    }
    report = {
        **result.to_dict(),
        "n_rows": data.n_rows,
        "options": options,
        "version": _version(),
    }
    _write(result, report, outputs)
    if json:
        print_json(report)
    else:
        typer.echo(_summary(result, outputs))


def check_folder(folder: Path, outputs: list[Path], *, force: bool) -> None:
    """Refuse, before any work, a folder whose files cannot or must not be written."""
    if folder.exists() and not folder.is_dir():
        message = f"'{folder}' is a file. Name a folder with --out."
        raise ParameterError(message)
    if folder.is_dir():
        check_outputs(outputs, force=force)


class ProgressLine:
    """What a search is doing, on one line of a terminal; silent elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._last = -math.inf

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and self._last > -math.inf:
            sys.stderr.write("\r\x1b[K")

    def __call__(self, what: str, score: float, seconds: float) -> None:
        """Show the latest news, a few times a second at most."""
        now = time.monotonic()
        if not self._is_shown or now - self._last < 0.2:
            return
        self._last = now
        best = f", best score {score:.3f}" if math.isfinite(score) else ""
        sys.stderr.write(f"\r\x1b[K{what}{best}, {seconds:.0f} s")
        sys.stderr.flush()


def _constraints(
    require: list[str] | None, forbid: list[str] | None, tier: list[str] | None
) -> "Constraints":
    from bayesmend.constraints import Constraints

    return Constraints(
        required=[_arc("--require", text) for text in require or []],
        forbidden=[_arc("--forbid", text) for text in forbid or []],
        tiers=[words([text]) or [] for text in tier or []],
    )


def _arc(option: str, text: str) -> tuple[str, str]:
    names = words([text]) or []
    if len(names) != 2:
        message = f"{option} must look like PARENT,CHILD. Got {text!r} instead."
        raise typer.BadParameter(message)
    return names[0], names[1]


def _write(
    result: "StructureResult", report: dict[str, Any], outputs: list[Path]
) -> None:
    from bayesmend.formats import write_network
    from bayesmend.formats.text import write_text

    network, facts = outputs
    network.parent.mkdir(parents=True, exist_ok=True)
    write_network(result.network, network)
    write_text(facts, json_text(report) + "\n")


def _summary(result: "StructureResult", outputs: list[Path]) -> str:
    certainty = {
        "optimal": "the best possible score",
        "gap": f"at most {result.gap:.3f} below the best possible score",
        "heuristic": "no proof of the best possible score",
    }[result.status]
    lines = [
        f"score {result.score:.3f} ({certainty})",
        f"{result.dag.n_vars} variables, {result.dag.n_arcs} arcs",
        f"solver {result.solver}, {result.seconds:.2f} s",
    ]
    if "stopped" in result.detail:
        lines[-1] += f", stopped: {result.detail['stopped']}"
    return "\n".join([*lines, *map(str, outputs)])


def _version() -> str:
    from bayesmend import __version__

    return __version__
