"""Runs a command of the terminal within the test process."""

from typer.testing import CliRunner

from bayesmend.cli import app


def run(*args, stdin=None):
    return CliRunner().invoke(app, [str(a) for a in args], input=stdin)


def ok(*args, stdin=None):
    """Run a command that must succeed in silence; give its stdout."""
    result = run(*args, stdin=stdin)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def fails(code, *args, stdin=None):
    """Run a command that must fail; give the last line of stderr."""
    result = run(*args, stdin=stdin)
    assert (result.exit_code, result.stdout) == (code, "")
    assert code == 2 or result.stderr.count("\n") == 1
    return result.stderr.splitlines()[-1]
