"""Tables that several commands are tried on."""

import pytest

import bayesmend as bm


@pytest.fixture
def table(tmp_path):
    """A small table with missing cells."""
    path = tmp_path / "table.csv"
    path.write_text("smoke,cough,age\nyes,1,young\nno,0,\nyes,NA,old\nno,0,young\n")
    return path


@pytest.fixture
def asia(tmp_path):
    """One thousand complete rows of ASIA."""
    path = tmp_path / "asia.csv"
    bm.load_network("asia").sample(1000, seed=1).write_csv(path)
    return path
