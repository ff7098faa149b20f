import pickle

import numpy as np
import pytest

import bayesmend as bm
from bayesmend import Dag, Network
from bayesmend.errors import DataError, ParameterError
from bayesmend.network.mixture import Mixture

STATES = (("n", "y"), ("n", "y"))


def network(p, dag=None):
    dag = dag or Dag.from_arcs(["a", "b"], [("a", "b")])
    return Network(dag, STATES, ([[1 - p, p]], [[0.9, 0.1], [1 - p, p]]))


def hidden(p):
    """Two variables and their hidden parent."""
    dag = Dag.from_arcs(["a", "b", "c"], [("c", "a"), ("c", "b")])
    tables = ([[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], [[1 - p, p]])
    return Network(dag, (*STATES, (1, 2)), tables)


def by_hand(p, given_a):
    """P(b = y | a) with the hidden parent summed out, state by state."""
    prior, a, b = [1 - p, p], [[0.9, 0.1], [0.2, 0.8]], [0.3, 0.9]
    joint = [prior[c] * a[c][given_a] for c in range(2)]
    return sum(j * b[c] for c, j in enumerate(joint)) / sum(joint)


def test_a_mixture_answers_by_the_weighted_mean_hidden_variables_summed_out():
    mixture = Mixture((network(0.3), hidden(0.4)), np.array([0.25, 0.75]))
    found = bm.query(mixture, "b", given={"a": "y"})
    expected = 0.25 * 0.3 + 0.75 * by_hand(0.4, 1)
    assert found.distributions["b"]["y"] == pytest.approx(expected)
    p_a = 0.25 * 0.3 + 0.75 * (0.6 * 0.1 + 0.4 * 0.8)
    assert found.probability == pytest.approx(p_a)


def test_marginals_and_evidence_of_a_table_are_means_too():
    members = (network(0.3), hidden(0.4))
    mixture = Mixture(members, np.array([0.25, 0.75]))
    table = {"a": ["y", None, "n"], "b": [None, "y", "n"]}
    rows, p = bm.marginals(mixture, table).of("b")
    assert rows.tolist() == [0]
    assert p[0, 1] == pytest.approx(0.25 * 0.3 + 0.75 * by_hand(0.4, 1))
    wide = {**table, "c": [None] * 3}
    each = [bm.log_evidence(members[0], table), bm.log_evidence(members[1], wide)]
    mean = np.log(0.25 * np.exp(each[0]) + 0.75 * np.exp(each[1]))
    assert bm.log_evidence(mixture, table) == pytest.approx(mean)


def test_the_joint_distribution_is_the_mean_of_joints():
    members = (network(0.3), network(0.6))
    found = bm.query(Mixture(members), ["b", "a"], joint=True)
    each = [bm.query(m, ["b", "a"], joint=True).joint for m in members]
    assert found.joint == pytest.approx(np.mean(each, axis=0))


def test_weighting_comes_near_the_exact_mean_and_tells_its_error():
    mixture = Mixture((network(0.3), hidden(0.4)))
    exact = bm.query(mixture, "b", given={"a": "y"})
    found = bm.query(
        mixture, "b", given={"a": "y"}, inference="weighting", seed=1, n_samples=20_000
    )
    off = abs(found.distributions["b"]["y"] - exact.distributions["b"]["y"])
    assert 0 < off < 5 * found.errors["b"]["y"] < 0.05
    assert found.effective_samples > 1000


@pytest.mark.parametrize("seed", [1, None, np.random.default_rng(1)])
def test_a_joint_estimate_is_near_the_mean_of_joints(seed):
    mixture = Mixture((network(0.3), hidden(0.4)), np.array([0.25, 0.75]))
    exact = bm.query(mixture, ["b", "a"], joint=True)
    options = {"inference": "weighting", "n_samples": 20_000, "seed": seed}
    found = bm.query(mixture, ["b", "a"], joint=True, **options)
    off = np.abs(found.joint - exact.joint)
    assert (off < 6 * found.joint_errors).all()
    assert found.joint_errors.max() < 0.01
    # Single and joint ones are of the same samples.
    single = [*found.distributions["b"].values()]
    assert found.joint.sum(axis=1) == pytest.approx(single, rel=1e-9)


def test_of_one_network_all_answers_are_those_of_the_network():
    asia = bm.load_network("asia")
    data = bm.hide_mcar(asia.sample(100, seed=1), 0.2, seed=1).data
    mixture = Mixture((asia,))
    one, other = (bm.impute(m, data, method="marginal") for m in (asia, mixture))
    assert one.completed == other.completed
    assert np.allclose(one.cells.probabilities, other.cells.probabilities)
    assert str(bm.query(asia, "lung")) == str(bm.query(mixture, "lung"))
    assert np.allclose(bm.log_evidence(asia, data), bm.log_evidence(mixture, data))


def test_draws_come_from_the_members_as_often_as_their_weights_say():
    never = Network(Dag.from_arcs(["a"]), (("n", "y"),), ([[1.0, 0.0]],))
    always = Network(Dag.from_arcs(["a"]), (("n", "y"),), ([[0.0, 1.0]],))
    mixture = Mixture((never, always), np.array([0.75, 0.25]))
    table = {"a": [None] * 5}
    drawn = bm.draw_completions(mixture, table, n_draws=8, seed=1)
    shares = [set(t.codes.ravel().tolist()) for t in drawn]
    assert sorted(map(max, shares)) == [0] * 6 + [1] * 2
    assert all(len(s) == 1 for s in shares)
    again = bm.draw_completions(mixture, table, n_draws=8, seed=1)
    assert all(a == b for a, b in zip(drawn, again, strict=True))
    tables = bm.impute(
        mixture, table, method="draw", n_draws=4, seed=2, fill_empty_rows=True
    ).tables
    assert sum(t.codes.max() for t in tables) == 1


def test_arcs_are_those_of_members_without_hidden_variables():
    other = network(0.5)
    mixture = Mixture((network(0.3), hidden(0.4), other), chains=(0, 1, 0))
    arcs = mixture.arc_probabilities()
    assert arcs.n_networks == 2
    assert arcs.arc("a", "b").probability == 1
    assert mixture.consensus().arcs == (("a", "b"),)


def test_a_mixture_survives_pickling():
    mixture = Mixture((network(0.3), hidden(0.4)))
    copy = pickle.loads(pickle.dumps(mixture))
    assert copy == mixture
    assert hash(copy) == hash(mixture)
    assert not copy.weights.flags.writeable
    assert mixture != Mixture((network(0.3), hidden(0.5)))
    assert mixture != 1


def test_what_is_no_mixture_is_refused():
    one = network(0.3)
    with pytest.raises(ParameterError, match="needs at least one network"):
        Mixture(())
    with pytest.raises(ParameterError, match="weights must have one entry per network"):
        Mixture((one,), np.ones(2))
    with pytest.raises(ParameterError, match="that sum to 1"):
        Mixture((one,), np.array([0.5]))
    with pytest.raises(ParameterError, match="chains must have one entry per network"):
        Mixture((one,), chains=(0, 1))
    with pytest.raises(DataError, match="Network 1 differs from network 0"):
        Mixture((one, bm.load_network("asia")))
    with pytest.raises(
        ParameterError, match="every network of this mixture has hidden"
    ):
        Mixture((hidden(0.4),), n_vars=2).arc_probabilities()


def test_the_most_probable_states_together_need_one_network():
    mixture = Mixture((network(0.3), network(0.4)))
    with pytest.raises(ParameterError, match="cannot tell the most probable states"):
        bm.impute(mixture, {"a": [None, "y"], "b": ["n", "y"]}, method="mpe")
    with pytest.raises(ParameterError, match="network must be a Network"):
        bm.most_probable(mixture, {"a": [None], "b": ["n"]})
