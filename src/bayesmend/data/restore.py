"""The way back: from states and codes to the kind of table that was read."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend._packages import require
from bayesmend.data.sources import CodedSource, Origin, Source
from bayesmend.data.states import MISSING, Label, as_label

INTERVALS = "intervals"
"""In place of a table's own type: a column that was discretized."""


def restore_table(
    origin: Origin,
    names: Sequence[str],
    states: Sequence[tuple[Label, ...]],
    codes: NDArray[np.uint8],
    weights: NDArray[np.float64] | None,
) -> Any:
    """Return a table of the kind that was read, with its own types."""
    kind = table_kind(origin.kind)
    headers = list(origin.headers or names)
    dtypes = list(origin.dtypes or [None] * len(names))
    columns = [
        restore_column(kind, dtype, labels, codes[:, j])
        for j, (dtype, labels) in enumerate(zip(dtypes, states, strict=True))
    ]
    if origin.weights is not None and weights is not None:
        header, position, dtype = origin.weights
        headers.insert(position, header)
        columns.insert(position, _weight_column(kind, dtype, weights))
    return _join(kind, headers, columns, origin.index)


def converted(origin: Origin, kind: str, names: Sequence[str]) -> Origin:
    """Describe the same table as one of another library, which must be installed."""
    require(kind)
    if origin.kind == kind:
        return origin
    weights = None
    if origin.weights is not None:
        header, position, _ = origin.weights
        weights = (str(header), position, None)
    own = origin.dtypes or [None] * len(names)
    # Types mean nothing to another library; that a column was cut does.
    dtypes = [t if isinstance(t, str) and t == INTERVALS else None for t in own]
    return Origin(kind, tuple(names), tuple(dtypes), None, weights)


def restore_column(
    kind: str, dtype: Any, labels: tuple[Label, ...], codes: NDArray[np.uint8]
) -> Any:
    """Return one column, of the table's own type where that can hold its cells."""
    if kind == "pandas":
        return _pandas_column(dtype, labels, codes)
    if kind == "polars":
        return _polars_column(dtype, labels, codes)
    if kind == "pyarrow":
        return _arrow_column(dtype, labels, codes)
    if kind == "mapping":
        return [*_object_array(labels, codes)]
    return _numpy_column(dtype, labels, codes)


def table_kind(kind: str) -> str:
    """Return what text and codes become: a frame of the first library installed."""
    if kind not in ("text", "codes"):
        return kind
    libraries = ("pandas", "polars", "pyarrow")
    return next((name for name in libraries if find_spec(name) is not None), "numpy")


def _positions(codes: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Turn codes into positions, -1 where missing."""
    positions = codes.astype(np.intp)
    positions[codes == MISSING] = -1
    return positions


def _object_array(
    labels: Sequence[Label], codes: NDArray[np.uint8]
) -> NDArray[np.object_]:
    values = np.empty(len(labels) + 1, dtype=object)
    values[:-1] = labels
    values[-1] = None
    taken: NDArray[np.object_] = values[_positions(codes)]
    return taken


def _first_that_holds(
    make: Callable[[Any], Any],
    dtypes: Iterable[Any],
    labels: Sequence[Label],
    errors: tuple[type[Exception], ...] = (),
) -> Any:
    """Return labels as values of the first type that keeps all of them, or None."""
    refusals: tuple[type[Exception], ...] = (TypeError, ValueError, OverflowError)
    for dtype in dtypes:
        try:
            values = make(dtype)
        except refusals + errors:
            continue
        listed = values.to_list() if hasattr(values, "to_list") else values.tolist()
        if all(map(_is_same, listed, labels)):
            return values
    return None


def _is_same(value: Any, label: Label) -> bool:
    """Tell whether a value reads as the label; single floats have fewer digits."""
    if isinstance(value, float) and isinstance(label, float):
        return math.isclose(value, label, rel_tol=1e-3)
    return as_label(value) == label or value == str(label)


def _numpy_column(
    dtype: Any, labels: tuple[Label, ...], codes: NDArray[np.uint8]
) -> NDArray[Any]:
    has_missing = bool(np.any(codes == MISSING))
    is_plain = isinstance(dtype, np.dtype) and dtype.kind in "biufUT"
    if not is_plain or (has_missing and dtype.kind in "bUT"):
        return _object_array(labels, codes)
    dtypes = [dtype, np.dtype(np.int64), np.dtype(np.float64)]
    if dtype.kind not in "iuf":
        dtypes = [dtype] if dtype.kind != "U" else [dtype, np.dtype(str)]
    elif has_missing:
        dtypes = [dtype, np.dtype(np.float64)] if dtype.kind == "f" else dtypes[2:]
    values = _first_that_holds(lambda t: np.array(labels, dtype=t), dtypes, labels)
    if values is None:  # a declared state that no such type can hold
        return _object_array(labels, codes)
    last = [np.nan] if values.dtype.kind == "f" else values[:1]
    padded = np.concatenate([values, np.array(last, dtype=values.dtype)])
    taken: NDArray[Any] = padded[_positions(codes)]
    return taken


def _pandas_column(
    dtype: Any, labels: tuple[Label, ...], codes: NDArray[np.uint8]
) -> Any:
    import pandas as pd

    positions = _positions(codes)
    if isinstance(dtype, str) and dtype == INTERVALS:
        return pd.Categorical.from_codes(positions, list(labels), ordered=True)
    if isinstance(dtype, pd.CategoricalDtype):
        known = {as_label(c): i for i, c in enumerate(dtype.categories)}
        extra = [label for label in labels if label not in known]
        if extra:
            categories = [*dtype.categories, *extra]
            dtype = pd.CategoricalDtype(categories, ordered=dtype.ordered)
            known = {as_label(c): i for i, c in enumerate(categories)}
        table = np.array([*(known[label] for label in labels), -1])
        return pd.Categorical.from_codes(table[positions], dtype=dtype)
    if isinstance(dtype, np.dtype):
        column = _numpy_column(dtype, labels, codes)
        if dtype.kind == "O" or column.dtype.kind != "O":
            return column
        dtype = None  # a declared state that is no number
    dtypes = (
        [dtype, _text_dtype(labels)] if dtype is not None else [_text_dtype(labels)]
    )
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype):
        is_arrow = isinstance(dtype, pd.ArrowDtype)
        wide = (
            ("int64[pyarrow]", "double[pyarrow]") if is_arrow else ("Int64", "Float64")
        )
        dtypes[1:1] = wide
    values = _first_that_holds(
        lambda t: pd.array(list(labels), dtype=t), dtypes, labels
    )
    if values is None:
        return _object_array(labels, codes)
    return values.take(positions, allow_fill=True)


def _text_dtype(labels: Sequence[Label]) -> Any:
    """Return the type of a column that comes from a file or from codes."""
    is_text = all(isinstance(label, str) for label in labels)
    return "str" if is_text else None


def _polars_column(
    dtype: Any, labels: tuple[Label, ...], codes: NDArray[np.uint8]
) -> Any:
    import polars as pl

    if isinstance(dtype, str) and dtype == INTERVALS:
        dtype = pl.Enum(list(labels))
    if isinstance(dtype, pl.Enum):
        known = set(dtype.categories)
        extra = [str(label) for label in labels if label not in known]
        dtype = pl.Enum([*dtype.categories, *extra]) if extra else dtype
    dtypes = [dtype]
    if dtype is None or dtype == pl.Null:  # a series of that type would stay empty
        dtypes = [None, pl.Float64]
    elif dtype.is_numeric():
        dtypes += [pl.Int64, pl.Float64]
    values = _first_that_holds(
        lambda t: pl.Series(list(labels), dtype=t),
        dtypes,
        labels,
        (pl.exceptions.PolarsError,),
    )
    if values is None:
        values = pl.Series(list(map(str, labels)))
    positions = pl.Series(codes.astype(np.uint32))
    return values.gather(positions.replace(MISSING, None))


def _arrow_column(
    dtype: Any, labels: tuple[Label, ...], codes: NDArray[np.uint8]
) -> Any:
    import pyarrow as pa

    indices = pa.array(codes.astype(np.int16), mask=codes == MISSING)
    if isinstance(dtype, str) and dtype == INTERVALS:
        dtype = pa.dictionary(pa.int32(), pa.string(), ordered=True)
    if dtype is not None and pa.types.is_dictionary(dtype):
        values = _arrow_values(dtype.value_type, labels)
        dtype = pa.dictionary(dtype.index_type, values.type, ordered=dtype.ordered)
        taken = pa.DictionaryArray.from_arrays(indices, values, ordered=dtype.ordered)
        return taken.cast(dtype)
    values = _arrow_values(dtype, labels)
    try:
        return values.take(indices)
    except pa.ArrowNotImplementedError:  # string_view
        return pa.array(_object_array(labels, codes), type=values.type)


def _arrow_values(dtype: Any, labels: tuple[Label, ...]) -> Any:
    import pyarrow as pa

    dtypes = [dtype]
    if dtype is None or pa.types.is_null(dtype):
        dtypes = [None, pa.float64()]
    elif pa.types.is_integer(dtype) or pa.types.is_floating(dtype):
        dtypes += [pa.int64(), pa.float64()]
    values = _first_that_holds(
        lambda t: pa.array(list(labels), type=t), dtypes, labels, (pa.ArrowException,)
    )
    return pa.array(list(map(str, labels))) if values is None else values


def _weight_column(kind: str, dtype: Any, weights: NDArray[np.float64]) -> Any:
    if kind == "mapping":
        return weights.tolist()
    if kind == "polars":
        import polars as pl

        series = pl.Series(weights)
        return series if dtype is None else series.cast(dtype)
    if kind == "pyarrow":
        import pyarrow as pa

        array = pa.array(weights)
        return array if dtype is None else array.cast(dtype)
    if kind == "pandas":
        import pandas as pd

        return pd.Series(weights).astype(dtype or np.float64).array
    return weights if dtype is None else weights.astype(dtype)


def _join_arrays(columns: list[Any]) -> NDArray[Any]:
    if len({column.dtype for column in columns}) == 1 and columns[0].dtype != object:
        return np.column_stack(columns)
    if all(column.dtype.kind in "biuf" for column in columns):
        return np.column_stack(columns)
    joined = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        joined[:, j] = column.tolist()
    return joined


def _join(kind: str, headers: list[Any], columns: list[Any], index: Any = None) -> Any:
    """Return columns of a library as one of its tables."""
    if kind == "mapping":
        return dict(zip(headers, columns, strict=True))
    if kind == "numpy":
        return _join_arrays(columns)
    if kind == "pandas":
        import pandas as pd

        series = [_pandas_series(c, index) for c in columns]
        frame = pd.DataFrame(dict(enumerate(series)), index=index)
        frame.columns = pd.Index(headers)
        return frame
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(
            [column.alias(name) for name, column in zip(headers, columns, strict=True)]
        )
    import pyarrow as pa

    return pa.table(columns, names=headers)


def _pandas_series(column: Any, index: Any) -> Any:
    import pandas as pd

    # With its type given, pandas infers none: an object column stays one.
    return pd.Series(column, index=index, dtype=column.dtype)


def replace_columns(
    source: Source,
    columns: dict[int, Any],
    added: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Return the table of a source with the columns at some positions replaced.

    Columns that are ``added`` come last.
    """
    table, headers = source.native, list[Any](source.headers)
    if table is None:
        kind = table_kind(source.kind)
        kept = [
            columns[j] if j in columns else _own_column(kind, source, j)
            for j in range(len(headers))
        ]
        return _join(kind, [*headers, *added], [*kept, *added.values()])
    new = {headers[j]: column for j, column in columns.items()}
    if source.kind == "mapping":
        return {**table, **new, **added}
    if source.kind == "numpy":
        if np.ma.isMaskedArray(table):
            table = np.ma.filled(table.astype(object), None)
        array = np.array(table, dtype=object)
        for j, column in columns.items():
            array[:, j] = column
        return np.column_stack([array, *added.values()]) if added else array
    if source.kind == "pandas":
        table = table.copy(deep=False)
        for header, column in {**new, **added}.items():
            table[header] = _pandas_series(column, table.index)
        return table
    if source.kind == "polars":
        return table.with_columns(c.alias(h) for h, c in {**new, **added}.items())
    for j, column in columns.items():
        table = table.set_column(j, headers[j], column)
    for header, column in added.items():
        table = table.append_column(header, column)
    return table


def _own_column(kind: str, source: Source, position: int) -> Any:
    """Return a column of coded labels, or of text, whatever it says."""
    if isinstance(source, CodedSource):
        labels, codes = source.table.states[position], source.table.codes[:, position]
        return restore_column(kind, None, labels, codes)
    texts = source.values(position)
    if kind == "pandas":
        import pandas as pd

        return pd.array(texts, dtype="str")
    if kind == "polars":
        import polars as pl

        return pl.Series(texts, dtype=pl.String)
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.array(texts, type=pa.string())
    return np.array(texts, dtype=object)
