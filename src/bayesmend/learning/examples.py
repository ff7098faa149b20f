"""A completion by example: missing cells from the rows that show their variable.

Each variable with missing cells gets the few others that tell most about it where all
of them are observed. No row takes part that would have to be completed first, so a
block of missing cells is filled by what other blocks show, not by what would suit it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData

__all__ = ["complete_by_examples"]

# More predictors than this leave few examples of each of their configurations.
_MOST_PREDICTORS = 3

_Codes = NDArray[np.uint8]
_Keys = NDArray[np.int64]


def complete_by_examples(data: IncompleteData, max_parents: int) -> IncompleteData:
    """Fill each missing cell with the most frequent state among rows that are like it.

    Parameters
    ----------
    data : IncompleteData
        The table.
    max_parents : int
        Largest number of other variables that two rows have to share to be alike.

    Examples
    --------
    >>> table = {"wave": [1] * 4 + [2] * 4, "a": list("xyxy") * 2, "b": list("uvuv")}
    >>> table["b"] += [None] * 4
    >>> complete_by_examples(IncompleteData.from_table(table), 2).to_table()["b"]
    ['u', 'v', 'u', 'v', 'u', 'v', 'u', 'v']
    """
    patterns = data.patterns()
    rows = _Rows(patterns.codes, patterns.weights, data.card.astype(np.int64))
    holed = np.flatnonzero((rows.codes == MISSING).any(axis=0)).tolist()
    most = min(int(max_parents), _MOST_PREDICTORS)
    predictors = {v: rows.predictors(v, most) for v in holed}
    filled = rows.codes.copy(order="F")
    for v in holed:
        rows.fill(filled, v, predictors[v], rows.codes)
    # Cells whose predictors were missing, too, once more with those filled.
    for v in holed:
        rows.fill(filled, v, predictors[v], filled.copy(order="F"))
    return data.with_codes(np.asfortranarray(filled[patterns.inverse]))


@dataclass(frozen=True, slots=True)
class _Rows:
    codes: _Codes
    weights: NDArray[np.float64]
    card: _Keys

    def predictors(self, child: int, most: int) -> list[int]:
        """Choose others greedily by what they add where all are observed."""
        chosen: list[int] = []
        others = [v for v in range(len(self.card)) if v != child]
        seen = np.flatnonzero((self.codes[:, child] != MISSING) & (self.weights > 0))
        while len(chosen) < most and others:
            config = _numbered(self._keys(self.codes[seen], chosen))
            gains = []
            for v in others:
                _core.check_calls()
                gains.append(self._gain(child, config, seen, v))
            if max(gains) <= 0:
                break
            chosen.append(others.pop(int(np.argmax(gains))))
            seen = seen[self.codes[seen, chosen[-1]] != MISSING]
        return chosen

    def _gain(
        self, child: int, config: _Keys, seen: NDArray[np.intp], added: int
    ) -> float:
        """Log-likelihood that one more predictor gains, less the price of BIC.

        `config` numbers, for the rows `seen`, what is known of them without it.
        """
        shown = self.codes[seen, added] != MISSING
        rows, config = seen[shown], config[shown]
        if len(rows) == 0:
            return 0.0
        n_states, card = int(self.card[added]), int(self.card[child])
        cell = (config * n_states + self.codes[rows, added]) * card
        shape = int(config.max()) + 1, n_states, card
        cell += self.codes[rows, child]
        flat = np.bincount(cell, self.weights[rows], int(np.prod(shape)))
        counts = flat.astype(np.float64).reshape(shape)
        one, n_one = _log_likelihood(counts.sum(axis=1))
        two, n_two = _log_likelihood(counts.reshape(-1, card))
        price = 0.5 * np.log(max(counts.sum(), 1.0)) * (card - 1) * (n_two - n_one)
        return two - one - float(price)

    def fill(
        self, filled: _Codes, child: int, predictors: list[int], shown: _Codes
    ) -> None:
        """Fill the missing cells of a variable by rows that agree in its predictors.

        Where `shown` lacks predictors of a row, or no example has them, fewer do.
        """
        left = np.flatnonzero(self.codes[:, child] == MISSING)
        for n_used in range(len(predictors), -1, -1):
            used = predictors[:n_used]
            left = left[~self._fill_by(filled, child, used, shown, left)]

    def _fill_by(
        self,
        filled: _Codes,
        child: int,
        used: list[int],
        shown: _Codes,
        rows: NDArray[np.intp],
    ) -> NDArray[np.bool_]:
        """Fill what these predictors can; tell which rows that were."""
        seen = (self.codes[:, [*used, child]] != MISSING).all(axis=1)
        keys, config = np.unique(
            self._keys(self.codes[seen], used), return_inverse=True
        )
        card = int(self.card[child])
        cell = config.reshape(-1) * card + self.codes[seen, child]
        counts = np.bincount(cell, self.weights[seen], len(keys) * card)
        modes = counts.reshape(len(keys), card).argmax(axis=1)
        if len(keys) == 0:  # the variable is never observed
            filled[rows, child] = 0
            return np.ones(len(rows), dtype=bool)
        wanted = self._keys(shown[rows], used)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        is_shown = (shown[rows][:, used] != MISSING).all(axis=1)
        can: NDArray[np.bool_] = is_shown & (keys[place] == wanted)
        filled[rows[can], child] = modes[place[can]]
        return can

    def _keys(self, codes: _Codes, members: list[int]) -> _Keys:
        """Return the numbers of joint states of a few variables."""
        keys = np.zeros(len(codes), np.int64)
        for v in members:
            keys = keys * self.card[v] + codes[:, v]
        return keys


def _numbered(keys: _Keys) -> _Keys:
    """Give the keys that occur numbers from 0 on."""
    numbers: _Keys = np.unique(keys, return_inverse=True)[1].reshape(-1)
    return numbers


def _log_likelihood(counts: NDArray[np.float64]) -> tuple[float, int]:
    """Log-likelihood of a variable within groups, and how many groups there are."""
    totals = counts.sum(axis=1)
    logs = np.log(counts, out=np.zeros_like(counts), where=counts > 0)
    whole = np.log(totals, out=np.zeros_like(totals), where=totals > 0)
    found = (counts * logs).sum() - (totals * whole).sum()
    return float(found), int((totals > 0).sum())
