"""The report command: the page of a saved result."""

import pytest
from support.clirunner import fails, ok

import bayesmend as bm


@pytest.fixture
def out(tmp_path):
    table = tmp_path / "asia.csv"
    rows = bm.load_network("asia").sample(200, seed=3)
    bm.hide_mcar(rows, 0.01, seed=3).data.write_csv(table)
    out = tmp_path / "mended"
    ok("learn", table, "--out", out, "--method", "em", "--seed", "1")
    return out


def test_the_page_of_a_folder_is_the_page_that_was_written(out):
    page = (out / "report.html").read_text()
    assert ok("report", out) == page
    assert ok("report", out / "result.json") == page
    assert bm.read_result(out).method == "em"


def test_a_page_goes_to_a_file_with_its_own_heading(out, tmp_path):
    again = tmp_path / "again.html"
    assert (
        ok("report", out / "report.html", "--out", again, "--title", "My table") == ""
    )
    assert "<h1>My table</h1>" in again.read_text()
    assert fails(1, "report", out, "--out", again) == (
        f"Error: '{again}' exists. Pass --force to replace it."
    )
    ok("report", out, "--out", again, "--force")
    assert again.read_text() == (out / "report.html").read_text()


def test_what_is_no_result_is_an_error(out, tmp_path):
    assert "a result is kept as" in fails(1, "report", out / "network.bif")
    assert "cannot read" in fails(1, "report", tmp_path / "nothing.json")
