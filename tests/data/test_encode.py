"""States are chosen or declared, cells coded, and what cannot be is explained."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle
from support.tables import fails, make_table

from bayesmend import IncompleteData
from bayesmend.data import MISSING
from bayesmend.errors import ParameterError, ReadingWarning

DAY = datetime.date(2020, 1, 1)
MODEL = {"columns": ["a"]}  # whatever it looks like
MARKED = {"missing": ["?"]}
words = st.sampled_from(["yes", "no", "NA", " ? ", "7", "10", "é", "", " yes"])


@make_table
@given(cells=st.lists(st.tuples(words | st.none(), words), min_size=1, max_size=8))
def test_text_is_coded_as_the_twin_codes_it(make, cells):
    cells = [("yes", "no"), *cells]
    columns = [list(column) for column in zip(*cells, strict=True)]
    table = make({"a": columns[0], "b": columns[1]})
    markers = ["", "NA", "?"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)  # ' yes' is nearly 'yes'
        data = IncompleteData.from_table(table, missing=markers, columns=["a", "b"])
    for j, column in enumerate(columns):
        states, codes = oracle.encode_column(
            column, lambda v: v is None or v.strip() in ("", "NA", "?")
        )
        assert list(data.states[j]) == states
        expected = [MISSING if code is None else code for code in codes]
        assert data.codes[:, j].tolist() == expected


def test_numbers_are_ordered_by_value_and_whole_ones_are_integers():
    data = IncompleteData.from_table({"a": [10, 9.5, None, 2], "b": [2.0, 1.0, 3.0, 1]})
    assert data.states == ((2, 9.5, 10), (1, 2, 3))
    assert [type(label) for label in data.states[1]] == [int, int, int]


def test_booleans_that_occur_are_the_states():
    table = {"a": [True, False], "b": [True, None]}
    data = IncompleteData.from_table(table, columns=["a", "b"])
    assert data.states == ((False, True), (True,))


def test_markers_are_settable_and_apply_to_numbers_too():
    table = {"a": ["x", "-", "NA"], "b": [0, 1, 2]}
    data = IncompleteData.from_table(table, missing=["-", "0"])
    assert data.states == (("NA", "x"), (1, 2))
    assert IncompleteData.from_table({"a": ["x", "-", "y"]}, missing="-").n_missing == 1
    assert IncompleteData.from_table({"a": ["x", "?"]}, missing=()).n_missing == 0


@make_table
def test_in_memory_only_nulls_are_missing_unless_markers_are_named(make):
    table = make({"a": ["None", "some", None], "b": ["x", "y", "y"]})
    data = IncompleteData.from_table(table)
    assert data.states[0] == ("None", "some")
    assert data.n_missing == 1
    assert IncompleteData.from_table(table, missing=["None"], columns=["a"]).states == (
        ("some",),
    )


def test_markers_among_numbers_leave_numbers():
    for table in ({"a": [1, "?", 2]}, pd.DataFrame({"a": [1, "?", 2]})):
        data = IncompleteData.from_table(table, missing=["?"])
        assert data.states == ((1, 2),)
        assert data.codes.ravel().tolist() == [0, 255, 1]


@make_table
def test_declared_states_keep_their_order_and_may_be_unseen(make):
    table = make({"a": ["x", "y"], "b": [1, 0]})
    states = {"a": ["y", "never", "x"], "b": [1, 0, 7]}
    data = IncompleteData.from_table(table, states=states)
    assert data.states == (("y", "never", "x"), (1, 0, 7))
    assert data.codes.tolist() == [[2, 0], [0, 1]]


def test_declared_states_of_text_compare_as_text():
    data = IncompleteData.from_table({"a": ["1", "0"]}, states={"a": [1, 0]})
    assert data.states == (("1", "0"),)


def test_declared_states_save_an_empty_or_missing_column():
    states = {"a": ["x", "y"]}
    assert IncompleteData.from_table({"a": [None]}, states=states).n_missing == 1
    assert IncompleteData.from_table({"a": []}, states=states).n_rows == 0


def test_names_may_be_given():
    assert IncompleteData.from_table(np.eye(2, dtype=int)).names == ("x0", "x1")
    data = IncompleteData.from_table(np.eye(2, dtype=int), names=["a", "b"])
    assert data.names == ("a", "b")
    assert IncompleteData.from_table(pd.DataFrame({5: ["x", "y"]})).names == ("5",)


@make_table
def test_weights_may_be_an_array_or_a_column(make):
    table = make({"w": [1, 2], "a": ["x", "y"]})
    data = IncompleteData.from_table(table, weights="w")
    assert data.names == ("a",)
    assert data.weights.tolist() == [1, 2]
    assert repr(data) == "IncompleteData(2 rows, 1 variable, 0 missing cells, weighted)"
    data = IncompleteData.from_table(table, weights=[0, 0.5])
    assert data.weights.tolist() == [0, 0.5]
    assert data.n_vars == 2


def test_254_states_are_possible_and_255_are_not():
    labels = [f"s{k:03}" for k in range(255)]
    data = IncompleteData.from_table({"a": labels[:254]}, columns=["a"])
    assert data.codes.ravel().tolist() == list(range(254))
    message = fails({"a": labels}, columns=["a"])
    assert "'a' has 255 states, and a variable has at most 254" in message


@make_table
def test_values_outside_the_declared_states_are_located(make):
    message = fails(make({"a": ["x", "y", "z"]}), states={"a": ["x", "y"]})
    assert message == (
        "variable 'a' has the value 'z' in row 2, which is not among its declared"
        " states: 'x', 'y'."
    )


def test_categories_that_no_row_uses_need_not_be_declared():
    frame = pd.DataFrame({"a": pd.Categorical(["x"], ["x", "unused"])})
    data = IncompleteData.from_table(frame, states={"a": ["x"]})
    assert data.states == (("x",),)


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"a": [None]}, MODEL, "variable 'a' is missing in every row. Drop it, or"),
        ({"a": []}, {}, "the table has no rows to learn from. To read it"),
        ({}, {}, "the table has no columns"),
        (
            {"a": [1, "x"]},
            MODEL,
            "mixes numbers (1 in row 0) and text ('x' in row 1)",
        ),
        ({"a": [1, True]}, MODEL, "'a' mixes numbers (1 in row 0) and booleans"),
        ({"a": [float("inf")]}, MODEL, "variable 'a' has the value inf in row 0. Repl"),
        ({"a": [DAY]}, MODEL, "variable 'a' holds dates or times, not states. Cut it"),
        (pd.DataFrame({"a": pd.to_datetime(["2020"])}), MODEL, "holds dates or times"),
        (pl.DataFrame({"a": [DAY]}), MODEL, "holds dates or times"),
        (pl.DataFrame({"a": [[1]]}), MODEL, "'a' holds values of type list, not sta"),
        (pa.table({"a": [[1]]}), MODEL, "'a' holds values of type list, not states"),
        ({"a": [[1], [2]]}, MODEL, "'a' holds values of type list, not states. Conv"),
        ({"a": [b"x"]}, MODEL, "'a' holds values of type bytes, not states"),
        ({"a": [1], "b": [1, 2]}, {}, "as many values as 'a' (1). Got 2 for 'b'"),
        (np.zeros(3), {}, "an array must have two dimensions, rows and variables. Got"),
        (np.zeros((1, 1), complex), {}, "type complex128 cannot hold states"),
        (5, {}, "a table must be a path, a pandas, polars or pyarrow frame"),
        (pl.LazyFrame({"a": [1]}), {}, "LazyFrame has no rows yet. Call its collect()"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "are both named 'a'. Rename"),
        (
            {"a": ["x"]},
            {**MODEL, "weights": [-1]},
            ">= 0. Got -1.0 in row 0",
        ),
        ({"a": ["x"]}, {"weights": [1, 2]}, "one number per row (1). Got shape (2,)"),
        ({"a": ["x"]}, {"weights": ["k"]}, "weights must be numbers. Got 'k' in row 0"),
        ({"a": ["x"]}, {"weights": "w"}, "no variable named 'w'. Available: a."),
        ({"a": ["x"], "w": [None]}, {"weights": "w"}, "finite and >= 0. Got nan"),
        ({"a": ["x"], "w": ["k"]}, {"weights": "w"}, "which is not a number. Only"),
        ({"a": ["x"]}, {"states": {"b": ["x"]}}, "no variable named 'b'. Available: a"),
        ({"a": ["x"]}, {"states": {"a": []}}, "'a' must have 1 to 254 states. Got 0"),
        ({"a": ["x"]}, {"states": {"a": ["x", "x"]}}, "must differ. Got 'x' twice"),
        (
            {"a": ["x"]},
            {**MARKED, "states": {"a": ["?"]}},
            "is also a missing marker",
        ),
        ({"a": [1]}, {"states": {"a": ["1"]}}, "'a' has the value 1 in row 0, which"),
        ({"a": [True]}, {"states": {"a": [0, 1]}}, "'a' has the value True in row 0"),
    ],
)
def test_a_table_that_cannot_be_used_is_explained(table, options, message):
    assert message in fails(table, **options)


@make_table
def test_numbers_that_are_not_to_be_cut_must_be_few(make):
    table = make({"age": list(range(30))})
    message = fails(table, discretize=None, columns=["age"])
    assert message == (
        "variable 'age' has 30 distinct numeric values, more than"
        " max_numeric_states=20. Discretize it with discretize={'age': 4}, list its"
        " states with states={'age': [...]}, or raise max_numeric_states."
    )
    many = make({"age": [k / 8 for k in range(3000)]})
    message = fails(many, discretize={"age": None})
    assert message.startswith("variable 'age' has 3,000 distinct numeric values, and")
    for options in (
        {"discretize": {"age": None}},
        {"discretize": None, "columns": ["age"], "max_numeric_states": 30},
    ):
        assert IncompleteData.from_table(table, **options).card[0] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": ["a", "b"]}, "names must hold one name per column (1). Got 2"),
        ({"names": "a"}, "names must be a sequence of names. Got 'a' instead"),
        ({"missing": [None]}, "missing must hold text or numbers. Got None instead"),
        (
            {"max_numeric_states": 0},
            "max_numeric_states must be an integer >= 1. Got 0",
        ),
        ({"states": {"a": "xy"}}, "must be a sequence of labels. Got 'xy' instead"),
    ],
)
def test_an_option_that_cannot_be_is_refused(options, message):
    assert message in fails({"a": ["x"]}, ParameterError, **options)
