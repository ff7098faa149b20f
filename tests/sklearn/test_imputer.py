"""An imputer of scikit-learn: what it fills, gives back, and refuses."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

import bayesmend as bm
from bayesmend.errors import BayesmendError, DataError, ParameterError
from bayesmend.sklearn import BayesianNetworkImputer, NotFittedError

# How the numbers are cut is no news here.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.ReadingWarning")

QUICK = {"method": "em", "restarts": 0, "random_state": 1, "n_threads": 1}
N_ROWS = 80


def quick(**options):
    return BayesianNetworkImputer(**QUICK | options)


@pytest.fixture(scope="module")
def mixed():
    """A frame of text, numbers and booleans with missing cells."""
    generator = np.random.default_rng(1)
    age = generator.integers(20, 80, N_ROWS)
    retired = np.where(age > 60, "yes", "no")
    frame = pd.DataFrame(
        {
            "age": age.astype(float),
            "retired": retired,
            "works": retired == "no",
            "visits": pd.array(generator.integers(0, 3, N_ROWS), dtype="Int64"),
        },
        index=[f"p{k}" for k in range(N_ROWS)],
    )
    frame["works"] = frame["works"].astype("boolean")
    for name in frame:
        frame.loc[generator.random(N_ROWS) < 0.1, name] = None
    return frame


@pytest.fixture(scope="module")
def labels(mixed):
    """What depends on what is in the frame."""
    return np.where(mixed["age"].fillna(50) > 55, "old", "young")


def test_every_missing_cell_is_filled_and_no_other_touched(mixed):
    filled = quick().fit_transform(mixed)
    assert not filled.isna().any().any()
    was_observed = mixed.notna()
    assert filled.where(was_observed).equals(mixed)
    assert filled.index.equals(mixed.index)
    assert (filled.dtypes == mixed.dtypes).all()


def test_fit_and_transform_is_fit_transform_and_impute(mixed):
    imputer = quick()
    at_once = imputer.fit_transform(mixed)
    assert imputer.transform(mixed).equals(at_once)
    by_hand = bm.learn(mixed, method="em", restarts=0, seed=imputer._seed()).network
    assert bm.impute(by_hand, mixed).to_table().equals(at_once)


def test_new_rows_are_filled_alone_as_among_others(mixed):
    imputer = quick(mechanism="auto").fit(mixed[:60])
    together = imputer.transform(mixed[60:])
    alone = pd.concat([imputer.transform(mixed[k : k + 1]) for k in range(60, N_ROWS)])
    assert alone.equals(together)


def test_arrays_of_floats_come_back_as_arrays_of_floats():
    generator = np.random.default_rng(2)
    X = generator.normal(size=(60, 3))
    X[:, 1] = np.round(X[:, 0])
    X[generator.random(X.shape) < 0.1] = np.nan
    filled = quick().fit_transform(X)
    assert filled.dtype == np.float64
    assert not np.isnan(filled).any()
    assert_array_equal(filled[~np.isnan(X)], X[~np.isnan(X)])
    assert quick().fit_transform(X.astype(np.float32)).dtype == np.float32


def test_arrays_of_objects_and_lists_hold_text_and_numbers():
    rows = [["a", 1], ["b", 2], [None, 2], ["a", None]] * 5
    X = np.array(rows, dtype=object)
    filled = quick().fit_transform(X)
    assert filled.dtype == object
    assert filled[2:4].tolist() == [["b", 2], ["a", 1]]
    assert_array_equal(quick().fit_transform(rows), filled)


def test_masked_cells_of_an_array_are_missing():
    X = np.ma.masked_equal([[0, 0], [1, 1], [9, 1], [0, 9]] * 5, 9)
    filled = quick().fit_transform(X)
    assert np.asarray(filled)[2:4].tolist() == [[1, 1], [0, 0]]


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas])
def test_frames_come_back_as_frames_of_the_same_library(mixed, make):
    frame = make(mixed.reset_index(drop=True))
    filled = quick().fit_transform(frame)
    assert type(filled) is type(frame)
    expected = quick().fit_transform(mixed)
    for name in mixed:
        assert list(filled[name].to_numpy()) == expected[name].tolist()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
@pytest.mark.parametrize("given", ["pandas", "polars", "numpy"])
def test_set_output_chooses_the_library(mixed, kind, given):
    tables = {
        "pandas": mixed,
        "polars": pl.from_pandas(mixed),
        "numpy": mixed.astype(object).where(mixed.notna(), None).to_numpy(),
    }
    imputer = quick(add_indicator=True).set_output(transform=kind)
    filled = imputer.fit_transform(tables[given])
    assert type(filled) is {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind]
    assert list(filled.columns) == imputer.get_feature_names_out().tolist()
    ages = np.asarray(filled.to_numpy()[:, 0], dtype=float)
    assert_array_equal(ages, quick().fit_transform(mixed)["age"])
    if given == kind == "pandas":
        assert filled.index.equals(mixed.index)


def test_an_indicator_tells_which_cells_were_missing(mixed):
    mixed = mixed.assign(sex=["f", "m"] * (N_ROWS // 2))
    imputer = quick(add_indicator=True).fit(mixed)
    names = [f"missingindicator_{name}" for name in mixed.columns[:-1]]
    assert imputer.get_feature_names_out().tolist() == [*mixed.columns, *names]
    found = imputer.transform(mixed)
    assert_array_equal(found[names].to_numpy(), mixed.isna().to_numpy()[:, :-1])
    plain = quick().fit_transform(mixed)
    assert found[mixed.columns].equals(plain)


def test_an_indicator_is_a_number_beside_numbers():
    X = np.array([[0.0, 1.0], [1.0, np.nan], [0.0, 1.0], [1.0, 2.0]] * 5)
    found = quick(add_indicator=True).fit_transform(X)
    assert found.dtype == np.float64
    assert_array_equal(found[:, 2], np.isnan(X[:, 1]))


def test_an_indicator_sees_columns_that_are_passed_through():
    table = pd.DataFrame(
        {
            "name": [None, *(f"n{k}" for k in range(1, 40))],
            "a": ["x", "y"] * 20,
            "b": ["u", None, "u", "v"] * 10,
        }
    )
    found = quick(add_indicator=True).fit_transform(table)
    assert found["name"].isna().tolist() == table["name"].isna().tolist()
    assert found["missingindicator_name"].sum() == 1
    assert found["missingindicator_b"].tolist() == table["b"].isna().tolist()


def test_a_constant_column_is_filled_with_its_constant():
    table = {"a": ["x", "y"] * 10, "b": ["u", "v"] * 10, "c": ["k", None] * 10}
    assert quick().fit_transform(pd.DataFrame(table))["c"].tolist() == ["k"] * 20
    for make in (pl.DataFrame, pa.table):
        assert [*quick().fit_transform(make(table))["c"]] == [
            *make(table)["c"][:1]
        ] * 20
    marked = pd.DataFrame({**table, "c": ["k", "?"] * 10})
    assert quick(missing="?").fit_transform(marked)["c"].tolist() == ["k"] * 20
    X = np.array([[0.0, 0.0, 7.0], [1.0, 1.0, np.nan]] * 10)
    assert quick().fit_transform(X)[:, 2].tolist() == [7.0] * 20
    other = X.copy()
    other[0, 2] = 8.0
    assert quick().fit(X).transform(other)[:3, 2].tolist() == [8.0, 7.0, 7.0]
    chosen = quick(columns=["a", "b"]).fit_transform(pd.DataFrame(table))
    assert chosen["c"].isna().sum() == 10


def test_rows_without_any_observed_cell_are_filled_unless_told(mixed):
    table = mixed.copy()
    table.iloc[3] = None
    assert not quick().fit_transform(table).isna().any().any()
    left = quick(fill_empty_rows=False).fit_transform(table)
    assert left.iloc[3].isna().all()
    assert not left.drop(index="p3").isna().any().any()


def test_draws_come_from_the_posterior():
    n = 400
    a = np.array(["x", "y"] * (n // 2), dtype=object)
    a[: n // 2] = None
    table = pd.DataFrame({"a": a, "b": ["u", "v"] * (n // 2)})
    table["b"] = np.where(np.arange(n) % 4 < 2, "u", "v")  # tells nothing about a
    filled = quick(sample_posterior=True).fit_transform(table)["a"][: n // 2]
    assert 0.35 < (filled == "x").mean() < 0.65
    assert quick().fit_transform(table)["a"][: n // 2].nunique() == 1


def test_the_same_random_state_gives_the_same_draws(mixed):
    draw = quick(sample_posterior=True).fit(mixed)
    one = draw.transform(mixed)
    assert draw.transform(mixed).equals(one)
    assert not draw.set_params(random_state=2).transform(mixed).equals(one)
    own = quick(sample_posterior=True, random_state=np.random.RandomState(3)).fit(mixed)
    assert not own.transform(mixed).equals(own.transform(mixed))


@pytest.mark.parametrize("options", [{}, {"sample_posterior": True}])
def test_a_saved_imputer_gives_identical_fills(mixed, tmp_path, options):
    imputer = quick(**options).fit(mixed[:60])
    expected = imputer.transform(mixed[60:])
    joblib.dump(imputer, tmp_path / "imputer.joblib")
    for loaded in (
        pickle.loads(pickle.dumps(imputer)),
        joblib.load(tmp_path / "imputer.joblib"),
    ):
        assert loaded.transform(mixed[60:]).equals(expected)
        assert loaded.network_ == imputer.network_


def test_what_is_saved_does_not_hold_the_table():
    table = bm.load_network("asia").sample(5000, seed=1).to_pandas()
    table = table.mask(np.random.default_rng(1).random(table.shape) < 0.05)
    assert len(pickle.dumps(quick(solver="greedy").fit(table))) < 20_000


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "exact", "local", "em-hard", "ensemble"])
def test_any_method_fills(mixed, method, tmp_path):
    imputer = BayesianNetworkImputer(method=method, random_state=1, time_limit=20)
    filled = imputer.fit_transform(mixed)
    assert not filled.isna().any().any()
    assert imputer.network_.n_vars == 4
    joblib.dump(imputer, tmp_path / "imputer.joblib")
    assert joblib.load(tmp_path / "imputer.joblib").transform(mixed).equals(filled)


def test_a_mechanism_is_evidence_for_what_fills():
    generator = np.random.default_rng(5)
    n = 1000
    a = generator.choice(["high", "low"], n).astype(object)
    b = np.where(generator.random(n) < 0.9, a, "low").astype(object)
    a[(a == "high") & (generator.random(n) < 0.8)] = None
    table = pd.DataFrame({"a": a, "b": b})
    new = pd.DataFrame({"a": [None], "b": ["low"]})
    ignoring = quick().fit(table)
    knowing = quick(mechanism={"a": ["a"]}).fit(table)
    assert ignoring.transform(new)["a"].tolist() == ["low"]
    assert knowing.network_.mechanism is not None
    model = knowing.model_
    alone = bm.impute(model, new, mechanism="always").cells[0]
    by_value = bm.impute(model, new, mechanism="ignore").cells[0]
    assert knowing.transform(new)["a"].tolist() == [alone.state]
    chance = {alone.state: alone.probability, alone.runner_up: 1 - alone.probability}
    other = {by_value.state: by_value.probability}
    assert chance["high"] > 1 - other.get("low", 0.0)


def test_pipelines_and_searches_take_it(mixed, labels):
    numbers, words = ["age", "visits"], ["retired", "works"]
    steps = Pipeline(
        [
            ("fill", quick()),
            (
                "columns",
                ColumnTransformer(
                    [
                        ("numbers", "passthrough", numbers),
                        ("words", OneHotEncoder(handle_unknown="ignore"), words),
                    ]
                ),
            ),
            ("classify", LogisticRegression(max_iter=1000)),
        ]
    )
    assert cross_val_score(steps, mixed, labels, cv=3).mean() > 0.8
    search = GridSearchCV(steps, {"fill__max_parents": [1, 2]}, cv=2)
    assert search.fit(mixed, labels).best_params_["fill__max_parents"] in (1, 2)


def test_a_column_transformer_takes_it(mixed):
    part = ["age", "retired"]
    columns = ColumnTransformer(
        [("fill", quick(), part)], remainder="passthrough"
    ).set_output(transform="pandas")
    found = columns.fit_transform(mixed)
    assert (
        found["fill__age"].tolist()
        == quick().fit_transform(mixed[part])["age"].tolist()
    )
    assert found["remainder__visits"].isna().any()


def test_clones_have_the_parameters_untouched():
    rules = bm.Constraints(forbidden=[("age", "retired")])
    imputer = quick(constraints=rules, discretize={"age": [30, 60]})
    assert imputer.get_params()["constraints"] is rules
    copy = clone(imputer)
    assert copy.get_params()["constraints"] == rules
    assert copy.get_params()["discretize"] == {"age": [30, 60]}
    assert not hasattr(copy, "model_")


def test_constraints_and_reading_options_arrive(mixed):
    imputer = quick(
        discretize={"age": [30, 60], "visits": None},
        constraints={"forbidden": [("age", "retired"), ("retired", "age")]},
        columns={"works": "pass-through"},
    ).fit(mixed)
    network = imputer.network_
    assert network.names == ("age", "retired", "visits")
    assert len(network.states[0]) == 3
    assert {("age", "retired"), ("retired", "age")}.isdisjoint(network.dag.arcs)


def test_missing_markers_are_filled():
    table = pd.DataFrame({"a": [1, 2, -9, 1] * 10, "b": ["x", "y", "y", "?"] * 10})
    imputer = quick(missing=[-9, "?"], add_indicator=True)
    found = imputer.fit_transform(table)
    assert (set(found["a"]), set(found["b"])) == ({1, 2}, {"x", "y"})
    assert found["missingindicator_a"].tolist() == (table["a"] == -9).tolist()
    assert imputer.transform(table).equals(found)


def test_an_unknown_label_is_an_error_or_comes_back_as_it_was():
    table = pd.DataFrame({"a": ["x", "y"] * 10, "b": ["u", "v", None, "v"] * 5})
    new = pd.DataFrame({"a": ["z", "y"], "b": [None, None]})
    with pytest.raises(DataError, match="'z' in row 0"):
        quick().fit(table).transform(new)
    lenient = quick(unknown="missing", add_indicator=True).fit(table)
    filled = lenient.transform(new)
    assert filled["a"].tolist() == ["z", "y"]
    assert filled["b"].notna().all()
    assert filled["missingindicator_b"].all()
    assert lenient.fit(new[["b", "a"]].fillna("q")) is lenient


def test_row_weights_count_and_are_routed(mixed, labels):
    weights = np.random.default_rng(3).integers(0, 3, N_ROWS)
    weighted = quick().fit(mixed, sample_weight=weights)
    assert weighted.network_ != quick().fit(mixed).network_
    repeated = mixed.iloc[np.repeat(np.arange(N_ROWS), weights)]
    assert weighted.transform(mixed).equals(quick().fit(repeated).transform(mixed))
    with config_context(enable_metadata_routing=True):
        fill = (
            quick().set_fit_request(sample_weight=True).set_output(transform="pandas")
        )
        classify = LogisticRegression().set_fit_request(sample_weight=False)
        steps = make_pipeline(fill, OneHotEncoder(handle_unknown="ignore"), classify)
        steps.fit(mixed, labels, sample_weight=weights)
        assert steps[0].network_ == weighted.network_


def test_columns_are_matched_by_place_where_names_are_not_told(mixed):
    imputer = quick().fit(mixed)
    array = mixed.astype(object).where(mixed.notna(), None).to_numpy()
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        found = imputer.transform(array)
    assert found[:, 1].tolist() == imputer.transform(mixed)["retired"].tolist()


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (
            lambda x: quick().transform(x),
            "this BayesianNetworkImputer is not fitted. Call fit(X) before "
            "transform(X).",
        ),
        (lambda x: quick(method="best").fit(x), "method must be one of auto, exact, "),
        (lambda x: quick(add_indicator="yes").fit(x), "add_indicator must be True or"),
        (lambda x: quick(random_state="a").fit(x), "random_state must be an integer "),
        (lambda x: quick(locality=2).fit(x), "locality=2 goes with method='exact' or"),
        (
            lambda x: quick(columns={"age": "drop"}).fit(x),
            "columns cannot drop age: an imputer gives back every column.",
        ),
        (lambda x: quick().fit(x[:1]), "X has 1 row(s) (shape=(1, 4)) while a minimum"),
        (lambda x: quick().fit(x[[]]), "X has 0 column(s) (shape=(80, 0)) while a "),
        (lambda x: quick().fit(x).transform(x[["age"]]), "names should match those"),
        (lambda x: quick().fit([1, 2]), "Expected 2D array, got 1D array instead"),
        (
            lambda x: quick().fit(x, sample_weight=np.zeros(N_ROWS)),
            "sample_weight is zero in every row, so no row counts.",
        ),
        (lambda x: quick().fit(x, sample_weight=[1.0]), "weights must"),
        (lambda x: quick().fit(x, sample_weight=["a"] * N_ROWS), "could not convert"),
    ],
)
def test_errors_are_ours_and_say_what_is_wrong(mixed, use, message):
    with pytest.raises(BayesmendError) as caught:
        use(mixed)
    assert message in str(caught.value)


def test_what_is_wrong_with_parameters_is_said_by_fit_alone(mixed):
    imputer = quick(max_parents=-1)
    with pytest.raises(ParameterError, match="max_parents must be an integer >= 0"):
        imputer.fit(mixed)


def test_a_sparse_table_is_an_error_of_type_and_of_data():
    with pytest.raises(DataError, match="Sparse data was passed") as caught:
        quick().fit(sparse.eye(9, format="csr"))
    assert isinstance(caught.value, TypeError)


def test_not_fitted_is_an_error_of_both():
    from sklearn.exceptions import NotFittedError as Theirs

    assert issubclass(NotFittedError, Theirs)
    with pytest.raises(Theirs):
        quick().get_feature_names_out()
