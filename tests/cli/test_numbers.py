"""Numbers through the command line: learned, written, imputed, asked about."""

import csv

import pytest
from support.clirunner import fails, ok, run

import bayesmend as bm


def rows_of(text):
    return list(csv.reader(text.splitlines()))


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A folder with a table of ages, two of its rows empty, and what learn made."""
    folder = tmp_path_factory.mktemp("numbers")
    ages = [20, 25, 30, 35, 40, 62, 65, 70, 75, 80] * 6
    lines = [f"{age},{'yes' if age > 60 else 'no'}" for age in ages]
    lines[3], lines[17], lines[30], lines[41] = ",no", ",yes", ",", ","
    (folder / "t.csv").write_text("\n".join(["age,retired", *lines, ""]))
    options = ("--discretize", "age=cuts:45", "--seed", 1)
    result = run("learn", folder / "t.csv", "--out", folder / "out", *options)
    assert result.exit_code == 0
    assert "2 rows without any observed cell left missing" in result.stderr
    return folder


def test_the_completed_table_has_numbers(learned):
    before = rows_of((learned / "t.csv").read_text())
    after = rows_of((learned / "out" / "completed.csv").read_text())
    pairs = enumerate(zip(before, after, strict=True))
    changed = {k for k, (old, new) in pairs if old != new}
    assert changed == {4, 18}
    assert after[4] == ["30", "no"]
    assert after[18] == ["70", "yes"]
    assert after[31] == ["", ""]


def test_empty_rows_are_filled_when_asked(learned, tmp_path):
    options = ("--discretize", "age=cuts:45", "--seed", 1, "--fill-empty-rows")
    result = run("learn", learned / "t.csv", "--out", tmp_path / "o", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    after = rows_of((tmp_path / "o" / "completed.csv").read_text())
    assert all(cell for row in after for cell in row)


def test_the_network_of_the_folder_reads_new_rows(learned, tmp_path):
    net = learned / "out" / "network.bif"
    (tmp_path / "new.csv").write_text("age,retired\n,yes\n33,\n,no\n")
    text = ok("impute", net, tmp_path / "new.csv")
    assert text == "age,retired\n70,yes\n33,no\n30,no\n"
    text = ok("impute", net, tmp_path / "new.csv", "--fill", "interval")
    assert text == "age,retired\n>45,yes\n<=45,no\n<=45,no\n"
    drawn = ok("impute", net, tmp_path / "new.csv", "--method", "draw", "--seed", 1)
    network = bm.read_network(net)
    values = network.schema.discretization.numbers_of("age").values
    assert float(rows_of(drawn)[1][0]) in {x for part in values for x in part}


def test_unknown_labels_and_empty_rows_are_told(learned, tmp_path):
    net = learned / "out" / "network.bif"
    (tmp_path / "new.csv").write_text("age,retired\n33,soon\n,\n,no\n")
    message = fails(1, "impute", net, tmp_path / "new.csv")
    assert "variable 'retired' has no state 'soon'" in message
    result = run("impute", net, tmp_path / "new.csv", "--unknown", "missing")
    assert result.exit_code == 0
    assert result.stdout == "age,retired\n33,soon\n,\n30,no\n"
    assert "1 label of retired unknown to the network" in result.stderr
    assert "1 row without any observed cell left missing" in result.stderr


def test_a_number_may_be_given(learned):
    net = learned / "out" / "network.bif"
    text = ok("query", net, "--target", "retired", "--given", "age=70")
    assert text.startswith("given age=>45 ")


def test_tables_are_written_with_the_delimiter_that_was_read(tmp_path):
    lines = [f"{k % 7},5;{'yes' if k % 7 > 3 else 'no'}" for k in range(60)]
    text = "\n".join(["size;big", *lines, ""])
    (tmp_path / "t.csv").write_text(text)
    options = ("--discretize", "size=cuts:3.7", "--seed", 1)
    done = run("learn", tmp_path / "t.csv", "--out", tmp_path / "out", *options)
    assert done.exit_code == 0
    assert (tmp_path / "out" / "completed.csv").read_text() == text
    net = tmp_path / "out" / "network.bif"
    assert run("impute", net, tmp_path / "t.csv").stdout == text
    hidden = run("hide", tmp_path / "t.csv", "--mcar", "0.1", *options).stdout
    assert hidden.startswith("size;big\n")
    assert hidden.count(";") == 61
    out = tmp_path / "t.tsv"
    assert run("impute", net, tmp_path / "t.csv", "--out", out).exit_code == 0
    assert out.read_text().startswith("size\tbig\n")


def test_hidden_tables_are_written_with_the_markers_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "NA,x\nu,y\n" * 5)
    options = ("--mcar", "0.3", "--seed", 1, "--missing", "-")
    done = run("hide", tmp_path / "t.csv", *options)
    assert done.exit_code == 0
    assert "NA," in done.stdout
