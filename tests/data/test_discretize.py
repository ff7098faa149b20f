"""Cutting numbers into intervals, once and again."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import oracle

from bayesmend import IncompleteData
from bayesmend.data import Discretization, fit_discretization
from bayesmend.data.discretize import auto_cuts
from bayesmend.errors import BayesmendWarning, DataError, ParameterError

numbers = st.floats(-1e6, 1e6, allow_nan=False) | st.integers(-3, 3).map(float)


def quiet_fit(table, cutting, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesmendWarning)
        return fit_discretization(table, cutting, **options)


@given(st.lists(numbers, min_size=1, max_size=30), st.integers(2, 6))
def test_quantile_cuts_match_the_twin(values, n_bins):
    rule = quiet_fit({"x": values}, {"x": n_bins})
    cuts = oracle.quantile_cuts(values, n_bins)
    expected = np.searchsorted(cuts, values).tolist()
    assert rule.codes("x", np.array(values)).tolist() == expected
    assert len(rule.cuts[0]) == len(cuts)


@given(st.lists(numbers, min_size=2, max_size=30, unique=True), st.integers(2, 6))
def test_uniform_cuts_have_equal_widths(values, n_bins):
    rule = quiet_fit({"x": values}, {"x": n_bins}, by="uniform")
    low, high = min(values), max(values)
    expected = [low + (high - low) * i / n_bins for i in range(1, n_bins)]
    if len(rule.cuts[0]) == n_bins - 1:
        assert rule.cuts[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(
    st.lists(numbers, min_size=1, max_size=5, unique=True).map(sorted),
    st.lists(numbers | st.none(), max_size=20),
)
def test_codes_match_the_twin(cuts, values):
    rule = Discretization.from_cuts({"x": cuts})
    array = np.array([np.nan if v is None else v for v in values], dtype=float)
    expected = [255 if v is None else oracle.interval_of(v, cuts) for v in values]
    assert rule.codes("x", array).tolist() == expected
    assert len(rule.labels("x")) == len(cuts) + 1
    assert len(set(rule.labels("x"))) == len(cuts) + 1


@given(st.lists(numbers, min_size=2, max_size=30), st.integers(2, 5))
def test_every_interval_of_the_training_data_is_used(values, n_bins):
    rule = quiet_fit({"x": values}, {"x": n_bins})
    used = set(rule.codes("x", np.array(values)).tolist())
    assert used == set(range(len(rule.labels("x"))))


def test_labels_are_intervals_in_the_shortest_text():
    rule = Discretization.from_cuts({"x": [-0.5, 34, 1e21]})
    assert rule.labels("x") == ("<=-0.5", "-0.5<x<=34", "34<x<=1e+21", ">1e+21")
    assert repr(rule) == "Discretization(x: 4 intervals)"


@pytest.mark.parametrize("how", [2, ("quantile", 2), ("uniform", 2), [2.5]])
def test_new_data_are_cut_at_the_same_points(how):
    train = IncompleteData.from_table({"x": [1, 2, 3, 4]}, discretize={"x": how})
    rule = train.discretization
    new = IncompleteData.from_table({"x": [100, None, -5]}, discretize=rule)
    assert new.states == train.states
    assert new.codes.ravel().tolist() == [1, 255, 0]
    assert new.discretization is rule


def test_a_csv_column_is_discretized(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{k / 7},{'x' if k % 2 else 'y'}" for k in range(700)]
    path.write_text("age,sex\n" + "\n".join(lines) + "\n NA ,x\n")
    data = IncompleteData.from_csv(path, discretize={"age": 4})
    assert data.card.tolist() == [4, 2]
    assert data.summary().variables[0].counts == (175, 175, 175, 175)
    assert data.codes[-1].tolist() == [255, 0]
    rule = fit_discretization(path, {"age": 4})
    assert rule == data.discretization
    assert IncompleteData.from_table(path, discretize=rule) == data


def test_numeric_text_in_a_frame_is_discretized():
    data = IncompleteData.from_table(
        {"x": ["1", " 2 ", "?", "30"]}, discretize={"x": 2}, missing=["?"]
    )
    assert data.codes.ravel().tolist() == [0, 0, 255, 1]


def test_ties_leave_fewer_intervals_with_a_warning():
    with pytest.warns(BayesmendWarning, match="falls into 2 intervals instead of 4"):
        rule = fit_discretization({"x": [1, 1, 1, 1, 1, 2]}, {"x": 4})
    assert rule.labels("x") == ("<=1", ">1")


def test_a_constant_becomes_a_single_state_with_a_warning():
    with pytest.warns(BayesmendWarning, match="falls into 1 interval instead of 3"):
        data = IncompleteData.from_table({"x": [5, 5, None]}, discretize={"x": 3})
    assert data.states == (("any",),)
    assert data.codes.ravel().tolist() == [0, 0, 255]


def test_pandas_gets_ordered_categories():
    rule = Discretization.from_cuts({"x": [2]})
    frame = pd.DataFrame({"x": [1, np.nan, 3], "y": ["a", "b", "c"]}, index=[7, 8, 9])
    cut = rule.apply(frame)
    assert cut["x"].cat.ordered
    assert cut["x"].tolist() == ["<=2", np.nan, ">2"]
    assert frame["x"].dtype == float
    assert IncompleteData.from_table(cut).states[0] == ("<=2", ">2")


def test_polars_gets_enums_and_arrow_dictionaries():
    rule = Discretization.from_cuts({"x": [2]})
    frame = pl.DataFrame({"y": ["a", "b"], "x": [1.5, None]})
    cut = rule.apply(frame)
    assert cut["x"].dtype == pl.Enum(["<=2", ">2"])
    assert cut.rows() == [("a", "<=2"), ("b", None)]
    table = rule.apply(pa.table({"y": ["a", "b"], "x": [1.5, None]}))
    assert table.column("x").to_pylist() == ["<=2", None]
    assert pa.types.is_dictionary(table.column("x").type)


def test_arrays_get_text():
    rule = Discretization.from_cuts({"x1": [2]})
    cut = rule.apply(np.array([[1.0, 2.0], [3.0, np.nan]]))
    assert cut.tolist() == [[1.0, "<=2"], [3.0, None]]


@pytest.mark.parametrize(
    "make",
    [dict, pd.DataFrame, pl.DataFrame, lambda t: pa.table(dict(t))],
    ids=["mapping", "pandas", "polars", "arrow"],
)
def test_intervals_come_back_as_apply_makes_them(make):
    table = make({"x": [1.5, 2.5, 9.0], "y": ["a", "b", "a"]})
    data = IncompleteData.from_table(table, discretize={"x": [2, 5]})
    again = IncompleteData.from_table(data.to_table(fill="interval"))
    cut = IncompleteData.from_table(data.discretization.apply(table))
    assert again.codes[:, 1].tolist() == [0, 1, 0]
    assert (
        data.to_table(fill="interval")["x"].__class__
        == data.discretization.apply(table)["x"].__class__
    )
    assert [*map(str, cut.states[0])] == [*map(str, again.states[0])]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (1, "variable 'x' must be cut into 2 to 254 intervals. Got 1 instead"),
        (255, "variable 'x' must be cut into 2 to 254 intervals. Got 255 instead"),
        (True, "variable 'x' must be cut by a number of intervals or by a sequence"),
        ("many", "variable 'x' must be cut by a number"),
        ([], "cut points of variable 'x' must be finite and ascending"),
        ([1, 1], "cut points of variable 'x' must be finite and ascending"),
        ([2, 1], "cut points of variable 'x' must be finite and ascending"),
        ([float("inf")], "cut points of variable 'x' must be finite"),
        (list(range(254)), "variable 'x' must have at most 253 cut points. Got 254"),
        (("best", 3), "'x' is cut by 'quantile' or 'uniform'. Got 'best' instead"),
    ],
)
def test_a_cutting_that_cannot_be_is_refused(how, message):
    with pytest.raises(ParameterError, match=message.replace(".", r"\.")):
        fit_discretization({"x": [1, 2, 3]}, {"x": how})


def test_a_way_to_cut_that_does_not_exist_is_refused():
    with pytest.raises(ParameterError, match="'x' is cut by 'quantile' or 'uniform'"):
        fit_discretization({"x": [1, 2]}, {"x": 2}, by="magic")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "a", 2], "'x' mixes numbers .* and text"),
        (["1", "a", "2"], "'x' has the value 'a' in row 1, which is not a number"),
        ([1.0, float("-inf")], "'x' has the value -inf in row 1"),
        ([None, None], "'x' has no numbers to choose cut points from"),
        ([True, False], "'x' has the value True in row 0, which is not a number"),
    ],
)
def test_a_column_that_cannot_be_cut_is_named(values, message):
    with pytest.raises(DataError, match=message):
        fit_discretization({"x": values}, {"x": 2})


def test_names_and_options_are_checked():
    table = {"x": [1, 2, 3]}
    with pytest.raises(DataError, match=r"no variable named 'y'\. Available: x"):
        fit_discretization(table, {"y": 2})
    with pytest.raises(DataError, match="no variable named 'y'"):
        Discretization.from_cuts({"y": [1]}).apply(table)
    with pytest.raises(DataError, match="no variable named 'y'"):
        IncompleteData.from_table(table, discretize={"y": 2})
    with pytest.raises(ParameterError, match="must be 'auto', None, a mapping"):
        IncompleteData.from_table(table, discretize=4)
    with pytest.raises(ParameterError, match="'x' is in states and in discretize"):
        IncompleteData.from_table(table, discretize={"x": 2}, states={"x": [1, 2]})
    with pytest.raises(ParameterError, match="by has no part where no variable"):
        fit_discretization(table, {"x": [1.5]}, by="uniform")
    with pytest.raises(ParameterError, match="'x' is cut by 'quantile' or 'uniform'"):
        fit_discretization(table, {"x": 2}, by="half")


def test_a_file_is_cut_into_a_frame_with_all_its_columns(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\nr1,1,a\nr2,?,b\nr3,3,\n")
    cut = Discretization.from_cuts({"x": [2]}).apply(path)
    assert cut.columns.tolist() == ["id", "x", "y"]
    assert cut["id"].tolist() == ["r1", "r2", "r3"]
    assert cut["x"].cat.categories.tolist() == ["<=2", ">2"]
    assert cut["x"].cat.codes.tolist() == [0, -1, 1]
    assert cut["y"].tolist() == ["a", "b", ""]


def test_coded_tables_are_cut_like_those_they_were_read_from():
    table = {"x": [1, 2, None, 4], "y": ["a", None, "b", "a"], "z": [1, 0, None, 1]}
    data = IncompleteData.from_table(table)
    rule = fit_discretization(data, {"x": 2})
    assert rule == fit_discretization(table, {"x": 2})
    cut = rule.apply(data)
    plain = IncompleteData.from_codes(data.codes, names=data.names, states=data.states)
    kept = ["y", "z"]
    pd.testing.assert_frame_equal(cut[kept], plain.to_table()[kept])
    expected = pd.Categorical(rule.apply(table)["x"], rule.labels("x"), ordered=True)
    pd.testing.assert_series_equal(cut["x"], pd.Series(expected, name="x"))
    with pytest.raises(DataError, match="'y' has the value 'a' in row 0, which is not"):
        fit_discretization(data, {"y": 2})


@given(
    st.lists(st.tuples(numbers, st.integers(1, 4)), min_size=2, max_size=30),
    st.integers(2, 5),
)
def test_a_row_of_weight_two_counts_as_two_rows(rows, n_bins):
    values, weights = (np.array(each, float) for each in zip(*rows, strict=True))
    repeated = np.repeat(values, weights.astype(int))
    assert auto_cuts(values, weights) == auto_cuts(repeated)
    if len(set(values)) > 1:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesmendWarning)
            read = IncompleteData.from_table(
                {"x": values, "w": weights}, discretize={"x": n_bins}, weights="w"
            )
        expected = quiet_fit({"x": repeated}, {"x": n_bins})
        assert read.discretization.cuts == expected.cuts


def test_a_column_of_weights_counts_too():
    table = {"x": [1.5, 2.5, 3.5, 4.5], "w": [9, 1, 1, 1]}
    read = IncompleteData.from_table(table, discretize={"x": 2}, weights="w")
    assert read.discretization.cuts == ((1.5,),)
    plain = IncompleteData.from_table({"x": table["x"]}, discretize={"x": 2})
    assert plain.discretization.cuts == ((2.5,),)


@given(st.lists(numbers, min_size=3, max_size=60))
def test_cut_points_have_few_digits_and_move_no_row(values):
    cuts = quiet_fit({"x": values}, {"x": "auto"}).cuts[0]
    exact = oracle.auto_cuts([value + 0.0 for value in values])
    codes = np.searchsorted(exact, values).tolist()
    assert np.searchsorted(cuts, values).tolist() == codes
    for cut, own in zip(cuts, exact, strict=True):
        above = min(value for value in values if value > own)
        is_plain = own.is_integer() or own == float(f"{own:.6g}")
        rounded = float(f"{own:.3g}")
        expected = own if is_plain else rounded if own <= rounded < above else cut
        assert cut == expected
        assert own <= cut < above


def test_labels_of_unrounded_numbers_are_short():
    numbers = np.random.default_rng(1).normal(size=300)
    data = IncompleteData.from_table({"x": numbers}, discretize={"x": "auto"})
    assert max(map(len, data.states[0])) < 20
    cut = float(np.sort(numbers)[99])
    assert (
        data.codes[:, 0].tolist()
        == np.searchsorted(np.sort(numbers)[[99, 199]], numbers).tolist()
    )
    given = IncompleteData.from_table({"x": numbers}, discretize={"x": [cut]})
    assert given.states[0] == (f"<={cut!r}", f">{cut!r}")
