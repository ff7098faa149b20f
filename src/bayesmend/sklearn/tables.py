"""Tables as scikit-learn hands them over: frames and arrays, checked in its way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from bayesmend.data.sources import is_missing
from bayesmend.data.states import MISSING
from bayesmend.data.table import IncompleteData
from bayesmend.errors import BayesmendError, DataError

__all__ = [
    "check_table",
    "find_constants",
    "in_our_errors",
    "missing_by_column",
    "read_weights",
    "with_cells",
    "with_columns",
]


class TableTypeError(DataError, TypeError):
    """What was given is of a type that is not read; scikit-learn asks for the type."""


@contextmanager
def in_our_errors() -> Iterator[None]:
    """Raise what scikit-learn finds wrong with a table as an error of ours."""
    try:
        yield
    except BayesmendError:
        raise
    except TypeError as error:
        raise TableTypeError(str(error)) from None
    except ValueError as error:
        raise DataError(str(error)) from None


def check_table(
    estimator: BaseEstimator, X: Any, *, reset: bool, least: int = 1
) -> Any:
    """Return a frame as it is and anything else as an array, of the right shape.

    Parameters
    ----------
    estimator : BaseEstimator
        It gets (or has) the number and the names of the columns.
    X : frame, array or nested list
        The table.
    reset : bool
        Whether the columns are those to be learned, or must be those that were.
    least : int, default=1
        The fewest rows.
    """
    with in_our_errors():
        if nw.dependencies.is_into_dataframe(X):
            _check_shape(nw.from_native(X).shape, least)
        elif not np.ma.isMaskedArray(X):
            X = check_array(
                _with_objects(X),
                dtype=None,
                ensure_all_finite=False,
                ensure_min_samples=least,
                estimator=estimator,
            )
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    return X


def _check_shape(shape: tuple[int, int], least: int) -> None:
    for size, smallest, what in zip(shape, (least, 1), ("row", "column"), strict=True):
        if size < smallest:
            msg = (
                f"X has {size} {what}(s) (shape={shape}) while a minimum of "
                f"{smallest} is required."
            )
            raise DataError(msg)


def _with_objects(X: Any) -> Any:
    """Keep the numbers of nested lists that hold text, too, as numbers."""
    if isinstance(X, (list, tuple)) and np.asarray(X).dtype.kind in "US":
        return np.array(X, dtype=object)
    return X


def read_weights(sample_weight: Any) -> NDArray[np.float64] | None:
    """Return row weights as an array; what they must be is checked with the table."""
    if sample_weight is None:
        return None
    with in_our_errors():
        weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.size and not weights.any():
        msg = "sample_weight is zero in every row, so no row counts. Weigh some."
        raise DataError(msg)
    return weights


def find_constants(data: IncompleteData) -> dict[int, Any]:
    """Return what columns hold that hold the same in every row, by position.

    They were passed through, as no variable has one state.
    """
    source, schema = data.origin.source, data.schema
    assert source is not None
    assert schema is not None
    reasons = [column.reason for column in schema.columns]
    return {
        place: next(
            v for v in source.values(place) if not is_missing(v, source.markers)
        )
        for place in data.origin.passed
        if reasons[place] == "constant"
    }


def missing_by_column(data: IncompleteData) -> NDArray[np.bool_]:
    """Tell which cells were missing in the table that was read, column by column."""
    origin = data.origin
    source = origin.source
    assert source is not None
    assert origin.codes is not None
    found = np.zeros((data.n_rows, len(source.headers)), dtype=bool)
    for v, place in enumerate(origin.places or range(data.n_vars)):
        if place is not None and v < origin.codes.shape[1]:
            found[:, place] = origin.codes[:, v] == MISSING
    for place in origin.passed:
        values = source.values(place)
        found[:, place] = [is_missing(value, source.markers) for value in values]
    return found


def with_cells(table: Any, place: int, rows: NDArray[np.bool_], value: Any) -> Any:
    """Return a frame or an array with some cells of a column filled."""
    if isinstance(table, np.ndarray):
        table = table.copy()
        table[rows, place] = value
        return table
    frame = nw.from_native(table, eager_only=True)
    at = np.flatnonzero(rows).tolist()
    column = frame[:, place].scatter(at, [value] * len(at))
    return nw.to_native(frame.with_columns(column))


def with_columns(table: Any, names: list[str], flags: NDArray[np.bool_]) -> Any:
    """Return a frame or an array with columns of flags behind its own."""
    if isinstance(table, np.ndarray):
        return np.hstack([table, flags.astype(_type_beside(table))])
    frame = nw.from_native(table, eager_only=True)
    added = [
        nw.new_series(name, flags[:, k], nw.Boolean, backend=frame.implementation)
        for k, name in enumerate(names)
    ]
    return nw.to_native(
        nw.concat([frame, *(s.to_frame() for s in added)], how="horizontal")
    )


def _type_beside(table: NDArray[Any]) -> Any:
    """Return the type of flags beside an array: numbers beside numbers."""
    return object if table.dtype.kind in "OUSM" else table.dtype
