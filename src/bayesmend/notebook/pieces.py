"""The pieces of what a notebook shows: a heading, tables of few rows, notes.

No scripts, no ids, and no colours but shades of those that the notebook has: what is
shown fits light and dark themes, wherever it is opened again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from bayesmend.data.states import quantity
from bayesmend.drawing.text import cut, escape

__all__ = ["STYLE", "Bar", "folded", "fragment", "left_out", "note", "table"]

_LONGEST = 90  # characters of a label
_LONGEST_LIST = 160  # of several

# Colours follow the text, whose colour is the theme's; these two can be set beside it.
STYLE = """
.bayesmend { --accent: var(--bayesmend-accent, #3f7fd0);
  --bar: var(--bayesmend-bar, rgba(66, 133, 214, .28));
  --line: rgba(128, 128, 128, .4); color: inherit; line-height: 1.4; }
.bayesmend > p { margin: .4em 0; unicode-bidi: isolate; }
.bayesmend .note { opacity: .75; font-size: .9em; }
.bayesmend .proven, .bayesmend .open, .bayesmend .alarm { border-left: 3px solid;
  padding-left: .6em; }
.bayesmend .proven { border-color: #2a9d5c; }
.bayesmend .open { border-color: #c98a1b; }
.bayesmend .alarm { border-color: #d64545; }
.bayesmend .wide { overflow: auto; max-width: 100%; max-height: 36em;
  margin: .4em 0; }
.bayesmend table { border-collapse: collapse; margin: 0; }
.bayesmend .wide table th, .bayesmend .wide table td { text-align: left;
  vertical-align: top;
  padding: .25em .7em; unicode-bidi: isolate; overflow-wrap: anywhere;
  min-width: 3.5em; max-width: 34em; white-space: normal; }
.bayesmend .wide table th { font-weight: 600; white-space: nowrap; }
.bayesmend .wide table .n { text-align: right; font-variant-numeric: tabular-nums; }
.bayesmend .bar { min-width: 6em; background: linear-gradient(var(--bar), var(--bar))
  left 3px center / calc(var(--p) * (100% - 6px)) 78% no-repeat; }
.bayesmend .missing { opacity: .55; font-style: italic; }
.bayesmend .unlike { color: #d64545; font-weight: 600; }
.bayesmend details { margin: .3em 0; }
.bayesmend summary { cursor: pointer; }
.bayesmend summary span { opacity: .75; }
.bayesmend .picture { max-height: 48em; }
.bayesmend .graph { display: block; }
.bayesmend .graph rect { fill: currentColor; fill-opacity: .06;
  stroke: currentColor; stroke-opacity: .35; }
.bayesmend .graph .mended rect { fill: var(--bar); fill-opacity: 1;
  stroke: var(--accent); stroke-opacity: 1; stroke-width: 1.5; }
.bayesmend .graph text { font: 600 13px system-ui, sans-serif; text-anchor: middle;
  fill: currentColor; }
.bayesmend .graph .small { font-weight: 400; font-size: 10.5px; fill-opacity: .8; }
.bayesmend .arc { fill: none; stroke: currentColor; stroke-width: 1.3;
  stroke-opacity: .8; }
.bayesmend .arc.either { stroke-dasharray: 5 4; stroke-opacity: .6; }
.bayesmend .head { fill: currentColor; fill-opacity: .8; }
"""


class Bar(NamedTuple):
    """A cell with a number and a bar of a length between 0 and 1."""

    text: str
    share: float


def fragment(head: str, *parts: str) -> str:
    """Put a heading, in plain text, above parts that are markup.

    Examples
    --------
    >>> fragment("1 < 2", note("ok")).endswith(
    ...     '<p><b>1 &lt; 2</b></p><p class="note">ok</p></div>'
    ... )
    True
    """
    body = "".join(part for part in parts if part)
    return (
        f'<div class="bayesmend"><style>{STYLE}</style>'
        f"<p><b>{escape(head)}</b></p>{body}</div>"
    )


def note(text: str, kind: str = "note") -> str:
    """Say a sentence; nothing where there is none.

    Examples
    --------
    >>> note("so & so"), note("")
    ('<p class="note">so &amp; so</p>', '')
    """
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def left_out(n_left: int, noun: str, how: str = "") -> str:
    """Say how many more there are, and how to get at them.

    Examples
    --------
    >>> left_out(1200, "row"), left_out(0, "row")
    ('<p class="note">1,200 more rows are not shown.</p>', '')
    """
    if n_left <= 0:
        return ""
    told = quantity(n_left, f"more {noun}")
    verb = "is" if n_left == 1 else "are"
    return note(f"{told} {verb} not shown{f': {how}' if how else ''}.")


def folded(title: str, *parts: str) -> str:
    """Hide parts behind a title that unfolds them; nothing where there are none."""
    body = "".join(parts)
    if not body:
        return ""
    return f"<details><summary>{escape(title)}</summary>{body}</details>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], caption: str) -> str:
    """Lay out rows of text, numbers and bars; a None is an empty cell.

    Examples
    --------
    >>> html = table(["state", "cells"], [["<no>", 1200]], "States")
    >>> "&lt;no&gt;" in html, '<td class="n">1,200</td>' in html
    (True, True)
    """
    lines = list(rows)
    kinds = [
        ' class="n"' if lines and isinstance(lines[0][k], int | float | Bar) else ""
        for k in range(len(head))
    ]
    titles = "".join(
        f"<th{kind}>{escape(_short(title))}</th>"
        for title, kind in zip(head, kinds, strict=True)
    )
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in lines)
    return (
        f'<div class="wide"><table class="dataframe" aria-label="{escape(caption)}">'
        f"<thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    if value is None:
        return '<td class="missing"></td>'
    if isinstance(value, Bar):
        share = min(max(value.share, 0.0), 1.0)
        return f'<td class="n bar" style="--p:{share:.3f}">{escape(value.text)}</td>'
    if isinstance(value, int | float) and not isinstance(value, bool):
        shown = f"{value:,}" if isinstance(value, int) else f"{value:,.4g}"
        return f'<td class="n">{shown}</td>'
    if isinstance(value, list | tuple):
        listed = ", ".join(map(_short, value))
        return f"<td>{escape(cut(listed, _LONGEST_LIST))}</td>"
    return f"<td>{escape(_short(value))}</td>"


def _short(value: object) -> str:
    return cut(value, _LONGEST)
