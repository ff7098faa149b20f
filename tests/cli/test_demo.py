"""The command demo."""

from support.clirunner import fails, ok, rows_of

from bayesmend.data.table import IncompleteData
from bayesmend.datasets import load_network
from bayesmend.formats import read_network
from bayesmend.graph.distance import structural_hamming_distance


def test_demo_does_the_main_job_and_writes_its_files(tmp_path):
    folder = tmp_path / "new" / "demo"
    text = ok("demo", "--out", folder)
    names = ["asia.bif", "cells.csv", "complete.csv", "completed.csv", "incomplete.csv"]
    names += ["network.bif", "report.html", "result.json", "truth.csv"]
    assert sorted(path.name for path in folder.iterdir()) == names
    assert all(str(folder / name) in text for name in names)
    holed = IncompleteData.from_table(folder / "incomplete.csv")
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
