"""Ctrl-C while the command line starts, and after it has done its work.

Importing takes most of the time of a short command, and begins before any function of
the command line can answer. As a library, the package leaves signals alone.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

__all__ = ["INTERRUPTED", "answered", "ignored_from_here", "is_command_line"]

INTERRUPTED = 130
"""The exit code after Ctrl-C, whatever was written before it."""


def is_command_line(argv: list[str], begun_with: list[str]) -> bool:
    """Tell whether the interpreter was started for the command line.

    Examples
    --------
    >>> is_command_line(["/usr/bin/bayesmend", "demo"], ["python"])
    True
    >>> is_command_line(["-m", "demo"], ["python", "-m", "bayesmend", "demo"])
    True
    >>> is_command_line(["analysis.py"], ["python", "analysis.py"])
    False
    """
    name = os.path.basename(argv[0]) if argv else ""  # noqa: PTH119
    if name == "-m":
        return "bayesmend" in begun_with[: begun_with.index("-m") + 2]
    return name.removesuffix(".exe").removesuffix("-script.py") == "bayesmend"


def _end(*_: Any) -> NoReturn:
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        sys.stderr.write("Interrupted.\n")
        sys.stderr.flush()
    os._exit(INTERRUPTED)


@contextmanager
def answered() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt meanwhile, as it does in a library."""
    if signal.getsignal(signal.SIGINT) is not _end:
        yield
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _end)


def ignored_from_here() -> None:
    """Let Ctrl-C change nothing any more, since all is done."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


# Where Ctrl-C is ignored already, as in the background of a script, it stays so.
if (
    is_command_line(sys.argv, sys.orig_argv)
    and signal.getsignal(signal.SIGINT) is signal.default_int_handler
):
    signal.signal(signal.SIGINT, _end)
