"""What arguments must be: one check and one wording for each kind."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from bayesmend._spelling import spell
from bayesmend.errors import ParameterError

__all__ = [
    "check_choice",
    "check_flag",
    "check_goes_with",
    "check_integer",
    "check_items",
    "check_mapping",
    "check_number",
    "got",
]


def got(value: object) -> str:
    """Say what was given, however long an integer it is.

    Examples
    --------
    >>> got(0.5), got(10**5000)
    ('Got 0.5 instead.', 'Got an integer of 16610 bits instead.')
    """
    try:
        return f"Got {value!r} instead."
    except ValueError:  # Python shows no integer of more than 4,300 digits
        bits = value.bit_length() if isinstance(value, int) else "many"
        return f"Got an integer of {bits} bits instead."


def check_integer(name: str, value: object, least: int = 0) -> int:
    """Return an integer of at least `least`, or raise ``ParameterError``.

    Examples
    --------
    >>> check_integer("max_parents", np.int64(3))
    3
    >>> check_integer("max_parents", -1)
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: max_parents must be an integer >= 0. Got -1 ...
    """
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or value < least:  # type: ignore[operator]
        msg = f"{spell(name)} must be an integer >= {least}. {got(value)}"
        raise ParameterError(msg)
    number: int = int(value)  # type: ignore[call-overload]
    if number >= 2**63:
        msg = f"{spell(name)} must be an integer below 2**63. {got(value)}"
        raise ParameterError(msg)
    return number


def check_number(
    name: str,
    value: object,
    *,
    unit: str = "",
    least: float | None = None,
    above: float | None = None,
    most: float = math.inf,
    finite: bool = False,
) -> float:
    """Return a number within limits, or raise ``ParameterError``.

    Examples
    --------
    >>> check_number("rate", 0.5, least=0, most=1)
    0.5
    >>> check_number("time_limit", 0, unit="seconds", above=0)
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: time_limit must be a number of seconds > 0. ...
    """
    is_number = isinstance(
        value, int | float | np.integer | np.floating
    ) and not isinstance(value, bool)
    try:
        number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf if value > 0 else -math.inf  # type: ignore[operator]
    is_inside = (
        number <= most
        and (least is None or number >= least)
        and (above is None or number > above)
    )
    if is_inside and not (finite and math.isinf(number)):
        return number
    kind = "a finite number" if finite else "a number"
    if unit:
        kind += f" of {unit}"
    if math.isfinite(most):
        kind += f" between {least:g} and {most:g}"
    elif above is not None:
        kind += f" > {above}"
    elif least is not None:
        kind += f" >= {least}"
    msg = f"{spell(name)} must be {kind}. {got(value)}"
    raise ParameterError(msg)


def check_items(name: str, value: object, what: str) -> list[Any]:
    """Return the items of a list or the like, or raise ``ParameterError``.

    Examples
    --------
    >>> check_items("required", (("a", "b"),), "pairs of names")
    [('a', 'b')]
    >>> check_items("required", 5, "pairs of names")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: required must be a list of pairs of names. Got 5...
    """
    # A string would fall apart into its letters.
    if not isinstance(value, str | bytes) and isinstance(value, Iterable):
        with suppress(TypeError):  # of an array without dimensions, or a class
            return list(value)
    msg = f"{spell(name)} must be a list of {what}. {got(value)}"
    raise ParameterError(msg)


def check_mapping(name: str, value: object, example: str) -> None:
    """Raise ``ParameterError`` unless a value is a mapping.

    Examples
    --------
    >>> check_mapping("states", 5, "{'a': ['x', 'y']}")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: states must be a mapping, such as {'a': ['x', ...
    """
    if not isinstance(value, Mapping):
        msg = f"{spell(name)} must be a mapping, such as {example}. {got(value)}"
        raise ParameterError(msg)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ``ParameterError`` unless a value is one of the choices.

    Examples
    --------
    >>> check_choice("inference", "exat", ("exact", "weighting"))
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: inference must be one of exact, weighting. Got ...
    """
    if not (isinstance(value, str) and value in choices):
        msg = f"{spell(name)} must be one of {', '.join(choices)}. {got(value)}"
        raise ParameterError(msg)


def check_flag(name: str, value: object) -> None:
    """Raise ``ParameterError`` unless a value is True or False.

    Examples
    --------
    >>> check_flag("safe", "yes")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: safe must be True or False. Got 'yes' instead.
    """
    if not isinstance(value, bool | np.bool_):
        msg = f"{spell(name)} must be True or False. {got(value)}"
        raise ParameterError(msg)


def check_goes_with(
    name: str, value: object, parameter: str, chosen: object, choices: Sequence[str]
) -> None:
    """Raise ``ParameterError`` for an option that what was chosen would ignore.

    Examples
    --------
    >>> check_goes_with("n_draws", 2, "method", "mpe", ["draw"])
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: n_draws=2 goes with method='draw'. Got 'mpe' ...
    """
    if chosen not in choices:
        needed = " or ".join(spell(parameter, choice) for choice in choices)
        msg = f"{spell(name, value)} goes with {needed}. Got {chosen!r} instead."
        raise ParameterError(msg)
