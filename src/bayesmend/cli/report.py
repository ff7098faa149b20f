"""Show a saved result as a page."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesmend._files import is_folder
from bayesmend.cli.options import Force, option, title_of
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
    known = _kept_with(saved)
    table = _table_of(known)
    notes = {} if table is None else {"table": table}
    if isinstance(known.get("date"), str):
        notes["date"] = known["date"]
    more: dict[str, Any] = {} if title is None else {"title": title}
    for key, parameter in (("options", "options"), ("again", "calls")):
        if isinstance(known.get(key), dict):
            more[parameter] = known[key]

    def write(path: Path) -> None:
        write_report(result, path, notes=notes, **more)

    write_through(out, write, suffix=".html")


def _kept_with(saved: Path) -> dict[str, Any]:
    """Return what a result.json tells beside the result itself."""
    place = saved / FILE if is_folder(saved) else saved
    if place.suffix.lower() != ".json":
        return {}
    known: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))
    return known


def _table_of(known: dict[str, Any]) -> str | None:
    """Return what the table learned from was called, where that was kept."""
    options = known.get("options")
    file = options.get("file") if isinstance(options, dict) else None
    if isinstance(file, list) and file and all(isinstance(f, str) for f in file):
        return title_of(file)
    return title_of(file) if isinstance(file, str) else None
