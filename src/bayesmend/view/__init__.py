"""A network on a page that answers: what the scripts are given, and the scripts.

The scripts are modern JavaScript without any other package:

- ``inference.js``: exact inference by a junction tree;
- ``session.js``: a network, what is known of its variables, and what follows;
- ``layering.js``: the neighbourhood of a variable as a drawing of its own;
- ``network.js``: the drawing with its panel, ``mount(element, data, options)``;
- ``ask.js``, ``cells.js``, ``why.js``: questions, mended cells, and why they are so;
- ``report.js``: the page about a result, made of all these.
"""

from bayesmend.view.describe import ArcNote, VariableNote, describe
from bayesmend.view.packed import pack, plain
from bayesmend.view.scripts import script, style

__all__ = [
    "ArcNote",
    "VariableNote",
    "describe",
    "pack",
    "plain",
    "script",
    "style",
]
