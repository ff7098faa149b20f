"""The equivalent sample size that predicts best."""

import math

import numpy as np
import pytest
from support import oracle
from support.strategies import linked_rows, table_of

import bayesmend as bm
from bayesmend.errors import ParameterError
from bayesmend.graph import Dag
from bayesmend.network import Network
from bayesmend.structure.ess import CHOICES, choose_rule

CARD = [2, 3, 2, 2]


def independent(rows, rule):
    """The network without arcs, of which everything is known in closed form."""
    empty = Dag(rows.names, tuple(() for _ in rows.names))
    return Network.fit(empty, rows, estimate="posterior", ess=rule.ess)


def mean_log_evidence(rows, card, ess, n_folds=4):
    """The mean over all rows of the log-probability that the other folds give them."""
    fold = np.random.default_rng(0).permutation(len(rows)) % n_folds
    total = 0.0
    for number in range(n_folds):
        others = [row for row, f in zip(rows, fold, strict=True) if f != number]
        for row, f in zip(rows, fold, strict=True):
            if f != number:
                continue
            for v, r in enumerate(card):
                counts = oracle.family_counts(others, card, v, [])[0]
                total += math.log((counts[row[v]] + ess / r) / (len(others) + ess))
    return total / len(rows)


def test_the_one_whose_networks_predict_left_out_rows_best_is_chosen():
    rows = linked_rows(CARD, 60, seed=4).tolist()
    found = choose_rule(table_of(rows, CARD), independent, score="bdeu", ess="auto")
    told = found.detail["ess"]["mean_log_evidence"]
    expected = {f"{ess:g}": mean_log_evidence(rows, CARD, ess) for ess in CHOICES}
    assert told == pytest.approx(expected, abs=1e-6)
    assert found.rule.ess == float(max(expected, key=expected.get))
    assert found.detail["ess"]["chosen"] == found.rule.ess


def test_a_number_is_taken_as_it_is():
    data = table_of([(0, 1)], [2, 2])
    found = choose_rule(data, independent, score="bds", ess=3.0, prior="uniform")
    assert found == (bm.Score("bds", ess=3.0, prior="uniform"), {})


def test_with_hardly_any_rows_it_stays_as_usual():
    data = table_of([(0, 1)] * 7, [2, 2])
    found = choose_rule(data, independent, score="bdeu", ess="auto")
    assert found.rule == bm.Score()
    assert found.detail["ess"] == {"chosen": 1.0, "mean_log_evidence": {}}


@pytest.mark.parametrize("learn", [bm.learn_structure, bm.learn, bm.learn_em])
def test_learners_use_what_they_chose_and_tell(learn):
    data = table_of(linked_rows(CARD, 80, seed=2), CARD)
    found = learn(data, ess="auto", seed=1)
    chosen = found.detail["ess"]["chosen"]
    assert chosen in CHOICES
    again = learn(data, ess=chosen, seed=1)
    assert (found.score, found.dag) == (again.score, again.dag)


def test_missing_cells_are_no_obstacle():
    data = table_of(linked_rows(CARD, 80, seed=2), CARD)
    holed = bm.hide_mcar(data, 0.2, seed=1).data
    found = bm.learn(holed, method="em", ess="auto", seed=1)
    again = bm.learn(holed, method="em", ess=found.detail["ess"]["chosen"], seed=1)
    assert found.score == again.score


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"ess": "best"},
            r"ess must be a number between 1e-06 and 1e\+12, or auto. Got 'best'",
        ),
        ({"ess": "auto", "score": bm.Score()}, "ess='auto' goes with the name of a"),
    ],
)
def test_other_words_are_refused(options, message):
    data = table_of([(0, 1)], [2, 2])
    with pytest.raises(ParameterError, match=message):
        bm.learn(data, **options)
