"""A network as plain values, ready for the scripts of a page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend.drawing.picture import Picture, links_of
from bayesmend.drawing.svg import path_of, path_of_head
from bayesmend.network.network import Network
from bayesmend.view.packed import pack, plain

__all__ = ["MOST_DRAWN_WHOLE", "ArcNote", "VariableNote", "describe"]

MOST_DRAWN_WHOLE = 200
"""A network of more variables is shown a neighbourhood at a time."""

MOST_ENTRIES = 2**18
"""A table of more probabilities is not computed with, and only its first rows told."""

_FIRST_ROWS = 200


@dataclass(frozen=True, slots=True)
class VariableNote:
    """What is known of a variable besides its probabilities.

    Parameters
    ----------
    observed : sequence of int
        How many observed cells hold each state.
    mended : sequence of int
        How many missing cells were filled with each state.
    rows : array-like of shape (n_parent_configs,), optional
        How many rows have each parent configuration; of many, those of the first.
    is_alarm : bool
        Whether its mended cells resemble no observed ones.
    """

    observed: Sequence[int]
    mended: Sequence[int]
    rows: ArrayLike | None = None
    is_alarm: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        told: dict[str, Any] = {
            "observed": [int(n) for n in self.observed],
            "mended": [int(n) for n in self.mended],
        }
        if self.rows is not None:
            told["rows"] = pack(np.asarray(self.rows)[:_FIRST_ROWS], "i4")
        if self.is_alarm:
            told["alarm"] = True
        return told


@dataclass(frozen=True, slots=True)
class ArcNote:
    """What is known of an arc.

    Parameters
    ----------
    gain : float, optional
        What the score, or the log-likelihood, would lose without it, in nats.
    probability, either : float, optional
        Share of several structures that have it, and that have it either way.
    """

    gain: float | None = None
    probability: float | None = None
    either: float | None = None

    def to_dict(self) -> dict[str, float]:
        """Return what is known, ready for JSON."""
        known = {
            "gain": self.gain,
            "probability": self.probability,
            "either": self.either,
        }
        return {k: round(float(x), 6) for k, x in known.items() if x is not None}


def describe(
    network: Network,
    *,
    variables: Mapping[str, VariableNote] | None = None,
    arcs: Mapping[tuple[str, str], ArcNote] | None = None,
) -> dict[str, Any]:
    """Return a network as plain values, ready for JSON: what ``mount`` is given.

    The same network gives the same values; where its variables stand is part of them.

    Parameters
    ----------
    network : Network
        What is shown.
    variables : mapping of str to VariableNote, optional
        What else is known of some variables.
    arcs : mapping of (parent, child) to ArcNote, optional
        What is known of some arcs.

    Examples
    --------
    >>> import bayesmend as bm
    >>> data = describe(bm.load_network("asia"))
    >>> data["names"][:2], data["states"][0], data["parents"][1]
    (['asia', 'tub'], ['yes', 'no'], [0])
    """
    dag = network.dag
    about, of_arcs = variables or {}, arcs or {}
    picture = Picture.of(dag.names, links_of(dag))
    return {
        "names": [plain(name) for name in dag.names],
        "states": [[plain(label) for label in labels] for labels in network.states],
        "parents": [list(members) for members in dag.parents],
        "cpts": pack(np.concatenate([np.empty(0), *map(_told, network.cpts)]), "f8"),
        "drawing": _drawing(picture),
        "arcs": [
            {
                "parent": curve.link.tail,
                "child": curve.link.head,
                "either": curve.link.kind == "either",
                "curve": path_of(curve),
                "head": path_of_head(curve),
                **_note(
                    of_arcs, dag.names[curve.link.tail], dag.names[curve.link.head]
                ),
            }
            for curve in picture.curves
        ],
        "notes": [about[n].to_dict() if n in about else None for n in dag.names],
    }


def _told(cpt: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table, one row after the other, or its first rows."""
    return (cpt if cpt.size <= MOST_ENTRIES else cpt[:_FIRST_ROWS]).ravel()


def _drawing(picture: Picture) -> dict[str, Any]:
    boxes = picture.boxes
    tops = sorted({box.top for box in boxes})
    return {
        "width": round(picture.width, 1),
        "height": round(picture.height, 1),
        "boxHeight": boxes[0].height if boxes else 0.0,
        "wholeUpTo": MOST_DRAWN_WHOLE,
        "labels": [plain(box.name) for box in boxes],
        "x": [round(box.middle, 1) for box in boxes],
        "y": [round(box.top, 1) for box in boxes],
        "widths": [round(box.width, 1) for box in boxes],
        "layer": [tops.index(box.top) for box in boxes],
    }


def _note(
    arcs: Mapping[tuple[str, str], ArcNote], parent: str, child: str
) -> dict[str, Any]:
    known = arcs.get((parent, child))
    return {} if known is None else {"note": known.to_dict()}
