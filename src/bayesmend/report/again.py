"""How to get a result again: version, options, digest, and the result itself."""

import json
from collections.abc import Mapping
from typing import Any

from bayesmend.drawing.text import escape
from bayesmend.report.tables import table

__all__ = ["again_section"]


def again_section(facts: Mapping[str, Any]) -> str:
    """Say how to get a result again."""
    known = {
        "version": f"bayesmend {facts['version']}",
        "method": facts["method"],
        "SHA-256 of the table as read": facts["table_digest"],
    }
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in known.items()
    )
    return f"<dl>{items}</dl>{_calls(facts)}{_options(facts)}"


_NAMES = {"command": "In a terminal", "python": "In Python"}


def _calls(facts: Mapping[str, Any]) -> str:
    return "".join(
        f"<h3>{escape(_NAMES.get(name, name))}</h3>"
        f'<pre tabindex="0">{escape_lines(str(text))}</pre>'
        for name, text in facts.get("again", {}).items()
    )


def escape_lines(text: str) -> str:
    """Return text as HTML that keeps its lines.

    Examples
    --------
    >>> print(escape_lines("a < b" + chr(10) + "c"))
    a &lt; b
    c
    """
    return "\n".join(map(escape, text.split("\n")))


def _options(facts: Mapping[str, Any]) -> str:
    given = {
        name: value
        for name, value in facts.get("options", {}).items()
        if value not in (None, [], {}, "")
    }
    if not given:
        return ""
    rows = [
        f"<tr><td>{escape(name)}</td><td><code>{escape(_shown(value))}</code></td></tr>"
        for name, value in given.items()
    ]
    options = table("<tr><th>option</th><th>value</th></tr>", rows, "Options")
    return f"<details><summary>All options</summary>{options}</details>"


def _shown(value: object) -> str:
    is_text = isinstance(value, str)
    return str(value) if is_text else json.dumps(value, ensure_ascii=False, default=str)
