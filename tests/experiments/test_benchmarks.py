"""The benchmarks go on with the package: every module loads, small cases give rows."""

import subprocess
import sys
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
    assert (row["rows"], row["columns"], row["status"]) == (961, 6, "local optimum")
    assert row["megabytes"] < 200
    assert row["chosen"].startswith("em: a short search found no proof")
    tables.show([row])
    assert "screening: em: a short search found no proof" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name",
    ["augment", "em", "speed", "speed.structure", "speed.growth", "tables"],
)
def test_a_benchmark_explains_its_options(name):
    command = [sys.executable, "-m", f"benchmarks.{name}", "--help"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "--data DIR" in run.stdout
