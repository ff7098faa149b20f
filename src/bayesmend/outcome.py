"""How good an answer is known to be, and what ended the search for a better one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from bayesmend._shown import Shown

if TYPE_CHECKING:
    from bayesmend.graph.dag import Dag

__all__ = ["TOLERANCE", "Certificate", "Outcome", "Stopped"]

TOLERANCE = 1e-6
"""A score this close to a bound counts as equal to it."""


class Certificate(StrEnum):
    """What is known of a score."""

    OPTIMAL = "optimal"
    """Nothing that was searched scores higher: proven."""
    BOUNDED = "bounded"
    """A search for a proof ended early: at most the gap is missing."""
    LOCAL = "local"
    """No step that the search knows leads to a higher score."""
    HEURISTIC = "heuristic"
    """Nothing."""

    @classmethod
    def of(cls, score: float, bound: float, *, is_local: bool = False) -> Certificate:
        """Tell what a score and an upper bound say.

        Examples
        --------
        >>> Certificate.of(-10.0, -9.0), Certificate.of(-10.0, float("inf"))
        (<Certificate.BOUNDED: 'bounded'>, <Certificate.HEURISTIC: 'heuristic'>)
        """
        if bound - score <= TOLERANCE:
            return cls.OPTIMAL
        if math.isfinite(bound):
            return cls.BOUNDED
        return cls.LOCAL if is_local else cls.HEURISTIC


class Stopped(StrEnum):
    """What ended a search before it was done."""

    NOTHING = "nothing"
    TIME = "time"
    MEMORY = "memory"
    NODES = "nodes"
    INTERRUPT = "interrupt"

    def __bool__(self) -> bool:
        return self is not Stopped.NOTHING

    @property
    def words(self) -> str:
        """The reason as it is told.

        Examples
        --------
        >>> [stopped.words for stopped in Stopped if stopped]
        ['time limit', 'memory limit', 'node limit', 'interrupt']
        """
        if self in (Stopped.NOTHING, Stopped.INTERRUPT):
            return self.value
        return f"{self.value.removesuffix('s')} limit"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Outcome(Shown):
    """A score with an upper bound: the part that all results share.

    Parameters
    ----------
    score : float
        The score reached.
    bound : float, default=inf
        Nothing that was searched scores higher; infinity where nothing is known.
    certificate : Certificate
        What is known of the score.
    stopped : Stopped
        What ended the search early.
    chosen : str, optional
        What ``auto`` chose, and why.
    seconds : float
        How long it took.
    detail : mapping
        What else the method has to tell.
    certificate_file : str, optional
        The file that holds the proof of the bound, where one was asked for.
    """

    score: float
    bound: float = math.inf
    certificate: Certificate = Certificate.HEURISTIC
    stopped: Stopped = Stopped.NOTHING
    chosen: str | None = None
    seconds: float = 0.0
    detail: Mapping[str, Any] = field(default_factory=dict)
    certificate_file: str | None = None

    if TYPE_CHECKING:  # a field of some results, a property of others

        @property
        def dag(self) -> Dag:
            """The structure."""

    @property
    def gap(self) -> float:
        """How far the score may be from the best possible one."""
        return max(0.0, self.bound - self.score)

    @property
    def is_optimal(self) -> bool:
        """Whether nothing that was searched scores higher."""
        return self.certificate is Certificate.OPTIMAL

    @property
    def status(self) -> str:
        """What is known of the score, in a few words."""
        return self._in_words()

    def _in_words(self) -> str:
        if self.certificate is Certificate.BOUNDED:
            return self._gap_in_words()
        if self.certificate is Certificate.LOCAL:
            return "local optimum"
        return self.certificate.value

    def _gap_in_words(self) -> str:
        share = f" ({100 * self.gap / abs(self.score):.2g} %)" if self.score else ""
        return f"gap {self.gap:.3g} nats{share}"

    def to_dict(self) -> dict[str, Any]:
        """Return what is known in plain types, ready for JSON."""
        has_bound = math.isfinite(self.bound)
        return {
            "score": self.score,
            "bound": self.bound if has_bound else None,
            "gap": self.gap if has_bound else None,
            "status": self.status,
            "certificate": self.certificate.value,
            "stopped": self.stopped.value,
            "chosen": self.chosen,
            "seconds": self.seconds,
            "arcs": [list(arc) for arc in self.dag.arcs],
            "detail": dict(self.detail),
        }

    def __repr__(self) -> str:
        parts = [self.status, f"score={self.score:.3f}"]
        if math.isfinite(self.bound) and not self.is_optimal:
            parts.append(f"bound={self.bound:.3f}")
        parts += [f"n_arcs={self.dag.n_arcs}", *self._made()]
        return f"{type(self).__name__}({', '.join(parts)}, seconds={self.seconds:.2f})"

    def _made(self) -> list[str]:
        """Tell how and from what, for the line that shows a result."""
        return []
