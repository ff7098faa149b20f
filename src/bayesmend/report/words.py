"""The state of a result in sentences."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from bayesmend.data.cells import CompletedCell
from bayesmend.learning.ensemble.result import Ensemble
from bayesmend.learning.result import LearnResult
from bayesmend.outcome import Certificate, Stopped

__all__ = [
    "Alike",
    "Sureness",
    "certificate",
    "first_rows",
    "least_certain",
    "mended_in_words",
    "number",
    "stopping",
    "sureness",
]


def certificate(result: LearnResult) -> str:
    """Say what is known about the score, in full sentences.

    Examples
    --------
    >>> import bayesmend as bm
    >>> certificate(bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}))
    'No structure with any completion of the missing cells scores higher: proven.'
    """
    if isinstance(result, Ensemble):
        is_single = "network" in result.detail
        shown = "the best single one that was found" if is_single else "their consensus"
        return (
            "The cells are mended by the mean of what all members say. The network "
            f"shown is {shown}; nothing is proven."
        )
    if result.is_optimal:
        if len(result.cells) == 0:
            return "No structure scores higher: proven."
        sentences = [
            "No structure with any completion of the missing cells scores higher: "
            "proven."
        ]
    else:
        sentences = [s for s in (_locally(result), _gap(result)) if s]
        if not sentences:
            return "Nothing is proven about the score."
    if result.is_given_mechanism:
        sentences.append(
            "This holds given the mechanism: the probabilities that cells are missing "
            "were learned before and held fixed."
        )
    return " ".join(sentences)


def stopping(result: LearnResult) -> str | None:
    """Name what ended the search early: the time limit, Ctrl-C, memory; or None."""
    if result.is_optimal or not result.stopped:
        return None
    if result.stopped is Stopped.INTERRUPT:
        return "Ctrl-C"
    return f"the {result.stopped.words}"


def mended_in_words(result: LearnResult) -> str:
    """Say how many cells were mended, and of which, where some columns have no part.

    Examples
    --------
    >>> import bayesmend as bm
    >>> mended_in_words(bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}))
    '1 of 8 cells mended'
    """
    data, n_mended = result.completed, len(result.cells)
    aside = () if data.schema is None else data.schema.of("pass-through")
    which = "cells of the modelled columns" if aside else "cells"
    return f"{n_mended:,} of {data.n_rows * data.n_vars:,} {which} mended"


def number(value: float) -> str:
    """Show a score, a bound, a gap or a margin.

    Examples
    --------
    >>> number(-2242.12345), number(0.0), number(1e-7), number(float("inf"))
    ('-2,242.123', '0', '1.0e-07', 'none')
    """
    if not math.isfinite(value):
        return "none"
    if value == 0:
        return "0"
    return f"{value:.1e}" if abs(value) < 5e-4 else f"{value:,.3f}"


class Alike(NamedTuple):
    """Mended cells of one variable that differ in nothing but the row."""

    cell: CompletedCell
    rows: list[int]

    def show_rows(self, n_shown: int) -> str:
        """List the first rows, and how many follow."""
        return first_rows(self.rows, n_shown)


def first_rows(rows: Sequence[int], n_shown: int) -> str:
    """List the first of some rows, and how many follow."""
    shown = ", ".join(map(str, rows[:n_shown]))
    n_left = len(rows) - n_shown
    return f"{shown} and {n_left:,} more" if n_left > 0 else shown


def least_certain(result: LearnResult) -> list[Alike]:
    """List the mended cells, the least certain first, those alike together.

    Cells of variables with a single state are certain and left out.

    Examples
    --------
    >>> import bayesmend as bm
    >>> table = {"a": list("xxyyxx"), "b": ["u", "u", "v", "v", None, None]}
    >>> least_certain(bm.learn(table))[0].show_rows(1)
    '4 and 1 more'
    """
    groups: dict[tuple[object, ...], Alike] = {}
    for cell in result.cells:
        if cell.runner_up is not None:
            group = groups.setdefault(cell[1:], Alike(cell, []))
            group.rows.append(cell.row)
    measure = sureness(result).of
    return sorted(groups.values(), key=lambda alike: measure(alike.cell))


class Sureness(NamedTuple):
    """How the certainty of a mended cell is measured: its name, what it means."""

    name: str
    unit: str
    meaning: str

    def of(self, cell: CompletedCell) -> float:
        """Return the value of a cell: the lower, the less certain."""
        value: float = getattr(cell, self.name)
        return value

    def share(self, cell: CompletedCell, most: float) -> float:
        """Return a length for it between 0 and 1; `most` is the largest value shown."""
        value = self.of(cell)
        if self.name == "probability":
            return value
        # Margins span orders of magnitude.
        return math.sqrt(value / most) if value > 0 else 0.0


def sureness(result: LearnResult) -> Sureness:
    """Tell how the certainty of the mended cells of a result is measured."""
    if isinstance(result, Ensemble):
        return Sureness(
            "probability",
            "",
            "The probability is that of the cell's state given what is observed in its "
            "row, the mean over all networks; each cell has its most probable state by "
            "itself.",
        )
    if result.cells.measure == "probability":
        return Sureness(
            "probability",
            "",
            "The probability is that of the cell's state given what is observed in its "
            "row; the row as a whole has its most probable completion.",
        )
    return Sureness(
        "margin",
        " in nats",
        "The margin is what the score loses when the cell alone takes the runner-up "
        "instead, everything else unchanged: near 0, either would do.",
    )


def _locally(result: LearnResult) -> str:
    if result.locality is not None:
        n = result.locality
        cells = "one missing cell" if n == 1 else f"up to {n} missing cells"
        return f"No change of {cells}, with any structure, scores higher: checked."
    if result.certificate is not Certificate.LOCAL:
        return ""
    if result.log_likelihood is not None:  # found by EM
        return (
            "From here neither a step of the parameters nor the structure solver "
            "finds a higher observed-data score; nothing is proven."
        )
    return (
        "Neither a change of one pattern under this structure nor the structure "
        "solver under this completion finds a higher score; nothing is proven."
    )


def _gap(result: LearnResult) -> str:
    if not math.isfinite(result.bound):
        return ""
    return f"The best possible score is at most {number(result.gap)} nats higher."
