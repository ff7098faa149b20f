"""Fill the missing cells of a table from a network."""

from functools import partial
from pathlib import Path
from typing import Annotated

from bayesmend import __version__
from bayesmend._files import write_text
from bayesmend._formulas import without_formulas
from bayesmend.cli.options import (
    EMPTY_ROWS,
    AnyNet,
    Force,
    Json,
    MaxMemory,
    Rows,
    SafeCsv,
    Scheduler,
    Seed,
    Threads,
    defaults_of,
    empty_rows_in_words,
    flag,
    option,
    read_any,
    samples,
)
from bayesmend.cli.terminal import (
    STREAM,
    UsageError,
    check_outputs,
    check_stdout,
    note,
    notice,
    print_json,
    write_through,
)
from bayesmend.data.parts import files_of
from bayesmend.data.states import listing, quantity
from bayesmend.inference.engine import N_SAMPLES
from bayesmend.inference.files import ImputedFiles, impute_files
from bayesmend.inference.impute import Imputation
from bayesmend.inference.impute import impute as run

__all__ = ["impute"]

_MOST_FILES = 10_000  # of one call; more are a slip of the pen
_default = defaults_of(run)


def impute(
    *,
    net: AnyNet,
    method: Annotated[
        str | None,
        option(
            "NAME",
            "mpe (the most probable states of a row together; usual for a network), "
            "marginal (of each cell by itself; usual for an ensemble) or draw (at "
            "random from the joint posterior).",
        ),
    ] = _default.method,
    n_draws: Annotated[
        int,
        option(
            "M",
            "Completed tables, with --method draw.",
            "--draws",
            min=1,
            max=_MOST_FILES,
        ),
    ] = _default.n_draws,
    out: Annotated[
        Path | None,
        option(
            "FILE",
            "Completed table, as CSV; stdout by default. With --draws 3, a.csv stands "
            "for a-1.csv, a-2.csv and a-3.csv. For several files the folder of as many "
            "of the same names and formats.",
        ),
    ] = None,
    cells: Annotated[
        Path | None,
        option(
            "FILE",
            "CSV of imputed cells: row (from 0), variable, state, probability, "
            "runner_up, table. - writes to stdout.",
        ),
    ] = None,
    inference: Annotated[
        str, option("NAME", "exact, or weighting: approximate, for marginal and draw.")
    ] = _default.inference,
    n_samples: Annotated[int | None, samples(N_SAMPLES)] = _default.n_samples,
    allow_absent: Annotated[
        bool,
        flag(
            "--allow-absent",
            "Add variables that the table lacks, as missing in every row.",
        ),
    ] = _default.allow_absent,
    unknown: Annotated[
        str,
        option(
            "NAME",
            "Labels that the network does not know: error, or missing (they are "
            "written as they are).",
        ),
    ] = _default.unknown,
    fill: Annotated[
        str,
        option("NAME", "Numbers that were cut: filled with a number, or an interval."),
    ] = _default.fill,
    mechanism: Annotated[
        str,
        option(
            "NAME",
            "Where the network knows why cells are missing: use it, or ignore it.",
        ),
    ] = _default.mechanism,
    fill_empty_rows: Annotated[bool, EMPTY_ROWS] = _default.fill_empty_rows,
    seed: Seed = None,
    n_threads: Threads = _default.n_threads,
    max_memory: MaxMemory = _default.max_memory,
    client: Scheduler = None,
    json: Json = False,
    force: Force = False,
    safe_csv: SafeCsv = False,
    rows: Rows,
) -> None:
    """Fill the missing cells of a table from a network or an ensemble.

    Observed cells and columns that the network does not know stay as they are. Several
    files are completed one by one, and none has to fit into memory.
    """
    if client is not None or files_of(rows.given) is not None:
        if out is None or cells is not None or n_draws != 1:
            message = (
                "several files, or large ones, are completed file by file: they need "
                "--out DIR, and take neither --cells nor --draws."
            )
            raise UsageError(message)
        imputed = impute_files(
            read_any(net),
            rows.seen_by_workers() if client is not None else rows.given,
            out,
            force=force,
            method=method,  # type: ignore[arg-type]
            seed=seed,
            inference=inference,  # type: ignore[arg-type]
            n_samples=n_samples,
            allow_absent=allow_absent,
            unknown=unknown,  # type: ignore[arg-type]
            fill=fill,  # type: ignore[arg-type]
            fill_empty_rows=fill_empty_rows,
            mechanism=None if mechanism == _default.mechanism else mechanism,  # type: ignore[arg-type]
            n_threads=n_threads,
            max_memory=max_memory,
            safe=safe_csv,
            client=client,
            **rows.options(),
        )
        _tell(imputed, is_filled=fill_empty_rows)
        if json:
            print_json(imputed.to_dict() | {"seed": seed, "version": __version__})
        return
    outputs = _outputs(out, n_draws)
    check_stdout(out, "--cells", cells, json)
    if net == rows.given == STREAM:
        message = "NET and FILE cannot both be stdin. Name a file for one of them."
        raise UsageError(message)
    check_outputs([*outputs, cells], force=force, are_tables=True)
    network = read_any(net)
    with rows.opened() as table:
        found = run(
            network,
            table,
            method=method,  # type: ignore[arg-type]
            n_draws=n_draws,
            seed=seed,
            inference=inference,  # type: ignore[arg-type]
            n_samples=n_samples,
            allow_absent=allow_absent,
            unknown=unknown,  # type: ignore[arg-type]
            fill=fill,  # type: ignore[arg-type]
            mechanism=mechanism,  # type: ignore[arg-type]
            fill_empty_rows=fill_empty_rows,
            n_threads=n_threads,
            max_memory=max_memory,
            **rows.options(),
        )
    # The list is made before anything is written: what goes wrong leaves no files.
    with without_formulas(safe_csv):
        listed = None if cells is None else found.cells.to_csv()
        for number, output in enumerate(outputs):
            write = partial(found.write_csv, number=number, missing=rows.markers)
            write_through(output, write)
        if listed is not None:
            write_through(cells, partial(write_text, text=listed))
    _tell(found, is_filled=fill_empty_rows)
    if json:
        files = [str(output) for output in outputs]
        facts = {"files": files, "seed": seed, "version": __version__}
        print_json(found.to_dict() | facts)


def _outputs(out: Path | None, n_draws: int) -> list[Path | None]:
    """Name a file per table."""
    if n_draws <= 1:
        return [out]
    if out is None or str(out) == STREAM:
        tables = f"--draws {n_draws} makes {n_draws} tables"
        message = f"{tables}. Name files with --out a.csv."
        raise UsageError(message)
    stem, dot, rest = out.name.partition(".")
    return [out.with_name(f"{stem}-{k}{dot}{rest}") for k in range(1, n_draws + 1)]


def _tell(found: Imputation | ImputedFiles, *, is_filled: bool) -> None:
    if found.extra:
        note(f"kept as they are, unknown to the network: {listing(found.extra)}")
    if found.absent:
        note(f"added, missing in the table: {listing(found.absent)}")
    for name, count in found.unknown.items():
        labels = quantity(count, "label")
        note(f"{labels} of {name} unknown to the network, taken as missing")
    if found.n_empty_rows and not is_filled:
        note(empty_rows_in_words(found.n_empty_rows))
    told = found.to_dict()
    if told["n_imputed"]:
        n_cells, mean = quantity(told["n_imputed"], "cell"), told["mean_probability"]
        notice(f"Imputed {n_cells}, on average with probability {mean:.3f}.")
    else:
        notice("No cell is missing: there is nothing to impute.")
