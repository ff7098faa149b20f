"""Results in notebooks: tables and pictures in a cell's output, and a network to try.

Whatever is the last line of a cell shows itself. `NetworkView` is a network that
answers to clicks; it needs the extra ``notebook``.
"""

from bayesmend.notebook.shown import as_html

__all__ = ["as_html"]
