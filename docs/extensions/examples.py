"""Examples are run when the page that shows them is made.

Those of pages and of docstrings alike; one that fails, or warns, is a warning of the
build, which `make docs` takes as an error. Pictures are made of what the examples of
their page have left (see `pictures`). A page is run in an empty folder of its own; the
blocks of other packages are left to the tests, which skip those that are not there.
"""

from __future__ import annotations

import doctest
import inspect
import warnings
from contextlib import chdir
from tempfile import TemporaryDirectory
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

from extensions.fences import only_ours

__all__ = ["setup"]

# As the tests run them: pyproject.toml.
_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

_LOG = logging.getLogger(__name__)


def _run(text: str, names: dict[str, Any], what: str, path: str) -> dict[str, Any]:
    """Run the examples of a text; return what they have left."""
    test = doctest.DocTestParser().get_doctest(text, names, what, path, 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=_FLAGS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner.run(test, out=said.append, clear_globs=False)
    for failure in said:
        _LOG.warning(failure, location=what, type="examples")
    return test.globs


def _of_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Run the examples of a page in one go, in the order in which they stand."""
    path = app.env.doc2path(docname)
    names: dict[str, Any] = {"__name__": "__main__"}
    if path.suffix == ".md":
        with TemporaryDirectory() as folder, chdir(folder):
            names = _run(only_ours(source[0]), names, docname, str(path))
    app.env.temp_data["examples"] = names


def _of_docstring(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Run the examples of a docstring among the names of its module."""
    text = "\n".join(lines)
    module = inspect.getmodule(thing.fget if isinstance(thing, property) else thing)
    if module is not None and ">>>" in text:
        _run(text, dict(vars(module)), name, module.__file__ or "")


def _trim(app: Sphinx, document: nodes.document) -> None:
    """Leave out the blank line with which doctest ends what is printed."""
    for block in document.findall(nodes.literal_block):
        block.rawsource = text = block.astext().rstrip("\n")
        block.children = [nodes.Text(text)]
        block.children[0].parent = block


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx run examples before it reads a page, or a docstring."""
    app.connect("source-read", _of_page)
    app.connect("doctree-read", _trim)
    # Before napoleon turns sections into fields.
    app.connect("autodoc-process-docstring", _of_docstring, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
