"""What a search is doing: a bar on a terminal or in a notebook, lines in a log."""

from __future__ import annotations

import html
import inspect
import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import Any, Protocol, Self

from bayesmend.errors import ParameterError

__all__ = [
    "Progress",
    "ProgressBar",
    "drawn_by",
    "make_way",
    "shown_progress",
    "told",
]

Progress = Callable[..., None]
"""Told (what is going on, best score so far, seconds since the start).

If it has parameters of these names also `bound`, infinity where there is none, and
`share`, how much is done between 0 and 1, or None.
"""

_WIDTH = 12  # of the bar itself
# Seconds from one look of the bar to the next.
_ON_TERMINAL, _IN_NOTEBOOK, _IN_LOG = 0.2, 0.5, 5.0
# A bar that nobody asked for appears only where there is something to wait for.
_PATIENCE = 0.5

# Whether a function that tells of its progress is at work: those that it calls leave
# the screen to it.
_is_at_work: ContextVar[bool] = ContextVar("_is_at_work", default=False)


class _Screen(Protocol):
    pause: float

    def show(self, text: str, short: str, done: float | None) -> None:
        """Show the share done beside a text, or a short one where that is too long."""

    def clear(self) -> None: ...


class _Terminal:
    """One line of stderr that is written over."""

    pause = _ON_TERMINAL

    def show(self, text: str, short: str, done: float | None) -> None:
        width = shutil.get_terminal_size().columns - 1
        line = f"{_bar(done)}{text}"
        if len(line) > width:
            line = f"{_bar(done)}{short}"[:width]
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    def clear(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


class _Notebook:
    """A bar among the outputs of a notebook's cell, in its colours."""

    pause = _IN_NOTEBOOK

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, text: str, short: str, done: float | None) -> None:
        del short  # lines are broken
        self._put(f"{_bar(done)}{text}", f"{_bar_as_html(done)} {html.escape(text)}")

    def clear(self) -> None:
        if self._handle is not None:
            self._put("", "")

    def _put(self, text: str, markup: str) -> None:
        # What is empty takes no room; an output cannot be taken back.
        shown = {
            "text/plain": text,
            "text/html": f'<div style="{_LINE if markup else _GONE}">{markup}</div>',
        }
        if self._handle is None:
            display = import_module("IPython.display").display
            self._handle = display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)


# Digits of one width keep the line from shaking.
_LINE = "font-size: 13px; font-variant-numeric: tabular-nums; opacity: .85"
_GONE = "display: none"


def _bar_as_html(share: float | None) -> str:
    """Draw the share that is done, or a bar that moves.

    Examples
    --------
    >>> _bar_as_html(0.5)
    '<progress style="width: 12em" value="0.500"></progress>'
    """
    value = "" if share is None else f' value="{min(max(share, 0.0), 1.0):.3f}"'
    return f'<progress style="width: 12em"{value}></progress>'


class _Log:
    """Lines of stderr that stay, now and then."""

    pause = _IN_LOG

    def show(self, text: str, short: str, done: float | None) -> None:
        del short
        sys.stderr.write(f"{_bar(done)}{text}\n")
        sys.stderr.flush()

    def clear(self) -> None:
        pass


_terminal: ContextVar[Callable[[], _Screen]] = ContextVar(
    "_terminal", default=_Terminal
)


@contextmanager
def drawn_by(screen: Callable[[], _Screen]) -> Iterator[None]:
    """Let another class draw the bars on a terminal meanwhile."""
    token = _terminal.set(screen)
    try:
        yield
    finally:
        _terminal.reset(token)


def _find_screen() -> _Screen | None:
    """Return where a bar can be written over; None where it cannot."""
    if _is_notebook():
        return _Notebook()
    if sys.stderr is not None and sys.stderr.isatty():
        return _terminal.get()()
    return None


def _is_notebook() -> bool:
    """Tell whether an IPython kernel runs this, without importing IPython."""
    find: Any = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = None if find is None else find()
    return getattr(shell, "kernel", None) is not None


class ProgressBar:
    """What a search is doing, on one line that is gone when it is over.

    Parameters
    ----------
    asked : bool, default=False
        Whether somebody asked for it: then it appears at once, and where nothing can be
        written over, as in a log, now and then as a line that stays.
    time_limit : float, optional
        Seconds after which the search ends.
    """

    def __init__(self, *, asked: bool = False, time_limit: float | None = None) -> None:
        screen = _find_screen()
        self._screen = _Log() if screen is None and asked else screen
        self._limit = time_limit
        self._next = -math.inf if asked else time.monotonic() + _PATIENCE
        self._is_visible = False

    def __enter__(self) -> Self:
        _bars.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _bars.remove(self)
        self.clear()

    def __call__(
        self,
        what: str,
        score: float,
        seconds: float,
        *,
        bound: float = math.inf,
        share: float | None = None,
    ) -> None:
        """Show the latest news, unless some were shown a moment ago."""
        now = time.monotonic()
        if self._screen is None or now < self._next:
            return
        self._next = now + self._screen.pause
        self._is_visible = True  # before it is: Ctrl-C may come at any moment
        if self._limit is not None:
            share = max(share or 0.0, min(seconds / self._limit, 1.0))
        numbers = self._numbers(score, seconds, bound, share)
        short = what.partition(":")[0]
        self._screen.show(f"{what}{numbers}", f"{short}{numbers}", share)

    def clear(self) -> None:
        """Take it off the screen, until there are further news."""
        if self._screen is not None and self._is_visible:
            self._screen.clear()
            self._is_visible = False

    def _numbers(
        self, score: float, seconds: float, bound: float, share: float | None
    ) -> str:
        numbers = f", best score {score:.3f}" if math.isfinite(score) else ""
        numbers += f", bound {bound:.3f}" if math.isfinite(bound) else ""
        numbers += f", {seconds:.0f} s"
        if self._limit is not None:
            numbers += f", at most {max(self._limit - seconds, 0):.0f} s left"
        elif share is not None and 0 < share < 1 and seconds >= 1:
            numbers += f", about {seconds * (1 - share) / share:.0f} s left"
        return numbers


_bars: list[ProgressBar] = []


def _bar(share: float | None) -> str:
    """Draw the share that is done.

    Examples
    --------
    >>> _bar(0.5), _bar(None)
    ('[######      ] ', '')
    """
    if share is None:
        return ""
    full = round(_WIDTH * min(max(share, 0.0), 1.0))
    return f"[{'#' * full}{' ' * (_WIDTH - full)}] "


def make_way() -> None:
    """Take bars off the screen, for something else that is to be written there."""
    for bar in _bars:
        bar.clear()


@contextmanager
def shown_progress(
    progress: Progress | bool | None, time_limit: object = None
) -> Iterator[Progress | bool | None]:
    """Put a bar in the place of True, and of None where somebody can see it.

    Only the outermost function that tells of its progress has a bar of its own, and in
    threads of the caller's only one that was asked for.
    """
    is_outermost = not _is_at_work.get()
    is_main = threading.current_thread() is threading.main_thread()
    is_seen = is_outermost and is_main and _find_screen() is not None
    token = _is_at_work.set(True)
    try:
        if progress is True or (progress is None and is_seen):
            limit = time_limit if isinstance(time_limit, int | float) else None
            has_end = limit is not None and 0 < limit < math.inf
            with ProgressBar(
                asked=progress is True, time_limit=limit if has_end else None
            ) as bar:
                yield bar
        else:
            yield progress
    finally:
        _is_at_work.reset(token)


class _Teller:
    """Tells a callable the three things that all take, and by name what else it takes.

    Examples
    --------
    >>> tell = _Teller(lambda what, score, seconds, bound=None: print(what, bound))
    >>> tell("search", -2.0, 0.1, bound=-1.0, share=0.5)
    search -1.0
    """

    def __init__(self, listener: Progress) -> None:
        self._listener = listener
        try:
            parameters = inspect.signature(listener).parameters.values()
        except (TypeError, ValueError):  # of some callables written in C
            parameters = {}.values()
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
        named = {p.name for p in parameters if p.kind in _BY_NAME}
        self._takes = {n for n in ("bound", "share") if takes_all or n in named}

    def __call__(
        self,
        what: str,
        score: float,
        seconds: float,
        *,
        bound: float = math.inf,
        share: float | None = None,
    ) -> None:
        news = {"bound": bound, "share": share}
        more = {name: news[name] for name in self._takes}
        self._listener(what, score, seconds, **more)


_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def told(progress: Progress | bool | None) -> Progress | None:
    """Return who is told of the progress; None for nobody.

    ``True`` does not come this far: `entrance` shows a bar in its place.

    Examples
    --------
    >>> told(False) is None
    True
    >>> told(print)("search", -2.0, 0.1, bound=-1.0)
    search -2.0 0.1
    >>> told("yes")
    Traceback (most recent call last):
    ...
    bayesmend.errors.ParameterError: progress must be True, False, None or a callable...
    """
    if progress is None or progress is False:
        return None
    if not callable(progress):
        msg = (
            "progress must be True, False, None or a callable of three arguments. "
            f"Got {progress!r} instead."
        )
        raise ParameterError(msg)
    return progress if isinstance(progress, _Teller) else _Teller(progress)
