"""Distinct rows, their multiplicities and missing cells."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle, strategies

from bayesmend import _core
from bayesmend.data.table import IncompleteData


def data_of(codes, card, weights=None):
    return IncompleteData.from_codes(
        codes,
        names=strategies.names_of(card),
        states=strategies.labels_of(card),
        weights=weights,
    )


@given(strategies.coded_tables(), st.data())
def test_patterns_match_the_twin(table, data):
    codes, card = table
    weight = st.floats(0, 100)
    weights = data.draw(st.lists(weight, min_size=len(codes), max_size=len(codes)))
    patterns = data_of(codes, card, weights).patterns()
    rows, counts, sums, inverse = oracle.distinct_rows(codes.tolist(), weights)
    assert patterns.codes.tolist() == rows
    assert patterns.counts.tolist() == counts
    assert patterns.weights.tolist() == pytest.approx(sums)
    assert patterns.inverse.tolist() == inverse
    assert patterns.n_patterns == len(rows)


@given(strategies.coded_tables())
def test_without_weights_patterns_weigh_their_counts(table):
    patterns = data_of(*table).patterns()
    assert patterns.weights.tolist() == patterns.counts.tolist()


@given(strategies.coded_tables())
def test_patterns_give_the_rows_back(table):
    codes, card = table
    patterns = data_of(codes, card).patterns()
    assert np.array_equal(patterns.codes[patterns.inverse], codes)


@given(strategies.coded_tables())
def test_missing_cells_are_told(table):
    patterns = data_of(*table).patterns()
    for k, row in enumerate(patterns.codes.tolist()):
        missing = tuple(j for j, code in enumerate(row) if code == 255)
        assert patterns.missing(k) == missing
        assert patterns.n_missing[k] == len(missing)
        assert (k in patterns.incomplete) == bool(missing)
        assert (k in patterns.complete) == (not missing)


@pytest.mark.parametrize("n_vars", [1, 7, 8, 9, 40])
@pytest.mark.parametrize("n_states", [2, 250])
def test_many_rows_match_numpy_for_any_thread_count(n_vars, n_states):
    rng = np.random.default_rng(n_vars)
    cells = rng.integers(0, n_states, (n_vars, 6000), dtype=np.uint8)
    _, at, inverse, count = np.unique(
        cells.T, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(at)
    for n_threads in (1, 4, 7):
        found = _core.distinct_rows(cells, n_threads)
        assert np.array_equal(found.first, at[order])
        assert np.array_equal(found.count, count[order])
        assert np.array_equal(order[found.inverse], inverse.ravel())


def test_arrays_of_patterns_are_read_only():
    patterns = data_of(np.zeros((2, 1), np.uint8), [1]).patterns()
    for array in (patterns.codes, patterns.counts, patterns.weights, patterns.inverse):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(patterns) == "Patterns(1 distinct rows of 2: 1 complete, 0 incomplete)"
