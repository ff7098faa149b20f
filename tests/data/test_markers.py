"""Markers of missing cells that are numbers, in any kind of table."""

import warnings
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bayesmend as bm
from bayesmend import IncompleteData
from bayesmend.data.states import MISSING
from bayesmend.errors import DataError, ParameterError

CELLS = [1, 2, -9, 3] * 20
LABELS = ["a", "b"] * 40


def tables(path: Path, cells: list) -> dict[str, object]:
    """Make the same table in every kind."""
    table = {"q": cells, "s": LABELS}
    frame = pd.DataFrame(table)
    frame.to_csv(path / "t.csv", index=False)
    pl.DataFrame(table).write_parquet(path / "t.parquet")
    return {
        "mapping": table,
        "pandas": frame,
        "nullable": frame.convert_dtypes(),
        "category": frame.astype({"q": "category"}),
        "objects": frame.astype(object),
        "polars": pl.DataFrame(table),
        "single": pl.DataFrame(table).with_columns(pl.col("q").cast(pl.Float32)),
        "pyarrow": pa.table(table),
        "numpy": np.array([cells, [0, 1] * 40]).T,
        "decimals": {"q": [Decimal(str(x)) for x in cells], "s": LABELS},
        "text": {"q": [str(x) for x in cells], "s": LABELS},
        "csv": path / "t.csv",
        "parquet": path / "t.parquet",
    }


@pytest.mark.parametrize("marker", [-9, -9.0, np.int64(-9), "-9", " -9.0", Decimal(-9)])
def test_a_number_marks_missing_cells_in_every_table(
    tmp_path: Path, marker: object
) -> None:
    for kind, table in tables(tmp_path, CELLS).items():
        data = IncompleteData.from_table(table, missing=[marker])
        assert [str(state) for state in data.states[0]] == ["1", "2", "3"], kind
        assert (data.codes[:, 0] == MISSING).tolist() == [x == -9 for x in CELLS], kind


@pytest.mark.parametrize("marker", [99.5, "99.5", "99.50"])
def test_a_number_marks_missing_cells_of_columns_that_are_cut(
    tmp_path: Path, marker: object
) -> None:
    cells = [99.5 if i % 5 == 0 else i / 4 for i in range(80)]
    expected = [i % 5 == 0 for i in range(80)]
    for kind, table in tables(tmp_path, cells).items():
        if kind == "category":
            continue  # its categories are the states
        name = "x0" if kind == "numpy" else "q"
        data = IncompleteData.from_table(table, missing=[marker], discretize={name: 3})
        assert data.discretization is not None
        assert max(data.discretization.cuts[0]) < 20, kind
        assert (data.codes[:, 0] == MISSING).tolist() == expected, kind


def test_one_marker_needs_no_list() -> None:
    table = {"q": CELLS, "s": LABELS}
    assert bm.summary(table, missing=-9).n_missing == 20


def test_a_file_may_write_the_number_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = "1,5;a\n2,5;b\n-9,0;a\n" * 20
    path.write_text("q;s\n" + rows)
    data = IncompleteData.from_table(path, missing=[-9, ""], decimal=",")
    assert data.states[0] == ("1,5", "2,5")
    assert dict(data.summary().missing_markers) == {"-9,0": 20}


def test_booleans_are_no_numbers() -> None:
    data = IncompleteData.from_table({"q": [True, False] * 20}, missing=[1])
    assert data.states == ((False, True),)
    assert not np.any(data.codes == MISSING)


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "pyarrow", "numpy"])
@pytest.mark.parametrize("cut", [False, True])
def test_marked_cells_are_filled_and_the_others_stay(
    tmp_path: Path, kind: str, cut: bool
) -> None:
    table = tables(tmp_path, CELLS)[kind]
    name = "x0" if kind == "numpy" else "q"
    options = {"discretize": {name: 2}} if cut else {}
    filled = bm.learn(table, missing=[-9], **options).completed.to_table()
    column = filled[:, 0] if kind == "numpy" else filled["q"]
    after = column.to_pylist() if kind == "pyarrow" else list(column)
    assert [x for x, b in zip(after, CELLS, strict=True) if b != -9] == [1, 2, 3] * 20
    assert {x for x, b in zip(after, CELLS, strict=True) if b == -9} <= {1, 2, 3}


def test_marked_cells_that_stay_missing_come_back_as_null() -> None:
    table = pl.DataFrame({"q": CELLS, "s": LABELS})
    back = IncompleteData.from_table(table, missing=[-9]).to_table()
    assert back["q"].to_list() == [None if x == -9 else x for x in CELLS]


def test_a_state_that_is_a_marker_is_refused() -> None:
    with pytest.raises(DataError, match="also a missing marker"):
        IncompleteData.from_table(
            {"q": CELLS}, states={"q": [-9, 1, 2, 3]}, missing=["-9"]
        )


@pytest.mark.parametrize("marker", [None, True, float("nan"), [1]])
def test_other_markers_are_refused(marker: object) -> None:
    with pytest.raises(ParameterError, match="must hold text or numbers"):
        bm.summary({"q": CELLS}, missing=[marker])


# What may be meant otherwise is said.


def read(path: Path, text: str, **options: object) -> str:
    """Read a file and return what is said about it."""
    path.write_text(text)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        IncompleteData.from_table(path, **options)
    return "".join(str(warning.message) for warning in caught)


def test_a_word_beside_another_marker_may_be_a_label(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    text = "religion,s\n" + "None,a\nx,b\ny,a\n,b\n" * 10
    assert read(path, text) == (
        "t.csv: 'None' in religion (10 cells) is read as missing; if it is a label,"
        " pass missing=['']."
    )
    assert not read(path, text, missing=[""])
    assert not read(path, text, missing=["", "None"])
    several = "religion,s\n" + "None,?\nx,b\ny,a\n,NA\n" * 10
    assert read(path, several) == (
        "t.csv: 'None' in religion (10 cells), 'NA' in s (10 cells) are read as"
        " missing; if they are labels, pass missing=['', '?']."
    )


@pytest.mark.parametrize(
    "rows",
    [
        "None,a\nx,b\ny,a\n",  # the only marker
        "nan,a\n1,b\n2,a\n,b\n",  # no label of numbers
        "NaN,a\nnan,b\nx,a\ny,b\n",
    ],
)
def test_words_that_are_no_labels_are_not_told(tmp_path: Path, rows: str) -> None:
    assert not read(tmp_path / "t.csv", "religion,s\n" + rows * 10)


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        (["1", "2", "-9", "3"] * 10, -9),
        (["0", "1", "-99.0", "3"] * 10, -99),
        (["1", "2", "3", "4", "5", "99"] * 10, 99),
        ([*(str(20 + k) for k in range(50)), *["999"] * 10], 999),
        ([*(str(1950 + k) for k in range(60)), *["9999"] * 10], 9999),
        ([*(str(k / 7) for k in range(60)), *["-999"] * 10], -999),
    ],
)
def test_a_number_that_stands_apart_may_be_a_missing_cell(
    tmp_path: Path, cells: list[str], code: int
) -> None:
    text = "q,s\n" + "".join(f"{x},{'ab?'[k % 3]}\n" for k, x in enumerate(cells))
    said = read(tmp_path / "t.csv", text, columns={"q": "model"})
    assert (
        f"{code} of q stands apart from all other numbers; if missing cells are meant,"
        f" pass missing=['?', {code}]." in said
    )
    said = read(tmp_path / "t.csv", text, columns={"q": "model"}, missing=["?", code])
    assert "stands apart" not in said
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bm.summary({"q": [float(x) for x in cells]}, columns={"q": "model"})
    assert f"pass missing=[{code}]." in str(caught[0].message)


@pytest.mark.parametrize(
    "cells",
    [
        [-9, -3, 0, 5] * 10,
        [-9, *range(30)],
        [*range(0, 990, 10), 999, 999, 999],
        [999, 999, 1000, 1001] * 10,
        [0, 999] * 20,
        [*range(18, 91), 99, 99, 99],
        [-9, -9, -9],
    ],
)
def test_other_numbers_are_not_told(cells: list[int]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bm.summary({"q": cells}, columns={"q": "model"})
    assert not any("stand" in str(warning.message) for warning in caught)
