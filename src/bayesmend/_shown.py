"""What makes a notebook show a value as tables and pictures."""

from __future__ import annotations

from importlib import import_module

__all__ = ["Shown"]


class Shown:
    """A value that a notebook shows as HTML; ``repr`` says the same in fewer words.

    The HTML is made in `bayesmend.notebook.shown`. That stands above all that it shows,
    and is loaded when a notebook asks.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        html: str = import_module("bayesmend.notebook.shown").as_html(self)
        return html
