"""What the fields of a raw row must hold, checked when rows are read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from experiments.design import Measure

__all__ = ["find_fault"]


class _Kind(NamedTuple):
    """Words for what a field holds, and the test of it."""

    words: str
    is_met: Callable[[Any], bool]


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    is_real = _is_integer(value) or isinstance(value, float)
    return is_real and math.isfinite(value)


_TEXT = _Kind("text", lambda value: isinstance(value, str))
_OBJECT = _Kind("an object", lambda value: isinstance(value, dict))
_TEXTS = _Kind(
    "an object of texts",
    lambda value: (
        isinstance(value, dict) and all(isinstance(x, str) for x in value.values())
    ),
)
_COUNT = _Kind("an integer >= 0", lambda value: _is_integer(value) and value >= 0)
_SECONDS = _Kind("a number >= 0", lambda value: _is_number(value) and value >= 0)
_VALUE = _Kind("a number or null", lambda value: value is None or _is_number(value))
_SHARE = _Kind(
    "a number from 0 to 1 or null",
    lambda value: value is None or (_is_number(value) and 0 <= value <= 1),
)

_NEEDED: Mapping[str, _Kind] = {
    "experiment": _TEXT,
    "setting": _TEXT,
    "repetition": _COUNT,
    "method": _TEXT,
    "accuracy": _SHARE,
    "n_hidden": _COUNT,
    "seconds": _SECONDS,
    "status": _TEXT,
    "design": _TEXT,
}
_OPTIONAL: Mapping[str, _Kind] = {
    "score": _VALUE,
    "bound": _VALUE,
    "version": _TEXT,
    "table": _TEXT,
    "parameters": _OBJECT,
    "build": _TEXT,
    "data": _TEXTS,
}


def find_fault(row: Any, measures: Iterable[Measure] = ()) -> str:
    """Say what keeps something from being a raw row; nothing when it is one.

    Parameters
    ----------
    row : object
        What was read.
    measures : iterable of Measure
        Fields besides that hold a number or null.

    Examples
    --------
    >>> find_fault([1])
    'it is no JSON object'
    >>> find_fault({"experiment": "table1", "setting": 3})
    'setting must be text, and is 3'
    >>> find_fault({"experiment": "table1"})
    'it has no setting'
    """
    if not isinstance(row, dict):
        return "it is no JSON object"
    for name, kind in _NEEDED.items():
        if name not in row:
            return f"it has no {name}"
        if not kind.is_met(row[name]):
            return _wrong(name, kind, row[name])
    more = {measure.name: _kind_of(measure) for measure in measures}
    for name, kind in {**more, **_OPTIONAL}.items():
        if name in row and name not in _NEEDED and not kind.is_met(row[name]):
            return _wrong(name, kind, row[name])
    return ""


def _kind_of(measure: Measure) -> _Kind:
    is_share = measure.limits == (0.0, measure.scale)
    return _SHARE if is_share else _VALUE


def _wrong(name: str, kind: _Kind, value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"{name} must be {kind.words}, and is {shown}"
