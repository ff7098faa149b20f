"""Files as others write them: the sniffer alone, and with the reader behind it."""

import csv
import gzip
import io
import pickle
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from support.shared import DATA

from bayesmend.data.csv import CsvSource, open_source
from bayesmend.data.files import FileOptions
from bayesmend.data.sniff import find_encoding, sniff
from bayesmend.data.states import MISSING_MARKERS
from bayesmend.data.table import IncompleteData
from bayesmend.errors import (
    DataError,
    MissingDependencyError,
    ParameterError,
    ReadingWarning,
)

MARKERS = frozenset(MISSING_MARKERS)


def opened(path, **options):
    """A source that is ready to be asked."""
    source = open_source(path, FileOptions(**options))
    source.prepare(tuple(map(str, source.headers)), MARKERS)
    return source


@pytest.fixture
def read(tmp_path):
    def read(content, name="t.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return opened(path, **options)

    return read


@pytest.fixture
def fails(read):
    def fails(content, name="t.csv", error=DataError, **options):
        with pytest.raises(error) as caught:
            read(content, name, **options)
        return str(caught.value)

    return fails


def cells(source):
    """All cells of a source as text, column after column."""
    return [source.values(j) for j in range(len(source.headers))]


# --- encodings ----------------------------------------------------------------------

LETTERS = "naïve;Zoë\nÉté;5\n"


@pytest.mark.parametrize(
    ("encoding", "found"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16-le"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
        ("utf-32", "utf-32-le"),
        ("cp1252", "cp1252"),
    ],
)
def test_an_encoding_is_found_and_read(read, encoding, found):
    content = LETTERS.encode(encoding)
    assert find_encoding(content) == found
    source = read(content)
    assert source.headers == ("naïve", "Zoë")
    assert cells(source) == [["Été"], ["5"]]
    assert bool(source.notes) == (encoding == "cp1252")


def test_bytes_that_windows_does_not_know_are_latin_1(read):
    content = b"a,b\n\x81\xe9,1\n"
    assert find_encoding(content) == "latin-1"
    assert read(content).notes == [
        "the text is not UTF-8 and was read as Latin-1 (set encoding for another)"
    ]


def test_an_encoding_that_is_given_is_no_guess(read):
    source = read("a,b\nżółć,1\n".encode("cp1250"), encoding="cp1250")
    assert cells(source)[0] == ["żółć"]
    assert source.notes == []


def test_broken_utf8_is_located_and_not_taken_for_another_encoding(fails):
    content = "é,ü\nä,ö\n".encode() + b"\xff,x\n"
    assert fails(content).startswith("t.csv, line 3 is not UTF-8: byte 12 cannot be")


def test_zeros_are_an_error(fails):
    message = fails(b"a,b\nx,y\n\0,y\n")
    assert message.startswith("t.csv, line 3 has a NUL byte, so it is not plain text.")
    content = "a,b\nx,\0\n".encode("utf-16")
    assert fails(content).startswith("t.csv, line 2 has a NUL byte")


@given(st.text(min_size=1, max_size=30), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_whatever_is_utf8_is_found_to_be(text, encoding):
    assume("\0" not in text)
    assume(not text.startswith("\ufeff"))
    assert find_encoding(text.encode(encoding)) == "utf-8"


# --- delimiters ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1;2\n", ";"),
        ("a\tb\n1\t2\n", "\t"),
        ("a|b\n1|2\n", "|"),
        ("a b c\n1 2 3\n", "blanks"),
        ("1,5;2,5\n2,5;3,5\n", ";"),
        ("1,5\t2,5\n2,5\t3,5\n", "\t"),
        ("name\tage\nSmith, Ann\t5\nDoe, Bob\t6\n", "\t"),
        ('name;note\nx;"a;b,c,d"\ny;"c,d,e"\n', ";"),
        ("a,when\n1,2020-01-01 10:00\n2,2020-01-02 11:00\n", ","),
        ("18.0   8  3504. 1\t'amc rebel'\n15.0   8  3693. 1\t'buick'\n", "blanks"),
        ("15.26\t14.84\t\t1\n14.88\t14.57\t1\n", "blanks"),
        ("first name\nJohn Smith\nJane Doe\n", ","),
        ("one column of text\nthat is not a table\nof any kind at all\n", ","),
        ("sep=;\na,b;c\n1;2\n", ";"),
        ('"a;b"\n"c;d"\n', ","),
    ],
)
def test_a_delimiter_is_found(text, delimiter):
    assert sniff(text.encode()).delimiter == delimiter


def test_the_suffix_breaks_a_tie_only(read):
    text = b"a|b;c\nx|y;z\n"
    assert sniff(text).delimiter == ";"
    assert sniff(text, usual="|").delimiter == "|"
    assert read("a;b\n1;2\n", "t.tsv").headers == ("a", "b")
    assert read("a\n1\n2\n", "t.tsv").delimiter == "\t"


def test_runs_of_blanks_part_fields(read):
    source = read(' 1  2.5 ? \n10 3 x\n\t7\t8 "y z"  \n', "horse.data")
    assert source.delimiter == "blanks"
    assert cells(source)[:2] == [["1", "10", "7"], ["2.5", "3", "8"]]
    assert source.column(2).n_missing == 1


def test_quotes_hold_blanks_together(read):
    source = read('a b c\n1 "x  y" 2\n3 "z ""q""" 4\n')
    assert cells(source)[1] == ["x  y", 'z "q"']


def test_a_blank_after_every_delimiter_belongs_to_it(read):
    text = '39, State-gov,  13, "a, b"\n50, Private, 13, c\n28, Private, 9, c\n'
    source = read(text, "adult.data")
    assert cells(source)[1] == ["State-gov", "Private", "Private"]
    assert cells(source)[3] == ["a, b", "c", "c"]
    assert read("a,b\nx, y\nx,z\n").values(1) == [" y", "z"]


def test_a_header_with_blanks_has_none_in_its_names(read):
    assert read("a, b , c\n1,2,3\n").headers == ("a", "b", "c")
    assert read('a," b "\n1,2\n').headers == ("a", " b ")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_is_read(read, end):
    source = read(end.join(["a,b", 'x,"1', '2"', "y,3", ""]))
    assert cells(source) == [["x", "y"], [f"1{end}2", "3"]]
    assert source.place(1) == " in line 4 of t.csv"


def test_single_quotes_are_quotes_where_all_text_has_them(read):
    source = read("'name','age'\n'Smith, J','5'\n'Doe, K','6'\n")
    assert source.headers == ("name", "age")
    assert cells(source)[0] == ["Smith, J", "Doe, K"]
    assert cells(read("a,b\n'tis,1\nx,2\n"))[0] == ["'tis", "x"]


def test_blank_lines_before_the_table_are_skipped(fails, read):
    assert read("\n\r\na,b\nx,y\n").headers == ("a", "b")
    assert fails("\n\na,b\nx,y\nz\n").startswith("t.csv, line 5 has 1 field")


def test_ragged_rows_keep_their_message(fails):
    message = fails("1,2\n3,4\n5,6,7\n8,9\n")
    assert message.startswith("t.csv, line 3 has 3 fields, but the first line has 2.")


# --- headers ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "5.1,3.5,setosa\n4.9,3.0,setosa\n6.3,3.3,virginica\n",
        "1;2\n3;4\n",
        "p,x,s\ne,x,s\np,x,y\ne,b,s\n",
        "republican,n,?\ndemocrat,?,y\nrepublican,n,y\ndemocrat,y,n\n",
        "2020-01-01,x\n2020-01-02,y\n2020-01-03,z\n",
        "1,2,3\n4,5,6\n",
        "a,1,?\na,2,x\nb,3,y\n",
    ],
)
def test_a_first_row_of_data_is_no_header(read, text):
    source = read(text)
    assert not source.has_header
    assert source.n_rows == text.count("\n")
    assert source.headers == tuple(f"x{j}" for j in range(len(source.headers)))
    assert source.notes == [
        "the first line looks like data, so the columns are called x0, x1, ..."
        " (set header=True if it holds names, or give names)"
    ]
    assert read(text, header=False).notes == []
    assert read(text, header=True).n_rows == text.count("\n") - 1


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nx,y\n",
        "yes,no\n1,2\n",
        "id,group\n1,a\n2,b\n3,a\n",
        "country,2019,2020\nFrance,1.5,2.5\nItaly,3,4\n",
        "0,1,2\n5,6,7\n8,9,9\n",
        ",0,1,2\n0,5,6,7\n1,8,9,9\n",
        "a,b\n",
        "date,x\n2020-01-01,1\n2020-01-02,2\n",
        "a,a\nx,y\nz,w\n",
    ],
)
def test_a_first_row_of_names_is_a_header(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert CsvSource(path).has_header


def test_names_that_are_numbers_are_noticed(read):
    assert read("country,2019,2020\nFrance,1.5,2.5\nItaly,3,4\n").notes == [
        "the first line was taken as names, though 2019 is a number (set"
        " header=False if it is data)"
    ]
    assert read("0,1,2\n5,6,7\n8,9,9\n", header=True).notes == []


def test_given_names_mean_that_no_line_holds_them(read):
    assert read("1,2\n3,4\n", names_given=True).n_rows == 2
    source = read("a,b\n1,2\n3,4\n", names_given=True)
    assert source.n_rows == 3
    assert source.notes == [
        "the first line looks like names but was read as data, because names"
        " are given (set header=True to skip it)"
    ]
    source = read("a,b\n1,2\n3,4\n", names_given=True, header=True)
    assert (source.n_rows, source.notes) == (2, [])


def test_columns_without_a_name_get_one(read):
    source = read(",a,\n1,x,u\n2,y,v\n")
    assert source.headers == ("x0", "a", "x2")
    assert source.notes == ["2 columns have no name and are called x0, x2"]
    assert read(",x0\n1,x\n2,y\n").headers == ("x0_", "x0")


def test_row_names_without_a_name_are_a_column(read):
    source = read('"mpg" "cyl"\n"Mazda RX4" 21.0 6\n"Fiat" 22.8 4\n', "cars.txt")
    assert source.headers == ("x0", "mpg", "cyl")
    assert cells(source)[0] == ["Mazda RX4", "Fiat"]
    assert source.notes == ["1 column has no name and is called x0"]


def test_a_delimiter_at_the_end_of_rows_is_an_empty_column(read):
    source = read("a,b\r\n1,2,\r\n3,4,\r\n")
    assert source.headers == ("a", "b", "x2")
    assert cells(source) == [["1", "3"], ["2", "4"], ["", ""]]


# --- numbers ------------------------------------------------------------------------


def test_a_decimal_comma_is_found(read):
    source = read("a;b\n1,5;x\n;y\n-2,25e1;z\n")
    assert source.decimal == ","
    column = source.column(0)
    assert column.is_numeric
    assert column.decimal == ","
    assert source.values(0) == ["1,5", "", "-2,25e1"]
    np.testing.assert_array_equal(source.numbers(0), [1.5, np.nan, -22.5])


def test_numbers_with_a_decimal_comma_come_back_as_numbers(tmp_path):
    pytest.importorskip("pandas")
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("a;b\n1,5;x\n2,5;y\n;y\n1,5;x\n")
    with pytest.warns(ReadingWarning, match=r"comma \(write cut points as 1.5"):
        data = IncompleteData.from_table(path)
    np.testing.assert_array_equal(data.to_table()["a"], [1.5, 2.5, np.nan, 1.5])
    data.write_csv(out)
    assert out.read_text() == path.read_text()
    data.write_csv(out, delimiter=",")
    assert out.read_text() == 'a,b\n"1,5",x\n"2,5",y\n,y\n"1,5",x\n'
    assert IncompleteData.from_table(out, decimal=",") == data


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("a;b\n1,5;1.5\n2,5;2.5\n", "."),
        ("a;b\n1,5;x\n2,5,1;y\n", "."),
        ("a;b\n1.5;x\n2;y\n", "."),
        ("a;b\n0,125;x\n2;y\n", ","),
        ("a b c\n1,5 2,5 x\n2,5 3,5 y\n", ","),
        ('a,b\n"1,5",x\n"2,5",y\n', ","),
        ('a,b\n"1,500",x\n"2,500",y\n', "."),
        ("a;b\n1,85;34.898\n1,7;1.250\n", ","),
        ("a;b\n1,85;34.898\n1,7;1.25\n", "."),
        ("a;b\n1,200;1.234.567\n2,300;12\n", ","),
        ("a;b\n1.200;1,234,567\n2.300;12\n", "."),
        ("a;b\n1,200;1.234\n2,300;1.250\n", "."),
    ],
)
def test_the_decimal_mark_is_the_one_that_fits(text, decimal):
    assert sniff(text.encode()).decimal == decimal


def test_thousands_are_not_taken_for_decimals(read):
    source = read("a;b\n1,200;x\n12,500;y\n")
    assert not source.column(0).is_numeric
    assert source.notes == [
        "'1,200' was read as text (set decimal=',' if the comma comes before decimals)"
    ]
    source = read("a;b\n1,200;x\n12,500;y\n", decimal=",")
    assert source.numbers(0).tolist() == [1.2, 12.5]
    assert source.notes == []


COMMA = "numbers have a decimal comma (write cut points as 1.5, with a point)"


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (
            "a;b\n1,85;34.898\n1,7;1.250\n",
            [
                COMMA,
                "'34.898' was read as text (remove the points between thousands to have"
                " numbers)",
            ],
        ),
        (
            'a,b\n1.5,"76,689"\n2.5,"1,250"\n',
            [
                "'76,689' was read as text (remove the commas between thousands to have"
                " numbers)"
            ],
        ),
        (
            "a;b\n1,5;1.5\n2,5;2.5\n",
            ["'1,5' was read as text (numbers elsewhere have a decimal point)"],
        ),
        (
            "a;b\n12.345;x\n1.250;y\n",
            [
                "'12.345' was read as a number with decimals (set decimal=',' if the"
                " point parts thousands)"
            ],
        ),
        (
            "a;b\n1.234.567;x\n12.345;y\n",
            [
                "'1.234.567' was read as text (remove the points between thousands to"
                " have numbers)"
            ],
        ),
        ("a,b\n12.345,x\n1.250,y\n", []),
        ("a;b\n0.345;x\n1.250;y\n", []),
        ("a;b\n12.345;x\n1.5;y\n", []),
        ("a;b;c\n12.345;x;1.5\n1.250;y;2.5\n", []),
    ],
)
def test_marks_that_may_part_thousands_are_told(read, text, notes):
    assert read(text).notes == notes


def test_what_was_guessed_of_a_file_comes_with_its_errors(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a:b\n1:2\n2:1\n")
    with pytest.raises(DataError) as caught:
        IncompleteData.from_table(path, columns={"b": "drop"})
    assert str(caught.value) == (
        "no variable named 'b'. Available: a:b. Guessed of t.csv: the text was read as"
        " one column (set delimiter if it has more, and remove lines above the table)."
    )
    path.write_bytes(b"a;b\n1,5;\xe9\n2,5\n")
    with pytest.raises(DataError) as caught:
        IncompleteData.from_table(path)
    assert str(caught.value) == (
        "t.csv, line 3 has 1 field, but the header has 2. Quote fields that contain the"
        " delimiter. Fields are taken to be parted by ';'; set delimiter for another."
        " Guessed of t.csv: the text is not UTF-8 and was read as Windows-1252 (set"
        f" encoding for another); {COMMA}."
    )


def test_a_title_above_the_table_is_suspected(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Survey of 2020\na,b\n1,2\n2,1\n")
    with pytest.raises(DataError, match=r"delimiter; if line 1 is a title, remove it"):
        IncompleteData.from_table(path)
    path.write_text("# of 2020\na;b\n1;2\n2;1\n")
    with pytest.raises(DataError, match=r"line 2 has 2 fields, but the header has 1"):
        IncompleteData.from_table(path)
    path.write_text("Survey, of 2020\n\na,b\n1,2\n2,1\n")
    with pytest.raises(DataError, match=r"line 2 is blank.* if line 1 is a title"):
        IncompleteData.from_table(path)


def test_numbers_with_the_other_mark_are_text(fails, read):
    source = read("a;b\n1.5;x\n2.5;y\n", decimal=",")
    assert not source.column(0).is_numeric
    with pytest.raises(
        DataError, match=r"t.csv, line 2 has '1.5' in column 'a', which"
    ):
        source.numbers(0)


def test_any_numeric_column_gives_numbers_without_being_named_before(read):
    lines = [f"{k},{k / 7!r},s{k}" for k in range(3000)]
    source = read("\n".join(["a,b,c", *lines, ",,"]) + "\n")
    for j, factor in ((0, 1), (1, 1 / 7)):
        column = source.column(j)
        assert (column.is_numeric, column.n_distinct, column.n_missing) == (
            True,
            3000,
            1,
        )
        expected = [k * factor if factor == 1 else k / 7 for k in range(3000)]
        np.testing.assert_array_equal(source.numbers(j), [*expected, np.nan])
    column = source.column(2)
    assert (column.is_numeric, column.n_distinct, column.is_bound) == (
        False,
        3000,
        False,
    )
    assert source.values(2) == [*(f"s{k}" for k in range(3000)), ""]


# --- missing markers ----------------------------------------------------------------


def test_markers_are_counted(read):
    source = read("a,b\n?,1\n,NA\n ? ,2\nx,?\n")
    assert source.marker_counts == {"": 1, "?": 3, "NA": 1}
    assert source.count_markers([1]) == {"?": 1, "NA": 1}
    assert [source.column(j).n_missing for j in (0, 1)] == [3, 2]


@given(
    st.lists(
        st.sampled_from(
            ["", " ", "?", " ?", "NA", "x", "1", '"?"', *map(str, range(9))]
        ),
        max_size=60,
    ),
    st.booleans(),
    st.integers(1, 9),
)
def test_the_counts_are_those_of_the_text(tmp_path_factory, column, many, seed):
    if many:  # more labels than have codes, a missing code among them
        column = [*column, *(f"s{k}" for k in range(600)), *column]
    path = tmp_path_factory.mktemp("count") / "t.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{seed}\n" for cell in column))
    source = opened(path, header=True)
    plain = [cell.strip('"').strip() for cell in column]
    expected = {m: plain.count(m) for m in sorted(MARKERS) if m in plain}
    assert source.marker_counts == expected


# --- what is no text ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"PK\x03\x04rest", "t.zip", "t.zip is a zip archive, not delimited text."),
        (b"\xd0\xcf\x11\xe0rest", "t.xls", "t.xls is an old Excel file, not"),
        (b"$FL2@(#)", "t.sav", "t.sav is an SPSS file, not delimited text. Pass the"),
        (b"<stata_dta>", "t.dta", "t.dta is a Stata file, not delimited text. Pass"),
        (b"r\x01\x01\xff", "t.dta", "t.dta is a Stata file, not delimited text."),
        (b"X\n\0\0\0\3", "t.rds", "t.rds is an R file, not delimited text. Save it"),
        (gzip.compress(b"X\n\0\0\0\3", mtime=0), "t.rds", "t.rds is an R file, not"),
        (b"\0" * 12 + b"\xc2\xea\x81\x60", "t.x", "t.x is a SAS file, not delimited"),
        (b"%PDF-1.4", "t.pdf", "t.pdf is a PDF, not delimited text. Copy its table"),
        (b"SQLite format 3\0", "t.db", "t.db is an SQLite database, not delimited"),
        (b"\x28\xb5\x2f\xfd", "t.zst", "t.zst is packed by zstd, not delimited text."),
        (b"\0" * 257 + b"ustar", "t.tar", "t.tar is a tar archive, not delimited"),
        (b" <!DOCTYPE html>\n", "t.csv", "t.csv is a web page, not delimited text."),
        (b"<?xml version", "t.xml", "t.xml is an XML file, not delimited text."),
        (b'[{"a": 1}]', "t.json", "t.json is a JSON file, not delimited text."),
        (b"% c\n@relation x\n", "t.arff", "t.arff is an ARFF file, not delimited"),
        (b"PAR1rest", "t.csv", "t.csv is a Parquet file, not delimited text. Give it"),
        (b"", "t.data", "t.data is empty. Its first line must name the variables."),
    ],
)
def test_what_is_no_text_is_called_by_its_name(fails, content, name, message):
    assert fails(content, name).startswith(message)


def test_a_directory_is_called_a_directory(tmp_path):
    for name in ("some", "some.csv", "some.parquet"):
        (tmp_path / name).mkdir()
        with pytest.raises(DataError, match=r"some.*' is a directory\. Name a file in"):
            open_source(tmp_path / name)


def test_options_that_have_no_part_are_errors(tmp_path, fails):
    with pytest.raises(
        ParameterError, match="delimiter=';' has no part in reading a t"
    ):
        open_source({"a": ["x"]}, FileOptions(delimiter=";"))
    with pytest.raises(ParameterError, match="header=False has no part in reading a"):
        open_source(tmp_path / "t.parquet", FileOptions(header=False))
    message = fails("a,b\n", error=ParameterError, sheet=1)
    assert message == "sheet=1 has no part in reading delimited text. Leave it out."


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (
            {"delimiter": "::"},
            "delimiter must be one ASCII character other than a quote",
        ),
        ({"decimal": ";"}, "decimal must be '.' or ','. Got ';' instead."),
        ({"encoding": "klingon"}, "encoding must be the name of one, such as 'utf-8'"),
        ({"header": "yes"}, "header must be True or False. Got 'yes' instead."),
        ({"sheet": -1}, "sheet must be the name of a sheet or its number, from 0."),
    ],
)
def test_options_are_checked(option, message):
    with pytest.raises(ParameterError) as caught:
        FileOptions(**option)
    assert str(caught.value).startswith(message)


# --- any file -----------------------------------------------------------------------

WORDS = ["yes", "no", "São Paulo", "it's", "x y", 'say "hi"', "a, b", "c;d", "e|f", "é"]


@st.composite
def written_files(draw):
    """(content, header or None, columns as text, decimal mark) of a random file."""
    delimiter = draw(st.sampled_from([",", ";", "\t", "|", "blanks"]))
    # A comma between digits is a delimiter as well where blanks are.
    decimal = draw(st.sampled_from([".", ","] if delimiter in ";\t|" else ["."]))
    n_rows = draw(st.integers(5, 12))
    n_text = draw(st.integers(1 if delimiter != "blanks" else 2, 3))

    def column(values):
        return draw(st.lists(values, min_size=n_rows, max_size=n_rows))

    hundredths = st.integers(-99999, 99999).map(lambda k: f"{k / 100:.2f}")
    numbers = [column(hundredths) for _ in range(draw(st.integers(1, 3)))]
    texts = [column(st.sampled_from(WORDS)) for _ in range(n_text)]
    for text in texts:
        text[-1] = text[0]  # a label that occurs once might be a name
    columns = [[cell.replace(".", decimal) for cell in c] for c in numbers] + texts
    columns = draw(st.permutations(columns))
    header = None
    if draw(st.booleans()):
        header = [f"name {j}" if draw(st.booleans()) else f"v{j}" for j in range(99)]
        header = header[: len(columns)]
    encoding = draw(
        st.sampled_from(
            ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"]
        )
    )
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    always = draw(st.booleans())
    mark = draw(st.sampled_from([" ", "  "])) if delimiter == "blanks" else delimiter

    def quoted(cell):
        marks = f',;|\t"{" " if delimiter == "blanks" else ""}'
        is_number = cell.replace(decimal, "").lstrip("-").isdigit()
        if always or (any(m in cell for m in marks) and not is_number):
            return '"' + cell.replace('"', '""') + '"'
        return cell

    rows = [*([header] if header else []), *zip(*columns, strict=True)]
    text = end.join(mark.join(map(quoted, row)) for row in rows) + end
    return text.encode(encoding), header, [list(c) for c in columns], decimal


@given(written_files())
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_file_of_any_layout_reads_back(tmp_path_factory, file):
    content, header, columns, decimal = file
    path = tmp_path_factory.mktemp("any") / "t.dat"
    path.write_bytes(content)
    source = opened(path)
    names = header or [f"x{j}" for j in range(len(columns))]
    assert source.headers == tuple(names)
    assert cells(source) == columns
    for j, column in enumerate(columns):
        if not source.column(j).is_numeric:
            continue
        expected = [float(cell.replace(decimal, ".")) for cell in column]
        assert source.numbers(j).tolist() == expected
    n_numeric = sum(source.column(j).is_numeric for j in range(len(columns)))
    assert n_numeric == sum(set(c).isdisjoint(WORDS) for c in columns)


@given(
    st.binary(max_size=300) | st.text(st.sampled_from("a1,;\t|\"' \r\n.é"), max_size=80)
)
@example(b"\xff\xfe\0")
@example(b"\xff\xfe\0\0")
@example("sep=,\n")
@example("'a','b'\n'c")
@example(" \n \n")
def test_no_bytes_give_anything_but_a_table_or_an_error(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "t.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        source = opened(path)
    except DataError:
        return
    for j in range(len(source.headers)):
        column = source.column(j)
        texts = source.values(j)
        observed = [text for text in texts if text.strip(" \t\r\n\v\f") not in MARKERS]
        assert len(texts) == source.n_rows
        assert column.n_missing == len(texts) - len(observed)
        assert column.n_distinct == len(set(observed))


def test_texts_are_those_of_the_csv_module(tmp_path):
    rng = np.random.default_rng(1)
    pool = ["x", "", 'q"q', "a,b", "line\nend", " blank ", "ö"]
    rows = [[f"k{k}", *rng.choice(pool, 3)] for k in range(500)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["i", "a", "b", "c"], *rows])
    path = tmp_path / "t.csv"
    path.write_text(out.getvalue(), encoding="utf-8")
    source = opened(path)
    assert cells(source) == [list(column) for column in zip(*rows, strict=True)]


def test_a_source_is_copied_with_all_it_knows(read):
    source = read("a;b\n1,5;x\n?;y\n")
    copy = pickle.loads(pickle.dumps(source))
    assert cells(copy) == cells(source)
    assert copy.marker_counts == source.marker_counts
    np.testing.assert_array_equal(copy.numbers(0), source.numbers(0))


# --- files of others ----------------------------------------------------------------

RAW = {
    "hepatitis.data": (",", True, 155, 20),
    "horse-colic.data": ("blanks", False, 300, 28),
    "nhanes_2166.csv": (",", True, 2167, 28),
    "penguins.csv": (",", True, 344, 7),
    "processed.cleveland.data": (",", True, 303, 14),
    "titanic.csv": (",", True, 891, 15),
}


@pytest.mark.parametrize("name", sorted(RAW))
def test_raw_files_are_read(name):
    path = DATA / "raw" / name
    if not path.exists():
        pytest.skip(f"needs {path}")
    source = opened(path)
    found = source.delimiter, source.has_header, source.n_rows, len(source.headers)
    assert found == RAW[name]


# --- workbooks ----------------------------------------------------------------------


@pytest.fixture
def workbook(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def make(sheets, name="t.xlsx"):
        book = openpyxl.Workbook()
        book.remove(book.active)
        for title, rows in sheets.items():
            sheet = book.create_sheet(title)
            for row in rows:
                sheet.append(row)
        path = tmp_path / name
        book.save(path)
        return path

    return make


def test_a_workbook_is_read(workbook):
    import datetime

    day = datetime.date(2020, 2, 29)
    rows = [
        ["id", "age", "born", "note"],
        [1, 2.5, day, 'a "b",\nc'],
        [2, 3.0, None, "?"],
    ]
    for name in ("t.xlsx", "t.data"):
        source = opened(workbook({"one": rows, "empty": []}, name))
        assert source.headers == ("id", "age", "born", "note")
        assert cells(source) == [
            ["1", "2"],
            ["2.5", "3"],
            ["2020-02-29", ""],
            ['a "b",\nc', "?"],
        ]
        assert source.marker_counts == {"": 1, "?": 1}
        assert source.place(1) == f" in line 3 of {name}"
        assert source.notes == []
        assert [source.column(j).is_numeric for j in range(4)] == [1, 1, 0, 0]


def test_a_sheet_is_chosen_by_name_or_number(workbook):
    path = workbook({"a": [["x"], ["u"]], "b": [["y"], ["v"]]})
    assert opened(path).notes == [
        "there are 2 sheets with cells (a, b), and 'a' was read (set sheet for another)"
    ]
    for sheet in ("b", 1):
        source = opened(path, sheet=sheet)
        assert (source.headers, source.notes) == (("y",), [])
    with pytest.raises(ParameterError, match=r"t.xlsx has no sheet 'c'. It has: a, b."):
        opened(path, sheet="c")
    with pytest.raises(
        ParameterError, match=r"2 sheets, numbered from 0\. Got sheet=2"
    ):
        opened(path, sheet=2)
    with pytest.raises(
        ParameterError, match="delimiter=';' has no part in reading a w"
    ):
        opened(path, delimiter=";")


def test_a_sheet_may_lie_anywhere_and_have_no_header(workbook):
    path = workbook({"a": [[], [None, "n", "m"], [None, 1, None], [None, 2, "x"], []]})
    source = opened(path)
    assert source.headers == ("n", "m")
    assert cells(source) == [["1", "2"], ["", "x"]]
    assert source.place(0) == " in line 3 of t.xlsx"
    source = opened(workbook({"a": [[1, "u"], [2, "u"], [3, "w"]]}))
    assert source.headers == ("x0", "x1")
    assert len(source.notes) == 1


def test_a_workbook_without_cells_or_that_is_broken_is_refused(workbook, tmp_path):
    with pytest.raises(DataError, match=r"t.xlsx is empty. Its first row must name"):
        opened(workbook({"a": [], "b": []}))
    path = tmp_path / "broken.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<no/>")
    with pytest.raises(DataError, match=r"broken\.xlsx is not a readable workbook: "):
        opened(path)


def test_a_workbook_that_unpacks_to_too_much_is_refused(workbook, monkeypatch):
    path = workbook({"a": [["x"], ["u"]]})
    monkeypatch.setenv("BAYESMEND_MAX_UNPACKED", "1000")
    with pytest.raises(DataError, match=r"t.xlsx unpacks to [\d,]+ bytes\. Save the"):
        opened(path)


def test_without_openpyxl_a_sentence_says_what_to_do(workbook, monkeypatch):
    path = workbook({"a": [["x"], ["u"]]})
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingDependencyError, match=r"install 'bayesmend\[excel\]'"):
        opened(path)
