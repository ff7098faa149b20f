"""Runs a command of the terminal within the test process."""

import csv
import io
import os
import re
import select
import time

from typer.testing import CliRunner

from bayesmend.cli.app import app

COLOURS = re.compile(r"\x1b\[[0-9;]*m")
READ_BY_DEFAULT = {
    **dict.fromkeys(("missing", "delimiter", "decimal", "encoding", "header", "names")),
    **dict.fromkeys(("sheet", "states", "columns", "weights")),
    "discretize": "auto",
    "max_numeric_states": 20,
    "normalise": False,
}
"""The options of reading a table, as a result tells them when none is given."""


def run(*args, stdin=None, app=app):
    return CliRunner().invoke(app, [str(a) for a in args], input=stdin)


def ok(*args, stdin=None, app=app):
    """Run a command that must succeed in silence; give its stdout."""
    result = run(*args, stdin=stdin, app=app)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def fails(code, *args, stdin=None, app=app):
    """Run a command that must fail; give the last line of stderr."""
    result = run(*args, stdin=stdin, app=app)
    assert (result.exit_code, result.stdout) == (code, "")
    assert code == 2 or result.stderr.count("\n") == 1
    return result.stderr.splitlines()[-1]


def rows_of(text):
    """Read CSV text, a dict per row."""
    return list(csv.DictReader(io.StringIO(text)))


def read_until(terminal, text, seconds=60.0):
    """Read what a process shows on a terminal until it shows a text; no colours."""
    sent, end = b"", time.monotonic() + seconds
    while text not in (shown := COLOURS.sub("", sent.decode(errors="ignore"))):
        assert time.monotonic() < end, f"{text!r} never came: {shown[-500:]!r}"
        if select.select([terminal], [], [], 0.1)[0]:
            sent += os.read(terminal, 100_000)
    return shown
