"""Write a coded table as delimited text that reads back identically.

Layer: the boundary of IncompleteData -> file, the counterpart of ``files``.
"""

import gzip
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayesmend import _core
from bayesmend.data.csv import DELIMITERS, TEXT_SUFFIXES, data_suffix
from bayesmend.data.sources import Origin
from bayesmend.data.states import BLANKS, MISSING, Label, check_markers
from bayesmend.errors import DataError, ParameterError

_ROWS_AT_A_TIME = 1 << 16


def csv_chunks(
    names: Sequence[str],
    states: Sequence[tuple[Label, ...]],
    codes: NDArray[np.uint8],
    *,
    weights: tuple[str, NDArray[np.float64]] | None,
    missing: Iterable[str],
    delimiter: str,
) -> Iterator[bytes]:
    """Yield the text of a table piece by piece, the header first."""
    markers = check_markers(missing)
    hole = _missing_text(markers, has_missing=bool(np.any(codes == MISSING)))
    if hole == "" and len(names) == 1 and weights is None:
        hole = '""'  # a blank line is easily lost
    texts = [
        [*(_state_text(name, s, markers, delimiter) for s in labels), hole]
        for name, labels in zip(names, states, strict=True)
    ]
    header = [*names, *([weights[0]] if weights else [])]
    line = delimiter.join(_quoted(name, *DELIMITERS, delimiter) for name in header)
    yield _encode(f"{line}\n")
    cells = np.ascontiguousarray(codes.T)
    for first in range(0, len(codes), _ROWS_AT_A_TIME):
        last = min(first + _ROWS_AT_A_TIME, len(codes))
        extra = [_number_text(w) for w in weights[1][first:last]] if weights else []
        yield _core.write_csv_rows(cells, first, last, texts, extra, delimiter)


def text_chunks(
    names: Sequence[str], columns: Sequence[Sequence[str]], delimiter: str
) -> Iterator[bytes]:
    """Yield a table of plain text piece by piece, the header first.

    Slower than ``csv_chunks``, for columns with more labels than a variable has.
    """
    yield _encode(
        delimiter.join(_quoted(name, *DELIMITERS, delimiter) for name in names) + "\n"
    )
    # An empty field needs quotes only where it would be a whole line.
    keep = len(names) == 1
    cells = [
        [_quoted(text, delimiter) if text or keep else "" for text in texts]
        for texts in columns
    ]
    for first in range(0, len(cells[0]), _ROWS_AT_A_TIME):
        block = [texts[first : first + _ROWS_AT_A_TIME] for texts in cells]
        lines = map(delimiter.join, zip(*block, strict=True))
        yield _encode("".join(f"{line}\n" for line in lines))


def label_texts(
    name: str,
    labels: Sequence[Label],
    codes: NDArray[np.uint8],
    missing: Iterable[str],
) -> list[str]:
    """Return the cells of a variable as text that reads back identically."""
    markers = check_markers(missing)
    hole = _missing_text(markers, has_missing=bool(np.any(codes == MISSING)))
    texts = [_plain_text(name, label, markers) for label in labels]
    texts += [hole] * (MISSING + 1 - len(texts))
    return [texts[code] for code in codes.tolist()]


def write_chunks(path: str | os.PathLike[str], chunks: Iterator[bytes]) -> None:
    """Write a file, packed when named .gz; it appears whole or not at all."""
    path = Path(path)
    start = next(chunks)  # problems with the table come before any file
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        message = f"cannot write {str(path)!r}: {error.strerror}."
        raise DataError(message) from error
    try:
        with os.fdopen(handle, "wb") as file:
            if path.suffix.lower() == ".gz":
                with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                    packed.write(start)
                    packed.writelines(chunks)
            else:
                file.write(start)
                file.writelines(chunks)
        Path(temporary).chmod(_usual_mode(path))
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def name_weights(
    weights: NDArray[np.float64] | None,
    origin: Origin,
    names: Sequence[str],
    name: str | None,
) -> tuple[str, NDArray[np.float64]] | None:
    """Return the weights with the name of their column, which they must have."""
    if weights is None:
        return None
    if name is None and origin.weights is not None:
        name = str(origin.weights[0])
    if name is None or name in names:
        message = "the row weights need a column of their own. Name it in weights=."
        raise ParameterError(message)
    return name, weights


def default_delimiter(path: str | os.PathLike[str]) -> str:
    """Return the delimiter that reading chooses for a name."""
    return TEXT_SUFFIXES.get(data_suffix(Path(path))) or ","


def _missing_text(markers: frozenset[str], *, has_missing: bool) -> str:
    if not has_missing or "" in markers:
        return ""
    if not markers:
        message = "missing cells need a marker. Give one in missing=."
        raise DataError(message)
    return min(markers)


def _state_text(
    name: str, state: Label, markers: frozenset[str], delimiter: str
) -> str:
    return _quoted(_plain_text(name, state, markers), delimiter)


def _plain_text(name: str, state: Label, markers: frozenset[str]) -> str:
    text = _number_text(state) if isinstance(state, float) else str(state)
    if text.strip(BLANKS) in markers:
        message = (
            f"state {text!r} of variable {name!r} would read back as missing. Rename"
            " it, or list other markers in missing=."
        )
        raise DataError(message)
    _encode(text)
    return text


def _quoted(text: str, *marks: str) -> str:
    if text and not any(mark in text for mark in (*marks, '"', "\n", "\r")):
        return text
    return '"' + text.replace('"', '""') + '"'


def _number_text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _encode(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        part = error.object[error.start : error.end]
        message = f"{part!r} cannot be written as UTF-8. Rename the variable or state."
        raise DataError(message) from None


def _usual_mode(path: Path) -> int:
    """Keep the permissions of a file replaced; a new one gets the usual ones."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
