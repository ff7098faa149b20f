"""What made a row: the build of the sources, and the machine it ran on."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import bayesmend
import experiments
from experiments.data import digest

__all__ = ["build", "checksum", "facts"]


@lru_cache(maxsize=1)
def facts() -> dict[str, Any]:
    """Give what a raw row tells of its origin.

    Examples
    --------
    >>> sorted(facts())
    ['build', 'cores', 'cpu', 'version']
    """
    return {
        "version": bayesmend.__version__,
        "build": build(),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
    }


def build() -> str:
    """Give a checksum of the sources of package and experiments, and of the core."""
    folders = [Path(str(x.__file__)).parent for x in (bayesmend, experiments)]
    spec = find_spec("bayesmend._core")
    core = [Path(spec.origin)] if spec is not None and spec.origin else []
    return checksum(folders, core)


def checksum(folders: Iterable[Path], core: Iterable[Path]) -> str:
    """Give a checksum of the Python sources below folders, and of more files."""
    named = [
        (path.relative_to(folder).as_posix(), path)
        for folder in folders
        for path in sorted(folder.rglob("*.py"))
    ]
    contents = [
        (name, path.read_bytes())
        for name, path in [*named, *(("core", path) for path in core)]
    ]
    # Lengths keep the end of one file from being the beginning of the next.
    parts = [f"{name}\n{len(text)}\n".encode() + text for name, text in contents]
    return digest(b"".join(parts))


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
