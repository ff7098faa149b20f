"""Candidate parent sets as files: what is written reads back, errors have a place."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.strategies import candidate_lists

from bayesmend.errors import DataError, FormatError
from bayesmend.formats.jkl import parse, read_jkl, render, write_jkl
from bayesmend.structure.parents import ParentSets

WORDS = st.text(
    st.characters(exclude_categories=["Cs", "Zs", "Zl", "Zp", "Cc"]), min_size=1
).filter(lambda word: not word.startswith("#"))


@given(candidate_lists(), st.data())
def test_what_is_written_reads_back_equal(lists, data):
    names = data.draw(
        st.lists(WORDS, min_size=len(lists), max_size=len(lists), unique=True)
    )
    sets = ParentSets.from_lists(names, lists)
    assert parse(render(sets)) == sets


@pytest.mark.parametrize("name", ["scores.jkl", "scores.jkl.gz"])
def test_files_read_back_equal(tmp_path, name):
    sets = ParentSets.from_lists("ab", [[(-0.1, ())], [(-1 / 3, (0,)), (-2, ())]])
    write_jkl(sets, tmp_path / name)
    assert read_jkl(tmp_path / name) == sets
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_packed_file_is_packed(tmp_path):
    sets = ParentSets.from_lists("a", [[(-0.1, ())]])
    write_jkl(sets, tmp_path / "a.jkl.gz")
    assert gzip.decompress((tmp_path / "a.jkl.gz").read_bytes()) == b"1\na 1\n-0.1 0\n"


def test_the_text_is_the_format_of_gobnilp():
    sets = ParentSets.from_lists(
        ["rain", "wet"], [[(-3.0, ())], [(-4.0, ()), (-1.5, (0,))]]
    )
    assert render(sets) == "2\nrain 1\n-3.0 0\nwet 2\n-1.5 1 rain\n-4.0 0\n"


def test_blank_lines_tabs_and_line_ends_of_windows_are_read():
    sets = parse("2\r\n\r\na\t1\r\n -1 0\r\nb 1\r\n-2e0 1 a\r\n\r\n")
    assert [sets.of(0), sets.of(1)] == [[(-1.0, ())], [(-2.0, (0,))]]


def test_comments_are_skipped_wherever_they_stand():
    sets = parse("# BIC\n2\n# a\na 2\n-1 0\n  # 1 b\n-0.5 1 b#\n#\nb# 1\n-2 0\n# end")
    assert sets.names == ("a", "b#")
    assert [sets.of(0), sets.of(1)] == [[(-0.5, (1,)), (-1.0, ())], [(-2.0, ())]]


def test_comments_count_as_lines_of_the_file():
    with pytest.raises(FormatError) as caught:
        parse("# one\n\n1\n# two\na 1\nx 0")
    assert (caught.value.line, caught.value.column) == (6, 1)


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("", 1, 1, "expected the number of variables"),
        ("x", 1, 1, "expected the number of variables"),
        ("-1", 1, 1, "expected the number of variables"),
        ("1 2", 1, 3, "expected the end of the line"),
        ("2\na 1\n-1 0\n", 3, 5, "expected 2 variables, but has 1"),
        ("1\na", 2, 2, "expected the number of candidates"),
        ("1\na b", 2, 3, "expected the number of candidates"),
        ("1\na 0", 2, 3, "at least one candidate"),
        ("1\na 1 1", 2, 5, "expected the end of the line"),
        ("1\na 2\n-1 0", 3, 5, "expected 2 candidates of 'a'"),
        ("1\na 1\nx 0", 3, 1, "expected a score"),
        ("1\na 1\n1_0 0", 3, 1, "expected a score"),
        ("1\na 1\nnan 0", 3, 1, "expected a score"),
        ("1\na 1\ninf 0", 3, 1, "expected a score"),
        ("1\na 1\n-1", 3, 3, "expected the number of parents"),
        ("1\na 1\n-1 1", 3, 4, "expected 1 parents. Got 0"),
        ("1\na 1\n-1 1 b", 3, 6, "no variable named 'b'. Available: a."),
        ("2\na 1\n-1 0\nb 1\n-1 2 a a", 5, 8, "'a' occurs a second time"),
        ("2\na 1\n-1 0\na 1\n-1 0", 4, 1, "'a' occurs a second time"),
        ("1\na 2\n-1 0\n-2 0", 4, 1, "this candidate occurs a second time"),
        ("1\na 1\n-1 0\nb 1", 4, 1, "expected the end of the file"),
        ("1\na 1\n-1 1 a", 3, 6, "'a' is a parent of itself"),
    ],
)
def test_errors_point_at_the_place(text, line, column, problem):
    with pytest.raises(FormatError) as caught:
        parse(text, "scores.jkl")
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert problem in error.problem
    assert str(error).startswith("scores.jkl, line")


@pytest.mark.parametrize("name", ["a b", "", "a\n", "a\u2003b"])
def test_names_that_do_not_fit_are_refused(name):
    sets = ParentSets.from_lists([name], [[(-1.0, ())]])
    with pytest.raises(DataError, match="white space"):
        render(sets)


def test_a_name_that_would_read_as_a_comment_is_refused():
    with pytest.raises(DataError, match=r"is a comment. Rename the variable '#a'"):
        render(ParentSets.from_lists(["#a"], [[(-1.0, ())]]))
