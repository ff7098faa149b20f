"""Show a saved result as a page."""

import json
from pathlib import Path
from typing import Annotated

import typer

from bayesmend._files import is_folder
from bayesmend.cli.options import Force, option
from bayesmend.cli.terminal import check_outputs, write_through
from bayesmend.learning.saved import FILE, read_result
from bayesmend.report import write_report

__all__ = ["report"]


def report(
    saved: Annotated[
        Path,
        typer.Argument(
            metavar="RESULT",
            help="Folder that learn has written, the result.json in it, or a report.",
            show_default=False,
        ),
    ],
    out: Annotated[Path | None, option("FILE", "HTML file; stdout by default.")] = None,
    title: Annotated[
        str | None, option("TEXT", "Heading of the page; says what it is by default.")
    ] = None,
    force: Force = False,
) -> None:
    """Show a saved result as a page, without learning again."""
    check_outputs([out], force=force)
    result = read_result(saved)
    table = _table_of(saved)
    notes = None if table is None else {"table": table}
    heading = {} if title is None else {"title": title}

    def write(path: Path) -> None:
        write_report(result, path, notes=notes, **heading)

    write_through(out, write, suffix=".html")


def _table_of(saved: Path) -> str | None:
    """Return what the table learned from was called, where that was kept."""
    place = saved / FILE if is_folder(saved) else saved
    if place.suffix.lower() != ".json":
        return None
    options = json.loads(place.read_text(encoding="utf-8")).get("options")
    file = options.get("file") if isinstance(options, dict) else None
    if not isinstance(file, str):
        return None
    return "<stdin>" if file == "-" else Path(file).name
