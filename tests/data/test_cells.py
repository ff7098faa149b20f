"""Mended cells: one by one, some of them, and under the row labels of their table."""

import csv
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bayesmend as bm

ROWS = {"a": ["x", None, "y", "y"], "b": ["u", "u", None, None]}
BOTH = {"columns": ["a", "b"]}  # though b has one value only
PEOPLE = ["ann", "bob", "cid", "dee"]


@pytest.fixture(scope="module")
def cells():
    return bm.learn(ROWS, **BOTH).cells


def places(cells):
    return [(cell.row, cell.variable) for cell in cells]


def test_a_position_gives_a_cell(cells):
    listed = list(cells)
    assert [cells[k] for k in range(3)] == listed
    assert [cells[k] for k in (-3, -2, -1)] == listed
    assert cells[np.int64(1)] == listed[1]
    for outside in (3, -4):
        with pytest.raises(IndexError):
            cells[outside]


@pytest.mark.parametrize(
    "which",
    [
        slice(1, None),
        slice(None, None, -1),
        [2, 0],
        np.array([True, False, True]),
        [False, True, False],
        pl.Series([True, True, False]),
        [],
    ],
    ids=repr,
)
def test_several_positions_give_cells(cells, which):
    at = np.arange(3)[which if isinstance(which, slice) else np.array(which, int)]
    if not isinstance(which, slice) and np.asarray(which).dtype == bool:
        at = np.flatnonzero(which)
    some = cells[which]
    assert list(some) == [cells[k] for k in at.tolist()]
    assert some.names == cells.names
    assert len(some) == len(at)


def test_a_mask_of_the_wrong_length_is_refused(cells):
    with pytest.raises(IndexError, match="boolean"):
        cells[[True]]


def test_a_choice_keeps_what_is_known_of_each_cell():
    found = bm.impute(
        bm.learn(ROWS, **BOTH).network, ROWS, method="draw", n_draws=3, seed=1
    )
    last = found.cells[found.cells.tables == 3]
    assert len(last) == 3
    assert all(cell.table == 3 and 0 < cell.probability <= 1 for cell in last)


INDICES = {
    "names": pd.Index(PEOPLE),
    "filtered": pd.Index([0, 2, 5, 7]),
    "from 1": pd.RangeIndex(1, 5),
    "named": pd.RangeIndex(4, name="person"),
    "pairs": pd.MultiIndex.from_product([["f", "m"], [1, 2]]),
    "days": pd.date_range("2020-01-01", periods=4),
}


@pytest.mark.parametrize("index", INDICES.values(), ids=INDICES)
def test_cells_carry_the_row_labels_of_a_frame(index):
    frame = pd.DataFrame(ROWS, index=index)
    result = bm.learn(frame, **BOTH)
    filled = bm.impute(result.network, frame)
    for cells in (result.cells, filled.cells):
        assert [cell.row for cell in cells] == [1, 2, 3]
        assert [cell.row_label for cell in cells] == index.tolist()[1:]
        assert cells[1:][0].row_label == index.tolist()[2]
        columns = cells.to_dict()
        place = list(columns).index("row_label")
        assert columns["row_label"] == index.tolist()[1:]
        written = [row[place] for row in csv.reader(io.StringIO(cells.to_csv()))]
        assert written == ["row_label", *map(str, index.tolist()[1:])]
    assert "row_label=" in repr(result.cells[0])


@pytest.mark.parametrize(
    "table",
    [ROWS, pd.DataFrame(ROWS), pl.DataFrame(ROWS), pd.DataFrame(ROWS, index=range(4))],
    ids=["mapping", "pandas", "polars", "numbers"],
)
def test_rows_that_are_only_numbered_have_no_labels(table):
    cells = bm.learn(table, **BOTH).cells
    assert cells.row_labels is None
    assert "row_label" not in cells.to_dict()
    assert "row_label" not in repr(cells[0])
    assert places(cells) == [(1, "a"), (2, "b"), (3, "b")]


def test_every_draw_has_the_labels():
    frame = pd.DataFrame(ROWS, index=PEOPLE)
    network = bm.learn(frame, **BOTH).network
    cells = bm.impute(network, frame, method="draw", n_draws=2, seed=1).cells
    assert cells.to_dict()["row_label"] == PEOPLE[1:] * 2
