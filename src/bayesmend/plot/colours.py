"""One colour for each method, everywhere.

They are those of Okabe and Ito (2008), told apart by all readers, and kindred ones for
kindred methods.
"""

from collections.abc import Mapping

import numpy as np

from bayesmend._checks import check_mapping, got
from bayesmend._entrance import entrance
from bayesmend.errors import ParameterError

__all__ = ["FAINT", "INK", "METHODS", "NUMBERED", "OTHER", "SOFT", "colour_of"]

INK, SOFT, FAINT = "#1d2433", "#5b6475", "#d9dee7"

METHODS = {
    "exact": "#0072b2",
    "local": "#56b4e9",
    "auto": "#004b76",
    "em": "#d55e00",
    "em-hard": "#e69f00",
    "ensemble": "#7b3294",
    "mode": "#7f7f7f",
    "truth": "#000000",
}
OTHER = "#b0a8b9"
NUMBERED = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Of curves that are no methods, one after the other."""


@entrance
def colour_of(method: str | int, *, others: Mapping[str, str] | None = None) -> str:
    """Return the colour of a method, the same in every figure.

    Parameters
    ----------
    method : str or int
        A method of `learn`; a name that begins with that of a known method has its
        colour. A number, from 1, stands for the next of a few colours: for a curve
        that is no method.
    others : mapping of str to str, optional
        Colours of further methods, such as those you compare with.

    Returns
    -------
    str
        A colour that matplotlib knows.

    Examples
    --------
    >>> colour_of("local-1") == colour_of("local-2") != colour_of("exact")
    True
    """
    if isinstance(method, int | np.integer) and not isinstance(method, bool):
        return NUMBERED[(method - 1) % len(NUMBERED)]
    if not isinstance(method, str):
        msg = f"method must be the name of a method, or a number from 1. {got(method)}"
        raise ParameterError(msg)
    if others is not None:
        check_mapping("others", others, "{'forest': 'green'}")
    known = {**METHODS, **(others or {})}
    found = [name for name in known if method.startswith(str(name))]
    return known[max(found, key=len)] if found else OTHER
