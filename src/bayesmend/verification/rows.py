"""A reader of tables of its own: text with a delimiter, or columns in memory."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.families import MISSING
from bayesmend.verification.lies import Lie

__all__ = ["MARKERS", "Rows", "Variable", "read_bytes", "read_rows"]

MARKERS = ("", "NA", "NaN", "nan", "null", "None", "?")
"""Text that stands for a missing cell unless the result says otherwise."""

_DELIMITERS = ",;\t|"


@dataclass(frozen=True)
class Variable:
    """A variable as a result has it: name, states, and where its numbers are cut."""

    name: str
    states: tuple[Any, ...]
    cuts: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Rows:
    """Codes of all rows, and how often each counts."""

    codes: list[tuple[int, ...]]
    weights: list[int] | None = None


def read_bytes(path: Path) -> bytes:
    """Read a file, and unpack it where its name ends in .gz."""
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"cannot read {str(path)!r}: {error.strerror or error}."
        raise DataError(msg) from None
    if path.suffix.lower() != ".gz":
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path.name!r} cannot be unpacked, it is damaged or cut off: {error}."
        raise Lie(msg) from None


def read_rows(
    data: Any, variables: Sequence[Variable], options: Mapping[str, Any], weights: Any
) -> Rows:
    """Read the columns of some variables, as codes of their states.

    Parameters
    ----------
    data
        A path, a mapping of columns, or a table with `names`, `states`, `codes`.
    variables : sequence of Variable
        What is read.
    options : mapping
        Of the result: ``missing``, ``delimiter``, ``decimal``, ``encoding``,
        ``header``, ``names``.
    weights : str, optional
        The column that says how much each row counts.
    """
    if hasattr(data, "codes") and hasattr(data, "states"):
        return _of_codes(data, variables)
    if isinstance(data, str | Path):
        columns = _columns_of_text(Path(data), variables, options)
    elif isinstance(data, Mapping):
        columns = {name: list(values) for name, values in data.items()}
    else:
        msg = (
            "data must be the path of a text file, a mapping of columns or an "
            f"IncompleteData. Got {type(data).__name__} instead."
        )
        raise DataError(msg)
    markers = options.get("missing")
    markers = MARKERS if markers is None else tuple(markers)
    decimal = options.get("decimal") or "."
    listed = []
    for variable in variables:
        if variable.name not in columns:
            msg = f"the table has no column {variable.name!r}, which the result has."
            raise Lie(msg)
        listed.append(_codes(columns[variable.name], variable, markers, decimal))
    return Rows(list(zip(*listed, strict=True)), _weights(columns, weights))


def _of_codes(data: Any, variables: Sequence[Variable]) -> Rows:
    index = {name: i for i, name in enumerate(data.names)}
    columns = []
    for variable in variables:
        if variable.name not in index:
            msg = f"the table has no column {variable.name!r}, which the result has."
            raise Lie(msg)
        own = data.states[index[variable.name]]
        code = {i: _code(label, variable) for i, label in enumerate(own)}
        columns.append(
            [code.get(c, MISSING) for c in data.codes[:, index[variable.name]].tolist()]
        )
    weights = getattr(data, "weights", None)
    return Rows(
        list(zip(*columns, strict=True)),
        None if weights is None else _whole(weights.tolist()),
    )


def _code(label: Any, variable: Variable) -> int:
    for code, own in enumerate(variable.states):
        if own == label and isinstance(own, bool) == isinstance(label, bool):
            return code
    msg = f"the table has a state {label!r} of {variable.name!r}, the result has not."
    raise Lie(msg)


def _columns_of_text(
    path: Path, variables: Sequence[Variable], options: Mapping[str, Any]
) -> dict[str, list[str]]:
    if path.name.lower().removesuffix(".gz").endswith((".xlsx", ".parquet", ".arrow")):
        msg = f"{path.name!r} is no text file. Write the table as CSV first."
        raise DataError(msg)
    content = read_bytes(path)
    try:
        text = content.decode(options.get("encoding") or "utf-8-sig").lstrip("\ufeff")
    except (LookupError, UnicodeDecodeError) as error:
        msg = f"cannot read {str(path)!r} as text: {error}."
        raise DataError(msg) from None
    wanted = {variable.name for variable in variables}
    given = options.get("delimiter")
    best: list[list[str]] = []
    for delimiter in [given] if given else _DELIMITERS:
        lines = [
            row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row
        ]
        if options.get("header") is False or options.get("names"):
            width = len(lines[0]) if lines else 0
            names = options.get("names") or [f"x{i}" for i in range(width)]
            lines.insert(0, list(names))
        if lines and (not best or wanted <= {name.strip() for name in lines[0]}):
            best = lines
    if not best:
        msg = f"{str(path)!r} has no rows."
        raise DataError(msg)
    names = [name.strip() for name in best[0]]
    for number, row in enumerate(best[1:]):
        if len(row) != len(names):
            msg = (
                f"row {number} of {path.name!r} has {len(row)} cells, not {len(names)}."
            )
            raise DataError(msg)
    columns = zip(*best[1:], strict=True) if len(best) > 1 else [()] * len(names)
    return {name: list(own) for name, own in zip(names, columns, strict=True)}


def _codes(
    column: Sequence[Any], variable: Variable, markers: Sequence[str], decimal: str
) -> list[int]:
    known: dict[Any, int] = {}
    codes = []
    for row, value in enumerate(column):
        key = (type(value), value)
        try:
            code = known.get(key)
        except TypeError:
            code = None
        if code is None:
            code = known[key] = _code_of(value, row, variable, markers, decimal)
        codes.append(code)
    return codes


def _code_of(
    value: Any, row: int, variable: Variable, markers: Sequence[str], decimal: str
) -> int:
    if value is None or value != value:
        return MISSING
    stripped = value.strip() if isinstance(value, str) else value
    if stripped in markers and (
        variable.cuts is not None or value not in variable.states
    ):
        return MISSING
    number = _number(stripped, decimal)
    if variable.cuts is not None:
        if number is not None:
            return bisect_left(variable.cuts, number)
    else:
        for text in (value, stripped):
            for code, state in enumerate(variable.states):
                if state == text or (isinstance(text, str) and str(state) == text):
                    return code
        for code, state in enumerate(variable.states):
            if number is not None and _number(state, ".") == number:
                return code
    msg = f"row {row} has {value!r:.60} in {variable.name!r}, which is no state there."
    raise Lie(msg)


def _number(value: Any, decimal: str) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value.replace(decimal, ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        return None


def _weights(columns: Mapping[str, Sequence[Any]], name: Any) -> list[int] | None:
    if name is None:
        return None
    if name not in columns:
        msg = f"the table has no column {name!r}, which the result takes for weights."
        raise Lie(msg)
    return _whole([_number(value, ".") for value in columns[name]])


def _whole(weights: Sequence[float | None]) -> list[int]:
    if any(weight is None or weight < 0 or weight != int(weight) for weight in weights):
        msg = "row weights that are no whole numbers cannot be checked."
        raise DataError(msg)
    return [int(weight or 0) for weight in weights]
