"""The learn command: files, stdout, stderr and exit codes."""

import csv
import json
import os
import pty
import signal
import subprocess
import sys

import numpy as np
import pytest
from support.clirunner import READ_BY_DEFAULT, fails, ok, read_until, run

import bayesmend as bm

FILES = ["cells.csv", "completed.csv", "network.bif", "report.html", "result.json"]


def table_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def result_of(out):
    """Return the facts of a result, without the one that is all of it."""
    facts = json.loads((out / "result.json").read_text())
    assert facts.pop("saved")["format"] == "bayesmend-result"
    return facts


def write_asia(path, *, n_rows=200, rate=0.01, seed=3):
    """Write rows in which every variable has two values."""
    data = bm.load_network("asia").sample(n_rows, seed=seed)
    bm.hide_mcar(data, rate, seed=seed).data.write_csv(path)
    return path


@pytest.fixture
def holed(tmp_path):
    return write_asia(tmp_path / "holed.csv")


@pytest.fixture(scope="module")
def hard(tmp_path_factory):
    """A table that takes far longer than a test may to prove."""
    path = tmp_path_factory.mktemp("hard") / "hard.csv"
    return write_asia(path, n_rows=1000, rate=0.06, seed=1)


# --- files ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "local"])
def test_the_best_completion_is_searched_given_a_mechanism(method, holed, tmp_path):
    out = tmp_path / "out"
    options = ("--mechanism", "self", "--seed", 1, "--out", out)
    text = ok("learn", holed, "--method", method, *options)
    assert "This holds given the mechanism" in text
    report = result_of(out)
    assert report["status"].endswith("given the mechanism")
    detail = report["detail"]
    parts = detail["network_score"] + detail["mechanism_score"]
    assert report["score"] == pytest.approx(parts)
    assert "given the mechanism" in (out / "report.html").read_text()
    assert bm.read_network(out / "network.bif").mechanism is not None


def test_what_hides_itself_is_found_and_used_unless_told_otherwise(tmp_path):
    table, out, filled = (tmp_path / name for name in ("t.csv", "out", "filled.csv"))
    rows = bm.load_network("asia").sample(1000, seed=2)
    bm.hide_mnar(rows, 0.2, strength=2, seed=2).data.write_csv(table)
    options = ("--networks", 4, "--stability", 1, "--seed", 1, "--out", out)
    told = ok("learn", table, *options)
    assert (
        "auto chose ensemble: cells are not missing completely at random (p = 0."
        in told
    )
    heading = next(line for line in told.splitlines() if "identified" in line)
    assert heading.split()[-1] == "stable"
    page = (out / "report.html").read_text()
    assert '<th class="n">stable</th>' in page
    assert "completely at random is <b>not tenable</b>" in page
    tables = []
    for use in ("use", "ignore"):
        ok("impute", out / "network.bif", table, "--mechanism", use, "--out", filled)
        tables.append(filled.read_text())
        filled.unlink()
    assert tables[0] != tables[1]
    assert tables[0] == ok("impute", out / "network.bif", table)


@pytest.mark.parametrize("method", ["auto", "exact", "local"])
def test_network_table_cells_and_result_are_written(method, holed, tmp_path):
    out = tmp_path / "new" / "folder"
    ok("learn", holed, "--method", method, "--seed", 1, "--out", out)
    assert sorted(path.name for path in out.iterdir()) == FILES
    report = result_of(out)
    network = bm.read_network(out / "network.bif")
    completed = bm.IncompleteData.from_csv(out / "completed.csv")
    assert report["arcs"] == [list(arc) for arc in network.dag.arcs]
    assert report["score"] == pytest.approx(bm.dag_score(network.dag, completed))
    assert report["seconds"] > 0
    assert report["version"] == bm.__version__
    assert report["n_rows"] == 200
    assert report["method"] == ("local" if method == "local" else "exact")
    assert report["trace"][-1][0] == pytest.approx(report["score"])
    assert report["n_mended"] == len(table_of(out / "cells.csv")) - 1 > 0


def test_a_proof_shows_in_bound_gap_and_status(holed, tmp_path):
    ok("learn", holed, "--method", "exact", "--out", tmp_path / "out")
    report = result_of(tmp_path / "out")
    assert (report["status"], report["gap"]) == ("optimal", 0.0)
    assert report["bound"] == report["score"]


def test_what_local_search_does_not_know_is_null(holed, tmp_path):
    ok("learn", holed, "--method", "local", "--out", tmp_path / "out")
    report = result_of(tmp_path / "out")
    assert report["status"] == "1-local optimum"
    assert (report["bound"], report["gap"]) == (None, None)


def test_the_completed_table_is_the_input_with_its_holes_filled(holed, tmp_path):
    ok("learn", holed, "--out", tmp_path / "out")
    before, after = table_of(holed), table_of(tmp_path / "out" / "completed.csv")
    assert [len(row) for row in after] == [len(row) for row in before]
    changes = [
        (new, old)
        for old_row, new_row in zip(before, after, strict=True)
        for old, new in zip(old_row, new_row, strict=True)
        if old != new
    ]
    assert {old for _, old in changes} == {""}
    assert {new for new, _ in changes} <= {"yes", "no"}


def test_cells_are_listed_by_row_from_zero_without_the_header(holed, tmp_path):
    ok("learn", holed, "--out", tmp_path / "out")
    header, *before = table_of(holed)
    _, *after = table_of(tmp_path / "out" / "completed.csv")
    names, *cells = table_of(tmp_path / "out" / "cells.csv")
    assert names == ["row", "variable", "state", "margin", "runner_up", "supported"]
    places = [(int(row), header.index(name)) for row, name, *_ in cells]
    assert places == [
        (r, c) for r, row in enumerate(before) for c, x in enumerate(row) if x == ""
    ]
    for (row, column), cell in zip(places, cells, strict=True):
        _, _, state, margin, other = cell[:5]
        assert after[row][column] == state
        assert float(margin) >= 0
        # A variable of which one state occurs has no runner-up.
        assert (other == "") == (margin == "inf")
        assert other != state


def test_labels_stay_as_they_were_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(
        'code,"a,b",answer\n007,<=34,NA\n007,<=34,NA\n01,"x ""y""",\n01,"x ""y""",-9\n'
    )
    ok(
        *("learn", path, "--missing", "-9", "--missing", "", "--model", "answer"),
        *("--out", tmp_path / "out"),
    )
    rows = table_of(tmp_path / "out" / "completed.csv")
    assert rows[0] == ["code", "a,b", "answer"]
    assert [row[0] for row in rows[1:]] == ["007", "007", "01", "01"]
    assert [row[1] for row in rows[1:]] == ["<=34", "<=34", 'x "y"', 'x "y"']
    assert {row[2] for row in rows[1:]} == {"NA"}


def test_reading_options_are_those_of_summary(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,sick\n10,no\n20,no\n30,yes\n,yes\n40,\n")
    ok(
        *("learn", path, "--discretize", "age=cuts:25", "--states", "sick=no,yes,dead"),
        *("--out", tmp_path / "out"),
    )
    network = bm.read_network(tmp_path / "out" / "network.bif")
    assert network.states[1] == ("no", "yes", "dead")
    rows = table_of(tmp_path / "out" / "completed.csv")
    assert [row[0] for row in rows[1:]] == ["10", "20", "30", "35", "40"]


def test_a_table_may_come_from_stdin(holed, tmp_path):
    ok("learn", "-", "--seed", 1, "--out", tmp_path / "a", stdin=holed.read_text())
    ok("learn", holed, "--seed", 1, "--out", tmp_path / "b")
    for name in ("network.bif", "completed.csv", "cells.csv"):
        one, two = (tmp_path / folder / name for folder in "ab")
        assert one.read_text() == two.read_text()


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_never_replaced_in_silence(name, holed, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).write_text("mine")
    message = fails(1, "learn", holed, "--out", out)
    assert message == f"Error: '{out / name}' exists. Pass --force to replace it."
    assert [path.read_text() for path in out.iterdir()] == ["mine"]
    ok("learn", holed, "--out", out, "--force")
    assert (out / name).read_text() != "mine"


def test_other_files_in_the_folder_are_left_alone(holed, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    ok("learn", holed, "--out", out)
    assert (out / "notes.txt").read_text() == "mine"


def test_a_file_is_no_folder(holed):
    message = fails(1, "learn", holed, "--out", holed)
    assert message == f"Error: '{holed}' is a file. Name a folder with --out."


def test_nothing_is_written_when_learning_fails(holed, tmp_path):
    fails(1, "learn", holed, "--out", tmp_path / "out", "--score", "mdl")
    assert not (tmp_path / "out").exists()


# --- options --------------------------------------------------------------------------


def test_options_reach_the_search_and_the_result(holed, tmp_path):
    out = tmp_path / "out"
    ok(
        *("learn", holed, "--out", out, "--method", "exact", "--score", "bic"),
        *(
            "--ess",
            2,
            "--prior",
            "fair",
            "--support",
            0.05,
            "--max-parents",
            2,
            "--locality",
            2,
        ),
        *("--restarts", 1),
        *("--require", "asia,xray", "--forbid", "lung,tub", "--gap", 0.5),
        *("--tier", "asia,smoke", "--tier", "lung", "--time-limit", 20),
        *("--seed", 3, "--threads", 1),
    )
    report = result_of(out)
    assert report["options"] == READ_BY_DEFAULT | {
        "file": str(holed),
        "method": "exact",
        "score": "bic",
        "ess": 2.0,
        "prior": "fair",
        "support": 0.05,
        "max_parents": 2,
        "locality": 2,
        "restarts": 1,
        "n_networks": None,
        "solver": "auto",
        "gap": 0.5,
        "mechanism": None,
        "max_mechanism_parents": 2,
        "stability": 0,
        "fill_empty_rows": False,
        "certificate": None,
        "full": False,
        "time_limit": 20.0,
        "seed": 3,
        "required": [["asia", "xray"]],
        "forbidden": [["lung", "tub"]],
        "tiers": [["asia", "smoke"], ["lung"]],
        "threads": 1,
    }
    arcs = {tuple(arc) for arc in report["arcs"]}
    assert ("asia", "xray") in arcs
    assert not {("lung", "tub"), ("lung", "smoke"), ("lung", "asia")} & arcs
    assert report["gap"] <= 0.5


@pytest.mark.parametrize("solver", ["subsets", "ilp", "order", "greedy"])
def test_every_structure_solver_serves_the_local_search(solver, holed, tmp_path):
    out = tmp_path / "out"
    ok(
        *("learn", holed, "--method", "local", "--solver", solver),
        *("--restarts", 0, "--out", out),
    )
    assert result_of(out)["status"].endswith("local optimum")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("--method", "magic"),
            "--method must be one of auto, exact, local, em, em-hard, ensemble. Got",
        ),
        (
            ("--score", "mdl"),
            "--score must be one of bdeu, bds, k2, bic, aic, qnml",
        ),
        (("--ess", "0"), "--ess must be a number between 1e-06 and 1e+12."),
        (("--max-parents", "-1"), "--max-parents must be an integer >= 0."),
        (("--time-limit", "0"), "--time-limit must be a number of seconds > 0."),
        (
            ("--method", "local", "--locality", "0"),
            "--locality must be an integer >= 1.",
        ),
        (("--gap", "-1"), "--gap must be a number of nats >= 0."),
        (
            ("--gap", "1", "--method", "local"),
            "--gap 1 goes with --method exact. Got 'local' instead.",
        ),
        (
            ("--locality", "2", "--method", "em"),
            "--locality 2 goes with --method exact or --method local. Got 'em'",
        ),
        (
            ("--solver", "order", "--method", "exact"),
            "--solver order goes with --method local or --method em or --method em-h",
        ),
        (("--require", "smoke,x"), "--require names 'x', which is no variable."),
        (("--tier", "asia", "--tier", "asia"), "variable 'asia' is in two tiers."),
    ],
)
def test_what_cannot_be_is_refused(args, message, holed, tmp_path):
    assert message in fails(1, "learn", holed, "--out", tmp_path / "out", *args)


def test_usage_errors_are_told_apart(holed, tmp_path):
    assert "Missing option '--out'" in fails(2, "learn", holed)
    message = fails(2, "learn", holed, "--out", tmp_path / "out", "--require", "smoke")
    assert "--require must look like PARENT,CHILD. Got 'smoke'" in message


def test_a_variable_never_seen_needs_its_states(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\nx,\ny,\n")
    message = fails(1, "learn", path, "--model", "b", "--out", tmp_path / "out")
    assert "variable 'b' is missing in every row" in message
    ok("learn", path, "--states", "b=0,1", "--out", tmp_path / "out")


# --- stdout and stderr ----------------------------------------------------------------


def test_the_summary_says_what_is_known(holed, tmp_path):
    out = tmp_path / "out"
    text = ok("learn", holed, "--out", out)
    report = result_of(out)
    lines = text.splitlines()
    assert lines[0] == (
        "optimal. No structure with any completion of the missing cells scores higher: "
        "proven."
    )
    assert lines[
        1
    ] == f"score {report['score']:,.3f}, bound {report['bound']:,.3f}, " + (
        "gap 0 (nats)"
    )
    assert "method exact" in lines[2]
    assert f"8 variables, {len(report['arcs'])} arcs" in lines
    parent, child = report["arcs"][0]
    assert f"  {parent} -> {child}" in lines
    assert f"{report['n_mended']} of 1,600 cells mended; the least certain" in text
    assert lines[-5:] == [
        str(out / name)
        for name in (
            *("network.bif", "completed.csv", "cells.csv", "result.json"),
            "report.html",
        )
    ]


def test_the_summary_says_when_nothing_is_known_about_the_best(holed, tmp_path):
    text = ok("learn", holed, "--method", "local", "--out", tmp_path / "out")
    assert "No change of one missing cell, with any structure, scores higher" in text
    assert "bound none, gap none" in text


def test_a_gap_is_given_in_words(hard, tmp_path):
    out = tmp_path / "out"
    limits = ("--method", "exact", "--time-limit", 2, "--seed", 1)
    text = ok("learn", hard, *limits, "--out", out)
    report = result_of(out)
    assert report["gap"] > 0
    assert f"at most {report['gap']:,.3f} nats higher" in text
    assert "stopped by the time limit" in text


def test_json_prints_what_the_file_holds(holed, tmp_path):
    text = ok("learn", holed, "--out", tmp_path / "out", "--json")
    assert json.loads(text) == result_of(tmp_path / "out")


def test_many_arcs_are_cut_short(tmp_path):
    network = bm.load_network("lucas")
    path = tmp_path / "t.csv"
    bm.hide_mcar(network.sample(300, seed=1), 0.001, seed=1).data.write_csv(path)
    arcs = [f"--require={a},{b}" for a in network.names[:6] for b in network.names[6:]]
    text = ok(
        *("learn", path, "--method", "local", "--restarts", 0, "--max-parents", 6),
        *("--out", tmp_path / "out", *arcs),
    )
    assert "more in network.bif" in text


def test_a_table_without_holes_runs_and_says_so(tmp_path):
    path = tmp_path / "t.csv"
    bm.load_network("asia").sample(100, seed=3).write_csv(path)
    result = run("learn", path, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.stderr == (
        "Note: no cell is missing: this is plain structure learning.\n"
    )
    assert result.stdout.startswith("optimal. No structure scores higher: proven.\n")
    assert "0 of 800 cells mended\n" in result.stdout
    assert (tmp_path / "out" / "completed.csv").read_text() == path.read_text()
    best = bm.learn_structure(bm.IncompleteData.from_csv(path)).score
    assert result_of(tmp_path / "out")["score"] == pytest.approx(best)


# --- terminal -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [("--method", "exact"), ("--method", "local", "--solver", "order")],
    ids=["exact", "order"],
)
def test_ctrl_c_writes_the_best_so_far_and_says_so(options, hard, tmp_path):
    out = tmp_path / "out"
    main, other = pty.openpty()
    command = [sys.executable, "-m", "bayesmend", "learn", str(hard), *options]
    command += ["--restarts", "1000", "--out", str(out), "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=other, text=True
    ) as process:
        read_until(main, "best score -")
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=60)
    shown = read_until(main, "so far.")
    os.close(main)
    os.close(other)
    assert process.returncode == 130
    assert "\x1b[KInterrupted: this is the best answer so far.\r\n" in shown
    report = json.loads(stdout)
    assert report["stopped"] == "interrupt"
    assert sorted(path.name for path in out.iterdir()) == FILES
    assert bm.IncompleteData.from_csv(out / "completed.csv").is_complete


@pytest.mark.slow
def test_progress_shows_on_a_terminal_only(hard, tmp_path):
    main, other = pty.openpty()
    command = [sys.executable, "-m", "bayesmend", "learn", str(hard), "--out"]
    command += [str(tmp_path / "out"), "--method", "exact", "--time-limit", "4"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=other, check=True)
    shown = read_until(main, "best score -")
    os.close(main)
    os.close(other)
    assert "━ branch and bound, best score -" in shown
    assert shown.endswith("\r\x1b[K")
    assert b"branch and bound" not in done.stdout


def test_em_writes_the_same_files_with_probabilities(holed, tmp_path):
    out = tmp_path / "out"
    told = ok("learn", holed, "--method", "em", "--seed", "1", "--out", out)
    report = result_of(out)
    assert report["method"] == "em"
    assert report["bound"] is None
    assert report["log_likelihood"] < 0
    assert "by probability:" in told
    header = (out / "cells.csv").read_text().partition("\n")[0]
    assert header == "row,variable,state,probability,runner_up,supported"
    assert "" not in {cell for row in table_of(out / "completed.csv") for cell in row}


def write_block(path):
    """A question that was asked in one of two waves only."""
    rng = np.random.default_rng(1)
    wave = rng.integers(2, size=300)
    race = rng.choice(3, 300, p=[0.6, 0.25, 0.15])
    rows = ["wave,race,again"]
    for w, r in zip(wave.tolist(), race.tolist(), strict=True):
        label = "bwo"[r]
        rows.append(f"{2009 + 2 * w},{label},{label if w else ''}")
    path.write_text("\n".join(rows) + "\n")
    return path


def test_cells_without_an_example_are_told_listed_and_written(tmp_path):
    table, out = write_block(tmp_path / "block.csv"), tmp_path / "out"
    done = run(
        *("learn", table, "--method", "em", "--support", "0.1", "--restarts", "0"),
        *("--require", "wave,again", "--require", "race,again"),
        *("--seed", "1", "--out", out),
    )
    assert done.exit_code == 0
    report = result_of(out)
    n_missing = report["n_mended"]
    assert report["unsupported"] == {"again": n_missing}
    assert f"Warning: {n_missing} mended cells have no observed example" in done.stderr
    assert f"{n_missing} mended cells without an observed example: again" in done.stdout
    assert "observed against mended:" in done.stdout
    assert "wave = 2009" in done.stdout
    [mended] = report["mended"]["variables"]
    assert mended["predictor"] == "wave"
    assert sum(mended["mended"]) == n_missing
    header, *cells = table_of(out / "cells.csv")
    assert header[-1] == "supported"
    assert {cell[-1] for cell in cells} == {"False"}
    assert "No observed example" in (out / "report.html").read_text()
    # The network knows it, too.
    marked = tmp_path / "marked.csv"
    ok(
        *("impute", out / "network.bif", table),
        *("--out", tmp_path / "filled.csv", "--cells", marked),
    )
    header, *cells = table_of(marked)
    assert header[-1] == "supported"
    assert {cell[-1] for cell in cells} == {"False"}


# --- how the table was read -----------------------------------------------------------


def test_the_result_says_how_the_table_was_read(tmp_path):
    path = tmp_path / "raw.txt"
    lines = ["id,age,smoke,w,town"]
    lines += [
        f"p{i},{20 + 37 * i % 41},{'yn?'[i % 3]},{1 + i % 2},here" for i in range(60)
    ]
    path.write_text("\n".join(lines))
    out = tmp_path / "out"
    arguments = ("--weights", "w", "--discretize", "age=3", "--drop", "town")
    arguments += ("--pass-through", "id", "--json", "--seed", 1, "--out", out)
    told = ok("learn", path, *arguments)
    report = json.loads(told)
    assert report == result_of(out)
    roles = {column["name"]: column for column in report["columns"]}
    assert [column["role"] for column in report["columns"]] == [
        "pass-through",
        "cut",
        "model",
        "weights",
        "drop",
    ]
    assert roles["id"]["reason"] == "as asked"
    assert len(roles["age"]["intervals"]) == 3
    assert report["missing_markers"] == {"?": 20}
    options = report["options"]
    assert options["file"] == str(path)
    assert options["weights"] == "w"
    assert options["discretize"] == {"age": 3}
    assert options["columns"] == {"id": "pass-through", "town": "drop"}
    assert options["missing"] is options["names"] is options["delimiter"] is None
    page = (out / "report.html").read_text()
    assert "How the table was read" in page
    assert "raw.txt" in page


def test_cells_are_counted_among_those_that_could_be_mended(tmp_path):
    path = tmp_path / "raw.csv"
    lines = ["id,a,b"] + [f"p{i},{'xy?'[i % 3]},{'uv'[i % 2]}" for i in range(30)]
    path.write_text("\n".join(lines))
    told = run("learn", path, "--seed", 1, "--out", tmp_path / "out").stdout
    assert "10 of 60 cells of the modelled columns mended" in told


def test_one_of_a_thing_is_called_by_its_singular(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,id\n" + "\n".join(f"{'xy'[i % 2]},p{i}" for i in range(30)))
    for command in ("learn", "structure"):
        told = run(command, path, "--out", tmp_path / command).stdout
        assert "1 variable, 0 arcs\n" in told


# --- the report -----------------------------------------------------------------------


def test_the_report_is_shown_when_asked_for(holed, tmp_path, monkeypatch):
    shown = []
    monkeypatch.setattr("webbrowser.open", lambda url: shown.append(url) or True)
    quick = ("--method", "em", "--restarts", 0, "--seed", 1)
    ok("learn", holed, *quick, "--out", tmp_path / "out")
    assert shown == []
    ok("learn", holed, *quick, "--out", tmp_path / "again", "--open")
    assert shown == [(tmp_path / "again" / "report.html").as_uri()]


def test_without_a_browser_it_is_said_where_the_report_is(holed, tmp_path, monkeypatch):
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    quick = ("--method", "em", "--restarts", 0, "--seed", 1)
    done = run("learn", holed, *quick, "--out", tmp_path / "out", "--open")
    assert done.exit_code == 0
    page = tmp_path / "out" / "report.html"
    assert f"no browser was found to show {page}" in done.stderr


def test_the_call_in_the_report_gives_the_same_result(holed, tmp_path):
    constraints = ("--forbid", "smoke,xray", "--tier", "asia", "--tier", "tub,lung")
    options = ("--method", "em", "--restarts", 0, "--seed", 1, *constraints)
    ok("learn", holed, *options, "--out", tmp_path / "out")
    told = result_of(tmp_path / "out")
    scope = {}
    exec(told["again"]["python"], scope)
    again = scope["result"]
    assert again.score == told["score"]
    assert [list(arc) for arc in again.dag.arcs] == told["arcs"]
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "In Python" in page
    assert told["table_digest"] in page


def test_the_command_in_the_report_is_the_one_that_was_given(holed, tmp_path):
    given = ["learn", str(holed), "--method", "em", "--restarts", "0", "--seed", "1"]
    out = ["--out", str(tmp_path / "a folder")]
    command = [sys.executable, "-m", "bayesmend", *given, *out]
    subprocess.run(command, check=True, capture_output=True)
    told = result_of(tmp_path / "a folder")["again"]["command"]
    assert told == f"bayesmend {' '.join(given)} --out '{tmp_path}/a folder'"


def test_a_table_from_stdin_has_no_call(holed, tmp_path):
    text = holed.read_text()
    ok("learn", "-", "--method", "em", "--out", tmp_path / "out", stdin=text)
    assert "python" not in result_of(tmp_path / "out")["again"]


# --- checkpoints ----------------------------------------------------------------------


def test_a_run_that_is_killed_goes_on_with_the_same_command(tmp_path):
    table = write_asia(tmp_path / "rows.csv", n_rows=300, rate=0.05, seed=1)
    folder = tmp_path / "run"

    def learn(out, *more):
        options = ("--method", "exact", "--max-parents", 2, "--seed", 1)
        return ["learn", table, *options, "--out", out, *more]

    command = [sys.executable, "-m", "bayesmend", *learn("a", "--checkpoint", folder)]
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        list(map(str, command)),
        cwd=tmp_path,
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.poll() is None and not list(folder.glob("*.state")):
            os.sched_yield()
        process.kill()
    ok(*learn(tmp_path / "b", "--checkpoint", folder))
    ok(*learn(tmp_path / "c"))
    for name in ("completed.csv", "network.bif", "cells.csv"):
        assert (tmp_path / "b" / name).read_bytes() == (
            tmp_path / "c" / name
        ).read_bytes()


def test_a_checkpoint_of_other_options_is_refused_with_the_difference(holed, tmp_path):
    options = ("--seed", 1, "--out", tmp_path / "out", "--checkpoint", tmp_path / "at")
    ok("learn", holed, *options, "--max-parents", 2)
    said = fails(1, "learn", holed, *options, "--max-parents", 1, "--force")
    assert "was begun with something else: --max-parents 2, and now it is" in said
