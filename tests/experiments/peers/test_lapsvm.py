"""The Laplacian SVM: its minimum, its invariances, its face towards scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.datasets import make_moons
from sklearn.utils.estimator_checks import check_estimator
from support import oracle
from support.examples import examples

from bayesmend.errors import ConvergenceWarning, DataError, ParameterError
from experiments.peers.lapsvm import LaplacianSVM
from experiments.peers.manifold import graph_laplacian, neighbour_weights

GRID = st.integers(0, 3).map(float)


@st.composite
def problems(draw, *, distinct=False):
    """A few points on a grid, both classes labelled, some rows unlabelled."""
    n_rows = draw(st.integers(4, 9))
    rows = draw(
        st.lists(
            st.tuples(GRID, GRID), min_size=n_rows, max_size=n_rows, unique=distinct
        )
    )
    labels = draw(
        st.lists(st.sampled_from([0, 1, -1]), min_size=n_rows - 2, max_size=n_rows - 2)
    )
    return np.array(rows), np.array([0, 1, *labels])


def signs_of(y):
    return [{0: -1, 1: 1, -1: None}[label] for label in y.tolist()]


def oracle_objective(model, X, y):
    """The oracle's objective as a function of one weight per row and the constant."""
    points = [tuple(row) for row in X.tolist()]
    gram = (
        oracle.linear_kernel(points)
        if model.kernel == "linear"
        else oracle.rbf_kernel(points, model.gamma)
    )
    weights = oracle.neighbour_graph(points, model.n_neighbors)

    def objective(variables):
        return oracle.laplacian_svm_objective(
            variables[:-1],
            variables[-1],
            gram,
            weights,
            signs_of(y),
            gamma_a=model.gamma_A,
            gamma_i=model.gamma_I,
            normalized=model.normalized,
        )

    return objective


def spread_over_rows(model, X):
    """The fitted weights, each at the first row of its point, and the constant."""
    variables = np.zeros(len(X) + 1)
    for point, weight in zip(model.points_, model.dual_coef_, strict=True):
        variables[np.flatnonzero((point == X).all(axis=1))[0]] = weight
    variables[-1] = model.intercept_
    return variables


@examples(25)
@given(problems(), st.sampled_from(["rbf", "linear"]), st.sampled_from([0.0, 3.0]))
def test_no_optimiser_gets_below_the_fitted_objective(problem, kernel, gamma_i):
    X, y = problem
    model = LaplacianSVM(
        kernel=kernel, gamma=0.7, gamma_A=0.05, gamma_I=gamma_i, n_neighbors=2
    ).fit(X, y)
    objective = oracle_objective(model, X, y)
    found = spread_over_rows(model, X)
    independent = minimize(objective, np.zeros(len(X) + 1), method="BFGS")
    assert objective(found) <= independent.fun + 1e-7
    assert objective(found) == pytest.approx(independent.fun, abs=1e-4)


@examples(25)
@given(problems(), st.sampled_from([0.0, 2.0]), st.booleans())
def test_small_moves_from_the_solution_do_not_help(problem, gamma_i, normalized):
    X, y = problem
    model = LaplacianSVM(
        gamma=0.7, gamma_A=0.05, gamma_I=gamma_i, n_neighbors=2, normalized=normalized
    ).fit(X, y)
    objective = oracle_objective(model, X, y)
    found, size = spread_over_rows(model, X), 1e-4
    for direction in np.eye(len(found)):
        forward = objective(found + size * direction)
        backward = objective(found - size * direction)
        assert abs(forward - backward) / (2 * size) < 1e-5


@examples(15)
@given(problems(distinct=True))
def test_without_the_graph_it_is_a_squared_hinge_kernel_svm(problem):
    X, y = problem
    model = LaplacianSVM(gamma=0.7, gamma_A=0.1, gamma_I=0.0).fit(X, y)
    is_labelled = y != -1
    alone = X[is_labelled], y[is_labelled]
    objective = oracle_objective(model, *alone)
    independent = minimize(objective, np.zeros(len(alone[0]) + 1), method="BFGS").x
    gram = np.array(oracle.rbf_kernel([tuple(x) for x in alone[0].tolist()], 0.7))
    expected = gram @ independent[:-1] + independent[-1]
    np.testing.assert_allclose(model.decision_function(alone[0]), expected, atol=2e-3)


@examples(40)
@given(problems(), st.integers(1, 4))
def test_the_graph_joins_the_nearest_distinct_points(problem, n_neighbors):
    points = sorted({tuple(row) for row in problem[0].tolist()})
    array = np.array(points)
    squared = ((array[:, None] - array) ** 2).sum(axis=2)
    expected = oracle.neighbour_graph(points, n_neighbors)
    assert neighbour_weights(squared, n_neighbors).tolist() == expected


def test_heat_weights_fall_with_distance():
    squared = (np.array([0.0, 1.0, 3.0])[:, None] - np.array([0.0, 1.0, 3.0])) ** 2
    weights = neighbour_weights(squared, 2, weighting="heat")
    mean = (1 + 4 + 9) / 3
    assert weights[0].tolist() == pytest.approx(
        [0, np.exp(-1 / mean), np.exp(-9 / mean)]
    )


@pytest.mark.parametrize("normalized", [False, True])
def test_the_laplacian_is_positive_semidefinite(normalized):
    generator = np.random.default_rng(1)
    weights = generator.random((6, 6)) * (generator.random((6, 6)) < 0.4)
    weights = np.triu(weights, 1) + np.triu(weights, 1).T
    weights[2], weights[:, 2] = 0.0, 0.0
    laplacian = graph_laplacian(weights, normalized=normalized)
    assert np.linalg.eigvalsh(laplacian).min() > -1e-12
    np.testing.assert_allclose(laplacian, laplacian.T)


def two_moons(seed, noise=0.05):
    X, truth = make_moons(200, noise=noise, random_state=seed)
    y = np.full(200, -1)
    for label in (0, 1):
        y[np.flatnonzero(truth == label)[0]] = label
    return X, y, truth


@pytest.mark.parametrize("seed", range(5))
def test_two_labels_are_enough_for_two_moons(seed):
    X, y, truth = two_moons(seed)
    assert LaplacianSVM(gamma=10.0).fit(X, y).score(X, truth) > 0.99
    assert LaplacianSVM(gamma=10.0, gamma_I=0.0).fit(X, y).score(X, truth) < 0.95


def test_heat_weights_and_the_normalised_laplacian_tell_the_moons_apart_too():
    X, y, truth = two_moons(0)
    heat = LaplacianSVM(gamma=10.0, weighting="heat").fit(X, y)
    normalised = LaplacianSVM(gamma=10.0, gamma_I=1000.0, normalized=True).fit(X, y)
    assert heat.score(X, truth) > 0.99
    assert normalised.score(X, truth) > 0.99


@examples(25)
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(problem, random):
    X, y = problem
    order = list(range(len(X)))
    random.shuffle(order)
    one = LaplacianSVM(n_neighbors=2, gamma=1.0).fit(X, y).decision_function(X)
    two = LaplacianSVM(n_neighbors=2, gamma=1.0).fit(X[order], y[order])
    np.testing.assert_allclose(two.decision_function(X), one, atol=1e-5)


@examples(25)
@given(problems(), st.integers(2, 3))
def test_copying_the_whole_table_changes_nothing(problem, copies):
    X, y = problem
    one = LaplacianSVM(n_neighbors=2, gamma=1.0).fit(X, y)
    many = LaplacianSVM(n_neighbors=2, gamma=1.0)
    many.fit(np.tile(X, (copies, 1)), np.tile(y, copies))
    np.testing.assert_allclose(
        many.decision_function(X), one.decision_function(X), atol=1e-5
    )


def test_moving_all_points_alike_changes_nothing_for_rbf():
    X, y, _ = two_moons(1)
    one = LaplacianSVM(gamma=10.0).fit(X, y).decision_function(X)
    angle = np.array([[0.6, -0.8], [0.8, 0.6]])
    moved = X @ angle + [3.0, -2.0]
    two = LaplacianSVM(gamma=10.0).fit(moved, y).decision_function(moved)
    np.testing.assert_allclose(two, one, atol=1e-5)


def test_exchanging_the_labels_exchanges_the_predictions():
    X, y, _ = two_moons(2)
    one = LaplacianSVM(gamma=10.0).fit(X, y).predict(X)
    flipped = np.where(y == -1, -1, 1 - y)
    assert (LaplacianSVM(gamma=10.0).fit(X, flipped).predict(X) == 1 - one).all()


def test_labels_may_be_text():
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    model = LaplacianSVM(n_neighbors=1).fit(X, ["no", "no", "yes", "yes"])
    assert model.predict([[0.05], [1.05]]).tolist() == ["no", "yes"]


@pytest.mark.parametrize(
    ("y", "match"),
    [
        ([1, 1, -1], r"have 1 class \(1\)"),
        ([-1, -1, -1], r"have 0 classes \(none\)"),
        ([0, 1, 2], r"have 3 classes \(0, 1, 2\)"),
    ],
)
def test_labels_that_are_not_two_classes_are_refused(y, match):
    with pytest.raises(DataError, match=match):
        LaplacianSVM().fit([[0.0], [1.0], [2.0]], y)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "poly"}, "kernel must be one of rbf, linear. Got 'poly'"),
        ({"gamma": -1.0}, "gamma must be a finite number > 0. Got -1.0"),
        ({"gamma_A": 0}, "gamma_A must be a finite number > 0. Got 0"),
        ({"gamma_I": -2}, "gamma_I must be a finite number >= 0. Got -2"),
        ({"tol": float("nan")}, "tol must be a finite number > 0. Got nan"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer >= 1. Got 0"),
        ({"max_iter": 1.5}, "max_iter must be an integer >= 1. Got 1.5"),
        ({"weighting": "cosine"}, "weighting must be one of binary, heat"),
    ],
)
def test_parameters_out_of_range_are_refused(options, match):
    with pytest.raises(ParameterError, match=match):
        LaplacianSVM(**options).fit([[0.0], [1.0]], [0, 1])


def test_a_fit_that_did_not_end_says_so():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    with pytest.warns(ConvergenceWarning, match="stopped at max_iter=1 .* Raise max_"):
        LaplacianSVM(gamma_I=0.0, max_iter=1).fit(X, X[:, 0] > 0.3)


def test_newton_ends_after_a_few_steps_on_overlapping_classes():
    generator = np.random.default_rng(0)
    for gamma_a, gamma_i in [(1e-6, 0.0), (1e-4, 100.0), (1.0, 1e4)]:
        X = generator.normal(size=(120, 3)).round(1)
        y = generator.integers(-1, 2, 120)
        model = LaplacianSVM(gamma_A=gamma_a, gamma_I=gamma_i).fit(X, y)
        assert 1 <= model.n_iter_ < 30


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Skipping check")
def test_it_meets_the_checks_of_scikit_learn():
    # This one labels rows -1, which means "without a label" here.
    excused = {"check_classifiers_classes": "-1 stands for a row without a label"}
    check_estimator(LaplacianSVM(), expected_failed_checks=excused)
