"""Who may import whom: experiments use the package, which knows nothing of them."""

import ast

import pytest
from support.shared import ROOT

# Each part imports only from those before it, and from itself.
PARTS = (
    *(
        "packages",
        "data",
        "design",
        "hiding",
        "waves",
        "peers",
        "methods",
        "paper",
        "beyond",
    ),
    *("catalog", "run", "render", "command", "__main__"),
)


def imported(path):
    """Full names of all modules that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(
    ("folder", "others"),
    [("src", {"experiments", "benchmarks"}), ("experiments", {"benchmarks"})],
)
def test_nothing_is_imported_from_beside_or_below(folder, others):
    found = {
        (path.name, name)
        for path in (ROOT / folder).rglob("*.py")
        for name in imported(path)
        if name.split(".")[0] in others
    }
    assert found == set()


def test_a_part_imports_only_from_parts_before_it():
    wrong = set()
    for path in (ROOT / "experiments").rglob("*.py"):
        part = path.relative_to(ROOT / "experiments").parts[0].removesuffix(".py")
        if part == "__init__":
            continue
        allowed = PARTS[: PARTS.index(part) + 1]
        for name in imported(path):
            first, _, rest = name.partition(".")
            if first == "experiments" and rest and rest.split(".")[0] not in allowed:
                wrong.add((path.name, name))
    assert wrong == set()
