"""An ensemble on the command line: learned, written, asked and imputed from."""

import json

from support.clirunner import fails, ok, rows_of

import bayesmend as bm


def test_an_ensemble_goes_from_learn_to_impute_and_query(tmp_path):
    data = bm.hide_mcar(bm.load_network("asia").sample(400, seed=1), 0.1, seed=1).data
    path, out = tmp_path / "table.csv", tmp_path / "out"
    data.write_csv(path)
    options = ("--method", "ensemble", "--networks", 3, "--seed", 1, "--ess", 1)
    text = ok("learn", path, "--out", out, *options)
    assert text.startswith("average of 3 networks")
    assert str(out / "ensemble.json") in text
    assert "%, this way " in text
    facts = json.loads((out / "result.json").read_text())
    assert facts["method"] == "ensemble"
    assert facts["arc_probabilities"]["n_networks"] == 3
    page = (out / "report.html").read_text()
    assert "How sure the arcs are" in page
    assert "each cell has its most probable state by itself" in page
    # The mean that filled the table fills it again.
    filled = tmp_path / "filled.csv"
    result = bm.read_ensemble(out / "ensemble.json")
    bm.impute(result, path).write_csv(filled)
    assert rows_of(filled.read_text()) == rows_of((out / "completed.csv").read_text())
    asked = ("--target", "lung", "--given", "xray=yes")
    shown = ok("query", out / "ensemble.json", *asked)
    assert {line.split()[-2] for line in shown.splitlines()[2:]} == {"no", "yes"}
    # A result stands for its ensemble, and not for one network of it.
    assert ok("query", out, *asked) == ok("query", out / "result.json", *asked) == shown
    assert rows_of(ok("impute", out, path)) == rows_of(filled.read_text())
    message = fails(1, "sample", out / "ensemble.json", "--rows", 5)
    assert "Read it with read_ensemble" in message


def test_options_of_other_methods_do_not_go_with_it(tmp_path, table):
    options = ("--method", "ensemble", "--locality", 2)
    message = fails(1, "learn", table, "--out", tmp_path / "out", *options)
    assert "--locality 2 goes with" in message
    options = ("--method", "em", "--networks", 2)
    message = fails(1, "learn", table, "--out", tmp_path / "out", *options)
    assert "--networks 2 goes with --method ensemble" in message
