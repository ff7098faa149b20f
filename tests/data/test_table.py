"""IncompleteData: what is read, how it is coded, and how it comes back."""

import datetime
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal as assert_polars_equal
from support import oracle, strategies

from bayesmend import IncompleteData
from bayesmend.data import MISSING
from bayesmend.errors import DataError, MissingDependencyError, ParameterError

MAKERS = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "object": lambda table: pd.DataFrame(table).astype(object),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}
make_table = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS.keys())

words = st.sampled_from(["yes", "no", "NA", " ? ", "7", "10", "é", "", " yes"])


def fails(table, error=DataError, **options):
    with pytest.raises(error) as caught:
        IncompleteData.from_table(table, **options)
    return str(caught.value)


# --- coding -------------------------------------------------------------------------


@make_table
@given(cells=st.lists(st.tuples(words | st.none(), words), min_size=1, max_size=8))
def test_text_is_coded_as_the_twin_codes_it(make, cells):
    cells = [("yes", "no"), *cells]
    columns = [list(column) for column in zip(*cells, strict=True)]
    data = IncompleteData.from_table(make({"a": columns[0], "b": columns[1]}))
    for j, column in enumerate(columns):
        states, codes = oracle.encode_column(
            column, lambda v: v is None or v.strip() in ("", "NA", "?")
        )
        assert list(data.states[j]) == states
        expected = [MISSING if code is None else code for code in codes]
        assert data.codes[:, j].tolist() == expected


@make_table
def test_every_kind_of_frame_gives_the_same_codes(make):
    table = make({"t": ["b", None, "a"], "n": [3, 1, 3], "b": [True, False, True]})
    data = IncompleteData.from_table(table)
    assert data.states == (("a", "b"), (1, 3), (False, True))
    assert data.codes.tolist() == [[1, 1, 1], [255, 0, 0], [0, 1, 1]]


def test_codes_are_read_only_and_in_fortran_order():
    data = IncompleteData.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    assert data.codes.dtype == np.uint8
    assert data.codes.flags.f_contiguous
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0, 0] = 1


def test_numbers_are_ordered_by_value_and_whole_ones_are_integers():
    data = IncompleteData.from_table({"a": [10, 9.5, None, 2], "b": [2.0, 1.0, 3.0, 1]})
    assert data.states == ((2, 9.5, 10), (1, 2, 3))
    assert [type(label) for label in data.states[1]] == [int, int, int]


def test_booleans_that_occur_are_the_states():
    data = IncompleteData.from_table({"a": [True, False], "b": [True, None]})
    assert data.states == ((False, True), (True,))


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_declare_states_in_their_order(ordered):
    column = pd.Categorical(["u", None, "?"], ["z", "u", "?", "a"], ordered=ordered)
    data = IncompleteData.from_table(pd.DataFrame({"c": column}))
    assert data.states == (("z", "u", "a"),)
    assert data.codes.ravel().tolist() == [1, 255, 255]


def test_enums_and_dictionaries_declare_states_but_polars_categoricals_do_not():
    values = ["u", None, "a"]
    enum = pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(["z", "u", "a"]))})
    assert IncompleteData.from_table(enum).states == (("z", "u", "a"),)
    category = pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)})
    assert IncompleteData.from_table(category).states == (("a", "u"),)
    parts = [pa.array(["u"]).dictionary_encode(), pa.array(["a"]).dictionary_encode()]
    table = pa.table({"c": pa.chunked_array(parts)})
    assert IncompleteData.from_table(table).states == (("u", "a"),)


@pytest.mark.parametrize(
    "missing", [None, np.nan, pd.NA, pd.NaT, float("nan"), np.datetime64("NaT")]
)
def test_every_null_is_missing(missing):
    values = np.array([["x"], [missing]], dtype=object)
    for table in (values, pd.DataFrame(values), {"a": ["x", missing]}):
        data = IncompleteData.from_table(table)
        assert data.codes.ravel().tolist() == [0, 255]


def test_markers_are_settable_and_apply_to_text_only():
    table = {"a": ["x", "-", "NA"], "b": [0, 1, 0]}
    data = IncompleteData.from_table(table, missing=["-", "0"])
    assert data.states == (("NA", "x"), (0, 1))
    assert IncompleteData.from_table({"a": ["x", "-"]}, missing="-").n_missing == 1
    assert IncompleteData.from_table({"a": ["x", "?"]}, missing=()).n_missing == 0


def test_markers_among_numbers_leave_numbers():
    for table in ({"a": [1, "?", 2]}, pd.DataFrame({"a": [1, "?", 2]})):
        data = IncompleteData.from_table(table)
        assert data.states == ((1, 2),)
        assert data.codes.ravel().tolist() == [0, 255, 1]


@make_table
def test_declared_states_keep_their_order_and_may_be_unseen(make):
    table = make({"a": ["x", "y"], "b": [1, 0]})
    states = {"a": ["y", "never", "x"], "b": [1, 0, 7]}
    data = IncompleteData.from_table(table, states=states)
    assert data.states == (("y", "never", "x"), (1, 0, 7))
    assert data.codes.tolist() == [[2, 0], [0, 1]]


def test_declared_states_of_text_compare_as_text():
    data = IncompleteData.from_table({"a": ["1", "0"]}, states={"a": [1, 0]})
    assert data.states == (("1", "0"),)


def test_declared_states_save_an_empty_or_missing_column():
    states = {"a": ["x", "y"]}
    assert IncompleteData.from_table({"a": [None]}, states=states).n_missing == 1
    assert IncompleteData.from_table({"a": []}, states=states).n_rows == 0


def test_names_may_be_given():
    assert IncompleteData.from_table(np.eye(2, dtype=int)).names == ("x0", "x1")
    data = IncompleteData.from_table(np.eye(2, dtype=int), names=["a", "b"])
    assert data.names == ("a", "b")
    assert IncompleteData.from_table(pd.DataFrame({5: ["x"]})).names == ("5",)


@make_table
def test_weights_may_be_an_array_or_a_column(make):
    table = make({"w": [1, 2], "a": ["x", "y"]})
    data = IncompleteData.from_table(table, weights="w")
    assert data.names == ("a",)
    assert data.weights.tolist() == [1, 2]
    assert repr(data) == "IncompleteData(2 rows, 1 variable, 0 missing cells, weighted)"
    data = IncompleteData.from_table(table, weights=[0, 0.5])
    assert data.weights.tolist() == [0, 0.5]
    assert data.n_vars == 2


def test_masked_cells_are_missing():
    array = np.ma.array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    assert IncompleteData.from_table(array).codes.tolist() == [[0, 255], [1, 0]]


def test_254_states_are_possible_and_255_are_not():
    labels = [f"s{k:03}" for k in range(255)]
    data = IncompleteData.from_table({"a": labels[:254]})
    assert data.codes.ravel().tolist() == list(range(254))
    message = fails({"a": labels})
    assert "'a' has 255 states, and a variable has at most 254" in message


# --- the way back -------------------------------------------------------------------

PANDAS = {
    "object": pd.Series(["x", None, "y"], dtype=object),
    "str": pd.Series(["x", None, "y"], dtype="str"),
    "string": pd.Series(["x", None, "y"], dtype="string"),
    "arrow": pd.Series(["x", None, "y"], dtype=pd.ArrowDtype(pa.string())),
    "category": pd.Series(pd.Categorical(["x", None, "y"], ["z", "y", "x"])),
    "ordered": pd.Series(pd.Categorical([3, None, 1], [3, 2, 1], ordered=True)),
    "intervals": pd.Series(pd.cut([1, np.nan, 9], [0, 5, 10])),
    "int64": pd.Series([3, 1, 2]),
    "int8": pd.Series([3, 1, 2], dtype="int8"),
    "Int64": pd.Series([3, None, 2], dtype="Int64"),
    "float64": pd.Series([3, None, 2.5]),
    "whole": pd.Series([3, None, 2.0]),
    "float32": pd.Series([0.1, None, 2.0], dtype="float32"),
    "bool": pd.Series([True, False, True]),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "objects": pd.Series([True, None, False], dtype=object),
    "int32[pyarrow]": pd.Series([3, None, 2], dtype=pd.ArrowDtype(pa.int32())),
}
POLARS = {
    "String": pl.Series(["x", None, "y"]),
    "Enum": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "q", "x"])),
    "Categorical": pl.Series(["x", None, "y"], dtype=pl.Categorical),
    "Int16": pl.Series([1, None, 5], dtype=pl.Int16),
    "UInt64": pl.Series([1, None, 5], dtype=pl.UInt64),
    "Float64": pl.Series([1.5, None, 2.0]),
    "Float32": pl.Series([0.1, None, 2.0], dtype=pl.Float32),
    "Boolean": pl.Series([True, None, False]),
}
ARROW = {
    "string": pa.array(["x", None, "y"]),
    "large": pa.array(["x", None, "y"], pa.large_string()),
    "view": pa.array(["x", None, "y"], pa.string_view()),
    "dictionary": pa.array(["x", None, "y"]).dictionary_encode(),
    "int8": pa.array([1, None, 2], pa.int8()),
    "float": pa.array([0.1, None, 2], pa.float32()),
    "bool": pa.array([True, None, False]),
}


@pytest.mark.parametrize("series", PANDAS.values(), ids=PANDAS.keys())
def test_a_pandas_frame_comes_back_with_its_types(series):
    frame = pd.DataFrame({"a": series, "b": ["u", "v", "u"]})
    frame.index = pd.Index([30, 10, 20], name="row")
    data = IncompleteData.from_table(frame)
    pd.testing.assert_frame_equal(data.to_table(), frame)
    holed = data.with_codes(np.full((3, 2), MISSING, np.uint8)).to_table()
    assert holed.isna().all(axis=None)


@pytest.mark.parametrize("series", POLARS.values(), ids=POLARS.keys())
def test_a_polars_frame_comes_back_with_its_types(series):
    frame = pl.DataFrame({"a": series})
    data = IncompleteData.from_table(frame)
    assert_polars_equal(data.to_table(), frame)
    holed = data.with_codes(np.full((3, 1), MISSING, np.uint8)).to_table()
    assert holed["a"].dtype == frame["a"].dtype
    assert holed["a"].null_count() == 3


@pytest.mark.parametrize("array", ARROW.values(), ids=ARROW.keys())
def test_an_arrow_table_comes_back_with_its_types(array):
    table = pa.table({"a": array})
    assert IncompleteData.from_table(table).to_table().equals(table)


@pytest.mark.parametrize(
    "array",
    [
        np.array([[1, 2], [3, 4]]),
        np.array([[1.5, np.nan], [3, 4]], dtype=np.float32),
        np.array([[True, False], [False, False]]),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([["a", None], ["b", 2]], dtype=object),
    ],
    ids=lambda array: str(array.dtype),
)
def test_an_array_comes_back_with_its_type(array):
    back = IncompleteData.from_table(array).to_table()
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_integers_and_booleans_with_holes_come_back_with_holes():
    data = IncompleteData.from_table(np.array([[1], [2]]))
    holed = data.with_codes(np.array([[0], [255]], dtype=np.uint8)).to_table()
    np.testing.assert_array_equal(holed, [[1.0], [np.nan]])
    data = IncompleteData.from_table(np.array([[True], [False]]))
    holed = data.with_codes(np.array([[0], [255]], dtype=np.uint8)).to_table()
    assert holed.tolist() == [[False], [None]]


def test_a_declared_state_beyond_the_type_widens_it():
    table = {"c": pd.Categorical(["x"]), "n": [1], "i": pd.array([1], dtype="Int64")}
    states = {"c": ["x", "y"], "n": [1, "many"], "i": [1, "many"]}
    data = IncompleteData.from_table(pd.DataFrame(table), states=states)
    full = data.with_codes(np.ones((1, 3), dtype=np.uint8)).to_table()
    assert full.iloc[0].tolist() == ["y", "many", "many"]
    frame = pl.DataFrame(
        {"c": pl.Series(["x"], dtype=pl.Enum(["x"])), "n": [1], "i": [1]}
    )
    data = IncompleteData.from_table(frame, states=states)
    full = data.with_codes(np.ones((1, 3), dtype=np.uint8)).to_table()
    assert full.row(0) == ("y", "many", "many")
    data = IncompleteData.from_table(pa.table({"n": [1]}), states={"n": [1, "many"]})
    full = data.with_codes(np.ones((1, 1), dtype=np.uint8)).to_table()
    assert full.column("n").to_pylist() == ["many"]


@make_table
def test_a_weight_column_comes_back_where_it_was(make):
    table = make({"a": ["x", "y"], "w": [1, 2], "b": ["u", "u"]})
    back = IncompleteData.from_table(table, weights="w").to_table()
    assert type(back) is type(table)
    for name in ("a", "w", "b"):
        assert list(back[name]) == list(table[name])
    assert [*IncompleteData.from_table(back).names] == ["a", "w", "b"]
    assert str(getattr(back["w"], "dtype", "")) == str(getattr(table["w"], "dtype", ""))


def test_headers_that_are_no_text_come_back():
    frame = pd.DataFrame({5: ["x"], ("a", 1): ["y"]})
    assert IncompleteData.from_table(frame).to_table().columns.tolist() == [5, ("a", 1)]


def test_a_file_comes_back_as_a_frame(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\n,2\n")
    frame = IncompleteData.from_table(path).to_table()
    expected = pd.DataFrame({"a": ["x", None], "b": ["1", "2"]}, dtype="str")
    pd.testing.assert_frame_equal(frame, expected)


@pytest.mark.parametrize("library", ["polars", "pyarrow", "numpy"])
def test_a_file_comes_back_as_the_first_library_there_is(monkeypatch, library):
    order = ["pandas", "polars", "pyarrow", "numpy"]
    absent = order[: order.index(library)]
    monkeypatch.setattr(
        "bayesmend.data.restore.find_spec",
        lambda name: None if name in absent else name,
    )
    codes = np.array([[0], [255]], dtype=np.uint8)
    data = IncompleteData.from_codes(codes, names=["a"], states=[("x", "y")])
    back = data.to_table()
    kinds = {"polars": pl.DataFrame, "pyarrow": pa.Table, "numpy": np.ndarray}
    assert isinstance(back, kinds[library])
    assert IncompleteData.from_table(back).n_missing == 1


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".ipc"])
@pytest.mark.parametrize("has_polars", [True, False])
def test_parquet_and_arrow_files_are_read(tmp_path, monkeypatch, suffix, has_polars):
    frame = pl.DataFrame({"a": ["x", None], "n": [1, 2]})
    path = tmp_path / f"t{suffix}"
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    if not has_polars:
        monkeypatch.setitem(__import__("sys").modules, "polars", None)
    data = IncompleteData.from_table(str(path))
    assert data.states == (("x",), (1, 2))
    assert isinstance(data.to_table(), pl.DataFrame if has_polars else pa.Table)


def test_without_polars_and_pyarrow_the_remedy_is_named(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x"]}).write_parquet(path)
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(MissingDependencyError, match="needs polars or pyarrow"):
        IncompleteData.from_table(path)


def test_a_broken_parquet_file_is_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
    assert "t.parquet is not a readable Parquet file" in fails(tmp_path / "t.parquet")


# --- the object ---------------------------------------------------------------------


@given(strategies.coded_tables())
def test_sizes_are_those_of_the_codes(table):
    codes, card = table
    names, states = strategies.names_of(card), strategies.labels_of(card)
    data = IncompleteData.from_codes(codes, names=names, states=states)
    assert (data.n_rows, data.n_vars) == codes.shape
    assert data.card.tolist() == card
    assert data.card.dtype == np.int32
    assert data.n_missing == sum(row.count(255) for row in codes.tolist())
    assert data.is_complete == (data.n_missing == 0)
    assert np.array_equal(data.missing_mask, codes == 255)
    assert [data.index(name) for name in names] == list(range(len(names)))


@given(strategies.coded_tables(min_rows=1))
def test_a_table_reads_back_what_codes_give(table):
    codes, card = table
    names, states = strategies.names_of(card), strategies.labels_of(card)
    data = IncompleteData.from_codes(codes, names=names, states=states)
    declared = dict(zip(names, states, strict=True))
    assert IncompleteData.from_table(data.to_table(), states=declared) == data


def test_an_incomplete_data_is_returned_as_it_is():
    data = IncompleteData.from_table({"a": ["x"]})
    assert IncompleteData.from_table(data) is data
    weighted = IncompleteData.from_table(data, weights=[2])
    assert weighted.weights.tolist() == [2]
    for option in (
        {"states": {"a": ["x"]}},
        {"names": ["b"]},
        {"discretize": {}},
        {"missing": ["x"]},
        {"max_numeric_states": 7},
    ):
        message = fails(data, ParameterError, **option)
        assert f"{next(iter(option))} cannot change an IncompleteData" in message


def test_equality_is_by_value_and_pickling_keeps_it():
    data = IncompleteData.from_table({"a": ["x", None]}, weights=[1, 2])
    same = IncompleteData.from_table({"a": ["x", "?"]}, weights=[1, 2])
    assert data == same
    assert pickle.loads(pickle.dumps(data)) == data
    assert data != IncompleteData.from_table({"a": ["x", None]})
    assert data != IncompleteData.from_table({"a": ["x", "x"]}, weights=[1, 2])
    assert data != IncompleteData.from_table({"b": ["x", None]}, weights=[1, 2])
    assert data != "data"


def test_an_own_array_is_not_changed_by_the_caller():
    codes = np.zeros((2, 1), dtype=np.uint8)
    data = IncompleteData.from_codes(codes, names=["a"], states=[("x", "y")])
    codes[0, 0] = 1
    assert data.codes[0, 0] == 0


# --- errors -------------------------------------------------------------------------


@make_table
def test_values_outside_the_declared_states_are_located(make):
    message = fails(make({"a": ["x", "y", "z"]}), states={"a": ["x", "y"]})
    assert message == (
        "variable 'a' has the value 'z' in row 2, which is not among its declared"
        " states: 'x', 'y'."
    )


def test_categories_that_no_row_uses_need_not_be_declared():
    frame = pd.DataFrame({"a": pd.Categorical(["x"], ["x", "unused"])})
    data = IncompleteData.from_table(frame, states={"a": ["x"]})
    assert data.states == (("x",),)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [None]}, {}, "variable 'a' is missing in every row. Drop it, or list"),
        ({"a": []}, {}, "variable 'a' has no rows. List its states"),
        ({}, {}, "the table has no columns"),
        ({"a": [1, "x"]}, {}, "'a' mixes numbers (1 in row 0) and text ('x' in row 1)"),
        ({"a": [1, True]}, {}, "'a' mixes numbers (1 in row 0) and booleans"),
        ({"a": [float("inf")]}, {}, "variable 'a' has the value inf in row 0. Replace"),
        ({"a": [datetime.date(2020, 1, 1)]}, {}, "variable 'a' holds dates or times"),
        (pd.DataFrame({"a": pd.to_datetime(["2020"])}), {}, "holds dates or times"),
        (pl.DataFrame({"a": [datetime.date(2020, 1, 1)]}), {}, "holds dates or times"),
        (pl.DataFrame({"a": [[1]]}), {}, "'a' holds values of type list, not states"),
        (pa.table({"a": [[1]]}), {}, "'a' holds values of type list, not states"),
        ({"a": [[1], [2]]}, {}, "'a' holds values of type list, not states. Convert"),
        ({"a": [b"x"]}, {}, "'a' holds values of type bytes, not states"),
        ({"a": [1], "b": [1, 2]}, {}, "as many values as 'a' (1). Got 2 for 'b'"),
        (np.zeros(3), {}, "an array must have two dimensions, rows and variables. Got"),
        (np.zeros((1, 1), complex), {}, "type complex128 cannot hold states"),
        (5, {}, "a table must be a path, a pandas, polars or pyarrow frame"),
        (pl.LazyFrame({"a": [1]}), {}, "LazyFrame has no rows yet. Call its collect()"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "are both named 'a'. Rename"),
        ({"a": ["x"]}, {"weights": [-1]}, "finite and >= 0. Got -1.0 in row 0"),
        ({"a": ["x"]}, {"weights": [1, 2]}, "one number per row (1). Got shape (2,)"),
        ({"a": ["x"]}, {"weights": ["k"]}, "weights must be numbers. Got list"),
        ({"a": ["x"]}, {"weights": "w"}, "no variable named 'w'. Available: a."),
        ({"a": ["x"], "w": [None]}, {"weights": "w"}, "finite and >= 0. Got nan"),
        ({"a": ["x"], "w": ["k"]}, {"weights": "w"}, "which is not a number. Only"),
        ({"a": ["x"]}, {"states": {"b": ["x"]}}, "no variable named 'b'. Available: a"),
        ({"a": ["x"]}, {"states": {"a": []}}, "'a' must have 1 to 254 states. Got 0"),
        ({"a": ["x"]}, {"states": {"a": ["x", "x"]}}, "must differ. Got 'x' twice"),
        ({"a": ["x"]}, {"states": {"a": ["?"]}}, "'a' is also a missing marker"),
        ({"a": [1]}, {"states": {"a": ["1"]}}, "'a' has the value 1 in row 0, which"),
        ({"a": [True]}, {"states": {"a": [0, 1]}}, "'a' has the value True in row 0"),
    ],
)
def test_a_table_that_cannot_be_used_is_explained(table, options, message):
    assert message in fails(table, **options)


@make_table
def test_many_numbers_are_refused_with_the_remedy(make):
    message = fails(make({"age": list(range(30))}))
    assert message == (
        "variable 'age' has 30 distinct numeric values, more than"
        " max_numeric_states=20. Discretize it with discretize={'age': 4}, list its"
        " states with states={'age': [...]}, or raise max_numeric_states."
    )
    message = fails(make({"age": [k / 8 for k in range(3000)]}))
    assert message.startswith("variable 'age' has 3000 distinct numeric values, and")
    table = make({"age": list(range(30))})
    assert IncompleteData.from_table(table, max_numeric_states=30).card[0] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a", "b"]}, "names must hold one name per column (1). Got 2"),
        ({"names": "a"}, "names must be a sequence of names. Got 'a' instead"),
        ({"missing": [None]}, "missing must hold text. Got None instead"),
        (
            {"max_numeric_states": 0},
            "max_numeric_states must be an integer >= 1. Got 0",
        ),
        ({"states": {"a": "xy"}}, "must be a sequence of labels. Got 'xy' instead"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options, message):
    assert message in fails({"a": ["x"]}, ParameterError, **options)


@pytest.mark.parametrize(
    ("codes", "names", "states", "message"),
    [
        ([[2]], ["a"], [("x", "y")], "'a' has 2 states, but its column contains state"),
        ([[0]], ["a", "b"], [("x",)], "states must hold the labels of 2 variables"),
        ([[0]], ["a", "b"], [("x",)] * 2, "must have shape (n_rows, 2). Got (1, 1)"),
        ([0], ["a"], [("x",)], "codes must have shape (n_rows, 1). Got (1,) instead"),
        ([[0, 0]], ["a", "a"], [("x",)] * 2, "columns 1 and 2 are both named 'a'"),
        ([[0]], [""], [("x",)], "column 1 has no name"),
        ([[0]], ["a"], [()], "variable 'a' must have 1 to 254 states. Got 0 instead"),
        ([[0]], ["a"], [range(255)], "variable 'a' must have 1 to 254 states. Got 255"),
        ([[0]], ["a"], [("x", "x")], "the states of variable 'a' must differ"),
    ],
)
def test_codes_that_do_not_fit_are_refused(codes, names, states, message):
    with pytest.raises(DataError) as caught:
        IncompleteData.from_codes(np.array(codes, np.uint8), names=names, states=states)
    assert message in str(caught.value)


def test_codes_must_be_bytes_of_the_same_shape():
    for codes, kind in ((np.zeros((1, 1)), "float64"), ([[0]], "list")):
        with pytest.raises(DataError, match=f"array of uint8. Got {kind} instead"):
            IncompleteData.from_codes(codes, names=["a"], states=[("x",)])
    data = IncompleteData.from_table({"a": ["x"]})
    with pytest.raises(ParameterError, match=r"must have shape \(1, 1\). Got \(2, 1\)"):
        data.with_codes(np.zeros((2, 1), np.uint8))


def test_an_unknown_variable_is_answered_with_the_known_ones():
    data = IncompleteData.from_table({"smoke": ["yes"], "cough": ["no"]})
    with pytest.raises(DataError, match=r"'cogh'\. Available: smoke, cough\."):
        data.index("cogh")
