"""What a check finds wrong."""

from __future__ import annotations

from typing import Any

__all__ = ["Lie", "integer", "listed", "mapping", "number", "text"]


class Lie(Exception):
    """A claim that is not true; the message names it in one sentence."""


def integer(value: Any, what: str, least: int = 0, below: int | None = None) -> int:
    """Return a whole number within limits, or say that it is none."""
    if (
        type(value) is not int
        or value < least
        or (below is not None and value >= below)
    ):
        limits = f"from {least}" if below is None else f"from {least} to {below - 1}"
        msg = f"{what} must be a whole number {limits}, and is {value!r:.40}."
        raise Lie(msg)
    return value


def number(value: Any, what: str) -> float:
    """Return a finite number, or say that it is none."""
    if type(value) not in (int, float) or value != value or abs(value) == float("inf"):
        msg = f"{what} must be a number, and is {value!r:.40}."
        raise Lie(msg)
    return float(value)


def text(value: Any, what: str) -> str:
    """Return text, or say that it is none."""
    if not isinstance(value, str):
        msg = f"{what} must be text, and is {value!r:.40}."
        raise Lie(msg)
    return value


def listed(value: Any, what: str, length: int | None = None) -> list[Any]:
    """Return a list, of that length, or say that it is none."""
    if not isinstance(value, list) or (length is not None and len(value) != length):
        size = "" if length is None else f" of {length} entries"
        msg = f"{what} must be a list{size}."
        raise Lie(msg)
    return value


def mapping(value: Any, what: str) -> dict[str, Any]:
    """Return a JSON object, or say that it is none."""
    if not isinstance(value, dict):
        msg = f"{what} must be a JSON object."
        raise Lie(msg)
    return value
