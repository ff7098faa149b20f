"""The command line: results on stdout, one-line errors on stderr, exit codes."""

import csv
import gzip
import io
import json
import signal
import subprocess
import sys

import pytest
from support.clirunner import fails, ok, run

import bayesmend
from bayesmend.data.table import IncompleteData
from bayesmend.datasets import load_network
from bayesmend.formats import read_network
from bayesmend.graph.distance import structural_hamming_distance

COMMANDS = ["summary", "convert", "sample", "hide", "learn", "structure", "demo"]
TABLE = "smoke,cough,age\nyes,1,young\nno,0,\nyes,NA,old\nno,0,young\n"


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def asia(tmp_path):
    """One thousand complete rows of ASIA."""
    path = tmp_path / "asia.csv"
    ok("sample", "asia", "--rows", 1000, "--seed", 1, "--out", path)
    return path


# --- bayesmend --------------------------------------------------------------------


def test_version_is_the_version_of_the_package():
    assert ok("--version") == f"bayesmend {bayesmend.__version__}\n"


@pytest.mark.parametrize("flag", ["--help", "-h"])
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command, flag):
    text = ok(command, flag)
    assert text.startswith(f"Usage: bayesmend {command}")
    assert f"  {command} " in ok(flag)


def test_an_unknown_command_is_a_usage_error():
    assert "No such command 'lern'" in fails(2, "lern")


def test_loading_the_commands_loads_nothing_heavy():
    code = "import sys, bayesmend.cli.app; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    assert not loaded & {"rich", "narwhals", "pandas", "polars", "pyarrow", "networkx"}


def test_without_typer_one_sentence_says_what_to_install():
    code = (
        "import sys; sys.modules['typer'] = None\n"
        "from bayesmend.__main__ import main; main()"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert run.stderr == (
        "Error: the command line needs the package 'typer'. "
        "Install it: pip install 'bayesmend[cli]'\n"
    )


def test_python_m_bayesmend_is_the_same_command():
    run = subprocess.run(
        [sys.executable, "-m", "bayesmend", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout == f"bayesmend {bayesmend.__version__}\n"


def test_ctrl_c_ends_with_one_line_and_130(monkeypatch, table):
    def interrupt(*args, **options):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(IncompleteData, "from_table", interrupt)
    result = run("summary", table)
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")


def test_an_unexpected_error_is_one_line_without_traceback(monkeypatch, table):
    def broken(*args, **options):
        raise RuntimeError("first\nsecond")

    monkeypatch.setattr(IncompleteData, "from_table", broken)
    assert fails(1, "summary", table) == (
        "Error: unexpected RuntimeError: first second. See where with --debug."
    )


def test_lack_of_memory_is_reported(monkeypatch, table):
    def broken(*args, **options):
        raise MemoryError

    monkeypatch.setattr(IncompleteData, "from_table", broken)
    assert fails(1, "summary", table) == (
        "Error: not enough memory for this table or network."
    )


@pytest.mark.parametrize(
    "args", [("--debug", "summary", "no.csv"), ("summary", "no.csv", "--debug")]
)
def test_debug_shows_the_traceback(args):
    result = run(*args)
    assert result.exit_code == 1
    assert "Traceback (most recent call last)" in result.stderr


def test_a_reader_that_goes_away_ends_the_command_in_silence():
    args = [sys.executable, "-m", "bayesmend", "sample", "asia", "--rows", "100000"]
    with subprocess.Popen(
        args, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (0, 1)


# --- summary ----------------------------------------------------------------------


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
    assert ok("summary", "-", stdin=pack(TABLE)) == ok("summary", table)


def test_summary_takes_missing_markers(table):
    report = json.loads(ok("summary", table, "--json", "--missing", "no"))
    assert "no" not in json.dumps(report["variables"][0])


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
    assert fails(1, "summary", path) == (
        "Error: variable 'x' has 100 distinct numeric values, more than "
        "--max-numeric-states 20. Discretize it with --discretize x=4, list its states "
        "with --states x=A,B,..., or raise --max-numeric-states."
    )
    assert "x " in ok("summary", path, "--max-numeric-states", 100)
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


def test_a_broken_table_on_stdin_is_called_stdin():
    message = fails(1, "summary", "-", stdin="a,b\n1,2\n1,2,3\n")
    assert "<stdin>" in message
    assert "bayesmend-" not in message


# --- convert ----------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["bif", "xmlbif", "json", "graphml", "bif.gz"])
def test_convert_writes_what_reads_back_equal(tmp_path, suffix):
    out = tmp_path / f"asia.{suffix}"
    assert ok("convert", "asia", out) == ""
    assert read_network(out).is_close(load_network("asia"))
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("form", ["bif", "xmlbif", "json", "graphml"])
def test_convert_reads_stdin_and_writes_stdout(form):
    text = ok("convert", "asia", "-", "--to", form)
    assert ok("convert", "-", "-", "--to", "bif", stdin=text) == ok(
        "convert", "asia", "-", "--to", "bif"
    )
    packed = gzip.compress(text.encode())
    assert ok("convert", "-", "-", "--to", form, stdin=packed) == text


def test_convert_never_replaces_a_file_in_silence(tmp_path):
    out = tmp_path / "net.json"
    out.write_text("mine")
    assert fails(1, "convert", "asia", out) == (
        f"Error: '{out}' exists. Pass --force to replace it."
    )
    assert out.read_text() == "mine"
    ok("convert", "asia", out, "--force")
    assert read_network(out).n_vars == 8


@pytest.mark.parametrize("args", [["-"], ["x.bif", "--to", "json"]])
def test_stdout_needs_a_format_and_a_file_has_its_own(args):
    message = "--to FORMAT goes with OUT -, and OUT - needs it."
    assert message in fails(2, "convert", "asia", *args)


def test_an_unknown_format_on_stdout_is_a_usage_error():
    message = fails(2, "convert", "asia", "-", "--to", "doc")
    assert "--to must be one of bif, " in message
    assert "Got 'doc' instead" in message


def test_an_unknown_format_of_a_file_is_an_error(tmp_path):
    assert "no format for" in fails(1, "convert", "asia", tmp_path / "asia.doc")


def test_an_unknown_network_is_an_error(tmp_path):
    assert fails(1, "convert", "asiaa", tmp_path / "x.bif") == (
        "Error: there is no file 'asiaa' and no shipped network of that name. "
        "Shipped: asia, lucas."
    )


def test_outputs_are_checked_before_any_work(tmp_path):
    there = tmp_path / "no" / "x.bif"
    assert fails(1, "convert", "asia", there) == (
        f"Error: there is no folder '{there.parent}'. Create it first."
    )
    assert fails(1, "convert", "asia", tmp_path) == (
        f"Error: '{tmp_path}' is a folder. Name a file in it."
    )


def test_a_malformed_network_says_where(tmp_path):
    path = tmp_path / "bad.bif"
    path.write_text("network x {\n}\nvariable a {\n  type discrete [ 2 ] { x y };\n}\n")
    message = fails(1, "convert", path, tmp_path / "out.json")
    assert f"{path}, line " in message or "bad.bif, line " in message
    message = fails(1, "convert", "-", tmp_path / "out.json", stdin=path.read_text())
    assert "<stdin>, line " in message


# --- sample -----------------------------------------------------------------------


def test_sample_draws_the_rows_of_the_library(tmp_path):
    text = ok("sample", "asia", "--rows", 20, "--seed", 3)
    drawn = load_network("asia").sample(20, seed=3)
    drawn.write_csv(tmp_path / "x.csv")
    assert text == (tmp_path / "x.csv").read_text()
    ok("sample", "asia", "--rows", 20, "--seed", 3, "--out", tmp_path / "y.csv")
    assert text == (tmp_path / "y.csv").read_text()


def test_sample_reads_a_network_file(tmp_path):
    path = tmp_path / "net.json"
    ok("convert", "lucas", path)
    assert len(rows_of(ok("sample", path, "--rows", 5))) == 5


@pytest.mark.parametrize("args", [[], ["--rows", "-1"], ["--rows", "many"]])
def test_sample_needs_a_number_of_rows(args):
    assert "--rows" in fails(2, "sample", "asia", *args)


# --- hide -------------------------------------------------------------------------

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


# --- demo -------------------------------------------------------------------------


def test_demo_does_the_main_job_and_writes_its_files(tmp_path):
    folder = tmp_path / "new" / "demo"
    text = ok("demo", "--out", folder)
    names = ["asia.bif", "cells.csv", "complete.csv", "completed.csv", "holed.csv"]
    names += ["network.bif", "report.html", "result.json", "truth.csv"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(str(folder / name) in text for name in names)
    holed = IncompleteData.from_table(folder / "holed.csv")
    completed = IncompleteData.from_table(folder / "completed.csv")
    truth = rows_of((folder / "truth.csv").read_text())
    n_right = sum(
        completed.to_table()[cell["variable"]][int(cell["row"])] == cell["value"]
        for cell in truth
    )
    assert f"hid {holed.n_missing} of 16,000 cells" in text
    assert f"hidden cells recovered: {n_right} of {len(truth)} (" in text
    learned = read_network(folder / "network.bif").dag
    distance = structural_hamming_distance(learned, load_network("asia").dag)
    assert f"structural Hamming distance to the ASIA network: {distance} " in text
    assert "hidden cells recovered" in (folder / "report.html").read_text()


def test_demo_runs_again_in_its_own_folder(tmp_path):
    def without_time(text):
        return [line for line in text.splitlines() if not line.startswith("method")]

    first, second = (ok("demo", "--out", tmp_path) for _ in range(2))
    assert without_time(first) == without_time(second)


def test_demo_leaves_a_folder_with_other_files_alone(tmp_path):
    (tmp_path / "thesis.tex").touch()
    assert fails(1, "demo", "--out", tmp_path) == (
        f"Error: folder '{tmp_path}' holds other files, such as 'thesis.tex'. "
        "Name a new or empty folder with --out."
    )
    file = tmp_path / "thesis.tex"
    assert fails(1, "demo", "--out", file) == (
        f"Error: '{file}' is a file. Name a folder with --out."
    )


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


def test_the_truth_may_go_to_stdout(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text(TABLE)
    hide = ("hide", "a.csv", "--mcar", 0.5, "--seed", 1)
    text = ok(*hide, "--out", "holed.csv", "--truth", "-")
    ok(*hide, "--out", "again.csv", "--truth", "truth.csv")
    assert text == (tmp_path / "truth.csv").read_text()
    assert not (tmp_path / "-").exists()
    assert "--truth - needs --out" in fails(2, *hide, "--truth", "-")
    both = ("--out", "b.csv", "--truth", "-", "--json")
    assert "--json and --truth - both go to stdout." in fails(2, *hide, *both)
