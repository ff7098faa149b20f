"""What sets two networks apart."""

from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmend.cli.options import Force, Json, option, read_net
from bayesmend.cli.terminal import (
    STREAM,
    UsageError,
    check_outputs,
    notice,
    print_json,
    say,
)
from bayesmend.formats.picture import check_picture, write_difference
from bayesmend.graph.difference import compare_graphs

__all__ = ["diff"]


def _net(metavar: str, help: str) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False)


def diff(
    first: Annotated[str, _net("A", "Network: a file, a shipped one by name, or -.")],
    second: Annotated[str, _net("B", "Another over the same variables.")],
    out: Annotated[
        Path | None,
        option("FILE", "A picture of both: .svg, or .png or .pdf by matplotlib."),
    ] = None,
    json: Json = False,
    force: Force = False,
) -> None:
    """Tell what sets two networks apart: distance, arcs added, lost, reversed.

    What is told leads from A to B. A picture has the arcs of both: added ones blue,
    lost ones orange and dotted, reversed ones purple and dashed.
    """
    if first == second == STREAM:
        message = f"A and B cannot both be stdin ({STREAM}). Name a file for one."
        raise UsageError(message)
    if out is not None:
        check_picture(out)
        check_outputs([out], force=force)
    found = compare_graphs(read_net(first).dag, read_net(second).dag)
    if out is not None:
        write_difference(found, out)
        notice(f"Wrote {out}.")
    if json:
        print_json(found.to_dict())
    else:
        say(found)
