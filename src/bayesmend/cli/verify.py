"""Check a result and its proof."""

import math
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmend._progress import ProgressBar
from bayesmend.cli.options import Json
from bayesmend.cli.terminal import UsageError, print_json, say
from bayesmend.errors import DataError
from bayesmend.verification import verify as run

__all__ = ["verify"]


def _file(metavar: str, help: str) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def verify(
    result: Annotated[
        Path, _file("RESULT", "Folder that learn or structure has written, or a JSON.")
    ],
    data: Annotated[Path, _file("DATA", "The table it was learned from, as text.")],
    proof: Annotated[
        Path | None,
        _file("[PROOF]", "What --certificate named; by default what the result names."),
    ] = None,
    json: Json = False,
) -> None:
    """Check a result and its proof by other means than those that found them.

    Tells what is true, what was not checked, and the first lie. The exit code is 0 when
    no lie was found, 1 when there is one, and 2 when there is nothing to check.
    """
    begun = time.monotonic()
    try:
        with ProgressBar() as bar:

            def tell(done: int, of: int) -> None:
                seconds = time.monotonic() - begun
                bar("checking", math.nan, seconds, share=done / of)

            found = run(result, data, proof, tell=tell)
    except DataError as error:
        raise UsageError(str(error)) from None
    if json:
        print_json(found.to_dict())
    else:
        say(found)
    if not found.accepted:
        raise typer.Exit(1)
