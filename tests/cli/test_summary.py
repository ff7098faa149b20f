"""The command summary, and the options by which tables are read."""

import gzip
import json

import pytest
from support.clirunner import fails, ok

from bayesmend.data.table import IncompleteData
from bayesmend.learning import innocence


def test_summary_prints_the_summary_of_the_table(table):
    assert ok("summary", table) == f"{IncompleteData.from_table(table).summary()}\n"


def test_summary_as_json_is_the_dict_of_the_summary(table):
    expected = json.loads(
        json.dumps(IncompleteData.from_table(table).summary().to_dict())
    )
    assert json.loads(ok("summary", table, "--json")) == expected


@pytest.mark.parametrize(
    "pack", [str.encode, lambda text: gzip.compress(text.encode())]
)
def test_summary_reads_stdin(table, pack):
    assert ok("summary", "-", stdin=pack(table.read_text())) == ok("summary", table)


def test_summary_takes_missing_markers(table):
    options = ("--missing", "no", "--model", "smoke")
    report = json.loads(ok("summary", table, "--json", *options))
    assert "no" not in report["variables"][0]["states"]


def test_summary_takes_states(table):
    text = ok("summary", table, "--states", "smoke=yes,no,never")
    assert "never" in text


def test_states_of_numbers_and_booleans_are_found_in_every_kind_of_file(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": [0, 1], "b": [True, False]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    for name, kind in (("t.parquet", int), ("t.csv", str)):
        options = ["--states", "n=2,1,0", "--states", "b=True,False"]
        report = json.loads(ok("summary", tmp_path / name, "--json", *options))
        assert report["variables"][0]["states"] == [kind(2), kind(1), kind(0)]


def test_summary_discretizes(tmp_path):
    path = tmp_path / "n.csv"
    path.write_text("x\n" + "\n".join(str(n) for n in range(100)) + "\n")
    few = ("--discretize", "none", "--model", "x")
    assert fails(1, "summary", path, *few) == (
        "Error: variable 'x' has 100 distinct numeric values, more than "
        "--max-numeric-states 20. Discretize it with --discretize x=4, list its states "
        "with --states x=A,B,..., or raise --max-numeric-states."
    )
    assert "x " in ok("summary", path, *few, "--max-numeric-states", 100)
    for how in ("x=4", "x=quantile:4", "x=uniform:4", "x=cuts:10,20,30"):
        report = json.loads(ok("summary", path, "--json", "--discretize", how))
        assert len(report["variables"][0]["states"]) == 4


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ["--states", "smoke"],
            "--states must look like NAME=VALUE. Got 'smoke' instead",
        ),
        (
            ["--discretize", "x"],
            "--discretize must look like NAME=VALUE. Got 'x' instead",
        ),
        (["--states", "a=1", "--states", "a=2"], "--states has two values for 'a'."),
        (["--discretize", "x=many:4"], "--discretize must look like"),
        (["--discretize", "x=cuts:a"], "--discretize must look like"),
    ],
)
def test_a_malformed_option_is_a_usage_error(table, args, message):
    assert message in fails(2, "summary", table, *args)


def test_a_missing_file_is_named(tmp_path):
    message = fails(1, "summary", tmp_path / "no.csv")
    assert message.startswith("Error: ")
    assert str(tmp_path / "no.csv") in message


def test_text_may_have_any_suffix_or_come_from_stdin(table, tmp_path):
    path = tmp_path / "table.dat"
    path.write_text(table.read_text())
    assert ok("summary", path) == ok("summary", table)
    assert ok("summary", "-", stdin=path.read_text()) == ok("summary", table)
    assert fails(1, "summary", tmp_path) == (
        f"Error: '{tmp_path}' is a directory. Name a file in it."
    )


def test_a_broken_table_on_stdin_is_called_stdin():
    message = fails(1, "summary", "-", stdin="a,b\n1,2\n1,2,3\n")
    assert "<stdin>" in message
    assert "bayesmend-" not in message


def test_summary_tests_whether_missing_cells_are_innocent(table):
    tests = innocence(IncompleteData.from_table(table), seed=1)
    assert ok("summary", table, "--mechanism").endswith(f"\n\n{tests}\n")
    report = json.loads(ok("summary", table, "--mechanism", "--json"))
    assert report["mechanism"] == json.loads(json.dumps(tests.to_dict()))


def test_several_files_are_one_table(table, tmp_path):
    header, *rows = table.read_text().splitlines(keepends=True)
    for k, part in enumerate((rows[:5], rows[5:])):
        (tmp_path / f"part-{k}.csv").write_text("".join([header, *part]))
    named = ok("summary", tmp_path / "part-0.csv", tmp_path / "part-1.csv")
    assert ok("summary", table) == named
    assert ok("summary", tmp_path / "part-*.csv") == named


def test_stdin_is_no_part_of_a_table(table):
    assert "Name it alone" in fails(2, "summary", table, "-")
