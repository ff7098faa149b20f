"""Which build of the package made a row: a checksum of all that can change it."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import bayesmend

__all__ = ["DIGITS", "build", "checksum"]

DIGITS = 12
"""Length of the checksums in raw rows."""


@lru_cache(maxsize=1)
def build() -> str:
    """Give a checksum of the package's sources and of its compiled core.

    Worked out once in a process, since it does not load them anew either.

    Examples
    --------
    >>> len(build())
    12
    """
    package = Path(bayesmend.__file__).parent
    spec = find_spec("bayesmend._core")
    core = [Path(spec.origin)] if spec is not None and spec.origin else []
    return checksum(package, core)


def checksum(package: Path, core: list[Path]) -> str:
    """Give a checksum of the Python sources below a folder, and of more files."""
    found = hashlib.sha256()
    sources = sorted(package.rglob("*.py"))
    named = [(path.relative_to(package).as_posix(), path) for path in sources]
    for name, path in [*named, *(("core", path) for path in core)]:
        content = path.read_bytes()
        # Lengths keep the end of one file from being the beginning of the next.
        found.update(f"{name}\n{len(content)}\n".encode() + content)
    return found.hexdigest()[:DIGITS]
