"""The reader of delimited text and its way back to a file."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from support import oracle, strategies

from bayesmend import _core
from bayesmend.data.csv import CsvSource
from bayesmend.data.files import FileOptions
from bayesmend.data.states import BLANKS, MISSING_MARKERS
from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError, ParameterError

COMMA = _core.CsvFormat()


def as_array(text):
    return np.frombuffer(bytearray(text), dtype=np.uint8)


def read_core(text, delimiter=",", markers=(), numeric=(), n_threads=1, chunk_bytes=0):
    """Rows of the text as the core reads them, or (kind, line)."""
    layout = _core.CsvFormat(delimiter)
    header = _core.read_csv_header(as_array(text), layout)
    if header.problem.kind != _core.CsvProblemKind.none:
        return header.problem.kind.name, header.problem.line
    n = len(header.names)
    is_number = np.array([j in numeric for j in range(n)], dtype=np.uint8)
    table = _core.read_csv(
        as_array(text), layout, list(markers), is_number, n_threads, chunk_bytes
    )
    if table.problem.kind != _core.CsvProblemKind.none:
        return table.problem.kind.name, table.problem.line
    same = np.tile(np.arange(256, dtype=np.uint8), (n, 1))
    codes = table.codes(np.arange(n), same, n_threads)
    labels = [table.labels(j) for j in range(n)]
    rows = [
        [None if code == 255 else labels[j][code] for j, code in enumerate(row)]
        for row in codes.T.tolist()
    ]
    return [header.names, *rows]


def quote(cell, delimiter, always):
    if always or any(mark in cell for mark in (delimiter, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def read(tmp_path, text, name="t.csv", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return IncompleteData.from_csv(path, **options)


def fails(tmp_path, text, error=DataError, **options):
    with pytest.raises(error) as caught:
        read(tmp_path, text, **options)
    return str(caught.value)


# --- the core against its twin ------------------------------------------------------


@given(
    strategies.awkward_tables(),
    st.sampled_from([",", "\t", ";"]),
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 40),
)
def test_a_written_table_reads_back(rows, delimiter, always, line_end, bom, chunk):
    lines = [
        delimiter.join(quote(c, delimiter, always or len(row) == 1) for c in row)
        for row in rows
    ]
    text = ("\ufeff" if bom else "") + line_end.join(lines) + line_end
    assert read_core(text.encode(), delimiter, chunk_bytes=chunk) == rows


@given(st.text(st.sampled_from(list('ab,"\r\n é')), max_size=40), st.integers(1, 9))
@example('a,b\n"x\ny",1\n"x\ny",2\n', 3)
@example('a\n"', 1)
@example("a,b\n1,2\n3\n", 2)
def test_any_text_reads_as_the_twin_reads_it(text, chunk):
    expected = oracle.parse_delimited(text, ",")
    assert read_core(text.encode(), chunk_bytes=chunk) == expected


@given(st.text(st.sampled_from(list('ab,"\n')), max_size=60), st.integers(1, 30))
def test_threads_and_chunks_do_not_change_the_result(text, chunk):
    once = read_core(text.encode())
    for n_threads in (1, 4, 7):
        assert read_core(text.encode(), n_threads=n_threads, chunk_bytes=chunk) == once


@given(st.binary(max_size=200), st.integers(1, 50))
def test_random_bytes_never_crash_the_reader(content, chunk):
    result = read_core(content, chunk_bytes=chunk)
    assert isinstance(result, list | tuple)
    _core.csv_line(as_array(content), COMMA, 3)
    _core.csv_line_of_label(as_array(content), COMMA, 0, "x")


@given(st.binary(max_size=60))
def test_the_first_invalid_byte_is_where_python_finds_it(content):
    content = content.translate(bytes.maketrans(b'\r\n,"', b"abcd")) + b"x"
    table = b"name\n" + content + b"\n"
    problem = _core.read_csv(as_array(table), COMMA, [], np.zeros(1, np.uint8)).problem
    try:
        table.decode("utf-8")
        expected = ("none", 0)
    except UnicodeDecodeError as error:
        expected = ("encoding", error.start)
    assert (problem.kind.name, problem.position) == expected


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=8))
def test_numeric_columns_come_as_python_reads_them(numbers):
    text = "x,y\n" + "".join(f"a, {number!r} \n" for number in numbers)
    is_number = np.array([0, 1], dtype=np.uint8)
    table = _core.read_csv(as_array(text.encode()), COMMA, ["NA"], is_number)
    assert table.numbers(1)[0].tolist() == numbers


@given(st.integers(0, 9), st.sampled_from(["x", 'a"b', "c\nd"]))
def test_places_are_found_by_row_and_by_label(row, label):
    rows = [["u", f"{k}\n{k}"] for k in range(10)]
    rows[row][0] = label
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([["a", "b"], *rows])
    text = as_array(out.getvalue().encode())
    extra = "\n" in label
    assert _core.csv_line(text, COMMA, row) == 2 + 2 * row
    assert _core.csv_line_of_label(text, COMMA, 0, label) == 2 + 2 * row
    assert _core.csv_line(text, COMMA, 10) == 22 + extra


def test_labels_of_one_chunk_and_of_many_are_limited():
    for n in (254, 255, 1024, 1025, 6000):
        text = "x\n" + "".join(f"label{k}\n" for k in range(n))
        for chunk in (0, 100):
            table = _core.read_csv(
                as_array(text.encode()), COMMA, [], np.zeros(1, np.uint8), 1, chunk
            )
            assert len(table.labels(0)) == min(n, 1024)
            assert table.is_truncated(0) == (n > 1024)


def test_many_spellings_of_missing_are_all_missing():
    cells = [" " * k + "NA" for k in range(5000)]
    rows = read_core(("x\n" + "\n".join(cells) + "\nyes\n").encode(), markers=["NA"])
    assert rows[1:] == [[None]] * 5000 + [["yes"]]


def test_a_huge_cell_is_a_label_like_any_other():
    big = "é" * (1 << 20)
    assert read_core(f"a,b\n{big},1\n{big},2\n".encode())[2] == [big, "2"]


def test_the_core_refuses_arguments_that_do_not_fit():
    text = as_array(b"a,b\nx,y\n")
    with pytest.raises(ValueError, match="one entry per column"):
        _core.read_csv(text, COMMA, [], np.zeros(1, np.uint8))
    table = _core.read_csv(text, COMMA, [], np.zeros(2, np.uint8))
    with pytest.raises(IndexError):
        table.codes(np.array([2]), np.zeros((1, 256), np.uint8))
    with pytest.raises(ValueError, match="one table of codes"):
        table.codes(np.array([0, 1]), np.zeros((1, 256), np.uint8))
    with pytest.raises(ValueError, match="256 codes"):
        table.codes(np.array([0]), np.zeros((1, 255), np.uint8))
    with pytest.raises(IndexError):
        table.labels(2)
    with pytest.raises(ValueError, match="must fit"):
        _core.write_csv_rows(np.zeros((1, 2), np.uint8), 0, 3, [["x", ""]], [], ",")


# --- reading ------------------------------------------------------------------------


def test_a_csv_is_read(tmp_path):
    data = read(tmp_path, "smoke,cough\nyes,1\n?,0\nno, NA \n")
    assert data.names == ("smoke", "cough")
    assert data.states == (("no", "yes"), ("0", "1"))
    assert data.codes.tolist() == [[1, 1], [255, 0], [0, 255]]


@given(strategies.awkward_tables())
def test_codes_and_states_match_the_twin(rows):
    text = "".join(",".join(quote(c, ",", True) for c in row) + "\n" for row in rows)
    header, *cells = rows
    markers = {"", "a"}
    columns = [
        oracle.encode_column(
            [row[j] for row in cells], lambda v: v.strip(BLANKS) in markers
        )
        for j in range(len(header))
    ]
    table = _core.read_csv(
        as_array(text.encode()), COMMA, ["", "a"], np.zeros(len(header), np.uint8)
    )
    for j, (states, _) in enumerate(columns):
        assert sorted(table.labels(j)) == sorted(states)


def test_numeric_text_is_ordered_by_value(tmp_path):
    data = read(tmp_path, "x,y\n10,b\n9,a\n-1,C\n1e1,\n")
    assert data.states == (("-1", "9", "10", "1e1"), ("C", "a", "b"))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.tsv.gz", "noname"])
def test_gzip_is_recognised_by_its_content(tmp_path, name):
    mark = "\t" if "tsv" in name else ","
    path = tmp_path / name
    path.write_bytes(gzip.compress(f"a{mark}b\nx{mark}y\nz{mark}w\n".encode()))
    assert IncompleteData.from_csv(path).states == (("x", "z"), ("w", "y"))


@pytest.mark.parametrize(
    ("name", "mark"), [("t.tsv", "\t"), ("t.tab", "\t"), ("t.txt", "|"), ("t", ";")]
)
def test_the_delimiter_follows_the_suffix_or_the_header(tmp_path, name, mark):
    data = read(tmp_path, f"a{mark}b\nx{mark}y\nz{mark}w\n", name)
    assert data.names == ("a", "b")


def test_a_delimiter_may_be_given(tmp_path):
    assert read(tmp_path, "a:b\nx:y\nz:w\n", delimiter=":").names == ("a", "b")
    assert read(tmp_path, "a;b\nx;y\nz;w\n", delimiter=",").names == ("a;b",)


def test_blank_lines_at_the_end_are_ignored(tmp_path):
    assert read(tmp_path, "a,b\nx,y\nz,w\n\n\r\n\n").n_rows == 2


def test_a_blank_line_in_a_single_column_is_a_missing_cell(tmp_path):
    assert read(tmp_path, "a\nx\n\ny\n").codes.ravel().tolist() == [0, 255, 1]


def test_a_header_alone_needs_declared_states(tmp_path):
    message = fails(tmp_path, "a,b\n")
    assert message == (
        "the table has no rows to learn from. To read it all the same, list its states:"
        " states={'a': [...]}."
    )
    data = read(tmp_path, "a,b", states={"a": ["x"], "b": ["y", "z"]})
    assert data.n_rows == 0
    assert data.codes.shape == (0, 2)


def test_weights_may_be_a_column(tmp_path):
    data = read(tmp_path, "a,w\nx,2\ny,0.5\n", weights="w")
    assert data.names == ("a",)
    assert data.weights.tolist() == [2, 0.5]


def test_a_nul_byte_is_located(tmp_path):
    message = fails(tmp_path, b"a,b\nx\0,y\nx,y\n")
    assert message.startswith("t.csv, line 2 has a NUL byte, so it is not plain text.")


def test_254_states_are_read_and_255_are_not(tmp_path):
    lines = [f"s{k:03}" for k in range(255)]
    model = {"columns": ["x"]}
    data = read(tmp_path, "x\n" + "\n".join(lines[:254]) + "\n?\n", **model)
    assert data.card.tolist() == [254]
    assert data.codes[-1, 0] == 255
    message = fails(tmp_path, "x\n" + "\n".join(lines) + "\n", **model)
    assert "variable 'x' has 255 states, and a variable has at most 254" in message
    many = "x\n" + "".join(f"s{k}\n" for k in range(5000))
    assert "variable 'x' has 5,000 states" in fails(tmp_path, many, **model)


def test_numbers_that_are_not_to_be_cut_must_be_few(tmp_path):
    text = "age\n" + "".join(f"{k}\n" for k in range(30))
    message = fails(tmp_path, text, discretize=None, columns=["age"])
    assert "variable 'age' has 30 distinct numeric values" in message
    assert "discretize={'age': 4}" in message
    assert read(tmp_path, text, discretize={"age": None}).card.tolist() == [30]
    text = "age\n" + "".join(f"{k}.5\n" for k in range(300))
    message = fails(tmp_path, text, discretize={"age": None})
    assert "has 300 distinct numeric values, and" in message
    text = "age\n" + "".join(f"{k}.5\n" for k in range(3000))
    message = fails(tmp_path, text, discretize={"age": None})
    assert "has 3,000 distinct numeric values" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv is empty. Its first line must name the variables."),
        ("\n\r\n", "t.csv is empty"),
        ("a,b\nx,y\nz\n", "t.csv, line 3 has 1 field, but the header has 2."),
        ("a,b\nx,y,z\n", "t.csv, line 2 has 3 fields, but the header has 2."),
        ('a,b\n"x\n",y,z\n', "t.csv, line 2 has 3 fields"),
        ("a,b\nx,y\n\nx,y\n", "t.csv, line 3 is blank. Remove it, or give its 2"),
        (
            b"a,\xc3\xa9\nx,\xc3\xa9\nx,\xff\n",
            "t.csv, line 3 is not UTF-8: byte 12 cannot be read.",
        ),
        ('a,b\nx,"y\n\n', "t.csv, line 2 opens a quote that never closes."),
        ('a,b\nx,"y"z\n', "t.csv, line 2 has text after a closing quote."),
        ('"a,b\nx,y\n', "t.csv, line 1 opens a quote that never closes."),
        ("a,a\nx,y\n", "columns 1 and 2 are both named 'a'. Rename one of them."),
        (b"\x1f\x8b\x08broken", "t.csv is not a complete gzip file."),
    ],
)
def test_a_text_that_cannot_be_read_is_located(tmp_path, text, message):
    assert fails(tmp_path, text).startswith(message)


def test_a_value_outside_the_declared_states_is_located(tmp_path):
    text = 'a,b\n"1\n",x\n2,y\n3,z\n'
    message = fails(tmp_path, text, states={"b": ["x", "y"]})
    assert "variable 'b' has the value 'z' in line 5 of t.csv" in message
    assert "declared states: 'x', 'y'." in message


def test_the_255th_label_is_located_too(tmp_path):
    labels = [f"s{k}" for k in range(255)]
    text = "x\n" + "\n".join(labels) + "\n"
    message = fails(tmp_path, text, states={"x": labels[:254]})
    assert "has the value 's254' in line 256 of t.csv" in message


@pytest.mark.parametrize("option", [{"weights": "w"}, {"discretize": {"w": 2}}])
def test_a_cell_that_is_no_number_is_located(tmp_path, option):
    message = fails(tmp_path, "a,w\nx,1\ny,k\n", **option)
    assert message.startswith("t.csv, line 3 has 'k' in column 'w', which is not a")


def test_an_infinite_number_is_located(tmp_path):
    for cell in ("inf", "1e999"):
        message = fails(tmp_path, f"a,w\nx,1\ny,{cell}\n", discretize={"w": 2})
        assert "variable 'w' has an infinite value in line 3 of t.csv" in message
    message = fails(tmp_path, "a,w\nx,1\ny,-1\n", weights="w")
    assert "weights must be finite and >= 0. Got -1.0 in line 3 of t.csv" in message


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*no\.csv.*: No such file"):
        IncompleteData.from_csv(tmp_path / "no.csv")
    with pytest.raises(DataError, match=r"cannot read .*no\.parquet.*: no such file"):
        IncompleteData.from_table(tmp_path / "no.parquet")


@pytest.mark.parametrize("text", [b"a,b\nx,y\nx,\xff\n", b"a,\xe9\nx,y\n"])
def test_an_encoding_that_is_given_must_fit(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_bytes(text)
    position = max(text.find(b"\xff"), text.find(b"\xe9"))
    line = 1 + text.count(b"\n", 0, position)
    for encoding in ("utf-8", "ascii"):
        with pytest.raises(DataError) as caught:
            CsvSource(path, FileOptions(encoding=encoding)).prepare(
                ("a", "b"), frozenset()
            )
        start = f"t.csv, line {line} is not {encoding}: byte {position} cannot"
        assert str(caught.value).lower().startswith(start)


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", "é"])
def test_a_delimiter_is_one_plain_character(tmp_path, delimiter):
    message = fails(tmp_path, "a\nx\n", ParameterError, delimiter=delimiter)
    assert message.startswith("delimiter must be one ASCII character")


# --- writing ------------------------------------------------------------------------


def test_blanks_are_no_delimiter_to_write(tmp_path):
    data = IncompleteData.from_table({"a": ["x", "y"]})
    with pytest.raises(ParameterError, match="delimiter must be one ASCII character"):
        data.write_csv(tmp_path / "out.csv", delimiter="blanks")


@given(
    st.lists(
        st.lists(
            strategies.awkward_text.filter(
                lambda t: t.strip(BLANKS) not in MISSING_MARKERS
            ),
            min_size=1,
            max_size=4,
            unique=True,
        ),
        min_size=1,
        max_size=3,
    ),
    st.data(),
    st.sampled_from([".csv", ".tsv", ".csv.gz"]),
)
def test_what_is_written_reads_back(tmp_path_factory, states, data, suffix):
    n = data.draw(st.integers(0, 5))
    codes = np.array(
        [
            [data.draw(st.sampled_from([*range(len(s)), 255])) for s in states]
            for _ in range(n)
        ],
        dtype=np.uint8,
    ).reshape(n, len(states))
    names = [f"v {j}," for j in range(len(states))]
    table = IncompleteData.from_codes(codes, names=names, states=states)
    path = tmp_path_factory.mktemp("csv") / f"t{suffix}"
    table.write_csv(path)
    declared = dict(zip(names, states, strict=True))
    assert IncompleteData.from_csv(path, states=declared) == table


def test_weights_are_written_and_read_back(tmp_path):
    data = read(tmp_path, "w,a\n2,x\n0.1,\n3,y\n", weights="w")
    data.write_csv(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "a,w\nx,2\n,0.1\ny,3\n"
    assert read(tmp_path, "a,w\nx,2\n,0.1\ny,3\n", weights="w") == data


def test_weights_without_a_name_must_get_one(tmp_path):
    data = IncompleteData.from_table({"a": ["x", "y"]}, weights=[2, 3])
    with pytest.raises(ParameterError, match="weights need a column of their own"):
        data.write_csv(tmp_path / "out.csv")
    data.write_csv(tmp_path / "out.csv", weights="w")
    assert (tmp_path / "out.csv").read_text() == "a,w\nx,2\ny,3\n"


def test_a_name_for_weights_that_are_not_there_is_refused(tmp_path):
    data = IncompleteData.from_table({"a": ["x", "y"]})
    with pytest.raises(ParameterError, match="has no row weights"):
        data.write_csv(tmp_path / "out.csv", weights="w")


def test_a_state_that_reads_as_missing_is_not_written(tmp_path):
    data = IncompleteData.from_table({"a": ["NA", "x"]}, missing=["?"])
    with pytest.raises(DataError, match="state 'NA' of variable 'a' would read back"):
        data.write_csv(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    data.write_csv(tmp_path / "out.csv", missing=["?"])
    back = IncompleteData.from_csv(tmp_path / "out.csv", missing=["?"])
    assert back == data


def test_missing_cells_need_a_marker(tmp_path):
    table = {"a": ["x", None], "b": ["", ""]}
    data = IncompleteData.from_table(table, missing=["-"], columns=["a", "b"])
    with pytest.raises(DataError, match="state '' of variable 'b' would read back"):
        data.write_csv(tmp_path / "out.csv", missing=["-"])
    with pytest.raises(DataError, match="missing cells need a marker"):
        data.write_csv(tmp_path / "out.csv", missing=[])


def test_an_empty_field_is_missing_whatever_the_markers(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n-9,u\n,v\n1,u\n2,NA\n")
    data = IncompleteData.from_table(path, missing=["-9"])
    assert data.states == (("1", "2"), ("NA", "u", "v"))
    assert data.missing_mask[:, 0].tolist() == [True, True, False, False]
    kept = IncompleteData.from_table(path, missing=[])
    assert kept.states[0] == ("", "-9", "1", "2")
    data.write_csv(tmp_path / "out.csv", missing=["-9"])
    again = IncompleteData.from_table(tmp_path / "out.csv", missing=["-9"])
    assert again == data


def test_text_beyond_unicode_is_not_written(tmp_path):
    data = IncompleteData.from_table({"a\ud800": ["x", "y"]})
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        data.write_csv(tmp_path / "out.csv")
    data = IncompleteData.from_table({"a": ["x\ud800", "y"]})
    with pytest.raises(DataError, match="cannot be written as UTF-8"):
        data.write_csv(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
