"""Data frames of pandas, polars and pyarrow, column by column.

Layer: the boundary of table -> IncompleteData, beside ``tables``. The frame library
is reached through the frame that was given; narwhals tells which one it is.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.sources import (
    ArraySource,
    Distinct,
    MappingSource,
    Source,
    distinct_objects,
    is_missing,
)
from bayesmend.data.states import Column, as_label, compact
from bayesmend.errors import DataError

# What pandas.api.types.infer_dtype says of an object column that factorize may
# handle: in any other, equal values of different types would be merged.
_UNIFORM = {"string", "boolean", "integer", "floating", "mixed-integer-float", "empty"}


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
    message = (
        "a table must be a path, a pandas, polars or pyarrow frame, a two-dimensional"
        f" array or a mapping of columns. Got {type(table).__name__} instead."
    )
    raise DataError(message)


def _category_column(
    name: str,
    categories: list[Any],
    index: NDArray[Any],
    dtype: object,
    markers: frozenset[str],
) -> Column:
    """Return a column whose states the table itself declares."""
    kept = [not is_missing(category, markers) for category in categories]
    table = np.full(len(categories) + 1, -1, dtype=np.intp)
    table[:-1][kept] = np.arange(sum(kept))
    labels = tuple(
        as_label(c) for c, keep in zip(categories, kept, strict=True) if keep
    )
    index = compact(table[index.astype(np.intp)], len(labels))
    return Column(name, "category", labels, index, len(index), len(labels), dtype)


class PandasSource(Source):
    """A pandas data frame."""

    kind = "pandas"

    def __init__(self, frame: Any) -> None:
        self.headers = tuple(frame.columns)
        self.n_rows, self.index = len(frame), frame.index
        self._frame = self.native = frame

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self._frame.iloc[:, position])

    def dtype(self, position: int) -> object:
        """Return the pandas type of a column."""
        dtype: object = self._frame.dtypes.iloc[position]
        return dtype

    def factor(self, position: int, keep: int) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        import pandas as pd

        name = self.names[position]
        series = self._frame.iloc[:, position]
        if isinstance(series.dtype, pd.CategoricalDtype):
            categories, codes = list(series.cat.categories), series.cat.codes.to_numpy()
            return _category_column(name, categories, codes, series.dtype, self.markers)
        inferred = pd.api.types.infer_dtype(series, skipna=True)
        if series.dtype == object and inferred not in _UNIFORM:
            values, index = distinct_objects(name, series.tolist())
            return Distinct(name, values, index, series.dtype).column(
                self.markers, keep
            )
        index, unique = pd.factorize(series)
        values = list(unique)
        return Distinct(name, values, index, series.dtype).column(self.markers, keep)


class PolarsSource(Source):
    """A polars data frame."""

    kind = "polars"

    def __init__(self, frame: Any) -> None:
        self.headers, self.n_rows = tuple(frame.columns), frame.height
        self._frame = self.native = frame

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self._frame.to_series(position))

    def dtype(self, position: int) -> object:
        """Return the polars type of a column."""
        dtype: object = self._frame.dtypes[position]
        return dtype

    def factor(self, position: int, keep: int) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        import narwhals as nw

        name, native = self.names[position], self._frame.to_series(position)
        series = nw.from_native(native, series_only=True)
        if isinstance(series.dtype, nw.Enum):
            categories = list(series.dtype.categories)
            codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
            return _category_column(name, categories, codes, native.dtype, self.markers)
        if series.dtype.is_nested() or series.dtype == nw.Object:
            values, index = distinct_objects(name, series.to_list())
            return Distinct(name, values, index, native.dtype).column(
                self.markers, keep
            )
        values = series.drop_nulls().unique(maintain_order=True).to_list()
        index = np.full(self.n_rows, -1, dtype=np.intp)
        if values:
            positions = list(range(len(values)))
            codes = series.replace_strict(values, positions, return_dtype=nw.Int64)
            index = codes.fill_null(-1).to_numpy()
        return Distinct(name, values, index, native.dtype).column(self.markers, keep)


class ArrowSource(Source):
    """A pyarrow table."""

    kind = "pyarrow"

    def __init__(self, table: Any) -> None:
        self.headers, self.n_rows = tuple(table.column_names), table.num_rows
        self._table = self.native = table

    def values(self, position: int) -> list[Any]:
        """Return the cells of a column."""
        return list(self._table.column(position).to_pylist())

    def dtype(self, position: int) -> object:
        """Return the Arrow type of a column."""
        dtype: object = self._table.schema.field(position).type
        return dtype

    def factor(self, position: int, keep: int) -> Column:
        """Return a column with at most ``keep`` of its distinct values."""
        import pyarrow as pa

        name, column = self.names[position], self._table.column(position)
        dtype = column.type
        if pa.types.is_nested(dtype):
            values, index = distinct_objects(name, column.to_pylist())
            return Distinct(name, values, index, dtype).column(self.markers, keep)
        is_category = pa.types.is_dictionary(dtype)
        encoded = column if is_category else column.dictionary_encode()
        encoded = encoded.unify_dictionaries().combine_chunks()
        if isinstance(encoded, pa.ChunkedArray):  # a column without chunks
            encoded = pa.array([], type=encoded.type)
        values = encoded.dictionary.to_pylist()
        codes = encoded.indices.cast(pa.int64()).fill_null(-1).to_numpy()
        if is_category:
            return _category_column(name, values, codes, dtype, self.markers)
        return Distinct(name, values, codes, dtype).column(self.markers, keep)
