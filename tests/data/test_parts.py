"""Tables in several files, read batch by batch: what reading them as one gives."""

import csv
import gzip
import io
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.tables import fails

from bayesmend import IncompleteData
from bayesmend.data import blocks, parts, roles
from bayesmend.data.csv import open_source
from bayesmend.errors import DataError, OutOfMemoryError

pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.ReadingWarning")

WORDS = [
    "no",
    "yes",
    "often",
    'say "so"',
    "a,b",
    "two\nlines",
    "é",
    "NA",
    "",
    "-9",
    "7",
]


@st.composite
def columns(draw, n_rows):
    """A column of text or numbers, some of its cells missing."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    kind = draw(
        st.sampled_from(
            ["words", "few", "many", "floats", "names", "late", "constant", "empty"]
        )
    )
    if kind == "words":
        cells = rng.choice(draw(st.lists(st.sampled_from(WORDS), min_size=1)), n_rows)
        return [str(cell) for cell in cells]
    if kind == "names":
        return [f"n {k}" for k in range(n_rows)]
    if kind == "constant":
        return ["same"] * n_rows
    if kind == "floats":
        numbers = rng.normal(size=n_rows).round(draw(st.integers(0, 5)))
    else:
        top = {"few": 4, "many": 600, "late": 500, "empty": 1}[kind]
        numbers = rng.integers(0, top, n_rows)
    cells = [str(number) for number in numbers.tolist()]
    if kind == "late" and n_rows:  # text among numbers, when these are many
        cells[-1] = "low"
    share = 1.0 if kind == "empty" else draw(st.sampled_from([0.0, 0.2]))
    return ["" if rng.random() < share else cell for cell in cells]


@st.composite
def tables(draw, most=320):
    """(header, rows, where the parts end): some parts have no rows."""
    n_rows = draw(st.integers(0, 12) | st.integers(260, most))
    listed = draw(st.lists(columns(n_rows), min_size=2, max_size=4))
    header = [f"v{j}" for j in range(len(listed))]
    ends = sorted(draw(st.lists(st.integers(0, n_rows), max_size=4)))
    return header, list(zip(*listed, strict=True)), [0, *ends, n_rows]


def as_text(header, rows, delimiter, end):
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end)
    writer.writerows([header, *rows])
    return file.getvalue().encode()


def outcome(read):
    """Return what is read, or that it cannot be used."""
    try:
        data = read()
    except DataError:
        return None
    told = data.names, data.states, data.codes.tolist(), data.schema
    return *told, data.discretization, data.origin.marker_counts


@settings(deadline=None)
@given(
    tables(),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([40, 1000, 1 << 25]),
    st.booleans(),
    st.sampled_from([None, ["", "NA"], [-9, "NA"]]),
)
def test_text_in_parts_is_read_as_the_whole_is(
    table, delimiter, end, block, is_packed, missing
):
    header, rows, ends = table
    options = {"missing": missing, "delimiter": delimiter, "header": True}
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        folder, paths = Path(name), []
        pack = gzip.compress if is_packed else bytes
        whole = folder / "whole.csv"
        whole.write_bytes(as_text(header, rows, delimiter, end))
        for k, (first, last) in enumerate(pairwise(ends)):
            paths.append(folder / f"part-{k}.csv")
            content = as_text(header, rows[first:last], delimiter, end)
            paths[-1].write_bytes(pack(content))
        one = outcome(lambda: IncompleteData.from_table(whole, **options))
        assert outcome(lambda: IncompleteData.from_table(paths, **options)) == one
        if not is_packed:
            again = outcome(lambda: IncompleteData.from_table([whole], **options))
            assert again == one


def typed(rows, n_columns):
    """Columns with the types that their cells have in a frame."""
    found = {}
    for j in range(n_columns):
        cells = [row[j] or None for row in rows]
        seen = [cell for cell in cells if cell is not None]
        try:
            found[f"v{j}"] = [None if c is None else float(c) for c in cells]
        except ValueError:
            found[f"v{j}"] = cells
        if not seen:
            found[f"v{j}"] = cells
    return found


def frame_of(found, first, last):
    kinds = {
        name: pl.Float64 if any(isinstance(c, float) for c in cells) else pl.String
        for name, cells in found.items()
    }
    return pl.DataFrame(
        {name: cells[first:last] for name, cells in found.items()}, schema=kinds
    )


@settings(deadline=None)
@given(
    tables(), st.sampled_from(["parquet", "arrow"]), st.sampled_from([1000, 1 << 25])
)
def test_frames_in_parts_are_read_as_the_whole_is(table, suffix, block):
    header, rows, ends = table
    found = typed(rows, len(header))
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "BLOCK", block)
        folder = Path(name)

        def write(path, frame):
            write = frame.write_parquet if suffix == "parquet" else frame.write_ipc
            write(path)

        write(folder / f"whole.{suffix}", frame_of(found, 0, len(rows)))
        for k, (first, last) in enumerate(pairwise(ends)):
            write(folder / f"part-{k}.{suffix}", frame_of(found, first, last))
        one = outcome(lambda: IncompleteData.from_table(folder / f"whole.{suffix}"))
        pattern = str(folder / f"part-*.{suffix}")
        assert outcome(lambda: IncompleteData.from_table(pattern)) == one


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def test_a_pattern_takes_files_in_the_order_of_their_numbers(tmp_path):
    for k in (10, 9, 1):
        write(tmp_path, f"p{k}.csv", f"a,b\nx{k},u\n")
    data = IncompleteData.from_table(str(tmp_path / "p*.csv"), columns=["a"])
    assert [data.states[0][code] for code in data.codes[:, 0]] == ["x1", "x9", "x10"]


def test_another_order_of_columns_is_refused_by_file(tmp_path):
    one = write(tmp_path, "one.csv", "a,b\nx,u\ny,v\n")
    two = write(tmp_path, "two.csv", "b,a\nu,x\nv,y\n")
    told = fails([one, two])
    assert told == (
        "two.csv has the columns of one.csv in another order: column 1 is 'b' instead"
        " of 'a'. Write them in one order."
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a\nx\n", "two.csv lacks 'b', which one.csv has."),
        ("a,b,c\nx,u,1\n", "two.csv has 'c', which one.csv lacks."),
    ],
)
def test_columns_that_differ_are_refused_by_file(tmp_path, text, told):
    one = write(tmp_path, "one.csv", "a,b\nx,u\ny,v\n")
    assert told in fails([one, write(tmp_path, "two.csv", text)])


def test_a_pattern_without_files_is_refused(tmp_path):
    assert "no file is called like" in fails(str(tmp_path / "no-*.csv"))


def test_parts_of_different_formats_are_refused(tmp_path):
    one = write(tmp_path, "one.csv", "a,b\nx,u\ny,v\n")
    pl.DataFrame({"a": ["x"], "b": ["u"]}).write_parquet(tmp_path / "two.parquet")
    assert "different kinds" in fails([one, tmp_path / "two.parquet"])


def test_files_without_bytes_have_no_rows_and_are_named(tmp_path):
    paths = [
        write(tmp_path, "one.csv", "a,b\nx,u\ny,v\n"),
        write(tmp_path, "b.csv", ""),
    ]
    data = IncompleteData.from_table(paths[::-1])
    assert data.n_rows == 2
    assert data.notes == ("no bytes, hence no rows, are in b.csv",)


def test_errors_name_the_line_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)
    one = write(tmp_path, "one.csv", "a,b\n" + "x,u\ny,v\n" * 9)
    two = write(tmp_path, "two.csv", 'a,b\n"x\nx",u\n' + "y,v\n" * 9 + "x\n")
    assert "two.csv, line 13 has 1 field" in fails([one, two])
    three = write(tmp_path, "three.csv", "a,b\nx,u\n\ny,v\n")
    assert "three.csv, line 3 is blank" in fails([one, three])


def test_a_quote_that_never_closes_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 10)
    path = write(tmp_path, "one.csv", "a,b\n" + "x,u\n" * 9 + '"y,v\n' + "x,u\n" * 9)
    assert "line 11 opens a quote that never closes" in fails([path])


def test_encodings_are_those_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK", 7)
    text = "größe;b\nänderung;u\nkein;v\n" * 1
    for encoding in ("utf-8-sig", "utf-16", "cp1252"):
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes(text.encode(encoding))
        whole = IncompleteData.from_table(path)
        data = IncompleteData.from_table([path])
        assert (data, data.notes) == (whole, whole.notes)


def test_text_and_numbers_in_different_files_are_mixed_types(tmp_path):
    pl.DataFrame({"a": ["x", "y"], "b": ["u", "v"]}).write_parquet(
        tmp_path / "1.parquet"
    )
    pl.DataFrame({"a": [1, 2], "b": ["u", "v"]}).write_parquet(tmp_path / "2.parquet")
    files = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    data = IncompleteData.from_table(files)
    assert data.names == ("b",)
    assert "mixes text (in 1.parquet) and numbers (in 2.parquet)" in fails(
        files, columns=["a", "b"]
    )


def test_whole_numbers_become_floats_where_a_part_has_holes(tmp_path):
    pd.DataFrame({"a": [1, 2, 1], "b": [True, False, True]}).to_parquet(
        tmp_path / "1.parquet"
    )
    pd.DataFrame({"a": [1, None, 3], "b": [True, None, None]}).to_parquet(
        tmp_path / "2.parquet"
    )
    pd.DataFrame({"a": [None, None], "b": [None, None]}).to_parquet(
        tmp_path / "3.parquet"
    )
    data = IncompleteData.from_table(str(tmp_path / "*.parquet"))
    assert data.states == ((1, 2, 3), (False, True))
    assert data.codes.tolist() == [
        *([0, 1], [1, 0], [0, 1], [0, 1], [255, 255], [2, 255], [255, 255], [255, 255])
    ]


def test_declared_states_are_kept_where_all_files_declare_them(tmp_path):
    for name, declared in {"1": "cab", "2": "cab", "3": "bca"}.items():
        column = pa.DictionaryArray.from_arrays([0, 1, 1], list(declared))
        table = pa.table({"v": column, "w": ["x", "y", "x"]})
        pa.parquet.write_table(table, tmp_path / f"{name}.parquet")
    same = IncompleteData.from_table([tmp_path / "1.parquet", tmp_path / "2.parquet"])
    assert same.states[0] == ("c", "a", "b")
    mixed = IncompleteData.from_table(str(tmp_path / "*.parquet"))
    assert mixed.states[0] == ("a", "b", "c")
    assert mixed.codes[:, 0].tolist() == [2, 0, 0, 2, 0, 0, 1, 2, 2]
    assert "declare different states of v" in mixed.notes[0]


def test_cells_beyond_the_memory_are_refused_beforehand(tmp_path, monkeypatch):
    path = write(tmp_path, "one.csv", "a,b\n" + "x,u\ny,v\n" * 1000)
    monkeypatch.setattr(parts, "available_memory", lambda: 2000.0)
    told = fails([path], error=OutOfMemoryError)
    assert "needs about 0.0 GiB for its cells" in told


def test_columns_left_behind_are_named(tmp_path):
    rows = "".join(f"n{k},{k % 2},{k % 3}\n" for k in range(50))
    path = write(tmp_path, "one.csv", f"id,a,b\n{rows}")
    data = IncompleteData.from_table([path])
    assert "so id will not be among the columns" in data.notes[-1]
    assert list(data.to_pandas().columns) == ["a", "b"]


def test_numbers_that_are_cut_come_back_as_intervals(tmp_path):
    rows = "".join(f"{k / 7},{k % 2}\n" for k in range(90))
    path = write(tmp_path, "one.csv", f"a,b\n{rows}")
    data = IncompleteData.from_table([path])
    assert set(data.to_pandas()["a"]) == set(data.states[0])


@pytest.mark.parametrize("option", [{"weights": "w"}, {"normalise": True}])
def test_options_mean_the_same(tmp_path, option):
    rows = [f"{'Yes' if k % 3 else 'yes '},{k % 2},{k % 5}\n" for k in range(40)]
    head = "a,b,w\n"
    whole = write(tmp_path, "whole.csv", head + "".join(rows))
    one = write(tmp_path, "one.csv", head + "".join(rows[:7]))
    two = write(tmp_path, "two.csv", head + "".join(rows[7:]))
    data = IncompleteData.from_table([one, two], **option)
    assert data == IncompleteData.from_table(whole, **option)


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_polars_alone_reads_parts(tmp_path, suffix, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], 900),
            "b": rng.integers(0, 700, 900),
            "c": [None if k % 7 == 0 else k % 3 for k in range(900)],
        }
    )
    for k, (first, last) in enumerate([(0, 500), (500, 500), (500, 900)]):
        part = frame[first:last]
        path = tmp_path / f"{k}.{suffix}"
        part.write_parquet(path) if suffix == "parquet" else part.write_ipc(path)
    monkeypatch.setattr(blocks, "_pyarrow", lambda: None)
    monkeypatch.setattr(blocks, "BLOCK", 2000)
    data = IncompleteData.from_table(str(tmp_path / f"*.{suffix}"))
    whole = IncompleteData.from_table(frame)
    assert data == whole
    assert data.discretization == whole.discretization


def test_a_large_file_is_read_in_batches(tmp_path, monkeypatch):
    rows = "".join(f"{k % 3},{k % 5}\n" for k in range(500))
    path = write(tmp_path, "large.csv", f"a,b\n{rows}")
    whole = IncompleteData.from_table(path)
    monkeypatch.setattr(parts, "WHOLE_TEXT", 1000)
    assert parts.files_of(path) == [path]
    assert IncompleteData.from_table(path) == whole


def test_whole_numbers_name_rows_even_where_counting_stopped(tmp_path):
    rows = "".join(f"{k},{k % 2}\n" for k in range(1000))
    source = open_source(write(tmp_path, "a.csv", f"id,a\n{rows}"))
    source.prepare(("id", "a"), frozenset())
    column = replace(source.column(0), n_distinct=300, is_bound=True)
    assert roles._name_rows(source, 0, column)
    assert not roles._name_rows(source, 0, replace(column, is_bound=False))
