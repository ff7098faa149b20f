"""The command impute: files, stdout, stderr and exit codes."""

import csv
import json

import pytest
from support.clirunner import fails, ok, run

import bayesmend as bm

HEADER = "id,asia,tub,smoke,lung,bronc,either,xray,dysp"


def table_of(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


@pytest.fixture
def holed(tmp_path):
    path = tmp_path / "holed.csv"
    data = bm.load_network("asia").sample(60, seed=1)
    bm.hide_mcar(data, 0.2, seed=1).data.write_csv(path)
    return path


@pytest.fixture
def with_id(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text(f"{HEADER}\n007,no,no,,no,yes,no,no,\n008,,no,no,no,,no,no,no\n")
    return path


def test_the_completed_table_goes_to_stdout(holed):
    text = ok("impute", "asia", holed)
    before, after = holed.read_text().splitlines(), text.splitlines()
    assert len(after) == len(before)
    for old, new in zip(before, after, strict=True):
        cells = zip(old.split(","), new.split(","), strict=True)
        assert all(
            new == old or (old == "" and new in ("yes", "no")) for old, new in cells
        )


def test_the_library_gives_the_same(holed, tmp_path):
    out = tmp_path / "out.csv"
    assert ok("impute", "asia", holed, "--out", out) == ""
    asia = bm.load_network("asia")
    names = list(asia.names)
    data = bm.IncompleteData.from_csv(holed, columns=names)
    expected = bm.impute(asia, data).completed
    again = bm.IncompleteData.from_csv(out, columns=names)
    assert again.to_table().equals(expected.to_table())


def test_cells_are_listed(holed, tmp_path):
    cells = tmp_path / "cells.csv"
    after = ok("impute", "asia", holed, "--cells", cells).splitlines()
    names, *rows = table_of(cells)
    assert names == ["row", "variable", "state", "probability", "runner_up", "table"]
    header, *before = table_of(holed)
    holes = [
        (r, header[c])
        for r, row in enumerate(before)
        for c, x in enumerate(row)
        if not x
    ]
    assert [(int(row[0]), row[1]) for row in rows] == holes
    for row, variable, state, probability, other, number in rows:
        assert after[int(row) + 1].split(",")[header.index(variable)] == state
        assert 0 < float(probability) <= 1
        assert (other != state, number) == (True, "1")


def test_other_columns_are_kept_and_said_aloud(with_id):
    result = run("impute", "asia", with_id)
    assert result.exit_code == 0
    assert result.stderr == "Note: kept as they are, unknown to the network: id.\n"
    assert result.stdout.splitlines() == [
        HEADER,
        "007,no,no,yes,no,yes,no,no,yes",
        "008,no,no,no,no,no,no,no,no",
    ]


def test_lacking_variables_need_leave(with_id, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("xray,smoke\nyes,yes\n,no\n")
    message = fails(1, "impute", "asia", path)
    assert message.startswith(
        "Error: the table lacks 6 of the 8 variables of the network: asia, tub, lung, "
    )
    assert "--allow-absent" in message
    result = run("impute", "asia", path, "--allow-absent")
    assert result.stderr == (
        "Note: added, missing in the table: asia, tub, lung, bronc, either, dysp.\n"
    )
    assert result.stdout.splitlines()[0] == (
        "xray,smoke,asia,tub,lung,bronc,either,dysp"
    )


def test_a_table_with_no_variable_of_the_network_is_refused(tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("id,colour\n1,red\n")
    message = fails(1, "impute", "asia", path, "--allow-absent")
    assert message == (
        "Error: no column of the table is a variable of the network. It has: id, "
        "colour. The network has: asia, tub, smoke, lung, bronc, either, ... (8 in "
        "all). Rename the columns."
    )


def test_cells_may_go_to_stdout(holed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = ok("impute", "asia", holed, "--out", "out.csv", "--cells", "-")
    ok("impute", "asia", holed, "--out", "again.csv", "--cells", "cells.csv")
    assert text == (tmp_path / "cells.csv").read_text()
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"holed.csv", "out.csv", "again.csv", "cells.csv"}


def test_draws_are_numbered_files(holed, tmp_path):
    out = tmp_path / "drawn.csv"
    options = ("--method", "draw", "--draws", 3, "--seed", 1, "--out", out)
    ok("impute", "asia", holed, *options, "--cells", tmp_path / "cells.csv")
    files = [tmp_path / f"drawn-{k}.csv" for k in (1, 2, 3)]
    assert len({file.read_text() for file in files}) == 3
    assert not out.exists()
    rows = table_of(tmp_path / "cells.csv")[1:]
    assert [row[-1] for row in rows] == sorted(row[-1] for row in rows)
    assert {row[-1] for row in rows} == {"1", "2", "3"}
    message = fails(1, "impute", "asia", holed, *options)
    assert message == f"Error: '{files[0]}' exists. Pass --force to replace it."
    texts = [file.read_text() for file in files]
    ok("impute", "asia", holed, *options, "--force")
    assert texts == [file.read_text() for file in files]


def test_json_describes_what_was_done(with_id, tmp_path):
    out = tmp_path / "out.csv"
    options = ("--method", "marginal", "--out", out, "--json")
    facts = json.loads(run("impute", "asia", with_id, *options).stdout)
    assert facts["n_rows"] == 2
    assert facts["n_imputed"] == 4
    assert facts["imputed"]["smoke"] == 1
    assert (facts["method"], facts["inference"]) == ("marginal", "exact")
    assert facts["extra"] == ["id"]
    assert facts["files"] == [str(out)]
    assert facts["version"] == bm.__version__
    assert set(facts) == {
        *("method", "inference", "n_rows", "n_imputed", "n_draws", "imputed"),
        *("mean_probability", "lowest_probability", "extra", "absent", "files"),
        *("lowest_effective_samples", "seed", "version", "unknown", "n_empty_rows"),
    }


def test_tables_and_networks_may_come_from_stdin(holed, tmp_path):
    assert ok("impute", "asia", "-", stdin=holed.read_text()) == ok(
        "impute", "asia", holed
    )
    net = tmp_path / "net.json"
    bm.write_network(bm.load_network("asia"), net)
    assert ok("impute", "-", holed, stdin=net.read_text()) == ok("impute", net, holed)


def test_too_few_samples_for_the_draws_are_said_aloud(with_id, tmp_path):
    out = tmp_path / "a.csv"
    options = ("--method", "draw", "--draws", 20, "--out", out, "--json", "--seed", 1)
    options += ("--inference", "weighting", "--samples", 10)
    result = run("impute", "asia", with_id, *options)
    assert "Warning: --draws 20 completions come from fewer samples" in result.stderr
    assert "Raise --samples." in result.stderr
    assert 1 <= json.loads(result.stdout)["lowest_effective_samples"] <= 10


def test_reading_options_are_those_of_other_commands(tmp_path):
    net, path = tmp_path / "net.json", tmp_path / "t.csv"
    network = bm.Network(
        bm.Dag.from_arcs(["age", "job"], [("age", "job")]),
        (("<=18", ">18"), ("no", "yes")),
        ([[0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]]),
    )
    bm.write_network(network, net)
    path.write_text("age,job\n12,-9\n44,-9\n-9,yes\n")
    text = ok("impute", net, path, "--missing", "-9", "--discretize", "age=cuts:18")
    assert text == "age,job\n12,no\n44,yes\n44,yes\n"


def test_weighting_is_asked_for_by_name(holed):
    options = ("--inference", "weighting", "--samples", 2000, "--seed", 1)
    text = ok("impute", "asia", holed, "--method", "marginal", *options)
    assert text == ok("impute", "asia", holed, "--method", "marginal", *options)
    assert "have no approximate method" in fails(1, "impute", "asia", holed, *options)


@pytest.mark.parametrize(
    ("code", "args", "message"),
    [
        (
            1,
            ("--method", "mode"),
            "Error: --method must be one of mpe, marginal, draw.",
        ),
        (
            1,
            ("--inference", "x"),
            "Error: --inference must be one of exact, weighting.",
        ),
        (1, ("--max-memory", "10"), "exact inference would need a table of"),
        (
            1,
            ("--max-memory", "10"),
            "more than --max-memory 10. Give more evidence, raise --max-memory, or use "
            "--inference weighting with --method marginal or --method draw.",
        ),
        (1, ("--max-memory", "0"), "--max-memory must be a number of bytes > 0."),
        (
            1,
            ("--inference", "weighting"),
            "Use --method marginal or --method draw with --inference weighting.",
        ),
        (
            1,
            ("--samples", "9"),
            "Error: --samples 9 goes with --inference weighting. Got 'exact' instead.",
        ),
        (2, ("--json",), "--json needs --out"),
        (2, ("--cells", "-"), "--cells - needs --out"),
        (2, ("--cells", "-", "--out", "-"), "--cells - needs --out"),
        (
            2,
            ("--cells", "-", "--out", "x.csv", "--json"),
            "--json and --cells - both go to stdout.",
        ),
        (
            1,
            ("--out", "x.parquet"),
            "a table is written as .csv, .tsv, .tab, .txt (also .gz). Got 'x.parquet'",
        ),
        (1, ("--cells", "x.json"), "(also .gz). Got 'x.json' instead."),
        (1, ("--out", "x.parquet.gz"), "(also .gz). Got 'x.parquet.gz' instead."),
        (2, ("--draws", "2", "--method", "draw"), "--draws 2 makes 2 tables."),
        (
            1,
            ("--draws", "2", "--out", "x.csv"),
            "Error: --draws 2 goes with --method draw.",
        ),
        (
            1,
            (
                "--draws",
                "99",
                "--method",
                "draw",
                "--out",
                "x.csv",
                "--max-memory",
                1e5,
            ),
            "Error: --draws 99 completed tables would need 422 kB, which is more than "
            "--max-memory 1e+05. Ask for fewer draws, or raise --max-memory.",
        ),
        (2, ("--draws", "0"), "Invalid value for '--draws'"),
        (
            2,
            ("--draws", "100000000", "--method", "draw", "--out", "x.csv"),
            "Invalid value for '--draws'",
        ),
    ],
)
def test_what_cannot_be_is_refused(code, args, message, holed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in fails(code, "impute", "asia", holed, *args)
    assert [path.name for path in tmp_path.iterdir()] == ["holed.csv"]


def test_two_streams_are_one_too_many():
    assert "cannot both be stdin" in fails(2, "impute", "-", "-", stdin="")


def test_an_impossible_row_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{HEADER[3:]}\nyes,yes,,,,no,,\n")
    message = fails(1, "impute", "asia", path)
    assert "row 0 is impossible in this network: tub=yes, either=no" in message


def test_an_option_that_another_call_means_is_left_alone(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{HEADER[3:]}\nyes,yes,,,,no,,\n")
    assert "with estimate='posterior', which" in fails(1, "impute", "asia", path)


def test_several_files_are_completed_into_a_folder(holed, tmp_path):
    header, *rows = holed.read_text().splitlines(keepends=True)
    for k, part in enumerate((rows[:20], rows[20:])):
        (tmp_path / f"part-{k}.csv").write_text("".join([header, *part]))
    out = tmp_path / "filled"
    told = json.loads(
        ok("impute", "asia", tmp_path / "part-*.csv", "--out", out, "--json")
    )
    assert told["files"] == [str(out / "part-0.csv"), str(out / "part-1.csv")]
    whole = ok("impute", "asia", holed)
    parts = [(out / f"part-{k}.csv").read_text() for k in range(2)]
    assert parts[0] + parts[1].removeprefix(header) == whole


def test_several_files_need_a_folder(holed, tmp_path):
    other = tmp_path / "other.csv"
    other.write_bytes(holed.read_bytes())
    assert "they need --out DIR" in fails(2, "impute", "asia", holed, other)
    told = fails(2, "impute", "asia", holed, other, "--out", tmp_path, "--draws", 2)
    assert "neither --cells nor --draws" in told
