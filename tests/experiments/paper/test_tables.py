"""The tables of the paper: what their runs hide, on data made here and on real data."""

from itertools import chain

import pytest
from support.designs import task_of
from support.shared import DATA
from support.tables import write_csv

import bayesmend as bm
from bayesmend.errors import DataError, ParameterError
from experiments.catalog import NAMES, load_experiment
from experiments.data import DataFolder
from experiments.hiding import hide_share_of_value, rows_with
from experiments.paper.published import PUBLISHED

real = pytest.mark.skipif(
    not (DATA / "lucas.csv").exists(), reason="needs the data; set BAYESMEND_DATA"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files of all tables, small and random."""
    path = tmp_path_factory.mktemp("data")
    binary = {"0": 0.5, "1": 0.5}
    lucas = bm.load_network("lucas")
    write_csv(path / "lucas.csv", dict.fromkeys(lucas.names, binary), 300)
    write_csv(path / "spect.csv", {f"F{i}": {"0": 0.6, "1": 0.4} for i in range(6)}, 80)
    smoking = dict.fromkeys(("group", "race", "tv", "manual", "quit_0m"), binary)
    smoking["quit_24m"] = {"0": 0.6, "1": 0.2, "": 0.2}
    write_csv(path / "smoking_waves.csv", smoking, 489)
    car = {"doors": {"2": 0.3, "3": 0.7}, "safety": {"low": 0.5, "high": 0.5}}
    car["class"] = {"unacc": 0.5, "acc": 0.4, "good": 0.1}
    write_csv(path / "car.csv", car, 300)
    networks = path / "networks"
    networks.mkdir()
    for setting in load_experiment("table1").settings:
        for file in setting.files:
            bm.write_network(bm.load_network("asia"), path / file)
    return DataFolder(path)


def hidden_labels(task):
    return {label for _, _, label in task.hidden.cells()}


@pytest.mark.parametrize("name", NAMES)
def test_settings_blocks_methods_and_published_values_belong_together(name):
    experiment = load_experiment(name)
    settings = {setting.name for setting in experiment.settings}
    assert len(settings) == len(experiment.settings)
    methods = {method.name for method in experiment.methods}
    assert len(methods) == len(experiment.methods)
    assert set(experiment.focus) <= methods
    for block in experiment.blocks:
        assert block.settings
        assert set(block.settings) <= settings
        assert not block.published or block.published in PUBLISHED[name]
    labels = [block.label for block in experiment.blocks]
    assert len(set(labels)) == len(labels)
    for setting in experiment.settings:
        assert set(setting.methods or ()) <= methods
        assert len(setting.repetitions) >= experiment.quick_repetitions


@pytest.mark.parametrize("name", [name for name in NAMES if name in PUBLISHED])
def test_every_published_value_has_its_measured_counterpart(name):
    experiment = load_experiment(name)
    methods = set(chain(*((m.name, m.family) for m in experiment.methods)))
    blocks = {block.published for block in experiment.blocks}
    for block, published in PUBLISHED[name].items():
        assert block in blocks
        assert set(published) <= methods


@pytest.mark.parametrize("name", NAMES)
def test_seed_and_time_limit_reach_the_design(name):
    experiment = load_experiment(name, seed=7, time_limit=2.5)
    assert experiment.seed == 7
    for method in experiment.methods:
        assert method.options.get("time_limit", 2.5) == 2.5


def test_unknown_experiments_are_refused():
    with pytest.raises(ParameterError, match=r"no experiment 'table9'\. Known: table1"):
        load_experiment("table9")


def test_table_1_hides_two_cells_of_one_state_in_the_same_sample(folder):
    experiment = load_experiment("table1")
    zero, one = (task_of(experiment, f"asia/{state}", 3, folder) for state in (0, 1))
    assert set(zero.hidden.true_codes.tolist()) == {0}
    assert set(one.hidden.counts.values()) == {2}
    assert max(zero.hidden.counts.values()) == 2
    assert zero.data.n_rows == 100
    is_seen = ~zero.data.missing_mask & ~one.data.missing_mask
    assert (zero.data.codes == one.data.codes)[is_seen].all()


def test_table_2_spreads_two_cells_over_each_variable(folder):
    experiment = load_experiment("table2")
    task = task_of(experiment, "spread/mnar/1", 0, folder)
    assert set(task.hidden.counts.values()) == {2}
    assert hidden_labels(task) == {"1"}
    task = task_of(experiment, "spread/mar", 0, folder)
    assert set(task.hidden.counts.values()) == {2}
    assert hidden_labels(task) == {"0", "1"}


@pytest.mark.parametrize("settings", [("class/mnar/0", "class/mnar/1"), ("class/mar",)])
def test_table_2_hides_every_class_label_once(settings, folder):
    experiment = load_experiment("table2")
    rows = []
    for setting in experiment.settings:
        if setting.name in settings:
            for repetition in setting.repetitions:
                task = task_of(experiment, setting.name, repetition, folder)
                assert task.target == "Lung_cancer"
                assert setting.name == "class/mar" or len(hidden_labels(task)) == 1
                rows += task.hidden.rows.tolist()
    assert sorted(rows) == list(range(300))


def test_table_3_hides_a_share_of_all_cells(folder):
    task = task_of(load_experiment("table3"), "10/1", 0, folder)
    assert task.hidden.n_hidden == 48
    assert hidden_labels(task) == {"1"}
    with pytest.raises(DataError, match="432 cells are to be hidden, but"):
        hide_share_of_value(folder.table("spect.csv"), 0.9, state=1, seed=1)


def test_table_4_cuts_the_smokers_into_folds(folder):
    experiment = load_experiment("table4")
    setting = "group+tv+manual/50"
    tasks = [task_of(experiment, setting, fold, folder) for fold in range(5)]
    rows = [row for task in tasks for row in task.hidden.rows.tolist()]
    assert len(rows) == len(set(rows)) == 250
    assert all(hidden_labels(task) == {"0"} for task in tasks)
    assert tasks[0].data.names == ("group", "tv", "manual", "quit_24m")
    n_missing = folder.table("smoking_waves.csv").missing_mask.sum()
    assert tasks[0].data.n_missing == n_missing + 50
    again = task_of(experiment, setting, 5, folder)
    assert set(again.hidden.rows.tolist()) != set(tasks[0].hidden.rows.tolist())
    other = task_of(experiment, "group+race+quit_0m/50", 0, folder)
    assert other.hidden.rows.tolist() == tasks[0].hidden.rows.tolist()


def test_table_4_tries_every_choice_of_three_variables():
    choices = {s.name.split("/")[0] for s in load_experiment("table4").settings}
    assert len({frozenset(choice.split("+")) for choice in choices}) == 10


def test_table_5_hides_a_hundred_labels_of_one_class(folder):
    experiment = load_experiment("table5")
    for setting in experiment.settings:
        for repetition in setting.repetitions:
            task = task_of(experiment, setting.name, repetition, folder)
            assert task.hidden.n_hidden == 100
            assert hidden_labels(task) == {setting.name}


def test_a_label_that_is_not_there_is_named(folder):
    with pytest.raises(
        DataError, match=r"'class' has no state 'bad'\. It has: acc, good"
    ):
        rows_with(folder.table("car.csv"), "class", "bad")


# The experiment `structure` has some four hundred settings.
SLOW = {"structure": [pytest.mark.slow]}


@real
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=SLOW.get(name, [])) for name in NAMES]
)
@pytest.mark.slow
def test_real_data_give_the_first_run_of_every_setting(name):
    experiment = load_experiment(name)
    for setting in experiment.settings:
        task = task_of(
            experiment, setting.name, setting.repetitions[0], DataFolder(DATA)
        )
        is_complete = setting.parameters.get("rate") == 0.0
        assert (task.hidden.n_hidden == 0) == is_complete
