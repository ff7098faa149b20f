"""The scripts and styles of the pages, as text."""

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

__all__ = ["script", "style"]

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./([a-z]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(async )?(function|class|const|let) )", re.MULTILINE)


def script(names: Iterable[str], *, exports: Iterable[str] = ()) -> str:
    """Return some modules, with all that they import, as the text of one module.

    Top-level names are unique over all modules, so that one scope can hold them.

    Parameters
    ----------
    names : iterable of str
        Modules of this folder, without suffix.
    exports : iterable of str
        What the joint module exports; nothing by default.

    Examples
    --------
    >>> text = script(["session"], exports=["Session"])
    >>> text.count("class TooWide"), text.count("import "), text.splitlines()[-1]
    (1, 0, 'export { Session };')
    """
    order: list[str] = []
    for name in names:
        _collect(f"{name}.js", order)
    parts = [_EXPORT.sub("", _IMPORT.sub("", read(name))) for name in order]
    exported = ", ".join(exports)
    if exported:
        parts.append(f"export {{ {exported} }};\n")
    return "\n".join(parts)


def style(*names: str) -> str:
    """Return some style sheets of this folder, one after the other."""
    return "\n".join(read(f"{name}.css") for name in names)


@cache
def read(name: str) -> str:
    """Return the text of a file of this folder."""
    return files("bayesmend.view").joinpath(name).read_text(encoding="utf-8")


def _collect(name: str, order: list[str]) -> None:
    """Add a module behind those that it imports."""
    if name in order:
        return
    for needed in _IMPORT.findall(read(name)):
        _collect(needed, order)
    order.append(name)
