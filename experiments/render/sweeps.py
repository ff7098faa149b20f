"""Sweeps over many settings, laid out by panel, position and curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from experiments.design import Curves, Place
from experiments.render.results import Line

__all__ = ["Sweep", "lay_out", "show_mean", "show_seconds"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The lines of one measure by their places: panels and curves in order."""

    panels: tuple[str, ...]
    curves: tuple[str, ...]
    lines: dict[tuple[str, float, str], Line]
    """The line of each panel, position and curve."""
    places: dict[str, Place]
    """A place of each curve, for its colour."""

    def positions(self, panel: str) -> list[float]:
        """Give the positions on the axis of a panel, in order."""
        return sorted({x for title, x, _ in self.lines if title == panel})

    def curve(self, panel: str, label: str) -> list[tuple[float, Line]]:
        """Give the points of one curve, from left to right."""
        found = [
            (x, line)
            for (title, x, curve), line in self.lines.items()
            if (title, curve) == (panel, label)
        ]
        return sorted(found, key=lambda point: point[0])

    def table(
        self, x_label: str, show: Callable[[Line, int], str]
    ) -> tuple[list[str], list[list[str]]]:
        """Give header and cells; `show` gets a line and the repetitions of its row."""
        header = ["setting", x_label, *self.curves]
        rows = []
        for panel in self.panels:
            for number, x in enumerate(self.positions(panel)):
                found = [self.lines.get((panel, x, curve)) for curve in self.curves]
                most = max(line.interval.n for line in found if line is not None)
                cells = ["" if line is None else show(line, most) for line in found]
                rows.append([panel if number == 0 else "", f"{x:g}", *cells])
        return header, rows


def lay_out(lines: Iterable[Line], curves: Curves) -> Sweep:
    """Put each line in its place; those without one are left out."""
    placed: dict[tuple[str, float, str], Line] = {}
    places: dict[str, Place] = {}
    panels: dict[str, None] = {}
    for line in lines:
        place = curves.place(line.block, line.method)
        if place is not None:
            placed[place.panel, place.x, place.curve] = line
            places.setdefault(place.curve, place)
            panels.setdefault(place.panel)
    return Sweep(tuple(panels), tuple(places), placed, places)


def show_mean(line: Line, most: int) -> str:
    """Show mean and interval; the repetitions where they are fewer."""
    digits, interval = line.measure.digits, line.interval
    mean = f"{interval.mean:.{digits}f}"
    text = f"**{mean}**" if line.is_best else mean
    if math.isfinite(interval.half_width):
        text += (
            f" ± {interval.half_width:.{digits}f}"
            if interval.is_symmetric
            else f" [{interval.low:.{digits}f}, {interval.high:.{digits}f}]"
        )
    return text if interval.n == most else f"{text} ({interval.n})"


def show_seconds(line: Line, most: int) -> str:
    """Show the mean seconds of a run."""
    return f"{line.mean_seconds:.3g}"
