"""The experiment about scores: its settings, its peers and what it measures."""

import shutil
import warnings

import numpy as np
import pytest
from support.designs import method_of, task_of

from bayesmend import Dag, load_network
from bayesmend.errors import MissingDependencyError
from experiments.beyond import structure
from experiments.catalog import load_experiment
from experiments.design import Answer
from experiments.peers import structures


@pytest.fixture(scope="module")
def experiment():
    return load_experiment("structure")


def test_every_network_has_all_sizes_and_ways_to_hide_cells(experiment):
    n_settings = len(structure.NETWORKS) * 3 * (1 + 3 * 2)
    assert len(experiment.settings) == n_settings
    of_all = [b for b in experiment.blocks if b.label.startswith("all networks")]
    assert len(of_all) == 2 * 3
    assert sum(len(block.settings) for block in of_all) == n_settings


def test_a_sample_is_the_same_however_its_cells_are_hidden(experiment):
    complete, holed = (
        task_of(experiment, f"asia/200/{how}", 0) for how in ("complete/0", "mnar/30")
    )
    truth = holed.data.codes.copy()
    truth[holed.hidden.rows, holed.hidden.variables] = holed.hidden.true_codes
    assert complete.data.is_complete
    assert holed.data.n_missing > 0
    np.testing.assert_array_equal(truth, complete.data.codes)


def test_a_structure_is_compared_with_that_of_the_network(experiment):
    task = task_of(experiment, "asia/200/complete/0", 0)
    true = load_network("asia")
    arcs = [arc for arc in true.dag.arcs if arc != ("asia", "tub")]
    arcs.append(("asia", "smoke"))
    learned = type(true).fit(Dag.from_arcs(true.names, arcs), task.data)
    found = structure.measure(task, Answer(network=learned))
    assert (found["precision"], found["recall"], found["n_arcs"]) == (7 / 8, 7 / 8, 8)
    assert structure.measure(task, Answer(network=true))["shd"] == 0


@pytest.mark.parametrize("how", ["complete/0", "mcar/30"])
def test_our_scores_learn_from_both_kinds_of_tables(experiment, how):
    task = task_of(experiment, f"asia/200/{how}", 0)
    for name in ("bdeu", "bdeu-fair", "bds", "qnml"):
        method = method_of(experiment, name)
        answer = method.solve(task, seed=1, n_threads=1, **method.options)
        assert answer.network.dag.n_arcs > 0
        assert answer.extra["learning_seconds"] > 0


@pytest.mark.parametrize("name", ["pyagrum-bdeu", "pgmpy-bic"])
def test_peers_learn_where_they_are_installed(experiment, name):
    method = method_of(experiment, name)
    pytest.importorskip(method.needs[0], reason="this peer is not installed")
    task = task_of(experiment, "asia/200/mcar/30", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of theirs
        answer = method.solve(task, seed=1, n_threads=1, **method.options)
    assert answer.network.dag.n_arcs > 0


def test_without_r_its_peer_is_left_out_and_says_what_it_needs(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not structures.has_bnlearn()
    with pytest.raises(MissingDependencyError, match="needs R with its package bnle"):
        structures.learn_by_bnlearn(
            load_network("asia").sample(10, seed=1), score="bic"
        )
