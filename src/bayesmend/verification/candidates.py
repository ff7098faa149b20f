"""Candidates with their scores, from a file: which parents each variable may have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from bayesmend.errors import DataError
from bayesmend.verification.lies import Lie
from bayesmend.verification.rows import read_bytes
from bayesmend.verification.units import to_units

__all__ = ["Candidates", "is_candidates", "read_candidates"]


@dataclass(frozen=True)
class Candidates:
    """Variables, and by variable a score in units for each set of parents, as bits."""

    names: list[str]
    families: list[dict[int, int]]

    @property
    def upper(self) -> list[dict[int, int]]:
        """Scores that are rounded up for sure."""
        return [
            {members: score + 1 for members, score in own.items()}
            for own in self.families
        ]

    def score(self, parents: Sequence[Sequence[int]]) -> int:
        """Sum the scores of some structure."""
        total = 0
        for child, own in enumerate(parents):
            members = sum(1 << p for p in own)
            if members not in self.families[child]:
                told = ", ".join(self.names[p] for p in own) or "no parents"
                msg = f"the file has no score of {self.names[child]!r} with {told}."
                raise Lie(msg)
            total += self.families[child][members]
        return total


def is_candidates(data: Any) -> bool:
    """Tell whether data is the path of a file of candidates, by its name."""
    name = str(data).lower() if isinstance(data, str | Path) else ""
    return name.removesuffix(".gz").endswith(".jkl")


def read_candidates(path: Path) -> Candidates:
    """Read a .jkl file; lines that begin with # say nothing."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
        lines = (line.split() for line in text.splitlines() if line[:1] != "#")
        return _read(iter([words for words in lines if words]))
    except (ArithmeticError, LookupError, StopIteration, ValueError) as error:
        msg = f"{path.name!r} is no file of candidates ({error!r:.80})."
        raise DataError(msg) from None


def _read(lines: Iterator[list[str]]) -> Candidates:
    names: list[str] = []
    lists: list[list[tuple[str, list[str]]]] = []
    (n_vars,) = next(lines)
    for _ in range(int(n_vars)):
        name, n_sets = next(lines)
        entries = [next(lines) for _ in range(int(n_sets))]
        if any(len(parents) != int(size) for _, size, *parents in entries):
            msg = f"a candidate of {name} has not as many parents as it says"
            raise ValueError(msg)
        names.append(name)
        lists.append([(score, parents) for score, _, *parents in entries])
    if len(set(names)) != len(names) or next(lines, None) is not None:
        msg = "a name comes twice, or something follows the last candidate"
        raise ValueError(msg)
    bit = {name: 1 << v for v, name in enumerate(names)}
    families: list[dict[int, int]] = []
    for v, candidates in enumerate(lists):
        own: dict[int, int] = {}
        for score, parents in candidates:
            members = sum({bit[parent] for parent in parents})
            if members & 1 << v or members.bit_count() != len(parents):
                msg = f"a candidate of {names[v]} names a parent twice, or itself"
                raise ValueError(msg)
            if float(score) != float("-inf"):  # which forbids it
                if not isfinite(float(score)):
                    msg = f"{score} is no score"
                    raise ValueError(msg)
                value = to_units(Fraction(score))
                own[members] = max(value, own.get(members, value))
        families.append(own)
    return Candidates(names, families)
