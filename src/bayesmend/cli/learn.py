"""Learn a network from a table with missing cells, and mend the table."""

import webbrowser
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from bayesmend._formulas import without_formulas
from bayesmend.cli.again import calls_of
from bayesmend.cli.declare import flag
from bayesmend.cli.options import (
    EMPTY_ROWS,
    ENSEMBLE,
    NETWORK,
    OWN_MEMORY,
    Checkpoint,
    Folder,
    Reading,
    SafeCsv,
    Scheduler,
    Search,
    defaults_of,
    empty_rows_in_words,
    option,
    repeated,
    split,
)
from bayesmend.cli.terminal import (
    UsageError,
    end_interrupted,
    json_text,
    note,
    print_json,
    say,
)
from bayesmend.data.states import MISSING_MARKERS, listing, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.formats.bif import render as render_bif
from bayesmend.formats.ensemble import render as render_ensemble
from bayesmend.learning.ensemble import Ensemble
from bayesmend.learning.learn import learn as run
from bayesmend.learning.mechanism.given import MechanismLike
from bayesmend.learning.result import LearnResult
from bayesmend.learning.saved import FILE as RESULT
from bayesmend.learning.saved import saved
from bayesmend.outcome import Stopped
from bayesmend.report import render_report
from bayesmend.report.facts import facts_of
from bayesmend.report.words import (
    Alike,
    certificate,
    least_certain,
    mended_in_words,
    number,
    stopping,
    sureness,
)
from bayesmend.structure.ess import ess_in_words
from bayesmend.structure.others import others_in_words

__all__ = ["OUTPUTS", "facts_of", "files_of", "learn", "summarise"]

OUTPUTS = {
    NETWORK: "the network learned",
    "completed.csv": "the table with every missing cell of its variables filled",
    "cells.csv": "each mended cell: row (from 0), variable, state, how sure, "
    "runner_up, whether supported by an observed example",
    RESULT: "score, bound, gap, status, arcs, options, what columns are; all of the "
    "result, for read_result and report",
    "report.html": "all of this to look at in a browser",
}
THERE = (NETWORK, RESULT)
"""What is written where the rows stay on a cluster."""
_SHOWN_ARCS = 30
_SHOWN_CELLS = 5
_default = defaults_of(run)


def learn(
    *,
    folder: Folder,
    method: Annotated[
        str,
        option(
            "NAME",
            "exact (proven, or the gap), local (no small change is better), em or "
            "em-hard (structural EM, which weighs all completions), ensemble (the mean "
            "of many networks), or auto: exact if a short search finds a proof, else "
            "em; it answers in seconds. Give exact a --time-limit: a proof may take "
            "days, and Ctrl-C writes the best so far.",
        ),
    ] = _default.method,
    search: Search,
    support: Annotated[
        float | None,
        option(
            "NATS",
            "What a row costs where no observed row of its kind is an example; 0 "
            "switches it off.",
        ),
    ] = _default.support,
    locality: Annotated[
        int | None,
        option("T", "Cells that exact and local change at once; 1 by default."),
    ] = _default.locality,
    restarts: Annotated[
        int | None,
        option("N", "Random starts; 10 by default, fewer for large tables in auto."),
    ] = _default.restarts,
    n_networks: Annotated[
        int | None,
        option("N", "Networks of ensemble; 50 by default.", "--networks"),
    ] = _default.n_networks,
    solver: Annotated[
        str,
        option(
            "NAME",
            "Structure solver of local and em: auto, subsets, ilp, order or greedy.",
        ),
    ] = _default.solver,
    mechanism: Annotated[
        list[str] | None,
        repeated(
            "NAME",
            "Why cells are missing: ignore, self (what they hold), auto (learned, by "
            "em, before exact and local), or A=B,C: those of A for what A's row holds "
            "in B and C. By default ignore, and with --method auto what a test says",
        ),
    ] = None,
    max_mechanism_parents: Annotated[
        int, option("N", "Variables that missing cells of one may depend on.")
    ] = _default.max_mechanism_parents,
    stability: Annotated[
        int,
        option(
            "N",
            "Bootstrap samples that the mechanism is learned from again, to tell how "
            "often it is the same.",
        ),
    ] = _default.stability,
    gap: Annotated[
        float | None,
        option("NATS", "Stop exact when it is proven this close; 0 by default."),
    ] = _default.gap,
    certificate: Annotated[
        str | None,
        option(
            "FILE",
            "Take the proof of exact to a .json or .json.gz file, for others to check: "
            "bayesmend verify.",
        ),
    ] = _default.certificate,
    full: Annotated[
        bool,
        flag(
            "--full",
            "Have em search for the structure of a long table with all rows at once, "
            "instead of samples that grow.",
        ),
    ] = _default.full,
    max_memory: Annotated[float | None, OWN_MEMORY] = _default.max_memory,
    checkpoint: Checkpoint = _default.checkpoint,
    client: Scheduler = _default.client,
    safe_csv: SafeCsv = False,
    open_report: Annotated[
        bool, flag("--open", "Show the report in the browser when it is there.")
    ] = False,
    fill_empty_rows: Annotated[bool, EMPTY_ROWS] = _default.fill_empty_rows,
    reading: Reading,
) -> None:
    """Learn a network from a table with missing cells, and mend the table.

    Writes network.bif, completed.csv, cells.csv (each mended cell), result.json and
    report.html; with --method ensemble also ensemble.json, which impute and query take
    in place of a network. Ctrl-C and --time-limit end the search; the best answer so
    far is written. After Ctrl-C the exit code is 130. With --checkpoint the same
    command goes on where a run was ended, in whatever way. With --scheduler the rows
    stay on a cluster: network.bif and result.json are written, and impute fills them.
    """
    if client is not None:
        names: Iterable[str] = THERE
    else:
        names = [*OUTPUTS, *([ENSEMBLE] if method == "ensemble" else [])]
    folder.check(names, certificate, goes_on=checkpoint is not None)
    own: dict[str, Any] = {
        "method": method,
        "support": support,
        "locality": locality,
        "restarts": restarts,
        "n_networks": n_networks,
        "solver": solver,
        "mechanism": mechanism_of(mechanism),
        "max_mechanism_parents": max_mechanism_parents,
        "stability": stability,
        "gap": gap,
        "certificate": certificate,
        "full": full,
        "fill_empty_rows": fill_empty_rows,
    }
    arguments = search.arguments()
    limits: dict[str, Any] = {"max_memory": max_memory, "checkpoint": checkpoint}
    if client is not None:
        result = run(
            reading.seen_by_workers(),
            client=client,
            **own,
            **arguments,
            **limits,
            **reading.options(),
        )
    else:
        result = run(reading.table(), **own, **arguments, **limits)
    calls = calls_of(
        "learn",
        reading.given,
        own | arguments | reading.options() | {"max_memory": max_memory},
        vars(defaults_of(IncompleteData.from_table)) | vars(_default),
    )
    made = f"{date.today():%Y-%m-%d}"
    facts = facts_of(result, own | search.to_dict() | reading.to_dict(), calls)
    facts["date"] = made
    notes = {"table": reading.title, "date": made}
    with without_formulas(safe_csv):
        files = files_of(result, facts, missing=reading.markers, notes=notes)
        if client is not None:
            files = {name: files[name] for name in THERE}
        folder.write(files, earlier=ENSEMBLE)
    if "note" in result.detail:
        note(result.detail["note"])
    if result.n_empty_rows and not fill_empty_rows:
        note(empty_rows_in_words(result.n_empty_rows))
    if folder.json:
        print_json(facts)
    else:
        known = (*OUTPUTS, ENSEMBLE)
        written = [str(folder.out / name) for name in known if name in files]
        if result.certificate_file is not None:
            written.append(result.certificate_file)
        say("\n".join([summarise(result), *written]))
    if open_report and client is None:
        _show(folder.out / "report.html")
    if result.stopped is Stopped.INTERRUPT:
        end_interrupted()


def _show(page: Path) -> None:
    """Open a page in the browser, or say where it is."""
    if not webbrowser.open(page.resolve().as_uri()):
        note(f"no browser was found to show {page}")


def mechanism_of(texts: list[str] | None) -> MechanismLike:
    """Read why cells are missing: a rule, or variables with what theirs depend on.

    Examples
    --------
    >>> mechanism_of(["auto"]), mechanism_of(["income=income,age"])
    ('auto', {'income': ['income', 'age']})
    """
    if not texts:
        return _default.mechanism  # type: ignore[no-any-return]
    if len(texts) == 1 and "=" not in texts[0]:
        return texts[0]  # type: ignore[return-value]
    given = {}
    for text in texts:
        name, equals, parents = text.partition("=")
        if not equals or not name:
            message = f"--mechanism must look like A=B,C. Got {text!r} instead."
            raise UsageError(message)
        given[name] = split(parents)
    return given


def files_of(
    result: LearnResult,
    facts: dict[str, Any],
    *,
    missing: Iterable[str] = MISSING_MARKERS,
    notes: Mapping[str, str] | None = None,
) -> dict[str, str | Callable[[Path], None]]:
    """Make the contents of all files, so that what goes wrong leaves none behind."""
    more: dict[str, str | Callable[[Path], None]] = {}
    if isinstance(result, Ensemble):
        more = {ENSEMBLE: render_ensemble(result.mixture)}
    return {
        **more,
        "completed.csv": partial(result.completed.write_csv, missing=missing),
        NETWORK: render_bif(result.network),
        "cells.csv": result.cells.to_csv(),
        RESULT: json_text({**facts, "saved": saved(result)}) + "\n",
        "report.html": render_report(
            result, notes=notes, options=facts["options"], calls=facts.get("again")
        ),
    }


def summarise(result: LearnResult) -> str:
    """Describe a result on a few lines."""
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
    told = (
        result.rows_in_words,
        ess_in_words(result.detail),
        others_in_words(result.detail),
    )
    lines += [words for words in told if words is not None]
    parts = [*lines, "", *_arcs(result), "", *_cells(result), "", *_mended(result)]
    parts += mechanism_in_words(result)
    return "\n".join(parts)


def _arcs(result: LearnResult) -> list[str]:
    arcs = result.dag.arcs
    n_vars, n_arcs = quantity(result.dag.n_vars, "variable"), quantity(len(arcs), "arc")
    lines = [f"{n_vars}, {n_arcs}"]
    lines += [
        f"  {parent} -> {child}{_share_of(result, parent, child)}"
        for parent, child in arcs[:_SHOWN_ARCS]
    ]
    if len(arcs) > _SHOWN_ARCS:
        lines.append(f"  and {len(arcs) - _SHOWN_ARCS} more in network.bif")
    return lines


def _share_of(result: LearnResult, parent: str, child: str) -> str:
    """Tell how many networks of an ensemble have an arc, either way and this way."""
    if not isinstance(result, Ensemble):
        return ""
    arc = result.arc_probabilities().arc(parent, child)
    return f"  {arc.undirected:.0%}, this way {arc.probability:.0%}"


def _cells(result: LearnResult) -> list[str]:
    doubtful = least_certain(result)[:_SHOWN_CELLS]
    measure = sureness(result)
    lines = [mended_in_words(result)]
    if doubtful:
        lines[0] += f"; the least certain, by {measure.name}{measure.unit}:"
    for cell, rows in doubtful:
        where = f"row{'s' * (len(rows) > 1)} {Alike(cell, rows).show_rows(4)}"
        told = f"{cell.variable} = {cell.state}, else {cell.runner_up}: {where}"
        lines.append(f"  {number(measure.of(cell))}  {told}")
    if counts := result.unsupported:
        listed = [f"{name} {count:,}" for name, count in counts.items()]
        lines.append(
            f"{quantity(sum(counts.values()), 'mended cell')} without an observed "
            f"example: {listing(listed, _SHOWN_CELLS)}"
        )
    return lines


def mechanism_in_words(result: LearnResult) -> list[str]:
    """Say why cells are missing, where that was learned."""
    found = result.mechanism
    if found is None or not len(found):
        return []
    if found.is_innocent:
        return ["missing cells: nothing found that they depend on", ""]
    return ["missing cells:", *str(found).splitlines(), ""]


def _mended(result: LearnResult) -> list[str]:
    if len(result.cells) == 0:
        return []
    return ["observed against mended:", *str(result.mended).splitlines(), ""]
