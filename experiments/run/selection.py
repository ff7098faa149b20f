"""A part of an experiment: some methods, some settings, fewer repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bayesmend.errors import ParameterError
from experiments.design import Experiment, Method, Setting

__all__ = ["has_method", "has_setting", "select"]


def select(
    experiment: Experiment,
    *,
    methods: Sequence[str] | None = None,
    settings: Sequence[str] | None = None,
    repetitions: int | None = None,
    quick: bool = False,
) -> Experiment:
    """Give the part of an experiment that was asked for.

    Parameters
    ----------
    experiment : Experiment
        The whole.
    methods : sequence of str, optional
        Names of methods, or of families of methods.
    settings : sequence of str, optional
        Beginnings of the names of settings.
    repetitions : int, optional
        At most so many repetitions of each setting, the first ones.
    quick : bool, default=False
        The repetitions and settings that the experiment itself calls quick, unless
        `repetitions` and `settings` say otherwise.
    """
    if repetitions is None and quick:
        repetitions = experiment.quick_repetitions
    if settings is None and quick:
        settings = experiment.quick_settings
    kept = _starting_with(experiment, settings)
    return replace(
        experiment,
        methods=_named(experiment, methods),
        settings=tuple(
            replace(setting, repetitions=tuple(setting.repetitions)[:repetitions])
            for setting in kept
        ),
    )


def has_method(experiment: Experiment, name: str) -> bool:
    """Tell whether a method or a family of methods has this name."""
    return any(name in (method.name, method.family) for method in experiment.methods)


def has_setting(experiment: Experiment, start: str) -> bool:
    """Tell whether the name of a setting starts like this."""
    return any(setting.name.startswith(start) for setting in experiment.settings)


def _named(experiment: Experiment, names: Sequence[str] | None) -> tuple[Method, ...]:
    if names is None:
        return experiment.methods
    known = {name for m in experiment.methods for name in (m.name, m.family) if name}
    for name in names:
        if not has_method(experiment, name):
            message = (
                f"{experiment.name} has no method {name!r}. Known: "
                f"{', '.join(sorted(known))}."
            )
            raise ParameterError(message)
    return tuple(m for m in experiment.methods if {m.name, m.family} & set(names))


def _starting_with(
    experiment: Experiment, starts: Sequence[str] | None
) -> tuple[Setting, ...]:
    if starts is None:
        return experiment.settings
    for start in starts:
        if not has_setting(experiment, start):
            known = ", ".join(s.name for s in experiment.settings)
            message = (
                f"{experiment.name} has no setting that starts with {start!r}. "
                f"Known: {known}."
            )
            raise ParameterError(message)
    return tuple(s for s in experiment.settings if s.name.startswith(tuple(starts)))
