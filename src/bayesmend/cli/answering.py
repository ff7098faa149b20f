"""The commands that use a network: fill the holes of a table, and ask a question."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesmend.cli.options import (
    MEMORY,
    Debug,
    Discretize,
    Force,
    Json,
    MaxMemory,
    Missing,
    Net,
    Seed,
    Table,
    Threads,
)
from bayesmend.cli.progress import version
from bayesmend.cli.terminal import (
    STREAM,
    check_outputs,
    check_stdout,
    notice,
    open_table,
    pair,
    print_json,
    read_cuts,
    read_net,
    words,
    write_through,
)

if TYPE_CHECKING:
    from bayesmend.inference.impute import Imputation
    from bayesmend.inference.query import Answer

__all__ = ["impute", "query"]

Samples = Annotated[
    int,
    typer.Option("--samples", metavar="N", help="Samples, for weighting.", min=1),
]
_MOST_FILES = 10_000  # of one call; more are a slip of the pen

# What options are called in the library, whose messages name parameters.
_SHARED_OPTIONS = {
    "max_memory": "--max-memory",
    "method": "--method",
    "n_samples": "--samples",
}
_IMPUTE_OPTIONS = {
    **_SHARED_OPTIONS,
    "inference": "--inference",
    "n_draws": "--draws",
}
_QUERY_OPTIONS = {**_SHARED_OPTIONS, "joint": "--joint"}


def impute(
    net: Net,
    file: Table,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="mpe (the most probable states of a row together), marginal (of each "
            "cell by itself) or draw (at random from the joint posterior).",
        ),
    ] = "mpe",
    draws: Annotated[
        int,
        typer.Option(
            metavar="M",
            help="Completed tables, with --method draw.",
            min=1,
            max=_MOST_FILES,
        ),
    ] = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Completed table, as CSV; stdout by default. With --draws 3, a.csv "
            "stands for a-1.csv, a-2.csv and a-3.csv.",
        ),
    ] = None,
    cells: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV of imputed cells: row (from 0), variable, state, probability, "
            "runner_up, table. - writes to stdout.",
        ),
    ] = None,
    inference: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="exact, or weighting: approximate, for marginal and draw.",
        ),
    ] = "exact",
    samples: Samples = 10_000,
    allow_absent: Annotated[
        bool,
        typer.Option(
            "--allow-absent",
            help="Add variables that the table lacks, as missing in every row.",
        ),
    ] = False,
    seed: Seed = None,
    threads: Threads = 0,
    max_memory: MaxMemory = MEMORY,
    json: Json = False,
    force: Force = False,
    missing: Missing = None,
    discretize: Discretize = None,
    debug: Debug = False,
) -> None:
    """Fill the missing cells of a table from a network.

    Observed cells and columns that the network does not know stay as they are.
    """
    from bayesmend._files import write_text
    from bayesmend.data.states import MISSING_MARKERS
    from bayesmend.inference.impute import impute as run

    outputs = _outputs(out, draws)
    check_stdout(out, "--cells", cells, json)
    if net == file == STREAM:
        message = "NET and FILE cannot both be stdin. Name a file for one of them."
        raise typer.BadParameter(message)
    check_outputs([*outputs, cells], force=force, are_tables=True)
    network = read_net(net)
    markers = MISSING_MARKERS if missing is None else missing
    with open_table(file) as path, _naming_options(_IMPUTE_OPTIONS):
        found = run(
            network,
            path,
            method=method,  # type: ignore[arg-type]
            n_draws=draws,
            seed=seed,
            inference=inference,  # type: ignore[arg-type]
            n_samples=samples,
            allow_absent=allow_absent,
            missing=markers,
            discretize=read_cuts(discretize),
            n_threads=threads,
            max_memory=max_memory,
        )
    # The list is made before anything is written: what goes wrong leaves no files.
    listed = None if cells is None else found.cells.to_csv()
    for number, output in enumerate(outputs):
        write = partial(found.write_csv, number=number, missing=markers)
        write_through(output, write)
    if listed is not None:
        write_through(cells, partial(write_text, text=listed))
    _tell(found)
    if json:
        facts = {
            **found.to_dict(),
            "files": [str(output) for output in outputs],
            "seed": seed,
            "version": version(),
        }
        print_json(facts)


def _outputs(out: Path | None, draws: int) -> list[Path | None]:
    """Name a file per table."""
    if draws <= 1:
        return [out]
    if out is None or str(out) == STREAM:
        message = f"--draws {draws} makes {draws} tables. Name files with --out a.csv."
        raise typer.BadParameter(message)
    stem, dot, rest = out.name.partition(".")
    return [out.with_name(f"{stem}-{k}{dot}{rest}") for k in range(1, draws + 1)]


def _tell(found: "Imputation") -> None:
    """Say on stderr what a reader of the table alone would miss."""
    from bayesmend.data.states import listing, quantity

    if found.extra:
        sys.stderr.write(
            f"Note: kept as they are, unknown to the network: {listing(found.extra)}.\n"
        )
    if found.absent:
        sys.stderr.write(
            f"Note: added, missing in the table: {listing(found.absent)}.\n"
        )
    p = found.cells.probabilities
    if p is not None and len(p):
        n_cells = quantity(len(p) // found.n_draws, "cell")
        notice(f"Imputed {n_cells}, on average with probability {p.mean():.3f}.")


def query(
    net: Net,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            help="Variables asked about; by default all that are not given. May be "
            "repeated.",
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=STATE", help="What is known; may be repeated."),
    ] = None,
    joint: Annotated[
        bool, typer.Option("--joint", help="Show the joint distribution, too.")
    ] = False,
    method: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="exact, or weighting: approximate, with errors."
        ),
    ] = "exact",
    samples: Samples = 100_000,
    seed: Seed = None,
    threads: Threads = 0,
    max_memory: MaxMemory = MEMORY,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Ask a network for the distribution of variables, given the states of others."""
    from bayesmend.inference.query import query as run

    targets = words(target)
    if targets is not None and not all(name.strip() for name in targets or [""]):
        message = f"--target must name variables. Got {','.join(target or [])!r}."
        raise typer.BadParameter(message)
    network = read_net(net)
    with _naming_options(_QUERY_OPTIONS):
        answer = run(
            network,
            targets,
            given=_evidence(given),
            joint=joint,
            method=method,  # type: ignore[arg-type]
            n_samples=samples,
            seed=seed,
            n_threads=threads,
            max_memory=max_memory,
        )
    if json:
        print_json({**answer.to_dict(), "version": version()})
    else:
        typer.echo(_show(answer))


@contextmanager
def _naming_options(options: dict[str, str]) -> Iterator[None]:
    """Let errors speak of options where the library speaks of parameters."""
    from bayesmend.errors import InferenceError, ParameterError

    try:
        yield
    except (InferenceError, ParameterError) as error:
        text = _name_options(str(error), options)
        raise type(error)(text) from error


def _name_options(text: str, options: dict[str, str]) -> str:
    """Put options in place of parameters that are given, raised or must be.

    Examples
    --------
    >>> _name_options("raise n_samples, or use method='draw'.", _IMPUTE_OPTIONS)
    'raise --samples, or use --method draw.'
    """
    for parameter, option in options.items():
        quoted = rf"(?<!\w){parameter}='(?!posterior)(\w+)'"
        text = re.sub(quoted, rf"{option} \1", text)
        text = re.sub(rf"(?<!\w){parameter}=True\b", option, text)
        text = re.sub(rf"(?<!\w){parameter}=(?=\d)", f"{option} ", text)
        text = re.sub(rf"\b([Rr]aise) {parameter}\b", rf"\1 {option}", text)
        text = re.sub(rf"(?<!\w){parameter} must be\b", f"{option} must be", text)
    return text


def _evidence(given: list[str] | None) -> dict[str, str]:
    evidence: dict[str, str] = {}
    for text in given or []:
        name, state = pair("--given", text)
        if evidence.get(name, state) != state:
            message = f"--given has two states of {name!r}. Give one."
            raise typer.BadParameter(message)
        evidence[name] = state
    return evidence


def _show(answer: "Answer") -> str:
    """Lay out an answer in columns."""
    given = ", ".join(f"{name}={state}" for name, state in answer.given.items())
    lines = []
    if given:
        lines += [f"given {given} (probability {_number(answer.probability)})", ""]
    rows: list[tuple[str, ...]] = []
    for name in answer.targets:
        for k, (state, p) in enumerate(answer.distributions[name].items()):
            error = None if answer.errors is None else answer.errors[name][state]
            shown = _number(p) if error is None else f"{_number(p)} ± {error:.1g}"
            rows.append((name if k == 0 else "", str(state), shown))
    lines += _aligned(rows)
    if answer.joint is not None:
        items = [(*map(str, states), _number(p)) for states, p in answer.joint_items()]
        lines += ["", *_aligned([(*answer.targets, "together"), *items])]
    if answer.effective_samples is not None:
        lines += ["", f"as good as {answer.effective_samples:,.0f} unweighted samples"]
    return "\n".join(lines)


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _number(p: float) -> str:
    return f"{p:.6f}" if p == 0 or p >= 1e-4 else f"{p:.3g}"
