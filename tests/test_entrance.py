"""Public functions: hints for unknown parameters, and progress where it is asked."""

import inspect
import io
import re
import sys
import threading
from contextlib import suppress
from dataclasses import fields
from types import SimpleNamespace

import pytest

import bayesmend as bm
from bayesmend import _progress
from bayesmend._entrance import OPENING, READING
from bayesmend._warn import warn
from bayesmend.data.opening import Opening
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.errors import (
    BayesmendWarning,
    ParameterError,
    UnknownParameterError,
)

PARTS = [bm, *filter(inspect.ismodule, (getattr(bm, name) for name in bm.__all__))]
PARTS += [bm.formats.convert]
FUNCTIONS = {
    f"{part.__name__}.{name}": getattr(part, name)
    for part in PARTS
    for name in part.__all__
    if inspect.isfunction(getattr(part, name, None))
}
METHODS = {
    "from_table": bm.IncompleteData.from_table,
    "from_csv": bm.IncompleteData.from_csv,
    "from_codes": bm.IncompleteData.from_codes,
    "fit": bm.Network.fit,
    "sample": bm.load_network("asia").sample,
    "Constraints": bm.Constraints,
}
TABLE = {"a": ["x", "x", "y", None], "b": ["u", None, "v", "v"]}


@pytest.mark.parametrize(
    "function", [*FUNCTIONS.values(), *METHODS.values()], ids=[*FUNCTIONS, *METHODS]
)
def test_every_public_function_names_a_parameter_it_does_not_have(function):
    if not inspect.signature(function).parameters:
        pytest.skip("it takes nothing")
    with pytest.raises(UnknownParameterError, match=r"has no parameter 'colour'\. "):
        function(colour="red")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bm.learn(TABLE, random_state=1),
            "learn() has no parameter 'random_state'. It is called seed here.",
        ),
        (
            lambda: bm.learn_em(TABLE, verbose=1),
            "learn_em() has no parameter 'verbose'. It is called progress here.",
        ),
        (
            lambda: bm.learn_local(TABLE, n_jobs=-1),
            "learn_local() has no parameter 'n_jobs'. It is called n_threads here.",
        ),
        (
            lambda: bm.learn_structure(TABLE, max_indegree=2),
            "learn_structure() has no parameter 'max_indegree'. "
            "It is called max_parents here.",
        ),
        (
            lambda: bm.learn_exact(TABLE, blacklist=[("a", "b")]),
            "learn_exact() has no parameter 'blacklist'. "
            "It is called constraints={'forbidden': [...]} here.",
        ),
        (
            lambda: bm.learn(TABLE, required=[("a", "b")]),
            "learn() has no parameter 'required'. "
            "It is called constraints={'required': [...]} here.",
        ),
        (
            lambda: bm.Constraints(whitelist=[("a", "b")]),
            "Constraints() has no parameter 'whitelist'. It is called required here.",
        ),
        (
            lambda: bm.query(bm.load_network("asia"), evidence={"xray": "yes"}),
            "query() has no parameter 'evidence'. It is called given here.",
        ),
        (
            lambda: bm.IncompleteData.from_table(TABLE, na_values=["-"]),
            "IncompleteData.from_table() has no parameter 'na_values'. "
            "It is called missing here.",
        ),
        (
            lambda: bm.load_network("asia").sample(5, sed=1),
            "Network.sample() has no parameter 'sed'. Did you mean seed?",
        ),
        (
            lambda: bm.load_network("asia").sample(5, colour=1),
            "Network.sample() has no parameter 'colour'. "
            "Available: n_rows, seed, n_threads.",
        ),
    ],
)
def test_the_hint_leads_to_our_name(call, message):
    with pytest.raises(ParameterError, match=f"^{re.escape(message)}$") as caught:
        call()
    assert isinstance(caught.value, TypeError)


def test_signatures_and_docstrings_are_those_of_the_function():
    assert list(inspect.signature(bm.load_network).parameters) == ["name"]
    assert bm.learn.__name__ == "learn"
    assert "progress : bool or callable" in bm.learn.__doc__


# Progress.


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def impatient(monkeypatch):
    """Bars appear at once, asked for or not."""
    monkeypatch.setattr(_progress, "_PATIENCE", -1.0)


def stderr_of(monkeypatch, stream, run=bm.learn_em, **options):
    monkeypatch.setattr(sys, "stderr", stream)
    result = run(TABLE, seed=1, restarts=0, **options)
    return result, stream.getvalue()


BAR = r"\r\x1b\[K\[[# ]{12}\] structural EM \(\w+\), best score -[\d.]+, 0 s"


@pytest.mark.parametrize("asked", [{}, {"progress": None}, {"progress": True}])
def test_progress_on_a_terminal_is_a_bar_that_goes_away(monkeypatch, impatient, asked):
    _, text = stderr_of(monkeypatch, Terminal(), **asked)
    assert re.fullmatch(rf"({BAR})+\r\x1b\[K", text)


def test_a_bar_that_nobody_asked_for_leaves_short_work_alone(monkeypatch):
    monkeypatch.setattr(_progress, "_PATIENCE", 100.0)
    _, text = stderr_of(monkeypatch, Terminal())
    assert text == ""


def test_a_bar_knows_of_a_time_limit(monkeypatch, impatient):
    _, text = stderr_of(monkeypatch, Terminal(), time_limit=60.0)
    assert re.match(rf"{BAR}, at most 60 s left", text)


def test_progress_elsewhere_is_lines_that_stay_when_asked_for(monkeypatch, impatient):
    _, text = stderr_of(monkeypatch, io.StringIO(), progress=True)
    assert re.fullmatch(
        r"\[ {12}\] structural EM \(\w+\), best score -[\d.]+, 0 s\n", text
    )


@pytest.mark.parametrize(
    ("stream", "quiet"),
    [
        (Terminal, {"progress": False}),
        (io.StringIO, {}),
        (io.StringIO, {"progress": None}),
    ],
)
@pytest.mark.parametrize("run", [bm.learn, bm.learn_em, bm.learn_local])
def test_progress_is_silent_elsewhere_or_when_asked(
    monkeypatch, impatient, stream, quiet, run
):
    result, text = stderr_of(monkeypatch, stream(), run, **quiet)
    loud, _ = stderr_of(monkeypatch, Terminal(), run, progress=True)
    assert text == ""
    assert result.score == loud.score


def test_no_stderr_at_all_is_silent(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert bm.learn(TABLE, seed=1).is_optimal


def test_threads_of_the_caller_do_not_fight_for_the_line(monkeypatch, impatient):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    thread = threading.Thread(target=bm.learn_em, args=(TABLE,), kwargs={"seed": 1})
    thread.start()
    thread.join()
    assert stream.getvalue() == ""


def test_the_bar_makes_way_for_warnings(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with _progress.ProgressBar(asked=True) as bar:
        bar("search", -1.0, 2.0)
        with pytest.warns(BayesmendWarning):
            warn("look", BayesmendWarning)
        assert stream.getvalue().endswith("2 s\r\x1b[K")
    assert stream.getvalue().count("\x1b[K") == 2  # nothing was left to clear


def test_the_line_goes_away_after_an_error(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with suppress(ZeroDivisionError), _progress.ProgressBar(asked=True) as bar:
        bar("search", 1.0, 2.0)
        raise ZeroDivisionError
    assert stream.getvalue() == "\r\x1b[Ksearch, best score 1.000, 2 s\r\x1b[K"


@pytest.mark.parametrize(
    ("news", "limit", "line"),
    [
        ({}, None, "search: 3 steps, best score -2.000, 4 s"),
        (
            {"bound": -1.0},
            None,
            "search: 3 steps, best score -2.000, bound -1.000, 4 s",
        ),
        (
            {"share": 0.25},
            None,
            "[###         ] search: 3 steps, best score -2.000, 4 s, about 12 s left",
        ),
        # What does not fit is left out.
        (
            {"bound": -1.0, "share": 0.1},
            8.0,
            "[######      ] search, best score -2.000, bound -1.000, 4 s, at most 4 s",
        ),
    ],
)
def test_a_bar_shows_what_is_known(monkeypatch, news, limit, line):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "73")
    with _progress.ProgressBar(asked=True, time_limit=limit) as bar:
        bar("search: 3 steps", -2.0, 4.0, **news)
    assert stream.getvalue() == f"\r\x1b[K{line}\r\x1b[K"


def test_a_notebook_shows_a_bar_that_is_written_over(monkeypatch, impatient):
    seen, drawn = [], []

    class Handle:
        def update(self, shown, *, raw):
            seen.append(shown["text/plain"])
            drawn.append(shown["text/html"])

    def display(shown, *, raw, display_id):
        handle = Handle()
        handle.update(shown, raw=raw)
        return handle

    shell = SimpleNamespace(kernel=object())
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    shows = SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shows)
    _, text = stderr_of(monkeypatch, io.StringIO())
    assert text == ""
    assert seen[0].startswith("[            ] structural EM (empty), best score -")
    assert "structural EM (empty), best score -" in drawn[0]
    assert re.search(r'<progress [^>]*value="0\.\d{3}"></progress>', drawn[0])
    assert seen[-1] == ""
    assert drawn[-1] == '<div style="display: none"></div>'
    seen.clear()
    shell.kernel = None  # IPython in a terminal is a terminal
    assert stderr_of(monkeypatch, io.StringIO())[1] == ""
    assert seen == []


def test_a_callable_is_told_what_it_takes():
    three, all_of_it, named = [], [], []
    data = bm.hide_mcar(bm.load_network("asia").sample(300, seed=1), 0.2, seed=1).data
    bm.learn_em(data, restarts=0, seed=1, progress=lambda *news: three.append(news))
    bm.learn_em(
        data, restarts=0, seed=1, progress=lambda *news, **more: all_of_it.append(more)
    )
    assert all(len(news) == 3 for news in three)
    assert all_of_it[0]["share"] == 0.0
    assert all_of_it[-1]["share"] in (0.5, 0.75)  # there may be no complete rows
    assert {more["bound"] for more in all_of_it} == {float("inf")}

    def hear(what, score, seconds, *, bound):
        named.append((score, bound))

    bm.learn_exact(data, time_limit=2.0, restarts=0, seed=1, progress=hear)
    assert any(score <= bound < float("inf") for score, bound in named)


@pytest.mark.parametrize(
    "run",
    [bm.learn, bm.learn_exact, bm.learn_local, bm.learn_em, bm.learn_structure],
)
def test_what_cannot_be_told_is_refused(run):
    message = "progress must be True, False, None or a callable"
    with pytest.raises(ParameterError, match=message):
        run({"a": ["x", "y"]}, progress="yes")


# Reading options.


def test_the_reading_options_are_those_of_from_table():
    of_table = inspect.signature(bm.IncompleteData.from_table).parameters
    options = {name: p.default for name, p in of_table.items() if name != "table"}
    assert list(options) == list(READING)
    assert set(READING) == set(Reading.__annotations__)
    assert options == {f.name: f.default for f in fields(ReadingOptions)}
    assert set(OPENING) == set(Opening.__annotations__)


def test_from_csv_has_the_options_of_a_text_file():
    of_csv = list(inspect.signature(bm.IncompleteData.from_csv).parameters)
    assert set(of_csv) - {"path"} == set(READING) - {"sheet"}
