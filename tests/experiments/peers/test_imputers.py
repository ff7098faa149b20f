"""Peers keep what is observed, repeat themselves for a seed, and see what is there."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples

from bayesmend.data.table import IncompleteData
from bayesmend.datasets import load_network
from bayesmend.errors import DataError, MissingDependencyError, ParameterError
from bayesmend.hiding.mechanisms import hide_mcar, hide_value_of
from experiments.peers.classifiers import (
    KERNELS,
    predict_class,
    predict_class_semi_supervised,
)
from experiments.peers.imputers import (
    IMPUTERS,
    impute_forest,
    impute_knn,
    impute_logistic,
    impute_miceforest,
    impute_mode,
    one_hot,
)

MISSING = 255
FAST = {
    "forest": lambda data, seed: impute_forest(data, n_trees=5, rounds=2, seed=seed),
    "logistic": lambda data, seed: impute_logistic(data, rounds=2, seed=seed),
    "miceforest": lambda data, seed: impute_miceforest(data, rounds=1, seed=seed),
    "knn": lambda data, seed: impute_knn(data, seed=seed),
    "mode": lambda data, seed: impute_mode(data, seed=seed),
}
every_imputer = pytest.mark.parametrize("impute", FAST.values(), ids=FAST)


def table_of(codes, card=None):
    codes = np.array(codes, dtype=np.uint8)
    card = [4] * codes.shape[1] if card is None else card
    return IncompleteData.from_codes(
        codes,
        names=[f"v{i}" for i in range(codes.shape[1])],
        states=[[f"s{k}" for k in range(r)] for r in card],
    )


def test_every_peer_is_tested():
    assert set(FAST) == set(IMPUTERS)


@every_imputer
def test_observed_cells_stay_and_no_cell_stays_missing(impute):
    holed = hide_mcar(load_network("asia").sample(120, seed=1), 0.2, seed=1).data
    completed = impute(holed, 1)
    observed = ~holed.missing_mask
    assert completed.is_complete
    assert (completed.codes[observed] == holed.codes[observed]).all()
    assert (completed.names, completed.states) == (holed.names, holed.states)


@every_imputer
@pytest.mark.slow
def test_the_same_seed_gives_the_same_cells(impute):
    holed = hide_mcar(load_network("asia").sample(60, seed=2), 0.2, seed=2).data
    first, *others = [impute(holed, 3) for _ in range(3)]
    assert all(other == first for other in others)


@every_imputer
def test_constant_unobserved_and_unused_states_are_no_obstacle(impute):
    generator = np.random.default_rng(1)
    codes = np.empty((60, 5), dtype=np.uint8)
    codes[:, 0] = generator.choice([0, 2], 60)
    codes[:, 1] = generator.choice([1, 3], 60)
    codes[:, 2] = 2
    codes[:, 3] = MISSING
    codes[:, 4] = generator.integers(0, 3, 60)
    codes[::7, 0] = codes[::5, 1] = codes[::9, 2] = codes[::11, 4] = MISSING
    completed = impute(table_of(codes), 1).codes
    assert set(completed[:, 0]) == {0, 2}
    assert set(completed[:, 1]) == {1, 3}
    assert set(completed[:, 2]) == {2}
    assert set(completed[:, 3]) == {0}


@every_imputer
def test_a_very_rare_state_is_no_obstacle(impute):
    codes = np.random.default_rng(1).integers(0, 2, (600, 3)).astype(np.uint8)
    codes[5, 0], codes[::50, 1] = 2, MISSING
    completed = impute(table_of(codes, [3, 2, 2]), 1).codes
    assert (completed[:, 0] == codes[:, 0]).all()
    assert set(completed[:, 1]) == {0, 1}


@every_imputer
def test_a_complete_table_comes_back_as_it_is(impute):
    truth = load_network("asia").sample(30, seed=1)
    assert impute(truth, 1) == truth


@pytest.mark.parametrize("name", ["forest", "logistic", "miceforest", "knn"])
def test_what_another_variable_tells_is_used(name):
    # The second variable repeats the first, in other codes; the third says nothing.
    generator = np.random.default_rng(5)
    first = generator.integers(0, 3, 300)
    codes = np.column_stack([first, (first + 1) % 3, generator.integers(0, 2, 300)])
    truth = table_of(codes, [3, 3, 2])
    hidden = hide_mcar(truth, 0.1, variables=["v0"], seed=1)
    assert hidden.accuracy(FAST[name](hidden.data, 1)) > 0.95
    assert hidden.accuracy(impute_mode(hidden.data)) < 0.6


@examples(40)
@given(st.lists(st.lists(st.sampled_from([0, 1, 2, MISSING]), min_size=2, max_size=2)))
def test_mode_fills_in_what_counting_finds(rows):
    table = table_of(np.array(rows).reshape(-1, 2), [3, 3])
    completed = impute_mode(table).codes.tolist()
    for variable in range(2):
        observed = [row[variable] for row in rows if row[variable] != MISSING]
        mode = max(range(3), key=lambda state: (observed.count(state), -state))
        expected = [mode if row[variable] == MISSING else row[variable] for row in rows]
        assert [row[variable] for row in completed] == expected


def nearest_vote(rows, row, variable, n_neighbors):
    """Vote of the rows with fewest differences per shared variable; None when tied."""

    def distance(other):
        shared = [i for i in range(len(row)) if MISSING not in (row[i], other[i])]
        if not shared:
            return float("inf")
        return sum(row[i] != other[i] for i in shared) / len(shared)

    donors = sorted(
        (distance(other), other[variable])
        for other in rows
        if other[variable] != MISSING
    )
    voters = donors[:n_neighbors]
    rest = donors[n_neighbors:]
    if rest and rest[0][0] == voters[-1][0]:
        return None
    votes = [state for _, state in voters]
    return min(set(votes), key=lambda state: (-votes.count(state), state))


def test_knn_is_a_vote_of_the_rows_most_alike():
    generator = np.random.default_rng(7)
    checked = 0
    for _ in range(30):
        codes = generator.integers(0, 2, (9, 6)).astype(np.uint8)
        codes[0, 0] = MISSING
        completed = impute_knn(table_of(codes, [2] * 6), n_neighbors=3)
        expected = nearest_vote(codes.tolist(), codes[0].tolist(), 0, 3)
        if expected is not None and len(set(codes[1:, 0])) == 2:
            assert completed.codes[0, 0] == expected
            checked += 1
    assert checked > 3


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_support_vector_machine_fills_one_variable_only(kernel):
    generator = np.random.default_rng(3)
    codes = generator.integers(0, 2, (200, 4)).astype(np.uint8)
    codes[:, 3] = codes[:, 0]
    hidden = hide_value_of(table_of(codes, [2] * 4), "v3", 20, state=1, seed=1)
    holed = hide_mcar(hidden.data, 0.05, variables=["v1"], seed=1).data
    completed = predict_class(holed, "v3", kernel=kernel)
    assert hidden.accuracy(completed) > 0.9
    assert (completed.codes[:, :3] == holed.codes[:, :3]).all()


def test_a_laplacian_svm_predicts_from_few_labels():
    first = np.repeat([0, 1], 50)
    codes = np.column_stack([first, first, np.tile([0, 1], 50), first])
    codes[np.arange(100) % 10 > 0, 3] = MISSING
    found = predict_class_semi_supervised(table_of(codes, [2] * 4), "v3", gamma=0.5)
    assert (found.codes[:, 3] == first).all()


def test_a_single_class_is_predicted_everywhere():
    table = table_of([[0, 1], [1, 1], [0, MISSING]], [2, 2])
    assert predict_class(table, "v1").codes[:, 1].tolist() == [1, 1, 1]


def test_one_hot_of_no_variable_has_no_column():
    assert one_hot(np.empty((3, 0), np.uint8), np.array([], int)).shape == (3, 0)


def test_misuse_is_refused():
    table = IncompleteData.from_table({"a": ["x", None, "y"]}, weights=[1.0, 2.0, 1.0])
    with pytest.raises(DataError, match="the peers take no row weights"):
        impute_mode(table)
    with pytest.raises(ParameterError, match="kernel must be one of linear, poly"):
        predict_class({"a": ["x", "y"]}, "a", kernel="cosine")
    with pytest.raises(DataError, match="no variable named 'c'"):
        predict_class({"a": ["x", "y"]}, "c")


def test_a_missing_package_is_one_clear_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "miceforest", None)
    message = r"needs miceforest\. .*pip install --group experiments"
    with pytest.raises(MissingDependencyError, match=message):
        impute_miceforest({"a": ["x", None]})
