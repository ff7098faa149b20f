"""How far a network is from the true one, against the joint distributions."""

import math

import numpy as np
import pytest
from support import oracle
from support.designs import method_of, task_of

from bayesmend.datasets import load_network
from bayesmend.graph.dag import Dag
from bayesmend.network.network import Network
from experiments.beyond import measuring
from experiments.catalog import load_experiment
from experiments.design import Answer
from experiments.hiding import hide


def joint_of(network):
    parents = [list(members) for members in network.dag.parents]
    cpts = [cpt.tolist() for cpt in network.cpts]
    return oracle.joint_distribution(parents, network.card.tolist(), cpts)


def small_network(seed):
    """Three variables with random tables, a zero among them."""
    generator = np.random.default_rng(seed)
    dag = Dag.from_arcs("abc", [("a", "c"), ("b", "c")])
    tables = [generator.dirichlet([1.0] * 2, 1), generator.dirichlet([1.0] * 3, 1)]
    tables.append(generator.dirichlet([1.0] * 2, 6))
    tables[2][0] = [1.0, 0.0]
    return Network(dag, (("n", "y"), ("u", "v", "w"), ("n", "y")), tuple(tables))


@pytest.mark.parametrize("seed", range(3))
def test_the_entropy_is_that_of_the_joint_distribution(seed):
    network = small_network(seed)
    exact = -sum(p * math.log(p) for p in joint_of(network).values() if p > 0)
    assert measuring.entropy(network) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("seed", range(3))
def test_the_divergence_is_that_of_the_joint_distributions(seed):
    true = small_network(seed)
    learned = Network.fit(true.dag, true.sample(50, seed=seed), estimate="posterior")
    one, two = joint_of(true), joint_of(learned)
    exact = sum(p * math.log(p / two[row]) for row, p in one.items() if p > 0)
    found = measuring.divergence(true, learned)
    assert found == pytest.approx(exact, abs=0.02 + 0.1 * exact)
    assert measuring.divergence(true, true) == 0.0


def test_a_method_without_a_network_gets_that_of_its_table():
    experiment = load_experiment("optimism")
    task = task_of(experiment, "asia/1000/mcar/10")
    complete = method_of(experiment, "complete")
    answer = complete.solve(task, seed=1, n_threads=1)
    assert answer.completed.is_complete
    assert task.hidden.accuracy(answer.completed) == 1.0
    found = measuring.measure_probabilities(task, answer)
    assert found["shd"] <= 6
    assert 0 < found["divergence"] < 0.05
    assert abs(found["entropy_excess"]) < 0.1
    assert measuring.measure_structure(task, answer) == {"shd": found["shd"]}


def test_a_network_that_was_learned_is_measured_itself():
    experiment = load_experiment("optimism")
    task = task_of(experiment, "asia/100/mcar/10")
    answer = Answer(task.data, network=task.network)
    assert measuring.measure_probabilities(task, answer) == {
        "shd": 0,
        "divergence": 0.0,
        "entropy_excess": 0.0,
        "log_loss": measuring.log_loss(task.network, task.hidden),
    }


@pytest.mark.parametrize("seed", range(3))
def test_the_log_loss_is_that_of_the_posterior_by_enumeration(seed):
    network = small_network(seed)
    holed = hide(
        network.sample(30, seed=seed),
        "mcar",
        0.2,
        generator=np.random.default_rng(seed),
    ).data
    hidden = hide(holed, "mcar", 0.3, generator=np.random.default_rng(seed + 10))
    joint, losses = joint_of(network), []
    for row, name, label in hidden.cells():
        variable = network.names.index(name)
        true = network.states[variable].index(label)
        observed = hidden.data.codes[row].tolist()
        weights = [0.0] * len(network.states[variable])
        for states, p in joint.items():
            if all(c in (255, s) for c, s in zip(observed, states, strict=True)):
                weights[states[variable]] += p
        losses.append(-math.log(weights[true] / sum(weights)))
    assert measuring.log_loss(network, hidden) == pytest.approx(np.mean(losses))


def test_without_a_hidden_cell_there_is_no_log_loss():
    asia = load_network("asia")
    hidden = hide(
        asia.sample(10, seed=1), "mcar", 0.0, generator=np.random.default_rng(1)
    )
    assert math.isnan(measuring.log_loss(asia, hidden))


@pytest.mark.slow
def test_too_regular_a_table_gives_too_little_entropy():
    # Half of the cells hidden at random: augmentation makes them fit too well.
    experiment = load_experiment("optimism")
    local = method_of(experiment, "local")
    found = []
    for repetition in range(2):
        task = task_of(experiment, "asia/1000/mcar/50", repetition)
        answer = local.solve(task, seed=1, n_threads=1, **local.options)
        found.append(measuring.measure_probabilities(task, answer)["entropy_excess"])
    assert max(found) < -0.1
