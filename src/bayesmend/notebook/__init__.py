"""Results in notebooks: tables and pictures in a cell's output, and a network to try.

Whatever is the last line of a cell shows itself. `NetworkView` is a network that
answers to clicks; it needs the extra ``notebook``.
"""

from typing import TYPE_CHECKING, Any

from bayesmend.notebook.shown import as_html

if TYPE_CHECKING:
    from bayesmend.notebook.widget import NetworkView

__all__ = ["NetworkView", "as_html"]


if not TYPE_CHECKING:  # which knows all names from above

    def __getattr__(name: str) -> Any:
        """Load the widget when it is asked for: it needs a package of the extra."""
        if name == "NetworkView":
            from bayesmend.notebook.widget import NetworkView

            return NetworkView
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
