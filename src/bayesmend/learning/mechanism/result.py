"""What learning tells of why cells are missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayesmend._columns import in_columns
from bayesmend._shown import Shown
from bayesmend.data.states import Label, position_of

__all__ = ["LABELS", "LearnedMechanism", "MissingCells"]

MechanismLabel = Literal[
    "innocent", "explained by observed variables", "depends on hidden values"
]
LABELS: tuple[MechanismLabel, ...] = (
    "innocent",
    "explained by observed variables",
    "depends on hidden values",
)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class MissingCells:
    """Why the cells of one variable are missing.

    Parameters
    ----------
    variable : str
        The variable.
    parents : tuple of str
        What the probability that a cell is missing depends on: other variables, or the
        variable itself.
    label : str
        ``innocent``: nothing (MCAR). ``explained by observed variables``: variables
        without any missing cell (MAR). ``depends on hidden values``: the variable
        itself, or others with missing cells (MNAR).
    share : float
        The share of its cells that are missing.
    configurations : tuple of tuple
        The states of the parents, the first one varying fastest.
    probabilities : ndarray of shape (n_configurations,)
        The probability that a cell is missing, given the states of the parents.
    lower, upper : ndarray of shape (n_configurations,)
        About 95 % confidence intervals, by curvature of the likelihood in log-odds, the
        structure being given.
    gain : float
        Log-likelihood in nats against having no parent, all else being equal.
    identified : float
        How much the rest of a row tells about the variable where it is missing: one
        less the mean entropy of its distribution given the observed states of the row
        over the entropy of its distribution in the table. 0 for nothing: a dependence
        on the variable itself cannot be seen then. 1 for all.
    stability : float, optional
        Share of bootstrap samples with the same label, if asked for.
    """

    variable: str
    parents: tuple[str, ...]
    label: MechanismLabel
    share: float
    configurations: tuple[tuple[Label, ...], ...]
    probabilities: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    gain: float
    identified: float
    stability: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "variable": self.variable,
            "parents": list(self.parents),
            "label": self.label,
            "share": self.share,
            "configurations": [list(states) for states in self.configurations],
            "probabilities": self.probabilities.tolist(),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "gain": self.gain,
            "identified": self.identified,
            "stability": self.stability,
        }

    def __repr__(self) -> str:
        given = f" given {' and '.join(self.parents)}" if self.parents else ""
        return f"MissingCells({self.variable}{given}: {self.label})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LearnedMechanism(Shown):
    """Why the cells of a table are missing, variable by variable.

    Parameters
    ----------
    variables : tuple of MissingCells
        Each variable that has missing and observed cells.
    gain : float
        By how many nats the score of network and mechanism together exceeds that of
        the network alone.
    note : str, optional
        What kept the search from an answer.
    """

    variables: tuple[MissingCells, ...]
    gain: float = 0.0
    note: str | None = None

    def of(self, name: str) -> MissingCells:
        """Return what is known of one variable."""
        names = [found.variable for found in self.variables]
        return self.variables[position_of(name, names)]

    def __iter__(self) -> Iterator[MissingCells]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    @property
    def is_innocent(self) -> bool:
        """Whether nothing was found that missing cells depend on."""
        return not any(found.parents for found in self.variables)

    @property
    def has_stability(self) -> bool:
        """Whether it was learned from bootstrap samples, too."""
        return any(found.stability is not None for found in self.variables)

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            "gain": self.gain,
            "note": self.note,
            "variables": [found.to_dict() for found in self.variables],
        }

    def __str__(self) -> str:
        head = ("variable", "missing", "label", "depends on", "gain", "identified")
        rows = [head, *map(_row, self.variables)]
        if self.has_stability:
            rows[0] = (*head, "stable")
        return "\n".join(in_columns(rows))

    def __repr__(self) -> str:
        counts = dict.fromkeys(LABELS, 0)
        for found in self.variables:
            counts[found.label] += 1
        told = [f"{count} {label}" for label, count in counts.items() if count]
        return f"LearnedMechanism({', '.join(told)})"


def _row(found: MissingCells) -> tuple[str, ...]:
    return (
        found.variable,
        f"{found.share:.1%}",
        found.label,
        ", ".join(found.parents) or "-",
        f"{found.gain:.1f}",
        f"{found.identified:.0%}",
        *([] if found.stability is None else [f"{found.stability:.0%}"]),
    )
