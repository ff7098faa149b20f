"""Public functions: hints for unknown parameters, and progress where it is asked."""

import inspect
import io
import re
import sys
from contextlib import suppress
from dataclasses import fields

import pytest

import bayesmend as bm
from bayesmend._entrance import OPENING, READING
from bayesmend._progress import ProgressLine
from bayesmend.data.opening import Opening
from bayesmend.data.reading import Reading, ReadingOptions
from bayesmend.errors import ParameterError, UnknownParameterError

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


def stderr_of(monkeypatch, stream, **options):
    monkeypatch.setattr(sys, "stderr", stream)
    result = bm.learn_em(TABLE, seed=1, restarts=0, **options)
    return result, stream.getvalue()


def test_progress_on_a_terminal_is_one_line_that_goes_away(monkeypatch):
    _, text = stderr_of(monkeypatch, Terminal(), progress=True)
    assert text.startswith("\r\x1b[Kstructural EM")
    assert text.endswith("\r\x1b[K")
    assert "\n" not in text


def test_progress_elsewhere_is_lines_that_stay(monkeypatch):
    _, text = stderr_of(monkeypatch, io.StringIO(), progress=True)
    assert re.fullmatch(r"structural EM \(\w+\), best score -?[\d.]+, 0 s\n", text)


@pytest.mark.parametrize("quiet", [{}, {"progress": None}, {"progress": False}])
def test_progress_is_silent_unless_asked_for(monkeypatch, quiet):
    result, text = stderr_of(monkeypatch, Terminal(), **quiet)
    loud, _ = stderr_of(monkeypatch, Terminal(), progress=True)
    assert text == ""
    assert result.score == loud.score


def test_the_line_goes_away_after_an_error(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with suppress(ZeroDivisionError), ProgressLine() as line:
        line("search", 1.0, 2.0)
        raise ZeroDivisionError
    assert stream.getvalue() == "\r\x1b[Ksearch, best score 1.000, 2 s\r\x1b[K"


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
