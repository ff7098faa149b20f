"""What all public functions have in common: how they receive what they are given."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import Any, TypeVar

from bayesmend._clock import check_threads
from bayesmend._docs import documented
from bayesmend._hints import did_you_mean
from bayesmend._progress import shown_progress
from bayesmend.errors import (
    BayesmendError,
    OutOfMemoryError,
    UnknownParameterError,
)

__all__ = ["READING", "entrance"]

OPENING = (
    *("missing", "names"),
    *("delimiter", "decimal", "encoding", "header", "sheet"),
)
READING = (
    *("states", "weights", "columns", "discretize", "max_numeric_states", "normalise"),
    *OPENING,
)
"""What a function takes that hands ``**reading`` on to whoever reads a table."""

_NO_MEMORY = (
    "needs more memory than there is. Give the process more, or use fewer rows, "
    "variables, parents or threads."
)

_HANDED_ON = {"reading": READING, "opening": OPENING}

_T = TypeVar("_T")


def entrance(function: _T) -> _T:
    """Make a public function that knows what its callers may mean.

    An unknown parameter is answered with ours of the same meaning, or the nearest;
    a bar shows the progress where there is a terminal or a notebook; too many threads
    become fewer; the docstring is `documented`.

    Examples
    --------
    >>> @entrance
    ... def learn(data, *, seed=None):
    ...     '''Learn.'''
    >>> learn([], random_state=1)
    Traceback (most recent call last):
    ...
    bayesmend.errors.UnknownParameterError: learn() has no parameter 'random_state'. ...
    """
    inner: Any = documented(function)
    if isinstance(inner, type):
        inner.__init__ = entrance(inner.__init__)  # type: ignore[misc]
        return function
    names = _names_of(inner)
    known = frozenset(names)

    @wraps(inner)
    def call(*args: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                shown = inner.__qualname__.removesuffix(".__init__")
                ours = [name for name in names if name not in ("self", "cls")]
                hint = did_you_mean(name, ours)
                msg = f"{shown}() has no parameter {name!r}. {hint}"
                raise UnknownParameterError(msg)
        if "n_threads" in options:
            options["n_threads"] = check_threads(options["n_threads"])
        try:
            if "progress" not in known:
                return inner(*args, **options)
            limit = options.get("time_limit")
            with shown_progress(options.get("progress"), limit) as progress:
                return inner(*args, **{**options, "progress": progress})
        except MemoryError as error:
            if isinstance(error, BayesmendError):
                raise
            shown = inner.__qualname__.removesuffix(".__init__")
            msg = f"{shown}() {_NO_MEMORY}"
            raise OutOfMemoryError(msg) from error

    entered: Any = call
    return entered  # type: ignore[no-any-return]


def _names_of(function: Any) -> list[str]:
    """Return all that a function takes by name, what it hands on included."""
    names: list[str] = []
    for name, parameter in inspect.signature(function).parameters.items():
        is_handed_on = parameter.kind is inspect.Parameter.VAR_KEYWORD
        names += _HANDED_ON[name] if is_handed_on else [name]
    return names
