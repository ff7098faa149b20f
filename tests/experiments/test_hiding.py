"""Ways to hide cells by name: how many, of which variables and states."""

import numpy as np
import pytest

from bayesmend.data.table import IncompleteData
from bayesmend.datasets import load_network
from bayesmend.errors import ParameterError
from experiments.hiding import MECHANISMS, hide, hide_one_value


def asia_table(n_rows=2000, seed=1):
    return load_network("asia").sample(n_rows, seed=seed)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_same_generator_hides_the_same_cells(mechanism):
    table = asia_table(200)
    first, second = (
        hide(table, mechanism, 0.2, generator=np.random.default_rng(3))
        for _ in range(2)
    )
    assert list(first.cells()) == list(second.cells())
    assert first.n_hidden > 0


@pytest.mark.parametrize("mechanism", ["mcar", "mnar"])
def test_cells_of_every_variable_are_hidden_at_the_rate(mechanism):
    hidden = hide(asia_table(), mechanism, 0.3, generator=np.random.default_rng(1))
    shares = np.array(list(hidden.counts.values())) / 2000
    assert shares == pytest.approx(0.3, abs=0.06)


def test_under_mar_a_fifth_of_the_variables_stays_observed():
    hidden = hide(asia_table(), "mar", 0.3, generator=np.random.default_rng(1))
    shares = np.array(list(hidden.counts.values())) / 2000
    assert np.count_nonzero(shares == 0) == 1  # of eight
    assert shares[shares > 0] == pytest.approx(0.3, abs=0.06)


def test_one_value_hides_a_share_of_one_state_and_leaves_the_rest():
    table = asia_table(500)
    hidden = hide_one_value(table, 0.4, generator=np.random.default_rng(2))
    for variable in range(table.n_vars):
        codes = set(hidden.true_codes[hidden.variables == variable].tolist())
        assert len(codes) <= 1
        for code in codes:
            column = table.codes[:, variable]
            left = hidden.data.codes[:, variable]
            there = np.count_nonzero(column == code)
            assert np.count_nonzero(left == 255) == round(0.4 * there)


def test_a_variable_without_a_value_has_nothing_to_hide():
    codes = np.array([[255, 0], [255, 1]], dtype=np.uint8)
    table = IncompleteData.from_codes(codes, names=["a", "b"], states=["xy", "uv"])
    hidden = hide_one_value(table, 1.0, generator=np.random.default_rng(0))
    assert hidden.counts == {"a": 0, "b": 1}


def test_an_unknown_mechanism_is_refused():
    with pytest.raises(ParameterError, match="mechanism must be one of mcar, mar, mna"):
        hide(asia_table(5), "mcr", 0.1, generator=np.random.default_rng(0))
