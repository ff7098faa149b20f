"""Observed and mended cells side by side: whether what fills the missing ones fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._columns import in_columns
from bayesmend._entrance import entrance
from bayesmend._rows import offsets_of
from bayesmend._shown import Shown
from bayesmend.data.alike import check_alike, read_alike
from bayesmend.data.states import MISSING, Label, quantity
from bayesmend.data.table import IncompleteData

__all__ = [
    "MendedStratum",
    "MendedSummary",
    "MendedVariable",
    "compare_cells",
    "compare_mended",
    "mutual_information",
]

# A mended distribution further than this from all that it may resemble is an alarm: as
# a total variation distance, and in standard errors of it.
_FAR, _ERRORS = 0.2, 3.0
_RARE = 0.5  # of the frequency of the most frequent state
_FEW = 10  # mended cells, of which no distribution is worth an alarm
_SHOWN_STATES = 5
_SHOWN_VARIABLES = 10
_AT_ONCE = 2**20  # cells that are counted together


@dataclass(frozen=True, slots=True)
class MendedStratum:
    """Observed and mended cells of a variable in rows that have something in common.

    Parameters
    ----------
    level : label or None
        The state, in these rows, of the variable that best predicts the missing cells;
        None for all rows.
    observed, mended : tuple of int
        How often each state was observed, and filled in.
    distance : float
        How far the mended distribution is from what is nearest to it, between 0 and 1;
        see `compare_mended`.
    is_alarm : bool
        Whether it is near to nothing.
    """

    level: Label | None
    observed: tuple[int, ...]
    mended: tuple[int, ...]
    distance: float
    is_alarm: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "level": self.level,
            "observed": list(self.observed),
            "mended": list(self.mended),
            "distance": self.distance,
            "is_alarm": self.is_alarm,
        }


@dataclass(frozen=True, slots=True)
class MendedVariable:
    """A variable with mended cells.

    Parameters
    ----------
    name : str
        The variable.
    states : tuple
        Labels of its states.
    total : MendedStratum
        All of its cells.
    predictor : str or None
        The variable that tells most about which cells were missing (highest mutual
        information); None where none tells more than chance does.
    strata : tuple of MendedStratum
        The cells within each level of `predictor` that has mended ones.
    """

    name: str
    states: tuple[Label, ...]
    total: MendedStratum
    predictor: str | None
    strata: tuple[MendedStratum, ...]

    @property
    def is_alarm(self) -> bool:
        """Whether the cells, or those in one of the strata, resemble nothing."""
        return any(part.is_alarm for part in (self.total, *self.strata))

    @property
    def distance(self) -> float:
        """The largest distance of all strata."""
        return max(part.distance for part in (self.total, *self.strata))

    def where(self, part: MendedStratum) -> str:
        """Tell which rows a stratum has."""
        if part is self.total:
            return "all"
        return f"{self.predictor} = {part.level}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "name": self.name,
            "states": list(self.states),
            **{k: v for k, v in self.total.to_dict().items() if k != "level"},
            "predictor": self.predictor,
            "strata": [part.to_dict() for part in self.strata],
        }


@dataclass(frozen=True, slots=True, repr=False)
class MendedSummary(Shown):
    """Observed and mended distributions of all variables; ``str`` gives them as text.

    Parameters
    ----------
    variables : tuple of MendedVariable
        Those with mended cells, in the order of the table.

    Examples
    --------
    >>> table = {"a": ["x", "x", "y", "y"], "b": ["u", None, "v", "v"]}
    >>> print(compare_mended(table, {**table, "b": ["u", "u", "v", "v"]}))
    variable  rows  cells  observed       mended
    b         all   1      v 67%, u 33%   u 100%
    """

    variables: tuple[MendedVariable, ...]

    @property
    def alarms(self) -> tuple[str, ...]:
        """Variables whose mended cells resemble no observed ones."""
        return tuple(found.name for found in self.variables if found.is_alarm)

    @property
    def most_unlike_first(self) -> list[MendedVariable]:
        """The variables, alarms first, then by distance."""
        return sorted(self.variables, key=lambda v: (not v.is_alarm, -v.distance))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "alarms": list(self.alarms),
            "variables": [found.to_dict() for found in self.variables],
        }

    def __str__(self) -> str:
        if not self.variables:
            return "no mended cells"
        order = self.most_unlike_first
        rows: list[tuple[str, ...]] = [
            ("variable", "rows", "cells", "observed", "mended")
        ]
        for variable in order[:_SHOWN_VARIABLES]:
            rows += _lines(variable)
        lines = in_columns(rows)
        if (n_left := len(order) - _SHOWN_VARIABLES) > 0:
            lines.append(f"and {quantity(n_left, 'variable')} more alike")
        return "\n".join([*lines, *map(_alarm, self.alarms)])

    def __repr__(self) -> str:
        told = quantity(len(self.variables), "variable")
        return f"MendedSummary({told}, {quantity(len(self.alarms), 'alarm')})"


def _alarm(name: str) -> str:
    return (
        f"ALARM: the mended cells of {name} resemble no observed ones. Look at them "
        "before you use them."
    )


def _lines(variable: MendedVariable) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for part in (variable.total, *variable.strata):
        rows.append(
            (
                variable.name if part is variable.total else "",
                variable.where(part),
                f"{sum(part.mended):,}",
                show_shares(variable.states, part.observed),
                show_shares(variable.states, part.mended),
            )
        )
    return rows


def show_shares(states: Sequence[Label], counts: Sequence[int]) -> str:
    """Show the most frequent states with their shares.

    Examples
    --------
    >>> show_shares(("no", "yes"), (1, 3)), show_shares(("no", "yes"), (0, 0))
    ('yes 75%, no 25%', '-')
    """
    total = sum(counts)
    order = sorted(range(len(states)), key=lambda k: -counts[k])
    seen = [k for k in order if counts[k]]
    shown = [
        f"{states[k]} {100 * counts[k] / total:.0f}%" for k in seen[:_SHOWN_STATES]
    ]
    if len(seen) > _SHOWN_STATES:
        shown.append("...")
    return ", ".join(shown) or "-"


@entrance
def compare_mended(data: Any, completed: Any) -> MendedSummary:
    """Put observed and mended distributions side by side, variable by variable.

    Also within the levels of the variable that best predicts which cells were missing.
    A mended distribution is an alarm when it resembles nothing: by total variation
    distance neither the observed cells, nor those of any level, nor what the variable
    most related to this one would have given in shares; each further away than 0.2,
    and than three standard errors. And the share of the cells with states that are
    rare, in observed rows, at that state of the related variable (less than half as
    frequent as the most frequent one) must be larger than among observed cells by more
    than 0.2. A filling of the most probable states, which makes frequent ones more
    frequent, is no alarm.

    Parameters
    ----------
    data : IncompleteData, frame, array, mapping or path
        The table with its missing cells.
    completed : IncompleteData, frame, array, mapping or path
        The same table with (some of) them filled, as ``result.completed``.

    Returns
    -------
    MendedSummary
        ``print`` shows it; ``alarms`` names the variables to look at.

    Examples
    --------
    >>> import bayesmend as bm
    >>> wave = [2009] * 50 + [2011] * 50
    >>> race, asked = ["b", "w", "w", "o", "o"] * 20, [None] * 50
    >>> table = {"wave": wave, "race": race, "again": asked + race[50:]}
    >>> constant = {**table, "again": ["w"] * 50 + race[50:]}
    >>> bm.compare_mended(table, constant).alarms
    ('again',)
    >>> bm.compare_mended(table, {**table, "again": race}).alarms
    ()
    """
    before = IncompleteData.from_table(data)
    after = read_alike(before, completed)
    check_alike(before, after, "completed table")
    return compare_cells(after, before.missing_mask)


def compare_cells(
    completed: IncompleteData, is_mended: NDArray[np.bool_]
) -> MendedSummary:
    """Compare the cells of a completed table that were missing with the others."""
    rows = _Cells(completed.codes, is_mended, completed.card)
    return MendedSummary(
        tuple(
            _compare(completed, rows, v)
            for v in np.flatnonzero(rows.is_filled.any(axis=0)).tolist()
        )
    )


def _compare(data: IncompleteData, rows: _Cells, v: int) -> MendedVariable:
    predictor = rows.best_predictor(v)
    levels = [] if predictor is None else list(range(int(data.card[predictor])))
    every = np.ones(data.n_rows, bool)
    parts: dict[int | None, NDArray[np.bool_]] = {None: every}
    if predictor is not None:
        column = data.codes[:, predictor]
        parts |= {level: column == level for level in levels}
    observed = {level: rows.observed(v, part) for level, part in parts.items()}
    related = rows.most_related(v)

    def stratum(level: int | None) -> MendedStratum:
        mended = rows.mended(v, parts[level])
        expected, rare = rows.carried_over(v, related, parts[level])
        references = [c for c in (*observed.values(), expected) if c.sum() > 0]
        distance, is_alarm = _nearest(mended, references, rare)
        label = None if level is None else data.states[predictor][level]  # type: ignore[index]
        return MendedStratum(
            label,
            tuple(observed[level].tolist()),
            tuple(mended.tolist()),
            distance,
            is_alarm,
        )

    return MendedVariable(
        data.names[v],
        data.states[v],
        stratum(None),
        None if predictor is None else data.names[predictor],
        tuple(stratum(k) for k in levels if rows.mended(v, parts[k]).any()),
    )


def _nearest(
    mended: NDArray[np.int64], references: Sequence[NDArray[Any]], rare: float
) -> tuple[float, bool]:
    """Return the distance to the nearest reference, and whether all are too far.

    ``rare`` tells how much more often states are rare in their rows than observed.
    """
    n = int(mended.sum())
    nearest, is_alarm = rare, n >= _FEW and bool(references) and rare > _FAR
    for counts in references:
        size = float(counts.sum())
        p, q = counts / size, mended / n
        distance = 0.5 * float(np.abs(p - q).sum())
        error = 0.5 * float(np.sqrt(p * (1 - p) * (1 / n + 1 / size)).sum())
        nearest = min(nearest, distance)
        is_alarm = is_alarm and distance > max(_FAR, _ERRORS * error)
    return (nearest if references else 0.0), is_alarm


class _Cells:
    """Codes of a completed table, and which of them were missing."""

    def __init__(
        self,
        codes: NDArray[np.uint8],
        is_mended: NDArray[np.bool_],
        card: NDArray[np.int32],
    ) -> None:
        self.codes, self.card = codes, card
        self._starts = offsets_of(card)
        self.is_missing = is_mended
        self.is_filled = is_mended & (codes != MISSING)
        self.is_observed = ~is_mended & (codes != MISSING)

    def observed(self, v: int, part: NDArray[np.bool_]) -> NDArray[np.int64]:
        return self._count(v, part & self.is_observed[:, v])

    def mended(self, v: int, part: NDArray[np.bool_]) -> NDArray[np.int64]:
        return self._count(v, part & self.is_filled[:, v])

    def _count(self, v: int, chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(self.codes[chosen, v], minlength=int(self.card[v]))

    def best_predictor(self, v: int) -> int | None:
        """Return the variable that tells most about whether a cell was missing."""
        missing = self.is_missing[:, v].astype(np.uint8)
        return self._most_telling(v, missing, 2, np.ones(len(missing), bool))

    def most_related(self, v: int) -> int | None:
        """Return the variable that tells most about the state, where observed."""
        return self._most_telling(
            v, self.codes[:, v], int(self.card[v]), self.is_observed[:, v]
        )

    def _most_telling(
        self, v: int, what: NDArray[np.uint8], n_states: int, rows: NDArray[np.bool_]
    ) -> int | None:
        told, chances = self._told_by_all(what, n_states, rows)
        best, most = None, 0.0
        for u, (value, chance) in enumerate(zip(told, chances, strict=True)):
            if u != v and value > max(chance, most + 1e-9):
                best, most = u, value
        return best

    def _told_by_all(
        self, what: NDArray[np.uint8], n_states: int, rows: NDArray[np.bool_]
    ) -> tuple[list[float], list[float]]:
        """Return what each variable tells in nats, over all rows, and what chance may.

        All variables are counted at once: the tables are as many as pairs of variables.
        """
        counts = self._joint_counts(what, n_states, np.flatnonzero(rows))
        starts = self._starts[:-1]
        levels = counts.sum(axis=1)
        states = np.add.reduceat(counts, starts)
        n = states.sum(axis=1)
        apart = levels[:, None] * np.repeat(states, self.card, axis=0)
        total = np.repeat(n, self.card)[:, None]
        seen = counts > 0
        ratio = np.divide(counts * total, apart, out=np.ones_like(apart), where=seen)
        told = np.add.reduceat((counts * np.log(ratio)).sum(axis=1), starts)
        # More than chance: twice what BIC asks of as many parameters.
        chance = np.log(np.maximum(n, 1)) * (self.card - 1) * (n_states - 1)
        return told.tolist(), chance.tolist()

    def _joint_counts(
        self, what: NDArray[np.uint8], n_states: int, rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Count states of all variables, end to end, with those of one."""
        n_entries = int(self._starts[-1])
        counts = np.zeros((n_entries + 1) * n_states)
        step = max(1, _AT_ONCE // max(len(self.card), 1))
        for begin in range(0, len(rows), step):
            part = rows[begin : begin + step]
            places = np.where(
                self.is_observed[part], self.codes[part] + self._starts[:-1], n_entries
            )
            keys = places * n_states + what[part, None]
            counts += np.bincount(keys.ravel(), minlength=len(counts))
        return counts.reshape(-1, n_states)[:-1]

    def carried_over(
        self, v: int, related: int | None, part: NDArray[np.bool_]
    ) -> tuple[NDArray[np.float64], float]:
        """Return what the most related variable says of the mended cells of a part.

        Their expected counts, and how much larger the share of those whose state is
        rare there is than among observed cells.
        """
        card = int(self.card[v])
        filled = part & self.is_filled[:, v]
        levels = np.zeros(int(filled.sum()), np.intp)
        counts = self.observed(v, np.ones(len(part), bool))[None]
        if related is not None:
            seen = self.is_observed[:, v] & self.is_observed[:, related]
            keys = self.codes[seen, related].astype(np.intp) * card
            n_levels = int(self.card[related])
            counts = np.bincount(
                keys + self.codes[seen, v], minlength=n_levels * card
            ).reshape(n_levels, card)
            at = self.codes[filled, related]
            levels = np.where(at == MISSING, n_levels, at).astype(np.intp)
        is_rare = counts < _RARE * counts.max(axis=1, keepdims=True)
        usual = counts[is_rare].sum() / max(counts.sum(), 1)
        if related is not None:
            # Where a row lacks it even now, or the level was never seen: as overall.
            counts = np.vstack([counts, counts.sum(axis=0)])
            is_rare = np.vstack([is_rare, counts[-1] < _RARE * counts[-1].max()])
            levels[counts[levels].sum(axis=1) == 0] = len(counts) - 1
        if not len(levels):
            return np.zeros(card), 0.0
        rare = is_rare[levels, self.codes[filled, v]].mean()
        shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        return shares[levels].sum(axis=0), max(float(rare - usual), 0.0)


def mutual_information(counts: NDArray[Any]) -> float:
    """Return the mutual information, in nats, of the two sides of a table of counts.

    Examples
    --------
    >>> round(mutual_information(np.array([[5.0, 0.0], [0.0, 5.0]])), 4)
    0.6931
    """
    total = counts.sum()
    if total == 0:
        return 0.0
    joint = counts / total
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    seen = joint > 0
    return float((joint[seen] * np.log(joint[seen] / apart[seen])).sum())
