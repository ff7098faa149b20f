"""BIF: the forms in use, and where errors point."""

import re
from dataclasses import replace

import numpy as np
import pytest
from support.timing import within

from bayesmend import load_network
from bayesmend.errors import FormatError, ParameterError, ProbabilityWarning
from bayesmend.formats.bif import parse, render

A = "variable a { type discrete [ 2 ] { n, y }; }\n"
B = "variable b { type discrete [ 3 ] { u, v, w }; }\n"
C = "variable c { type discrete [ 2 ] { f, t }; }\n"
PA = "probability ( a ) { table 0.2, 0.8; }\n"
PB = "probability ( b ) { table 0.2, 0.3, 0.5; }\n"


def test_plain_words_are_written_without_quotes():
    text = render(load_network("asia"))
    assert '"' not in text
    assert "probability ( lung | smoke ) {\n  (yes) 0.1, 0.9;\n" in text


def test_rows_name_the_configuration_they_belong_to():
    rows = "".join(
        f"({a}, {b}) 0.{i}, 0.{9 - i}9e0, 0.01;"
        for i, (b, a) in enumerate((b, a) for b in "vuw" for a in "yn")
    )
    text = A + B + B.replace(" b ", " d ") + PA + PB
    network = parse(text + f"probability ( d | a, b ) {{ {rows} }}")
    cpt = network.cpts[2]
    assert cpt[:, 0].tolist() == pytest.approx([0.3, 0.2, 0.1, 0.0, 0.5, 0.4])


def test_parents_may_be_listed_in_any_order():
    rows = "(f, u) 1 0; (f, v) .9 .1; (f, w) .8 .2; (t, u) .7 .3; (t, v) .6 .4;"
    text = B + C + "variable a { type discrete [2] {n, y}; }" + PB
    text += "probability ( c ) { table .5 .5; }"
    network = parse(text + f"probability ( a | c, b ) {{ {rows} (t, w) .5 .5; }}")
    assert network.dag.parents[2] == (0, 1)
    assert network.cpts[2][:, 0].tolist() == [1, 0.9, 0.8, 0.7, 0.6, 0.5]


def test_a_table_of_a_family_has_the_child_slowest_and_the_last_parent_fastest():
    # The example of the specification: P(light on) is 0.6 when the family is out.
    text = """
    variable "family-out" { type discrete[2] { "true" "false" }; }
    variable "light-on" { type discrete[2] { "true" "false" }; }
    probability ( "family-out" ) { table 0.15 0.85; }
    probability ( "light-on" "family-out" ) { table 0.6 0.05 0.4 0.95; }
    """
    network = parse(text)
    assert network.dag.arcs == (("family-out", "light-on"),)
    assert network.cpts[1].tolist() == [[0.6, 0.4], [0.05, 0.95]]


def test_default_fills_the_configurations_not_listed():
    text = A + B + PB + "probability ( a | b ) { default 0.5 0.5; (v) 1 0; }"
    assert parse(text).cpts[0].tolist() == [[0.5, 0.5], [1, 0], [0.5, 0.5]]


def test_properties_and_comments_are_skipped():
    text = """
    // a comment } with "signs
    network "my ; net" { property author = "x; } y"; property 7; }
    /* another { */
    variable a { // here
      property position = (73, 165) ;
      type /* there */ discrete [ 2 ] { n, /* and */ y };
      property "q" ;
    }
    probability ( a ) {
      property p; table 0.2, // the first
      0.8 /* the second */ ;
    }
    """
    assert parse(text).cpts[0].tolist() == [[0.2, 0.8]]


def test_blocks_may_come_in_any_order():
    assert parse(PA + A) == parse(A + PA)


def test_words_like_keywords_can_be_labels():
    text = 'variable table { type discrete [ 2 ] { default, "}" }; }'
    text += "probability ( table ) { table 0.5, 0.5; }"
    assert parse(text).states == (("default", "}"),)


def test_rounding_is_divided_out_in_silence():
    cpt = parse(A + "probability ( a ) { table 0.33333, 0.66666; }").cpts[0]
    assert cpt.sum() == pytest.approx(1, abs=1e-15)


def test_more_than_rounding_is_divided_out_with_a_warning():
    text = A + "probability ( a ) { table 0.3, 0.3; }"
    message = r"<text>, line 2, column 15: a row of the table of 'a' sums to 0.6"
    with pytest.warns(ProbabilityWarning, match=message):
        assert parse(text).cpts[0].tolist() == [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "declares no variable"),
        ("network x {", 1, 1, "network block is not closed by '}'"),
        ("nodes x {", 1, 1, "expected 'network', 'variable' or 'probability'. Got"),
        ("variable {", 1, 10, "expected the name of a variable. Got '{'"),
        ("variable a", 1, 11, "expected '{'. Got the end of the file"),
        ('variable "a {', 1, 10, "quoted text has no end"),
        ("variable a { kind", 1, 14, "expected 'type', 'property' or '}'. Got 'kind'"),
        ("variable a {\n type real", 2, 7, "expected 'discrete'. Got 'real'"),
        ("variable a { }", 1, 10, "variable 'a' has no type"),
        ("variable a { property", 1, 14, "property is not closed by ';'"),
        ("variable a { type discrete [3] {n, y}; }", 1, 29, "announces 3 states but l"),
        ("variable a { type discrete [1] {n; }; }", 1, 34, "expected a state or '}'"),
        ("variable a { type discrete [0] {}; }", 1, 10, "1 to 254 states. Got 0"),
        ("variable a { type discrete [2] {n, n}; }", 1, 10, "differ. Got 'n' twice"),
        ("variable a { type discrete [2] {n, y} }", 1, 39, "expected ';'. Got '}'"),
        ('variable "" { type discrete [1] {n}; }', 1, 10, "must have a name"),
        (A + A, 2, 10, "variable 'a' is declared twice"),
        (A, 1, 10, "variable 'a' has no probabilities"),
        (A + PA + PA, 3, 15, "variable 'a' has a second table"),
        (A + "probability ( x ) {}", 2, 15, "no variable named 'x' is declared"),
        (A + "probability ( a | a ) {}", 2, 19, "'a' occurs twice in this family"),
        (A + "probability a {}", 2, 13, "expected '('. Got 'a'"),
        (
            A + "probability ( a ) { table 0.2; }",
            2,
            26,
            "expected 2 probabilities. Got 1",
        ),
        (A + "probability ( a ) { table 1, x; }", 2, 30, ">= 0. Got 'x'"),
        (A + "probability ( a ) { table 2, -1; }", 2, 30, ">= 0. Got '-1'"),
        (A + "probability ( a ) { table nan 1; }", 2, 27, ">= 0. Got 'nan'"),
        (A + "probability ( a ) { table 1_0 1; }", 2, 27, ">= 0. Got '1_0'"),
        (A + "probability ( a ) { table 0 0; }", 2, 15, "sums to 0.0 instead of 1"),
        (A + "probability ( a ) { table 1 0 }", 2, 31, "expected ';'. Got '}'"),
        (A + "probability ( a ) { rows 1 0; }", 2, 21, "expected 'table', 'default'"),
        (A + "probability ( a ) { }", 2, 15, "no probabilities for 1 of 1"),
        (A + "probability ( a ) {\n table 1 0; () 1 0; }", 2, 15, "a table and rows"),
        (A + C + "probability ( a | c ) { (f) 1 0; }", 3, 15, "for 1 of 2 configu"),
        (A + C + "probability ( a | c ) { (f) 1 0; (f) 1 0; }", 3, 34, "second row"),
        (A + C + "probability ( a | c ) { (x) 1 0; }", 3, 26, "no state 'x' of this"),
        (A + C + "probability ( a | c ) { (f, t) 1 0; }", 3, 25, "expected 1 states"),
        (
            A
            + C
            + "probability (a|c) {default 1 0;}\nprobability (c|a) {default 1 0;}",
            3,
            14,
            "the arcs form a cycle: a -> c -> a",
        ),
    ],
)
def test_an_error_points_at_its_cause(text, line, column, problem):
    with pytest.raises(FormatError) as caught:
        parse(text, "net.bif")
    assert problem in caught.value.problem
    assert (caught.value.line, caught.value.column) == (line, column)
    assert str(caught.value).startswith(f"net.bif, line {line}, column {column}: ")


def test_a_table_beyond_memory_is_refused():
    with pytest.raises(FormatError, match="'v0', which has 2,147,483,648 entries"):
        parse(with_default(31))


def with_default(n_vars, n_tables=1):
    """Write a network of few bytes and large tables."""
    names = [f"v{i}" for i in range(n_vars)]
    parts = [A.replace(" a ", f" {name} ") for name in names]
    for child in range(n_vars):
        parents = names[child + 1 :] if child < n_tables else []
        given = f" | {', '.join(parents)}" if parents else ""
        parts.append(f"probability ( v{child}{given} ) {{ default 1 0; }}\n")
    return "".join(parts)


def test_a_small_file_takes_little_memory(monkeypatch):
    assert parse(with_default(21)).cpts[0].shape == (2**20, 2)
    # 2**23 + 2**22 entries in its first two tables
    message = "'v1', which has 4,194,304 entries, the network has more than 10,000,000"
    with pytest.raises(FormatError, match=message):
        parse(with_default(23, n_tables=5))
    monkeypatch.setenv("BAYESMEND_MAX_ENTRIES", "8")
    with pytest.raises(FormatError, match="more than 8 in all"):
        parse(with_default(3))
    monkeypatch.setenv("BAYESMEND_MAX_ENTRIES", "12")
    assert parse(with_default(3)).n_vars == 3
    monkeypatch.setenv("BAYESMEND_MAX_ENTRIES", "-1")
    with pytest.raises(ParameterError, match="BAYESMEND_MAX_ENTRIES must be an integ"):
        parse(with_default(3))


OPEN = "/* " * 30_000


@pytest.mark.parametrize(
    "text",
    [
        A + PA + OPEN,
        "network x { " + OPEN + "}",
        A + "probability ( a ) { " + OPEN,
        "variable a { type discrete [ 2 ] { " + OPEN,
        "variable a { property " + OPEN,
        A + "probability ( a ) { table " + OPEN.replace(" ", " 0.2 ") + " }",
        "network x { " + "/" * 90_000,
        "network x { " + '"' * 90_001,
        A + "probability ( a | " + ", ".join(f"p{i}" for i in range(20_000)) + " )",
    ],
)
def test_what_is_never_closed_is_noticed_at_once(text):
    with within(1.0), pytest.raises(FormatError):
        parse(text)


def test_too_many_parents_are_refused():
    names = [f"v{i}" for i in range(40)]
    text = "".join(
        f"variable {name} {{ type discrete [ 1 ] {{ x }}; }}\n" for name in names
    )
    with pytest.raises(FormatError, match="'v0' has more than 31 parents"):
        parse(text + f"probability ( v0 | {', '.join(names[1:])} ) {{ default 1; }}")


def supported_asia():
    """Every third cell of every table has no example."""
    asia = load_network("asia")
    flags = [np.arange(cpt.size).reshape(cpt.shape) % 3 > 0 for cpt in asia.cpts]
    return replace(asia, support=tuple(flags))


def test_the_support_of_a_network_is_kept():
    network = supported_asia()
    text = render(network)
    assert "  property bayesmend_support = 01;\n" in text
    assert parse(text) == network
    assert parse(render(load_network("asia"))).support is None


def test_support_goes_with_parents_in_any_order():
    network = supported_asia()
    text = render(network)
    head = re.search(
        r"probability \( either \| (\w+), (\w+) \) \{(.*?)\n\}", text, re.S
    )
    rows = re.findall(r"\((\w+), (\w+)\) ([^;]*);", head[3])
    flags = re.search(r"bayesmend_support = (\d+);", head[3])[1]
    pairs = [flags[k : k + 2] for k in range(0, 8, 2)]
    turned = "".join(f"\n  ({b}, {a}) {numbers};" for a, b, numbers in rows)
    turned += (
        f"\n  property bayesmend_support = {pairs[0]}{pairs[2]}{pairs[1]}{pairs[3]};"
    )
    block = f"probability ( either | {head[2]}, {head[1]} ) {{{turned}\n}}"
    assert parse(text.replace(head[0], block)) == network


@pytest.mark.parametrize("flags", ["0", "012", "0 1", ""])
def test_support_that_does_not_fit_its_table_is_refused(flags):
    text = render(supported_asia())
    changed = text.replace(
        "bayesmend_support = 01;", f"bayesmend_support = {flags};", 1
    )
    with pytest.raises(FormatError, match=r"bayesmend_support must be 2 digits 0 or 1"):
        parse(changed)
