"""Ctrl-C at any moment of the command line: one line on stderr and 130, or the end."""

import signal
import subprocess
import sys

import pytest

from bayesmend import load_network, write_network

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="no SIGINT to a process"
)

# Sends Ctrl-C when the module named first is imported, or at a moment named first.
SCRIPT = """
import signal, sys
moment, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "bayesmend"
ctrl_c = lambda: signal.raise_signal(signal.SIGINT)

class Finder:
    def find_spec(self, name, *_):
        if name == moment:
            ctrl_c()

sys.meta_path.insert(0, Finder())
from bayesmend.__main__ import main
if moment == "parse":
    from bayesmend.cli.terminal import Command
    Command.parse_args = lambda *_: ctrl_c()
elif moment == "done":
    from bayesmend.cli.terminal import Command
    invoke = Command.invoke
    Command.invoke = lambda *given: (invoke(*given), ctrl_c())
elif moment == "exit":
    import atexit
    atexit.register(ctrl_c)
main()
"""


def interrupted(moment, *args, ignore=False):
    handler = signal.SIG_IGN if ignore else signal.SIG_DFL
    before = signal.signal(signal.SIGINT, handler)  # the child inherits what is ignored
    try:
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, moment, *map(str, args)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "moment", ["numpy", "bayesmend.learning", "typer", "bayesmend.cli.app", "parse"]
)
def test_ctrl_c_before_the_work(moment, tmp_path):
    out = tmp_path / "asia.json"
    done = interrupted(moment, "convert", "asia", out)
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")
    assert (done.stdout, out.exists()) == ("", False)


def test_ctrl_c_after_the_work_keeps_what_was_written(tmp_path):
    out = tmp_path / "asia.json"
    done = interrupted("done", "convert", "asia", out)
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")
    write_network(load_network("asia"), tmp_path / "same.json")
    assert out.read_text() == (tmp_path / "same.json").read_text()


def test_ctrl_c_at_the_very_end_changes_nothing(tmp_path):
    done = interrupted("exit", "query", "asia", "--target", "lung", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("{")


@pytest.mark.parametrize(
    "moment",
    [*(pytest.param(m, marks=pytest.mark.slow) for m in ("numpy", "typer")), "parse"],
)
def test_ctrl_c_that_is_ignored_stays_ignored(moment, tmp_path):
    done = interrupted(moment, "--version", ignore=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_library_leaves_signals_alone():
    script = (
        "import signal, bayesmend\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
