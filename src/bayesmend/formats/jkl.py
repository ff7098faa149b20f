"""Scores of candidate parent sets in the ``.jkl`` format of GOBNILP.

The first line holds the number of variables. For each variable follows a line with its
name and its number of candidates, then one line per candidate: the score, the number of
parents and their names::

    2
    rain 1
    -3.0 0
    wet 2
    -1.5 1 rain
    -4.0 0

Lines that begin with ``#`` are comments, and blank lines mean nothing. Names hold no
white space and do not begin with ``#``. Scores are written so that they read back to
the same number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from bayesmend._entrance import entrance
from bayesmend._files import PathLike, write_text
from bayesmend.data.states import listing
from bayesmend.errors import DataError
from bayesmend.formats.text import Source, read_source
from bayesmend.structure.parents import ParentSets, check_parent_sets

__all__ = ["parse", "read_jkl", "render", "write_jkl"]


@entrance
def read_jkl(path: PathLike) -> ParentSets:
    """Read candidate parent sets; a file ending in ``.gz`` is unpacked.

    Raises
    ------
    FormatError
        With line and column, when the file does not follow the format.
    """
    source = read_source(path)
    return parse(source.text, source.name)


@entrance
def write_jkl(sets: ParentSets, path: PathLike) -> None:
    """Write candidate parent sets; a file ending in ``.gz`` is packed.

    A file of that name is replaced as a whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> sets = ParentSets.from_lists(["a", "b"], [[(-2, ())], [(-1, (0,)), (-2, ())]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_jkl(sets, f"{folder}/scores.jkl.gz")
    ...     read_jkl(f"{folder}/scores.jkl.gz") == sets
    True
    """
    check_parent_sets(sets)
    write_text(path, render(sets))


def render(sets: ParentSets) -> str:
    """Write candidate parent sets as text.

    Examples
    --------
    >>> print(render(ParentSets.from_lists(["a"], [[(-2.5, ())]])), end="")
    1
    a 1
    -2.5 0
    """
    for name in sets.names:
        if name.split() != [name]:
            msg = (
                f"the .jkl format has no room for white space in a name. Rename the "
                f"variable {name!r}."
            )
            raise DataError(msg)
        if name.startswith("#"):
            msg = (
                "in the .jkl format a line that begins with # is a comment. Rename the "
                f"variable {name!r}."
            )
            raise DataError(msg)
    lines = [str(sets.n_vars)]
    for i, name in enumerate(sets.names):
        families = sets.of(i)
        lines.append(f"{name} {len(families)}")
        for score, parents in families:
            words = [repr(score), str(len(parents))]
            lines.append(" ".join(words + [sets.names[p] for p in parents]))
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Line:
    """The words of a line that is no comment nor blank, and where they stand."""

    source: Source
    start: int
    words: list[str]
    columns: list[int]

    def fail(self, problem: str, word: int = 0) -> NoReturn:
        column = (
            self.columns[word]
            if word < len(self.columns)
            else self.columns[-1] + len(self.words[-1])
        )
        self.source.fail(problem, self.start + column)

    def count(self, word: int, what: str) -> int:
        if word >= len(self.words):
            self.fail(f"expected {what}. Got the end of the line instead.", word)
        if not re.fullmatch("[0-9]{1,18}", self.words[word]):
            self.fail(f"expected {what}. Got {self.words[word]!r} instead.", word)
        return int(self.words[word])

    def end(self, word: int) -> None:
        if word < len(self.words):
            problem = f"expected the end of the line. Got {self.words[word]!r} instead."
            self.fail(problem, word)


def parse(text: str, source: str = "<text>") -> ParentSets:
    r"""Read candidate parent sets from text.

    Examples
    --------
    >>> parse("# BIC\n1\na 1\n-2.5 0").of(0)
    [(-2.5, ())]
    >>> parse("1\na 1\n-2.5 1 b")
    Traceback (most recent call last):
    ...
    bayesmend.errors.FormatError: <text>, line 3, column 8: no variable named 'b'. ...
    """
    origin = Source(text, source)
    lines = _lines(origin)
    first = _next(lines, origin, "the number of variables")
    n_vars = first.count(0, "the number of variables")
    first.end(1)
    heads: dict[str, _Line] = {}
    rows: list[list[_Line]] = []
    for _ in range(n_vars):
        head = _next(lines, origin, f"{n_vars} variables, but has {len(heads)}")
        n_sets = head.count(1, "the number of candidates")
        head.end(2)
        if head.words[0] in heads:
            head.fail(f"the variable {head.words[0]!r} occurs a second time.")
        if n_sets == 0:
            head.fail("expected at least one candidate. Got 0 instead.", 1)
        heads[head.words[0]] = head
        what = f"{n_sets} candidates of {head.words[0]!r}"
        rows.append([_next(lines, origin, what) for _ in range(n_sets)])
    extra = next(lines, None)
    if extra is not None:
        extra.fail(f"expected the end of the file after {n_vars} variables.")
    index = {name: i for i, name in enumerate(heads)}
    families = [_families(row, index, child) for child, row in enumerate(rows)]
    return ParentSets.from_lists(list(heads), families)


def _lines(source: Source) -> Iterator[_Line]:
    start = 0
    for text in source.text.splitlines(keepends=True):
        found = list(re.finditer(r"\S+", text))
        if found and not found[0].group().startswith("#"):
            words = [match.group() for match in found]
            yield _Line(source, start, words, [match.start() for match in found])
        start += len(text)


def _next(lines: Iterator[_Line], source: Source, what: str) -> _Line:
    line = next(lines, None)
    if line is None:
        problem = f"the file ends too early: expected {what}."
        source.fail(problem, len(source.text.rstrip()))
    return line


def _families(
    lines: list[_Line], index: dict[str, int], child: int
) -> list[tuple[float, list[int]]]:
    families, seen = [], set()
    for line in lines:
        score, parents = _family(line, index, child)
        members = frozenset(parents)
        if members in seen:
            line.fail("this candidate occurs a second time.")
        seen.add(members)
        families.append((score, parents))
    return families


def _family(line: _Line, index: dict[str, int], child: int) -> tuple[float, list[int]]:
    score = _score(line)
    n_parents = line.count(1, "the number of parents")
    names = line.words[2:]
    if len(names) != n_parents:
        line.fail(f"expected {n_parents} parents. Got {len(names)} instead.", 1)
    parents = []
    for word, name in enumerate(names, start=2):
        if name not in index:
            problem = f"no variable named {name!r}. Available: {listing(index, 10)}."
            line.fail(problem, word)
        if index[name] == child:
            line.fail(f"the variable {name!r} is a parent of itself.", word)
        if index[name] in parents:
            line.fail(f"the parent {name!r} occurs a second time.", word)
        parents.append(index[name])
    return score, parents


def _score(line: _Line) -> float:
    try:
        score = float(line.words[0].replace("_", "?"))
    except ValueError:
        score = float("nan")
    if not score < float("inf"):
        line.fail(f"expected a score. Got {line.words[0]!r} instead.")
    return score
