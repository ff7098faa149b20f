"""Pictures of graphs in figures of matplotlib."""

from __future__ import annotations

import io
from typing import Any

from bayesmend._packages import require
from bayesmend.drawing.looks import INK, LOOKS, PAPER, SOFT, TINT
from bayesmend.drawing.picture import FONT, KEY, SMALL, Box, Curve, Key, Link, Picture
from bayesmend.drawing.text import text_width

__all__ = ["draw_on", "render_figure"]

_PIXELS = 96.0  # per inch, as in a browser
_SHARP, _MOST_DOTS = 192.0, 16_000.0  # dots per inch, dots across
_ROOM = 10.0  # within a box, beside its text


def draw_on(ax: Any, picture: Picture) -> None:
    """Draw a picture, text and all in proportion, whatever the size of the axes."""
    for curve in picture.curves:
        _draw_curve(ax, curve)
    for box in picture.boxes:
        _draw_box(ax, box)
    for key in picture.keys:
        _draw_key(ax, key)
    ax.set_xlim(0, picture.width)
    ax.set_ylim(picture.height, 0)
    ax.set_aspect("equal")
    ax.axis("off")


def render_figure(picture: Picture, kind: str) -> bytes:
    """Return a picture as ``png`` or ``pdf``, the same for the same picture."""
    figure = require("matplotlib.figure", extra="plot").Figure(
        figsize=(picture.width / _PIXELS, picture.height / _PIXELS), facecolor=PAPER
    )
    draw_on(figure.add_axes((0, 0, 1, 1)), picture)
    widest = max(picture.width, picture.height) / _PIXELS
    content = io.BytesIO()
    figure.savefig(
        content,
        format=kind,
        dpi=min(_SHARP, _MOST_DOTS / widest),
        metadata={"CreationDate": None} if kind == "pdf" else None,
    )
    return content.getvalue()


def _draw_curve(ax: Any, curve: Curve) -> None:
    path, patches = require("matplotlib.path").Path, require("matplotlib.patches")
    look, width = LOOKS[curve.link.kind], curve.link.width
    codes = [path.MOVETO, *[path.CURVE4] * (len(curve.points) - 1)]
    line = patches.PathPatch(
        path(curve.points, codes),
        fill=False,
        edgecolor=look.colour,
        linewidth=0.75 * width,
        # In units of the width, and whole however wide.
        linestyle=(0, [d / width for d in look.dashes]) if look.dashes else "-",
        capstyle="butt",
    )
    ax.add_patch(line)
    if curve.head:
        head = patches.Polygon(curve.head, facecolor=look.colour, edgecolor="none")
        ax.add_patch(head)


def _draw_box(ax: Any, box: Box) -> None:
    patches = require("matplotlib.patches")
    ax.add_patch(
        patches.FancyBboxPatch(
            (box.left, box.top),
            box.width,
            box.height,
            boxstyle="round,pad=0,rounding_size=8",
            facecolor=TINT,
            edgecolor=SOFT,
            linewidth=0.75,
        )
    )
    if box.note:
        _draw_text(ax, box, box.name, 18, FONT, INK, "bold")
        _draw_text(ax, box, box.note, 32, SMALL, SOFT, "normal")
    else:
        _draw_text(ax, box, box.name, 24, FONT, INK, "bold")


def _draw_key(ax: Any, key: Key) -> None:
    link = Link(0, 1, key.kind, has_head=False, width=2.0)
    ends = ((key.left, key.top), (key.left + KEY, key.top))
    _draw_curve(ax, Curve(link, (ends[0], *ends, ends[1])))
    width = SMALL * text_width(key.kind) + _ROOM
    place = Box(key.left + KEY, key.top, width, 0.0, key.kind)
    _draw_text(ax, place, key.kind, 4, SMALL, SOFT, "normal")


def _draw_text(
    ax: Any, box: Box, text: str, below: float, size: float, colour: str, weight: str
) -> None:
    """Draw text as shapes: it grows and shrinks with the boxes."""
    patches, text_path = require("matplotlib.patches"), require("matplotlib.textpath")
    font = require("matplotlib.font_manager").FontProperties(weight=weight)
    # Between two dollar signs would be a formula.
    shape = text_path.TextPath((0, 0), text.replace("$", r"\$"), size=size, prop=font)
    left, right = shape.get_extents().intervalx
    if not right > left:
        return
    squeezed = min(1.0, (box.width - _ROOM) / (right - left))
    move = require("matplotlib.transforms").Affine2D()
    move.translate(-(left + right) / 2, 0).scale(squeezed, -1)
    move.translate(box.middle, box.top + below)
    ax.add_patch(
        patches.PathPatch(move.transform_path(shape), facecolor=colour, linewidth=0)
    )
