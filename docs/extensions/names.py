"""Names of the package in text become links to the reference.

In docstrings single backticks name something of the package: `Score`, `learn_em`,
`IncompleteData.from_table`. On pages, which are also read as plain Markdown, the first
mention of a function or class in backticks becomes a link.
"""

from __future__ import annotations

import inspect
import re
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.pycode import ModuleAnalyzer
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

import bayesmend

__all__ = ["public_modules", "public_names", "setup"]

_CALL = re.compile(r"(?:bm\.|bayesmend\.)?([A-Za-z_][\w.]*)(?:\(.*\))?")


def public_modules() -> list[ModuleType]:
    """Return the package and its public modules, those inside of others included.

    `bayesmend.sklearn` is not among the names of the package, which does not load it.
    """
    found = [bayesmend, import_module("bayesmend.sklearn")]
    for module in found:
        inside = [getattr(module, name) for name in module.__all__]
        found += [thing for thing in inside if isinstance(thing, ModuleType)]
    return found


def public_names() -> dict[str, Any]:
    """Return what is public under its shortest name, such as bayesmend.learn."""
    found: dict[str, Any] = {}
    for module in public_modules():
        for name in module.__all__:
            thing = getattr(module, name)
            is_there = getattr(bayesmend, name, None) is thing
            is_shortest = module is bayesmend or not is_there
            if is_shortest and not isinstance(thing, ModuleType):
                found[f"{module.__name__}.{name}"] = thing
    return found


def _documented(env: BuildEnvironment) -> dict[str, str]:
    """Return the full names of all that the reference has, by each name it goes by."""
    found: dict[str, str] = {}
    for full, entry in env.domaindata["py"]["objects"].items():
        parts = full.split(".")
        at_top = len(parts) == 2
        is_field = entry.objtype in ("method", "property", "attribute")
        by_itself = at_top or not (is_field or parts[-1] in _parameters())
        for start in range(len(parts) - (not by_itself)):
            found.setdefault(".".join(parts[start:]), full)
    for module in public_modules():
        for name in module.__all__:
            if name in found:
                found.setdefault(f"{module.__name__}.{name}", found[name])
    return found


def _link(env: BuildEnvironment, full: str, here: str, inner: nodes.Node) -> nodes.Node:
    entry = env.domaindata["py"]["objects"][full]
    builder = env.app.builder
    return make_refnode(builder, here, entry.docname, entry.node_id, inner, full)


def _resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, inner: nodes.TextElement
) -> nodes.Node | None:
    """Find a name under its last parts; in the type of a parameter it may be a word."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"].lstrip("~.")
    own = node.get("py:class")
    names = _documented(env)
    owner, _, field = target.rpartition(".")
    of_class = owner if field in _parameters() else ""
    for tried in (f"{own}.{target}", target, of_class):
        if tried in names:
            return _link(env, names[tried], node["refdoc"], inner)
    if node.get("reftype") in ("class", "exc") or target in _parameters():
        return inner
    return None


@cache
def _parameters() -> frozenset[str]:
    """Return the names of all parameters and fields, which have no entry."""
    found = {"None", "True", "False"}
    for thing in public_names().values():
        calls = inspect.getmembers(thing, callable) if inspect.isclass(thing) else []
        for call in (thing, *(method for _, method in calls)):
            with suppress(TypeError, ValueError):  # some do not tell
                found |= set(inspect.signature(call).parameters)
    return frozenset(found)


def _in_first_column(node: nodes.Node) -> bool:
    """Tell whether a node is in the first cell of a row: a call of another package."""
    while node.parent is not None and not isinstance(node, nodes.entry):
        node = node.parent
    return isinstance(node, nodes.entry) and node.parent.index(node) == 0


class _Mentions(SphinxPostTransform):
    """The first mention of a name on a page becomes a link."""

    default_priority = 300

    def run(self, **options: Any) -> None:
        here = self.env.docname
        if here.startswith(("reference/", "changes")):
            return
        names, mentioned = _documented(self.env), set()
        for literal in list(self.document.findall(nodes.literal)):
            match = _CALL.fullmatch(literal.astext())
            full = names.get(match[1]) if match else None
            is_linked = isinstance(literal.parent, nodes.reference)
            in_title = isinstance(literal.parent, nodes.title)
            is_theirs = here.startswith("coming-from/") and _in_first_column(literal)
            if not full or full in mentioned or is_linked or in_title or is_theirs:
                continue
            kind = self.env.domaindata["py"]["objects"][full].objtype
            if kind in ("function", "class", "method", "exception"):
                mentioned.add(full)
                literal.replace_self(_link(self.env, full, here, literal.deepcopy()))


def _skip(
    app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any
) -> bool | None:
    """Leave out what classes of other packages bring along."""
    of = thing.fget if isinstance(thing, property) else thing
    module = getattr(of, "__module__", None) or "bayesmend"
    return None if module.split(".")[0] == "bayesmend" else True


def _describe_constant(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Describe a constant by the text below it, not by its type."""
    if what != "data":
        return
    last = name.rpartition(".")[2]
    lines.clear()
    for module in [m for m in sys.modules if m.split(".")[0] == "bayesmend"]:
        if vars(sys.modules[module]).get(last) is not thing or module.endswith("_core"):
            continue
        said = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", last))
        if said:
            lines[:] = said
            return


def setup(app: Sphinx) -> dict[str, Any]:
    """Have Sphinx ask here what it does not find."""
    app.connect("missing-reference", _resolve)
    app.connect("autodoc-process-docstring", _describe_constant, priority=50)
    app.connect("autodoc-skip-member", _skip)
    app.add_post_transform(_Mentions)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
