"""The multiple command: files, stdout, stderr and exit codes."""

import json

import pytest
from support.clirunner import fails, ok, run

import bayesmend as bm

FAST = ["--burn-in", "2", "--thin", "1", "--chains", "2", "--seed", "1"]


@pytest.fixture
def holed(tmp_path):
    path = tmp_path / "holed.csv"
    data = bm.load_network("asia").sample(300, seed=1)
    bm.hide_mcar(data, 0.2, seed=1).data.write_csv(path)
    return path


def test_the_tables_of_the_library_are_written(holed, tmp_path):
    out = tmp_path / "out"
    text = ok("multiple", holed, "--tables", "3", "--out", out, *FAST)
    names = ["completed-1.csv", "completed-2.csv", "completed-3.csv"]
    assert sorted(path.name for path in out.iterdir()) == [*names, "result.json"]
    data = bm.IncompleteData.from_csv(holed)
    found = bm.impute_multiple(data, 3, burn_in=2, thin=1, n_chains=2, seed=1)
    for name, table in zip(names, found.tables, strict=True):
        again = bm.IncompleteData.from_csv(out / name)
        assert again.to_table().equals(table.to_table())
    assert text.splitlines()[0].startswith(f"3 tables, {data.n_missing} missing cells")
    assert text.splitlines()[1:] == [str(out / n) for n in (*names,)]
    facts = json.loads((out / "result.json").read_text())
    assert (facts["m"], facts["files"]) == (3, names)
    assert facts["options"]["burn_in"] == 2
    assert set(facts["r_hat"]) == {"arcs", *data.names}


def test_many_tables_are_numbered_alike(holed, tmp_path):
    out = tmp_path / "out"
    facts = ok("multiple", holed, "--tables", "10", "--out", out, "--json", *FAST)
    assert json.loads(facts)["files"][0] == "completed-01.csv"


def test_files_that_are_there_are_kept(holed, tmp_path):
    (tmp_path / "completed-2.csv").write_text("mine")
    args = ("multiple", holed, "--tables", "2", "--out", tmp_path, *FAST)
    assert "completed-2.csv" in fails(1, *args)
    assert (tmp_path / "completed-2.csv").read_text() == "mine"
    ok(*args, "--force")
    assert (tmp_path / "completed-2.csv").read_text() != "mine"


def test_little_time_gives_fewer_tables_and_says_so(holed, tmp_path):
    out = tmp_path / "out"
    result = run(
        "multiple", holed, "--tables", "9999", "--time-limit", "0.3", "--out", out
    )
    assert result.exit_code == 0
    assert "of 9,999 tables were drawn before the time limit" in " ".join(
        result.stderr.split()
    )
    facts = json.loads((out / "result.json").read_text())
    assert facts["stopped"] == "time"
    assert len(list(out.iterdir())) == facts["m"] + 1


def test_errors_are_spelled_in_options(holed, tmp_path):
    told = fails(1, "multiple", holed, "--out", tmp_path / "o", "--method", "order")
    assert "--method must be one of" in told


def test_fewer_tables_leave_none_of_an_earlier_result(holed, tmp_path):
    out = tmp_path / "out"
    quick = ["--chains", "1", "--burn-in", "1", "--thin", "1", "--out", str(out)]
    ok("multiple", str(holed), "--tables", "3", *quick)
    ok("multiple", str(holed), "--tables", "2", *quick, "--force")
    assert sorted(each.name for each in out.glob("completed-*")) == [
        "completed-1.csv",
        "completed-2.csv",
    ]
