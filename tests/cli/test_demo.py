"""The command demo."""

import csv
import json

import pytest
from support.clirunner import fails, rows_of, run

from bayesmend.datasets import load_truth, table_path
from bayesmend.formats import read_ensemble, read_network

FILES = [
    *("cells.csv", "completed.csv", "ensemble.json", "network.bif"),
    *("patients-truth.csv", "patients.csv", "report.html", "result.json"),
]


def shown(folder):
    """Run the demo; what it guesses of the table is said as of any other."""
    result = run("demo", "--out", folder)
    assert result.exit_code == 0
    assert result.stderr.startswith("Warning: patients.csv was read by guesses.")
    assert "Choose how with --discretize age=4." in result.stderr
    assert "Choose with --model remarks." in result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("new") / "demo"
    return shown(folder), folder


def test_demo_does_the_main_job_and_writes_its_files(demo):
    text, folder = demo
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert all(str(folder / name) in text for name in FILES)
    assert (folder / "patients.csv").read_text() == table_path().read_text()
    variables = read_network(folder / "network.bif").dag.names
    assert {"smoking", "cholesterol"} <= {*variables}
    assert {"patient", "date", "remarks"}.isdisjoint(variables)
    assert read_ensemble(folder / "ensemble.json").networks


def test_demo_says_why_fields_are_empty(demo):
    text, folder = demo
    facts = json.loads((folder / "result.json").read_text())
    parents = {
        why["variable"]: why["parents"]
        for why in facts["mechanism"]["variables"]
        if why["parents"]
    }
    assert parents == {"smoking": ["smoking"], "cholesterol": ["visit"]}
    assert "Whether smoking is missing depends on what it would hold: current" in text
    assert "Whether cholesterol is missing depends on visit: second 100%" in text


def test_the_report_of_the_demo_says_how_to_do_the_same(demo):
    text, folder = demo
    command = json.loads((folder / "result.json").read_text())["again"]["command"]
    assert command in (folder / "report.html").read_text(encoding="utf-8")
    assert text.rstrip().endswith(command.replace("patients", f"{folder}/patients"))


def test_demo_compares_with_the_truth(demo):
    text, folder = demo
    with (folder / "completed.csv").open(newline="") as file:
        filled = [*csv.DictReader(file)]
    truth = load_truth()
    compared = text.partition("How near the filled")[2].splitlines()
    for name in ("smoking", "statin"):
        n_right = sum(filled[row][name] == value for row, value in truth[name].items())
        line = next(line for line in compared if line.startswith(name + " "))
        assert f"{n_right / len(truth[name]):.0%} right" in line
    errors = [
        abs(float(filled[row]["bmi"]) - float(value))
        for row, value in truth["bmi"].items()
    ]
    assert f"off by {sum(errors) / len(errors):.2g} on average" in text
    true = [truth["smoking"].get(k, row["smoking"]) for k, row in enumerate(filled)]
    assert f"in truth it is {true.count('current') / len(true):.0%}." in text
    assert "compared with the truth" in (folder / "report.html").read_text()


def test_the_completed_table_keeps_every_observed_field(demo):
    names = ("patients.csv", "completed.csv")
    given, filled = (rows_of((demo[1] / name).read_text()) for name in names)
    assert len(given) == len(filled) == 1000
    for before, after in zip(given, filled, strict=True):
        assert {k: v for k, v in before.items() if v}.items() <= after.items()


@pytest.mark.slow
def test_demo_runs_again_in_its_own_folder(tmp_path):
    def without_time(text):
        return [line for line in text.splitlines() if not line.startswith("method")]

    first, second = (shown(tmp_path) for _ in range(2))
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
