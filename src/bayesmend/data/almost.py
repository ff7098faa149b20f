"""Columns of text that are numbers but for a few labels, or but for a sign."""

import re
from collections.abc import Iterable, Sequence

from bayesmend._spelling import spell
from bayesmend.data.guesses import doubtful_labels
from bayesmend.data.roles import FEW
from bayesmend.data.states import (
    BLANKS,
    Label,
    is_number_text,
    listing,
    quantity,
)

__all__ = ["tell_almost"]

_MOST_OTHERS = 5
_NUMBERS_PER_OTHER = 5
_PER_CENT = re.compile(r"\s*%$")


def tell_almost(
    name: str, labels: Sequence[Label], decimal: str, markers: Iterable[str] = ()
) -> str:
    """Say why a column that is almost numbers is none; nothing where it is not.

    Parameters
    ----------
    name : str
        Name of the column.
    labels : sequence of labels
        Its distinct labels, not all of them numbers.
    decimal : {".", ","}
        The mark before the decimals of numbers.
    markers : iterable of str
        What stands for a missing cell already.

    Examples
    --------
    >>> tell_almost("age", [*map(str, range(40)), "low"], ".")
    "age has 40 different numbers and 1 other label (low): to have numbers that are \
cut, make it missing with missing=['low']"
    >>> tell_almost("share", [f"{k}%" for k in range(40)], ".")
    'share has percentages such as 0%, which are labels: to have numbers, remove the %'
    >>> tell_almost("size", ["s", "m", "l"], ".")
    ''
    """
    texts = [str(label).strip(BLANKS) for label in labels]
    others = [text for text in texts if not is_number_text(text, decimal)]
    n_numbers = len(texts) - len(others)
    if not n_numbers and len(texts) > FEW and _are_per_cent(texts, decimal):
        return (
            f"{name} has percentages such as {texts[0]}, which are labels: to have"
            " numbers, remove the %"
        )
    is_almost = n_numbers > FEW and n_numbers >= _NUMBERS_PER_OTHER * len(others)
    is_told = len(doubtful_labels(others)) == len(others)
    if not is_almost or is_told or len(others) > _MOST_OTHERS:
        return ""
    them = "it" if len(others) == 1 else "them"
    return (
        f"{name} has {n_numbers:,} different numbers and"
        f" {quantity(len(others), 'other label')} ({listing(others)}): to have numbers"
        f" that are cut, make {them} missing with"
        f" {spell('missing', sorted({*others, *markers}))}"
    )


def _are_per_cent(texts: Iterable[str], decimal: str) -> bool:
    return all(
        text.endswith("%") and is_number_text(_PER_CENT.sub("", text), decimal)
        for text in texts
    )
