"""Other structures that a search met, nearly as good as the one it returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from bayesmend.data.states import quantity
from bayesmend.graph.dag import Dag
from bayesmend.graph.distance import structural_hamming_distance

__all__ = ["NEAR", "Other", "others_in_words", "tell_others"]

NEAR = 3.0
"""Structures fewer nats apart than this are hardly told apart by the data."""

_MOST_TOLD = 20


class Other(NamedTuple):
    """A structure and its score."""

    score: float
    dag: Dag


def tell_others(
    dag: Dag, score: float, met: Iterable[Other]
) -> dict[str, dict[str, Any]]:
    """Describe what was met within `NEAR` nats, one structure of each class.

    Returns what goes into the ``detail`` of a result: nothing, or under ``others`` how
    far each is below the score and how many arcs apart, best first.

    Examples
    --------
    >>> one, two = (Dag.from_arcs(["a", "b"], arcs) for arcs in ([], [("a", "b")]))
    >>> tell_others(one, -5.0, [Other(-6.0, two), Other(-5.0, one)])
    {'others': {'within': 3.0, 'below': [1.0], 'distance': [1]}}
    >>> tell_others(one, -5.0, [Other(-9.0, two)])
    {}
    """
    seen = {dag.cpdag()}
    below: list[float] = []
    distance: list[int] = []
    for other in sorted(met, key=lambda other: -other.score):
        if score - other.score >= NEAR or len(below) == _MOST_TOLD:
            break
        equivalent = other.dag.cpdag()
        if equivalent in seen:
            continue
        seen.add(equivalent)
        below.append(round(max(0.0, score - other.score), 6))
        distance.append(structural_hamming_distance(other.dag, dag))
    if not below:
        return {}
    return {"others": {"within": NEAR, "below": below, "distance": distance}}


def others_in_words(detail: Mapping[str, Any]) -> str | None:
    """Say what `tell_others` found; None where it found nothing.

    Examples
    --------
    >>> found = {"within": 3.0, "below": [0.4, 1.2], "distance": [2, 7]}
    >>> others_in_words({"others": found})
    'other structures within 3 nats: 2, up to 7 arcs apart'
    """
    others = detail.get("others")
    if not others:
        return None
    n, apart = len(others["below"]), max(others["distance"])
    number = f"at least {n}" if n == _MOST_TOLD else str(n)
    return (
        f"other structures within {others['within']:g} nats: {number}, "
        f"up to {quantity(apart, 'arc')} apart"
    )
