"""No field of a CSV file is a formula, where that is asked for."""

import csv
import io

import pytest
from support.clirunner import ok

from bayesmend import IncompleteData, learn, write_network

ROWS = [["=cmd()", "-1"], ["@sum", "2"], ["", "-1"], ["=cmd()", "-1"]] * 6
FORMULAS = ("=", "+", "-", "@")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["+name", "b"], *ROWS])
    return path


def fields_of(text):
    return [field for row in csv.reader(io.StringIO(text)) for field in row]


def is_formula(field):
    return field.startswith(FORMULAS) and field != "-1"


@pytest.mark.parametrize("name", ["learn", "hide", "sample", "impute"])
def test_tables_are_safe_where_it_is_asked(name, table, tmp_path):
    data = IncompleteData.from_csv(table)
    net, out, side = tmp_path / "net.json", tmp_path / "out", tmp_path / "side.csv"
    write_network(learn(data, seed=1).network, net)
    command = {
        "learn": ["learn", table, "--out", out],
        "hide": ["hide", table, "--mcar", "0.3", "--seed", "1", "--truth", side],
        "sample": ["sample", net, "--rows", "9", "--seed", "1"],
        "impute": ["impute", net, table, "--cells", side],
    }[name]

    def written(*more):
        texts = [ok(*command, "--force", *more)]
        if name == "learn":
            texts = [(out / f).read_text() for f in ("completed.csv", "cells.csv")]
        elif name != "sample":
            texts.append(side.read_text())
        return [field for text in texts for field in fields_of(text)]

    plain, safe = written(), written("--safe-csv")
    assert any(map(is_formula, plain))
    assert not any(map(is_formula, safe))
    assert "-1" in safe  # a number is no formula
    assert [field.removeprefix("'") for field in safe] == plain


def test_the_library_writes_safe_tables_too(table, tmp_path):
    data = IncompleteData.from_csv(table)
    data.write_csv(tmp_path / "safe.csv", safe=True)
    assert not any(map(is_formula, fields_of((tmp_path / "safe.csv").read_text())))
    data.write_csv(tmp_path / "plain.csv")
    assert fields_of((tmp_path / "plain.csv").read_text()) == [
        field for row in [["+name", "b"], *ROWS] for field in row
    ]
