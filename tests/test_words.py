"""One word per idea, as CONTRIBUTING.md lists them, wherever a user reads."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
SOURCES = [*(ROOT / "src").rglob("*.py"), *(ROOT / "experiments").rglob("*.py")]

# What was once said in two ways, and the word that was chosen.
CHOSEN = {
    r"(?<! : )\bhol(?:es?|ed)\b(?! : Holes)": "missing cell, incomplete",
    r"\bmost probable explanations?\b": "most probable completion, or states together",
    r"\bredraws?\b": "restart",
}
# Pages that name the other words in order to say that they are not used.
ABOUT_WORDS = {"CONTRIBUTING.md", "CHANGELOG.md"}


def texts():
    pages = [path for path in PAGES if path.name not in ABOUT_WORDS]
    return [(path, path.read_text(encoding="utf-8")) for path in pages] + [
        (path, node.value)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]


def test_an_idea_has_one_word():
    found = [
        f"{path.relative_to(ROOT)}: {match[0]!r}; say {chosen}"
        for other, chosen in CHOSEN.items()
        for path, text in texts()
        for match in re.finditer(other, text, re.IGNORECASE)
    ]
    assert not found


def test_every_link_has_a_text():
    empty = [path.name for path in PAGES if "[](" in path.read_text(encoding="utf-8")]
    assert not empty
