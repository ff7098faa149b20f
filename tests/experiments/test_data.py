"""Where the data are, and what is said when they are not."""

import gzip

import bayesmend as bm
from experiments.data import DataFolder


def test_the_environment_names_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BAYESMEND_DATA", str(tmp_path))
    assert DataFolder.find().path == tmp_path
    assert DataFolder.find(tmp_path / "x").path == tmp_path / "x"
    monkeypatch.delenv("BAYESMEND_DATA")
    assert DataFolder.find().path is None


def test_networks_may_be_packed(tmp_path):
    (tmp_path / "networks").mkdir()
    path = tmp_path / "networks" / "mine.bif.gz"
    bm.write_network(bm.load_network("asia"), path)
    assert DataFolder(tmp_path).network("mine").n_vars == 8


def test_tables_may_be_packed(tmp_path):
    text = b"a,b\nx,u\ny,v\n"
    (tmp_path / "car.csv.gz").write_bytes(gzip.compress(text))
    folder = DataFolder(tmp_path)
    folder.check(["car.csv"])
    assert folder.table("car.csv").n_rows == 2
