"""A network on a page that answers: what the scripts are given, and the scripts.

The scripts are modern JavaScript without any other package:

- ``inference.js``: exact inference by a junction tree;
- ``session.js``: a network, what is known of its variables, and what follows;
- ``layering.js``: the neighbourhood of a variable as a drawing of its own;
- ``network.js``: the drawing with its panel, ``mount(element, data, options)``.
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
