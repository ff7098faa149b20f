"""The structure command: files, stdout, stderr and exit codes."""

import json
import os
import pty
import re
import signal
import subprocess
import sys

import pytest
from support.clirunner import READ_BY_DEFAULT, fails, ok, read_until
from support.timing import within

import bayesmend as bm


@pytest.fixture
def asia(tmp_path):
    path = tmp_path / "asia.csv"
    bm.load_network("asia").sample(500, seed=1).write_csv(path)
    return path


def learn(asia, out, *args):
    return ok("structure", asia, "--out", out, *args)


def test_network_and_result_are_written(asia, tmp_path):
    out = tmp_path / "new" / "folder"
    text = learn(asia, out)
    network = bm.read_network(out / "network.bif")
    report = json.loads((out / "result.json").read_text())
    data = bm.IncompleteData.from_csv(asia)
    assert report["score"] == pytest.approx(bm.dag_score(network.dag, data))
    assert report["arcs"] == [list(arc) for arc in network.dag.arcs]
    assert (report["status"], report["gap"]) == ("optimal", 0.0)
    assert report["bound"] == report["score"]
    assert report["solver"] == "subsets"
    assert report["seconds"] > 0
    assert report["version"] == bm.__version__
    assert report["n_rows"] == 500
    assert text.startswith(f"score {report['score']:.3f} (the best possible score)\n")
    assert text.endswith(f"{out}/network.bif\n{out}/result.json\n")
    assert sorted(p.name for p in out.iterdir()) == ["network.bif", "result.json"]


def test_options_reach_the_search_and_the_report(asia, tmp_path):
    out = tmp_path / "out"
    learn(
        asia,
        out,
        *("--solver", "greedy", "--score", "bic", "--max-parents", 2, "--seed", 3),
        *("--require", "smoke,xray", "--require", "asia,xray", "--forbid", "lung,tub"),
        *("--tier", "asia,smoke", "--tier", "lung", "--time-limit", 20, "--threads", 1),
        *("--ess", 2, "--prior", "fair"),
    )
    report = json.loads((out / "result.json").read_text())
    assert report["options"] == READ_BY_DEFAULT | {
        "file": str(asia),
        "solver": "greedy",
        "gap": None,
        "certificate": None,
        "score": "bic",
        "ess": 2.0,
        "prior": "fair",
        "max_parents": 2,
        "required": [["smoke", "xray"], ["asia", "xray"]],
        "forbidden": [["lung", "tub"]],
        "tiers": [["asia", "smoke"], ["lung"]],
        "time_limit": 20.0,
        "seed": 3,
        "threads": 1,
    }
    arcs = {tuple(arc) for arc in report["arcs"]}
    assert {("smoke", "xray"), ("asia", "xray")} <= arcs
    assert not {("lung", "tub"), ("lung", "smoke"), ("lung", "asia")} & arcs
    assert (report["solver"], report["bound"], report["gap"]) == ("greedy", None, None)


def test_what_was_chosen_and_what_else_would_do_is_told(asia, tmp_path):
    text = learn(asia, tmp_path / "out", "--ess", "auto", "--seed", 1)
    assert re.search(r"^ess [\d.]+ predicts rows left out best$", text, re.MULTILINE)
    assert "\nother structures within 3 nats: " in text
    report = json.loads((tmp_path / "out" / "result.json").read_text())
    assert report["options"]["ess"] == "auto"
    assert report["detail"]["ess"]["chosen"] > 0


@pytest.mark.parametrize("solver", ["auto", "subsets", "ilp", "order", "greedy"])
def test_every_solver_is_at_hand(solver, asia, tmp_path):
    text = learn(asia, tmp_path / "out", "--solver", solver, "--seed", 1)
    assert "8 variables, " in text


def test_json_prints_what_the_file_holds(asia, tmp_path):
    out = tmp_path / "out"
    text = learn(asia, out, "--json")
    assert json.loads(text) == json.loads((out / "result.json").read_text())


def test_the_same_seed_gives_the_same_network(asia, tmp_path):
    one, two = (tmp_path / name for name in ("one", "two"))
    for out in (one, two):
        learn(asia, out, "--solver", "order", "--seed", 4)
    assert (one / "network.bif").read_bytes() == (two / "network.bif").read_bytes()


def test_a_table_may_come_from_stdin(asia, tmp_path):
    ok("structure", "-", "--out", tmp_path / "out", stdin=asia.read_text())
    assert (tmp_path / "out" / "network.bif").exists()


def test_reading_options_are_those_of_other_commands(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1.5,x\n2.5,y\n3.5,x\n-9,y\n")
    states = ("--states", "b=x,y,z")
    ok("structure", path, "--out", tmp_path / "o", *states, "--discretize", "a=2")
    network = bm.read_network(tmp_path / "o" / "network.bif")
    assert network.card.tolist() == [2, 3]


# --- files ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["network.bif", "result.json"])
def test_a_file_is_never_replaced_in_silence(name, asia, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    message = fails(1, "structure", asia, "--out", out)
    assert message == f"Error: '{out / name}' exists. Pass --force to replace it."
    assert [p.read_text() for p in out.iterdir()] == ["mine"]
    learn(asia, out, "--force")
    assert (out / name).read_text() != "mine"


def test_other_files_in_the_folder_are_left_alone(asia, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    learn(asia, tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_is_no_folder(asia):
    message = fails(1, "structure", asia, "--out", asia)
    assert message == f"Error: '{asia}' is a file. Name a folder with --out."


def test_nothing_is_written_when_learning_fails(asia, tmp_path):
    fails(1, "structure", asia, "--out", tmp_path / "out", "--solver", "magic")
    assert not (tmp_path / "out").exists()


# --- messages -------------------------------------------------------------------------


def test_a_folder_must_be_named(asia):
    assert "Missing option '--out'" in fails(2, "structure", asia)


@pytest.mark.parametrize("option", ["--require", "--forbid"])
def test_an_arc_is_a_pair(option, asia, tmp_path):
    message = fails(2, "structure", asia, "--out", tmp_path / "out", option, "smoke")
    assert f"{option} must look like PARENT,CHILD. Got 'smoke'" in message


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--solver", "magic"),
            "--solver must be one of auto, subsets, ilp, ord",
        ),
        (
            ("--score", "mdl"),
            "--score must be one of bdeu, bds, k2, bic, aic, qnml",
        ),
        (("--ess", "0"), "--ess must be a number between 1e-06 and 1e+12."),
        (("--max-parents", "-1"), "--max-parents must be an integer >= 0."),
        (("--time-limit", "0"), "--time-limit must be a number of seconds > 0."),
        (("--require", "smoke,x"), "--require names 'x', which is no variable."),
        (("--tier", "asia", "--tier", "asia"), "variable 'asia' is in two tiers."),
    ],
)
def test_what_cannot_be_is_refused(args, message, asia, tmp_path):
    assert message in fails(1, "structure", asia, "--out", tmp_path / "out", *args)


def test_missing_cells_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,x\n2,\n2,y\n")
    message = fails(1, "structure", path, "--out", tmp_path / "out")
    assert message.startswith("Error: variable 'b' is missing in row 1, and learning")
    assert message.endswith(" Use learn, which takes tables with missing cells.")


# --- terminal -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """Rows of a network too large to solve at once."""
    path = tmp_path_factory.mktemp("wide") / "wide.csv"
    network = bm.load_network("asia")
    columns, names = [], []
    for k in range(12):
        sample = network.sample(3000, seed=k)
        columns.append(sample.codes)
        names += [f"{name}{k}" for name in sample.names]
    import numpy as np

    codes = np.hstack(columns)
    bm.IncompleteData.from_codes(
        codes, names=names, states=[("no", "yes")] * len(names)
    ).write_csv(path)
    return path


def test_ctrl_c_writes_the_best_so_far(wide, tmp_path):
    out = tmp_path / "out"
    main, other = pty.openpty()
    command = [sys.executable, "-m", "bayesmend", "structure", str(wide)]
    command += ["--out", str(out), "--solver", "order", "--time-limit", "60", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=other, text=True
    ) as process:
        read_until(main, "order search, best score -")
        with within(1.5):
            process.send_signal(signal.SIGINT)
            stdout, _ = process.communicate(timeout=20)
    shown = read_until(main, "so far.")
    os.close(main)
    os.close(other)
    assert process.returncode == 130
    # Of the progress, nothing is left on the screen.
    assert "\r\x1b[KInterrupted: this is the best answer so far." in shown
    report = json.loads(stdout)
    assert report["stopped"] == "interrupt"
    assert (out / "network.bif").exists()


def test_progress_shows_on_a_terminal_only(wide, tmp_path):
    main, other = pty.openpty()
    command = [sys.executable, "-m", "bayesmend", "structure", str(wide)]
    command += ["--out", str(tmp_path / "out"), "--solver", "order"]
    command += ["--time-limit", "3"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=other, check=True)
    shown = read_until(main, "order search, best score -")
    os.close(main)
    os.close(other)
    assert shown.endswith("\r\x1b[K")
    assert b"order search" not in done.stdout


def test_a_header_alone_teaches_nothing(tmp_path):
    path = tmp_path / "header.csv"
    path.write_text("a,b\n")
    states = ("--states", "a=x,y", "--states", "b=u,v")
    message = fails(1, "structure", path, *states, "--out", tmp_path / "out")
    assert message.startswith("Error: the table has 0 rows and 2 variables, so")
    assert not (tmp_path / "out").exists()
