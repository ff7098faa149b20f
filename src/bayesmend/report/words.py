"""The state of a result in sentences."""

import math

from bayesmend.augment.result import AugmentResult, CellRow

__all__ = ["certificate", "least_certain", "number", "stopping"]

_STOPS = {"interrupt": "Ctrl-C", "interrupted": "Ctrl-C"}


def certificate(result: AugmentResult) -> str:
    """Say what is known about the score, in full sentences.

    Examples
    --------
    >>> import bayesmend as bm
    >>> certificate(bm.learn({"a": [0, 1, 0, 1], "b": [0, 1, None, 1]}))
    'No structure with any completion of the missing cells scores higher: proven.'
    """
    if result.is_optimal:
        if len(result.cells) == 0:
            return "No structure scores higher: proven."
        return (
            "No structure with any completion of the missing cells scores higher: "
            "proven."
        )
    sentences = [_locally(result), _gap(result)]
    if not any(sentences):
        sentences = ["Nothing is proven about the score."]
    return " ".join(sentence for sentence in sentences if sentence)


def stopping(result: AugmentResult) -> str | None:
    """Name what ended the search early: the time limit, Ctrl-C, memory; or None."""
    stopped = result.detail.get("stopped")
    if result.is_optimal or stopped is None:
        return None
    return _STOPS.get(str(stopped), f"the {stopped}")


def number(value: float) -> str:
    """Show a score, a bound, a gap or a margin.

    Examples
    --------
    >>> number(-2242.12345), number(0.0), number(1e-7), number(float("inf"))
    ('-2,242.123', '0', '1.0e-07', 'none')
    """
    if not math.isfinite(value):
        return "none"
    if value == 0:
        return "0"
    return f"{value:.1e}" if abs(value) < 5e-4 else f"{value:,.3f}"


def least_certain(result: AugmentResult, n_cells: int) -> list[CellRow]:
    """List the mended cells of smallest margin, the least certain first."""
    cells = [cell for cell in result.cells if math.isfinite(cell.margin)]
    return sorted(cells, key=lambda cell: cell.margin)[:n_cells]


def _locally(result: AugmentResult) -> str:
    first = result.status.split(", ")[0]
    locality = first.removesuffix("-local optimum")
    if locality == first:
        if first != "local optimum":
            return ""
        return (
            "Neither a change of one pattern under this structure nor the structure "
            "solver under this completion finds a higher score; nothing is proven."
        )
    cells = "one missing cell" if locality == "1" else f"up to {locality} missing cells"
    return f"No change of {cells}, with any structure, scores higher: checked."


def _gap(result: AugmentResult) -> str:
    if not math.isfinite(result.bound):
        return ""
    return f"The best possible score is at most {number(result.gap)} nats higher."
