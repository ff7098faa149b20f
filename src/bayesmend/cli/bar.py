"""The bar of a search in the terminal, drawn by rich.

Nothing moves by itself and the cursor stays: each piece of news draws one line over the
last one. So Ctrl-C may come at any moment, and there is nothing to be put back.
"""

from __future__ import annotations

import sys
import time
from typing import Any

__all__ = ["Bar"]

# Lengths of the bar, and the columns from which it may be long.
_SHORT, _LONG, _WIDE = 12, 24, 100


class Bar:
    """One line of stderr: how much is done, in colours where the terminal has any."""

    pause = 0.2

    def __init__(self) -> None:
        self._console: Any = None

    def show(self, text: str, short: str, done: float | None) -> None:
        """Draw the share done, or a bar that moves, beside a text."""
        from rich.cells import cell_len
        from rich.table import Table
        from rich.text import Text

        console = self._made()
        width = console.width - 1
        length = _LONG if width >= _WIDE else _SHORT
        fits = cell_len(text) + length + 1 <= width
        what, comma, numbers = (text if fits else short).partition(", ")
        line = Table.grid(padding=(0, 1, 0, 0))
        line.add_column(width=length, no_wrap=True)
        line.add_column(no_wrap=True, overflow="ellipsis")
        told = Text.assemble((what, "bold"), (f"{comma}{numbers}", "dim"))
        line.add_row(_drawn(done, length), told)
        with console.capture() as drawn:
            console.print(line, width=width, end="")
        self._write(drawn.get().strip("\n"))

    def clear(self) -> None:
        """Leave an empty line."""
        self._write("")

    def _made(self) -> Any:
        """Make the console when there is something to show: rich takes a moment."""
        if self._console is None:
            from rich.console import Console

            self._console = Console(stderr=True)
        return self._console

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()


def _drawn(done: float | None, length: int) -> Any:
    from rich.progress_bar import ProgressBar

    look: dict[str, Any] = {"width": length, "complete_style": "cyan"}
    look |= {"finished_style": "cyan", "pulse_style": "cyan"}
    if done is None:
        return ProgressBar(pulse=True, animation_time=time.monotonic(), **look)
    return ProgressBar(total=1.0, completed=min(max(done, 0.0), 1.0), **look)
