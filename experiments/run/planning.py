"""What was asked for, checked as a whole before the first run of any experiment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesmend.errors import ParameterError
from experiments.catalog import load_experiment
from experiments.data import DataFolder
from experiments.design import Experiment
from experiments.packages import need_all
from experiments.run.rawrows import Row, Say, check_protocol, read_rows
from experiments.run.selection import has_method, has_setting, select

__all__ = ["Plan", "make_plans", "raw_file"]

_ALWAYS = ("scipy.stats", "matplotlib.figure")


@dataclass(frozen=True, slots=True)
class Plan:
    """An experiment, the part of it that was asked for, and where its rows are."""

    experiment: Experiment
    part: Experiment
    path: Path
    """The file of raw rows."""
    rows: list[Row] | None = None
    """The rows of the part, where a report alone was asked for."""


def raw_file(out: Path, name: str) -> Path:
    """Give the file of raw rows of an experiment."""
    return out / f"{name}.jsonl"


def make_plans(
    names: Sequence[str],
    *,
    out: Path,
    folder: DataFolder,
    quick: bool = False,
    methods: Sequence[str] | None = None,
    settings: Sequence[str] | None = None,
    repetitions: int | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    report_only: bool = False,
    say: Say,
) -> list[Plan]:
    """Check names, packages and data of all experiments.

    With several experiments each gets those of the `methods` and `settings` that it
    has, and one that has none of them is left out.

    Parameters
    ----------
    names : sequence of str
        Some of `experiments.catalog.NAMES`.
    out : Path
        Folder for raw rows, tables and figures.
    folder : DataFolder
        Where the data are.
    quick, methods, settings, repetitions
        The part asked for; see `experiments.run.selection.select`.
    seed : int, optional
        From which all seeds follow; 1 by default.
    time_limit : float, optional
        Seconds for each run of the methods that have a limit; the experiment's own by
        default.
    report_only : bool, default=False
        Nothing is to be run: seed and limit are by default those of the rows there are.
    say : callable
        Told what a person should know.

    Returns
    -------
    list of Plan
        What to do, experiment by experiment.

    Raises
    ------
    ParameterError, DataError, MissingDependencyError
        When anything asked for cannot be done.
    """
    loaded = [
        _load_with_rows(name, raw_file(out, name), seed, time_limit, say)
        if report_only
        else (load_experiment(name, seed=_seed(seed), time_limit=time_limit), None)
        for name in names
    ]
    experiments = [experiment for experiment, _ in loaded]
    asked_methods = _share_out(experiments, methods, has_method, "method")
    asked_settings = _share_out(experiments, settings, has_setting, "setting")
    plans = []
    for experiment, rows in loaded:
        chosen = asked_methods[experiment.name], asked_settings[experiment.name]
        if [] in chosen:
            say(f"{experiment.name} is left out: it has nothing of what was asked for.")
            continue
        part = select(
            experiment,
            methods=chosen[0],
            settings=chosen[1],
            repetitions=repetitions,
            quick=quick,
        )
        path = raw_file(out, experiment.name)
        plans.append(Plan(experiment, part, path, _rows_of(part, rows)))
    _check(plans, folder, report_only=report_only)
    return plans


def _seed(seed: int | None) -> int:
    return 1 if seed is None else seed


def _load_with_rows(
    name: str, path: Path, seed: int | None, time_limit: float | None, say: Say
) -> tuple[Experiment, list[Row] | None]:
    """Lay out the experiment that rows were made by, unless another is asked for."""
    rows = read_rows(path, say=say, measures=load_experiment(name).measures)
    if seed is None:
        seeds = (row.get("parameters", {}).get("seed") for row in rows)
        seed = next((found for found in seeds if isinstance(found, int)), None)
    plain = load_experiment(name, seed=_seed(seed))
    if time_limit is None:
        time_limit = _recorded_limit(plain, rows)
    experiment = load_experiment(name, seed=plain.seed, time_limit=time_limit)
    check_protocol(experiment, rows, path)
    return experiment, rows


def _recorded_limit(plain: Experiment, rows: Iterable[Row]) -> float | None:
    """Find a limit that is not the experiment's own."""
    own = {
        (setting.name, method.name): _limit(plain.parameters(setting, method))
        for setting in plain.settings
        for method in plain.methods
    }
    for row in rows:
        found = _limit(row.get("parameters", {}))
        expected = own.get((row["setting"], row["method"]))
        if expected is not None and found is not None and found != expected:
            return found
    return None


def _limit(parameters: Mapping[str, Any]) -> float | None:
    for part in ("method", "setting"):
        options = parameters.get(part)
        found = options.get("time_limit") if isinstance(options, Mapping) else None
        if isinstance(found, int | float):
            return found
    return None


def _share_out(
    experiments: Sequence[Experiment],
    names: Sequence[str] | None,
    has: Callable[[Experiment, str], bool],
    kind: str,
) -> dict[str, list[str] | None]:
    """Give each experiment the names that it knows; all of them to a single one."""
    if names is None:
        return {experiment.name: None for experiment in experiments}
    if len(experiments) == 1:
        return {experiments[0].name: list(names)}
    for name in names:
        if not any(has(experiment, name) for experiment in experiments):
            tables = ", ".join(experiment.name for experiment in experiments)
            message = (
                f"there is no {kind} {name!r} in any of {tables}. "
                f"Name one of them alone to be told its {kind}s."
            )
            raise ParameterError(message)
    return {
        experiment.name: [name for name in names if has(experiment, name)]
        for experiment in experiments
    }


def _rows_of(part: Experiment, rows: list[Row] | None) -> list[Row] | None:
    if rows is None:
        return None
    wanted = {(run.setting.name, run.repetition, m.name) for run, m in part.runs()}
    return [
        row
        for row in rows
        if (row["setting"], row["repetition"], row["method"]) in wanted
    ]


def _check(plans: Sequence[Plan], folder: DataFolder, *, report_only: bool) -> None:
    """Rather now than after hours: are packages and data there."""
    if not plans:
        message = "no table has both the methods and the settings asked for."
        raise ParameterError(message)
    if report_only:
        need_all(_ALWAYS)
        return
    methods = [method for plan in plans for _, method in plan.part.runs()]
    needs = [module for method in methods for module in method.needs]
    need_all(dict.fromkeys([*_ALWAYS, *needs]))
    folder.check(sorted({file for plan in plans for file in plan.part.files}))
