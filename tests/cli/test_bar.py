"""The bar that rich draws in the terminal."""

import io
import re
import sys

import pytest

from bayesmend import _progress
from bayesmend.cli.bar import Bar

ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def drawn(monkeypatch):
    """Call something at a terminal; give what that was sent."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)

    def call(act, columns=80):
        monkeypatch.setenv("COLUMNS", str(columns))
        screen = Terminal()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", screen)
            act()
        return screen.getvalue()

    return call


def lines_of(sent):
    """The lines, each written over the last one, as they are seen."""
    assert "\n" not in sent
    begun, *lines = sent.split("\r\x1b[K")
    assert begun == ""
    return [ESCAPES.sub("", line).rstrip() for line in lines]


@pytest.mark.parametrize(("done", "full"), [(0.0, 0), (0.5, 6), (1.0, 12), (7.0, 12)])
def test_the_share_done_is_drawn_beside_the_news(drawn, done, full):
    bar = Bar()

    def show():
        bar.show("climb: 3 steps, best score -1.000, 2 s", "climb, 2 s", done)
        bar.clear()

    sent = drawn(show)
    line, empty = lines_of(sent)
    assert line.endswith(" climb: 3 steps, best score -1.000, 2 s")
    assert empty == ""
    assert sum(map(len, re.findall(r"\x1b\[36m(━+)", sent))) == full


@pytest.mark.parametrize("columns", [20, 40, 60, 200])
@pytest.mark.parametrize("done", [None, 0.3])
@pytest.mark.parametrize("word", ["step ", "段"], ids=["narrow", "wide"])
def test_a_line_is_never_broken(drawn, columns, done, word):
    from rich.cells import cell_len

    text = f"climb: {word * 60}, best score -1.000, 2 s"
    sent = drawn(lambda: Bar().show(text, "climb, 2 s", done), columns)
    (line,) = lines_of(sent)
    assert 0 < cell_len(line) < columns


def test_a_terminal_without_colours_gets_none(drawn, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    sent = drawn(lambda: Bar().show("climb, 2 s", "climb, 2 s", 0.5))
    assert "climb, 2 s" in lines_of(sent)[0]
    assert not re.search(r"\x1b\[3\dm", sent)


def test_searches_draw_by_it_within_a_command_only(drawn):
    def search():
        with _progress.ProgressBar(asked=True) as bar:
            bar("climb", -1.0, 2.0, share=0.5)

    def command():
        with _progress.drawn_by(Bar):
            search()

    told = "climb, best score -1.000, 2 s, about 2 s left"
    assert lines_of(drawn(command))[0].endswith(f"━ {told}")
    assert lines_of(drawn(search))[0] == f"[######      ] {told}"
