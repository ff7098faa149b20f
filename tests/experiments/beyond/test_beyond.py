"""Experiments beyond the paper: what they hide, what they measure, how they look."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from support.designs import NOWHERE, method_of, task_of

from bayesmend.datasets import load_network
from bayesmend.errors import DataError
from bayesmend.hiding.mechanisms import hide_mcar, hide_value_per_variable
from experiments.beyond import (
    average,
    classifier,
    coverage,
    imputation,
    optimism,
    optimum,
    real,
)
from experiments.catalog import load_experiment
from experiments.data import DataFolder
from experiments.design import Answer, Run, Task
from experiments.hiding import hide
from experiments.render.figure import write_figures
from experiments.render.page import render_tables, write_results
from experiments.render.results import summarise
from experiments.run.runner import RunError, execute, run_experiment
from experiments.run.selection import select


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("imputation", ["asia/mcar/5", "asia/mar/30", "asia/mnar/20"]),
        ("optimism", ["asia/100/mcar/2", "asia/100/one-value/50"]),
    ],
)
def test_a_sweep_hides_cells_of_the_same_sample(name, settings):
    experiment = load_experiment(name)
    tables = []
    for setting in settings:
        task = task_of(experiment, setting)
        codes = task.data.codes.copy()
        codes[task.hidden.rows, task.hidden.variables] = task.hidden.true_codes
        tables.append(codes)
    for codes in tables[1:]:
        np.testing.assert_array_equal(codes, tables[0])


@pytest.mark.parametrize(
    ("name", "n_settings"),
    [("imputation", 4 * 3 * 4), ("optimism", 2 * 2 * 3 * 6), ("optimum", 5 * 2)],
)
def test_a_sweep_has_a_place_for_every_line(name, n_settings):
    experiment = load_experiment(name)
    assert len(experiment.settings) == n_settings
    places = [
        experiment.curves.place(block, method)
        for block in experiment.blocks
        for method in experiment.methods
        if method.name != "exact"
    ]
    positions = {(place.panel, place.x, place.curve) for place in places}
    assert len(positions) == len(places)


def test_optimum_uses_the_tables_of_table_1():
    ours, theirs = load_experiment("optimum"), load_experiment("table1")
    for repetition in range(3):
        for state in (0, 1):
            name = f"asia/{state}"
            one, two = (task_of(e, name, repetition) for e in (ours, theirs))
            np.testing.assert_array_equal(one.data.codes, two.data.codes)


def asia_with_hidden_cells():
    table = load_network("asia").sample(100, seed=3)
    return Task(hide_value_per_variable(table, 1, state=1, seed=1))


def test_an_answer_attains_the_optimum_or_says_how_much_it_lacks():
    experiment, task = load_experiment("optimum"), asia_with_hidden_cells()
    exact = method_of(experiment, "exact")
    best = exact.solve(task, seed=1, n_threads=1, **exact.options)
    assert optimum.measure(task, best, time_limit=60) == {"attained": 1.0, "loss": 0.0}
    worse = replace(best, score=best.score - 0.25)
    found = optimum.measure(task, worse, time_limit=60)
    assert found == {"attained": 0.0, "loss": pytest.approx(0.25)}


def test_a_score_above_the_proven_optimum_is_an_error_that_names_the_run():
    experiment = select(load_experiment("optimum"), methods=["local-1-r1"])
    method = experiment.methods[0]
    run = Run(experiment.settings[0], 3, experiment.seed)
    sound = execute(experiment, (run, method), NOWHERE, n_threads=1)

    def boast(task, **options):
        answer = method.solve(task, **options)
        return replace(answer, score=answer.score + sound["loss"] + gain)

    gain = 1e-3
    boasting = replace(method, solve=boast)
    wanted = r"setting asia/0, repetition 3, method local-1-r1: score .* is above the"
    with pytest.raises(RunError, match=wanted):
        execute(experiment, (run, boasting), NOWHERE, n_threads=1)
    gain = 1e-8
    row = execute(experiment, (run, boasting), NOWHERE, n_threads=1)
    assert (row["attained"], row["loss"]) == (1.0, 0.0)


def test_without_a_proof_nothing_is_said_about_the_optimum(monkeypatch):
    task = asia_with_hidden_cells()
    monkeypatch.setattr(
        "bayesmend.outcome.Outcome.is_optimal",
        property(lambda _: False),
    )
    found = optimum.measure(task, Answer(task.data, score=-1.0), time_limit=59)
    assert found == {"attained": None, "loss": None}


def test_cells_of_lucas_are_hidden_as_in_table_2(tmp_path):
    load_network("lucas").sample(50, seed=1).write_csv(tmp_path / "lucas.csv")
    task = task_of(load_experiment("optimum"), "lucas/1", 0, DataFolder(tmp_path))
    assert set(task.hidden.true_codes.tolist()) == {1}
    assert max(task.hidden.counts.values()) == 2


def test_missing_cells_stay_and_a_tenth_of_the_rest_is_hidden(tmp_path):
    holed = hide(
        load_network("asia").sample(2000, seed=1),
        "mcar",
        0.2,
        generator=np.random.default_rng(1),
    ).data
    holed.write_csv(tmp_path / "votes.csv")
    task = task_of(load_experiment("real"), "votes", 0, DataFolder(tmp_path))
    observed = np.count_nonzero(~holed.missing_mask)
    assert task.hidden.n_candidates == observed
    assert task.hidden.n_hidden == pytest.approx(0.1 * observed, rel=0.1)
    assert task.data.missing_mask[holed.missing_mask].all()
    answer = method_of(load_experiment("real"), "mode").solve(task, seed=1, n_threads=1)
    assert answer.completed.is_complete


def test_the_mean_of_many_networks_is_judged_by_its_probabilities(tmp_path):
    load_network("asia").sample(60, seed=1).write_csv(tmp_path / "zoo.csv")
    experiment = load_experiment("average")
    assert len(experiment.settings) >= 20
    task = task_of(experiment, "zoo", 0, DataFolder(tmp_path))
    method = method_of(experiment, "ensemble")
    options = {"n_networks": 2, "classes": (), "ess": 1.0}
    answer = method.solve(task, seed=1, n_threads=1, **options)
    told = experiment.measure(task, answer)
    assert 0 < told["log_loss"] < 1
    assert 0 <= told["calibration_error"] <= 0.5
    assert 0 < told["calibration_by_chance"] <= 0.5
    mode = method_of(experiment, "mode")
    plain = mode.solve(task, seed=1, n_threads=1, **mode.options)
    shares = [
        np.bincount(column[column != 255], minlength=2) / (column != 255).sum()
        for column in task.data.codes.T
    ]
    hidden = task.hidden
    truth = [
        shares[v][k] for v, k in zip(hidden.variables, hidden.true_codes, strict=True)
    ]
    told = experiment.measure(task, plain)
    assert told["log_loss"] == pytest.approx(-np.log(truth).mean())


def test_every_contender_runs_on_every_sample():
    for name in ("average", "classifier", "imputation", "real"):
        counts = Counter(
            (run.setting.name, method.name)
            for run, method in load_experiment(name).runs()
        )
        assert set(counts.values()) == {10}


@pytest.mark.parametrize(
    "module", [average, classifier, coverage, imputation, optimism, optimum, real]
)
def test_designs_ask_only_for_files_with_a_known_source(module):
    experiment = module.design()
    with pytest.raises(DataError, match="Name one with --data") as caught:
        NOWHERE.check(experiment.files)
    assert "a file of your own" not in str(caught.value)


def test_a_quick_run_leaves_out_settings_unless_they_are_named():
    experiment = load_experiment("imputation")
    quick = {s.name for s in select(experiment, quick=True).settings}
    assert quick == {"asia/mcar/10", "asia/mcar/30", "asia/mnar/30", "alarm/mcar/10"}
    named = select(experiment, quick=True, settings=["child/mar"]).settings
    assert {len(s.repetitions) for s in named} == {2}
    assert {s.name for s in named} == {f"child/mar/{x}" for x in (5, 10, 20, 30)}


# --- runs, tables, figures ------------------------------------------------------------


def shrunk(name, settings, methods, n_rows=60, repetitions=2):
    """A part of an experiment on a few rows."""
    part = select(
        load_experiment(name),
        settings=settings,
        methods=methods,
        repetitions=repetitions,
    )
    smaller = tuple(
        replace(s, parameters={**s.parameters, "n_rows": n_rows}) for s in part.settings
    )
    return replace(part, settings=smaller)


PEERS = ["iterative-forest", "iterative-logistic", "miceforest", "knn", "mode"]


@pytest.mark.slow
def test_every_peer_leaves_its_row():
    part = shrunk("imputation", ["asia/mar/20"], [*PEERS, "auto", "local", "complete"])
    part = replace(
        part,
        methods=tuple(
            replace(m, options={**m.options, **_faster(m)}) for m in part.methods
        ),
    )
    units = [unit for unit in part.runs() if unit[0].repetition == 0]
    rows = [execute(part, unit, NOWHERE, n_threads=1) for unit in units]
    assert [row["method"] for row in rows] == [m.name for m in part.methods]
    assert len({row["table"] for row in rows}) == 1
    assert all(0 <= row["accuracy"] <= 1 and row["shd"] >= 0 for row in rows)
    auto = next(row for row in rows if row["method"] == "auto")
    assert auto["chosen"]


def _faster(method):
    fewer = {"n_trees": 5, "rounds": 1, "time_limit": 1.0}
    return {name: value for name, value in fewer.items() if name in method.options}


@pytest.mark.slow
def test_a_sweep_is_written_as_one_line_per_setting_and_as_curves(tmp_path):
    part = shrunk("optimism", ["asia/100/mcar/2", "asia/100/mnar/10"], None)
    methods = (method_of(part, "local"), method_of(part, "complete"))
    measures = tuple(
        m for m in part.measures if m.name in ("accuracy", "entropy_excess")
    )
    part = replace(part, methods=methods, measures=measures)
    rows = run_experiment(
        part, tmp_path / "optimism.jsonl", folder=NOWHERE, say=lambda _: None
    )
    assert len(rows) == 3 * 2 * 2  # settings that start so: mcar/2, mcar/20, mnar/10
    results = summarise(part, rows)
    write_results(results, tmp_path)
    page = (tmp_path / "optimism.md").read_text()
    assert "| setting | hidden cells (%) | augmentation | nothing hidden |" in page
    assert page.count("\n| ASIA, n = 100, mcar | 2 |") == 3  # two measures, seconds
    accuracy = page[page.index("## Accuracy") : page.index("## Entropy")]
    assert "nothing hidden" not in accuracy
    assert "**" not in page[page.index("## Entropy") :]
    paths = write_figures(results, tmp_path)
    drawn = (tmp_path / "optimism-entropy_excess.svg").read_text()
    assert len(paths) == 4
    for text in ("ASIA, n = 100, mnar", "augmentation", "nothing hidden", "hidden cel"):
        assert text in drawn


def test_fewer_repetitions_are_told_in_brackets(tmp_path):
    part = shrunk("imputation", ["asia/mcar/5"], ["knn", "mode"], 40, repetitions=3)
    raw = tmp_path / "imputation.jsonl"
    run_experiment(
        select(part, methods=["knn"]), raw, folder=NOWHERE, say=lambda _: None
    )
    once = select(part, methods=["mode"], repetitions=1)
    rows = run_experiment(once, raw, folder=NOWHERE, say=lambda _: None)
    line = render_tables(summarise(part, rows)).split("ASIA, MCAR | 5 |")[1]
    first, second = line.split("\n")[0].strip(" |").split(" | ")
    assert "±" in first or "[" in first
    assert second.endswith(" (1)")


def test_optimum_shows_a_curve_for_each_locality(tmp_path):
    names = ["local-1-r1", "local-1-r5", "local-2-r1", "local-1-r5-mode", "exact"]
    part = select(
        load_experiment("optimum"), settings=["asia"], methods=names, repetitions=3
    )
    rows = run_experiment(
        part, tmp_path / "optimum.jsonl", folder=NOWHERE, say=lambda _: None
    )
    attained = {
        row["method"]: row["attained"] for row in rows if row["repetition"] == 0
    }
    assert attained["exact"] == 1.0
    results = summarise(part, rows)
    page = render_tables(results)
    assert "| setting | restarts | t = 1 | t = 2 | t = 1, the modes too |" in page
    assert "in `optimum.csv`, the paired tests in `optimum-tests.csv`." in page
    assert not any(line.is_best for line in results.lines)
    line = next(x for x in results.lines if x.method.name == "exact")
    low = 100 * stats.binomtest(3, 3).proportion_ci(0.95, method="exact").low
    assert (line.interval.low, line.interval.high) == (pytest.approx(low), 100.0)
    write_figures(results, tmp_path)
    assert "t = 1, the modes too" in (tmp_path / "optimum.svg").read_text()


@pytest.mark.slow
def test_what_coverage_asks_for_has_the_probabilities_of_the_network():
    network = load_network("lucas")
    shares = coverage.asked(network)
    assert len(shares) == len(set(shares)) > coverage.N_EACH
    assert sum(share.given is not None for share in shares) > coverage.N_EACH // 2
    codes = network.sample(20_000, seed=1).codes
    values, squares = coverage.estimate(codes, shares)
    truth = np.array([share.truth for share in shares])
    assert (np.abs(values - truth) < 5 * np.sqrt(squares)).all()


def test_coverage_of_tables_that_nothing_is_missing_from():
    network = load_network("lucas")
    rows = network.sample(500, seed=1)
    task = Task(hide_mcar(rows, 0.2, seed=1), network=network)
    whole = coverage.solve_complete(task, seed=1, n_threads=1).extra
    fixed = coverage.solve_fixed(
        task, seed=1, n_threads=1, m=3, restarts=0, max_parents=2
    ).extra
    assert 0.8 <= whole["covered"] <= 1.0
    assert fixed["width"] > whole["width"]


def table_with_a_class(path):
    """Write rows of a network as one of the tables of the experiment."""
    rows = load_network("asia").sample(150, seed=1).to_pandas()
    rows = rows.rename(columns={"bronc": "Class"})
    rows.to_csv(path / "votes.csv", index=False)
    return DataFolder(path)


@pytest.mark.parametrize("percent", [0, 10, 50])
def test_rows_set_aside_have_no_class_and_as_many_labels_are_hidden(tmp_path, percent):
    folder = table_with_a_class(tmp_path)
    experiment = select(load_experiment("classifier"), settings=[f"votes/{percent}"])
    run, _ = next(experiment.runs())
    task = experiment.make(run, folder)
    target = task.data.index("Class")
    assert task.hidden.rows.tolist() == list(range(100, 150))
    unlabelled = task.data.missing_mask[:, target]
    assert unlabelled[100:].all()
    assert unlabelled[:100].sum() == percent
    others = np.delete(task.data.missing_mask, target, axis=1)
    assert 0.05 < others[:100].mean() < 0.15
    assert 0.05 < others[100:].mean() < 0.15


def test_classifiers_are_judged_by_the_same_rows(tmp_path):
    folder = table_with_a_class(tmp_path)
    part = select(
        load_experiment("classifier"),
        settings=["votes/10"],
        methods=["em", "logistic", "forest", "naive-bayes"],
        repetitions=1,
    )
    rows = run_experiment(
        part, tmp_path / "classifier.jsonl", folder=folder, say=lambda _: None
    )
    assert len(rows) == 4
    assert {row["table"] for row in rows} == {rows[0]["table"]}
    for row in rows:
        assert row["n_hidden"] == 50
        assert row["accuracy"] > 0.5
        assert row["log_loss"] < 1.0


def test_a_class_that_no_labelled_row_has_is_known_to_the_judge(tmp_path):
    folder = table_with_a_class(tmp_path)
    experiment = select(load_experiment("classifier"), settings=["votes/0"])
    run, _ = next(experiment.runs())
    task = experiment.make(run, folder)
    target = task.data.index("Class")
    codes = task.data.codes.copy(order="F")
    codes[codes[:, target] == 0, target] = 255
    only = replace(task, hidden=replace(task.hidden, data=task.data.with_codes(codes)))
    found = classifier.solve_peer(only, seed=1, n_threads=1, name="naive-bayes")
    share = (task.hidden.true_codes == 0).mean()
    assert found.extra["log_loss"] == pytest.approx(-share * np.log(classifier.LEAST))
