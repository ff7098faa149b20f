"""Write a network in another format, or as a picture."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bayesmend.cli.options import Force, Net, option, read_net
from bayesmend.cli.terminal import STREAM, UsageError, check_outputs, write_through
from bayesmend.formats import MODULES, write_network

__all__ = ["convert"]


def convert(
    net: Net,
    out: Annotated[
        Path,
        typer.Argument(
            metavar="OUT",
            help="File to write; its suffix is the format: .bif, .xmlbif, .json, "
            ".graphml or .dot (also .gz); for a picture .svg, .png or .pdf. - writes "
            "to stdout.",
            show_default=False,
        ),
    ],
    to: Annotated[
        str | None, option("FORMAT", "Format on stdout, such as json.")
    ] = None,
    force: Force = False,
) -> None:
    """Write a network in another format, or as a picture."""
    if (str(out) == STREAM) != (to is not None):
        message = "--to FORMAT goes with OUT -, and OUT - needs it."
        raise UsageError(message)
    if to is not None and f".{to}" not in MODULES:
        known = ", ".join(suffix[1:] for suffix in MODULES)
        message = f"--to must be one of {known}. Got {to!r} instead."
        raise UsageError(message)
    check_outputs([out], force=force)
    write_through(out, partial(write_network, read_net(net)), suffix=f".{to}")
