"""Raw rows: what each method made of each run, in a file that only ever grows.

One JSON object a line. A row is written in one piece as soon as it is known, so that a
process killed at any moment loses no more than the row it was writing; what is left of
that row is recognised by its missing line end and dropped.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bayesmend.errors import DataError, ParameterError
from experiments.design import Experiment, Measure, fingerprint
from experiments.run.fields import find_fault

__all__ = ["RawRows", "Row", "Say", "check_data", "check_protocol", "read_rows"]

Row = dict[str, Any]
Say = Callable[[str], None]
"""Told what a person should know, a sentence at a time."""


def read_rows(path: Path, *, say: Say, measures: Sequence[Measure] = ()) -> list[Row]:
    """Read raw rows; a torn last line is left out, with a message.

    The fields that `measures` name must hold numbers.

    Raises
    ------
    DataError
        When there is no such file, or a line is not a raw row.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        message = f"there are no raw rows in '{path}'. Run the experiment first."
        raise DataError(message) from None
    whole, torn = _split(content)
    if torn:
        say(_torn(path, torn))
    return _parse(path, whole, measures)


class RawRows:
    """The raw rows of an experiment, open for more of them.

    Parameters
    ----------
    path : Path
        The file; made if needed, with its folder.
    say : callable
        Told about a torn last line.
    measures : sequence of Measure
        Fields that must hold numbers.
    """

    def __init__(
        self, path: Path, *, say: Say, measures: Sequence[Measure] = ()
    ) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            self._lock()
            whole, torn = _split(path.read_bytes())
            self.rows = _parse(path, whole, measures)
            if torn:
                os.ftruncate(self._handle, len(whole))
                say(_torn(path, torn))
        except BaseException:
            os.close(self._handle)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._handle)

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a row; it is in the file when this returns."""
        plain = _plain(row)
        line = json.dumps(plain, ensure_ascii=False, allow_nan=False) + "\n"
        rest = memoryview(line.encode())
        while rest:
            rest = rest[os.write(self._handle, rest) :]
        self.rows.append(plain)

    def _lock(self) -> None:
        """Refuse a file that another process writes to; the lock dies with it."""
        try:
            import fcntl
        except ImportError:  # not on Windows, where two runs at once go unnoticed
            return
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = (
                f"another run is writing to '{self.path}'. Wait for it, or name "
                "another folder with --out."
            )
            raise ParameterError(message) from None


def check_protocol(experiment: Experiment, rows: Iterable[Row], path: Path) -> None:
    """Raise ParameterError when rows were made under another protocol.

    Rows of methods or settings that the experiment does not have are accepted: they are
    a part that was left out this time.
    """
    expected = {
        (setting.name, method.name): experiment.parameters(setting, method)
        for setting in experiment.settings
        for method in experiment.methods
    }
    for row in rows:
        if row["experiment"] != experiment.name:
            message = (
                f"'{path}' holds rows of {row['experiment']}, not of "
                f"{experiment.name}. Name another folder with --out."
            )
            raise ParameterError(message)
        wanted = expected.get((row["setting"], row["method"]))
        if wanted is not None and fingerprint(wanted) != row["design"]:
            message = (
                f"'{path}' holds rows of another protocol (method {row['method']}: "
                f"{_difference(row.get('parameters', {}), wanted)}). Repeat the "
                "options they were made with, or name another folder with --out."
            )
            raise ParameterError(message)


def check_data(
    rows: Iterable[Row], present: Mapping[str, Mapping[str, str]] | None = None
) -> None:
    """Raise DataError when rows of a setting were made with different data files.

    Parameters
    ----------
    rows : iterable of dict
        Raw rows; old ones without checksums say nothing.
    present : mapping of str to mapping, optional
        The checksums of the files that are there now, by setting and file.
    """
    seen = {setting: dict(files) for setting, files in (present or {}).items()}
    for row in rows:
        known = seen.setdefault(row["setting"], {})
        for file, found in row.get("data", {}).items():
            other = known.setdefault(file, found)
            if other != found:
                message = (
                    f"rows of setting {row['setting']} were made with another file "
                    f"{file} (SHA-256 {found}..., not {other}...). Put the file they "
                    "were made with back, or start anew in another folder with --out."
                )
                raise DataError(message)


def _difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Say which parameters differ, old value first.

    Examples
    --------
    >>> _difference({"seed": 1, "method": {"a": 2}}, {"seed": 3, "method": {"a": 2}})
    'seed was 1, is 3'
    """
    before, after = _flat(old), _flat(new)
    changed = [
        f"{name} was {_show(before, name)}, is {_show(after, name)}"
        for name in sorted(before.keys() | after.keys())
        if before.get(name, ...) != after.get(name, ...)
    ]
    return "; ".join(changed) or "its fingerprint differs"


def _flat(parameters: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _show(parameters: Mapping[str, Any], name: str) -> str:
    return json.dumps(parameters[name]) if name in parameters else "absent"


def _split(content: bytes) -> tuple[bytes, bytes]:
    """Cut off what follows the last line end."""
    end = content.rfind(b"\n") + 1
    return content[:end], content[end:]


def _torn(path: Path, torn: bytes) -> str:
    return (
        f"The last line of '{path}' was not written to its end ({len(torn)} bytes) and "
        "is left out; its run is done again."
    )


def _parse(path: Path, content: bytes, measures: Sequence[Measure]) -> list[Row]:
    rows = []
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            row = json.loads(line)
            fault = find_fault(row, measures)
        except ValueError:
            fault = "it is no JSON"
        if fault:
            message = (
                f"'{path}', line {number}, is not a raw row: {fault}. Remove that "
                "line, or name another folder with --out."
            )
            raise DataError(message)
        rows.append(row)
    return rows


def _plain(value: Any) -> Any:
    """Make a value fit for JSON: what is not a finite number becomes null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
