"""What a search is doing, told on stderr."""

from __future__ import annotations

import math
import sys
import time
from typing import Self

from bayesmend._clock import Progress
from bayesmend.errors import ParameterError

__all__ = ["ProgressLine", "told"]


class ProgressLine:
    """What a search is doing: on a terminal, one line that is gone when it is over.

    Parameters
    ----------
    everywhere : bool, default=False
        Whether to tell where there is no terminal, too: in a notebook or a log, now and
        then on a line that stays.
    """

    def __init__(self, *, everywhere: bool = False) -> None:
        self._is_terminal = sys.stderr is not None and sys.stderr.isatty()
        self._pause = 0.2 if self._is_terminal else 5.0 if everywhere else math.inf
        self._next = -math.inf if self._pause < math.inf else math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_terminal and self._next > -math.inf:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def __call__(self, what: str, score: float, seconds: float) -> None:
        """Show the latest news, unless some were shown a moment ago."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + self._pause
        best = f", best score {score:.3f}" if math.isfinite(score) else ""
        news = f"{what}{best}, {seconds:.0f} s"
        sys.stderr.write(f"\r\x1b[K{news}" if self._is_terminal else f"{news}\n")
        sys.stderr.flush()


def told(progress: Progress | bool | None) -> Progress | None:
    """Return who is told of the progress; None for nobody.

    ``True`` does not come this far: `entrance` shows a line in its place.

    Examples
    --------
    >>> told(False), told(print)
    (None, <built-in function print>)
    >>> told("yes")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: progress must be True, False, None or a callable...
    """
    if progress is None or progress is False:
        return None
    if not callable(progress):
        msg = (
            "progress must be True, False, None or a callable of three arguments. "
            f"Got {progress!r} instead."
        )
        raise ParameterError(msg)
    return progress
