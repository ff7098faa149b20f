"""Why cells are missing: an indicator per variable, given the states of variables.

An indicator is nobody's parent, so a network says of its variables the same with and
without. It matters where cells are missing: that they are is evidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._copies import frozen_in_copies
from bayesmend.data.states import MISSING
from bayesmend.errors import DataError
from bayesmend.network.cpt import check_cpt

__all__ = ["OBSERVED_OR_MISSING", "Mechanism", "indicator_names"]

OBSERVED_OR_MISSING = ("observed", "missing")
"""The states of an indicator."""


def indicator_names(names: Sequence[str], variables: Sequence[str]) -> tuple[str, ...]:
    """Name the indicators of some variables, unlike any variable.

    Examples
    --------
    >>> indicator_names(["smoke", "cough", "missing_cough"], ["smoke", "cough"])
    ('missing_smoke', 'missing_cough_')
    """
    taken, found = set(names), []
    for variable in variables:
        name = f"missing_{variable}"
        while name in taken:
            name += "_"
        taken.add(name)
        found.append(name)
    return tuple(found)


@frozen_in_copies
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mechanism:
    """The probability that a cell is missing, given the states of variables.

    Parameters
    ----------
    variables : tuple of str
        Those with missing cells that were seen to be observed, too.
    parents : tuple of tuple of str
        What it depends on for each: other variables, or the variable itself.
    cpts : tuple of ndarray of shape (n_parent_configs, 2)
        The probabilities of observed and of missing, per configuration of the parents,
        the first one varying fastest.

    Examples
    --------
    >>> Mechanism(("income",), (("income",),), ([[0.9, 0.1], [0.5, 0.5]],))
    Mechanism(income given income)
    """

    variables: tuple[str, ...]
    parents: tuple[tuple[str, ...], ...]
    cpts: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        n = len(self.variables)
        if not n == len(self.parents) == len(self.cpts) == len(set(self.variables)):
            msg = "a mechanism must have parents and a table for each variable, once."
            raise DataError(msg)
        cpts = tuple(
            check_cpt(name, cpt, len(cpt), 2)
            for name, cpt in zip(self.variables, self.cpts, strict=True)
        )
        object.__setattr__(self, "cpts", cpts)

    def check(self, names: Sequence[str], card: Sequence[int]) -> None:
        """Raise DataError unless variables and tables are those of a network."""
        place = {name: v for v, name in enumerate(names)}
        for name, parents, cpt in zip(
            self.variables, self.parents, self.cpts, strict=True
        ):
            for used in (name, *parents):
                if used not in place:
                    msg = f"the mechanism names {used!r}, which is no variable."
                    raise DataError(msg)
            size = math.prod(card[place[p]] for p in parents)
            if len(cpt) != size:
                msg = (
                    f"the mechanism of {name!r} must have {size} distributions, one "
                    f"for each configuration of its parents. Got {len(cpt)} instead."
                )
                raise DataError(msg)

    def indicators(
        self,
        names: Sequence[str],
        cells: NDArray[np.uint8],
        asked: Sequence[str] | None = None,
    ) -> NDArray[np.uint8]:
        """Return the indicators of a table: 1 where a cell is missing.

        Of a variable that was not asked for it says nothing that it is missing: its
        indicator is missing, too. Where it is not told what was asked for, a variable
        that is missing in every row was not.
        """
        place = {name: v for v, name in enumerate(names)}
        columns = [place[name] for name in self.variables]
        found: NDArray[np.uint8] = np.equal(cells[columns], MISSING).astype(np.uint8)
        if asked is None:
            found[found.all(axis=1)] = MISSING
        else:
            found[[name not in asked for name in self.variables]] = MISSING
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return it in plain types, ready for JSON."""
        return {
            name: {"parents": list(parents), "cpt": cpt.tolist()}
            for name, parents, cpt in zip(
                self.variables, self.parents, self.cpts, strict=True
            )
        }

    @classmethod
    def from_dict(cls, plain: object) -> Mechanism:
        """Undo `to_dict`.

        Raises
        ------
        DataError
            When it is not of that form.
        """
        if not isinstance(plain, dict) or not all(map(_is_told, plain.values())):
            msg = "a mechanism must give each variable its parents and its cpt."
            raise DataError(msg)
        return cls(
            tuple(plain),
            tuple(tuple(told["parents"]) for told in plain.values()),
            tuple(np.array(told["cpt"], float) for told in plain.values()),
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mechanism):
            return NotImplemented
        return (
            self.variables == other.variables
            and self.parents == other.parents
            and all(map(np.array_equal, self.cpts, other.cpts))
        )

    def __hash__(self) -> int:
        return hash((self.variables, self.parents))

    def __repr__(self) -> str:
        found = [
            f"{name} given {' and '.join(parents)}" if parents else f"{name} at random"
            for name, parents in zip(self.variables, self.parents, strict=True)
        ]
        return f"Mechanism({', '.join(found)})"


def _is_told(told: object) -> bool:
    """Tell whether it has a list of names and a table with two columns."""
    if not isinstance(told, dict) or not {"parents", "cpt"} <= told.keys():
        return False
    parents, rows = told["parents"], told["cpt"]
    is_list = isinstance(parents, list) and all(isinstance(p, str) for p in parents)
    return is_list and isinstance(rows, list) and all(map(_is_pair, rows))


def _is_pair(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 2
        and all(isinstance(p, (int, float)) for p in row)
    )
