"""The command line: files, stdout, messages and exit codes."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from functools import partial

import pytest
from support import clirunner
from support.clirunner import read_until
from support.shared import ROOT
from support.tables import write_csv

from experiments.catalog import NAMES, load_experiment
from experiments.command import app
from experiments.data import GUIDE, SOURCES

run, ok, fails = (
    partial(f, app=app) for f in (clirunner.run, clirunner.ok, clirunner.fails)
)
ASIA = ("table1", "--settings", "asia", "--methods", "exact,mode")
FILES = {
    f"table1{ending}"
    for ending in (".jsonl", ".md", ".csv", "-tests.csv", ".png", ".svg")
}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    monkeypatch.delenv("BAYESMEND_DATA", raising=False)


@pytest.fixture
def undrawn(monkeypatch):
    """Leave out figures, which take longer than all else."""
    monkeypatch.setattr("experiments.render.figure.write_figures", lambda *_: [])


undrawn_figures = pytest.mark.usefixtures("undrawn")


def rows_of(out, name="table1"):
    text = (out / f"{name}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_names_are_listed():
    lines = ok("--list").splitlines()
    assert [line.split()[0] for line in lines] == [*NAMES, "all"]


def test_rows_tables_and_figures_are_written(tmp_path):
    out = tmp_path / "new" / "folder"
    text = ok(*ASIA, "--repetitions", 2, "--out", out)
    assert {path.name for path in out.iterdir()} == FILES
    assert len(rows_of(out)) == 8
    assert "**Not the full protocol:** 8 of " in text
    assert text.startswith("# Table 1")
    assert (out / "table1.md").read_text().startswith(text.split("\n\n\n")[0][:200])
    assert all(str(out / name) in text for name in FILES)
    exact = [row for row in rows_of(out) if row["method"] == "exact"]
    assert {row["status"] for row in exact} == {"optimal"}


@undrawn_figures
def test_a_second_run_goes_on_and_a_report_alone_runs_nothing(tmp_path):
    out = tmp_path / "out"
    ok(*ASIA, "--repetitions", 1, "--out", out)
    first = (out / "table1.jsonl").read_bytes()
    ok(*ASIA, "--repetitions", 2, "--out", out)
    both = (out / "table1.jsonl").read_bytes()
    assert both.startswith(first)
    assert len(rows_of(out)) == 8
    (out / "table1.md").unlink()
    text = ok("table1", "--report-only", "--out", out)
    assert "| ASIA | exact | 84.38 |" in text
    assert (out / "table1.jsonl").read_bytes() == both
    assert (out / "table1.md").exists()
    assert ok("all", "--report-only", "--out", out) == text


@undrawn_figures
def test_quick_means_fewer_repetitions_and_says_so(tmp_path):
    out = tmp_path / "out"
    command = ("table1", "--settings", "asia/1", "--methods", "mode", "--quick")
    text = ok(*command, "--out", out)
    assert len(rows_of(out)) == 10
    assert "Not the full protocol" in text


@undrawn_figures
def test_data_come_from_the_folder_named(tmp_path, monkeypatch):
    columns = {"safety": {"low": 0.5, "high": 0.5}}
    columns["class"] = {"unacc": 0.5, "acc": 0.5}
    write_csv(tmp_path / "car.csv", columns, 400)
    command = ("table5", "--repetitions", 1)
    methods = ("--methods", "svm-linear,svm-poly,mode")
    text = ok(*command, *methods, "--data", tmp_path, "--out", tmp_path / "a")
    assert text.count("SVM (") == 3
    monkeypatch.setenv("BAYESMEND_DATA", str(tmp_path))
    ok(*command, "--methods", "mode", "--jobs", 2, "--out", tmp_path / "b")
    one, two = (
        sorted(
            (row["setting"], row["accuracy"])
            for row in rows_of(tmp_path / out, "table5")
            if row["method"] == "mode"
        )
        for out in "ab"
    )
    assert len(one) == 2
    assert one == two


def test_absent_data_are_named_with_their_source(tmp_path):
    message = fails(1, "table5", "--out", tmp_path / "out")
    assert message == (
        "Error: no folder of data is named. Name one with --data or BAYESMEND_DATA, "
        "with these files in it: car.csv (Car Evaluation, UCI Machine Learning "
        "Repository, https://archive.ics.uci.edu/dataset/19). How to prepare each: "
        "docs/howto/reproduce.md."
    )
    message = fails(1, "table1", "--data", tmp_path)
    assert message.startswith(f"Error: folder '{tmp_path}' lacks data. Put there: ")
    assert "networks/bnrep_foodallergy1.bif (network foodallergy1 of the R" in message
    assert (
        "networks/surrogate_breast8.bif (a stand-in for an unpublished network, not "
        "for download: make it, a tree-augmented naive Bayes network over 8 binary "
        "variables, from Breast Cancer, "
    ) in message
    assert message.endswith(" How to prepare each: docs/howto/reproduce.md.")
    assert not (tmp_path / "out").exists()


def test_the_guide_tells_of_every_file():
    guide = (ROOT / GUIDE).read_text()
    files = {*SOURCES, *(f for name in NAMES for f in load_experiment(name).files)}
    assert {file for file in files if f"`{file}`" not in guide} == set()


@undrawn_figures
def test_other_parameters_need_another_folder(tmp_path):
    out = tmp_path / "out"
    ok(*ASIA, "--repetitions", 1, "--out", out)
    message = fails(1, *ASIA, "--time-limit", 1, "--out", out)
    assert message == (
        f"Error: '{out / 'table1.jsonl'}' holds rows of another protocol (method "
        "exact: method.time_limit was 60.0, is 1.0). Repeat the options they were made "
        "with, or name another folder with --out."
    )
    assert "seed was 1, is 2" in fails(1, *ASIA, "--seed", 2, "--out", out)


def test_wrong_names_are_refused(tmp_path):
    assert "name a table, such as table1, or all" in fails(2)
    assert "there is no table 'table0'. Known:" in fails(2, "table0")
    out = ("--out", tmp_path / "out")
    message = fails(1, "table1", "--methods", "magic", *out)
    assert message.startswith("Error: table1 has no method 'magic'. Known: em, em-hard")
    message = fails(1, "table1", "--settings", "europe", *out)
    assert "no setting that starts with 'europe'" in message
    message = fails(1, "table1", "--report-only", *out)
    assert "there are no raw rows in" in message
    message = fails(1, "all", "--report-only", *out)
    assert message.endswith(f"in '{tmp_path / 'out'}'. Run an experiment first.")


@pytest.mark.parametrize("limit", ["0", "-3", "nan", "inf"])
def test_a_limit_that_is_none_is_a_usage_error(limit, tmp_path):
    out = tmp_path / "out"
    result = run(*ASIA, f"--time-limit={limit}", "--out", out)
    assert result.exit_code == 2
    assert "a limit is a number of seconds > 0" in result.stderr
    assert not out.exists()


# --- reports --------------------------------------------------------------------------


@undrawn_figures
def test_a_report_reads_seed_and_limit_from_the_rows(tmp_path):
    out = tmp_path / "out"
    options = ("--time-limit", 7, "--seed", 3, "--repetitions", 1, "--out", out)
    text = ok(*ASIA, *options)
    assert "; exact has 7 s a run instead of 60; exact-mechanism has 7 s a" in text
    assert ok("table1", "--report-only", "--out", out) == text
    assert "- Limit of each run: 7 s (exact).\n" in (out / "table1.md").read_text()
    message = fails(1, "table1", "--report-only", "--time-limit", 9, "--out", out)
    assert "time_limit was 7.0, is 9.0" in message


@undrawn_figures
def test_a_report_is_of_the_part_that_is_named(tmp_path):
    out = tmp_path / "out"
    ok(*ASIA, "--repetitions", 2, "--out", out)
    report = ("table1", "--report-only", "--out", out)
    assert "8 of 8,000 runs" in ok(*report)
    assert "| exact |" not in ok(*report, "--methods", "mode")
    assert "4 of 8,000 runs" in ok(*report, "--settings", "asia/1")
    assert "4 of 8,000 runs" in ok(*report, "--repetitions", 1)
    assert "has no method 'magic'" in fails(1, *report, "--methods", "magic")
    assert "no setting that starts with 'x'" in fails(1, *report, "--settings", "x")


# --- several tables -------------------------------------------------------------------


def test_all_data_are_asked_for_before_the_first_run(tmp_path):
    out = tmp_path / "out"
    command = ("table1", "table5", "--settings", "asia,unacc")
    message = fails(1, *command, "--methods", "mode", "--out", out)
    assert "with these files in it: car.csv (Car" in message
    assert not out.exists()


@undrawn_figures
def test_names_go_to_the_tables_that_know_them(tmp_path):
    out = tmp_path / "out"
    both = ("table1", "optimum", "--repetitions", 1, "--out", out)
    ok(*both, "--settings", "asia", "--methods", "mode,local-1-r1")
    assert {row["method"] for row in rows_of(out)} == {"mode"}
    assert {row["method"] for row in rows_of(out, "optimum")} == {"local-1-r1"}
    message = fails(1, *both, "--settings", "asia", "--methods", "mode,magic")
    assert message == (
        "Error: there is no method 'magic' in any of table1, optimum. Name one of "
        "them alone to be told its methods."
    )
    assert "no setting 'x' in any of" in fails(1, *both, "--settings", "asia,x")


@undrawn_figures
def test_a_table_that_knows_none_of_the_names_is_left_out(tmp_path):
    out = tmp_path / "out"
    both = ("table1", "table5", "--repetitions", 1, "--out", out)
    result = run(*both, "--settings", "asia", "--methods", "mode")
    assert result.exit_code == 0
    assert result.stderr == (
        "table5 is left out: it has nothing of what was asked for.\n"
    )
    result = run(*both, "--settings", "asia", "--methods", "svm")
    assert result.exit_code == 1
    assert "no table has both the methods and the settings" in result.stderr


def test_a_file_is_no_folder(tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    message = fails(1, *ASIA, "--out", file)
    assert message == f"Error: '{file}' is a file. Name a folder with --out."


def without(monkeypatch, *packages):
    """Let packages be as if they were not installed."""
    for name in [n for n in sys.modules if n.split(".")[0] in packages]:
        monkeypatch.delitem(sys.modules, name)
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)


@pytest.mark.parametrize("package", ["scipy", "matplotlib"])
def test_a_missing_extra_is_named_with_its_installation(package, tmp_path, monkeypatch):
    without(monkeypatch, package)
    message = fails(1, *ASIA, "--out", tmp_path / "out")
    assert message.startswith(f"Error: this experiment needs {package}. Install")
    assert message.endswith("pip install --group experiments.")


@pytest.mark.parametrize(
    ("table", "method", "packages"),
    [
        ("imputation", "mode,miceforest", ["lightgbm", "miceforest"]),
        ("imputation", "knn", ["sklearn"]),
        ("imputation", "iterative-forest", ["sklearn"]),
        ("imputation", "iterative-logistic", ["sklearn"]),
        ("table5", "svm", ["sklearn"]),
        ("table4", "lapsvm", ["sklearn"]),
    ],
)
def test_what_the_methods_need_is_checked_before_any_run(
    table, method, packages, tmp_path, monkeypatch
):
    without(monkeypatch, *packages)
    out = tmp_path / "out"
    command = ("table1", table, "--methods", f"exact,{method}")
    if table == "imputation":
        command += ("--settings", "asia")
    message = fails(1, *command, "--out", out)
    assert message.startswith(f"Error: this experiment needs {', '.join(packages)}. ")
    assert not out.exists()


@undrawn_figures
def test_what_is_not_asked_for_is_not_needed(tmp_path, monkeypatch):
    without(monkeypatch, "sklearn", "miceforest", "lightgbm")
    ok(*ASIA, "--repetitions", 1, "--out", tmp_path / "out")


@undrawn_figures
def test_a_torn_line_is_told_and_mended(tmp_path):
    out = tmp_path / "out"
    ok(*ASIA, "--repetitions", 1, "--out", out)
    raw = out / "table1.jsonl"
    raw.write_bytes(raw.read_bytes()[:-20])
    result = run(*ASIA, "--repetitions", 1, "--out", out)
    assert result.exit_code == 0
    assert result.stderr.startswith(f"The last line of '{raw}' was not written to its")
    assert len(rows_of(out)) == 4


def test_ctrl_c_keeps_the_rows_and_says_how_to_go_on(tmp_path):
    out = tmp_path / "out"
    main, other = pty.openpty()
    command = [sys.executable, "-m", "experiments", "table1"]
    command += ["--settings", "asia", "--methods", "local-2,exact", "--out", str(out)]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=other
    ) as process:
        shown = read_until(main, "left (asia/0, ")
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    shown += read_until(main, "what is there.")
    os.close(main)
    os.close(other)
    assert (process.returncode, stdout) == (130, b"")
    assert re.search(r"table1: 1 of 400 runs, \d s, about ", shown)
    assert (
        "Interrupted. The raw rows of table1 are kept: run the same command again to "
        "go on, or add --report-only for tables of what is there.\r\n"
    ) in shown
    assert 1 <= len(rows_of(out)) < 400
