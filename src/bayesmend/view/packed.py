"""Values as text that a page can hold: arrays packed, labels harmless."""

import base64
import json
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayesmend.drawing.text import printable

__all__ = ["as_json", "pack", "plain"]

Kind = Literal["f8", "i4", "u2", "u1"]


def pack(values: ArrayLike, kind: Kind) -> str:
    """Return an array as text: little-endian, in base 64.

    Examples
    --------
    >>> pack([1, 2], "u2")
    'AQACAA=='
    """
    array = np.ascontiguousarray(values, dtype=np.dtype(f"<{kind}"))
    return base64.b64encode(array.tobytes()).decode("ascii")


def plain(label: object) -> str:
    """Return a label as the text that is shown.

    Examples
    --------
    >>> plain(2.0), plain(chr(0)) == chr(0xFFFD)
    ('2.0', True)
    """
    return printable(label)


def as_json(value: Any) -> str:
    r"""Return JSON that can stand inside an element of a page.

    Examples
    --------
    >>> print(as_json({"</script>": 1.5}))
    {"\u003c/script>":1.5}
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # "<" occurs in strings only.
    return text.replace("<", "\\u003c")
