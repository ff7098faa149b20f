"""What the commands that search for a network share."""

import math
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bayesmend.cli.terminal import check_outputs, words
from bayesmend.errors import ParameterError

if TYPE_CHECKING:
    from bayesmend.graph.constraints import Constraints

__all__ = [
    "ProgressLine",
    "check_folder",
    "parse_constraints",
    "show_constraints",
    "version",
]


def check_folder(folder: Path, outputs: list[Path], *, force: bool) -> None:
    """Refuse, before any work, a folder whose files cannot or must not be written."""
    if folder.exists() and not folder.is_dir():
        message = f"'{folder}' is a file. Name a folder with --out."
        raise ParameterError(message)
    if folder.is_dir():
        check_outputs(outputs, force=force)


class ProgressLine:
    """What a search is doing, on one line of a terminal; silent elsewhere."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._last = -math.inf

    def __enter__(self) -> "ProgressLine":
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


def parse_constraints(
    require: list[str] | None, forbid: list[str] | None, tier: list[str] | None
) -> "Constraints":
    """Read the options ``--require``, ``--forbid`` and ``--tier``."""
    from bayesmend.graph.constraints import Constraints

    return Constraints(
        required=[_arc("--require", text) for text in require or []],
        forbidden=[_arc("--forbid", text) for text in forbid or []],
        tiers=[words([text]) or [] for text in tier or []],
    )


def _arc(option: str, text: str) -> tuple[str, str]:
    names = words([text]) or []
    if len(names) != 2:
        message = f"{option} must look like PARENT,CHILD. Got {text!r} instead."
        raise typer.BadParameter(message)
    return names[0], names[1]


def show_constraints(constraints: "Constraints") -> dict[str, Any]:
    """Give constraints in plain types, ready for JSON."""
    return {
        "required": [list(arc) for arc in constraints.required],
        "forbidden": [list(arc) for arc in constraints.forbidden],
        "tiers": [list(names) for names in constraints.tiers],
    }


def version() -> str:
    """Give the version of the package."""
    from bayesmend import __version__

    return __version__
