"""IncompleteData: what it holds, how it is made from codes, and when two are equal."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from support import strategies
from support.tables import fails

from bayesmend import IncompleteData
from bayesmend.errors import DataError, ParameterError


def test_codes_are_read_only_and_in_fortran_order():
    data = IncompleteData.from_table({"a": ["x", "y"], "b": ["u", "v"]})
    assert data.codes.dtype == np.uint8
    assert data.codes.flags.f_contiguous
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0, 0] = 1


@given(strategies.coded_tables())
def test_sizes_are_those_of_the_codes(table):
    codes, card = table
    names, states = strategies.names_of(card), strategies.labels_of(card)
    data = IncompleteData.from_codes(codes, names=names, states=states)
    assert (data.n_rows, data.n_vars) == data.shape == codes.shape
    assert len(data) == data.n_rows
    assert data.card.tolist() == card
    assert data.card.dtype == np.int32
    assert data.n_missing == sum(row.count(255) for row in codes.tolist())
    assert data.is_complete == (data.n_missing == 0)
    assert np.array_equal(data.missing_mask, codes == 255)
    assert [data.index(name) for name in names] == list(range(len(names)))


@given(strategies.coded_tables(min_rows=1))
def test_a_table_reads_back_what_codes_give(table):
    codes, card = table
    names, states = strategies.names_of(card), strategies.labels_of(card)
    data = IncompleteData.from_codes(codes, names=names, states=states)
    declared = dict(zip(names, states, strict=True))
    assert IncompleteData.from_table(data.to_table(), states=declared) == data


def test_an_incomplete_data_is_returned_as_it_is():
    data = IncompleteData.from_table({"a": ["x", "y"]})
    assert IncompleteData.from_table(data) is data
    weighted = IncompleteData.from_table(data, weights=[2, 1])
    assert weighted.weights.tolist() == [2, 1]
    for option in (
        {"states": {"a": ["x"]}},
        {"names": ["b"]},
        {"discretize": {}},
        {"missing": ["x"]},
        {"max_numeric_states": 7},
    ):
        message = fails(data, ParameterError, **option)
        assert f"{next(iter(option))} cannot change an IncompleteData" in message


def test_equality_is_by_value_and_pickling_keeps_it():
    weights = [1, 2, 3]
    data = IncompleteData.from_table({"a": ["x", None, "y"]}, weights=weights)
    same = IncompleteData.from_table(
        {"a": ["x", "?", "y"]}, weights=weights, missing=["?"]
    )
    assert data == same
    assert pickle.loads(pickle.dumps(data)) == data
    assert data != IncompleteData.from_table({"a": ["x", None, "y"]})
    assert data != IncompleteData.from_table({"a": ["x", "x", "y"]}, weights=weights)
    assert data != IncompleteData.from_table({"b": ["x", None, "y"]}, weights=weights)
    assert data != "data"


def test_an_own_array_is_not_changed_by_the_caller():
    codes = np.zeros((2, 1), dtype=np.uint8)
    data = IncompleteData.from_codes(codes, names=["a"], states=[("x", "y")])
    codes[0, 0] = 1
    assert data.codes[0, 0] == 0


@pytest.mark.parametrize(
    ("codes", "names", "states", "message"),
    [
        ([[2]], ["a"], [("x", "y")], "'a' has 2 states, but its column contains state"),
        ([[0]], ["a", "b"], [("x",)], "states must hold the labels of 2 variables"),
        ([[0]], ["a", "b"], [("x",)] * 2, "must have shape (n_rows, 2). Got (1, 1)"),
        ([0], ["a"], [("x",)], "codes must have shape (n_rows, 1). Got (1,) instead"),
        ([[0, 0]], ["a", "a"], [("x",)] * 2, "columns 1 and 2 are both named 'a'"),
        ([[0]], [""], [("x",)], "column 1 has no name"),
        ([[0]], ["a"], [()], "variable 'a' must have 1 to 254 states. Got 0 instead"),
        ([[0]], ["a"], [range(255)], "variable 'a' must have 1 to 254 states. Got 255"),
        ([[0]], ["a"], [("x", "x")], "the states of variable 'a' must differ"),
    ],
)
def test_codes_that_do_not_fit_are_refused(codes, names, states, message):
    with pytest.raises(DataError) as caught:
        IncompleteData.from_codes(np.array(codes, np.uint8), names=names, states=states)
    assert message in str(caught.value)


def test_codes_must_be_bytes_of_the_same_shape():
    for codes, kind in ((np.zeros((1, 1)), "float64"), ([[0]], "list")):
        with pytest.raises(DataError, match=f"array of uint8. Got {kind} instead"):
            IncompleteData.from_codes(codes, names=["a"], states=[("x",)])
    data = IncompleteData.from_table({"a": ["x", "y"]})
    with pytest.raises(ParameterError, match=r"must have shape \(2, 1\). Got \(1, 1\)"):
        data.with_codes(np.zeros((1, 1), np.uint8))


def test_an_unknown_variable_is_answered_with_the_known_ones():
    data = IncompleteData.from_table({"smoke": ["yes", "no"], "cough": [1, 2]})
    with pytest.raises(DataError, match=r"'cogh'\. Available: smoke, cough\."):
        data.index("cogh")
