"""The record of hidden cells: what it says, and how completions compare with it."""

import csv
import json
import math

import numpy as np
import pytest
from support.tables import binary_table

from bayesmend.data.table import IncompleteData
from bayesmend.errors import DataError
from bayesmend.hiding.mechanisms import (
    hide_mar,
    hide_mcar,
    hide_value_per_variable,
)


def test_the_record_goes_to_json_and_csv(tmp_path):
    hidden = hide_mar(binary_table(100), 0.1, depends_on=["age"], seed=1)
    report = json.loads(json.dumps(hidden.to_dict()))
    assert report["request"]["mechanism"] == "mar"
    assert report["n_hidden"] == sum(report["hidden"].values()) == hidden.n_hidden
    hidden.write_csv(tmp_path / "truth.csv")
    with (tmp_path / "truth.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["row", "variable", "value"]
    assert rows == [[str(part) for part in cell] for cell in hidden.cells()]
    assert [file.name for file in tmp_path.iterdir()] == ["truth.csv"]


def test_the_record_is_read_only_and_prints_on_one_line():
    hidden = hide_mcar(binary_table(100), 0.5, seed=1)
    assert repr(hidden) == f"Hidden(mcar: {hidden.n_hidden} of 300 cells)"
    for array in (hidden.rows, hidden.variables, hidden.true_codes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    with pytest.raises(TypeError):
        hidden.request["rate"] = 1.0


def test_accuracy_of_nothing_hidden_is_nan():
    table = binary_table(10)
    assert math.isnan(hide_mcar(table, 0.0, seed=1).accuracy(table))
    assert hide_mcar(table, 0.0, seed=1).accuracy_by_variable(table) == {}


def test_accuracy_compares_labels_not_codes():
    table = binary_table(100)
    hidden = hide_mcar(table, 0.3, seed=1)
    turned = IncompleteData.from_codes(
        1 - table.codes,
        names=table.names,
        states=tuple(states[::-1] for states in table.states),
    )
    assert hidden.accuracy(turned) == 1.0


def test_accuracy_is_the_share_of_hidden_cells_recovered():
    table = binary_table(200)
    hidden = hide_value_per_variable(table, 10, state=1, variables=["smoke", "age"],
                                     seed=1)  # fmt: skip
    codes = table.codes.copy(order="F")
    codes[:, 0] = 0
    guess = table.with_codes(codes)
    assert hidden.accuracy(guess) == 0.5
    assert hidden.accuracy_by_variable(guess) == {"smoke": 0.0, "age": 1.0}


def test_accuracy_reads_a_plain_table():
    table = binary_table(50)
    hidden = hide_mcar(table, 0.3, seed=1)
    labels = [
        [table.states[v][code] for v, code in enumerate(row)]
        for row in table.codes.tolist()
    ]
    frame = pytest.importorskip("pandas").DataFrame(labels, columns=table.names)
    assert hidden.accuracy(frame) == 1.0


def test_accuracy_wants_the_same_rows():
    hidden = hide_mcar(binary_table(50), 0.3, seed=1)
    with pytest.raises(DataError, match="has 40 rows, but the incomplete one has 50"):
        hidden.accuracy(binary_table(40))


def numbers(n_rows=60):
    return [round(1.5 + (37 * i % n_rows) / 100, 2) for i in range(n_rows)]


def test_the_truth_of_a_number_is_the_number_as_it_was_written(tmp_path):
    sizes = [f"{size:.2f}".replace(".", ",") for size in numbers()]
    path = tmp_path / "raw.csv"
    lines = [f"{size};{'ab'[i % 2]}" for i, size in enumerate(sizes)]
    path.write_text("\n".join(["size;kind", *lines]))
    data = IncompleteData.from_csv(path, discretize={"size": 3}, decimal=",")
    hidden = hide_mcar(data, 0.3, seed=1)
    rows = list(csv.DictReader(hidden.to_csv().splitlines()))
    cut = [row for row in rows if row["variable"] == "size"]
    assert len(cut) == hidden.counts["size"] > 0
    assert all(row["value"] == sizes[int(row["row"])] for row in cut)
    assert {row["value"] for row in rows if row["variable"] == "kind"} == {"a", "b"}
    assert hidden.accuracy(data) == hidden.accuracy(path) == 1.0


def test_the_truth_of_a_filled_cell_is_its_interval():
    table = {"size": numbers(), "kind": ["a", "b"] * 30}
    table["size"][0] = None
    data = IncompleteData.from_table(table, discretize={"size": 3})
    filled = data.with_codes(np.where(data.codes == 255, 0, data.codes))
    rows = hide_mcar(filled, 0.999, seed=1).to_csv().splitlines()
    assert rows[1] == f"0,size,{data.states[0][0]}"
    assert rows[2] == f"1,size,{table['size'][1]}"
