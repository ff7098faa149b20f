"""Every kind of table is read the same, in memory and in files."""

import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.tables import fails, make_table

from bayesmend import IncompleteData, learn
from bayesmend.data.sources import read_frame
from bayesmend.data.states import MISSING
from bayesmend.errors import DataError, MissingDependencyError, ReadingWarning


@make_table
def test_every_kind_of_frame_gives_the_same_codes(make):
    table = make({"t": ["b", None, "a"], "n": [3, 1, 3], "b": [True, False, True]})
    data = IncompleteData.from_table(table)
    assert data.states == (("a", "b"), (1, 3), (False, True))
    assert data.codes.tolist() == [[1, 1, 1], [255, 0, 0], [0, 1, 1]]


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_declare_states_in_their_order(ordered):
    column = pd.Categorical(["u", None, "?"], ["z", "u", "?", "a"], ordered=ordered)
    data = IncompleteData.from_table(pd.DataFrame({"c": column}), missing=["?"])
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
    values = np.array([["x"], [missing], ["y"]], dtype=object)
    for table in (values, pd.DataFrame(values), {"a": ["x", missing, "y"]}):
        data = IncompleteData.from_table(table)
        assert data.codes.ravel().tolist() == [0, 255, 1]


def test_masked_cells_are_missing():
    mask = [[False, True], [False, False], [False, False]]
    array = np.ma.array([[1, 2], [3, 4], [3, 5]], mask=mask)
    codes = IncompleteData.from_table(array).codes
    assert codes.tolist() == [[0, 255], [1, 0], [1, 1]]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow", ".feather", ".ipc"])
@pytest.mark.parametrize("has_polars", [True, False])
def test_parquet_and_arrow_files_are_read(tmp_path, monkeypatch, suffix, has_polars):
    frame = pl.DataFrame({"a": ["x", None, "y"], "n": [1, 2, 2]})
    path = tmp_path / f"t{suffix}"
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    if not has_polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    data = IncompleteData.from_table(str(path))
    assert data.states == (("x", "y"), (1, 2))
    assert isinstance(data.to_table(), pl.DataFrame if has_polars else pa.Table)


GRADES = ["low", "mid", "high", "extreme"]


def _graded() -> pd.DataFrame:
    grade = pd.Categorical(["mid", "high", None, "low"] * 9, GRADES, ordered=True)
    plain = pd.Categorical(["x", "y", "y", None] * 9, ["z", "y", "x"])
    return pd.DataFrame({"grade": grade, "b.c": plain, "n": [1, 2, 2, 1] * 9})


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize("others", [["n"], []])
@pytest.mark.parametrize("has_polars", [True, False])
def test_states_that_pandas_declares_stay_in_files(
    tmp_path, monkeypatch, suffix, others, has_polars
):
    frame = _graded()[["grade", *others, "b.c"]]
    path = tmp_path / f"t{suffix}"
    frame.to_parquet(path) if suffix == ".parquet" else frame.to_feather(path)
    if not has_polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    data, known = IncompleteData.from_table(path), IncompleteData.from_table(frame)
    assert data.states[0] == tuple(GRADES)
    assert (data.names, data.states) == (known.names, known.states)
    assert np.array_equal(data.codes, known.codes)
    back = data.to_table()["grade"]
    assert (back.to_list() if has_polars else back.to_pylist())[:2] == ["mid", "high"]


def test_states_that_only_pyarrow_could_tell_are_asked_for(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    _graded().to_parquet(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.warns(ReadingWarning) as caught:
        IncompleteData.from_table(path)
    assert str(caught[0].message) == (
        "t.parquet: the file declares states of grade, b.c that polars does not"
        " tell, nor their order. Install pyarrow, or list them with"
        " states={'grade': [...]}."
    )
    states = {"grade": GRADES, "b.c": ["z", "y", "x"]}
    assert IncompleteData.from_table(path, states=states).states[0] == tuple(GRADES)


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
@pytest.mark.parametrize("has_polars", [True, False])
def test_categories_of_polars_are_labels_without_an_order(
    tmp_path, monkeypatch, suffix, has_polars
):
    frame = pl.DataFrame(
        {
            "a": pl.Series(["y", "x", None, "y"], dtype=pl.Categorical),
            "e": pl.Series(["v", "w", None, "v"], dtype=pl.Enum(["w", "v", "u"])),
        }
    )
    path = tmp_path / f"t{suffix}"
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    if not has_polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    data = IncompleteData.from_table(path)
    assert data.states == (("x", "y"), ("w", "v", "u"))
    assert data.codes.tolist() == [[1, 1], [0, 0], [255, 255], [1, 1]]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_frame_in_a_file_is_called_by_its_name(tmp_path, suffix):
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame({"a": [k / 7 for k in range(40)], "b": ["x", "y"] * 20})
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    with pytest.warns(ReadingWarning, match=rf"^t\{suffix}: numbers are cut"):
        IncompleteData.from_table(path)


def test_without_polars_and_pyarrow_the_remedy_is_named(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x"]}).write_parquet(path)
    for name in ("polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingDependencyError, match="needs polars or pyarrow"):
        IncompleteData.from_table(path)


def test_a_broken_parquet_file_is_named(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 nothing")
    assert "t.parquet is not a readable Parquet file" in fails(tmp_path / "t.parquet")


@pytest.mark.parametrize("discretize", ["auto", {"cost": 2}])
def test_decimals_of_any_precision_are_numbers(discretize: object) -> None:
    cells = [Decimal("1.50"), None, Decimal("2.25")] * 20
    cost = pl.Series(cells, dtype=pl.Decimal(10, 2))
    table = pl.DataFrame({"cost": cost, "g": ["a", "a", "b"] * 20})
    data = IncompleteData.from_table(table, discretize=discretize)
    assert data.codes[:3, 0].tolist() == [0, MISSING, 1]
    assert data.to_table()["cost"].equals(table["cost"])
    filled = learn(table, discretize=discretize).completed.to_table()["cost"]
    assert filled.dtype == pl.Decimal(10, 2)
    assert set(filled) <= {Decimal("1.50"), Decimal("2.25")}


@pytest.mark.parametrize("infinite", [Decimal("Infinity"), Decimal("-Infinity")])
def test_an_infinite_decimal_is_an_infinite_number(infinite: Decimal) -> None:
    table = {"cost": [infinite, Decimal("1.5")] * 10, "g": ["a", "b"] * 10}
    with pytest.warns(ReadingWarning, match=r"cost \(infinite numbers\)"):
        assert IncompleteData.from_table(table).names == ("g",)


@pytest.mark.parametrize("value", [45, True, None, "45", b"45", 1.5])
def test_a_mapping_of_single_values_is_told_to_give_lists(value: object) -> None:
    with pytest.raises(DataError) as caught:
        IncompleteData.from_table({"age": value})
    assert str(caught.value) == (
        f"a mapping must hold a list of values for 'age'. Got {value!r} instead."
        f" For a single row write [{value!r}]."
    )


def test_a_mapping_of_mappings_is_refused() -> None:
    with pytest.raises(DataError, match="a list of values for 'age'"):
        IncompleteData.from_table({"age": {0: 1}})


@pytest.mark.parametrize("has_polars", [True, False])
@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_a_small_file_of_many_cells_is_refused(
    tmp_path, monkeypatch, suffix, has_polars
):
    path = tmp_path / f"t{suffix}"
    frame = pl.DataFrame({"a": ["x"] * 3000, "b": ["y"] * 3000})
    frame.write_parquet(path) if suffix == ".parquet" else frame.write_ipc(path)
    if not has_polars:
        monkeypatch.setitem(sys.modules, "polars", None)
    monkeypatch.setenv("BAYESMEND_MAX_UNPACKED", "47999")
    with pytest.raises(DataError, match=r"holds 3,000 rows of 2 columns, which take"):
        read_frame(path)
    monkeypatch.setenv("BAYESMEND_MAX_UNPACKED", "48000")
    assert read_frame(path).shape == (3000, 2)


def test_integers_beyond_numpy_are_read():
    frame = pl.DataFrame({"a": pl.Series([1, 2**70, None, 1], dtype=pl.Int128)})
    data = IncompleteData.from_table(frame, columns={"a": "model"})
    assert data.states == ((1, 2**70),)


def test_an_arrow_column_without_a_type_is_missing_throughout():
    table = pa.table({"a": ["x", "y"], "b": pa.nulls(2)})
    data = IncompleteData.from_table(table, states={"b": ["u", "v"]})
    assert data.codes.tolist() == [[0, 255], [1, 255]]


def test_a_panic_of_polars_is_an_error_of_ours(tmp_path, monkeypatch):
    def panic(path):
        message = "range end index out of range"
        raise pl.exceptions.PanicException(message)

    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": ["x"]}).write_parquet(path)
    monkeypatch.setattr(pl, "read_parquet", panic)
    with pytest.raises(DataError, match=r"t\.parquet is not a readable Parquet file"):
        read_frame(path)
