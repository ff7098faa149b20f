"""What learning returns, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayesmend.data.cells import CompletedCells
from bayesmend.data.mended import MendedSummary, compare_cells
from bayesmend.data.states import MISSING, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import ParameterError
from bayesmend.graph.dag import Dag
from bayesmend.learning.mechanism.result import LearnedMechanism
from bayesmend.network.network import Network
from bayesmend.outcome import Certificate, Outcome

__all__ = ["LearnResult", "Step", "check_result", "comparable"]


class Step(NamedTuple):
    """A step of a search: the score it reached, its kind, and when.

    Of an accepted move of augmentation the kind is ``start``, ``structure``,
    ``completion`` or ``flip``. Of a structure of EM it is the start it came from, or
    ``mechanism`` where why cells are missing counts in the score, too;
    ``log_likelihood`` is that of what is observed, per iteration of the parameters,
    which never falls.
    """

    score: float
    kind: str
    seconds: float
    n_arcs: int | None = None
    log_likelihood: tuple[float, ...] = ()


def comparable(result: LearnResult) -> tuple[Step, ...]:
    """Return the steps of a search whose score counts what that of the result counts.

    Examples
    --------
    >>> import bayesmend as bm
    >>> result = bm.learn_em({"a": ["x", "y"] * 9, "b": ["u", "v"] * 9}, seed=1)
    >>> comparable(result) == result.trace
    True
    """
    mechanism = result.mechanism
    is_under = mechanism is not None and not mechanism.is_innocent
    under = tuple(step for step in result.trace if step.kind == "mechanism")
    if is_under and under:
        return under
    return tuple(step for step in result.trace if step.kind != "mechanism")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LearnResult(Outcome):
    """Network and completed table, and how good they are known to be.

    Parameters
    ----------
    network : Network
        The structure, with the posterior mean of its parameters: given the completed
        table after augmentation, given expected counts after EM.
    completed : IncompleteData
        The table without missing cells; ``completed.to_table()`` is of the kind given.
        `learn` leaves rows missing in which nothing is observed, unless asked.
    cells : CompletedCells
        Each mended cell with its runner-up, and its margin (augmentation) or its
        posterior probability (EM).
    method : str
        ``exact``, ``local``, ``em`` or ``em-hard``.
    score : float
        After augmentation the score of the structure on the completed table, plus what
        a mechanism says of the filled cells (``detail`` has both). After EM
        the observed-data score: the score of the expected counts, corrected by the
        difference between the log-likelihood of what is observed and that of the
        expected counts (Cheeseman and Stutz 1996). On complete data both are the same.
    bound : float
        No structure with any completion scores higher; infinity where unknown.
    certificate : Certificate
        ``OPTIMAL``, ``BOUNDED`` (see `gap`), ``LOCAL`` or ``HEURISTIC``. With the next
        two it makes ``status``: ``optimal``, ``gap 1.2 nats (0.05 %)``, ``1-local
        optimum``, ``local optimum``, ``stopped at time limit``. What is proven under a
        mechanism holds ``given the mechanism``: its probabilities, learned before.
    locality : int, optional
        No change of up to so many cells, with any structure, scores higher: checked.
    stopped : Stopped
        What ended the search early.
    chosen : str, optional
        What ``auto`` chose, and why.
    structure_rows : int, optional
        The rows of a long table that its structure was learned from, the last of the
        ``samples`` of `detail`; parameters and score are of all rows. None where the
        structure is of all rows, too.
    log_likelihood : float, optional
        Of what is observed, under `network`; from EM.
    mechanism : LearnedMechanism, optional
        Why cells are missing, where that was learned (``mechanism=`` of `learn`). The
        score counts it then: after EM what it gains is added to that of the network,
        after augmentation the log-probability of what is missing given the filled
        cells.
    trace : tuple of Step
        Every step of the search that led here.
    seconds : float
        How long it took.
    detail : mapping
        What else the method has to tell: nodes, bounds at the root, scores per start.
    certificate_file : str, optional
        The file that holds the proof of the bound, where one was asked for.
    """

    network: Network
    completed: IncompleteData
    cells: CompletedCells
    method: str
    locality: int | None = None
    structure_rows: int | None = None
    log_likelihood: float | None = None
    mechanism: LearnedMechanism | None = None
    trace: tuple[Step, ...] = ()

    @property
    def dag(self) -> Dag:
        """The structure."""
        return self.network.dag

    @property
    def n_empty_rows(self) -> int:
        """Number of rows in which nothing was observed, filled or left missing."""
        data = self.completed
        n_mended = np.bincount(self.cells.rows, minlength=data.n_rows)
        is_left = (data.codes == MISSING).all(axis=1)
        return int(np.count_nonzero(is_left | (n_mended == data.n_vars)))

    @property
    def incomplete(self) -> IncompleteData:
        """The table as it was before its missing cells were filled."""
        codes = self.completed.codes.copy(order="F")
        codes[self.cells.rows, self.cells.variables] = MISSING
        return self.completed.with_codes(codes)

    @property
    def rows_in_words(self) -> str | None:
        """What was seen of how many rows; None where all of it was of all of them."""
        if self.structure_rows is None:
            return None
        first, *others = self.detail.get("samples") or [{"n_rows": 0}]
        n_rows = quantity(self.completed.n_rows, "row")
        told = f"structure from {self.structure_rows:,} of {n_rows}"
        if others:
            gain = f"{others[-1]['gain']:.2g} nats better"
            told += f" ({gain} than from {(first, *others)[-2]['n_rows']:,})"
        return f"{told}, parameters and score from all"

    @property
    def mended(self) -> MendedSummary:
        """Observed and mended distributions side by side; see `compare_mended`."""
        is_mended = np.zeros(self.completed.codes.shape, bool)
        is_mended[self.cells.rows, self.cells.variables] = True
        return compare_cells(self.completed, is_mended)

    @property
    def unsupported(self) -> dict[str, int]:
        """Number of mended cells without an observed example, by variable."""
        if self.cells.supported is None:
            return {}
        variables = self.cells.variables[~self.cells.supported]
        counts = np.bincount(variables, minlength=len(self.cells.names)).tolist()
        return {n: k for n, k in zip(self.cells.names, counts, strict=True) if k}

    @property
    def is_given_mechanism(self) -> bool:
        """Whether a completion was searched under a mechanism learned before."""
        found = self.mechanism
        is_completion = self.method in ("exact", "local")
        return is_completion and found is not None and not found.is_innocent

    def _in_words(self) -> str:
        if self.certificate is Certificate.HEURISTIC and self.stopped:
            return f"stopped at {self.stopped.words}"
        given = " given the mechanism" if self.is_given_mechanism else ""
        return f"{self._certified_in_words()}{given}"

    def _certified_in_words(self) -> str:
        if self.certificate is Certificate.OPTIMAL or self.locality is None:
            return Outcome._in_words(self)
        locally = f"{self.locality}-local optimum"
        if self.certificate is Certificate.BOUNDED:
            return f"{locally}, {self._gap_in_words()}"
        return locally

    def to_dict(self) -> dict[str, Any]:
        """Return all but parameters and table in plain types, ready for JSON."""
        return {
            **Outcome.to_dict(self),
            "method": self.method,
            "locality": self.locality,
            "structure_rows": self.structure_rows,
            "log_likelihood": self.log_likelihood,
            "mechanism": None if self.mechanism is None else self.mechanism.to_dict(),
            "n_mended": len(self.cells),
            "n_empty_rows": self.n_empty_rows,
            "unsupported": self.unsupported,
            "mended": self.mended.to_dict(),
            "trace": [
                [*step[:-1], list(step.log_likelihood)]
                if step.log_likelihood
                else list(step[:3])
                for step in self.trace
            ],
        }

    def _made(self) -> list[str]:
        n_empty, rows = self.n_empty_rows, self.structure_rows
        return [
            f"n_mended={len(self.cells)}",
            *([] if rows is None else [f"structure_rows={rows}"]),
            *([f"n_empty_rows={n_empty}"] if n_empty else []),
            f"method={self.method!r}",
        ]


def check_result(value: object) -> None:
    """Raise ``ParameterError`` unless a value is a `LearnResult`."""
    if not isinstance(value, LearnResult):
        kind = type(value).__name__
        msg = f"result must be a LearnResult, as learn returns. Got {kind} instead."
        raise ParameterError(msg)
