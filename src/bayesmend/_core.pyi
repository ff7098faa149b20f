"""The compiled core: encoded integers in, numbers out."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


class CsvProblem:
    """Where and why a text could not be read."""

    @property
    def kind(self) -> str: ...

    @property
    def position(self) -> int: ...

    @property
    def line(self) -> int: ...

    @property
    def column(self) -> int: ...

    @property
    def found(self) -> int: ...

    @property
    def expected(self) -> int: ...

    @property
    def text(self) -> str: ...

class CsvHeader:
    """The first line of a delimited text."""

    @property
    def names(self) -> list[str]: ...

    @property
    def problem(self) -> CsvProblem: ...

class CsvTable:
    """Cells that wait for the order of the states."""

    @property
    def n_rows(self) -> int: ...

    @property
    def problem(self) -> CsvProblem: ...

    def labels(self, column: int) -> list[str]: ...

    def is_truncated(self, column: int) -> bool: ...

    def numbers(self, column: int) -> NDArray[numpy.float64]: ...

    def codes(self, columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], tables: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 0) -> NDArray[numpy.uint8]: ...

def read_csv_header(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], delimiter: str) -> CsvHeader: ...

def read_csv(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], delimiter: str, markers: Sequence[str], numeric: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int = 0, chunk_bytes: int = 0) -> CsvTable: ...

def csv_line(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], delimiter: str, row: int) -> int: ...

def csv_line_of_label(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], delimiter: str, column: int, label: str) -> int: ...

def write_csv_rows(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], first: int, last: int, texts: Sequence[Sequence[str]], extra: Sequence[str], delimiter: str) -> bytes: ...

def distinct_rows(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int = 0) -> tuple[NDArray[numpy.int64], NDArray[numpy.int64], NDArray[numpy.int64]]: ...
