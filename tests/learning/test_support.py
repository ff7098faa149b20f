"""Support of learned networks: its tables, shrinkage, marks of cells, the warning."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples
from support.networks import random_case
from support.strategies import MISSING

import bayesmend as bm
from bayesmend.errors import SupportWarning
from bayesmend.learning.support import ObservedRows, supported_network
from bayesmend.network.support import is_supported
from bayesmend.score import Score

SEEDS = st.integers(0, 2**32)
SURE = Score(support=0.1)
METHODS = ("em", "em-hard", "local", "exact")


def noted(case, *, ess=1.0, support=0.1):
    observed = ObservedRows(case.data, Score(ess=ess, support=support))
    return supported_network(case.network, observed)


def some_completion(case, seed):
    rng = np.random.default_rng([seed, 7])
    return [
        [
            int(rng.integers(r)) if c is None else c
            for c, r in zip(row, case.card, strict=True)
        ]
        for row in case.rows
    ]


@given(SEEDS)
def test_support_is_what_whole_rows_show(seed):
    case = random_case(seed)
    network = noted(case)
    for child, parents in enumerate(network.dag.parents):
        shown = oracle.shown_cells(case.rows, case.mass, (*parents, child))
        card = [case.card[v] for v in (*parents, child)]
        for cell in itertools.product(*map(range, card)):
            *config, state = cell
            place = sum(c * int(np.prod(card[:k])) for k, c in enumerate(config))
            assert network.support[child][place, state] == (cell in shown)


@examples(200)
@given(SEEDS)
def test_unseen_configurations_take_what_fewer_parents_say(seed):
    case = random_case(seed)
    network = noted(case, ess=2.0)
    twin = oracle.shrink_all(*case.plain, case.rows, case.mass, 2.0)
    for found, expected in zip(network.cpts, twin, strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@given(SEEDS)
def test_a_cell_is_supported_when_all_its_families_have_an_example(seed):
    case = random_case(seed)
    network = noted(case)
    completed = some_completion(case, seed)
    found = is_supported(
        network.support,
        network.card,
        network.dag.parents,
        np.array(completed, np.uint8).reshape(len(completed), -1).T,
    )
    twin = oracle.supported_cells(network.dag.parents, case.rows, case.mass, completed)
    assert found.T.tolist() == twin


def survey(n_rows=600, seed=0):
    """Race is asked in both waves, and once more, finer, in the second one only."""
    rng = np.random.default_rng(seed)
    wave = rng.integers(2, size=n_rows)
    race = rng.choice(4, n_rows, p=[0.15, 0.6, 0.15, 0.1])
    finer = np.where(race == 3, rng.integers(3, 5, n_rows), race)
    edu = rng.integers(3, size=n_rows)
    codes = np.column_stack([wave, race, finer, edu]).astype(np.uint8)
    codes[wave == 0, 2] = MISSING
    return bm.IncompleteData.from_codes(
        codes,
        names=("wave", "race", "finer", "edu"),
        states=(("2009", "2011"), tuple("bwmo"), tuple("bwmax"), tuple("lmh")),
    )


# A structure that separates the waves, and learns nothing of the first.
SEPARATING = {
    "required": [("wave", "finer"), ("race", "finer")],
}


@pytest.mark.parametrize("method", METHODS)
def test_without_support_a_block_is_marked_and_carried_over(method):
    data = survey()
    with pytest.warns(SupportWarning, match=r"mended cells have no observed example"):
        result = bm.learn(
            data, method=method, score=SURE, constraints=SEPARATING, seed=1, restarts=1
        )
    rows = np.flatnonzero(data.codes[:, 2] == MISSING)
    assert result.unsupported == {"finer": len(rows)}
    assert not result.cells.supported.any()
    # The network answers as the other wave does, whatever fills the table.
    for label in "bwm":
        answer = bm.query(
            result.network, "finer", given={"wave": "2009", "race": label}
        )
        assert answer.distributions["finer"][label] > 0.9


@pytest.mark.parametrize("method", ["em", "em-hard"])
def test_cells_are_filled_from_the_shrunk_network(method):
    data = survey()
    with pytest.warns(SupportWarning):
        result = bm.learn(
            data, method=method, score=SURE, constraints=SEPARATING, seed=1, restarts=1
        )
    completed = result.completed.codes
    is_settled = completed[:, 1] < 3
    assert (completed[is_settled, 1] == completed[is_settled, 2]).all()


@pytest.mark.parametrize(
    "method", [*METHODS[:-1], pytest.param(METHODS[-1], marks=pytest.mark.slow)]
)
def test_a_support_of_zero_switches_all_of_it_off(method):
    result = bm.learn(
        survey(200),
        method=method,
        support=0,
        constraints=SEPARATING,
        seed=1,
        restarts=1,
    )
    assert result.network.support is None
    assert result.cells.supported is None
    assert result.unsupported == {}
    if method in ("local", "exact"):
        plain = bm.Network.fit(result.dag, result.completed, estimate="posterior")
        assert all(map(np.array_equal, plain.cpts, result.network.cpts))


def test_one_call_warns_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        bm.learn(
            survey(),
            method="exact",
            score=SURE,
            constraints=SEPARATING,
            seed=1,
            restarts=1,
            time_limit=5,
        )
    told = [w for w in caught if issubclass(w.category, SupportWarning)]
    assert len(told) == 1
    assert told[0].filename == __file__
    message = str(told[0].message)
    assert "finer (" in message
    assert "supported is False" in message


def test_complete_tables_change_nothing():
    data = bm.load_network("asia").sample(300, seed=1)
    result = bm.learn_em(data, score=SURE, seed=1)
    plain = bm.learn_structure(data, score=SURE, seed=1)
    assert result.score == pytest.approx(plain.score)
    assert all(map(np.array_equal, result.network.cpts, plain.network.cpts))
    for child, parents in enumerate(result.dag.parents):
        names = [data.names[p] for p in parents]
        counts = bm.score.family_counts(data, data.names[child], names)
        assert np.array_equal(result.network.support[child], counts > 0)


def test_cells_missing_at_random_raise_no_warning():
    asia = bm.load_network("asia").sample(500, seed=1)
    result = bm.learn_em(bm.hide_mcar(asia, 0.1, seed=1).data, score=SURE, seed=1)
    assert result.cells.supported.mean() > 0.95
    assert not result.mended.alarms


def test_new_rows_know_what_has_no_example():
    data = survey()
    with pytest.warns(SupportWarning):
        result = bm.learn_em(
            data, score=SURE, constraints=SEPARATING, seed=1, restarts=0
        )
    rows = {
        "wave": ["2009", "2011", "2011"],
        "race": ["w", "w", "b"],
        "finer": [None, None, None],
        "edu": ["l", "l", "l"],
    }
    cells = bm.impute(result.network, rows).cells
    assert cells.supported.tolist() == [False, True, True]
    assert [cell.supported for cell in cells] == [False, True, True]
    assert repr(cells) == "CompletedCells(3 cells, 1 unsupported)"
    assert cells.to_dict()["supported"] == [False, True, True]
    assert cells.to_csv().splitlines()[0].endswith(",supported")
    assert len(cells[~cells.supported]) == 1
    several = bm.impute(result.network, rows, method="draw", n_draws=3, seed=1).cells
    assert len(several.supported) == 9
    known = bm.impute(bm.load_network("asia"), {"xray": ["yes"]}, allow_absent=True)
    assert known.cells.supported is None
    assert known.cells.n_unsupported == 0
