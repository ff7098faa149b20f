"""The regret of multinomials against exact sums and against its own laws."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.examples import examples

from bayesmend import IncompleteData, _core
from bayesmend.score import family_score

TABULATED = 4096  # cells up to which the core adds up exactly


def regret(n_rows, n_cells):
    return _core.regret(float(n_rows), np.atleast_1d(np.asarray(n_cells, float)))


def exact_regrets(n_rows, n_cells):
    """The recurrence in the number of cells, in 30 digits, from the sum for two."""
    with mpmath.workdps(30):
        n, two, term = mpmath.mpf(n_rows), mpmath.mpf(1), mpmath.mpf(1)
        for k in range(n_rows):
            term *= 1 - k / n
            two += term
            if term < two * mpmath.mpf(10) ** -29:
                break
        before, now, values = mpmath.mpf(1), two, {1: 0.0, 2: float(mpmath.log(two))}
        for k in range(1, max(n_cells) - 1):
            before, now = now, now + n / k * before
            if k + 2 in n_cells:
                values[k + 2] = float(mpmath.log(now))
        return [values[k] for k in n_cells]


@examples(60)
@given(st.integers(0, 60), st.integers(1, 40))
def test_small_ones_are_sums_over_all_tables(n_rows, n_cells):
    expected = oracle.regret(n_cells, n_rows)
    assert regret(n_rows, n_cells)[0] == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_fractions_of_rows_lie_on_the_line():
    for n_rows, n_cells in [(0.25, 7), (3.5, 2), (10.9, 6000.0)]:
        below, above = (
            regret(math.floor(n_rows), n_cells),
            regret(math.ceil(n_rows), n_cells),
        )
        share = n_rows % 1
        expected = (1 - share) * below + share * above
        assert regret(n_rows, n_cells) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("n_rows", [1, 2, 3, 10, 100, 1000, 99_999, 10**5, 10**6])
def test_it_is_right_on_both_sides_of_the_table(n_rows):
    n_cells = [1, 2, 3, 10, 500, TABULATED, TABULATED + 1, 6000]
    found, expected = regret(n_rows, n_cells), exact_regrets(n_rows, n_cells)
    assert found == pytest.approx(expected, rel=4e-12, abs=1e-15)
    assert np.abs(found - expected).max() < 5e-9


@pytest.mark.parametrize("n_rows", [1, 2, 17.5, 1000, 10**6, 10**12])
def test_it_rises_and_is_convex_in_the_log_of_the_cells(n_rows):
    small = np.arange(1, 6000)
    n_cells = np.concatenate([small, np.round(np.geomspace(6000, 1e15, 500))])
    assert (np.diff(regret(n_rows, n_cells)) > 0).all()
    for card in (2, 3, 7):
        added = regret(n_rows, card * n_cells) - regret(n_rows, n_cells)
        assert (np.diff(added) > -1e-9 - 1e-12 * added[1:]).all()


def test_without_rows_nothing_is_paid_and_with_one_the_log_of_the_cells():
    assert regret(0, [1, 2, 5000, 1e300]).tolist() == [0, 0, 0, 0]
    assert regret(1, [2, 5000, 1e300]) == pytest.approx(np.log([2, 5000, 1e300]))


@pytest.mark.parametrize("n_parents", [3, 120, 200])
def test_where_cells_are_countless_each_row_pays_for_its_state(n_parents):
    card = [3] + [254] * n_parents  # up to 254^200 cells, more than a float can say
    codes = np.zeros((4, len(card)), np.uint8)
    names = [f"v{i}" for i in range(len(card))]
    data = IncompleteData.from_codes(
        codes, names=names, states=[tuple(range(r)) for r in card]
    )
    found = family_score(data, "v0", names[1:], score="qnml")
    assert found == pytest.approx(-4 * math.log(3), abs=1e-5)
