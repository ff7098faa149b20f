"""Completion by example: missing cells from the rows that show their variable."""

import numpy as np
import pytest
from support.strategies import holed_table, random_holes

from bayesmend.learning.examples import complete_by_examples
from experiments.waves import VARIANTS, draw_survey


def completed(rows, card, max_parents=3):
    return complete_by_examples(holed_table(rows, card), max_parents).codes.tolist()


def test_a_cell_follows_the_rows_that_are_alike():
    rows = [[0, 0]] * 6 + [[1, 1]] * 4 + [[1, None], [0, None]]
    assert completed(rows, [2, 2])[-2:] == [[1, 1], [0, 0]]


def test_without_parents_it_is_the_mode():
    rows = [[0, 0]] * 6 + [[1, 1]] * 4 + [[1, None]]
    assert completed(rows, [2, 2], max_parents=0)[-1] == [1, 0]


def test_where_the_predictor_is_missing_too_it_is_filled_first():
    rows = [[0, 0, 0]] * 6 + [[1, 1, 1]] * 9 + [[None, 0, None]] * 2
    assert completed(rows, [2, 2, 2])[-1] == [0, 0, 0]


def test_a_configuration_without_example_leaves_it_to_fewer_predictors():
    rows = [[0, 0]] * 6 + [[1, 1]] * 8 + [[2, None]]
    assert completed(rows, [3, 2])[-1] == [2, 1]


def test_a_variable_never_seen_takes_its_first_state():
    assert completed([[0, None], [1, None]], [2, 3]) == [[0, 0], [1, 0]]


def test_rows_without_weight_are_no_examples():
    rows = [[0, 0]] * 3 + [[1, 1]] * 3 + [[1, 0]] * 20 + [[1, None]]
    weights = np.array([2.0] * 6 + [0.0] * 20 + [1.0])
    data = holed_table(rows, [2, 2], weights=weights)
    assert complete_by_examples(data, 1).codes[-1].tolist() == [1, 1]


@pytest.mark.parametrize("seed", range(100))
def test_observed_cells_stay_and_missing_ones_get_a_state(seed):
    rows, card = random_holes(seed)
    data = holed_table(rows, card)
    found = complete_by_examples(data, 3)
    seen = ~data.missing_mask
    assert found.is_complete
    assert (found.codes[seen] == data.codes[seen]).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_block_is_filled_as_other_rows_show(variant):
    survey = draw_survey(variant, seed=1)
    found = complete_by_examples(survey.data, 3)
    assert survey.consistency(found) >= 0.99


def test_a_table_without_rows_or_missing_cells_stays_as_it_is():
    for rows in ([], [[0, 1], [1, 0]]):
        data = holed_table(rows, [2, 2])
        assert complete_by_examples(data, 2) == data
