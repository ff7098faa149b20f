"""How messages spell parameters.

A message names a parameter as Python does, ``inference='weighting'``, unless whoever
calls the library knows it by another name and says so with `spelling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias

__all__ = ["Speller", "shown", "spell", "spelling"]

Speller: TypeAlias = Callable[..., str | None]
"""Takes what `spell` takes; gives None for what it has no other spelling of."""

_spellers: ContextVar[tuple[Speller, ...]] = ContextVar("spellers", default=())


def spell(name: str, *value: object) -> str:
    """Name a parameter in a message, with a value where one is given.

    Examples
    --------
    >>> spell("n_samples"), spell("inference", "weighting"), spell("max_memory", 1e5)
    ('n_samples', "inference='weighting'", 'max_memory=1e+05')
    >>> spell("discretize", {"age": 4}), spell("states", {"age": ...})
    ("discretize={'age': 4}", "states={'age': [...]}")
    """
    for speller in _spellers.get():
        if (spelled := speller(name, *value)) is not None:
            return spelled
    return "=".join([name, *map(_as_python, value)])


@contextmanager
def spelling(speller: Speller) -> Iterator[None]:
    """Let messages made within spell parameters in another way.

    Examples
    --------
    >>> with spelling(lambda name, *value: " ".join([f"--{name}", *value])):
    ...     spell("inference", "weighting")
    '--inference weighting'
    """
    token = _spellers.set((speller, *_spellers.get()))
    try:
        yield
    finally:
        _spellers.reset(token)


def shown(value: object) -> str:
    """Show a value in the digits it was probably given in."""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _as_python(value: object) -> str:
    if isinstance(value, Mapping):
        items = (f"{key!r}: {_as_python(item)}" for key, item in value.items())
        return f"{{{', '.join(items)}}}"
    if value is ...:
        return "[...]"
    return shown(value) if isinstance(value, float) else repr(value)
