"""Pictures of graphs as SVG: a file of its own, or a part of a page that styles it."""

from bayesmend.drawing.looks import INK, LOOKS, PAPER, SOFT, TINT
from bayesmend.drawing.picture import FONT, KEY, SMALL, Box, Curve, Key, Picture
from bayesmend.drawing.text import escape

__all__ = ["box_lines", "head_of", "opening", "path_of", "path_of_head", "render_svg"]

_FAMILY = "system-ui, 'Helvetica Neue', Arial, sans-serif"


def render_svg(picture: Picture, title: str) -> str:
    """Write a picture as a file of its own.

    Examples
    --------
    >>> from bayesmend.drawing.picture import Link, Picture
    >>> svg = render_svg(Picture.of(["a", "b"], [Link(0, 1)]), "a network")
    >>> svg.startswith("<svg "), svg.count("<path"), "a network" in svg
    (True, 2, True)
    """
    return "\n".join(
        [
            opening(picture, title, 'xmlns="http://www.w3.org/2000/svg" '),
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}</style>",
            f'<rect width="100%" height="100%" fill="{PAPER}"/>',
            *map(_curve, picture.curves),
            *map(_box, picture.boxes),
            *map(_key, picture.keys),
            "</svg>\n",
        ]
    )


def opening(picture: Picture, title: str, more: str = "") -> str:
    """Begin a drawing."""
    return (
        f'<svg {more}class="graph" role="img" aria-label="{escape(title)}" '
        f'width="{picture.width:.0f}" height="{picture.height:.0f}" '
        f'viewBox="0 0 {picture.width:.1f} {picture.height:.1f}">'
    )


def path_of(curve: Curve) -> str:
    """Write the course of a link.

    Examples
    --------
    >>> from bayesmend.drawing.picture import Link, Picture
    >>> path_of(Curve(Link(0, 1), ((0, 0), (0, 5), (9, 5), (9, 10))))
    'M0.0,0.0 C0.0,5.0 9.0,5.0 9.0,10.0'
    """
    texts = [f"{x:.1f},{y:.1f}" for x, y in curve.points]
    steps = [f"C{' '.join(texts[at : at + 3])}" for at in range(1, len(texts), 3)]
    return " ".join([f"M{texts[0]}", *steps])


def head_of(curve: Curve, look: str) -> str:
    """Write the head of an arc, a path of its own; nothing for an edge.

    Markers would have names, which the drawings of a page share.
    """
    if not curve.head:
        return ""
    return f'<path {look} d="{path_of_head(curve)}"/>'


def path_of_head(curve: Curve) -> str:
    """Write the outline of the head of an arc; nothing for an edge."""
    corners = "L".join(f"{x:.1f},{y:.1f}" for x, y in curve.head)
    return f"M{corners}z" if corners else ""


def box_lines(box: Box) -> str:
    """Write the name of a variable and what is said below it."""
    x = f'x="{box.middle:.1f}"'
    if not box.note:
        return f'<text {x} y="{box.top + 24:.1f}">{escape(box.name)}</text>'
    return (
        f'<text {x} y="{box.top + 18:.1f}">{escape(box.name)}</text>'
        f'<text class="small" {x} y="{box.top + 32:.1f}">{escape(box.note)}</text>'
    )


_STYLE = (
    f"rect.box{{fill:{TINT};stroke:{SOFT};stroke-width:1}}"
    f"text{{font:600 {FONT:g}px {_FAMILY};text-anchor:middle;fill:{INK}}}"
    f"text.small{{font-weight:400;font-size:{SMALL:g}px;fill:{SOFT}}}"
    "text.key{text-anchor:start}path.arc{fill:none}"
)


def _curve(curve: Curve) -> str:
    look = LOOKS[curve.link.kind]
    dashes = f' stroke-dasharray="{" ".join(map(str, look.dashes))}"'
    line = (
        f'<path class="arc" stroke="{look.colour}" '
        f'stroke-width="{curve.link.width:g}"{dashes if look.dashes else ""} '
        f'd="{path_of(curve)}"/>'
    )
    return line + head_of(curve, f'fill="{look.colour}"')


def _key(key: Key) -> str:
    look = LOOKS[key.kind]
    dashes = f' stroke-dasharray="{" ".join(map(str, look.dashes))}"'
    return (
        f'<path class="arc" stroke="{look.colour}" stroke-width="2"'
        f'{dashes if look.dashes else ""} d="M{key.left:.1f},{key.top:.1f}h{KEY:g}"/>'
        f'<text class="small key" x="{key.left + KEY + 6:.1f}" y="{key.top + 4:.1f}">'
        f"{escape(key.kind)}</text>"
    )


def _box(box: Box) -> str:
    return (
        f'<rect class="box" x="{box.left:.1f}" y="{box.top:.1f}" '
        f'width="{box.width:.1f}" height="{box.height:.0f}" rx="8"/>{box_lines(box)}'
    )
