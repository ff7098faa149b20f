"""From the name of an experiment to its tables and figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments.figure import write_figures
from experiments.planning import Plan
from experiments.rawrows import Say
from experiments.results import Results, summarise
from experiments.runner import Tick, run_experiment
from experiments.sources import DataFolder
from experiments.writing import render_tables, write_results

__all__ = ["Reproduction", "reproduce"]


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Results of an experiment, and the files they were written to."""

    results: Results
    paths: tuple[Path, ...]

    @property
    def text(self) -> str:
        """The tables as Markdown."""
        return render_tables(self.results)


def reproduce(
    plan: Plan,
    *,
    folder: DataFolder,
    jobs: int = 1,
    say: Say,
    progress: Callable[[Tick], None] | None = None,
) -> Reproduction:
    """Carry out what is left of an experiment, and write its tables and figures.

    Parameters
    ----------
    plan : Plan
        What to do, made by `experiments.planning.make_plans`; tables and
        figures go to the folder of its raw rows.
    folder : DataFolder
        Where the data are.
    jobs : int, default=1
        Number of processes.
    say, progress : callable
        See `experiments.runner.run_experiment`.

    Returns
    -------
    Reproduction
        The results and the files written.
    """
    rows = plan.rows
    if rows is None:
        rows = run_experiment(
            plan.experiment,
            plan.path,
            folder=folder,
            part=plan.part,
            jobs=jobs,
            say=say,
            progress=progress,
        )
    results = summarise(plan.experiment, rows)
    out = plan.path.parent
    paths = [*write_results(results, out), *write_figures(results, out)]
    return Reproduction(results, (plan.path, *paths))
