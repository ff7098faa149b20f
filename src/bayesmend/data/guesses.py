"""The one message about what was guessed when a table was read."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bayesmend._spelling import spell
from bayesmend.data.roles import Decision
from bayesmend.data.states import (
    MAX_STATES,
    Label,
    label_key,
    listing,
    name_listing,
    quantity,
)

__all__ = [
    "doubtful_labels",
    "doubtful_markers",
    "may_be_code",
    "missing_code",
    "near_labels",
    "tell_aside",
    "tell_codes",
    "tell_guesses",
    "tell_markers",
    "tell_remedies",
]

_SHOWN = 6

# Text that a survey may mean as an answer, but that mostly is none; "None" is not here.
_DOUBTFUL = {"", "?", "na", "n/a", "nan", "null"}


def near_labels(labels: Iterable[Label]) -> list[list[str]]:
    """Group the labels that differ only in blanks or case.

    Examples
    --------
    >>> near_labels(["yes", "no", "Yes "])
    [['yes', 'Yes ']]
    """
    groups: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            groups.setdefault(label_key(label), []).append(label)
    return [group for group in groups.values() if len(group) > 1]


def doubtful_labels(labels: Iterable[Label]) -> list[str]:
    """Return the labels that often stand for a missing cell.

    Examples
    --------
    >>> doubtful_labels(["yes", "?", "None"])
    ['?']
    """
    return [
        label
        for label in labels
        if isinstance(label, str) and label.strip().lower() in _DOUBTFUL
    ]


def doubtful_markers(counts: Mapping[str, int]) -> list[str]:
    """Return the words of a column that are missing cells, but may be labels.

    That is when other cells are missing by another marker.

    Examples
    --------
    >>> doubtful_markers({"": 5, "None": 30}), doubtful_markers({"None": 30})
    (['None'], [])
    """
    words = [marker for marker in counts if any(map(str.isalpha, marker))]
    if len(words) < len(counts):
        return words
    return ["None"] if "None" in words and len(words) > 1 else []


def tell_markers(
    found: Mapping[str, Mapping[str, int]], markers: Iterable[str]
) -> list[str]:
    """Say which words are read as missing cells though they may be labels.

    Parameters
    ----------
    found : mapping of str to mapping
        By variable, how many cells each marker stands in.
    markers : iterable of str
        All markers of the file.
    """
    words: set[str] = set()
    parts = []
    for name, counts in found.items():
        for word in doubtful_markers(counts):
            words.add(word)
            parts.append(f"{word!r} in {name} ({quantity(counts[word], 'cell')})")
    if not parts:
        return []
    choose = spell("missing", sorted(set(markers) - words))
    one = "is read as missing; if it is a label"
    several = "are read as missing; if they are labels"
    return [
        f"{listing(parts, _SHOWN)} {one if len(parts) == 1 else several}, pass {choose}"
    ]


_CODES = (-9, -99, -999, -9999, 99, 999, 9999)
_FEWEST_CELLS = 3
_FAR = 4  # times the greatest other number


def may_be_code(numbers: Iterable[float]) -> bool:
    """Tell whether a number is one that often stands for a missing cell."""
    return not set(_CODES).isdisjoint(numbers)


def missing_code(numbers: NDArray[np.float64]) -> int | None:
    """Return the number that probably stands for a missing cell, such as -9.

    It occurs several times, as the only negative number or far above all others.

    Examples
    --------
    >>> missing_code(np.array([-9.0, 1, 2, 3, -9, -9]))
    -9
    >>> missing_code(np.array([-9.0, -8, 2, 3, -9, -9])) is None
    True
    """
    seen = numbers[~np.isnan(numbers)]
    for code in _CODES:
        others = seen[seen != code]
        if len(seen) - len(others) < _FEWEST_CELLS or not len(others):
            continue
        least, greatest = others.min(), others.max()
        is_far = 0 < greatest <= code / _FAR
        if least >= 0 and (code < 0 or is_far):
            return code
    return None


def tell_codes(codes: Mapping[str, int], markers: Iterable[str]) -> list[str]:
    """Say which numbers probably stand for missing cells."""
    if not codes:
        return []
    parts = [f"{code} of {name}" for name, code in codes.items()]
    numbers = sorted(set(codes.values()))
    choose = spell("missing", [*sorted(markers), *numbers])
    verb = "stands" if len(parts) == 1 else "stand"
    return [
        f"{listing(parts, _SHOWN)} {verb} apart from all other numbers; if missing"
        f" cells are meant, pass {choose}"
    ]


def tell_guesses(
    table: str,
    decisions: Sequence[Decision],
    n_intervals: Mapping[str, int],
    near: Mapping[str, list[list[str]]],
    doubtful: Mapping[str, list[str]],
    notes: Iterable[str],
    markers: Iterable[str] = (),
) -> str:
    """Say what was guessed, each line with the option that settles it.

    Parameters
    ----------
    table : str
        What the table is called.
    decisions : sequence of Decision
        What each column is.
    n_intervals : mapping of str to int
        Into how many intervals columns are cut.
    near : mapping of str to list
        By variable, labels that may be the same.
    doubtful : mapping of str to list
        By variable, labels that may stand for a missing cell.
    notes : iterable of str
        Sentences of others, without their full stops.
    markers : iterable of str
        What stands for a missing cell already, and would no longer if others did.
    """
    guessed = [decision for decision in decisions if decision.is_guess]
    cut = [d.name for d in guessed if d.role == "cut"]
    aside = [d for d in guessed if d.role == "pass-through"]
    lines = [f"{note}." for note in notes]
    if cut:
        parts = [f"{name} ({n_intervals[name]})" for name in cut]
        choose = spell("discretize", {cut[0]: 4})
        lines.append(
            f"numbers are cut into intervals: {listing(parts, _SHOWN)}. Choose how with"
            f" {choose}."
        )
    if aside:
        lines.append(
            f"{quantity(len(aside), 'column')} passed through, not modelled:"
            f" {tell_aside(aside)}. {tell_remedies(aside)}".rstrip()
        )
    if near:
        pairs = [
            f"{' and '.join(map(repr, group))} of {name}"
            for name, groups in near.items()
            for group in groups
        ]
        lines.append(
            f"labels differ only in blanks or case: {listing(pairs, _SHOWN)}. Join them"
            f" with {spell('normalise', True)}."
        )
    if doubtful:
        shown = [
            f"{listing(map(repr, labels))} of {name}"
            for name, labels in doubtful.items()
        ]
        found = {label.strip() for labels in doubtful.values() for label in labels}
        lines.append(
            f"labels that often stand for a missing cell: {listing(shown, _SHOWN)}. If"
            f" they do, pass {spell('missing', sorted({*found, *markers}))}."
        )
    if len(lines) == 1:
        return f"{table}: {lines[0]}"
    return f"{table} was read by guesses." + "".join(f"\n- {line}" for line in lines)


def tell_remedies(aside: Iterable[Decision], insist: str = "Choose") -> str:
    """Say what would make variables of columns, one sentence for each way."""
    first: dict[str, str] = {}
    for decision in aside:
        first.setdefault(decision.remedy, decision.name)
    first.pop("none", None)
    return " ".join(_sentence(how, name, insist) for how, name in first.items())


def _sentence(remedy: str, name: str, insist: str) -> str:
    match remedy:
        case "cut":
            return f"Cut with {spell('discretize', {name: 4})}."
        case "write":
            return f"Write the dates of {name} as 2026-12-31 to cut them."
        case "write or model":
            return (
                f"Write the dates of {name} as 2026-12-31 to cut them, or choose with"
                f" {spell('columns', {name: 'model'})}."
            )
        case "type":
            return f"Convert {name} to one type."
        case "text":
            return f"Convert {name} to text."
        case "span":
            return f"Convert {name} to numbers or text."
        case "finite":
            return f"Replace the infinite numbers of {name}, or make them missing."
        case "merge":
            return f"Merge labels of {name} until at most {MAX_STATES} are left."
        case "states":
            return f"Drop {name}, or list its states: {spell('states', {name: ...})}."
    return f"{insist} with {spell('columns', {name: 'model'})}."


def tell_aside(aside: Iterable[Decision]) -> str:
    """List columns that are passed through, by reason."""
    by_reason: dict[str, list[str]] = {}
    for decision in aside:
        by_reason.setdefault(decision.reason, []).append(decision.name)
    return "; ".join(
        f"{name_listing(names, _SHOWN)} ({reason})"
        for reason, names in by_reason.items()
    )
