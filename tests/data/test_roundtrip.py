"""Observed cells come back as they were, bit for bit, whatever the type."""

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal as assert_polars_equal
from support.examples import examples

from bayesmend import IncompleteData
from bayesmend.data import MISSING
from bayesmend.errors import DataError

WORDS = ["a", "B", " c", "ä", "NA", "7"]
TEXTS = st.sampled_from(WORDS)
SMALL = st.integers(-100, 100)
HALVES = st.integers(-50, 50).map(lambda n: n / 2)
LONG = st.floats(-1e6, 1e6, allow_subnormal=False)
DATES = st.dates(datetime.date(1950, 1, 1), datetime.date(2050, 1, 1))
TIMES = st.datetimes(datetime.datetime(1950, 1, 1), datetime.datetime(2050, 1, 1))

# What a column may hold, and whether its numbers are cut.
PANDAS = {
    "object": (TEXTS, object, False),
    "str": (TEXTS, "str", False),
    "string": (TEXTS, "string", False),
    "arrow text": (TEXTS, pd.ArrowDtype(pa.string()), False),
    "category": (TEXTS, pd.CategoricalDtype(WORDS[::-1]), False),
    "ordered": (TEXTS, pd.CategoricalDtype(WORDS, ordered=True), False),
    "boolean": (st.booleans(), "boolean", False),
    "object booleans": (st.booleans(), object, False),
    "Int16": (SMALL, "Int16", True),
    "UInt8": (st.integers(0, 200), "UInt8", True),
    "float64": (HALVES, "float64", True),
    "long": (LONG, "float64", True),
    "float32": (HALVES, "float32", True),
    "Float64": (HALVES, "Float64", True),
    "int[pyarrow]": (SMALL, pd.ArrowDtype(pa.int32()), True),
    "double[pyarrow]": (HALVES, pd.ArrowDtype(pa.float64()), True),
    "object numbers": (SMALL, object, True),
    "number texts": (SMALL.map(str), "str", True),
}
POLARS = {
    "String": (TEXTS, pl.String, False),
    "Enum": (TEXTS, pl.Enum(WORDS), False),
    "Categorical": (TEXTS, pl.Categorical, False),
    "Boolean": (st.booleans(), pl.Boolean, False),
    "Int8": (SMALL, pl.Int8, True),
    "UInt64": (st.integers(0, 200), pl.UInt64, True),
    "Float32": (HALVES, pl.Float32, True),
    "Float64": (LONG, pl.Float64, True),
    "number texts": (SMALL.map(str), pl.String, True),
}
ARROW = {
    "string": (TEXTS, pa.string(), False),
    "large": (TEXTS, pa.large_string(), False),
    "view": (TEXTS, pa.string_view(), False),
    "dictionary": (TEXTS, pa.dictionary(pa.int8(), pa.string()), False),
    "bool": (st.booleans(), pa.bool_(), False),
    "int8": (SMALL, pa.int8(), True),
    "float": (HALVES, pa.float32(), True),
    "double": (LONG, pa.float64(), True),
}
NUMPY = {
    "float64": (HALVES, np.dtype("float64"), True),
    "float32": (HALVES, np.dtype("float32"), True),
    "object": (TEXTS, np.dtype(object), False),
    "masked int": (SMALL, np.dtype("int16"), True),
    "masked text": (TEXTS, np.dtype("U3"), False),
}
EVERY = (
    [("pandas", *PANDAS[key]) for key in PANDAS]
    + [("polars", *POLARS[key]) for key in POLARS]
    + [("pyarrow", *ARROW[key]) for key in ARROW]
    + [("numpy", *NUMPY[key]) for key in NUMPY]
    + [("mapping", TEXTS, None, False), ("mapping", HALVES, None, True)]
)
NAMES = (
    [f"pandas {key}" for key in PANDAS]
    + [f"polars {key}" for key in POLARS]
    + [f"pyarrow {key}" for key in ARROW]
    + [f"numpy {key}" for key in NUMPY]
    + ["mapping", "mapping of numbers"]
)


def build(kind, dtype, cells):
    """Make a table of one column with holes and another one without."""
    rest = ["u", "v"] * (len(cells) // 2) + ["u"] * (len(cells) % 2)
    if kind == "pandas":
        index = pd.Index(range(10, 10 + len(cells)), name="row")
        return pd.DataFrame({"x": pd.array(cells, dtype=dtype), "y": rest}, index=index)
    if kind == "polars":
        return pl.DataFrame({"x": pl.Series(cells, dtype=dtype), "y": rest})
    if kind == "pyarrow":
        return pa.table({"x": pa.array(cells, type=dtype), "y": rest})
    if kind == "numpy":
        if dtype.kind in "iU":
            mask = [[cell is None] for cell in cells]
            blank = "" if dtype.kind == "U" else 0
            filled = [[blank if cell is None else cell] for cell in cells]
            return np.ma.array(np.array(filled, dtype=dtype), mask=mask)
        if dtype.kind == "f":
            cells = [math.nan if cell is None else cell for cell in cells]
        return np.array([[cell] for cell in cells], dtype=dtype)
    return {"x": cells, "y": rest}


def assert_same(kind, left, right):
    if kind == "pandas":
        pd.testing.assert_frame_equal(left, right, check_exact=True)
    elif kind == "polars":
        assert_polars_equal(left, right, check_exact=True)
    elif kind == "pyarrow":
        assert left.equals(right)
        assert left.schema.equals(right.schema, check_metadata=True)
    elif kind == "numpy":
        assert type(left) is type(right)
        assert left.dtype == right.dtype
        assert np.array_equal(np.ma.getmaskarray(left), np.ma.getmaskarray(right))
        shown = ~np.ma.getmaskarray(left)
        np.testing.assert_array_equal(
            np.ma.getdata(left)[shown], np.ma.getdata(right)[shown]
        )
    else:
        assert left == right


def dtype_of(kind, table):
    if kind == "pyarrow":
        return table.column("x").type
    if kind == "mapping":
        return None
    return table.dtype if kind == "numpy" else table["x"].dtype


def column_of(kind, table):
    if kind == "pyarrow":
        return table.column("x").to_pylist()
    if kind == "numpy":
        return [row[0] for row in table.tolist()]
    return [None if v is None or v is pd.NA else v for v in list(table["x"])]


def is_null(value):
    return value is None or value is pd.NA or value != value


def identical(one, two):
    """Tell whether two cells are equal bit for bit."""
    if is_null(one) or is_null(two):
        return is_null(one) and is_null(two)
    return type(one) is type(two) and one == two


# Every second one here, all of them with the slow tests.
HALF = [
    pytest.param(*case, marks=pytest.mark.slow if k % 2 else [])
    for k, case in enumerate(EVERY)
]


@pytest.mark.parametrize(("kind", "values", "dtype", "is_cut"), HALF, ids=NAMES)
@examples(15)
@given(source=st.data())
def test_observed_cells_are_never_altered(kind, values, dtype, is_cut, source):
    cells = source.draw(st.lists(values | st.none(), min_size=3, max_size=12))
    cells = [*cells, source.draw(values), source.draw(values)]
    table = build(kind, dtype, cells)
    name = "x0" if kind == "numpy" else "x"
    options = {"discretize": {name: [0.5, 20]} if is_cut else None}
    columns = [name] if kind == "numpy" else [name, "y"]
    data = IncompleteData.from_table(table, missing=[], columns=columns, **options)
    assert_same(kind, data.to_table(), table)
    # Any completion changes the missing cells and nothing else.
    column = data.index(name)
    hole = data.missing_mask[:, column]
    codes = data.codes.copy()
    state = source.draw(st.integers(0, len(data.states[column]) - 1))
    codes[hole, column] = state
    filled = data.with_codes(codes).to_table()
    assert type(filled) is type(table)
    assert dtype_of(kind, filled) == dtype_of(kind, table)
    before, after = column_of(kind, table), column_of(kind, filled)
    for one, two, was_missing in zip(before, after, hole, strict=True):
        if not was_missing:
            assert identical(one, two)
        else:
            assert not is_null(two)
    if is_cut and hole.any():
        rule = data.discretization
        numbers = np.array([float(v) for v in after])
        assert rule.codes(name, numbers)[hole].tolist() == [state] * hole.sum()
        decimals = rule.numbers_of(name).decimals
        if decimals is not None:
            np.testing.assert_allclose(numbers, numbers.round(decimals), rtol=1e-6)
    # What is hidden becomes null, and the rest stays.
    hidden = data.with_codes(np.full(data.codes.shape, MISSING, np.uint8)).to_table()
    if kind != "numpy":
        assert all(map(is_null, column_of(kind, hidden)))
    # The head is the head of the whole.
    head = column_of(kind, data.with_codes(codes).head(2))
    assert all(map(identical, head, after[:2]))


DATE_COLUMNS = {
    "pandas ns": ("pandas", TIMES, "datetime64[ns]"),
    "pandas zone": ("pandas", TIMES, "datetime64[us, Europe/Berlin]"),
    "pandas dates": ("pandas", DATES, object),
    "pandas arrow": ("pandas", DATES, pd.ArrowDtype(pa.date32())),
    "polars dates": ("polars", DATES, pl.Date),
    "polars times": ("polars", TIMES, pl.Datetime("ms")),
    "polars decimals": ("polars", SMALL.map(Decimal), pl.Decimal(10, 2)),
    "arrow dates": ("pyarrow", DATES, pa.date32()),
    "arrow times": ("pyarrow", TIMES, pa.timestamp("us", tz="UTC")),
    "mapping": ("mapping", DATES, None),
}


@pytest.mark.parametrize(
    ("kind", "values", "dtype"), DATE_COLUMNS.values(), ids=DATE_COLUMNS
)
@examples(10)
@given(source=st.data())
def test_columns_that_are_no_variables_come_back_in_place(kind, values, dtype, source):
    cells = source.draw(st.lists(values | st.none(), min_size=2, max_size=9))
    table = build(kind, dtype, cells)
    data = aside(table)
    assert_same(kind, data.to_table(), table)
    codes = data.codes.copy()
    codes[0] = 1 - codes[0]
    other = data.with_codes(codes).to_table()
    assert all(map(identical, column_of(kind, other), column_of(kind, table)))
    first = next(iter(other["y"]))
    assert str(first) == "v"


def aside(table):
    """Read a table whose column x a network does not know."""
    from bayesmend import Dag, Network
    from bayesmend.inference.align import read_for

    known = Network(Dag.from_arcs(["y"]), (("u", "v"),), ([[0.5, 0.5]],))
    return read_for(known, table).data


def test_a_frame_that_changes_later_does_not_change_what_was_read():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    array = np.array([[1.0, 2.0], [2.0, 1.0]])
    mapping = {"a": ["x", "y"], "b": np.array([1, 2])}
    kept = [IncompleteData.from_table(table) for table in (frame, array, mapping)]
    frame.loc[0, "a"] = array[0, 0] = mapping["a"][0] = "7"
    mapping["b"][0] = 9
    assert kept[0].to_table()["a"].tolist() == ["x", "y"]
    assert kept[1].to_table().tolist() == [[1, 2], [2, 1]]
    again = kept[2].to_table()
    assert (again["a"], again["b"].tolist()) == (["x", "y"], [1, 2])


# Files.


def written(data, path, **options):
    data.write_csv(path, **options)
    return path.read_text()


def test_observed_fields_are_written_as_they_were_read(tmp_path):
    text = 'age,id,sex\n07,"a,b",m\n+31, c ,f\n,d,m\n1e1,e,\n'
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text(text)
    data = IncompleteData.from_table(path, discretize={"age": [20]})
    assert written(data, out) == text
    codes = data.codes.copy()
    codes[codes == MISSING] = 0
    filled = written(data.with_codes(codes), out)
    assert filled == 'age,id,sex\n07,"a,b",m\n+31, c ,f\n8,d,m\n1e1,e,f\n'


def test_filled_numbers_are_written_as_the_column_is(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text("size,sex\n1.50,m\n2.00,f\n,m\n7.25,f\n")
    data = IncompleteData.from_table(path, discretize={"size": [5]})
    codes = data.codes.copy()
    codes[codes == MISSING] = 0
    full = data.with_codes(codes)
    assert written(full, out) == "size,sex\n1.50,m\n2.00,f\n1.75,m\n7.25,f\n"
    assert full.to_table()["size"].tolist() == [1.5, 2.0, 1.75, 7.25]
    labels = written(full, out, fill="interval")
    assert labels == "size,sex\n<=5,m\n<=5,f\n<=5,m\n>5,f\n"


def test_intervals_come_back_when_asked_for():
    frame = pd.DataFrame({"age": [10, 20, 30, 40]})
    data = IncompleteData.from_table(frame, discretize={"age": 2})
    assert data.to_table(fill="interval")["age"].tolist() == ["<=20"] * 2 + [">20"] * 2
    pd.testing.assert_frame_equal(data.to_table(), frame)


# Delimiters.

EUROPEAN = "size;sex;note\n1,50;m;a, b\n2,00;f;c\n;m;d\n7,25;f;e\n"


def filled(data):
    codes = data.codes.copy()
    codes[codes == MISSING] = 0
    return data.with_codes(codes)


@pytest.mark.parametrize("is_cut", [True, False])
def test_a_file_is_written_with_the_delimiter_that_was_read(tmp_path, is_cut):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    path.write_text(EUROPEAN)
    how = {"discretize": {"size": [5] if is_cut else None}, "decimal": ","}
    how["columns"] = {"note": "pass-through" if is_cut else "drop"}
    data = IncompleteData.from_table(path, **how)
    text = written(data, out)
    expected = EUROPEAN.replace("a, b", '"a, b"')
    if not is_cut:
        expected = "\n".join(line.rpartition(";")[0] for line in EUROPEAN.splitlines())
        expected += "\n"
    assert text == expected
    if not is_cut:
        del how["columns"]
    assert IncompleteData.from_table(out, **how) == data
    full = filled(data)
    assert written(full, out) == expected.replace(
        "\n;", "\n1,75;" if is_cut else "\n1,50;"
    )
    # What the caller says, or the suffix, goes first.
    assert written(data, out, delimiter=",").splitlines()[1].startswith('"1,50",m')
    assert written(data, tmp_path / "out.tsv").startswith("size\tsex")
    assert written(data, out, delimiter="|").startswith("size|sex")


@pytest.mark.parametrize(
    ("read", "mark"), [(",", ","), (";", ";"), ("\t", "\t"), ("|", "|"), ("  ", ",")]
)
def test_each_delimiter_comes_back(tmp_path, read, mark):
    lines = [["a", "b"], *[["x", "u"], ["y", "v"]] * 3]
    (tmp_path / "t.txt").write_text("".join(f"{read.join(line)}\n" for line in lines))
    data = IncompleteData.from_table(tmp_path / "t.txt")
    text = written(data, tmp_path / "out.csv")
    assert text == "".join(f"{mark.join(line)}\n" for line in lines)


def test_a_lone_column_of_decimal_commas_is_quoted(tmp_path):
    (tmp_path / "t.csv").write_text("size\n" + "1,5\n2,5\n" * 10)
    how = {"delimiter": ";", "decimal": ","}
    data = IncompleteData.from_table(tmp_path / "t.csv", **how)
    assert '"1,5"' in written(data, tmp_path / "out.csv")
    assert IncompleteData.from_table(tmp_path / "out.csv", **how) == data


def test_a_label_that_reads_as_missing_names_the_call(tmp_path):
    table = {"a": ["NA", "x", None]}
    data = IncompleteData.from_table(table, missing=["-"])
    with pytest.raises(
        DataError,
        match=r"or list other markers: write_csv\(\.\.\., missing=\[''\]\)\.$",
    ):
        data.write_csv(tmp_path / "out.csv")
    data.write_csv(tmp_path / "out.csv", missing=[""])
    assert IncompleteData.from_table(tmp_path / "out.csv", missing=[""]) == data


# Dates.

ASIDE = {"columns": {"when": "pass-through"}}


def test_dates_of_a_workbook_are_written_in_one_format(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["day", "when", "sex"])
    for k in range(24):
        day = datetime.datetime(2019, 1, 1 + k)
        when = day.replace(hour=17 * (k % 2))
        sheet.append([day, when if k != 5 else None, "mf"[k % 2]])
    book.save(tmp_path / "t.xlsx")
    how = {"discretize": {"when": 2}, "columns": {"day": "pass-through"}}
    data = IncompleteData.from_table(tmp_path / "t.xlsx", **how)
    lines = written(filled(data), tmp_path / "out.csv").splitlines()[1:]
    days, moments, _ = zip(*(line.split(",") for line in lines), strict=True)
    assert {len(day) for day in days} == {len("2019-01-01")}
    assert moments[:2] == ("2019-01-01 00:00:00", "2019-01-02 17:00:00")
    assert {len(moment) for moment in moments} == {len("2019-01-01 00:00:00")}


@pytest.mark.parametrize("is_cut", [True, False])
@pytest.mark.parametrize("kind", ["pandas", "polars", "mapping"])
def test_times_of_a_frame_are_written_in_one_format(tmp_path, kind, is_cut):
    first = datetime.datetime(2019, 1, 1)
    times = [first + datetime.timedelta(hours=17 * k, microseconds=k) for k in range(8)]
    cells = {"when": [*times, None], "sex": ["m", "f", "m"] * 3}
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "mapping": dict}[kind](
        cells
    )
    how = {"discretize": {"when": 2}} if is_cut else ASIDE
    data = IncompleteData.from_table(table, **how)
    lines = written(filled(data), tmp_path / "out.csv").splitlines()[1:]
    texts = [line.split(",")[0] for line in lines]
    assert texts[0] == "2019-01-01 00:00:00.000000"
    assert texts[1] == "2019-01-01 17:00:00.000001"
    assert {len(text) for text in texts if text} == {26}


def test_days_beside_times_are_written_as_times(tmp_path):
    days = [datetime.date(2019, 1, 1), datetime.datetime(2019, 1, 2, 17)] * 3
    data = IncompleteData.from_table({"when": days, "sex": ["m", "f"] * 3}, **ASIDE)
    lines = written(data, tmp_path / "out.csv").splitlines()
    assert lines[1:3] == ["2019-01-01 00:00:00,m", "2019-01-02 17:00:00,f"]


def test_texts_of_dates_stay_as_they_were_read(tmp_path):
    path, out = tmp_path / "t.csv", tmp_path / "out.csv"
    text = "when,sex\n2019-01-01,m\n2019-01-02 17:00:00,f\n2019-01-03,m\n"
    path.write_text(text)
    assert written(IncompleteData.from_table(path, **ASIDE), out) == text
