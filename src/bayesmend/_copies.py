"""Copies of values, by pickle or copy, that are values too: read-only, as they were."""

from __future__ import annotations

from dataclasses import fields
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

__all__ = ["frozen_in_copies"]

_T = TypeVar("_T")


class _ReadOnly(dict[Any, Any]):
    """Stands for a read-only mapping while it is copied."""


def frozen_in_copies(cls: type[_T]) -> type[_T]:
    """Keep arrays and mappings of a frozen dataclass read-only in its copies.

    Otherwise a copy that was pickled and read again could be changed in silence, and
    a read-only mapping could not be pickled at all.

    Examples
    --------
    >>> import copy
    >>> from dataclasses import dataclass
    >>> @frozen_in_copies
    ... @dataclass(frozen=True, slots=True)
    ... class Point:
    ...     place: np.ndarray
    >>> copy.deepcopy(Point(np.zeros(2))).place.flags.writeable
    False
    """
    names = [field.name for field in fields(cls)]  # type: ignore[arg-type]

    def get_state(self: Any) -> dict[str, Any]:
        return {name: _opened(getattr(self, name)) for name in names}

    def set_state(self: Any, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, _frozen(value))

    cls.__getstate__ = get_state  # type: ignore[method-assign]
    cls.__setstate__ = set_state  # type: ignore[attr-defined]
    return cls


def _opened(value: Any) -> Any:
    if isinstance(value, MappingProxyType):
        return _ReadOnly({key: _opened(item) for key, item in value.items()})
    return value


def _frozen(value: Any) -> Any:
    if isinstance(value, _ReadOnly):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    for array in value if isinstance(value, tuple) else (value,):
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return value
