"""A file that need not fit into memory: its columns, and its rows block by block.

Every block is a `Source` of its own, with the columns of the file. What a text is made
of is found out at its beginning, as it is of a whole file.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

from bayesmend._files import file_suffix, is_file, is_folder
from bayesmend.data.csv import GUESSED_ENCODINGS, CsvSource, tell_encoding
from bayesmend.data.files import FileOptions
from bayesmend.data.sniff import find_encoding
from bayesmend.data.sources import (
    FRAME_SUFFIXES,
    PARQUET_SUFFIXES,
    Source,
    open_table,
)
from bayesmend.errors import BayesmendError, DataError, MissingDependencyError

__all__ = ["BLOCK", "BlockFile", "kind_of", "open_blocks"]

BLOCK = 1 << 25
"""Bytes of text, or of cells at 32 bytes each, that are read at a time."""

_HEAD = 1 << 24  # more than the layout of a text is found out from
_LONGEST_ROW = 1 << 30  # bytes; a quote that never closes is looked for so far
_GZIP = b"\x1f\x8b"


class BlockFile(ABC):
    """A table in a file, whose columns are known and whose rows come block by block."""

    kind: str
    path: Path
    headers: tuple[object, ...]
    dtypes: tuple[object, ...]
    n_rows: int | None = None
    """How many rows there are, where the file tells."""
    n_bytes_of_row: float = 1.0
    """About how many bytes of the file a row takes."""
    notes: Sequence[str] = ()
    doubts: Sequence[str] = ()
    decimal: str = "."
    delimiter: str = ","

    @abstractmethod
    def blocks(self) -> Iterator[Source]:
        """Yield the rows, as sources that are yet to be prepared; one at least."""

    @property
    def expected_rows(self) -> float:
        """About how many rows there are."""
        if self.n_rows is not None:
            return self.n_rows
        return self.path.stat().st_size / self.n_bytes_of_row

    def like(self, files: FileOptions) -> FileOptions:
        """Return how another part of the same table is to be read."""
        return files


def open_blocks(path: Path, files: FileOptions) -> BlockFile:
    """Open a file of delimited text, Parquet or Arrow."""
    if is_folder(path):
        message = f"{str(path)!r} is a directory. Name the files in it: '{path}/*'."
        raise DataError(message)
    if not is_file(path):
        message = f"cannot read {str(path)!r}: no such file."
        raise DataError(message)
    if kind_of(path) == "frame":
        files.refuse(f"a {file_suffix(path)} file")
        return FrameFile(path)
    return TextFile(path, files)


def kind_of(path: Path) -> str:
    """Tell by the name of a file whether it holds a frame or text."""
    is_frame = file_suffix(path) in FRAME_SUFFIXES and path.suffix != ".gz"
    return "frame" if is_frame else "text"


# --- delimited text -------------------------------------------------------------------


class TextFile(BlockFile):
    """Delimited text, packed by gzip or not."""

    kind = "text"

    def __init__(self, path: Path, files: FileOptions) -> None:
        self.path = path
        with self._stream() as file:
            raw = file.read(_HEAD)
        self._encoding = files.encoding or _encoding_of(raw)
        head, is_whole = self._head()
        source = CsvSource(path, replace(files, encoding="utf-8"), head)
        self.notes, self.doubts = source.notes, source.doubts
        if files.encoding is None and self._encoding in GUESSED_ENCODINGS:
            self.notes = [tell_encoding(self._encoding), *self.notes]
        self.headers, self.dtypes = source.headers, source.dtypes
        self.decimal, self.delimiter = source.decimal, source.delimiter
        self._begun = source
        self._skipped = source.bytes_above_rows(head)
        source.release_text()
        n_lines = max(head.count(source.line_end), 1)
        share = len(head) / n_lines
        self.n_bytes_of_row = share
        if raw.startswith(_GZIP) or not is_whole:
            packed = path.stat().st_size
            self.n_bytes_of_row = share * (packed / len(head) if is_whole else 1.0)

    def like(self, files: FileOptions) -> FileOptions:
        """Return how another part of the same table is to be read."""
        return replace(
            files,
            delimiter=self.delimiter,
            decimal=self.decimal,
            header=self._begun.has_header,
        )

    def blocks(self) -> Iterator[Source]:
        """Yield the rows, whole lines at a time."""
        rest, n_lines, is_begun = b"", 0, False
        to_skip = self._skipped
        for piece in self._pieces():
            text = rest + piece
            if to_skip is not None:
                if len(text) < to_skip:
                    rest = text
                    continue
                n_lines = text.count(self._begun.line_end, 0, to_skip)
                text, to_skip = text[to_skip:], None
            end = self._begun.end_of_rows(text)
            if end == 0 and len(text) > _LONGEST_ROW:
                end = len(text)  # the reader says what is wrong
            if end:
                yield TextBlock(self._begun, text[:end], n_lines)
                is_begun = True
                n_lines += text.count(self._begun.line_end, 0, end)
            rest = text[end:]
        has_rest = to_skip is None and bool(rest.strip(b"\r\n"))
        if has_rest or not is_begun:
            yield TextBlock(self._begun, rest if has_rest else b"", n_lines)

    def _head(self) -> tuple[bytes, bool]:
        """Return whole lines from the beginning, and whether these are all."""
        head = b""
        for piece in self._pieces():
            head += piece
            if len(head) > _HEAD:
                break
        else:
            return head, True
        last = max(head.rfind(b"\n", 0, _HEAD), head.rfind(b"\r", 0, _HEAD))
        return head[: last + 1] or head, False

    def _pieces(self) -> Iterator[bytes]:
        """Yield the text in UTF-8."""
        name = codecs.lookup(self._encoding).name
        with self._stream() as file:
            if name in ("utf-8", "utf-8-sig"):
                while piece := file.read(BLOCK):
                    yield piece
                return
            decoder = codecs.getincrementaldecoder(name)()
            n_bytes, is_first = 0, True
            while True:
                piece = file.read(BLOCK)
                try:
                    text = decoder.decode(piece, final=not piece)
                except UnicodeError as error:
                    message = (
                        f"{self.path.name} is not {name}: a byte after the first"
                        f" {n_bytes + getattr(error, 'start', 0):,} cannot be read."
                        " Give another encoding."
                    )
                    raise DataError(message) from None
                n_bytes += len(piece)
                yield (text.removeprefix("\ufeff") if is_first else text).encode(
                    errors="replace"
                )
                is_first = False
                if not piece:
                    return

    @contextmanager
    def _stream(self) -> Iterator[IO[bytes]]:
        """Open the file, unpacked where gzip packed it."""
        try:
            with self.path.open("rb") as file:
                is_packed = file.read(2) == _GZIP
                file.seek(0)
                if not is_packed:
                    yield file
                    return
                with gzip.GzipFile(fileobj=file) as unpacked:
                    yield unpacked  # type: ignore[misc]
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            message = (
                f"{self.path.name} is not a complete gzip file. Compress it again."
            )
            raise DataError(message) from error
        except OSError as error:
            message = f"cannot read {str(self.path)!r}: {error.strerror or error}."
            raise DataError(message) from error


def _encoding_of(raw: bytes) -> str:
    """Return the encoding of a text that begins like this."""
    if b"\0" in raw:  # wide, or no text
        return find_encoding(raw[: len(raw) // 4 * 4])
    last = max(raw.rfind(b"\n"), raw.rfind(b"\r"))
    return find_encoding(raw[: last + 1] or raw)


class TextBlock(CsvSource):
    """Some rows of a text that was begun to be read."""

    def __init__(self, begun: CsvSource, text: bytes, n_lines: int) -> None:
        self.path, self.headers, self.dtypes = begun.path, begun.headers, begun.dtypes
        self.notes, self.doubts = [], []
        self.lines_before = n_lines
        self._check_zeros(text)
        self.begin_rows(begun, text)


# --- frames ---------------------------------------------------------------------------


class FrameFile(BlockFile):
    """A Parquet or Arrow file, read by pyarrow or, without it, by polars."""

    kind = "frame"

    def __init__(self, path: Path) -> None:
        self.path = path
        self._is_parquet = file_suffix(path) in PARQUET_SUFFIXES
        with self._explained():
            names, self.n_rows = self._open()
        self.headers = tuple(names)
        self.dtypes = self._types(len(names))

    def blocks(self) -> Iterator[Source]:
        """Yield the rows, so many at a time as fit into a block."""
        n_rows = max(1, BLOCK // (32 * max(len(self.headers), 1)))
        frames = self._frames(n_rows)
        while True:
            with self._explained():
                frame = next(frames, None)
            if frame is None:
                return
            source = open_table(frame)
            source.path = self.path
            yield source

    def _open(self) -> tuple[list[str], int]:
        if _pyarrow() is not None:
            if self._is_parquet:
                with self._parquet() as file:
                    return file.schema_arrow.names, file.metadata.num_rows
            with self._arrow() as file:
                names = file.schema.names
                sizes = map(file.get_batch, range(file.num_record_batches))
                return names, sum(batch.num_rows for batch in sizes)
        import polars as pl

        lazy = self._scan()
        return list(lazy.collect_schema()), lazy.select(pl.len()).collect().item()

    def _types(self, n_columns: int) -> tuple[object, ...]:
        """Return the types of the library that reads whole files."""
        try:
            return tuple(self._scan().collect_schema().values())
        except ImportError:
            pass
        source = next(self._frames(1), None)
        if source is None:
            return (None,) * n_columns
        return open_table(source).dtypes

    def _frames(self, n_rows: int) -> Iterator[Any]:
        if _pyarrow() is None:
            for first in range(0, max(self.n_rows or 0, 1), n_rows):
                yield self._scan().slice(first, n_rows).collect()
        elif self._is_parquet:
            import pyarrow as pa

            with self._parquet() as file:
                for batch in file.iter_batches(batch_size=n_rows):
                    yield pa.Table.from_batches([batch])
                if not self.n_rows:
                    yield _without_rows(file.schema_arrow)
        else:
            import pyarrow as pa

            with self._arrow() as file:
                for number in range(file.num_record_batches):
                    batch = file.get_batch(number)
                    for first in range(0, batch.num_rows, n_rows):
                        yield pa.Table.from_batches([batch.slice(first, n_rows)])
                if not self.n_rows:
                    yield _without_rows(file.schema)

    def _scan(self) -> Any:
        import polars as pl

        scan = pl.scan_parquet if self._is_parquet else pl.scan_ipc
        return scan(self.path)

    def _parquet(self) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(self.path)

    def _arrow(self) -> Any:
        import pyarrow as pa

        return pa.ipc.open_file(pa.memory_map(str(self.path)))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what is wrong with the file, or with what is to read it."""
        foreign: tuple[type[BaseException], ...] = (Exception,)
        try:
            import polars as pl

            foreign = (Exception, pl.exceptions.PanicException)
        except ImportError:
            pass
        try:
            yield
        except BayesmendError:
            raise
        except ImportError as error:
            message = (
                f"reading {self.path.name} needs pyarrow or polars. Install one: pip"
                " install 'bayesmend[frames]'."
            )
            raise MissingDependencyError(message) from error
        except foreign as error:
            kind = "Parquet" if self._is_parquet else "Arrow"
            message = f"{self.path.name} is not a readable {kind} file: {error}."
            raise DataError(message) from error


def _without_rows(schema: Any) -> Any:
    """Return a table whose columns have a chunk each, as others have."""
    import pyarrow as pa

    columns = [
        pa.DictionaryArray.from_arrays(
            pa.array([], f.type.index_type), pa.array([], f.type.value_type)
        )
        if pa.types.is_dictionary(f.type)
        else pa.array([], f.type)
        for f in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        return None
    return pyarrow
