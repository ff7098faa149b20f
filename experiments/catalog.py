"""The experiments, by name."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from bayesmend._checks import check_number
from bayesmend.errors import ParameterError
from experiments.design import Experiment

__all__ = ["NAMES", "load_experiment"]

NAMES = {
    "table1": "samples of small networks, two MNAR cells per variable",
    "table2": "LUCAS, cells hidden all over or in the class, MNAR and MAR",
    "table3": "SPECT, 3, 5 and 10 % of the cells, of one value",
    "table4": "smoking cessation, hidden labels of smokers",
    "table5": "car evaluation, 100 hidden labels of one class",
    "optimum": "how often the t-local search attains the proven optimum",
    "imputation": "four networks, three mechanisms, against peers",
    "real": "real tables, 10 % of the observed cells hidden, against peers",
    "average": "real tables, one network against the mean of many and against peers",
    "confidence": "how sure arcs are: many networks, bootstrap, posterior",
    "optimism": "where augmentation is too optimistic, and where not",
    "structure": "which score finds the structure, complete and with hidden cells",
    "coverage": "whether intervals from imputed tables cover the truth",
    "mechanism": "four networks, three mechanisms: learning why cells are missing",
    "classifier": "twenty tables, the class of incomplete rows, against peers",
    "support": "blocks of missing cells: what a row without an example has to cost",
}
"""Names of the experiments, each with a line about it."""


def load_experiment(
    name: str, *, seed: int = 1, time_limit: float | None = None
) -> Experiment:
    """Lay out an experiment.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    seed : int, default=1
        From which all seeds follow.
    time_limit : float, optional
        Seconds for each run of the methods that have a limit; the experiment's own by
        default.

    Examples
    --------
    >>> load_experiment("table5").title
    'Table 5: car evaluation, 100 hidden labels of one class'
    >>> load_experiment("table5", time_limit=5).departures[0]
    'exact has 5 s a run instead of 60'
    """
    if name not in NAMES:
        message = f"there is no experiment {name!r}. Known: {', '.join(NAMES)}, all."
        raise ParameterError(message)
    if time_limit is not None:
        check_number("time_limit", time_limit, unit="seconds", above=0, finite=True)
    folder = "paper" if name.startswith("table") else "beyond"
    module = import_module(f"experiments.{folder}.{name}")
    plain: Experiment = module.design(seed=seed, time_limit=None)
    if time_limit is None:
        return plain
    found: Experiment = module.design(seed=seed, time_limit=float(time_limit))
    return replace(found, departures=_departures(plain, found))


def _departures(plain: Experiment, found: Experiment) -> tuple[str, ...]:
    """Say which methods have another limit than the experiment's own."""
    own, given = plain.limits, found.limits
    return tuple(
        f"{method} has {given[method]:g} s a run instead of {limit:g}"
        for method, limit in own.items()
        if given[method] != limit
    )
