"""IncompleteData: a table of categorical variables, some of its cells missing.

Layer: what every later step starts from. User input is checked on the way here, in
``encode``, and when an ``IncompleteData`` is made; below, only assertions remain.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayesmend.columns import MISSING, MISSING_MARKERS, Label, as_label
from bayesmend.encode import (
    Encoded,
    Options,
    check_labels,
    check_names,
    check_weights,
    encode,
    position_of,
)
from bayesmend.errors import DataError, ParameterError
from bayesmend.tables import Origin, open_table


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class IncompleteData:
    """A table of categorical variables, some of its cells missing.

    Make one with :meth:`from_table`, :meth:`from_csv` or :meth:`from_codes`.

    Parameters
    ----------
    names : tuple of str
        Names of the variables.
    states : tuple of tuple
        Labels of the states of every variable, in the order of their codes.
    codes : ndarray of shape (n_rows, n_vars)
        ``uint8`` codes in Fortran order, read-only; 255 is a missing cell.
    weights : ndarray of shape (n_rows,), optional
        How much each row counts; None when each counts once.

    Examples
    --------
    >>> table = {"smoke": ["yes", None, "no"], "cough": [1, 1, 0]}
    >>> data = IncompleteData.from_table(table)
    >>> data
    IncompleteData(3 rows, 2 variables, 1 missing cell)
    >>> data.states
    (('no', 'yes'), (0, 1))
    >>> data.codes.tolist()
    [[1, 1], [255, 1], [0, 0]]
    """

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None = None
    origin: Origin = field(default=Origin())

    def __post_init__(self) -> None:
        _set(self, "names", check_names(self.names, None))
        _set(self, "states", tuple(tuple(labels) for labels in self.states))
        _set(self, "codes", _check_codes(self.codes, self.names, self.states))
        if self.weights is not None:
            _set(self, "weights", check_weights(self.weights, self.n_rows))

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        states: Mapping[str, Iterable[Label]] | None = None,
        weights: Any = None,
        missing: Iterable[str] = MISSING_MARKERS,
        names: Sequence[str] | None = None,
        max_numeric_states: int = 20,
    ) -> Self:
        """Read a table."""
        if isinstance(table, cls):
            return table
        options = Options(states, weights, missing, names, max_numeric_states)
        return cls._from_encoded(encode(open_table(table), options))

    @classmethod
    def from_codes(
        cls,
        codes: NDArray[np.uint8],
        *,
        names: Sequence[str],
        states: Sequence[Sequence[Label]],
        weights: Any = None,
    ) -> Self:
        """Wrap a table that is coded already.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_vars)
            ``uint8`` codes, 255 where missing. Copied unless in Fortran order and
            read-only.
        names : sequence of str
            Names of the variables.
        states : sequence of sequence
            Labels of the states of every variable, in the order of their codes.
        weights : array of shape (n_rows,), optional
            Row weights, finite and >= 0.

        Examples
        --------
        >>> codes = np.array([[0, 1], [255, 0]], dtype=np.uint8)
        >>> IncompleteData.from_codes(
        ...     codes, names=["a", "b"], states=[("no", "yes"), ("low", "high")]
        ... )
        IncompleteData(2 rows, 2 variables, 1 missing cell)
        """
        labels = tuple(tuple(as_label(s) for s in per_name) for per_name in states)
        return cls(tuple(names), labels, codes, weights)

    @classmethod
    def _from_encoded(cls, parts: Encoded) -> Self:
        return cls(parts.names, parts.states, parts.codes, parts.weights, parts.origin)

    def with_codes(self, codes: NDArray[np.uint8]) -> Self:
        """Return the same variables and rows with other cells.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_vars)
            ``uint8`` codes, 255 where missing.

        Examples
        --------
        >>> data = IncompleteData.from_table({"a": ["x", None], "b": ["u", "v"]})
        >>> data.with_codes(np.zeros((2, 2), dtype=np.uint8)).n_missing
        0
        """
        if np.shape(codes) != self.codes.shape:
            message = (
                f"codes must have shape {self.codes.shape}. Got {np.shape(codes)}"
                " instead."
            )
            raise ParameterError(message)
        return type(self)(self.names, self.states, codes, self.weights, self.origin)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def card(self) -> NDArray[np.int32]:
        """Number of states of every variable."""
        return np.array([len(labels) for labels in self.states], dtype=np.int32)

    @property
    def missing_mask(self) -> NDArray[np.bool_]:
        """True where a cell is missing, shape (n_rows, n_vars)."""
        return np.equal(self.codes, MISSING)

    @property
    def n_missing(self) -> int:
        """Number of missing cells."""
        return int(np.count_nonzero(self.codes == MISSING))

    @property
    def is_complete(self) -> bool:
        """Whether no cell is missing."""
        return self.n_missing == 0

    def index(self, name: str) -> int:
        """Return the position of a variable.

        Examples
        --------
        >>> data = IncompleteData.from_table({"smoke": ["yes"], "cough": ["no"]})
        >>> data.index("cough")
        1
        >>> data.index("cogh")
        Traceback (most recent call last):
        ...
        bayesmend.errors.DataError: no variable named 'cogh'. Available: smoke, cough.
        """
        return position_of(name, self.names)

    def __repr__(self) -> str:
        def count(n: int, word: str) -> str:
            return f"{n:,} {word}" if n == 1 else f"{n:,} {word}s"

        parts = [count(self.n_rows, "row"), count(self.n_vars, "variable")]
        parts.append(count(self.n_missing, "missing cell"))
        if self.weights is not None:
            parts.append("weighted")
        return f"{type(self).__name__}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Compare names, states, cells and weights; the origin does not matter."""
        if not isinstance(other, IncompleteData):
            return NotImplemented
        return (
            self.names == other.names
            and self.states == other.states
            and np.array_equal(self.codes, other.codes)
            and (self.weights is None) == (other.weights is None)
            and (self.weights is None or np.array_equal(self.weights, other.weights))  # type: ignore[arg-type]
        )

    __hash__ = None  # type: ignore[assignment]


def _set(data: IncompleteData, name: str, value: object) -> None:
    object.__setattr__(data, name, value)  # the one way to fill a frozen dataclass


def _check_codes(
    codes: NDArray[np.uint8],
    names: tuple[str, ...],
    states: tuple[tuple[Label, ...], ...],
) -> NDArray[np.uint8]:
    if len(states) != len(names):
        message = (
            f"states must hold the labels of {len(names)} variables. Got {len(states)}"
            " instead."
        )
        raise DataError(message)
    for name, labels in zip(names, states, strict=True):
        check_labels(name, labels)
    if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8:
        kind = getattr(codes, "dtype", type(codes).__name__)
        message = f"codes must be an array of uint8. Got {kind} instead."
        raise DataError(message)
    if codes.ndim != 2 or codes.shape[1] != len(names):
        message = (
            f"codes must have shape (n_rows, {len(names)}). Got {codes.shape} instead."
        )
        raise DataError(message)
    if codes.flags.writeable or not codes.flags.f_contiguous:
        codes = np.array(codes, order="F")
        codes.flags.writeable = False
    for j, (name, labels) in enumerate(zip(names, states, strict=True)):
        # Adding 1 wraps the missing code to 0, so one maximum checks both.
        highest = int((codes[:, j] + np.uint8(1)).max(initial=0)) - 1
        if highest >= len(labels):
            message = (
                f"variable {name!r} has {len(labels)} states, but its column contains"
                f" state code {highest}."
            )
            raise DataError(message)
    return codes
