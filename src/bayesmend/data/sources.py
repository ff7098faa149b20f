"""Tables column by column: arrays, mappings and frames of pandas, polars and pyarrow.

The frame library is reached through the frame that was given; narwhals tells which one
it is. ``csv`` adds delimited text, ``restore`` is the way back.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bayesmend._copies import frozen_in_copies
from bayesmend._files import file_suffix, is_file
from bayesmend._limits import max_unpacked
from bayesmend._spelling import spell
from bayesmend._visible import tidy
from bayesmend.data.numbers import date_number
from bayesmend.data.states import (
    BLANKS,
    MISSING,
    MISSING_MARKERS,
    Column,
    Kind,
    Label,
    apply_codes,
    as_label,
    check_markers,
    compact,
    file_markers,
    is_marker,
    is_number,
    is_number_text,
    marker_numbers,
)
from bayesmend.errors import BayesmendError, DataError, MissingDependencyError

KEPT_VALUES = 1024
"""Distinct values kept of a column that has too many: enough for a message."""

PARQUET_SUFFIXES = {".parquet", ".pq"}

FRAME_SUFFIXES = {*PARQUET_SUFFIXES, ".arrow", ".feather", ".ipc"}
"""Files that a frame library reads for us."""


@frozen_in_copies
@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """What a table was, so that the same table can be given back, mended.

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
    source : Source or None
        The table itself; None where labels tell all there is.
    places : tuple of int or None
        Position in the table of every variable; None for one that it did not have.
    passed : tuple of int
        Positions of columns that are no variables and come back as they are.
    codes : ndarray of shape (n_rows, n_vars), optional
        The codes of the cells as they were read: what differs from them is new.
    draw : tuple of int or None
        Which draw of observed numbers fills the variables that are cut; None is for
        their medians.
    marker_counts : tuple of (str, int)
        How many cells of the variables each missing marker of a file stood in.
    decimal : {".", ","}
        The mark before the decimals of numbers in a file.
    delimiter : str
        What parts the fields of a file.
    """

    kind: str = "codes"
    headers: tuple[object, ...] = ()
    dtypes: tuple[object, ...] = ()
    index: object = None
    weights: tuple[object, int, object] | None = None
    source: Source | None = None
    places: tuple[int | None, ...] = ()
    passed: tuple[int, ...] = ()
    codes: NDArray[np.uint8] | None = None
    draw: tuple[int, ...] | None = None
    marker_counts: tuple[tuple[str, int], ...] = ()
    decimal: str = "."
    delimiter: str = ","

    @property
    def row_labels(self) -> NDArray[np.object_] | None:
        """The row labels, unless they only number the rows from 0."""
        index: Any = self.index
        if index is None:
            return None
        is_unnamed = index.dtype.kind in "iu" and index.name is None
        if is_unnamed and np.array_equal(index, np.arange(len(index))):
            return None
        return np.fromiter(index.tolist(), dtype=object, count=len(index))


_Values: TypeAlias = Sequence[Any] | NDArray[Any]
"""Distinct values, or an array of distinct numbers, NaN where missing."""


def open_table(table: Any) -> Source:
    """Return the columns of an array, a mapping or a data frame."""
    if isinstance(table, np.ndarray):
        return ArraySource(table)
    if isinstance(table, Mapping):
        return MappingSource(table)
    from narwhals import dependencies as which

    if which.is_pandas_dataframe(table):
        return PandasSource(table)
    if which.is_polars_dataframe(table):
        return PolarsSource(table)
    if which.is_pyarrow_table(table):
        return ArrowSource(table)
    if which.is_polars_lazyframe(table):
        message = "a polars LazyFrame has no rows yet. Call its collect() first."
        raise DataError(message)
    if isinstance(table, Coded):
        return CodedSource(table)
    if which.is_dask_dataframe(table):
        message = (
            "a dask data frame has its rows on workers. Pass client= to learn(), or"
            " bring the rows here with its compute()."
        )
        raise DataError(message)
    message = (
        "a table must be a path, a pandas, polars or pyarrow frame, a two-dimensional"
        f" array or a mapping of columns. Got {type(table).__name__} instead."
    )
    raise DataError(message)


def open_frame(path: Path) -> Source:
    """Return the columns of a Parquet or Arrow file."""
    source = open_table(read_frame(path))
    source.path = path
    if isinstance(source, PolarsSource):
        source.unordered = _lost_states(path, source.native)
    return source


def read_frame(path: Path) -> Any:
    """Read a Parquet or Arrow file with the frame library that is installed."""
    if not is_file(path):
        message = f"cannot read {str(path)!r}: no such file."
        raise DataError(message)
    is_parquet = file_suffix(path) in PARQUET_SUFFIXES
    foreign: tuple[type[BaseException], ...] = (Exception,)
    try:
        import polars as pl

        foreign = (Exception, pl.exceptions.PanicException)
    except ImportError:
        pl = None
    try:
        if pl is not None:
            lazy = pl.scan_parquet(path) if is_parquet else pl.scan_ipc(path)
            n_rows = int(lazy.select(pl.len()).collect().item())
            schema = lazy.collect_schema()
            _check_unpacked(path, n_rows, len(schema))
            labelled = [name for name, kind in schema.items() if kind == pl.Categorical]
            if labelled:
                return _read_categories(path, labelled, is_parquet=is_parquet)
            return pl.read_parquet(path) if is_parquet else pl.read_ipc(path)
        return _read_with_pyarrow(path, is_parquet=is_parquet)
    except BayesmendError:
        raise
    except foreign as error:
        kind = "Parquet" if is_parquet else "Arrow"
        message = f"{path.name} is not a readable {kind} file: {error}."
        raise DataError(message) from error


def _read_categories(path: Path, labelled: Sequence[str], *, is_parquet: bool) -> Any:
    """Read a file with polars, and the states that columns declare with pyarrow.

    polars forgets the order of what pandas calls categories, and those in no row.
    """
    import polars as pl

    read = pl.read_parquet if is_parquet else pl.read_ipc
    if not _has_pyarrow():
        return read(path)
    from pyarrow import feather, parquet

    if is_parquet:
        labels = parquet.read_table(path, columns=list(labelled))
    else:
        labels = feather.read_table(path, memory_map=True)
    declared = {
        name: _as_enum(name, labels.column(name))
        for name in labelled
        if _declares_states(labels.schema.field(name))
    }
    if is_parquet or not declared:
        return read(path).with_columns(*declared.values())
    # polars stumbles over missing cells of such columns in Arrow files.
    others: Any = pl.from_arrow(labels.drop_columns([*declared]))
    return others.with_columns(*declared.values()).select(labels.column_names)


def _has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def _lost_states(path: Path, frame: Any) -> tuple[str, ...]:
    """Return the columns of a Parquet file whose states only pyarrow could tell."""
    import polars as pl

    labelled = [name for name, kind in frame.schema.items() if kind == pl.Categorical]
    if not labelled or _has_pyarrow() or file_suffix(path) not in PARQUET_SUFFIXES:
        return ()
    try:
        told = json.loads(pl.read_parquet_metadata(path)["pandas"])["columns"]
        declared = [c["field_name"] for c in told if c["pandas_type"] == "categorical"]
    except (LookupError, TypeError, ValueError):
        return ()  # not of pandas, or not as pandas writes it
    return tuple(name for name in labelled if name in declared)


def _declares_states(field: Any) -> bool:
    """Tell whether a column of Arrow declares its states, as text."""
    import pyarrow as pa

    if not pa.types.is_dictionary(field.type) or _is_of_polars(field):
        return False
    kind = field.type.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_of_polars(field: Any) -> bool:
    """Tell whether polars wrote a column of Arrow as categories that it gathered."""
    return any(key.startswith(b"_PL_CATEGORICAL") for key in field.metadata or ())


def _as_enum(name: str, column: Any) -> Any:
    """Make a polars column of one of Arrow that declares its states."""
    import polars as pl
    import pyarrow as pa

    encoded = column.unify_dictionaries().combine_chunks()
    if isinstance(encoded, pa.ChunkedArray):  # a column without chunks
        encoded = pa.array([], type=encoded.type)
    states = encoded.dictionary.to_pylist()
    places = pl.Series(encoded.indices.cast(pa.uint32()))
    return pl.Series(name, states, dtype=pl.Enum(states)).gather(places)


def _read_with_pyarrow(path: Path, *, is_parquet: bool) -> Any:
    try:
        from pyarrow import feather, parquet
    except ImportError as error:
        message = (
            f"reading {path.name} needs polars or pyarrow. Install one: pip install"
            " 'bayesmend[frames]'."
        )
        raise MissingDependencyError(message) from error
    if not is_parquet:
        table = feather.read_table(path, memory_map=True)
        _check_unpacked(path, table.num_rows, table.num_columns)
        return table
    inside = parquet.read_metadata(path)
    _check_unpacked(path, inside.num_rows, inside.num_columns)
    return parquet.read_table(path)


def _check_unpacked(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a file that repeats a few values so often that they fill the memory."""
    n_bytes = 8 * n_rows * n_columns
    if n_bytes > max_unpacked():
        message = (
            f"{path.name} holds {n_rows:,} rows of {n_columns:,} columns, which take"
            f" more than {max_unpacked():,} bytes at 8 a cell. Read fewer, or raise the"
            " environment variable BAYESMEND_MAX_UNPACKED."
        )
        raise DataError(message)


class Source(ABC):
    """A table that hands over its columns by position.

    First ``headers``, ``dtypes`` and ``notes`` are known. After `prepare`, which
    settles names and missing markers, `column` describes any column: its distinct
    values, how many there are, whether all are numbers, how many cells are missing.
    `numbers` then works for every column that is numeric, and `values` for every
    column; `codes` comes last.
    """

    kind: str
    headers: tuple[object, ...]
    dtypes: tuple[object, ...]
    """The table's own type of every column; None where it has none."""
    n_rows: int
    index: object = None
    names: tuple[str, ...] = ()
    markers: frozenset[str] = frozenset()
    native: Any = None
    """The table itself; None for text and codes."""
    notes: Sequence[str] = ()
    """What was found out about a file and might be wrong, one sentence each."""
    doubts: Sequence[str] = ()
    """What matters only where the table cannot be used as it was read."""
    unordered: Sequence[str] = ()
    """Columns whose states a file declares, though what is installed cannot tell them.
    """
    path: Path | None = None
    """The file; None for a table in memory."""
    decimal: str = "."
    """The mark before the decimals of numbers in text."""
    delimiter: str = ","
    """What parts the fields of text."""
    marker_counts: Mapping[str, int] = MappingProxyType({})
    """How many cells of a file each missing marker stands in, once it is prepared."""
    first_row: int = 0
    """Number of the first row, for messages: of a part of a table that of the whole."""
    is_here: bool = True
    """Whether cells are coded here; else the source keeps what to code them by."""
    is_kept: bool = True
    """Whether the table stays at hand, so that it can be given back as it was."""

    @property
    def called(self) -> str:
        """What messages call the table."""
        return "the table" if self.path is None else self.path.name

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Tell what was found out about a file with the errors that follow from it."""
        try:
            yield
        except DataError as error:
            guesses = [*self.notes, *self.doubts]
            if guesses:
                text = str(error)
                end = "\n" if "\n- " in text else " "
                told = "; ".join(guesses)
                error.args = (tidy(f"{text}{end}Guessed of {self.called}: {told}."),)
            raise

    def chosen_markers(self, missing: object) -> frozenset[str]:
        """Return the markers given or, for None, those that are usual in a file."""
        if self.kind == "text":
            return file_markers(MISSING_MARKERS if missing is None else missing)
        return check_markers(() if missing is None else missing)

    def prepare(self, names: tuple[str, ...], markers: frozenset[str]) -> None:
        """Settle the names and the missing markers."""
        self.names, self.markers = names, markers

    @abstractmethod
    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""

    def numbers(self, position: int) -> NDArray[np.float64]:
        """Return a column as floats, NaN where missing; dates as seconds since 1970."""
        numbers = self.own_numbers(position)
        if numbers is not None and not np.isinf(numbers).any():
            marked = np.isin(numbers, [*marker_numbers(self.markers)])
            return np.where(marked, np.nan, numbers) if marked.any() else numbers
        column = self.column(position, max(self.n_rows, 1))
        if column.kind == "date":
            return self.dates(position)
        if column.trouble:
            raise DataError(column.trouble)
        table = np.full(len(column.values) + 1, np.nan)
        for k, value in enumerate(column.values):
            if column.kind != "number" and not is_number_text(value):
                message = (
                    f"variable {column.name!r} has the value {value!r}"
                    f"{self.place_of_value(column, k)}, which is not a number. Only"
                    " numbers can be discretized or serve as weights."
                )
                raise DataError(message)
            try:
                table[k] = float(value)
            except OverflowError:
                message = (
                    f"variable {column.name!r} has an integer of hundreds of digits"
                    f"{self.place_of_value(column, k)}, beyond any number that can be"
                    " discretized or serve as a weight."
                )
                raise DataError(message) from None
        assert column.index is not None
        index = column.index
        if index.dtype == np.uint8:
            index = np.where(index == MISSING, -1, index.astype(np.intp))
        taken: NDArray[np.float64] = table[index]
        return taken

    def own_numbers(self, position: int) -> NDArray[np.float64] | None:
        """Return a column that the table itself holds as numbers, or None."""
        return None

    def dates(self, position: int) -> NDArray[np.float64]:
        """Return a column of dates or of ISO text as seconds, NaN where missing."""
        seconds: dict[Any, float] = {}
        numbers = np.full(self.n_rows, np.nan)
        for row, value in enumerate(self.values(position)):
            if is_missing(value, self.markers):
                continue
            if value not in seconds:
                seconds[value] = date_number(value)
                if np.isnan(seconds[value]):
                    message = (
                        f"variable {self.names[position]!r} has the value {value!r}"
                        f"{self.place(row)}, which is no date that can be cut. Write"
                        " dates as 2026-12-31."
                    )
                    raise DataError(message)
            numbers[row] = seconds[value]
        return numbers

    def hold(self) -> None:
        """Keep the table as it is now, whatever its owner does to it later."""
        return

    def count_markers(self, positions: Iterable[int]) -> dict[str, int]:
        """Count the cells of some columns of a file that each marker stands in."""
        return {}

    @abstractmethod
    def values(self, position: int) -> list[Any]:
        """Return the cells of a column as they are."""

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
        return f" in row {self.first_row + row}"

    def place_of_value(self, column: Column, position: int) -> str:
        """Say in words where a distinct value first occurs; empty when nowhere."""
        assert column.index is not None
        rows = np.flatnonzero(column.index == position)
        return self.place(int(rows[0])) if rows.size else ""

    def _distinct(
        self, position: int, keep: int, values: _Values, index: NDArray[Any]
    ) -> Column:
        """Make a column from distinct values and, per row, a position or -1.

        Equal labels are merged and missing ones left out.
        """
        name = self.names[position]
        if isinstance(values, np.ndarray):
            seen_numbers = ~np.isnan(values)
            for number in marker_numbers(self.markers):
                seen_numbers &= values != number
            present = np.flatnonzero(seen_numbers)
        else:
            seen = (not is_missing(value, self.markers) for value in values)
            present = np.flatnonzero(np.fromiter(seen, dtype=bool, count=len(values)))
        first = present[:keep].tolist()
        kind, trouble = _nature(name, values, present, index, self.first_row)
        labels: dict[Label, int] = {}
        table = np.full(len(values) + 1, -1, dtype=np.intp)
        is_single = str(self.dtypes[position]) in _SINGLE
        for k in first:
            label = as_label(np.float32(values[k]) if is_single else values[k])
            table[k] = labels.setdefault(label, len(labels))
        n_distinct = len(labels) + len(present) - len(first)
        is_present = np.zeros(len(values) + 1, dtype=bool)
        is_present[present] = True
        codes = compact(table[index], n_distinct)
        return Column(
            name,
            kind,
            tuple(labels),
            codes,
            len(codes),
            n_distinct,
            n_missing=int(np.count_nonzero(~is_present[index])),
            is_numeric=kind == "number"
            or (
                kind == "text"
                and all(is_number_text(values[k]) for k in present.tolist())
            ),
            trouble=trouble,
        )

    def _objects(self, position: int, keep: int, cells: Sequence[Any]) -> Column:
        """Make a column from plain Python values, whatever they are."""
        try:
            values, index = distinct_objects(cells)
        except TypeError:  # some cannot be told apart
            return self._nested(position, cells)
        return self._distinct(position, keep, values, index)

    def _nested(self, position: int, cells: Sequence[Any]) -> Column:
        """Make a column of objects that are no plain values."""
        name = self.names[position]
        there = np.array(
            [
                not (_is_null(c) or (isinstance(c, float) and math.isnan(c)))
                for c in cells
            ]
        )
        words = (_type_word(cell) for cell in cells if cell.__hash__ is None)
        trouble = f"variable {name!r} holds {next(words, 'objects')}, not states."
        return Column(
            name,
            "nested",
            (),
            np.where(there, 0, -1).astype(np.int32),
            len(cells),
            int(there.sum()),
            n_missing=int((~there).sum()),
            trouble=f"{trouble} Convert it to text.",
        )

    def _categories(
        self, position: int, categories: Sequence[Any], codes: NDArray[Any]
    ) -> Column:
        """Make a column whose states the table itself declares."""
        kept = [not is_missing(category, self.markers) for category in categories]
        table = np.full(len(categories) + 1, -1, dtype=np.intp)
        table[:-1][kept] = np.arange(sum(kept))
        labels = tuple(
            as_label(c) for c, keep in zip(categories, kept, strict=True) if keep
        )
        name, n = self.names[position], len(labels)
        positions = table[codes.astype(np.intp)]
        n_missing = int(np.count_nonzero(positions < 0))
        index = compact(positions, n)
        return Column(
            name, "category", labels, index, self.n_rows, n, n_missing=n_missing
        )


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
        if array.dtype.kind not in "biufOUSTMm":
            message = (
                f"an array of type {array.dtype} cannot hold states. Convert it to"
                " text, integers or booleans."
            )
            raise DataError(message)
        self.n_rows, self.native = array.shape[0], array
        self.headers = tuple(f"x{j}" for j in range(array.shape[1]))
        self.dtypes = (array.dtype,) * array.shape[1]
        self._cells: NDArray[Any] = np.ma.getdata(array)
        self._mask = np.ma.getmaskarray(array) if np.ma.isMaskedArray(array) else None

    def hold(self) -> None:
        """Keep a copy of the array."""
        self.native = self.native.copy()
        self._cells = np.ma.getdata(self.native)

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column; masked ones are None."""
        column = self._cells[:, position]
        if column.dtype.kind in "Mm":  # finer ones would be listed as integers
            column = column.astype(f"{column.dtype.kind}8[us]")
        cells: list[Any] = column.tolist()
        if self._mask is None:
            return cells
        hidden = self._mask[:, position].tolist()
        return [None if h else c for c, h in zip(cells, hidden, strict=True)]

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        cells = self._cells[:, position]
        present = np.ones(self.n_rows, dtype=bool)
        if self._mask is not None:
            present &= ~self._mask[:, position]
        if cells.dtype.kind == "f":
            present &= ~np.isnan(cells)
        index = np.full(self.n_rows, -1, dtype=np.intp)
        if cells.dtype.kind in "OUSTMm":
            return self._objects(position, keep, self.values(position))
        unique, index[present] = np.unique(cells[present], return_inverse=True)
        is_numeric = cells.dtype.kind in "iuf"
        return self._distinct(
            position, keep, unique if is_numeric else list(unique), index
        )

    def own_numbers(self, position: int) -> NDArray[np.float64] | None:
        """Return a column that the table itself holds as numbers, or None."""
        cells = self._cells[:, position]
        if cells.dtype.kind not in "iu" and cells.dtype != np.float64:
            return None
        numbers = cells.astype(np.float64)
        if self._mask is not None:
            numbers[self._mask[:, position]] = np.nan
        return numbers


class MappingSource(Source):
    """A mapping of names to sequences of plain values."""

    kind = "mapping"

    def __init__(self, table: Mapping[Any, Any]) -> None:
        self.headers, self.native = tuple(table), table
        self.dtypes = (None,) * len(table)
        self._columns = [_listed(*item) for item in table.items()]
        self.n_rows = len(self._columns[0]) if self._columns else 0
        for header, values in zip(self.headers, self._columns, strict=True):
            if len(values) != self.n_rows:
                message = (
                    f"every variable must have as many values as {self.headers[0]!r}"
                    f" ({self.n_rows}). Got {len(values)} for {header!r} instead."
                )
                raise DataError(message)

    def hold(self) -> None:
        """Keep copies of the columns: arrays as arrays, anything else as lists."""
        self.native = {
            header: own.copy() if isinstance(own, np.ndarray) else cells
            for (header, own), cells in zip(
                self.native.items(), self._columns, strict=True
            )
        }

    def values(self, position: int) -> list[Any]:
        """Return the values of a column."""
        return self._columns[position]

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        return self._objects(position, keep, self._columns[position])


def _listed(header: object, values: Any) -> list[Any]:
    """Return the cells of a column of a mapping, which must not be a single value."""
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)):
        return list(values)
    message = (
        f"a mapping must hold a list of values for {header!r}. Got {values!r} instead."
    )
    if not isinstance(values, Mapping):
        message += f" For a single row write {[values]!r}."
    raise DataError(message)


@runtime_checkable
class Coded(Protocol):
    """What an ``IncompleteData`` is, as far as it is read here."""

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]


class CodedSource(Source):
    """A table that is coded already."""

    kind = "codes"

    def __init__(self, table: Coded) -> None:
        self.headers, self.n_rows = table.names, len(table.codes)
        self.dtypes = (None,) * len(table.names)
        self.table = table

    def values(self, position: int) -> list[Any]:
        """Return the labels of a column, None where missing."""
        labels = dict(enumerate(self.table.states[position]))
        return [labels.get(code) for code in self.table.codes[:, position].tolist()]

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        return self._objects(position, keep, self.values(position))


# What pandas.api.types.infer_dtype says of an object column that factorize may
# handle: in any other, equal values of different types would be merged.
_UNIFORM = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}


class PandasSource(Source):
    """A pandas data frame."""

    kind = "pandas"

    def __init__(self, frame: Any) -> None:
        self.headers, self.dtypes = tuple(frame.columns), tuple(frame.dtypes)
        self.n_rows, self.index = len(frame), frame.index
        self.native = frame

    def hold(self) -> None:
        """Keep a copy, which pandas makes when the frame is changed from version 3."""
        import pandas as pd

        writes_copy = int(pd.__version__.partition(".")[0]) >= 3
        self.native = self.native.copy(deep=not writes_copy)

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self.native.iloc[:, position])

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        import pandas as pd

        series = self.native.iloc[:, position]
        if isinstance(series.dtype, pd.CategoricalDtype):
            categories, codes = list(series.cat.categories), series.cat.codes.to_numpy()
            return self._categories(position, categories, codes)
        inferred = pd.api.types.infer_dtype(series, skipna=True)
        if series.dtype == object and inferred not in _UNIFORM:
            return self._objects(position, keep, series.tolist())
        index, values = pd.factorize(series)
        is_plain = isinstance(values, np.ndarray) and values.dtype.kind in "iuf"
        return self._distinct(position, keep, values if is_plain else [*values], index)

    def own_numbers(self, position: int) -> NDArray[np.float64] | None:
        """Return a column that the table itself holds as numbers, or None."""
        import pandas as pd

        dtype = self.dtypes[position]
        is_whole = pd.api.types.is_integer_dtype(dtype)
        if not is_whole and str(dtype) not in _DOUBLE:
            return None
        series = self.native.iloc[:, position]
        numbers: NDArray[np.float64] = series.to_numpy(np.float64, na_value=np.nan)
        return numbers


class PolarsSource(Source):
    """A polars data frame."""

    kind = "polars"

    def __init__(self, frame: Any) -> None:
        self.headers, self.dtypes = tuple(frame.columns), tuple(frame.dtypes)
        self.n_rows = frame.height
        self.native = frame

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self.native.to_series(position))

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        import narwhals as nw

        native = self.native.to_series(position)
        series = nw.from_native(native, series_only=True)
        if isinstance(series.dtype, nw.Enum):
            categories = list(series.dtype.categories)
            codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
            return self._categories(position, categories, codes)
        # Decimals of another precision than the largest cannot be replaced.
        # NumPy has no integers of 128 bits.
        is_special = series.dtype == nw.Object or series.dtype.is_decimal()
        is_special = is_special or str(series.dtype) in ("Int128", "UInt128")
        if series.dtype.is_nested() or is_special:
            return self._objects(position, keep, series.to_list())
        unique = series.drop_nulls().unique(maintain_order=True)
        values, index = unique.to_list(), np.full(self.n_rows, -1, dtype=np.intp)
        if values:
            positions = list(range(len(values)))
            codes = series.replace_strict(values, positions, return_dtype=nw.Int64)
            index = codes.fill_null(-1).to_numpy()
        is_plain = series.dtype.is_integer() or series.dtype.is_float()
        plain: Any = unique.to_numpy() if is_plain else values
        return self._distinct(position, keep, plain, index)

    def own_numbers(self, position: int) -> NDArray[np.float64] | None:
        """Return a column that the table itself holds as numbers, or None."""
        import narwhals as nw

        series = nw.from_native(self.native.to_series(position), series_only=True)
        if not series.dtype.is_integer() and series.dtype != nw.Float64:
            return None
        numbers: NDArray[np.float64] = series.cast(nw.Float64).to_numpy()
        return numbers


class ArrowSource(Source):
    """A pyarrow table."""

    kind = "pyarrow"

    def __init__(self, table: Any) -> None:
        self.headers, self.dtypes = tuple(table.column_names), tuple(table.schema.types)
        self.n_rows = table.num_rows
        self.native = table

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self.native.column(position).to_pylist())

    def column(self, position: int, keep: int = KEPT_VALUES) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        import pyarrow as pa

        column = self.native.column(position)
        if pa.types.is_nested(column.type) or pa.types.is_null(column.type):
            return self._objects(position, keep, column.to_pylist())
        is_category = pa.types.is_dictionary(column.type)
        if not (self.n_rows or is_category):  # some types cannot be coded then
            return self._objects(position, keep, [])
        encoded = column if is_category else column.dictionary_encode()
        encoded = encoded.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # a column without chunks
            encoded = pa.array([], type=encoded.type)
        codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        values = encoded.dictionary
        if is_category and _is_of_polars(self.native.schema.field(position)):
            used, seen = np.unique(codes[codes >= 0], return_inverse=True)
            codes = codes.copy()
            codes[codes >= 0] = seen
            labels = values.to_pylist()
            return self._distinct(position, keep, [labels[k] for k in used], codes)
        if is_category:
            return self._categories(position, values.to_pylist(), codes)
        is_plain = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
        plain: Any = values.to_numpy(zero_copy_only=False) if is_plain else None
        return self._distinct(
            position, keep, values.to_pylist() if plain is None else plain, codes
        )

    def own_numbers(self, position: int) -> NDArray[np.float64] | None:
        """Return a column that the table itself holds as numbers, or None."""
        import pyarrow as pa

        column = self.native.column(position)
        if not pa.types.is_integer(column.type) and column.type != pa.float64():
            return None
        numbers: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
        return numbers


def _nature(
    name: str,
    values: _Values,
    present: NDArray[np.intp],
    index: NDArray[Any],
    first_row: int,
) -> tuple[Kind, str]:
    """Return what the values at some positions are, and why they are no states."""

    def place(position: int) -> str:
        return f" in row {first_row + int(np.argmax(index == position))}"

    first: dict[str, int] = {}
    infinite: int | None = None
    if isinstance(values, np.ndarray):
        first |= {"numbers": 0} if present.size else {}
        endless = present[np.isinf(values[present])]
        infinite = int(endless[0]) if endless.size else None
    else:
        for position in present.tolist():
            value = values[position]
            first.setdefault(_type_word(value), position)
            if infinite is None and _is_infinite(value):
                infinite = position
    if len(first) > 1:
        (one, at_one), (two, at_two), *_ = first.items()
        return "mixed", (
            f"variable {name!r} mixes {one} ({values[at_one]!r}{place(at_one)}) and"
            f" {two} ({values[at_two]!r}{place(at_two)}). Convert it to one type."
        )
    if infinite is not None:
        return "number", (
            f"variable {name!r} has the value {values[infinite]}{place(infinite)}."
            " Replace it by a number, or leave the cell missing."
        )
    word = next(iter(first), "text")
    if word in _KINDS:
        return _KINDS[word], ""
    if word == _DATES:
        cut = spell("discretize", {name: 4})
        return "date", f"variable {name!r} holds {word}, not states. Cut it with {cut}."
    if word == _SPANS:
        return "span", (
            f"variable {name!r} holds {word}, not states. Convert it to numbers or"
            " text."
        )
    return "nested", f"variable {name!r} holds {word}, not states. Convert it to text."


def _is_infinite(value: object) -> bool:
    return isinstance(value, (float, np.floating, Decimal)) and math.isinf(value)


def _is_null(value: object) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


# What pandas, polars and pyarrow call 32-bit floats, which they hand over as 64-bit.
_SINGLE = {"float32", "Float32", "float", "float[pyarrow]"}
_DOUBLE = {"float64", "Float64", "double[pyarrow]"}
_DATES = "dates or times"
_SPANS = "durations, periods or times of day"
_KINDS: dict[str, Kind] = {"text": "text", "numbers": "number", "booleans": "boolean"}
_TEMPORAL = {
    **dict.fromkeys(["date", "datetime", "Timestamp", "datetime64"], _DATES),
    **dict.fromkeys(
        ["time", "timedelta", "Timedelta", "timedelta64", "Period"], _SPANS
    ),
}


def _type_word(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if is_number(value):
        return "numbers"
    name = type(value).__name__
    return _TEMPORAL.get(name, f"values of type {name}")


_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_TIME = r"(?:[T ,]+\d{1,2}:\d{2}.*)?"
_DATE_TEXTS = re.compile(
    rf"(?:(?P<year>\d{{4}})[-/.](?P<month>\d{{1,2}})[-/.](?P<day>\d{{1,2}}){_TIME})|"
    rf"(?:(?P<one>\d{{1,2}})[-/.](?P<two>\d{{1,2}})[-/.](?:\d{{4}}|\d{{2}}){_TIME})|"
    rf"(?:\d{{1,2}}[- ]?{_MONTH}[- ,]*(?:\d{{4}}|\d{{2}}){_TIME})|"
    rf"(?:{_MONTH} ?\d{{1,2}},? +\d{{4}}{_TIME})",
    re.ASCII | re.IGNORECASE,
)


def are_dates(column: Column) -> bool:
    """Tell whether a column holds dates, or nothing but text that looks like dates."""
    if column.kind == "date":
        return True
    is_text = column.kind == "text" and not column.is_numeric and bool(column.values)
    return is_text and all(map(_is_date_text, column.values))


def _is_date_text(text: Label) -> bool:
    found = _DATE_TEXTS.fullmatch(str(text).strip(BLANKS))
    if found is None:
        return False
    if found["year"]:
        return 1 <= int(found["month"]) <= 12 and 1 <= int(found["day"]) <= 31
    if found["one"]:
        low, high = sorted((int(found["one"]), int(found["two"])))
        return 1 <= low <= 12 and high <= 31
    return True


def is_missing(value: object, markers: frozenset[str]) -> bool:
    """Tell whether a value is null, NaN, NaT or a missing marker."""
    if isinstance(value, str):
        return is_marker(value, markers)
    # NA and NaT are those of pandas, which is not imported.
    return _is_null(value) or bool(value != value) or is_marker(value, markers)


def distinct_objects(values: Sequence[Any]) -> tuple[list[object], NDArray[np.intp]]:
    """Return distinct values in order of occurrence, and each row's position.

    Raises ``TypeError`` for values that cannot be told apart, such as lists.
    """
    positions: dict[object, int] = {}
    types = set(map(type, values)) - {type(None)}
    if len(types) <= 1:
        index = [positions.setdefault(v, len(positions)) for v in values]
        return list(positions), np.array(index, dtype=np.intp)
    # 1 == 1.0 == True: equal keys of different types must not be merged here.
    index = [positions.setdefault((type(v), v), len(positions)) for v in values]
    distinct = [key[1] for key in positions]  # type: ignore[index]
    return distinct, np.array(index, dtype=np.intp)
