"""How a table is read: the options that every function with a table takes.

`Reading` is their face in signatures (``**reading: Unpack[Reading]``), `ReadingOptions`
what they become, with their defaults.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

from bayesmend.data.discretize import Cutting, Discretization
from bayesmend.data.files import FileOptions
from bayesmend.data.opening import Opening
from bayesmend.data.states import Label

__all__ = ["Choice", "Columns", "Discretize", "Reading", "ReadingOptions"]

Discretize: TypeAlias = (
    Literal["auto"] | Mapping[Any, Cutting | Literal["auto"] | None] | Discretization
)
"""How numbers are cut; None cuts none."""

Choice: TypeAlias = Literal["model", "pass-through", "drop"]
"""What a caller may say a column is."""

Columns: TypeAlias = Mapping[Any, Choice] | Sequence[Any]
"""What some columns are, or the names of those to model."""


class Reading(Opening, total=False):
    """The options by which any function reads a table, as keywords."""

    states: Mapping[Any, Iterable[Label]] | None
    weights: Any
    columns: Columns | None
    discretize: Discretize | None
    max_numeric_states: int
    normalise: bool


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """The options of ``IncompleteData.from_table``, as they were given."""

    states: Mapping[Any, Iterable[Label]] | None = None
    weights: Any = None
    columns: Columns | None = None
    discretize: Discretize | None = "auto"
    max_numeric_states: int = 20
    normalise: bool = False
    missing: Iterable[str | float] | str | float | None = None
    names: Sequence[str] | None = None
    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    sheet: str | int | None = None

    @property
    def file(self) -> FileOptions:
        """What is known of the file."""
        return FileOptions(
            self.delimiter,
            self.decimal,
            self.encoding,
            self.header,
            self.sheet,
            names_given=self.names is not None,
        )

    @property
    def given(self) -> tuple[str, ...]:
        """The names of the options that differ from their defaults."""
        return tuple(
            option.name
            for option in fields(self)
            if getattr(self, option.name) is not option.default
        )
