"""Networks as pictures, made without any other package: where to draw, and as SVG."""

from bayesmend.drawing.graph import draw_graph
from bayesmend.drawing.layout import Layout, lay_out

__all__ = ["Layout", "draw_graph", "lay_out"]
