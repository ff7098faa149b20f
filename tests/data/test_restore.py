"""Tables come back as the kind they were, with their own types."""

import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal as assert_polars_equal
from support.tables import make_table

from bayesmend import IncompleteData
from bayesmend.data import MISSING
from bayesmend.errors import MissingDependencyError, ParameterError

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
        np.array([[1.5, np.nan], [3, 4], [3, 2]], dtype=np.float32),
        np.array([[True, False], [False, True]]),
        np.array([["a", "b"], ["c", "d"]]),
        np.array([["a", None], ["b", 2], ["b", 1]], dtype=object),
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
    table = make({"a": ["x", "y"], "w": [1, 2], "b": ["u", "v"]})
    back = IncompleteData.from_table(table, weights="w").to_table()
    assert type(back) is type(table)
    for name in ("a", "w", "b"):
        assert list(back[name]) == list(table[name])
    assert [*IncompleteData.from_table(back).names] == ["a", "w", "b"]
    assert str(getattr(back["w"], "dtype", "")) == str(getattr(table["w"], "dtype", ""))


def test_headers_that_are_no_text_come_back():
    frame = pd.DataFrame({5: ["x", "y"], ("a", 1): ["y", "x"]})
    assert IncompleteData.from_table(frame).to_table().columns.tolist() == [5, ("a", 1)]


def test_a_file_comes_back_as_a_frame(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,1\n,2\ny,2\n")
    frame = IncompleteData.from_table(path).to_table()
    texts = pd.array(["x", None, "y"], dtype="str")
    expected = pd.DataFrame({"a": texts, "b": [1, 2, 2]})
    pd.testing.assert_frame_equal(frame, expected)


@pytest.mark.parametrize("library", ["polars", "pyarrow", "numpy"])
def test_a_file_comes_back_as_the_first_library_there_is(monkeypatch, library):
    order = ["pandas", "polars", "pyarrow", "numpy"]
    absent = order[: order.index(library)]
    monkeypatch.setattr(
        "bayesmend.data.restore.find_spec",
        lambda name: None if name in absent else name,
    )
    codes = np.array([[0], [255], [1]], dtype=np.uint8)
    data = IncompleteData.from_codes(codes, names=["a"], states=[("x", "y")])
    back = data.to_table()
    kinds = {"polars": pl.DataFrame, "pyarrow": pa.Table, "numpy": np.ndarray}
    assert isinstance(back, kinds[library])
    assert IncompleteData.from_table(back).n_missing == 1


# The first rows, and frames of a library of one's choice.

WEIGHTED = {"a": ["x", None, "y"], "n": [1, 2, 3], "b": [2, 1, 2]}
KINDS = {
    "mapping": lambda table: table,
    "pandas": lambda table: pd.DataFrame(table, index=["r", "s", "t"]),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "numpy": lambda table: np.array(list(zip(*table.values(), strict=True)), object),
}


def listed(table):
    """Columns as lists with None where a cell is missing, whatever the table is."""
    if isinstance(table, np.ndarray):
        return table.T.tolist()
    if isinstance(table, pd.DataFrame):
        table = {h: [None if pd.isna(v) else v for v in table[h]] for h in table}
    elif not isinstance(table, dict):
        table = (
            table.to_dict(as_series=False)
            if isinstance(table, pl.DataFrame)
            else (table.to_pydict())
        )
    return list(table.values())


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("n", [0, 2, 9])
def test_the_head_is_the_first_rows_of_the_table(make, n):
    table = make(WEIGHTED)
    data = IncompleteData.from_table(table, weights="n", names=["a", "n", "b"])
    head = data.head(n)
    assert type(head) is type(table)
    assert listed(head) == [column[:n] for column in listed(data.to_table())]
    if isinstance(head, pd.DataFrame):
        assert head.index.tolist() == ["r", "s", "t"][:n]


def test_the_head_has_five_rows_and_counts_them():
    data = IncompleteData.from_table({"a": list("xyxyxyx")})
    assert data.head() == {"a": list("xyxyx")}
    with pytest.raises(ParameterError, match="n must be an integer >= 0"):
        data.head(-1)


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_any_table_becomes_a_pandas_or_polars_frame(make):
    names = ["a", "n", "b"]
    data = IncompleteData.from_table(make(WEIGHTED), weights="n", names=names)
    expected = [["x", None, "y"], [1, 2, 3], [2, 1, 2]]
    for frame, kind in (
        (data.to_pandas(), pd.DataFrame),
        (data.to_polars(), pl.DataFrame),
    ):
        assert type(frame) is kind
        assert list(frame.columns)[::2] == ["a", "b"]
        assert listed(frame) == expected


def test_a_frame_of_the_same_library_keeps_its_types_and_index():
    frame = pd.DataFrame(
        {"a": pd.Categorical(["x", None], ["x", "y"]), 5: [1, 2]}, index=["r", "s"]
    )
    back = IncompleteData.from_table(frame).to_pandas()
    pd.testing.assert_frame_equal(back, frame)
    polars = pl.DataFrame({"a": pl.Series(["x"], dtype=pl.Enum(["x", "y"]))})
    assert_polars_equal(IncompleteData.from_table(polars).to_polars(), polars)


def test_a_cut_column_stays_ordered_in_another_library():
    data = IncompleteData.from_table({"age": [1, 2, 3, 4]}, discretize={"age": 2})
    assert data.to_pandas(fill="interval")["age"].cat.ordered
    intervals = data.to_polars(fill="interval")["age"].to_list()
    assert intervals == ["<=2", "<=2", ">2", ">2"]
    assert data.to_polars()["age"].to_list() == [1, 2, 3, 4]


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named(monkeypatch, package):
    data = IncompleteData.from_table({"a": ["x", "y"]})
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingDependencyError, match=f"pip install {package}"):
        getattr(data, f"to_{package}")()
