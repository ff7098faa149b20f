"""A table as delimited text in which observed fields are as they were read."""

from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesmend.data.csv import label_texts, missing_text, plain_text
from bayesmend.data.numbers import as_one_format
from bayesmend.data.restore import (
    Contents,
    Fill,
    column_texts,
    layout,
    listed,
    restored_column,
)
from bayesmend.data.sources import Origin, is_missing

__all__ = ["needs_source", "table_texts"]


def needs_source(origin: Origin, held: Contents, fill: Fill) -> bool:
    """Tell whether labels alone do not say what is to be written."""
    if origin.source is None:
        return False
    is_cut = fill == "number" and any(known is not None for known in held.numbers)
    return bool(is_cut or origin.passed or origin.source.kind == "text")


def table_texts(
    origin: Origin,
    held: Contents,
    markers: frozenset[str],
    *,
    fill: Fill,
    weights: tuple[str, NDArray[np.float64]] | None,
) -> tuple[list[str], list[list[str]]]:
    """Return the names of all columns, and their cells as text.

    Weights stand where their column was, or come last.
    """
    assert origin.source is not None
    names: list[str] = []
    columns: list[list[str]] = []
    parts: list[tuple[str, int]] = layout(origin, len(held.names))
    if weights is not None and origin.weights is None:
        parts.append(("weights", 0))
    for part, k in parts:
        if part == "variable":
            names.append(held.names[k])
            columns.append(_variable(origin, held, k, markers, fill))
        elif part == "weights":
            assert weights is not None
            names.append(weights[0])
            columns.append(_weights(origin, weights[1]))
        else:
            names.append(origin.source.names[k])
            columns.append(_passed(origin, k, markers))
    return names, columns


def _variable(
    origin: Origin, held: Contents, k: int, markers: frozenset[str], fill: Fill
) -> list[str]:
    source, is_cut = origin.source, held.numbers[k] is not None
    assert source is not None
    codes, name = held.codes[:, k], held.names[k]
    if is_cut and fill == "interval":
        return label_texts(name, held.states[k], codes, markers)
    if source.kind == "text" and origin.places[k] is not None:
        cells: Sequence[Any] = column_texts(origin, held, k)
    elif is_cut:
        cells = listed(source.kind, restored_column(origin, held, k))
    else:
        return label_texts(name, held.states[k], codes, markers)
    absent = missing_text(markers, has_missing=None in cells)
    known: dict[Any, str] = {None: absent}
    in_text = _dates_in_one_format(cells)
    texts = []
    for cell in cells:
        if cell not in known:
            known[cell] = plain_text(name, in_text(cell), markers)
        texts.append(known[cell])
    return texts


def _dates_in_one_format(cells: Iterable[Any]) -> Callable[[Any], Any]:
    """Return what makes text of dates and times, and leaves other cells alone."""
    write = as_one_format(cell for cell in cells if isinstance(cell, date))
    return lambda cell: write(cell) if isinstance(cell, date) else cell


def _weights(origin: Origin, weights: NDArray[np.float64]) -> list[str]:
    source, at = origin.source, origin.weights
    if source is not None and source.kind == "text" and at is not None:
        return [str(text) for text in source.values(at[1])]
    return [plain_text("weights", weight, frozenset()) for weight in weights.tolist()]


def _passed(origin: Origin, position: int, markers: frozenset[str]) -> list[str]:
    assert origin.source is not None
    cells = [
        "" if not isinstance(cell, str) and is_missing(cell, markers) else cell
        for cell in origin.source.values(position)
    ]
    in_text = _dates_in_one_format(cells)
    return [
        cell if isinstance(cell, str) else plain_text("", in_text(cell), frozenset())
        for cell in cells
    ]
