"""What the starts of all ways to learn have in common."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError

__all__ = ["check_starts", "observed_shares"]


def check_starts(starts: Sequence[str], known: Sequence[str]) -> None:
    """Raise ParameterError unless all of `starts` are known.

    Examples
    --------
    >>> check_starts(["modes"], ["mode", "random"])
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: starts must be among mode, random. Got 'modes' ...
    """
    if not isinstance(starts, tuple | list):
        msg = f"starts must be a tuple of names. Got {starts!r} instead."
        raise ParameterError(msg)
    for kind in starts:
        if kind not in known:
            msg = f"starts must be among {', '.join(known)}. Got {kind!r} instead."
            raise ParameterError(msg)


def observed_shares(
    data: IncompleteData, ess: float = 0.0
) -> list[NDArray[np.float64]]:
    """Return the observed shares of the states, ``ess`` rows spread evenly over them.

    Equal ones where nothing is observed.
    """
    shares = []
    for v, card in enumerate(data.card.tolist()):
        column = data.codes[:, v]
        seen = column != MISSING
        weights = None if data.weights is None else data.weights[seen]
        counts = np.bincount(column[seen], weights, minlength=card) + ess / card
        total = counts.sum()
        shares.append(counts / total if total > 0 else np.full(card, 1 / card))
    return shares
