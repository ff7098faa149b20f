"""The way back: from states and codes to the kind of table that was read."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib.util import find_spec
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.numbers import Numbers, date_number, date_text, number_date
from bayesmend.data.patch import cells_of_rows, own_column, patch_column
from bayesmend.data.sources import CodedSource, Origin, Source, is_missing
from bayesmend.data.states import (
    BLANKS,
    MISSING,
    Label,
    as_label,
    is_marker,
    is_number_text,
    number_of_text,
)

Fill: TypeAlias = Literal["number", "interval"]
"""How a variable that is cut into intervals comes back."""

_BLOCK = 10_000

INTERVALS = "intervals"
"""In place of a table's own type: a column that was discretized."""


class Contents(NamedTuple):
    """What a table holds now, variable by variable.

    ``numbers`` has what is known of the numbers of a variable that is cut, and None
    for any other.
    """

    names: tuple[str, ...]
    states: tuple[tuple[Label, ...], ...]
    codes: NDArray[np.uint8]
    weights: NDArray[np.float64] | None
    numbers: tuple[Numbers | None, ...]


def restore_table(
    origin: Origin,
    held: Contents,
    *,
    kind: str | None = None,
    fill: Fill = "number",
    n_rows: int | None = None,
) -> Any:
    """Return the table that was read with the cells that are other than they were.

    Parameters
    ----------
    origin : Origin
        What was read.
    held : Contents
        What the table holds now.
    kind : str, optional
        The library whose table is wanted; by default that of the table read.
    fill : {"number", "interval"}, default="number"
        Whether variables that are cut come back as numbers or as intervals.
    n_rows : int, optional
        How many rows, the first ones; all by default.
    """
    kind = kind or table_kind(origin.kind)
    n_rows = len(held.codes) if n_rows is None else min(n_rows, len(held.codes))
    is_own = kind == origin.kind
    headers: list[Any] = []
    columns = []
    for part, k in layout(origin, len(held.names)):
        if part == "variable":
            own_headers = origin.headers if is_own or origin.kind == "text" else ()
            headers.append((own_headers or held.names)[k])
            columns.append(_variable(kind, origin, held, k, fill, n_rows))
        elif part == "weights":
            assert origin.weights is not None
            assert held.weights is not None
            header, position, dtype = origin.weights
            headers.append(header if is_own else str(header))
            columns.append(
                _own(kind, origin, position, n_rows)
                if is_own and origin.source is not None
                else _weight_column(
                    kind, dtype if is_own else None, held.weights[:n_rows]
                )
            )
        else:
            assert origin.source is not None
            names = origin.source.headers if is_own else origin.source.names
            headers.append(names[k])
            columns.append(_passed(kind, origin, k, n_rows))
    index: Any = origin.index if is_own else None
    native = origin.source.native if is_own and origin.source is not None else None
    return _join(
        kind, headers, columns, None if index is None else index[:n_rows], native
    )


def layout(origin: Origin, n_vars: int) -> list[tuple[str, int]]:
    """Return the columns of the table in order.

    Each is a ``variable`` by its number, the ``weights``, or one that was ``passed``
    through, by its position in the table that was read.
    """
    places = origin.places or tuple(range(n_vars))
    parts = [(p, "variable", k) for k, p in enumerate(places) if p is not None]
    parts += [(p, "passed", p) for p in origin.passed]
    if origin.weights is not None:
        parts.append((origin.weights[1], "weights", 0))
    added = [("variable", k) for k, p in enumerate(places) if p is None]
    return [(part, k) for _, part, k in sorted(parts)] + added


def _variable(
    kind: str, origin: Origin, held: Contents, k: int, fill: Fill, n_rows: int
) -> Any:
    labels, codes, numbers = held.states[k], held.codes[:n_rows, k], held.numbers[k]
    if numbers is not None and fill == "interval":
        return restore_column(kind, INTERVALS, labels, codes)
    source, place = origin.source, (origin.places or (None,) * (k + 1))[k]
    if source is not None and place is not None:
        if kind == source.kind:
            return _patched(origin, held, k, n_rows)
        if source.kind == "text":
            texts = column_texts(origin, held, k, n_rows)
            return _parsed_column(
                kind, texts, source.decimal, is_sure=numbers is not None
            )
        if numbers is not None:
            own = _patched(origin, held, k, n_rows)
            return column_of(kind, listed(source.kind, own))
    elif numbers is not None and place is None:  # that the table did not have
        filled = np.flatnonzero(codes != MISSING)
        chosen = numbers.fill(codes[filled], _draws(origin, k, filled))
        values = iter([numbers.plain(x) for x in chosen.tolist()])
        return column_of(kind, [None if c == MISSING else next(values) for c in codes])
    is_own = kind == origin.kind and origin.dtypes
    dtype = origin.dtypes[k] if is_own else None
    if origin.kind == "text":
        known = number_labels(labels, origin.decimal)
        if known != labels:
            return column_of(kind, _object_array(known, codes).tolist())
    return restore_column(kind, dtype, labels, codes)


def restored_column(origin: Origin, held: Contents, k: int) -> Any:
    """Return a variable as a column of the library of the table that was read."""
    assert origin.source is not None
    kind = table_kind(origin.source.kind)
    return _variable(kind, origin, held, k, "number", len(held.codes))


def _own(kind: str, origin: Origin, position: int, n_rows: int) -> Any:
    """Return the first cells of a column as the table itself has it."""
    assert origin.source is not None
    own = own_column(kind, origin.source.native, position)
    if n_rows == origin.source.n_rows:
        return own.copy() if isinstance(own, (list, np.ndarray)) else own
    return patch_column(kind, own, np.arange(n_rows), None)


def _passed(kind: str, origin: Origin, position: int, n_rows: int) -> Any:
    source = origin.source
    assert source is not None
    if kind == source.kind:
        return _own(kind, origin, position, n_rows)
    values = source.values(position)[:n_rows]
    if source.kind != "text":
        own = _own(source.kind, origin, position, n_rows)
        return column_of(kind, listed(source.kind, own))
    texts = [None if is_missing(text, source.markers) else text for text in values]
    numbers = _parsed(texts, source.decimal)
    return _text_column(kind, values) if numbers is None else column_of(kind, numbers)


def _patched(origin: Origin, held: Contents, k: int, n_rows: int) -> Any:
    """Return a column of the table with the cells written that have changed."""
    source, place = origin.source, origin.places[k]
    assert source is not None
    assert place is not None
    own = own_column(source.kind, source.native, place)
    codes, base = held.codes[:n_rows, k], _read_codes(origin, held, k)
    take = np.arange(n_rows)
    take[_marked(source, own, codes, base[:n_rows])] = -1
    rows = np.flatnonzero(codes != base[:n_rows])
    take[rows] = -1
    rows = rows[codes[rows] != MISSING]
    dtype, numbers = origin.dtypes[k], held.numbers[k]
    extra: Any = None
    if rows.size and numbers is not None:
        values, index = np.unique(
            numbers.fill(codes[rows], _draws(origin, k, rows)), return_inverse=True
        )
        take[rows] = source.n_rows + index
        extra = _number_column(source, own, dtype, numbers, values)
    elif rows.size:
        where = _rows_of_states(source, place, held.states[k], base, codes[rows])
        added = [code for code, row in where.items() if row is None]
        behind = {code: source.n_rows + e for e, code in enumerate(added)}
        table = np.full(MISSING + 1, -1, dtype=np.intp)
        for code, row in where.items():
            table[code] = behind[code] if row is None else row
        take[rows] = table[codes[rows]]
        if added:
            labels = tuple(held.states[k][code] for code in added)
            extra = _extra_column(source.kind, own, dtype, labels)
    if np.array_equal(take, np.arange(source.n_rows)):
        return _own(source.kind, origin, place, n_rows)
    return patch_column(source.kind, own, take, extra)


def _read_codes(origin: Origin, held: Contents, k: int) -> NDArray[np.uint8]:
    """Return the codes of a variable as it was read."""
    assert origin.codes is not None
    return origin.codes[:, k] if k < origin.codes.shape[1] else held.codes[:, k]


def _draws(
    origin: Origin, k: int, rows: NDArray[np.intp]
) -> NDArray[np.float64] | None:
    """Return a number between 0 and 1 per row, always the same for a table."""
    if origin.draw is None or not rows.size:
        return None
    return np.random.default_rng([*origin.draw, k]).random(int(rows[-1]) + 1)[rows]


def _marked(
    source: Source, own: Any, codes: NDArray[np.uint8], base: NDArray[np.uint8]
) -> list[int]:
    """Return the rows whose cell is a missing marker, and still missing."""
    if not source.markers:
        return []
    rows = np.flatnonzero((codes == MISSING) & (base == MISSING))
    cells = cells_of_rows(source.kind, own, rows)
    return [
        row
        for row, cell in zip(rows.tolist(), cells, strict=True)
        if is_marker(cell, source.markers)
    ]


def _rows_of_states(
    source: Source,
    place: int,
    labels: tuple[Label, ...],
    base: NDArray[np.uint8],
    wanted: NDArray[np.uint8],
) -> dict[int, int | None]:
    """Return for each code a row that holds just its label, or None."""
    found: dict[int, int | None] = {}
    own = own_column(source.kind, source.native, place)
    for code in np.unique(wanted).tolist():
        rows = np.flatnonzero(base == code)[:1]
        found[code] = int(rows[0]) if rows.size else None
        # Labels that were joined differ in blanks or case from the one that stands.
        cells = cells_of_rows(source.kind, own, rows)
        if cells and isinstance(cells[0], str) and cells[0] != labels[code]:
            found[code] = None
    return found


def _extra_column(kind: str, own: Any, dtype: Any, labels: tuple[Label, ...]) -> Any:
    positions = np.arange(len(labels))
    if isinstance(own, np.ndarray):
        return _numpy_column(own.dtype, labels, positions)
    return restore_column(kind, dtype, labels, positions)


def _number_column(
    source: Source,
    own: Any,
    dtype: Any,
    numbers: Numbers,
    values: NDArray[np.float64],
) -> Any:
    """Return numbers of a variable that is cut, as the table writes them."""
    sample = next(iter_observed(source.kind, own), None)
    if isinstance(sample, str):
        style = number_style(numbers, observed_texts(source.kind, own), source.decimal)
        return _extra_column(
            source.kind, own, dtype, tuple(map(style, values.tolist()))
        )
    if numbers.kind == "date":
        return _date_column(source.kind, dtype, sample, values)
    labels = tuple(numbers.plain(x) for x in values.tolist())
    if isinstance(sample, float):
        labels = tuple(values.tolist())
    if isinstance(sample, Decimal):
        exact = [Decimal(repr(label)) for label in labels]
        return _like_observed(source.kind, dtype, exact)
    return _extra_column(source.kind, own, dtype, labels)  # type: ignore[arg-type]


def _date_column(
    kind: str, dtype: Any, sample: Any, values: NDArray[np.float64]
) -> Any:
    """Return dates or times of the type of a sample."""
    moments: list[Any] = [number_date(x) for x in values.tolist()]
    if isinstance(sample, datetime) and sample.tzinfo is not None:
        moments = [m.replace(tzinfo=UTC).astimezone(sample.tzinfo) for m in moments]
    elif not isinstance(sample, datetime) and isinstance(sample, date):
        moments = [moment.date() for moment in moments]
    return _like_observed(kind, dtype, moments)


def _like_observed(kind: str, dtype: Any, cells: list[Any]) -> Any:
    if kind == "pandas":
        import pandas as pd

        return pd.Series(cells, dtype=dtype).array
    if kind == "polars":
        import polars as pl

        return pl.Series(cells, dtype=dtype)
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.array(cells, type=dtype)
    if kind == "numpy":
        array = np.empty(len(cells), dtype=object)
        array[:] = cells
        return array.astype(dtype)
    return cells


def iter_observed(kind: str, own: Any) -> Iterator[Any]:
    """Iterate over the cells of a column that are not null."""
    n = len(own)
    for first in range(0, n, _BLOCK):
        part = patch_column(kind, own, np.arange(first, min(first + _BLOCK, n)), None)
        yield from (cell for cell in listed(kind, part) if cell is not None)


def observed_texts(kind: str, own: Any) -> list[str]:
    """Return some texts of a column, enough to tell how it writes numbers."""
    return [str(cell) for cell in islice(iter_observed(kind, own), _BLOCK)]


def listed(kind: str, column: Any) -> list[Any]:
    """Return the cells of a column of a library, None where missing."""
    if kind == "pandas":
        import pandas as pd

        series = pd.Series(column)
        nulls = series.isna().tolist()
        return [None if n else c for c, n in zip(series.tolist(), nulls, strict=True)]
    if kind == "pyarrow":
        return list(column.to_pylist())
    cells = column.to_list() if kind == "polars" else list(column)
    if isinstance(column, np.ndarray):
        cells = column.tolist()  # which has None where a cell is masked
    return [None if is_missing(cell, frozenset()) else cell for cell in cells]


def column_of(kind: str, cells: list[Any]) -> Any:
    """Return plain cells as a column of a library, of the type that suits them."""
    if kind == "pandas":
        import pandas as pd

        try:
            return pd.Series(cells).array
        except (TypeError, ValueError, OverflowError):
            return pd.Series(cells, dtype=object).array
    if kind == "polars":
        import polars as pl

        try:
            return pl.Series(cells, strict=False)
        except (pl.exceptions.PolarsError, TypeError, ValueError, OverflowError):
            return pl.Series(cells, dtype=pl.Object)
    if kind == "pyarrow":
        import pyarrow as pa

        try:
            return pa.array(cells)
        except (pa.ArrowException, TypeError, OverflowError):
            return pa.array([None if cell is None else str(cell) for cell in cells])
    if kind == "mapping":
        return cells
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


# Text that comes from a file.


def column_texts(
    origin: Origin, held: Contents, k: int, n_rows: int | None = None
) -> list[str | None]:
    """Return the cells of a variable of a file as text, None where missing.

    What was observed is as it was read; what fills a cell is a label, or a number
    written as the others of the column are.
    """
    source, place = origin.source, origin.places[k]
    assert source is not None
    assert place is not None
    texts: list[str | None] = source.values(place)[:n_rows]
    codes, base = held.codes[:n_rows, k], _read_codes(origin, held, k)[:n_rows]
    rows = np.flatnonzero((codes != base) | (codes == MISSING))
    observed = [t for t, c in zip(texts, base.tolist(), strict=True) if c != MISSING]
    filled = rows[codes[rows] != MISSING]
    new: list[str]
    if (numbers := held.numbers[k]) is not None:
        style = number_style(numbers, observed, source.decimal)
        chosen = numbers.fill(codes[filled], _draws(origin, k, filled))
        new = [style(x) for x in chosen.tolist()]
    else:
        new = [str(held.states[k][code]) for code in codes[filled].tolist()]
    for row in rows.tolist():
        if codes[row] == MISSING and (
            base[row] != MISSING or is_missing(texts[row], source.markers)
        ):
            texts[row] = None
    for row, text in zip(filled.tolist(), new, strict=True):
        texts[row] = text
    return texts


def number_style(
    numbers: Numbers, texts: Iterable[str | None], decimal: str = "."
) -> Callable[[float], str]:
    """Return a function that writes numbers as some texts are written.

    Examples
    --------
    >>> known = Numbers.of(np.array([1.5, 2.0]), ())
    >>> number_style(known, ["1,50", "2,00"], ",")(1.75)
    '1,75'
    >>> number_style(known, ["1.5", "2"])(2.0)
    '2'
    """
    if numbers.kind == "date":
        own = {date_number(text): str(text) for text in texts}
        return lambda number: own.get(number) or date_text(number)
    plain = {str(text).strip() for text in texts}
    counts = {len(text.partition(decimal)[2]) for text in plain}
    if len(counts) == 1 and not any("e" in text.lower() for text in plain):
        [n_decimals] = counts
        return lambda number: f"{number:.{n_decimals}f}".replace(".", decimal)
    return lambda number: str(as_label(number)).replace(".", decimal)


_CANONICAL = re.compile(r"-?(0|[1-9]\d*)([.,]\d+)?([eE][+-]?\d+)?", re.ASCII)


def number_labels(labels: tuple[Label, ...], decimal: str = ".") -> tuple[Label, ...]:
    """Return labels of a file as numbers, if all of them are and stay different.

    Examples
    --------
    >>> number_labels(("1", "2.5")), number_labels(("01", "02"))
    ((1.0, 2.5), ('01', '02'))
    >>> number_labels(("1,5", "2,5"), ",")
    (1.5, 2.5)
    """
    numbers = _parsed([str(label) for label in labels], decimal)
    if numbers is None or len(set(numbers)) < len(labels):
        return labels
    return tuple(numbers)


def _parsed(
    texts: Sequence[str | None], decimal: str, *, is_sure: bool = False
) -> list[Any] | None:
    """Return texts as numbers, None when some are none or would change."""
    seen = {text for text in texts if text is not None}
    if not seen or not all(is_number_text(text, decimal) for text in seen):
        return None
    if not is_sure and not all(_CANONICAL.fullmatch(text) for text in seen):
        return None
    number = {text: number_of_text(text, decimal) for text in seen}
    is_whole = all(
        text.strip(BLANKS).lstrip("+-").isdecimal() and abs(number[text]) < 2**53
        for text in seen
    )
    if is_whole:
        number = {text: int(value) for text, value in number.items()}
    return [None if text is None else number[text] for text in texts]


def _parsed_column(
    kind: str, texts: list[str | None], decimal: str, *, is_sure: bool = False
) -> Any:
    """Return texts as a column of numbers where all of them are, else of text."""
    numbers = _parsed(texts, decimal, is_sure=is_sure)
    if numbers is not None:
        return column_of(kind, numbers)
    return _text_column(kind, texts)


def _text_column(kind: str, texts: list[str | None]) -> Any:
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


def restore_column(
    kind: str, dtype: Any, labels: tuple[Label, ...], codes: NDArray[Any]
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


def _positions(codes: NDArray[Any]) -> NDArray[np.intp]:
    """Turn codes into positions, -1 where missing; positions stay what they are."""
    positions = codes.astype(np.intp)
    if codes.dtype != np.uint8:
        return positions
    positions[codes == MISSING] = -1
    return positions


def _object_array(labels: Sequence[Label], codes: NDArray[Any]) -> NDArray[np.object_]:
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
    if isinstance(value, (float, Decimal)) and isinstance(label, float):
        return math.isclose(value, label, rel_tol=1e-3)
    return as_label(value) == label or value == str(label)


def _numpy_column(
    dtype: Any, labels: tuple[Label, ...], codes: NDArray[Any]
) -> NDArray[Any]:
    has_missing = bool(np.any(_positions(codes) < 0))
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


def _pandas_column(dtype: Any, labels: tuple[Label, ...], codes: NDArray[Any]) -> Any:
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


def _polars_column(dtype: Any, labels: tuple[Label, ...], codes: NDArray[Any]) -> Any:
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
    return values.gather(pl.Series(_positions(codes)).replace(-1, None))


def _arrow_column(dtype: Any, labels: tuple[Label, ...], codes: NDArray[Any]) -> Any:
    import pyarrow as pa

    positions = _positions(codes)
    indices = pa.array(positions, mask=positions < 0)
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
    if any(isinstance(column, np.ma.MaskedArray) for column in columns):
        return _join_masked(columns)
    if len({column.dtype for column in columns}) == 1 and columns[0].dtype != object:
        return np.column_stack(columns)
    if all(column.dtype.kind in "biuf" for column in columns):
        return np.column_stack(columns)
    joined = np.empty((len(columns[0]), len(columns)), dtype=object)
    for j, column in enumerate(columns):
        joined[:, j] = column.tolist()
    return joined


def _join_masked(columns: list[Any]) -> NDArray[Any]:
    joined = _join_arrays([np.ma.getdata(column) for column in columns])
    mask = np.column_stack([np.ma.getmaskarray(column) for column in columns])
    return np.ma.array(joined, mask=mask)


def _join(
    kind: str,
    headers: list[Any],
    columns: list[Any],
    index: Any = None,
    native: Any = None,
) -> Any:
    """Return columns of a library as one of its tables, like a native one if given."""
    if kind == "mapping":
        return dict(zip(headers, columns, strict=True))
    if kind == "numpy":
        return _join_arrays(columns)
    if kind == "pandas":
        import pandas as pd

        series = [_pandas_series(c, index) for c in columns]
        frame = pd.DataFrame(dict(enumerate(series)), index=index)
        frame.columns = pd.Index(headers)
        if native is not None:
            frame.attrs = dict(native.attrs)
            if native.columns.equals(frame.columns):
                frame.columns = native.columns
        return frame
    if kind == "polars":
        import polars as pl

        return pl.DataFrame(
            [column.alias(name) for name, column in zip(headers, columns, strict=True)]
        )
    import pyarrow as pa

    table = pa.table(columns, names=headers)
    return table if native is None else _with_schema_of(native, table)


def _with_schema_of(native: Any, table: Any) -> Any:
    """Give an Arrow table what another one says of the same columns."""
    import pyarrow as pa

    known = {field.name: field for field in native.schema}
    fields = [
        own
        if (own := known.get(field.name)) is not None
        and own.type == field.type
        and (own.nullable or table.column(field.name).null_count == 0)
        else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields, metadata=native.schema.metadata))


def _pandas_series(column: Any, index: Any) -> Any:
    import pandas as pd

    if isinstance(column, pd.Series):
        return column
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
    return _text_column(kind, source.values(position))
