"""The command sample."""

import pytest
from support.clirunner import fails, ok, rows_of

from bayesmend.datasets import load_network


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
