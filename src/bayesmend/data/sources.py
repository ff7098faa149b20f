"""Tables in memory, column by column: the common part, arrays and mappings.

Layer: the boundary of table -> IncompleteData, above ``columns``. Data frames follow
in ``frames``, files in ``files``; ``restore`` is the way back.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.states import (
    BLANKS,
    MISSING,
    Column,
    Kind,
    Label,
    apply_codes,
    as_label,
    compact,
    is_number_text,
)
from bayesmend.errors import DataError

KEPT_VALUES = 1024
"""Distinct values kept of a column that has too many: enough for a message."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a table was, so that the same kind of table can be given back.

    Parameters
    ----------
    kind : str
        "pandas", "polars", "pyarrow", "numpy", "mapping", "text" (a file) or "codes".
    headers : tuple of object
        The table's own name of every variable.
    dtypes : tuple of object
        The table's own type of every variable; None where it has none.
    index : object
        Row labels of a pandas frame.
    weights : tuple or None
        Header, position and type of the column that held the weights.
    """

    kind: str = "codes"
    headers: tuple[object, ...] = ()
    dtypes: tuple[object, ...] = ()
    index: object = None
    weights: tuple[object, int, object] | None = None


class Source(ABC):
    """A table that hands over its columns by position."""

    kind: str
    headers: tuple[object, ...]
    n_rows: int
    index: object = None
    names: tuple[str, ...] = ()
    markers: frozenset[str] = frozenset()
    native: Any = None
    """The table itself; None for text."""

    def prepare(
        self, names: tuple[str, ...], markers: frozenset[str], numeric: frozenset[int]
    ) -> None:
        """Settle the names, the missing markers and which columns are numbers."""
        self.names, self.markers = names, markers

    @abstractmethod
    def factor(self, position: int, keep: int) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""

    def column(self, position: int) -> Column:
        """Return the distinct values of a column."""
        return self.factor(position, KEPT_VALUES)

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return a column as floats, NaN where missing."""
        return column_numbers(self.factor(position, max(self.n_rows, 1)), self)

    @abstractmethod
    def values(self, position: int) -> list[Any]:
        """Return the cells of a column as they are."""

    @abstractmethod
    def dtype(self, position: int) -> object:
        """Return the table's own type of a column."""

    def codes(
        self,
        positions: Sequence[int],
        columns: Sequence[Column | None],
        tables: Sequence[NDArray[np.uint8]],
    ) -> NDArray[np.uint8]:
        """Code the columns at the given positions; None is missing throughout."""
        codes = np.empty((self.n_rows, len(columns)), dtype=np.uint8, order="F")
        for j, (column, table) in enumerate(zip(columns, tables, strict=True)):
            if column is None:
                codes[:, j] = MISSING
            else:
                assert column.index is not None
                apply_codes(table, column.index, codes[:, j])
        return codes

    def place(self, row: int) -> str:
        """Say in words where a row is."""
        return f" in row {row}"

    def place_of_value(self, column: Column, position: int) -> str:
        """Say in words where a distinct value first occurs; empty when nowhere."""
        assert column.index is not None
        rows = np.flatnonzero(column.index == position)
        return self.place(int(rows[0])) if rows.size else ""


class ArraySource(Source):
    """A two-dimensional NumPy array; masked cells are missing."""

    kind = "numpy"

    def __init__(self, array: NDArray[Any]) -> None:
        if array.ndim != 2:
            message = (
                "an array must have two dimensions, rows and variables. Got shape"
                f" {array.shape} instead."
            )
            raise DataError(message)
        if array.dtype.kind not in "biufOUST":
            message = (
                f"an array of type {array.dtype} cannot hold states. Convert it to"
                " text, integers or booleans."
            )
            raise DataError(message)
        self.n_rows, self.native = array.shape[0], array
        self.headers = tuple(f"x{j}" for j in range(array.shape[1]))
        self._cells: NDArray[Any] = np.ma.getdata(array)
        self._mask = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column; masked ones are None."""
        cells: list[Any] = self._cells[:, position].tolist()
        if self._mask is None:
            return cells
        hidden = self._mask[:, position].tolist()
        return [None if h else c for c, h in zip(cells, hidden, strict=True)]

    def dtype(self, position: int) -> object:
        """Return the type of the array."""
        return self._cells.dtype

    def factor(self, position: int, keep: int) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        name, cells = self.names[position], self._cells[:, position]
        present = np.ones(self.n_rows, dtype=bool)
        if self._mask is not None:
            present &= ~self._mask[:, position]
        if cells.dtype.kind == "f":
            present &= ~np.isnan(cells)
        index = np.full(self.n_rows, -1, dtype=np.intp)
        values: list[object]
        if cells.dtype.kind in "OUST":
            values, index[present] = distinct_objects(name, cells[present].tolist())
        else:
            unique, index[present] = np.unique(cells[present], return_inverse=True)
            values = list(unique)
        distinct = Distinct(name, values, index, cells.dtype)
        return distinct.column(self.markers, keep)


class MappingSource(Source):
    """A mapping of names to sequences of plain values."""

    kind = "mapping"

    def __init__(self, table: Mapping[Any, Any]) -> None:
        self.headers, self.native = tuple(table), table
        self._columns = [list(values) for values in table.values()]
        self.n_rows = len(self._columns[0]) if self._columns else 0
        for header, values in zip(self.headers, self._columns, strict=True):
            if len(values) != self.n_rows:
                message = (
                    f"every variable must have as many values as {self.headers[0]!r}"
                    f" ({self.n_rows}). Got {len(values)} for {header!r} instead."
                )
                raise DataError(message)

    def values(self, position: int) -> list[Any]:
        """Return the values of a column."""
        return self._columns[position]

    def dtype(self, position: int) -> object:
        """Return None: plain values have no common type."""
        return None

    def factor(self, position: int, keep: int) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        name = self.names[position]
        values, index = distinct_objects(name, self._columns[position])
        return Distinct(name, values, index, None).column(self.markers, keep)


@dataclass(frozen=True, slots=True)
class Distinct:
    """Distinct values as the table gives them; -1 in ``index`` is a missing cell."""

    name: str
    values: list[object]
    index: NDArray[np.intp]
    dtype: object

    def column(self, markers: frozenset[str], keep: int = KEPT_VALUES) -> Column:
        """Return plain labels, equal ones merged and missing ones left out."""
        present = [
            position
            for position, value in enumerate(self.values)
            if not is_missing(value, markers)
        ]
        kind = self._kind(present[:keep])
        labels: dict[Label, int] = {}
        table = np.full(len(self.values) + 1, -1, dtype=np.intp)
        is_single = str(self.dtype) in _SINGLE
        for position in present[:keep]:
            value = self.values[position]
            label = as_label(np.float32(value) if is_single else value)  # type: ignore[arg-type]
            table[position] = labels.setdefault(label, len(labels))
        n_distinct = len(labels) + max(0, len(present) - keep)
        index = compact(table[self.index], n_distinct)
        return Column(
            self.name,
            kind,
            tuple(labels),
            index,
            n_rows=len(index),
            n_distinct=n_distinct,
            dtype=self.dtype,
        )

    def _kind(self, present: Sequence[int]) -> Kind:
        first: dict[str, int] = {}
        for position in present:
            value = self.values[position]
            first.setdefault(_type_word(value), position)
            if isinstance(value, (float, np.floating)) and math.isinf(value):
                message = (
                    f"variable {self.name!r} has the value {value}"
                    f"{self._place(position)}. Replace it by a number, or by a missing"
                    " value."
                )
                raise DataError(message)
        if len(first) > 1:
            (one, at_one), (two, at_two), *_ = first.items()
            message = (
                f"variable {self.name!r} mixes {one}"
                f" ({self.values[at_one]!r}{self._place(at_one)}) and {two}"
                f" ({self.values[at_two]!r}{self._place(at_two)}). Convert it to one"
                " type."
            )
            raise DataError(message)
        word = next(iter(first), "text")
        if word in _KINDS:
            return _KINDS[word]
        remedy = "Convert it to text."
        if word == "dates or times":
            remedy = "Drop it, or turn it into a few states such as year or season."
        message = f"variable {self.name!r} holds {word}, not states. {remedy}"
        raise DataError(message)

    def _place(self, position: int) -> str:
        return f" in row {int(np.argmax(self.index == position))}"


# What pandas, polars and pyarrow call 32-bit floats, which they hand over as 64-bit.
_SINGLE = {"float32", "Float32", "float", "float[pyarrow]"}
_KINDS: dict[str, Kind] = {"text": "text", "numbers": "number", "booleans": "boolean"}
_TEMPORAL = {"date", "datetime", "time", "timedelta", "Timestamp", "Timedelta"}
_TEMPORAL |= {"datetime64", "timedelta64", "Period"}


def _type_word(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, (int, float, np.integer, np.floating)):
        return "numbers"
    name = type(value).__name__
    return "dates or times" if name in _TEMPORAL else f"values of type {name}"


def is_missing(value: object, markers: frozenset[str]) -> bool:
    """Say whether a value is null, NaN, NaT or a missing marker."""
    if isinstance(value, str):
        return value.strip(BLANKS) in markers
    if value is None:
        return True
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas, which is not imported
        return True
    return bool(value != value)


def distinct_objects(
    name: str, values: Sequence[Any]
) -> tuple[list[object], NDArray[np.intp]]:
    """Return distinct values in order of occurrence, and each row's position."""
    positions: dict[object, int] = {}
    types = set(map(type, values)) - {type(None)}
    try:
        if len(types) <= 1:
            index = [positions.setdefault(v, len(positions)) for v in values]
            return list(positions), np.array(index, dtype=np.intp)
        # 1 == 1.0 == True: equal keys of different types must not be merged here.
        index = [positions.setdefault((type(v), v), len(positions)) for v in values]
        distinct = [key[1] for key in positions]  # type: ignore[index]
        return distinct, np.array(index, dtype=np.intp)
    except TypeError:
        word = next((t.__name__ for t in types if t.__hash__ is None), "object")
        message = (
            f"variable {name!r} holds values of type {word}, not states. Convert it to"
            " text."
        )
        raise DataError(message) from None


def column_numbers(column: Column, source: Source) -> NDArray[np.float64]:
    """Return the numbers behind the labels of a column, NaN where missing."""
    table = np.full(len(column.values) + 1, np.nan)
    for position, value in enumerate(column.values):
        if column.kind == "number" or is_number_text(value):
            table[position] = float(value)
            continue
        message = (
            f"variable {column.name!r} has the value {value!r}"
            f"{source.place_of_value(column, position)}, which is not a number. Only"
            " numbers can be discretized or serve as weights."
        )
        raise DataError(message)
    assert column.index is not None
    index = column.index
    if index.dtype == np.uint8:
        index = np.where(index == MISSING, -1, index.astype(np.intp))
    numbers: NDArray[np.float64] = table[index]
    return numbers
