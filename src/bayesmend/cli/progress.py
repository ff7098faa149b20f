"""What a search is doing, on one line of a terminal."""

import math
import sys
import time
from typing import Self

__all__ = ["ProgressLine"]


class ProgressLine:
    """What a search is doing, on one line of a terminal; silent elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._last = -math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown and self._last > -math.inf:
            sys.stderr.write("\r\x1b[K")

    def __call__(self, what: str, score: float, seconds: float) -> None:
        """Show the latest news, a few times a second at most."""
        now = time.monotonic()
        if not self._is_shown or now - self._last < 0.2:
            return
        self._last = now
        best = f", best score {score:.3f}" if math.isfinite(score) else ""
        sys.stderr.write(f"\r\x1b[K{what}{best}, {seconds:.0f} s")
        sys.stderr.flush()
