"""The benchmarks go on with the package: every module loads, small cases give rows."""

import json
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import pytest
from support.shared import ROOT
from support.timing import within

from benchmarks import tables
from benchmarks.augment import __main__ as augment
from benchmarks.augment.cases import CASES, experiment_of
from benchmarks.cases import rows_of, run_case
from benchmarks.em import __main__ as em
from benchmarks.em.methods import OURS
from benchmarks.field import __main__ as field
from benchmarks.field import page as field_page
from benchmarks.field.cases import SOLVERS
from benchmarks.scale import __main__ as scale
from benchmarks.scale import page as scale_page
from benchmarks.scale.cases import Case
from experiments.run.rawrows import read_rows

MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "benchmarks").rglob("*.py")
    if path.name != "__init__.py"
)


@pytest.mark.parametrize("module", MODULES)
def test_every_module_loads(module):
    import_module(module)


def test_augmentation_and_its_baselines_agree(tmp_path, capsys):
    rows = run_case(experiment_of("asia", 1, 10.0), tmp_path / "rows", n_threads=1)
    assert [row["method"] for row in rows] == list(CASES["asia"].measures)
    assert rows == read_rows(tmp_path / "rows", say=print)
    assert all(row["seed"] == 1 for row in rows)
    augment.print_tables({"asia": rows})
    assert "proven scores that differ: 0;" in capsys.readouterr().out


def test_em_is_measured_beside_references_and_absent_peers(tmp_path, capsys):
    names = (OURS, "true network", "complete data, greedy", "mode")
    case = em.Case("asia", 60, 0.1, names, 2, "none")
    rows = em.run_all("small", case, 2, 0.0, tmp_path / "rows")
    assert [len(rows_of(rows, name)) for name in names] == [2, 2, 2, 2]
    assert all("distance" in row for row in rows_of(rows, OURS))
    em.print_case(case, rows)
    shown = capsys.readouterr().out
    assert shown.startswith("\nASIA n=60, 10 % MCAR. Target: none.")


def test_cases_are_listed(capsys):
    for command in (augment, em, tables):
        assert command.main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in {*CASES, *em.CASES, *tables.CASES})


def test_made_up_tables_have_the_shapes_they_claim():
    shapes = [(961, 6), (32_561, 15), (10_000, 54)]
    cases = [case for case in tables.CASES.values() if case.make is not None]
    for case, (n_rows, n_columns) in zip(cases, shapes, strict=True):
        columns = case.make()
        assert len(columns) == n_columns
        assert {len(column) for column in columns.values()} == {n_rows}
        n_missing = sum((column == "?").sum() for column in columns.values())
        assert f"{100 * n_missing / (n_rows * n_columns):.1f} % missing" in case.about
        again = case.make()
        assert all((columns[name] == again[name]).all() for name in columns)


def test_a_table_is_learned_in_time_and_memory(capsys):
    # A guard against another order of magnitude: the figures are for the benchmark.
    with within(3.0):
        [row] = tables.run_all(["screening"])
    assert (row["rows"], row["columns"], row["status"]) == (961, 6, "optimal")
    assert row["megabytes"] < 200
    assert row["chosen"].startswith("exact: 6 variables and 170 missing cells")
    tables.show([row])
    assert "screening: exact: 6 variables" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    [
        "augment",
        "em",
        "field",
        "scale",
        "speed",
        "speed.structure",
        "speed.growth",
        "tables",
    ],
)
@pytest.mark.slow
def test_a_benchmark_explains_its_options(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "--data DIR" in run.stdout


def test_growth_is_measured_and_told_on_a_page(tmp_path, monkeypatch):
    grown = Case("rows", 60, n_vars=5, n_rows=60, methods=("mode", "kNN"))
    monkeypatch.setitem(scale.CASES, "rows", (grown,))
    raw, page = tmp_path / "scale.jsonl", tmp_path / "scale.md"
    given = ["--only", "rows", "--method", "mode", "--results", str(raw)]
    with within(20.0):
        assert scale.main(given) == 0
    rows = [json.loads(line) for line in raw.read_text().splitlines()]
    assert [row["size"] for row in rows] == [60]
    assert all(0 < row["right"] < 1 and row["megabytes"] > 10 for row in rows)
    page.write_text("a\n<!-- rows -->\nold\n<!-- end of rows -->\nb")
    monkeypatch.setattr(scale_page, "PAGE", page)
    monkeypatch.setattr(scale_page, "PLOT", tmp_path / "scale.svg")
    assert scale.main(["--page", "--results", str(raw)]) == 0
    assert page.read_text().startswith("a\n<!-- rows -->\n\n| rows | method |")
    assert page.read_text().count("| mode |") == 1
    assert "old" not in page.read_text()
    assert (tmp_path / "scale.svg").exists()


def test_who_cannot_take_a_table_is_not_asked_for_more(tmp_path, monkeypatch):
    grown = Case("rows", 60, n_vars=5, n_rows=60, methods=("mode",))
    monkeypatch.setitem(scale.CASES, "rows", (grown, replace(grown, size=90)))
    raw = tmp_path / "scale.jsonl"
    given = ["--only", "rows", "--cap", "0.01", "--results", str(raw)]
    assert scale.main(given) == 0
    [row] = [json.loads(line) for line in raw.read_text().splitlines()]
    assert row["word"] == "> 0.01 s"


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Give a folder with a score file, and a table with seconds of others."""
    files = {
        "jkl/ab-7.jkl": "# BIC\n2\n0 2\n-1 1 1\n-2 0\n1 1\n-4 0\n",
        "jkl/published.csv": "instance,published_best_bic\nab-7,-5.5\n",
        "bnsl/cd4.csv": "0,1,0\n0,1,1\n1,2,0\n1,2,1\n",
        "bnsl/runtimes.csv": (
            f"instance,variables,candidate_sets,{','.join(SOLVERS)}\n"
            "cd_4_bdeu-0.5-2,3,5,9,8,7,6,memout,timeout,3,2.5\n"
            "gone_4_bdeu-1-2,3,5,9,8,7,6,5,4,3,2\n"
        ),
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("BAYESMEND_DATA", str(tmp_path))
    return tmp_path


def test_published_instances_are_solved_once_and_told_on_a_page(
    published, monkeypatch, capsys
):
    raw, page = published / "field.jsonl", published / "field.md"
    with within(20.0):
        assert field.main(["--results", str(raw)]) == 0
    rows = [json.loads(line) for line in raw.read_text().splitlines()]
    assert [row["instance"] for row in rows] == ["ab-7", "cd_4_bdeu-0.5-2"]
    assert [row["status"] for row in rows] == ["optimal", "optimal"]
    assert rows[0]["score"] == -5.0
    assert "2.50 s, A*, static" in capsys.readouterr().out
    field.main(["--results", str(raw), "--only", "cd"])
    assert len(raw.read_text().splitlines()) == 2
    field.main(["--results", str(raw), "--only", "ab", "--again"])
    assert len(raw.read_text().splitlines()) == 3
    marks = [f"<!-- {name} -->\n<!-- end of {name} -->" for name in field_page.TABLES]
    page.write_text("\n".join(marks))
    monkeypatch.setattr(field_page, "PAGE", page)
    assert field.main(["--page", "--results", str(raw)]) == 0
    shown = page.read_text()
    assert "| ab-7 | 2 | 3 | -5.000 | +0.50 | proven |" in shown
    assert "| cd 4, ess 0.5, 2 parents | 5 |" in shown


def test_an_instance_that_is_not_there_is_an_error(published):
    with pytest.raises(SystemExit, match="no instance is named carpo"):
        field.main(["--only", "carpo"])
    empty = published / "empty"
    empty.mkdir()
    with pytest.raises(SystemExit, match="no instances in"):
        field.main(["--data", str(empty)])
