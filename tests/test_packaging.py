"""What is said about the package outside of it agrees with the package."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_citation_is_of_this_version():
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)
    assert cited is not None
    assert cited[1] == PROJECT["project"]["version"]


def test_wheels_are_made_for_each_version_of_python_that_is_named():
    prefix = "Programming Language :: Python :: 3."
    named = PROJECT["project"]["classifiers"]
    minors = [name.removeprefix(prefix) for name in named if name.startswith(prefix)]
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert built == [f"cp3{minor}-*" for minor in minors]


@pytest.mark.parametrize("name", ["SECURITY.md", "RELEASING.md"])
def test_files_that_a_page_of_the_project_names_are_there(name):
    text = (ROOT / name).read_text()
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target
