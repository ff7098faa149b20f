"""From the name of an experiment to its tables and figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bayesmend.experiments.catalog import load_experiment
from bayesmend.experiments.extras import need
from bayesmend.experiments.figure import write_figures
from bayesmend.experiments.rawrows import Say, check_protocol, read_rows
from bayesmend.experiments.results import Results, summarise
from bayesmend.experiments.runner import Tick, run_experiment
from bayesmend.experiments.selection import select
from bayesmend.experiments.sources import DataFolder
from bayesmend.experiments.writing import render_tables, write_results

__all__ = ["Reproduction", "raw_file", "reproduce"]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Results of an experiment, and the files they were written to."""

    results: Results
    paths: tuple[Path, ...]

    @property
    def text(self) -> str:
        """The tables as Markdown."""
        return render_tables(self.results)


def raw_file(out: Path, name: str) -> Path:
    """Give the file of raw rows of an experiment."""
    return out / f"{name}.jsonl"


def reproduce(
    name: str,
    *,
    out: Path,
    data: Path | None = None,
    quick: bool = False,
    methods: Sequence[str] | None = None,
    settings: Sequence[str] | None = None,
    repetitions: int | None = None,
    seed: int = 1,
    time_limit: float | None = None,
    jobs: int = 1,
    report_only: bool = False,
    say: Say,
    progress: Callable[[Tick], None] | None = None,
) -> Reproduction:
    """Carry out what is left of an experiment, and write its tables and figures.

    Parameters
    ----------
    name : str
        One of `bayesmend.experiments.catalog.NAMES`.
    out : Path
        Folder for raw rows, tables and figures; made if needed.
    data : Path, optional
        Folder of data; by default the one that BAYESMEND_DATA names.
    quick, methods, settings, repetitions
        The part to carry out; see `bayesmend.experiments.selection.select`.
    seed : int, default=1
        From which all seeds follow.
    time_limit : float, optional
        Seconds for each run of exact learning; the experiment's own by default.
    jobs : int, default=1
        Number of processes.
    report_only : bool, default=False
        Run nothing: make tables and figures of the rows there are.
    say, progress : callable
        See `bayesmend.experiments.runner.run_experiment`.

    Returns
    -------
    Reproduction
        The results and the files written.
    """
    for module in ("scipy.special", "sklearn", "matplotlib.figure"):
        need(module)  # rather now than after hours
    experiment = load_experiment(name, seed=seed, time_limit=time_limit)
    path = raw_file(out, name)
    if report_only:
        rows = read_rows(path, say=say, measures=experiment.measures)
        check_protocol(experiment, rows, path)
    else:
        part = select(
            experiment,
            methods=methods,
            settings=settings,
            repetitions=repetitions,
            quick=quick,
        )
        rows = run_experiment(
            experiment,
            path,
            folder=DataFolder.find(data),
            part=part,
            jobs=jobs,
            say=say,
            progress=progress,
        )
    results = summarise(experiment, rows)
    paths = [*write_results(results, out), *write_figures(results, out)]
    return Reproduction(results, (path, *paths))
