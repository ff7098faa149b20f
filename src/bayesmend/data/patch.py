"""Columns with some cells replaced: all others stay as they are, type included.

A column is taken from itself and from values put behind it: the position ``n + k``
stands for the k-th of these values, and -1 for a missing cell.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["cells_of_rows", "own_column", "patch_column"]


def own_column(kind: str, table: Any, position: int) -> Any:
    """Return a column as the table itself has it."""
    if kind == "pandas":
        return table.iloc[:, position]
    if kind == "polars":
        return table.to_series(position)
    if kind == "pyarrow":
        return table.column(position)
    if kind == "numpy":
        return table[:, position]
    return list(table.values())[position]


def patch_column(kind: str, own: Any, take: NDArray[np.intp], extra: Any) -> Any:
    """Return a column whose cells are taken from it and from extra values, if any."""
    if kind == "pandas":
        return _patch_pandas(own, take, extra)
    if kind == "polars":
        return _patch_polars(own, take, extra)
    if kind == "pyarrow":
        return _patch_arrow(own, take, extra)
    if isinstance(own, np.ndarray):
        return _patch_numpy(own, take, extra)
    return _patch_list(own, take, extra)


def cells_of_rows(kind: str, own: Any, rows: NDArray[np.intp]) -> list[Any]:
    """Return the cells of some rows."""
    if not rows.size:
        return []
    cells: list[Any]
    if kind == "pandas":
        cells = own.iloc[rows].tolist()
    elif kind == "polars":
        cells = _patch_polars(own, rows, None).to_list()
    elif kind == "pyarrow":
        cells = _patch_arrow(own, rows, None).to_pylist()
    else:
        cells = [own[row] for row in rows.tolist()]
    return cells


def _patch_pandas(own: Any, take: NDArray[np.intp], extra: Any) -> Any:
    import pandas as pd

    joined = own.reset_index(drop=True)
    if extra is not None:
        behind = pd.Series(extra, dtype=extra.dtype)
        if joined.dtype != behind.dtype and joined.isna().all():
            joined = pd.Series([None] * len(joined), dtype=behind.dtype)
        if isinstance(behind.dtype, pd.CategoricalDtype):
            joined = joined.astype(behind.dtype)
        joined = pd.concat([joined, behind], ignore_index=True)
    taken = joined.reindex(take)  # which makes the label -1 missing
    if taken.dtype == object:
        cells = taken.to_numpy(copy=True)
        cells[take < 0] = None
        return cells
    return taken.array


def _patch_polars(own: Any, take: NDArray[np.intp], extra: Any) -> Any:
    import polars as pl

    if own.dtype == pl.Object:
        cells = _patch_list(own.to_list(), take, extra)
        return pl.Series(own.name, cells, dtype=pl.Object)
    if extra is not None:
        own = pl.concat([own.cast(extra.dtype), extra.rename(own.name)])
    return own.gather(pl.Series(take).replace(-1, None))


def _patch_arrow(own: Any, take: NDArray[np.intp], extra: Any) -> Any:
    import pyarrow as pa

    dtype = own.type if extra is None else extra.type
    joined = own.cast(dtype)
    if extra is not None:
        joined = pa.chunked_array([*joined.chunks, extra])
    try:
        if pa.types.is_dictionary(dtype):
            joined = joined.unify_dictionaries()
        indices = pa.array(take, mask=take < 0)
        return pa.chunked_array([joined.combine_chunks().take(indices)], type=dtype)
    except pa.ArrowNotImplementedError:  # string_view
        return pa.chunked_array([_patch_list(joined.to_pylist(), take, None)], dtype)


def _patch_list(cells: list[Any], take: NDArray[np.intp], extra: Any) -> list[Any]:
    behind = [] if extra is None else list(extra)
    joined = [*cells, *behind, None]  # -1 is the last
    return [joined[k] for k in take.tolist()]


def _patch_numpy(own: NDArray[Any], take: NDArray[np.intp], extra: Any) -> NDArray[Any]:
    """Return an array of the same type where that can hold the cells.

    A masked array masks missing cells. In others floats have NaN, and integers become
    floats for it; anything else becomes objects with None.
    """
    is_masked = isinstance(own, np.ma.MaskedArray)
    join = np.ma.concatenate if is_masked else np.concatenate
    joined: NDArray[Any] = own if extra is None else join([own, _like(own, extra)])
    absent = take < 0
    if not absent.any():
        return joined[take]
    taken = joined[np.where(absent, 0, take)]
    if is_masked:
        taken[absent] = np.ma.masked
        return taken
    if taken.dtype.kind in "iu":
        taken = taken.astype(np.float64)
    elif taken.dtype.kind not in "fcO":
        taken = taken.astype(object)
    taken[absent] = None if taken.dtype == object else np.nan
    return taken


def _like(own: NDArray[Any], extra: NDArray[Any]) -> NDArray[Any]:
    """Keep NumPy from turning numbers into text where the two are joined."""
    kinds = {own.dtype.kind, extra.dtype.kind}
    is_mixed = len(kinds) > 1 and not kinds <= set("iuf") and not kinds <= set("US")
    return extra.astype(object) if is_mixed else extra
