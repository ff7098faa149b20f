"""The course of a search as a drawing: inline SVG."""

import math
from collections.abc import Sequence

from bayesmend.drawing.text import escape
from bayesmend.learning.result import Step
from bayesmend.report.words import number

__all__ = ["draw_trace"]

_WIDTH, _HEIGHT = 640.0, 220.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 96.0, 24.0, 14.0, 28.0


def draw_trace(trace: Sequence[Step], bound: float, seconds: float) -> str:
    """Draw the best score against time, and the bound where it lies near.

    Examples
    --------
    >>> trace = [Step(-12.0, "start", 0.1), Step(-10.0, "flip", 0.2)]
    >>> svg = draw_trace(trace, -10.0, 0.3)
    >>> svg.count("<circle"), 'class="bound"' in svg
    (2, True)
    """
    scores = [entry.score for entry in trace]
    low, high = min(scores), max(scores)
    spread = max(high - low, 1e-3 * abs(high), 1e-3)
    # A bound far above would press the search into a line.
    shows_bound = math.isfinite(bound) and bound - high <= 3 * spread
    if shows_bound:
        high = max(high, bound)
    pad = 0.08 * max(high - low, spread)
    first = max(min(entry.seconds for entry in trace), 1e-6)
    scale = _Scale(first, max(seconds, 2 * first), low - pad, high + pad)
    parts = [_axes(scale)]
    if shows_bound:
        y = scale.y(bound)
        parts.append(
            f'<line class="bound" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" '
            f'y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    parts.append(_line(trace, scale, seconds))
    parts += [_point(entry, scale) for entry in trace]
    return (
        f'<svg class="chart" role="img" aria-label="Score during the search" '
        f'viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}">{"".join(parts)}</svg>'
    )


class _Scale:
    """From seconds and scores to pixels; time is logarithmic."""

    def __init__(self, first: float, last: float, low: float, high: float) -> None:
        self.first, self.last, self.low, self.high = first, last, low, high

    def x(self, seconds: float) -> float:
        seconds = min(max(seconds, self.first), self.last)
        share = math.log(seconds / self.first) / math.log(self.last / self.first)
        return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)

    def y(self, score: float) -> float:
        share = (score - self.low) / (self.high - self.low)
        return _HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM)


def _line(trace: Sequence[Step], scale: _Scale, seconds: float) -> str:
    """Draw the best score as a staircase that goes on to the end of the search."""
    path, before, best = "", 0.0, -math.inf
    for entry in trace:
        if entry.score < best:  # another start of the search, not as high yet
            continue
        best = entry.score
        x, y = scale.x(entry.seconds), scale.y(entry.score)
        path += f"M{x:.1f},{y:.1f}" if not path else f"V{before:.1f}H{x:.1f}V{y:.1f}"
        before = y
    return f'<path class="score" d="{path}H{scale.x(seconds):.1f}"/>'


def _point(entry: Step, scale: _Scale) -> str:
    told = f"{entry.kind}: {number(entry.score)} after {entry.seconds:.3g} s"
    return (
        f'<circle class="{escape(entry.kind)}" cx="{scale.x(entry.seconds):.1f}" '
        f'cy="{scale.y(entry.score):.1f}" r="3.5"><title>{escape(told)}</title>'
        "</circle>"
    )


def _axes(scale: _Scale) -> str:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    parts = [f'<path class="axis" d="M{_LEFT},{_TOP}V{bottom}H{right}"/>']
    for value in _ticks(scale.low, scale.high):
        y = scale.y(value)
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">'
            f"{value:,.10g}</text>"
        )
    for seconds, told in _times(scale.first, scale.last):
        x = scale.x(seconds)
        parts.append(
            f'<line class="axis" x1="{x:.1f}" x2="{x:.1f}" y1="{bottom}" '
            f'y2="{bottom + 4}"/><text class="tick" x="{x:.1f}" y="{bottom + 17}" '
            f'text-anchor="middle">{told}</text>'
        )
    return "".join(parts)


def _times(first: float, last: float) -> list[tuple[float, str]]:
    """List round times of an interval with their names.

    Examples
    --------
    >>> [told for _, told in _times(0.0003, 1.2)]
    ['1 ms', '10 ms', '100 ms', '1 s']
    """
    powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
    is_narrow = last < 20 * first
    factors = (1, 2, 5) if is_narrow else (1,)
    times = [factor * 10.0**power for power in powers for factor in factors]
    return [(t, _time(t)) for t in times if first <= t * (1 + 1e-9) and t <= last]


def _time(seconds: float) -> str:
    if seconds < 0.999e-3:
        return f"{1e6 * seconds:.0f} µs"
    return f"{1e3 * seconds:.0f} ms" if seconds < 0.999 else f"{seconds:,.0f} s"


def _ticks(low: float, high: float) -> list[float]:
    """List about four round numbers of an interval.

    Examples
    --------
    >>> _ticks(0.0, 9.0), _ticks(-13.1, -9.9)
    ([0.0, 2.0, 4.0, 6.0, 8.0], [-13.0, -12.0, -11.0, -10.0])
    """
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * 0.8)
    first, last = math.ceil(low / step), math.floor(high / step)
    digits = max(0, 1 - math.floor(math.log10(step)))
    return [round(step * k, digits) for k in range(first, last + 1)]
