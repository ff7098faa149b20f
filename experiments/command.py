"""The command that carries out experiments: names in, tables and figures out."""

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayesmend.cli.options import Debug, words
from bayesmend.cli.terminal import Command, UsageError
from bayesmend.errors import ParameterError

if TYPE_CHECKING:
    from experiments.data import DataFolder
    from experiments.run.planning import Plan
    from experiments.run.runner import Tick

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _positive(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds < math.inf:
        message = f"a limit is a number of seconds > 0. Got {seconds:g} instead."
        raise typer.BadParameter(message)
    return seconds


@app.command(cls=Command)
def reproduce(
    tables: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TABLE",
            help="Names such as table1 (see --list), or all.",
            show_default=False,
        ),
    ] = None,
    list_: Annotated[
        bool, typer.Option("--list", help="List the names and stop.")
    ] = False,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Few repetitions: minutes instead of hours."),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", help="Folder for raw rows, tables, figures; made if needed."
        ),
    ] = Path("reproduction"),
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder of data; BAYESMEND_DATA by default. What is missing is "
            "named with its public source.",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option(metavar="N", help="Number of processes.", min=1)
    ] = 1,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...",
            help="Only these methods; of several tables those that have them.",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B,...", help="Only settings whose names start like this."
        ),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(metavar="N", help="At most N repetitions of a setting.", min=1),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Seconds for each run of exact, of structural EM in imputation and "
            "real, and of auto; by default those of the experiment, which its page "
            "names. Other methods have no limit.",
            callback=_positive,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="From which all seeds follow; 1 by default.",
            min=0,
            show_default=False,
        ),
    ] = None,
    report_only: Annotated[
        bool,
        typer.Option(
            "--report-only",
            help="Run nothing: tables of the raw rows there are, or of the part that "
            "other options name.",
        ),
    ] = False,
    debug: Debug = False,
) -> None:
    """Carry out experiments of the paper; published beside measured.

    A run that was killed or interrupted goes on where it stopped: raw rows are kept,
    and what they hold is not done again.
    """
    from experiments.data import DataFolder
    from experiments.run.planning import make_plans

    if list_:
        _list()
        return
    names = _names(tables or [], out, report_only=report_only)
    if out.exists() and not out.is_dir():
        message = f"'{out}' is a file. Name a folder with --out."
        raise ParameterError(message)
    folder = DataFolder.find(data)
    plans = make_plans(
        names,
        out=out,
        folder=folder,
        quick=quick,
        methods=words(methods),
        settings=words(settings),
        repetitions=repetitions,
        seed=seed,
        time_limit=time_limit,
        report_only=report_only,
        say=_say,
    )
    for plan in plans:
        try:
            _carry_out(plan, folder, jobs)
        except KeyboardInterrupt:
            _say(
                f"Interrupted. The raw rows of {plan.experiment.name} are kept: run "
                "the same command again to go on, or add --report-only for tables of "
                "what is there."
            )
            raise typer.Exit(130) from None


def _carry_out(plan: "Plan", folder: "DataFolder", jobs: int) -> None:
    """Do what is left of an experiment; write and show its tables and figures."""
    from experiments.render.figure import write_figures
    from experiments.render.page import render_tables, write_results
    from experiments.render.results import summarise
    from experiments.run.runner import run_experiment

    rows = plan.rows
    if rows is None:
        with _ProgressLine(plan.experiment.name) as progress:
            rows = run_experiment(
                plan.experiment,
                plan.path,
                folder=folder,
                part=plan.part,
                jobs=jobs,
                say=_say,
                progress=progress,
            )
    results, out = summarise(plan.experiment, rows), plan.path.parent
    paths = [plan.path, *write_results(results, out), *write_figures(results, out)]
    typer.echo(render_tables(results))
    typer.echo("".join(f"{path}\n" for path in paths))


def _list() -> None:
    from experiments.catalog import NAMES

    for name, about in NAMES.items():
        typer.echo(f"{name:12}{about}")
    typer.echo(f"{'all':12}all of them, one after the other")


def _names(asked: list[str], out: Path, *, report_only: bool) -> list[str]:
    """Check the names of experiments, and spell out ``all``."""
    from experiments.catalog import NAMES
    from experiments.run.planning import raw_file

    if not asked:
        message = f"name a table, such as {next(iter(NAMES))}, or all. See --list."
        raise UsageError(message)
    unknown = [name for name in asked if name not in {*NAMES, "all"}]
    if unknown:
        known = ", ".join([*NAMES, "all"])
        message = f"there is no table {unknown[0]!r}. Known: {known}."
        raise UsageError(message)
    if "all" not in asked:
        return list(dict.fromkeys(asked))
    if not report_only:
        return list(NAMES)
    found = [name for name in NAMES if raw_file(out, name).exists()]
    if not found:
        message = f"there are no raw rows in '{out}'. Run an experiment first."
        raise ParameterError(message)
    return found


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


class _ProgressLine:
    """One line on stderr that tells how far an experiment is, on a terminal only."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_shown = sys.stderr.isatty()
        self._last = float("-inf")

    def __enter__(self) -> "_ProgressLine":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and self._last > float("-inf"):
            sys.stderr.write("\r\x1b[K")

    def __call__(self, tick: "Tick") -> None:
        now = time.monotonic()
        if not self._is_shown or now - self._last < 0.2:
            return
        self._last = now
        left = tick.seconds / tick.n_done * (tick.n_all - tick.n_done)
        row = tick.row
        sys.stderr.write(
            f"\r\x1b[K{self._name}: {tick.n_done:,} of {tick.n_all:,} runs, "
            f"{_duration(tick.seconds)}, about {_duration(left)} left "
            f"({row['setting']}, {row['method']})"
        )
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    """Show a duration in two units at most.

    Examples
    --------
    >>> _duration(7.2), _duration(150), _duration(7500)
    ('7 s', '2 min 30 s', '2 h 5 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
