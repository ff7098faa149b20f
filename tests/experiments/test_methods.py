"""Every method of the tables, through the same checks."""

import numpy as np
import pytest

import bayesmend as bm
from bayesmend.errors import ParameterError
from experiments.catalog import NAMES, load_experiment
from experiments.design import Task
from experiments.methods import SVMS, TRUTH, exact, local

ASIA = bm.load_network("asia")
METHODS = {
    method.name: method
    for name in NAMES
    if name.startswith("table")
    for method in load_experiment(name, time_limit=10.0).methods
}


@pytest.fixture(scope="module")
def task():
    """Missing cells in one variable, so that classifiers have their say, too."""
    rows = ASIA.sample(120, seed=3)
    hidden = bm.hiding.hide_value_of(rows, "lung", 4, state=0, seed=3, strict=True)
    return Task(hidden, network=ASIA, target="lung")


def solve(method, task, *, seed=1, n_threads=1):
    return method.solve(task, seed=seed, n_threads=n_threads, **method.options)


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_missing_cells_are_filled_and_observed_cells_kept(method, task):
    answer = solve(method, task)
    is_seen = ~task.data.missing_mask
    assert answer.completed.is_complete
    assert np.array_equal(answer.completed.codes[is_seen], task.data.codes[is_seen])
    assert answer.completed.names == task.data.names


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
@pytest.mark.slow
def test_the_same_seed_gives_the_same_answer_for_any_number_of_threads(method, task):
    one, two = solve(method, task), solve(method, task, n_threads=3)
    assert np.array_equal(one.completed.codes, two.completed.codes)
    assert one.score == two.score


def test_learners_tell_score_bound_and_status(task):
    proven, climbed = solve(METHODS["exact"], task), solve(METHODS["local-1"], task)
    assert proven.status == "optimal"
    assert proven.score == proven.bound >= climbed.score - 1e-6
    assert climbed.status == "1-local optimum"
    assert solve(METHODS["em"], task).status == "local optimum"


def test_options_are_those_of_the_paper():
    for method in METHODS.values():
        assert method.options.get("max_parents", 3) == 3
    assert local(2).options["locality"] == 2
    assert local(1, is_single=True).options["starts"] == ["random"]
    assert local(1, is_single=True).options["restarts"] == 1
    assert exact(2.5).options["time_limit"] == 2.5


def test_what_a_method_needs_and_lacks_is_said(task):
    alone = Task(task.hidden)
    with pytest.raises(ParameterError, match="the true network of this table"):
        solve(TRUTH, alone)
    with pytest.raises(ParameterError, match="misses cells of several variables"):
        solve(SVMS[0], alone)
