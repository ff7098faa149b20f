"""A classifier of scikit-learn: incomplete rows, partly labelled."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import bayesmend as bm
from bayesmend.errors import BayesmendError, ReadingWarning
from bayesmend.sklearn import (
    BayesianNetworkClassifier,
    BayesianNetworkImputer,
    NotFittedError,
)
from bayesmend.sklearn.labels import class_name, read_labels

# How the numbers are cut is no news here.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.ReadingWarning")

QUICK = {"method": "em", "restarts": 0, "random_state": 1, "n_threads": 1}


def quick(**options):
    return BayesianNetworkClassifier(**QUICK | options)


def asia(n_rows, *, rate=0.1, seed=1):
    """Rows of a known network: a table with missing cells, and its class."""
    rows = bm.load_network("asia").sample(n_rows, seed=seed)
    kept = [name for name in rows.names if name != "bronc"]
    table = bm.hide_mcar(rows, rate, variables=kept, seed=seed).data.to_pandas()
    y = table.pop("bronc").astype(object)
    return table, y


@pytest.fixture(scope="module")
def rows():
    return asia(300)


def test_probabilities_are_those_of_the_network(rows):
    X, y = rows
    found = quick().fit(X[:200], y[:200])
    p = found.predict_proba(X[200:])
    assert p.shape == (100, 2)
    assert_allclose(p.sum(axis=1), 1)
    asked = X[200:].assign(bronc=None)
    _, expected = bm.marginals(found.network_, asked, targets="bronc").of("bronc")
    assert_array_equal(p, expected)
    assert_array_equal(found.predict_log_proba(X[200:]), np.log(p))
    assert_array_equal(found.predict(X[200:]), found.classes_[p.argmax(axis=1)])
    assert found.score(X[200:], y[200:]) > 0.7


def test_the_network_is_that_of_the_whole_table(rows):
    X, y = rows
    found = quick().fit(X, y)
    whole = bm.learn(X.assign(bronc=y), method="em", restarts=0, seed=found._seed())
    assert found.target_ == "bronc"
    assert found.network_.dag == whole.dag
    assert found.network_.states == whole.network.states


@pytest.mark.parametrize(
    "mark",
    [
        lambda y: y.where(y.index % 2 == 0, None),
        lambda y: y.where(y.index % 2 == 0, np.nan).to_numpy(),
        lambda y: y.astype("string").where(y.index % 2 == 0, pd.NA),
        lambda y: pl.Series("bronc", y.where(y.index % 2 == 0, None).tolist()),
        lambda y: y.where(y.index % 2 == 0, None).tolist(),
    ],
    ids=["None", "NaN", "NA", "polars", "list"],
)
def test_rows_without_a_label_are_learned_from(rows, mark):
    X, y = rows
    known = np.arange(len(y)) % 2 == 0
    found = quick(target="bronc").fit(X, mark(y))
    table = X.assign(bronc=y.where(known, None))
    whole = bm.learn(table, method="em", restarts=0, seed=found._seed()).network
    assert found.network_.dag == whole.dag
    few = quick(target="bronc").fit(X[known], y[known])
    assert found.network_ != few.network_


def test_a_mark_of_no_label_may_be_named(rows):
    X, y = rows
    codes = np.where(y == "yes", 1, 0)
    hidden = np.where(np.arange(len(y)) % 3 == 0, -1, codes)
    found = quick(unlabelled=-1).fit(X, hidden)
    assert found.classes_.tolist() == [0, 1]
    by_nan = quick().fit(X, np.where(hidden < 0, np.nan, hidden))
    assert by_nan.classes_.tolist() == [0.0, 1.0]
    assert_array_equal(found.predict_proba(X), by_nan.predict_proba(X))


def test_unlabelled_rows_help_where_labels_are_few():
    # Three columns are noisy copies of the class: their cluster is seen without labels.
    generator = np.random.default_rng(7)
    y = generator.integers(0, 2, 600)
    noise = generator.random((600, 5)) < 0.15
    X = np.where(noise, 1 - y[:, None], y[:, None])
    labels = y.astype(float)
    labels[60:300] = np.nan
    many = quick(discretize=None).fit(X[:300], labels[:300])
    few = quick(discretize=None).fit(X[:60], labels[:60])
    assert many.score(X[300:], y[300:]) > few.score(X[300:], y[300:])
    assert many.score(X[300:], y[300:]) > 0.97


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        ([1, 2, 3, 2], [1, 2, 3]),
        ([True, False, True, False], [False, True]),
        (["b", "a", None, "b"], ["a", "b"]),
        ([0.0, 1.0, np.nan, 1.0], [0.0, 1.0]),
        (pd.Categorical(["x", "y", None, "x"], categories=["z", "y", "x"]), ["x", "y"]),
        (np.array([[1], [2], [1], [2]]), [1, 2]),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_classes_are_sorted_and_of_their_type(labels, classes):
    X = pd.DataFrame({"a": ["u", "v", "u", "v"] * 5, "b": ["s", "s", "t", "t"] * 5})
    y = np.tile(labels, (5, 1)) if np.ndim(labels) == 2 else list(labels) * 5
    found = quick().fit(X, y)
    assert found.classes_.tolist() == classes
    assert set(found.predict(X).tolist()) <= set(classes)


def test_one_class_is_certain():
    X = pd.DataFrame({"a": ["u", "v"] * 10, "b": ["s", "t"] * 10})
    found = quick().fit(X, ["only"] * 20)
    assert found.predict_proba(X).tolist() == [[1.0]] * 20


def test_a_class_like_a_column_gets_another_name():
    X = pd.DataFrame({"a": ["u", "v"] * 10, "y": ["s", "s", "t", "t"] * 5})
    found = quick().fit(X, X["a"].rename("y"))
    assert found.target_ == "y_"
    assert quick(target="class").fit(X, X["a"]).target_ == "class"
    assert class_name(X["a"].rename(3), None, ["a"]) == "y"


def test_constraints_name_the_class(rows):
    X, y = rows
    tiers = {"tiers": [["kind"], list(X.columns)]}
    network = quick(target="kind", constraints=tiers).fit(X, y).network_
    assert network.dag.parents[network.names.index("kind")] == ()


def test_rows_are_classified_alone_as_among_others(rows):
    X, y = rows
    hidden = y.where((y == "no") | (y.index % 2 == 0), None)
    found = quick(mechanism="auto", target="bronc").fit(X, hidden)
    together = found.predict_proba(X[:20])
    alone = [found.predict_proba(X[k : k + 1])[0] for k in range(20)]
    assert_allclose(alone, together, rtol=1e-12)


def test_why_labels_are_missing_is_no_evidence_in_new_rows():
    generator = np.random.default_rng(3)
    a = generator.choice(["u", "v"], 800)
    y = np.where(generator.random(800) < 0.8, a, "u").astype(object)
    hidden = y.copy()
    hidden[(y == "v") & (generator.random(800) < 0.7)] = None
    X = pd.DataFrame({"a": a, "b": np.roll(a, 1)})
    found = quick(mechanism={"y": ["y"]}).fit(X, hidden)
    assert found.network_.mechanism is not None
    _, expected = bm.marginals(found.network_, X.assign(y=None), targets="y").of("y")
    assert_allclose(found.predict_proba(X), expected)


def test_a_label_never_seen_is_an_error_or_missing(rows):
    X, y = rows
    new = X[:2].assign(smoke=["sometimes", "yes"])
    with pytest.raises(BayesmendError, match="'sometimes' in row 0"):
        quick().fit(X, y).predict(new)
    lenient = quick(unknown="missing").fit(X, y)
    without = X[:2].assign(smoke=[None, "yes"])
    assert_array_equal(lenient.predict_proba(new), lenient.predict_proba(without))


def test_weights_count_as_rows_repeated():
    generator = np.random.default_rng(42)
    X, y = generator.random((15, 5)), generator.integers(0, 3, 15)
    weights = generator.integers(0, 4, 15)
    weights[:2] = 0, 3
    weighted = quick().fit(X, y, sample_weight=weights)
    repeated = quick().fit(X.repeat(weights, axis=0), y.repeat(weights))
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-9)


def test_searches_pipelines_and_routing_take_it(rows):
    X, y = rows
    fill = BayesianNetworkImputer(**QUICK, unknown="missing")
    steps = make_pipeline(fill, quick(unknown="missing"))
    assert cross_val_score(steps, X, y, cv=2).mean() > 0.7
    grid = {"max_parents": [1, 2]}
    search = GridSearchCV(quick(), grid, cv=2, scoring="neg_log_loss").fit(X, y)
    assert search.best_estimator_.network_.dag.n_vars == 8
    with config_context(enable_metadata_routing=True):
        weighted = quick().set_fit_request(sample_weight=True)
        weighted.set_score_request(sample_weight=True)
        weights = (y == "yes").to_numpy() + 1.0
        scores = cross_val_score(
            weighted, X, y, cv=2, params={"sample_weight": weights}
        )
        assert len(scores) == 2


def test_copies_and_saved_ones_answer_alike(rows, tmp_path):
    X, y = rows
    found = quick().fit(X, y)
    joblib.dump(found, tmp_path / "classifier.joblib")
    for again in (
        pickle.loads(pickle.dumps(found)),
        joblib.load(tmp_path / "classifier.joblib"),
        clone(found).fit(X, y),
    ):
        assert_array_equal(again.predict_proba(X), found.predict_proba(X))


@pytest.mark.parametrize("kind", [np.asarray, pl.from_pandas])
def test_arrays_and_frames_are_alike(rows, kind):
    X, y = rows
    expected = quick().fit(X, y).predict_proba(X)
    text = X.astype(object).where(X.notna(), None)
    found = quick().fit(kind(text), y)
    assert_allclose(found.predict_proba(kind(text)), expected, rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["auto", "exact", "local", "em", "em-hard", "ensemble"]
)
def test_any_method_classifies(method):
    X, y = asia(150, rate=0.03)
    y[::5] = None
    found = BayesianNetworkClassifier(method=method, random_state=1, time_limit=20)
    found.fit(X, y)
    known = y.notna()
    assert found.score(X[known], y[known]) > 0.7
    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.predict_proba(X), found.predict_proba(X))


def test_a_class_of_minus_one_is_pointed_out():
    with pytest.warns(ReadingWarning, match="Pass unlabelled=-1 if it marks rows"):
        assert read_labels([-1, 0, 1], None).classes.tolist() == [-1, 0, 1]
    assert read_labels([-1, 1, 1], None).classes.tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None."),
        ([None, np.nan], "y has no label in any row, so there is no class to learn."),
        (["a", 1], "y mixes text and numbers. Convert its labels to one type."),
        ([0.5, 1.25, 3.75], "Unknown label type: continuous."),
        ([1.0, np.inf], "y holds infinity, which is no label."),
        (list(range(300)) * 3, "y has 300 classes, and a variable at most 254 states."),
        ([[1, 2], [3, 4]], "y should be a 1d array"),
    ],
)
def test_labels_that_are_none_are_errors_of_ours(y, message):
    with pytest.raises(BayesmendError) as caught:
        read_labels(y, None)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda X, y: quick().predict(X), "Call fit(X) before predict(X)."),
        (lambda X, y: quick().predict_proba(X), "before predict_proba(X)."),
        (lambda X, y: quick().predict_log_proba(X), "before predict_log_proba(X)."),
        (
            lambda X, y: quick().fit(X, y[:9]),
            "y must have one label per row (300). Got",
        ),
        (lambda X, y: quick(target="smoke").fit(X, y), "target must be a name for the"),
        (lambda X, y: quick(target=3).fit(X, y), "no column of X. Got 3 instead."),
        (lambda X, y: quick(unknown="x").fit(X, y).predict(X), "unknown must be one"),
        (lambda X, y: quick(method="x").fit(X, y), "method must be one of auto, exact"),
    ],
)
def test_errors_say_what_is_wrong(rows, use, message):
    with pytest.raises(BayesmendError) as caught:
        use(*rows)
    assert message in str(caught.value)
    if "before" in message:
        assert isinstance(caught.value, NotFittedError)
