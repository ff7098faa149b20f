"""Exceptions and warnings.

Every message says what is wrong, what was given and what to do.
"""

from bayesmend._visible import tidy

__all__ = [
    "BayesmendError",
    "BayesmendWarning",
    "ClusterError",
    "ConvergenceWarning",
    "CycleError",
    "DataError",
    "FormatError",
    "InferenceError",
    "MissingDependencyError",
    "OutOfMemoryError",
    "ParameterError",
    "ProbabilityWarning",
    "ReadingWarning",
    "ShortfallWarning",
    "SupportWarning",
    "UnknownParameterError",
]


class BayesmendError(ValueError):
    """Base class of every error raised on purpose by bayesmend."""

    def __init__(self, *args: object) -> None:
        super().__init__(*(tidy(arg) if isinstance(arg, str) else arg for arg in args))


class DataError(BayesmendError):
    """The table or its values cannot be used as they are."""


class ParameterError(BayesmendError):
    """An argument is outside its allowed range."""


class UnknownParameterError(ParameterError, TypeError):
    """A function has no parameter of this name; the message says what it may be."""


class CycleError(BayesmendError):
    """The arcs of a graph form a directed cycle."""


class FormatError(BayesmendError):
    """A file does not follow its format.

    Parameters
    ----------
    problem : str
        What is wrong and what was expected.
    source : str
        Name of the file, or ``"<text>"``.
    line, column : int
        Where, counted from 1.

    Examples
    --------
    >>> raise FormatError("expected ';'. Got '}' instead.", "net.bif", 3, 14)
    Traceback (most recent call last):
    ...
    bayesmend.errors.FormatError: net.bif, line 3, column 14: expected ';'. ...
    """

    def __init__(self, problem: str, source: str, line: int, column: int) -> None:
        super().__init__(f"{source}, line {line}, column {column}: {problem}")
        self.problem, self.source = problem, source
        self.line, self.column = line, column

    def __reduce__(self) -> tuple[type, tuple[str, str, int, int]]:
        return type(self), (self.problem, self.source, self.line, self.column)


class InferenceError(BayesmendError):
    """A network cannot answer: the evidence is impossible, or the tables too large."""


class MissingDependencyError(BayesmendError, ImportError):
    """An optional package is needed for this call and is not installed."""


class OutOfMemoryError(BayesmendError, MemoryError):
    """The work needs more memory than the process may have."""


class ClusterError(BayesmendError):
    """A cluster is gone, or cannot do what is asked of it."""


class BayesmendWarning(UserWarning):
    """Base class of every warning issued by bayesmend."""


class ConvergenceWarning(BayesmendWarning):
    """An iteration stopped at its limit before it converged."""


class ProbabilityWarning(BayesmendWarning):
    """Probabilities read from a file were renormalised by more than rounding."""


class ReadingWarning(BayesmendWarning):
    """A table was read by guesses; the message names them and the options they had."""


class ShortfallWarning(BayesmendWarning):
    """A request could only be met in part; the message says which part."""


class SupportWarning(BayesmendWarning):
    """Mended cells have no observed example; the message counts them."""
