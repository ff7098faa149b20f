"""The reference has every public name, once, under its shortest path."""

import re
from pathlib import Path
from types import ModuleType

import pytest

import bayesmend as bm
import bayesmend.sklearn as bm_sklearn

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
LISTED = re.compile(r"^   (\w[\w.]*)$", re.MULTILINE)


def listed():
    """Return what the pages list, in blocks that make a page of each docstring."""
    blocks = [
        block
        for path in sorted(REFERENCE.glob("*.md"))
        for block in re.findall(
            r"\.\. autosummary::\n(.*?)```", path.read_text(encoding="utf-8"), re.S
        )
    ]
    return [name for block in blocks for name in LISTED.findall(block)]


def public():
    """Return the shortest path of every public name."""
    found, modules = set(), [("", bm), ("sklearn.", bm_sklearn)]
    for prefix, module in modules:
        for name in module.__all__:
            thing = getattr(module, name)
            if isinstance(thing, ModuleType):
                modules.append((f"{prefix}{name}.", thing))
            elif prefix == "" or getattr(bm, name, None) is not thing:
                found.add(prefix + name)
    return found - {"__version__"}


def test_every_public_name_is_listed():
    assert public() - set(listed()) == set()


def test_nothing_else_is_listed():
    assert set(listed()) - public() == set()


def test_no_name_is_listed_twice():
    names = listed()
    assert len(names) == len(set(names))


@pytest.mark.parametrize("page", sorted(REFERENCE.glob("*.md")), ids=lambda p: p.stem)
def test_every_page_is_in_the_index(page):
    index = (REFERENCE / "index.md").read_text(encoding="utf-8")
    assert page.stem == "index" or f"({page.name})" in index
