"""The command hide: mechanisms, files, the truth."""

import json

import pytest
from support.clirunner import fails, ok, rows_of, run

WAYS = {
    "mcar": ["--mcar", "0.2"],
    "mar": ["--mar", "0.2", "--depends-on", "smoke,asia"],
    "mar odds": ["--mar", "0.2", "--depends-on", "smoke", "--odds", "smoke=yes:4,no:1"],
    "mnar": ["--mnar", "0.2", "--strength", "2", "--variables", "smoke,lung"],
    "mnar odds": ["--mnar", "0.2", "--odds", "smoke=yes:4"],
    "per variable": ["--per-variable", "2", "--value", "no"],
    "per variable state": ["--per-variable", "2", "--state", "1"],
    "one variable": ["--variable", "smoke", "--count", "20", "--value", "yes"],
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_hide_writes_the_holed_table_and_the_truth(asia, tmp_path, way):
    out, truth = tmp_path / "holed.csv", tmp_path / "truth.csv"
    report = json.loads(
        ok("hide", asia, *way, "--seed", 1, "--out", out, "--truth", truth, "--json")
    )
    before, after = rows_of(asia.read_text()), rows_of(out.read_text())
    cells = rows_of(truth.read_text())
    assert len(cells) == report["n_hidden"] > 0
    for cell in cells:
        row, name = int(cell["row"]), cell["variable"]
        assert (before[row][name], after[row][name]) == (cell["value"], "")
        after[row][name] = cell["value"]
    assert after == before


def test_hide_writes_to_stdout_and_reads_stdin(asia, tmp_path):
    way = ["--mcar", "0.2", "--seed", "1"]
    ok("hide", asia, *way, "--out", tmp_path / "holed.csv")
    assert ok("hide", "-", *way, stdin=asia.read_text()) == (
        (tmp_path / "holed.csv").read_text()
    )


def test_hide_matches_labels_of_numeric_variables_by_their_text(table):
    hidden = rows_of(
        ok("hide", table, "--variable", "cough", "--count", 1, "--value", 1)
    )
    assert [row["cough"] for row in hidden] == ["", "0", "", "0"]


def test_hide_warns_when_there_are_too_few_cells(table):
    way = ["--variable", "smoke", "--count", "9", "--value", "yes"]
    result = run("hide", table, *way)
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: there were too few suitable cells, so all were hidden: "
        "2 of 9 asked in 'smoke'.\n"
    )
    assert "leave --strict out" in fails(1, "hide", table, *way, "--strict")


def test_hide_checks_both_outputs_first(asia, tmp_path):
    truth = tmp_path / "truth.csv"
    truth.touch()
    out = tmp_path / "holed.csv"
    way = ["--mcar", "0.2", "--out", out, "--truth"]
    assert "exists. Pass --force" in fails(1, "hide", asia, *way, truth)
    assert not out.exists()
    assert "two outputs have the same name" in fails(2, "hide", asia, *way, out)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ([], "choose one of --mcar, --mar, --mnar, --per-variable, --variable."),
        (["--mcar", "0.1", "--mnar", "0.1"], "Got --mcar and --mnar."),
        (["--mar", "0.1"], "--mar needs --depends-on."),
        (["--variable", "smoke", "--value", "yes"], "--variable needs --count."),
        (["--mcar", "0.1", "--odds", "a=b:1"], "--odds does not go with --mcar."),
        (  # the first of several, in the order of the help
            ["--mcar", "0.1", "--strict", "--strength", "2", "--count", "3"],
            "--count does not go with --mcar.",
        ),
        (["--mnar", "0.1", "--count", "2"], "--count does not go with --mnar."),
        (["--mcar", "0.1", "--json"], "--json needs --out"),
        (["--mcar", "much"], "--mcar"),
        (["--mnar", "0.1", "--odds", "smoke"], "--odds must look like NAME=VALUE"),
        (
            ["--mnar", "0.1", "--odds", "smoke=4"],
            "--odds must look like NAME=STATE:ODDS",
        ),
        (["--mcar", "0.1", "--seed", "-1"], "--seed"),
    ],
)
def test_hide_explains_wrong_usage(table, args, message):
    assert message in fails(2, "hide", table, *args)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--mcar", "1.5"], "--mcar must be a number between 0 and 1. Got 1.5"),
        (["--mcar", "0.1", "--variables", "smok"], "no variable named 'smok'"),
        (["--mnar", "0.1", "--odds", "smoke=x:1"], "has no state 'x' to give odds for"),
        (["--per-variable", "1", "--value", "q"], "no chosen variable has value 'q'"),
        (["--per-variable", "1"], "give either --value, a label, or --state"),
    ],
)
def test_hide_reports_wrong_requests(table, args, message):
    assert message in fails(1, "hide", table, *args)


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx", "t.json.gz"])
def test_a_table_promises_no_other_format(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    message = (
        "Error: a table is written as .csv, .tsv, .tab, .txt (also .gz). "
        f"Got '{name}' instead."
    )
    assert fails(1, "sample", "asia", "--rows", 2, "--out", name) == message
    (tmp_path / "a.csv").write_text("a\nx\ny\n")
    for option in ("--out", "--truth"):
        assert fails(1, "hide", "a.csv", "--mcar", 0.5, option, name) == message
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    ok("sample", "asia", "--rows", 2, "--out", "t.tsv.gz")
    ok("sample", "asia", "--rows", 2, "--out", "t")


def test_the_truth_may_go_to_stdout(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hide = ("hide", table, "--mcar", 0.5, "--seed", 1)
    text = ok(*hide, "--out", "holed.csv", "--truth", "-")
    ok(*hide, "--out", "again.csv", "--truth", "truth.csv")
    assert text == (tmp_path / "truth.csv").read_text()
    assert not (tmp_path / "-").exists()
    assert "--truth - needs --out" in fails(2, *hide, "--truth", "-")
    both = ("--out", "b.csv", "--truth", "-", "--json")
    assert "--json and --truth - both go to stdout." in fails(2, *hide, *both)
