"""Work that outlives its process: steps kept in a folder, and found there again.

A step is a piece of work whose outcome depends on nothing but what it is given: some
arrays and numbers, and a source of random numbers. Its outcome is kept under a digest
of these. Whoever calls again with the same table and options goes the same way from the
beginning, and takes from the folder what it finds: so it ends where a call that was
never ended would have, to the last bit. Nothing has to know where the last one was, and
what is missing from the folder is worked out once more.

The folder holds ``checkpoint.json``, which tells what it is of; ``steps``, to which
outcomes are added one after the other, each with a digest of its own; files ``*.state``
of searches that are one long step, replaced as a whole; and ``lock``, which the process
at work holds and any end of it gives back. There is nothing in it that could run.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import secrets
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayesmend._clock import Clock
from bayesmend._files import PathLike, check_path, lock_file, write_chunks
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.data.states import listing, quantity
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError, ShortfallWarning
from bayesmend.seed import Seed, as_generator

__all__ = ["Checkpoint", "Kept", "Search", "State", "digest_of", "opened"]

FORMAT = "bayesmend-checkpoint"
VERSION = 1

_ABOUT, _STEPS, _LOCK, _STATE = "checkpoint.json", "steps", "lock", ".state"
_MAGIC = b"bayesmend steps 1\n"
# Lengths of what a record says and of its arrays, and the digest of all of it.
_HEAD = struct.Struct(">QQ32s")
_CHUNK = 2**20  # bytes that are looked through at once
# A step that took less is not worth its room: doing it again takes no longer.
_LEAST_SECONDS = 1e-3
# What may be lost with the power, which no end of a process alone takes away.
_SYNC_SECONDS = 10.0
# States are written again after so many seconds, and take at most such a share of them.
_STATE_SECONDS, _STATE_SHARE = 1.0, 0.02
_ARRAYS = {"|u1", "|b1", "<i4", "<u4", "<i8", "<u8", "<f8"}
_MOST_SHOWN = 4  # differences that are named

# What comes of taking for sense what is none.
_NONSENSE = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)

Plain: TypeAlias = Any
"""None, booleans, numbers, text and arrays; lists of these, and mappings by text."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Kept:
    """Where the steps of a call are kept, if anywhere.

    Parameters
    ----------
    steps : _Steps, optional
        The file; None keeps nothing.
    generator : Generator
        Source of randomness of the call.
    path : tuple of str
        Which part of the call this is.

    Examples
    --------
    >>> Kept().step("sum", lambda: 1 + 1)
    2
    """

    steps: _Steps | None = None
    generator: np.random.Generator = field(default_factory=np.random.default_rng)
    path: tuple[str, ...] = ()

    def part(self, *names: object) -> Kept:
        """Return where a part of the work is kept: its steps are not mixed up."""
        return replace(self, path=(*self.path, *map(str, names)))

    @contextmanager
    def aside(self, *names: object) -> Iterator[Kept]:
        """Keep a part of the work in a file of its own, until it is done.

        Whoever uses it keeps the outcome of the whole part.
        """
        own = self.part(*names)
        if self.steps is None:
            yield own
            return
        name = f"{_STEPS}-{digest_of([*own.path])[:24]}"
        try:
            steps = _Steps(self.steps.folder, name)
        except OSError as error:
            self.steps.folder.warn_of(error)
            yield replace(own, steps=None)
            return
        try:
            yield replace(own, steps=steps)
        except BaseException:
            steps.close()
            raise
        steps.close(for_good=True)
        for state in steps.states:
            with suppress(OSError):
                (self.steps.folder.path / state).unlink()

    @property
    def is_kept(self) -> bool:
        """Whether there is a folder at all."""
        return self.steps is not None

    @property
    def seconds(self) -> float:
        """What earlier calls have spent on what is kept."""
        return 0.0 if self.steps is None else self.steps.folder.before

    def step(
        self,
        kind: str,
        work: Callable[[], Plain],
        *given: Plain,
        generator: np.random.Generator | None = None,
        clock: Clock | None = None,
        unless: Callable[[Plain], object] | None = None,
    ) -> Plain:
        """Return what work gives, from the folder where it has been done before.

        Parameters
        ----------
        kind : str
            What is done.
        work : callable
            Does it.
        *given
            All that it depends on, but for table, options, and part of the call.
        generator : Generator, optional
            What it draws from, and leaves behind as the work did.
        clock : Clock, optional
            What it is timed by; it goes on from where it was after that step.
        unless : callable, optional
            Asked for what came out: whether that was cut short, and is not to be kept.
        """
        steps = self.steps
        if steps is None:
            return work()
        before = None if generator is None else _state_of(generator)
        key = digest_of([*self.path, kind, list(given), before])
        found = steps.find(key)
        if found is not None:
            with self.sound():
                if generator is not None:
                    generator.bit_generator.state = found["after"]
                if clock is not None:
                    clock.go_on_from(float(found["seconds"]))
                return found["value"]
        start = time.perf_counter()
        value = work()
        took = time.perf_counter() - start
        if took >= _LEAST_SECONDS and (unless is None or not unless(value)):
            after = None if generator is None else _state_of(generator)
            seconds = None if clock is None else clock.seconds
            steps.keep(key, {"value": value, "after": after, "seconds": seconds})
        return value

    @contextmanager
    def sound(self) -> Iterator[None]:
        """Say that the folder is damaged where what is made of an outcome fails."""
        try:
            yield
        except _NONSENSE as error:
            if self.steps is None:
                raise error from None
            self.steps.folder.refuse_damage(self.steps.name)

    def state(self, name: str, *given: Plain) -> State:
        """Return where the state of one long step is kept."""
        state = State(self, name, digest_of([*self.path, name, list(given)]))
        if self.steps is not None:
            self.steps.states.add(state.file)
        return state

    @contextmanager
    def search(self, name: str, *given: Plain) -> Iterator[Search | None]:
        """Give a search of the core where to keep its state; None where nowhere."""
        if self.steps is None:
            yield None
            return
        state = self.state(name, *given)
        latest = state.load()
        try:
            yield Search(state, latest)
        except _NONSENSE:
            if latest is None:
                raise
            state.refuse_damage()


@dataclass(slots=True, repr=False, eq=False)
class State:
    """A file with the latest state of a search, replaced as a whole."""

    kept: Kept
    name: str
    key: str
    next: float = field(default_factory=lambda: time.perf_counter() + _STATE_SECONDS)

    def load(self) -> Plain:
        """Return the latest state; None where none was kept."""
        if self.kept.steps is None:
            return None
        found = self.kept.steps.folder.read_state(self.file)
        # Of another beginning: what led here has changed since, for want of time.
        if found is None or found.get("key") != self.key:
            return None
        return found.get("value")

    @property
    def is_due(self) -> bool:
        """Whether a state is worth writing: not too often, whatever that takes."""
        return self.kept.steps is not None and time.perf_counter() >= self.next

    def save(self, value: Plain) -> None:
        """Keep a state in place of the last one."""
        if self.kept.steps is None:
            return
        start = time.perf_counter()
        record = {"key": self.key, "value": value}
        self.kept.steps.folder.write_state(self.file, record)
        now = time.perf_counter()
        self.next = now + max(_STATE_SECONDS, (now - start) / _STATE_SHARE)

    def refuse_damage(self) -> NoReturn:
        """Raise ``DataError`` for a state that makes no sense."""
        assert self.kept.steps is not None
        self.kept.steps.folder.refuse_damage(self.file)

    @property
    def file(self) -> str:
        """What it is called: parts may have any name, and files may not."""
        return digest_of([*self.kept.path, self.name])[:24] + _STATE


@dataclass(slots=True, repr=False, eq=False)
class Search:
    """A state as searches of the core keep it: in bytes that they alone understand."""

    own: State
    latest: Plain

    def load(self) -> bytes | None:
        """Return the latest state; None where none was kept."""
        if self.latest is None:
            return None
        return np.asarray(self.latest, np.uint8).tobytes()

    def save(self, content: bytes) -> None:
        """Keep a state in place of the last one."""
        self.own.save(np.frombuffer(content, np.uint8))

    def wait(self) -> float:
        """Return after how many seconds a state is worth writing again."""
        return max(self.own.next - time.perf_counter(), 0.0)


Checkpoint: TypeAlias = PathLike | Kept | None
"""What a function takes as ``checkpoint``: a folder, or a part of another's."""


@contextmanager
def opened(
    checkpoint: Checkpoint,
    call: str,
    *,
    table: IncompleteData,
    seed: Seed,
    options: Mapping[str, object],
) -> Iterator[Kept]:
    """Open the folder of a call for as long as that takes.

    Parameters
    ----------
    checkpoint : path, Kept or None
        The folder; a part of what another call keeps, which then answers for table and
        options; or none.
    call : str
        The function.
    table : IncompleteData
        What it works on.
    seed : int, Generator or None
        Its seed; where there is none, one is drawn and kept.
    options : mapping of str to object
        All options that the answer depends on, by their names.
    """
    if checkpoint is None:
        yield Kept(None, as_generator(seed))
        return
    if isinstance(checkpoint, Kept):
        yield replace(checkpoint, generator=as_generator(seed))
        return
    check_path(checkpoint)
    given = as_generator(seed)  # before a folder is made: it may be no seed
    about = {
        "format": FORMAT,
        "version": VERSION,
        "bayesmend": _own_version(),
        "call": call,
        "options": {name: _told(value) for name, value in options.items()},
        "table": _table_told(table),
        "seed": _seed_told(seed),
        "drawn": secrets.randbits(128) if seed is None else None,
    }
    folder = _Folder.opened(Path(checkpoint), json.loads(json.dumps(about)))
    try:
        if seed is None:
            given = np.random.default_rng(folder.about["drawn"])
        yield Kept(folder.steps, given)
    finally:
        folder.close()


class _Folder:
    """An open folder, which no other process has open."""

    def __init__(self, path: Path, about: dict[str, Any], lock: int) -> None:
        self.path, self.about, self._lock = path, about, lock
        self.before = 0.0
        self._opened = time.perf_counter()
        self.is_full = False
        for state in path.glob(f"*{_STATE}"):
            self.before = max(self.before, _spent_on(state))
        self.steps = _Steps(self, _STEPS)

    @classmethod
    def opened(cls, path: Path, about: dict[str, Any]) -> _Folder:
        """Open a folder that is new, empty, or of the same call."""
        try:
            path.mkdir(parents=True, exist_ok=True)
            flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(path / _LOCK, flags, 0o600)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            msg = f"cannot keep a checkpoint in '{path}': {reason}."
            raise DataError(msg) from None
        try:
            if not lock_file(handle):
                msg = (
                    f"another process is at work on the checkpoint '{path}'. Wait for "
                    f"it to end, or name another folder in {spell('checkpoint')}."
                )
                raise ParameterError(msg)
            return cls(path, _same_call(path, about), handle)
        except OSError as error:
            os.close(handle)
            msg = f"cannot use the checkpoint '{path}': {error.strerror or error}."
            raise DataError(msg) from None
        except BaseException:
            os.close(handle)
            raise

    def close(self) -> None:
        """Give the folder back."""
        self.steps.close()
        os.close(self._lock)

    @property
    def spent(self) -> float:
        """Seconds that this call and those before it have taken."""
        return self.before + time.perf_counter() - self._opened

    def refuse_damage(self, name: str) -> NoReturn:
        """Raise ``DataError`` for a file that nobody can have written like this."""
        msg = (
            f"the checkpoint '{self.path}' is damaged: {name!r} in it was changed "
            "since it was written. Delete the folder, and begin anew."
        )
        raise DataError(msg) from None

    def warn_of(self, error: OSError) -> None:
        """Say that there is no room, once: the work goes on all the same."""
        if not self.is_full:
            self.is_full = True
            warn(
                f"the checkpoint '{self.path}' cannot be written: "
                f"{error.strerror or error}. The work goes on, and what was kept "
                "before stays as it is.",
                ShortfallWarning,
            )

    def read_state(self, name: str) -> dict[str, Plain] | None:
        """Return what a file of a state holds; None where there is none."""
        try:
            content = (self.path / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            msg = f"cannot read the checkpoint '{self.path}': {error.strerror}."
            raise DataError(msg) from None
        if len(content) < _HEAD.size:
            self.refuse_damage(name)
        n_told, n_body, digest = _HEAD.unpack(content[: _HEAD.size])
        rest = content[_HEAD.size :]
        if len(rest) != n_told + n_body:
            self.refuse_damage(name)
        if hashlib.sha256(content[:16] + rest).digest() != digest:
            self.refuse_damage(name)
        with self.making_sense(name):
            return _record_in(rest[:n_told], rest[n_told:])

    def write_state(self, name: str, record: dict[str, Plain]) -> None:
        """Replace a file of a state, whole or not at all."""
        if self.is_full:
            return
        try:
            write_chunks(
                self.path / name, _packed({"spent": self.spent, "record": record})
            )
        except DataError as error:
            if not isinstance(error.__cause__, OSError):
                raise
            self.warn_of(error.__cause__)

    @contextmanager
    def making_sense(self, name: str) -> Iterator[None]:
        """Refuse a file where what is made of it fails."""
        try:
            yield
        except _NONSENSE:
            self.refuse_damage(name)


def _spent_on(state: Path) -> float:
    """Return the seconds that a file of a state tells; what is wrong is found later."""
    try:
        with state.open("rb") as file:
            n_told, _, _ = _HEAD.unpack(file.read(_HEAD.size))
            if n_told > state.stat().st_size:
                return 0.0
            spent = float(json.loads(file.read(n_told))["spent"])
    except (OSError, struct.error, *_NONSENSE):
        return 0.0
    return spent if math.isfinite(spent) else 0.0


class _Steps:
    """A file of outcomes, one after the other, each under a digest."""

    def __init__(self, folder: _Folder, name: str) -> None:
        self.folder, self.name = folder, name
        self.states: set[str] = set()  # files of searches beside this one
        self._guard = Lock()
        self._places: dict[str, tuple[int, int, int]] = {}
        self._end = 0
        self._synced = time.perf_counter()
        flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
        flags |= getattr(os, "O_BINARY", 0)
        handle = os.open(folder.path / name, flags, 0o666)
        self._file = os.fdopen(handle, "r+b", buffering=0)
        try:
            self._look_through()
            # A process that was killed leaves the last one incomplete.
            self._file.truncate(self._end)
            if not self._end:
                self._file.seek(0)
                self._file.write(_MAGIC)
                self._end = len(_MAGIC)
        except BaseException:
            self._file.close()
            raise

    def _look_through(self) -> None:
        """Find where each record lies, and whether it is as it was written."""
        size = os.fstat(self._file.fileno()).st_size
        start = self._file.read(len(_MAGIC))
        if start != _MAGIC:
            if not _MAGIC.startswith(start):
                self.folder.refuse_damage(self.name)
            return
        self._end = len(_MAGIC)
        while self._end + _HEAD.size <= size:
            head = _read(self._file, _HEAD.size)
            n_told, n_body, digest = _HEAD.unpack(head)
            place = self._end + _HEAD.size
            if place + n_told + n_body > size:
                return
            told = _read(self._file, n_told)
            checked = hashlib.sha256(head[:16] + told)
            for begin in range(0, n_body, _CHUNK):
                checked.update(_read(self._file, min(_CHUNK, n_body - begin)))
            if checked.digest() != digest:
                self.folder.refuse_damage(self.name)
            with self.folder.making_sense(self.name):
                plain = json.loads(told)
                self._places[str(plain["key"])] = (place, n_told, n_body)
                self.folder.before = max(self.folder.before, float(plain["spent"]))
            self._end = place + n_told + n_body

    def find(self, key: str) -> dict[str, Plain] | None:
        """Return what was kept under a digest."""
        place = self._places.get(key)
        if place is None:
            return None
        start, n_told, n_body = place
        with self._guard:
            self._file.seek(start)
            told, body = _read(self._file, n_told), _read(self._file, n_body)
        with self.folder.making_sense(self.name):
            return _record_in(told, body)

    def keep(self, key: str, record: dict[str, Plain]) -> None:
        """Add a record; without room for it the work goes on all the same."""
        with self._guard:
            if self.folder.is_full:
                return
            parts = _packed({"key": key, "spent": self.folder.spent, "record": record})
            try:
                self._file.seek(self._end)
                for part in parts:
                    _write(self._file, part)
                if time.perf_counter() - self._synced > _SYNC_SECONDS:
                    self._sync()
            except OSError as error:
                with suppress(OSError):
                    self._file.truncate(self._end)
                self.folder.warn_of(error)
                return
            head, told, body = map(len, parts)
            self._places[key] = (self._end + head, told, body)
            self._end += head + told + body

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.perf_counter()

    def close(self, *, for_good: bool = False) -> None:
        """Close the file; take it away where nobody will ask for it again."""
        with self._guard:
            if not for_good:
                with suppress(OSError):
                    self._sync()
            self._file.close()
        if for_good:
            with suppress(OSError):
                (self.folder.path / self.name).unlink()


def _write(file: io.FileIO, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[file.write(left) :]


def _read(file: io.FileIO, size: int) -> bytes:
    parts: list[bytes] = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _record_in(told: bytes, body: bytes) -> dict[str, Plain]:
    record = _unpacked(json.loads(told), body)["record"]
    if not isinstance(record, dict):
        raise TypeError
    return record


# --- what a folder is of --------------------------------------------------------------


def _same_call(folder: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Return what a folder is of, made so where it is new; refuse any other."""
    path = folder / _ABOUT
    for rest in folder.glob(".*"):  # of a process that was killed as it wrote
        if rest.name.startswith((f".{_ABOUT}.", *_hidden(folder))):
            rest.unlink(missing_ok=True)
    if not path.exists():
        others = sorted(p.name for p in folder.iterdir() if p.name != _LOCK)
        if others:
            msg = (
                f"'{folder}' holds {listing([repr(name) for name in others], 3)}, and "
                f"no checkpoint. Name a new or an empty folder in "
                f"{spell('checkpoint')}."
            )
            raise ParameterError(msg)
        write_chunks(path, [json.dumps(about, indent=1).encode()])
        return about
    there = _read_about(path, folder)
    _refuse_others(folder, there, about)
    return there


def _hidden(folder: Path) -> Iterator[str]:
    return (f".{path.name}." for path in folder.glob(f"*{_STATE}"))


def _read_about(path: Path, folder: Path) -> dict[str, Any]:
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
        is_ours = there["format"] == FORMAT
        version = there["version"]
    except (LookupError, RecursionError, TypeError, ValueError):
        is_ours, version = False, None
    if not is_ours:
        msg = (
            f"'{folder}' is no checkpoint: its {_ABOUT} was changed, or is of another "
            "program. Name another folder, or delete this one and begin anew."
        )
        raise DataError(msg)
    if version != VERSION:
        msg = (
            f"the checkpoint '{folder}' is of version {version!r} of its format, and "
            f"this bayesmend reads version {VERSION}. Go on with the bayesmend that "
            "wrote it, or begin anew in another folder."
        )
        raise DataError(msg)
    return dict(there)


def _refuse_others(folder: Path, there: dict[str, Any], here: dict[str, Any]) -> None:
    """Raise ``ParameterError`` for a checkpoint of something else, and say of what."""
    try:
        found = list(_differences(there, here))
    except (AttributeError, LookupError, TypeError, ValueError):
        msg = (
            f"the checkpoint '{folder}' is damaged: {_ABOUT!r} in it was changed since "
            "it was written. Delete the folder, and begin anew."
        )
        raise DataError(msg) from None
    if not found:
        return
    more = len(found) - _MOST_SHOWN
    shown = "; ".join(found[:_MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")
    msg = (
        f"the checkpoint '{folder}' was begun with something else: {shown}. Give what "
        f"it was begun with, or name another folder in {spell('checkpoint')}."
    )
    raise ParameterError(msg)


def _differences(there: dict[str, Any], here: dict[str, Any]) -> Iterator[str]:
    if there["bayesmend"] != here["bayesmend"]:
        yield (
            f"bayesmend {there['bayesmend']}, and this is bayesmend "
            f"{here['bayesmend']}, which may answer differently"
        )
    if there["call"] != here["call"]:
        yield f"{there['call']}, and this is {here['call']}"
    for name in sorted({*there["options"], *here["options"]}):
        before, now = there["options"].get(name), here["options"].get(name)
        if before != now:
            yield _changed(name, before, now)
    if there["seed"] != here["seed"]:
        yield _changed("seed", there["seed"], here["seed"])
    elif here["seed"] is None and not isinstance(there["drawn"], int):
        raise TypeError
    yield from _other_table(there["table"], here["table"])


def _changed(name: str, before: Any, now: Any) -> str:
    """Tell two values of an option apart; long ones only by its name."""
    if isinstance(before, dict | list) or isinstance(now, dict | list):
        return f"another {spell(name)}"
    return f"{spell(name, before)}, and now it is {spell(name, now)}"


def _other_table(there: dict[str, Any], here: dict[str, Any]) -> Iterator[str]:
    if there["n_rows"] != here["n_rows"]:
        rows = quantity(int(there["n_rows"]), "row")
        yield f"a table of {rows}, and this one has {here['n_rows']:,}"
    if there["names"] != here["names"]:
        gone = [name for name in there["names"] if name not in here["names"]]
        new = [name for name in here["names"] if name not in there["names"]]
        if gone:
            yield f"a table with {listing(list(map(repr, gone)), 3)}"
        if new:
            yield f"a table without {listing(list(map(repr, new)), 3)}"
        if not gone and not new:
            yield "the same variables in another order"
        return
    for part, what in (("states", "other states of"), ("cells", "other cells in")):
        changed = [
            repr(name)
            for name, before, now in zip(
                here["names"], there[part], here[part], strict=True
            )
            if before != now
        ]
        # Where rows were added or taken away all cells are others.
        if changed and (part == "states" or there["n_rows"] == here["n_rows"]):
            yield f"{what} {listing(changed, 3)}"
    if there["weights"] != here["weights"]:
        yield "other row weights"


def _table_told(table: IncompleteData) -> dict[str, Any]:
    return {
        "n_rows": table.n_rows,
        "names": list(table.names),
        "states": [
            hashlib.sha256(repr(labels).encode("utf-8", "surrogatepass")).hexdigest()
            for labels in table.states
        ],
        "cells": [
            hashlib.sha256(column.tobytes()).hexdigest() for column in table.codes.T
        ],
        "weights": None if table.weights is None else _array_told(table.weights),
    }


def _array_told(values: NDArray[Any]) -> str:
    values = np.ascontiguousarray(values)
    start = f"{values.dtype.str}{values.shape}".encode()
    return hashlib.sha256(start + values.tobytes()).hexdigest()


def _seed_told(seed: Seed) -> Any:
    if isinstance(seed, np.random.Generator):
        return {"state": digest_of(_state_of(seed))}
    return None if seed is None else int(seed)


def _own_version() -> str:
    # Here: this module is loaded before the package knows its version.
    from bayesmend import __version__

    return __version__


def _told(value: object) -> Any:
    """Return what an option is in plain JSON, the same for what means the same."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.ndarray):
        return {"array": _array_told(value)}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: _told(getattr(value, part.name)) for part in fields(value)}
        return {"kind": type(value).__name__, **parts}
    if isinstance(value, Mapping):
        return {str(key): _told(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    if isinstance(value, Sequence):
        return [_told(item) for item in value]
    name = getattr(value, "__qualname__", type(value).__qualname__)
    return f"{getattr(value, '__module__', type(value).__module__)}.{name}"


# --- plain values as bytes ------------------------------------------------------------


def _state_of(generator: np.random.Generator) -> dict[str, Any]:
    return dict(generator.bit_generator.state)


def digest_of(value: Plain) -> str:
    """Return what only the same plain value has.

    Examples
    --------
    >>> digest_of([1, np.zeros(2)]) == digest_of([1, np.zeros(2)])
    True
    """
    return hashlib.sha256(b"".join(_packed(value))).hexdigest()


def _packed(value: Plain) -> tuple[bytes, bytes, bytes]:
    """Return head, JSON and arrays of a plain value."""
    arrays: list[bytes] = []
    told = json.dumps(_without_arrays(value, arrays), separators=(",", ":")).encode()
    body = b"".join(arrays)
    sizes = struct.pack(">QQ", len(told), len(body))
    digest = hashlib.sha256(sizes + told)
    digest.update(body)
    return sizes + digest.digest(), told, body


def _without_arrays(value: Plain, arrays: list[bytes]) -> Plain:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        values = np.ascontiguousarray(value)
        kind = values.dtype.newbyteorder("<").str
        if kind not in _ARRAYS:
            raise TypeError(kind)
        start = sum(map(len, arrays))
        arrays.append(values.astype(kind, copy=False).tobytes())
        return {"array": [kind, start, list(values.shape)]}
    if isinstance(value, Mapping):
        return {key: _without_arrays(item, arrays) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(item, arrays) for item in value]
    return value


def _unpacked(told: Plain, body: bytes) -> Plain:
    if isinstance(told, list):
        return [_unpacked(item, body) for item in told]
    if not isinstance(told, dict):
        return told
    if told.keys() != {"array"}:
        return {key: _unpacked(item, body) for key, item in told.items()}
    kind, start, shape = told["array"]
    if kind not in _ARRAYS or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise ValueError
    count = math.prod(shape)
    if not isinstance(start, int) or start < 0 or count > len(body):
        raise ValueError
    # A copy: what comes out of the work may be written to, too.
    return np.frombuffer(body, kind, count, start).reshape(shape).copy()
