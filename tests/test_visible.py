"""What is shown is short, and no terminal obeys it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.clirunner import ok, run

import bayesmend as bm
from bayesmend._visible import tidy, visible
from bayesmend._warn import warn
from bayesmend.errors import (
    BayesmendError,
    DataError,
    FormatError,
    ParameterError,
    ShortfallWarning,
)
from bayesmend.formats import bif, jkl, json

EVIL = "evil\x1b[31m\x07\x9b2J\u202e"
SHOWN = r"evil\x1b[31m\x07\x9b2J\u202e"
TABLE = {EVIL: [EVIL, "no", None, "no"] * 3, "b": ["u", "v", "u", EVIL] * 3}


@given(st.text())
def test_nothing_is_left_to_obey_and_nothing_else_is_changed(text):
    shown = visible(text)
    assert shown.isprintable() or not any(ord(c) < 32 for c in shown if c not in "\t\n")
    assert "\x1b" not in shown
    assert visible(shown) == shown
    assert not text.isprintable() or shown == text


@given(st.text(max_size=50), st.integers(0, 5000))
def test_messages_stay_short(text, n):
    assert len(tidy(text * n)) <= 4000 * 6  # a character may be spelled in six
    assert len(tidy("x" * n)) <= 300


@pytest.mark.parametrize(
    "call",
    [
        lambda: bm.learn(TABLE, method="x" * 10**6),
        lambda: bm.learn(TABLE, max_parents="a b " * 10**5),
        lambda: bm.learn(TABLE, max_parents=-(10**5000)),
        lambda: bm.learn(TABLE, time_limit=-(10**5000)),
        lambda: bm.load_network("x" * 10**5),
        lambda: bif.parse("variable " + "x" * 10**6),
        lambda: bif.parse('variable "' + "x " * 10**6 + '"'),
        lambda: json.parse('{"format": "' + "x" * 10**6 + '"}'),
        lambda: jkl.parse("x" * 10**6),
        lambda: bm.query(bm.load_network("asia"), "x" * 10**5),
        lambda: bm.query(bm.load_network("asia"), "lung", given={"smoke": "x" * 10**5}),
    ],
)
def test_no_message_holds_a_whole_input(call):
    with pytest.raises(BayesmendError) as caught:
        call()
    assert len(str(caught.value)) < 5000


def test_errors_and_warnings_show_what_a_terminal_would_obey():
    assert str(DataError(f"state {EVIL}.")) == f"state {SHOWN}."
    assert EVIL not in str(FormatError(EVIL, EVIL, 1, 1))
    assert ParameterError().args == ()
    with pytest.warns(ShortfallWarning) as caught:
        warn(f"state {EVIL}", ShortfallWarning)
    assert str(caught[0].message) == f"state {SHOWN}"


def test_values_print_labels_safely():
    data = bm.IncompleteData.from_table(TABLE)
    network = bm.learn(data, seed=1).network
    given = {"b": EVIL}
    for shown in (
        str(data.summary()),
        repr(network.cpt(EVIL)),
        repr(bm.query(network, EVIL, given=given)),
        repr(bm.query(network, [EVIL, "b"])),
    ):
        assert "\x1b" not in shown
        assert SHOWN in shown


def test_commands_print_labels_safely(tmp_path):
    table, out = tmp_path / "table.csv", tmp_path / "out"
    bm.IncompleteData.from_table(TABLE).write_csv(table)
    net = out / "network.bif"
    assert SHOWN in ok("summary", table)
    shown = ok("learn", table, "--out", out)
    assert SHOWN in shown
    for command in (
        ["summary", table],
        ["query", net, "--target", EVIL, "--given", f"b={EVIL}"],
        ["query", net, "--target", EVIL + "?"],
        ["learn", table, "--out", tmp_path / "new", "--require", f"b,{EVIL}?"],
    ):
        result = run(*command)
        assert "\x1b" not in result.stdout + result.stderr + shown
        assert SHOWN in result.stdout + result.stderr
