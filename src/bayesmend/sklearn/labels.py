"""Class labels: which rows have one, and the class as a variable of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from bayesmend._checks import got
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.sources import Origin, is_missing
from bayesmend.data.states import MAX_STATES, MISSING, Label
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError, ReadingWarning
from bayesmend.sklearn.tables import in_our_errors

__all__ = ["Labels", "class_name", "read_labels", "with_class"]


class Labels(NamedTuple):
    """The classes, and the class of each row as its position among them."""

    classes: NDArray[Any]
    codes: NDArray[np.uint8]
    """255 where there is no label."""


def read_labels(y: Any, unlabelled: Label | None) -> Labels:
    """Read the labels of rows; None, NaN and NA are none, nor is `unlabelled`.

    Examples
    --------
    >>> classes, codes = read_labels(["no", None, "yes"], None)
    >>> classes.tolist(), codes.tolist()
    (['no', 'yes'], [0, 255, 1])
    >>> read_labels([2, -1, 7], -1).codes.tolist()
    [0, 255, 1]
    """
    if y is None:
        msg = "a classifier requires y to be passed, but the target y is None."
        raise DataError(msg)
    values = _listed(y)
    has_label = np.array(
        [
            not is_missing(value, frozenset())
            and (unlabelled is None or bool(value != unlabelled))
            for value in values
        ],
        dtype=bool,
    )
    observed = [value for value, known in zip(values, has_label, strict=True) if known]
    if not observed:
        msg = "y has no label in any row, so there is no class to learn. Label some."
        raise DataError(msg)
    _check_kind(observed)
    array = np.array(observed)
    with in_our_errors():
        check_classification_targets(array)
    classes, index = np.unique(array, return_inverse=True)
    if len(classes) > MAX_STATES:
        msg = (
            f"y has {len(classes)} classes, and a variable at most {MAX_STATES} "
            "states. Merge some."
        )
        raise DataError(msg)
    if unlabelled is None:
        _doubt(classes)
    codes = np.full(len(values), MISSING, dtype=np.uint8)
    codes[has_label] = index
    return Labels(classes, codes)


def _listed(y: Any) -> list[Any]:
    """Return labels in plain types, of a column or of what is shaped like one."""
    if nw.dependencies.is_into_series(y):
        values: list[Any] = nw.from_native(y, series_only=True).to_list()
        return values
    with in_our_errors():
        array = y if isinstance(y, np.ndarray) else np.array(y, dtype=object)
        flat: list[Any] = column_or_1d(array, dtype=None, warn=True).tolist()
    return flat


def _check_kind(observed: Sequence[Any]) -> None:
    kinds = {"text" if isinstance(v, str) else "numbers" for v in observed}
    if len(kinds) > 1:
        msg = "y mixes text and numbers. Convert its labels to one type."
        raise DataError(msg)
    if any(isinstance(value, float) and math.isinf(value) for value in observed):
        msg = "y holds infinity, which is no label. Replace it, or leave the row None."
        raise DataError(msg)


def _doubt(classes: NDArray[Any]) -> None:
    """Point out a class -1 beside classes that are counted: it may be no label."""
    is_count = classes.dtype.kind == "i" and len(classes) > 2
    if is_count and classes[0] == -1 and classes[1] >= 0:
        msg = (
            "y holds -1 beside labels from 0 on, and it is taken for a class. Pass "
            f"{spell('unlabelled', -1)} if it marks rows without a label."
        )
        warn(msg, ReadingWarning)


def with_class(data: IncompleteData, name: str, labels: Labels) -> IncompleteData:
    """Return the variables of a table with the class behind them."""
    if len(labels.codes) != data.n_rows:
        msg = (
            f"y must have one label per row ({data.n_rows}). Got {len(labels.codes)} "
            "instead."
        )
        raise DataError(msg)
    return replace(
        data,
        names=(*data.names, name),
        states=(*data.states, tuple(labels.classes.tolist())),
        codes=np.asfortranarray(np.column_stack([data.codes, labels.codes])),
        origin=Origin(),
    )


def class_name(y: Any, target: str | None, taken: Sequence[str]) -> str:
    """Name the class variable: as asked for, as y is called, or y; unlike any column.

    Examples
    --------
    >>> class_name([0, 1], None, ["x", "y"])
    'y_'
    """
    if target is not None:
        if not isinstance(target, str) or target in taken:
            msg = (
                "target must be a name for the class that is no column of X. "
                f"{got(target)}"
            )
            raise ParameterError(msg)
        return target
    name = getattr(y, "name", None)
    name = name if isinstance(name, str) and name else "y"
    while name in taken:
        name += "_"
    return name
