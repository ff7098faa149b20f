"""What a process may use of its machine: limits of containers and of control groups.

A container is a control group of Linux, and so is a job of a queue or a service. Each
lies in others, whose limits are its own as well. Versions 1 and 2 spell them apart.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

__all__ = ["allowed_cores", "memory_left"]

_ROOT = Path("/")
_MOUNTED = "sys/fs/cgroup"
# Of version 2: a limit that is never passed, and one beyond which all is slow.
_MOST = ("memory.max", "memory.high", "memory.limit_in_bytes")
_USED = ("memory.current", "memory.usage_in_bytes")
# Files that were read and can be read again, which count as used until room is needed.
_CACHED = ("inactive_file", "total_inactive_file")


def memory_left(root: Path = _ROOT) -> float:
    """Return the bytes that all groups of this process leave it; maybe infinity."""
    return min(map(_left_in, _folders("memory", root)), default=math.inf)


def allowed_cores(root: Path = _ROOT) -> int | None:
    """Return how many cores this process may keep busy; None where nothing tells."""
    told = [_shares_of(folder) for folder in _folders("cpu", root)]
    counts = [math.ceil(shares) for shares in told if shares is not None]
    if hasattr(os, "sched_getaffinity"):
        counts.append(len(os.sched_getaffinity(0)))
    return max(min(counts), 1) if counts else None


@cache
def _folders(kind: str, root: Path) -> tuple[Path, ...]:
    """Find the folders of the groups that this process is in, for memory or cores."""
    mounted = root / _MOUNTED
    found = {mounted, mounted / "unified", mounted / kind}
    for controllers, path in _groups(root):
        if controllers == [""]:  # version 2, which has all of them in one
            tops = [mounted, mounted / "unified"]
        elif kind in controllers:
            tops = [mounted / kind, mounted / ",".join(controllers)]
        else:
            continue
        inner = path.strip("/").split("/")
        if ".." in inner:  # seen from inside, where the outside has no names
            inner = []
        for top in tops:
            found |= {top.joinpath(*inner[:n]) for n in range(len(inner) + 1)}
    return tuple(sorted(folder for folder in found if folder.is_dir()))


def _groups(root: Path) -> Iterator[tuple[list[str], str]]:
    for line in (_text(root / "proc/self/cgroup") or "").splitlines():
        _, colon, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon:
            yield controllers.split(","), path


def _left_in(folder: Path) -> float:
    used = next(filter(None, (_number(folder / name) for name in _USED)), None)
    limits = [most for name in _MOST if (most := _number(folder / name)) is not None]
    if used is None or not limits:
        return math.inf
    return float(max(min(limits) - used + _cached_in(folder), 0))


def _cached_in(folder: Path) -> int:
    told = (_text(folder / "memory.stat") or "").split()
    sizes = dict(zip(told[::2], told[1::2], strict=False))
    return max((int(sizes[name]) for name in _CACHED if name in sizes), default=0)


def _shares_of(folder: Path) -> float | None:
    """Return a limit in cores: of so many microseconds of work in each period."""
    if told := _text(folder / "cpu.max"):
        quota, _, period = told.partition(" ")
    else:
        quota = _text(folder / "cpu.cfs_quota_us") or ""
        period = _text(folder / "cpu.cfs_period_us") or ""
    # "max", and -1, where there is no limit.
    if not (quota.strip().isdigit() and period.strip().isdigit() and int(period)):
        return None
    return int(quota) / int(period)


def _number(path: Path) -> int | None:
    """Return what a file says; None also for "max", which is no limit."""
    text = (_text(path) or "").strip()
    return int(text) if text.isdigit() else None


def _text(path: Path) -> str | None:
    try:
        return path.read_text()
    except (OSError, ValueError):
        return None
