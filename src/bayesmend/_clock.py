"""Limits of time, threads and memory, and who is told how far the work is."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

from bayesmend import _core
from bayesmend._checks import check_integer, check_number
from bayesmend._container import allowed_cores, memory_left
from bayesmend._progress import Progress
from bayesmend._spelling import spell
from bayesmend._warn import warn
from bayesmend.errors import ShortfallWarning

__all__ = [
    "Clock",
    "Progress",
    "available_memory",
    "check_threads",
    "check_time_limit",
    "left_for_calls",
    "limited_calls",
    "limited_memory",
    "memory_within",
    "or_more_memory",
    "room_within",
]

# More threads than that are slower than so many: they wait for each other.
_core.limit_cores(allowed_cores() or 0)

_LEAST_MEMORY = 2.0**25  # what little any search may take, whatever the limit
_ENDLESS = 1e9  # thirty years, in seconds; clocks overflow at three hundred


_calls = threading.local()  # when those of a thread have to end, and what they may hold

P = ParamSpec("P")
T = TypeVar("T")


class Clock:
    """Seconds since the start, and what is left of a limit."""

    def __init__(self, time_limit: float | None = None) -> None:
        self._start, self._limit = time.perf_counter(), check_time_limit(time_limit)
        self._before = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._start

    @property
    def left(self) -> float | None:
        """Seconds left, at least a millisecond; None without a limit."""
        return None if self._limit is None else max(self._limit - self.seconds, 1e-3)

    @property
    def is_over(self) -> bool:
        """Whether the limit has passed."""
        return self._limit is not None and self.seconds >= self._limit

    def part(self, share: float) -> Clock:
        """Return a clock that started when this one did, with a share of its limit."""
        clock = Clock()
        clock._start, clock._before = self._start, self._before
        if self._limit is not None:
            clock._limit = self._before + share * (self._limit - self._before)
        return clock

    def sooner(self, seconds: float) -> Clock:
        """Return a clock that started when this one did, its limit so much sooner.

        At most half of what is left is taken off: the rest is for winding up.

        Examples
        --------
        >>> 2 < Clock(10).sooner(7.5).left <= 5
        True
        """
        clock = Clock()
        clock._start, clock._before = self._start, self._before
        if self._limit is not None and self.left is not None:
            clock._limit = self._limit - min(seconds, self.left / 2)
        return clock

    def go_on_from(self, seconds: float) -> None:
        """Count seconds that were spent before, where it is not yet at so many.

        The limit is that of this call, and moves along.

        Examples
        --------
        >>> clock = Clock(10)
        >>> clock.go_on_from(100)
        >>> clock.seconds >= 100, 9 < clock.left <= 10
        (True, True)
        """
        ahead = seconds - self.seconds
        if ahead > 0:
            self._start -= ahead
            self._before += ahead
            if self._limit is not None:
                self._limit += ahead

    def reporter(
        self, progress: Progress | None, what: str
    ) -> Callable[[float, int, float], None] | None:
        """Turn `progress` into what the core calls with (best score, steps, bound)."""
        if progress is None:
            return None
        return lambda best, steps, bound: progress(
            f"{what}: {steps} steps", best, self.seconds, bound=bound
        )


def check_time_limit(time_limit: object) -> float | None:
    """Return seconds, or None where there are none or no work would reach them.

    Examples
    --------
    >>> check_time_limit(5), check_time_limit(None), check_time_limit(float("inf"))
    (5.0, None, None)
    """
    if time_limit is None:
        return None
    seconds = check_number("time_limit", time_limit, unit="seconds", above=0)
    return seconds if seconds < _ENDLESS else None


def check_threads(n_threads: object) -> int:
    """Return a number of threads that a machine has a use for, with a note if less.

    Examples
    --------
    >>> check_threads(2)
    2
    """
    asked, most = check_integer("n_threads", n_threads), _core.max_threads()
    if asked <= most:
        return asked
    cores = f"{_core.n_cores()} cores are there to use, and at most 8 threads on each"
    warn(f"{spell('n_threads', asked)} becomes {most}: {cores}.", ShortfallWarning)
    return most


@contextmanager
def limited_calls(seconds: float | None) -> Iterator[None]:
    """Let the core raise TimeoutError wherever it looks for Ctrl-C, when time is over.

    For steps that have no answer half-way. Searches that keep limits of their own,
    and return what they have, are not concerned. Within others, the sooner end counts.
    """
    before: float = getattr(_calls, "end", math.inf)
    _limit_calls_to(min(before, time.perf_counter() + (seconds or math.inf)))
    try:
        yield
    finally:
        _limit_calls_to(before)


def left_for_calls() -> float | None:
    """Return the seconds that such a limit leaves this thread; None without one.

    Examples
    --------
    >>> with limited_calls(5.0):
    ...     4 < left_for_calls() <= 5
    True
    >>> left_for_calls() is None
    True
    """
    end: float = getattr(_calls, "end", math.inf)
    return None if end == math.inf else max(end - time.perf_counter(), 1e-3)


def _limit_calls_to(end: float) -> None:
    _calls.end = end
    left = end - time.perf_counter()
    _core.limit_calls(0.0 if left == math.inf else max(left, 1e-9))


def available_memory() -> float:
    """Return the bytes of memory that are free to use, within all limits.

    Those of a container, of the process (``ulimit -v``) and of the call at hand
    (``max_memory``) count too. Infinity where the system does not tell.
    """
    return min(_free_memory(), memory_left(), _left_to_process(), room_within())


@contextmanager
def memory_within(max_memory: float | None) -> Iterator[None]:
    """Have the calls within take at most so many bytes beyond what is held now.

    Some 30 MB are never refused: any search takes them.
    """
    before: float = getattr(_calls, "most_bytes", math.inf)
    if max_memory is not None:
        check_number("max_memory", max_memory, unit="bytes", above=0)
        _calls.most_bytes = min(before, _held() + max(max_memory, _LEAST_MEMORY))
    try:
        yield
    finally:
        _calls.most_bytes = before


def room_within() -> float:
    """Return the bytes that such a limit leaves; infinity without one.

    Examples
    --------
    >>> with memory_within(1e8):
    ...     room_within() <= 1e8
    True
    >>> room_within()
    inf
    """
    most: float = getattr(_calls, "most_bytes", math.inf)
    return most if most == math.inf else max(most - _held(), 0.0)


def or_more_memory() -> str:
    """Say what else would help, where ``max_memory`` was given."""
    return "" if room_within() == math.inf else f", or raise {spell('max_memory')}"


def limited_memory(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function with the keyword ``max_memory`` keep to it, whatever it calls."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        with memory_within(kwargs.get("max_memory")):  # type: ignore[arg-type]
            return function(*args, **kwargs)

    return call


def _held() -> float:
    """Return the bytes that this process holds; none where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return float(pages * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 0.0


def _free_memory() -> float:
    try:
        with Path("/proc/meminfo").open() as lines:
            kilobytes = next(
                x.split()[1] for x in lines if x.startswith("MemAvailable")
            )
        return 1024.0 * int(kilobytes)
    except (OSError, StopIteration, ValueError):
        pass
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _left_to_process() -> float:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return float("inf")
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY:
        return float("inf")
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, ValueError):
        pages = 0
    return float(max(most - pages * resource.getpagesize(), 0))
