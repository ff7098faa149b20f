"""One colour for each method, in all figures."""

__all__ = ["colour_of"]

# Okabe and Ito's colours, told apart by all readers; kindred methods have kindred ones.
_COLOURS = {
    "exact": "#0072b2",
    "local": "#56b4e9",
    "auto": "#004b76",
    "em": "#d55e00",
    "em-hard": "#e69f00",
    "svm": "#009e73",
    "lapsvm": "#00664a",
    "knn": "#cc79a7",
    "iterative-forest": "#9b4a7a",
    "iterative-logistic": "#e3a6c7",
    "miceforest": "#7a5c00",
    "mode": "#7f7f7f",
    "truth": "#000000",
    "complete": "#5f5f5f",
}
_OTHER = "#b0a8b9"
_NUMBERED = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")


def colour_of(method: str | int) -> str:
    """Give the colour of a method, the same in every figure of the project.

    A name that begins with that of a known method has its colour. A number, from 1,
    stands for the next of a few colours: a curve that is no method.

    Examples
    --------
    >>> colour_of("local-1") == colour_of("local-2") != colour_of("exact")
    True
    """
    if isinstance(method, int):
        return _NUMBERED[(method - 1) % len(_NUMBERED)]
    known = [name for name in _COLOURS if method.startswith(name)]
    return _COLOURS[max(known, key=len)] if known else _OTHER
