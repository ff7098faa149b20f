"""Pages for those who come from other packages: their lines run there, ours here."""

import doctest
import logging
import re
import shutil
import subprocess
import warnings
from pathlib import Path

import pytest

from docs.extensions.fences import FENCED, only_ours

PAGES = Path(__file__).parents[2] / "docs" / "coming-from"
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS

OF_PYTHON = {"pgmpy": "pgmpy", "pyagrum": "pyagrum", "scikit-learn": "sklearn"}
OF_R = {"bnlearn": "bnlearn", "mice": "mice"}


def read(page):
    return (PAGES / f"{page}.md").read_text(encoding="utf-8")


def run(text, page):
    test = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    said = []
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    tried = runner.run(test, out=said.append)
    assert tried.attempted, "the page has no examples"
    assert not tried.failed, "".join(said)


def test_every_page_is_run():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"index"}
    assert pages == {*OF_PYTHON, *OF_R}


@pytest.mark.parametrize("page", [*OF_PYTHON, *OF_R])
def test_calls_of_the_table_are_in_the_blocks(page):
    text = read(page)
    theirs = "".join(
        m["text"] for m in FENCED.finditer(text) if m["language"] != "python"
    )
    rows = re.findall(r"^\| (.*?) \| ", text, re.MULTILINE)[2:]
    names = [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]
    assert names
    assert [name for name in names if name not in theirs] == []


@pytest.mark.slow
@pytest.mark.parametrize("page", [*OF_PYTHON, *OF_R])
def test_our_lines_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(only_ours(read(page)), page)


@pytest.mark.slow
@pytest.mark.parametrize("page", OF_PYTHON)
def test_lines_of_the_other_package_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # Not what it says, but what it answers.
    logging.disable(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip(OF_PYTHON[page], exc_type=ImportError)
        run(read(page), page)
    logging.disable(logging.NOTSET)


def has_in_r(package):
    asked = f"quit(status = !requireNamespace('{package}', quietly = TRUE))"
    done = subprocess.run(["Rscript", "-e", asked], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("page", OF_R)
def test_lines_in_r_run(page, tmp_path, monkeypatch):
    if not shutil.which("Rscript"):
        pytest.skip("there is no R (Debian/Ubuntu: apt install r-base-core)")
    if not has_in_r(OF_R[page]):
        pytest.skip(f"R has no package {page}")
    monkeypatch.chdir(tmp_path)
    text = read(page)
    run(only_ours(text), page)  # writes the files that R reads
    blocks = [m["text"] for m in FENCED.finditer(text) if m["language"] == "r"]
    mark = "@@ end of block @@"
    script = "".join(f'{block}\ncat("{mark}\\n")\n' for block in blocks)
    Path("page.R").write_text(script, encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "page.R"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    printed = done.stdout.split(mark)[:-1]
    assert len(printed) == len(blocks)
    for block, got in zip(blocks, printed, strict=True):
        said = re.findall(r"^#>(.*\n)", block, re.MULTILINE)
        assert doctest.OutputChecker().check_output("".join(said), got, FLAGS), got
