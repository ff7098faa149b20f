"""What ``make`` says when the machine lacks something: one sentence each."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    shutil.which("make") is None or not (ROOT / "Makefile").exists(),
    reason="needs make and the repository",
)


def preflight(**settings):
    """Run ``make preflight`` with settings; give the lines make itself did not add."""
    path = settings.pop("PATH", os.environ["PATH"])
    run = subprocess.run(
        [shutil.which("make"), "-s", "preflight"]
        + [f"{name}={value}" for name, value in settings.items()],
        cwd=ROOT,
        env={**os.environ, "PATH": path, "LC_ALL": "C", "CXX": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stderr.splitlines()
    return run.returncode, [line for line in lines if not line.startswith("make")]


def fake_python(folder, answers):
    """An executable that fails for the first ``-c`` code containing the text."""
    script = folder / "python"
    script.write_text(
        f'#!/bin/sh\ncase "$*" in {answers} esac\nexec "{sys.executable}" "$@"\n'
    )
    script.chmod(0o755)
    return script


def test_nothing_is_said_when_nothing_is_missing():
    assert preflight(PYTHON=sys.executable) == (0, [])


def test_a_missing_python_is_named():
    code, lines = preflight(PYTHON="/nonexistent/python")
    assert code != 0
    assert lines == [
        "Python not found as '/nonexistent/python'. Install Python 3.11 or later, "
        "or name it: make PYTHON=/path/to/python."
    ]


def test_an_old_python_is_named(tmp_path):
    python = fake_python(
        tmp_path, "*version_info*) exit 1;; -V) echo Python 3.8.1; exit 0;;"
    )
    code, lines = preflight(PYTHON=python)
    assert code != 0
    assert lines == [
        f"{python} is Python 3.8.1. bayesmend needs Python 3.11 or later: "
        "make PYTHON=/path/to/python."
    ]


def test_a_missing_venv_module_is_named(tmp_path):
    python = fake_python(tmp_path, "*ensurepip*) exit 1;;")
    code, lines = preflight(PYTHON=python)
    assert code != 0
    assert lines == [
        f"{python} has no venv module. Install it "
        "(Debian/Ubuntu: apt install python3-venv)."
    ]


def test_missing_python_headers_are_named(tmp_path):
    python = fake_python(tmp_path, f"*sysconfig*) echo {tmp_path}; exit 0;;")
    code, lines = preflight(PYTHON=python)
    assert code != 0
    assert lines == [
        f"Python.h not found for {python}. Install the headers "
        "(Debian/Ubuntu: apt install python3-dev)."
    ]


def test_a_missing_compiler_is_named(tmp_path):
    (tmp_path / "sh").symlink_to(shutil.which("sh"))
    code, lines = preflight(PYTHON=sys.executable, PATH=str(tmp_path))
    assert code != 0
    assert lines == [
        "No C++ compiler found (looked for c++, g++, clang++). Install one "
        "(Debian/Ubuntu: apt install g++)."
    ]
