"""Plots of tables, networks and results; they need matplotlib (the extra ``plot``).

Each function draws on the axes given as ``ax``, or on those of a new figure, and
returns them. None of them shows or saves a figure, or changes a style:

>>> import bayesmend as bm
>>> ax = bm.plot.network(bm.load_network("asia"))
>>> ax.figure.savefig("asia.pdf")  # doctest: +SKIP

A method has the same colour in all of them (`colour_of`).
"""

from bayesmend.plot.colours import colour_of
from bayesmend.plot.graphs import arcs, difference, network
from bayesmend.plot.reasons import mechanism, sensitivity
from bayesmend.plot.searches import calibration, chains, trace
from bayesmend.plot.tables import missing, patterns

__all__ = [
    "arcs",
    "calibration",
    "chains",
    "colour_of",
    "difference",
    "mechanism",
    "missing",
    "network",
    "patterns",
    "sensitivity",
    "trace",
]
