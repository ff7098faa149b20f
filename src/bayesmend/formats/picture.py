"""Networks as pictures: SVG without any other package, PNG and PDF by matplotlib."""

from bayesmend._files import PathLike, file_suffix, write_chunks, write_text
from bayesmend.drawing.artists import render_figure
from bayesmend.drawing.picture import Picture, links_between, links_of, with_keys
from bayesmend.drawing.svg import render_svg
from bayesmend.errors import ParameterError
from bayesmend.graph.difference import GraphDifference
from bayesmend.network.network import Network

__all__ = ["PICTURES", "check_picture", "write", "write_difference"]

PICTURES = (".svg", ".png", ".pdf")
"""Suffixes of the files that a picture is written to."""


def write(network: Network, path: PathLike) -> None:
    """Write a picture of the graph of a network."""
    title = f"Network of {network.n_vars:,} variables"
    _write(Picture.of(network.names, links_of(network.dag)), path, title)


def write_difference(difference: GraphDifference, path: PathLike) -> None:
    """Write a picture of two graphs, and of what sets them apart."""
    picture = with_keys(Picture.of(difference.names, links_between(difference)))
    _write(picture, path, f"Two networks at distance {difference.distance}")


def _write(picture: Picture, path: PathLike, title: str) -> None:
    """Write a picture to a file whose suffix says how."""
    suffix = file_suffix(path)
    if suffix == ".svg":
        write_text(path, render_svg(picture, title))
    else:
        write_chunks(path, [render_figure(picture, suffix[1:])])


def check_picture(path: PathLike) -> None:
    """Raise ``ParameterError`` unless the name is that of a picture.

    Examples
    --------
    >>> check_picture("diff.gif")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: a picture is written as .svg, .png or .pdf. Got ...
    """
    if file_suffix(path) not in PICTURES:
        msg = f"a picture is written as .svg, .png or .pdf. Got {str(path)!r} instead."
        raise ParameterError(msg)
