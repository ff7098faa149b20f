"""Pictures made when the site is built, of what the examples of a page have left.

The directive names a variable of the examples above it and gives a caption:

    ```{picture} axes
    Which cells are missing.
    ```

The variable holds axes or a figure of matplotlib, the path of a picture or of a page
that a function wrote, or whatever shows itself in a notebook.
"""

from __future__ import annotations

import shutil
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

__all__ = ["setup"]


class Picture(SphinxDirective):
    """A figure that shows the value of a variable."""

    required_arguments = 1
    has_content = True
    option_spec = {"alt": directives.unchanged, "height": directives.positive_int}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        left = self.env.temp_data["examples"]
        name = self.arguments[0]
        if name not in left:
            msg = f"the examples of this page leave no {name!r}"
            raise self.error(msg)
        self._alt = self.options.get("alt", " ".join(self.content))
        figure = nodes.figure(classes=["picture"])
        figure += self._shown(left[name], name)
        if self.content:
            caption = nodes.caption()
            children, messages = self.parse_inline(" ".join(self.content))
            caption += children
            figure += caption
            return [figure, *messages]
        return [figure]

    def _shown(self, value: Any, name: str) -> nodes.Node:
        file = self._file(name)
        if hasattr(value, "figure"):
            value = value.figure
        if hasattr(value, "savefig"):
            value.savefig(file.with_suffix(".svg"), bbox_inches="tight")
            return self._image(file.with_suffix(".svg"))
        if isinstance(value, (str, Path)) and Path(value).exists():
            copied = file.with_suffix(Path(value).suffix)
            shutil.copyfile(value, copied)
            return (
                self._page(copied) if copied.suffix == ".html" else self._image(copied)
            )
        if hasattr(value, "_repr_html_"):
            value = value._repr_html_()
        if not str(value).lstrip().startswith("<"):
            msg = f"{name!r} is no picture: {value!r}"
            raise self.error(msg)
        return nodes.raw("", f'<div class="shown">{value}</div>', format="html")

    def _file(self, name: str) -> Path:
        folder = Path(self.env.app.outdir) / "_pictures"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{self.env.docname.replace('/', '-')}-{name}"

    def _address(self, file: Path) -> str:
        up = "../" * self.env.docname.count("/")
        return escape(f"{up}_pictures/{file.name}")

    def _image(self, file: Path) -> nodes.Node:
        html = f'<img src="{self._address(file)}" alt="{escape(self._alt)}">'
        return nodes.raw("", html, format="html")

    def _page(self, file: Path) -> nodes.Node:
        height = self.options.get("height", 600)
        address = self._address(file)
        html = (
            f'<iframe src="{address}" title="{escape(self._alt)}" height="{height}">'
            f'</iframe><p><a href="{address}">In a page of its own</a></p>'
        )
        return nodes.raw("", html, format="html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx of the directive."""
    app.add_directive("picture", Picture)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
