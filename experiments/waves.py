"""Tables with a block of missing cells: a survey of which one wave asked less.

In the rows of the other wave one variable settles another, all but a few of its states.
The question that was not asked in the first wave can be answered for it from there; a
structure that tells the waves apart is free to answer anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData

__all__ = ["VARIANTS", "Survey", "Variant", "consistency", "draw_survey"]

Variant = Literal["plain", "two", "numeric", "three", "scattered"]
VARIANTS = get_args(Variant)

_RACES = {
    "Black": 0.12,
    "Hispanic": 0.06,
    "Mexican": 0.10,
    "White": 0.63,
    "Other": 0.09,
}
_RACES3 = ("Black", "Hispanic", "Mexican", "White", "Asian", "Other")
_SCATTERED = 0.05
_YEARS = (10, 20, 30, 40, 50, 60, 70)
_MONTHS = tuple(12 * year + 6 for year in (8, 19, 31, 44, 56, 68))


@dataclass(frozen=True, slots=True)
class Survey:
    """A table with a block of missing cells, and what would fill it rightly.

    Parameters
    ----------
    data : IncompleteData
        The table.
    truth : IncompleteData
        The same before cells were hidden.
    """

    data: IncompleteData
    truth: IncompleteData

    def consistency(self, completed: IncompleteData) -> float:
        """Return the share of filled answers that go with the rest of their row."""
        return consistency(self.data, completed)


def consistency(data: IncompleteData, completed: IncompleteData) -> float:
    """Return the share of filled answers that go with what settles them.

    Parameters
    ----------
    data : IncompleteData
        A survey.
    completed : IncompleteData
        The same with its missing cells filled, but for rows without any observed cell.
    """
    right, shows_something = [], (data.codes != MISSING).any(axis=1)
    for (known, asked), fits in _FITS.items():
        if asked not in data.names:
            continue
        k, a = data.index(known), data.index(asked)
        rows = np.flatnonzero((data.codes[:, a] == MISSING) & shows_something)
        right.append(fits[completed.codes[rows, k], completed.codes[rows, a]])
    return float(np.concatenate(right).mean())


def draw_survey(
    variant: Variant = "plain",
    *,
    seed: int = 0,
    n_rows: int = 4000,
    noise: float = 0.0,
) -> Survey:
    """Draw a survey of two waves, of which only the second asked everything.

    Parameters
    ----------
    variant : {"plain", "two", "numeric", "three", "scattered"}
        ``plain``: race is known, and a finer question about it was asked in one wave.
        ``two``: a second question goes with the level of education. ``numeric``: age
        in years is known and age in months was asked in one wave, both cut into
        intervals. ``three``: three waves, of which the last asked. ``scattered``: 5 %
        of all cells are missing beside the block.
    seed : int, default=0
        Of the draw.
    n_rows : int, default=4000
        Number of rows.
    noise : float, default=0.0
        Share of rows in which an answer is drawn from all states alike.

    Examples
    --------
    >>> survey = draw_survey(seed=1)
    >>> survey.data.n_rows, survey.consistency(survey.truth)
    (4000, 1.0)
    """
    rng = np.random.default_rng([seed, VARIANTS.index(variant)])
    waves = ("2007", "2009", "2011") if variant == "three" else ("2009", "2011")
    draft = _Draft(rng, n_rows, noise)
    draft.add("wave", waves, rng.integers(len(waves), size=n_rows))
    education = rng.integers(3, size=n_rows)
    draft.add("edu", ("low", "middle", "high"), education)
    if variant == "numeric":
        years = rng.integers(80, size=n_rows)
        draft.add("age", _intervals(_YEARS), _cut(years, _YEARS))
        months = 12 * years + rng.integers(12, size=n_rows)
        draft.ask("months", _intervals(_MONTHS), _cut(months, _MONTHS))
    else:
        race = rng.choice(len(_RACES), n_rows, p=list(_RACES.values()))
        draft.add("race", tuple(_RACES), race)
        # The last race is two.
        is_other = (race == len(_RACES) - 1) & (rng.random(n_rows) >= 0.6)
        draft.ask("race3", _RACES3, race + is_other)
    if variant == "two":
        draft.ask("edu3", ("basic", "college", "degree"), education)
    return draft.survey(_SCATTERED if variant == "scattered" else 0.0)


@dataclass(slots=True)
class _Draft:
    rng: np.random.Generator
    n_rows: int
    noise: float
    codes: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    states: dict[str, tuple[str, ...]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def add(self, name: str, states: tuple[str, ...], codes: NDArray[np.int64]) -> None:
        self.codes[name], self.states[name] = codes, states

    def ask(self, name: str, states: tuple[str, ...], codes: NDArray[np.int64]) -> None:
        """Add a variable that another one settles, but for the noise."""
        any_state = self.rng.integers(len(states), size=self.n_rows)
        is_noise = self.rng.random(self.n_rows) < self.noise
        self.add(name, states, np.where(is_noise, any_state, codes))
        self.asked.append(name)

    def survey(self, scattered: float) -> Survey:
        """Hide what only the last wave was asked, and a share of all cells."""
        codes = np.column_stack(list(self.codes.values())).astype(np.uint8)
        truth = IncompleteData.from_codes(
            codes, names=tuple(self.codes), states=tuple(self.states.values())
        )
        hidden = codes.copy(order="F")
        hidden[self.rng.random(codes.shape) < scattered] = MISSING
        earlier = self.codes["wave"] < len(self.states["wave"]) - 1
        for asked in self.asked:
            hidden[earlier, truth.index(asked)] = MISSING
        return Survey(truth.with_codes(hidden), truth)


def _cut(numbers: NDArray[np.int64], cuts: tuple[int, ...]) -> NDArray[np.int64]:
    return np.searchsorted(cuts, numbers, side="right")


def _intervals(cuts: tuple[int, ...]) -> tuple[str, ...]:
    inner = [f"{low} to {high}" for low, high in pairwise(cuts)]
    return (f"below {cuts[0]}", *inner, f"from {cuts[-1]}")


def _finer_fits() -> NDArray[np.bool_]:
    fits = np.eye(len(_RACES), len(_RACES3), dtype=bool)
    fits[-1, len(_RACES) - 1 :] = True
    return fits


def _months_fits() -> NDArray[np.bool_]:
    """Tell which intervals of months meet those of years."""
    fits = np.zeros((len(_YEARS) + 1, len(_MONTHS) + 1), dtype=bool)
    every = np.arange(12 * 80)
    fits[_cut(every // 12, _YEARS), _cut(every, _MONTHS)] = True
    return fits


# By what is known and what was asked: the answers that go with each state.
_FITS = {
    ("race", "race3"): _finer_fits(),
    ("age", "months"): _months_fits(),
    ("edu", "edu3"): np.eye(3, dtype=bool),
}
