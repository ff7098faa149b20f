"""A Laplacian support vector machine for few labels and many unlabelled rows.

After Belkin, Niyogi and Sindhwani (2006), "Manifold regularization", JMLR 7, with the
squared hinge loss and the Newton steps in the primal of Melacci and Belkin (2011),
"Laplacian support vector machines trained in the primal", JMLR 12. No maintained Python
package was found to have one: scikit-learn does not, and LAMDA-SSL, which does, has had
no release since 1.0.2 of 2022 and asks for PyTorch (R has RSSL, which solves the dual).

Their symbols beside our names: ``alpha`` is ``dual_coef_``, ``b`` is ``intercept_``,
``l`` the number of labelled rows and ``l + u`` the number of all rows. The objective is

    1/l sum_i max(0, 1 - y_i f(x_i))^2 + gamma_A |f|_K^2 + gamma_I/(l + u)^2 f' L f

with the intercept outside both norms. Rows that are alike have the same ``f``; they are
one point here, whose edges weigh as much as those of all its rows together. Neighbours
are counted among distinct points, else copies would crowd out all others in a table of
few categorical variables.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayesmend._checks import check_choice, check_integer, check_number
from bayesmend.errors import (
    ConvergenceWarning,
    DataError,
    MissingDependencyError,
)
from experiments.peers.manifold import (
    Weighting,
    graph_laplacian,
    neighbour_weights,
)

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.metrics.pairwise import euclidean_distances
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    _message = (
        "the Laplacian SVM needs scikit-learn 1.6 or later. Install what the "
        "experiments need: pip install --group experiments."
    )
    raise MissingDependencyError(_message) from error

__all__ = ["UNLABELED", "LaplacianSVM"]

Floats = NDArray[np.float64]
UNLABELED = -1


class LaplacianSVM(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Binary classifier that is smooth along the cloud of all rows.

    Parameters
    ----------
    kernel : {"rbf", "linear"}, default="rbf"
        ``exp(-gamma |x - z|^2)`` or ``x' z``.
    gamma : "scale" or float, default="scale"
        Width of the rbf kernel; ``scale`` is 1 / (n_features * variance of X).
    gamma_A : float, default=1e-4
        Weight, > 0, of the norm of the function in the space of the kernel.
    gamma_I : float, default=100.0
        Weight, >= 0, of its roughness over the graph; 0 gives a support vector machine
        with the squared hinge loss.
    n_neighbors : int, default=6
        Neighbours of each distinct point in the graph.
    weighting : {"binary", "heat"}, default="binary"
        Weights of the edges; see `neighbour_weights`.
    normalized : bool, default=False
        Whether to use the normalised Laplacian.
    max_iter : int, default=100
        Limit of Newton steps; the method ends by itself after a few.
    tol : float, default=1e-8
        The fit ends when the gradient is this small.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two labels.
    dual_coef_ : ndarray of shape (n_points,)
        Weights of the kernel functions at `points_`.
    points_ : ndarray of shape (n_points, n_features_in_)
        The distinct rows of X.
    intercept_ : float
        The constant.
    n_iter_ : int
        Newton steps taken.

    Notes
    -----
    Time grows with the third power of the number of distinct rows, memory with the
    second.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> y = np.array([0, -1, -1, -1, -1, 1])
    >>> LaplacianSVM(n_neighbors=1).fit(X, y).predict(X).tolist()
    [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self,
        *,
        kernel: Literal["rbf", "linear"] = "rbf",
        gamma: float | Literal["scale"] = "scale",
        gamma_A: float = 1e-4,
        gamma_I: float = 100.0,
        n_neighbors: int = 6,
        weighting: Weighting = "binary",
        normalized: bool = False,
        max_iter: int = 100,
        tol: float = 1e-8,
    ) -> None:
        self.kernel, self.gamma = kernel, gamma
        self.gamma_A, self.gamma_I = gamma_A, gamma_I
        self.n_neighbors, self.weighting = n_neighbors, weighting
        self.normalized, self.max_iter, self.tol = normalized, max_iter, tol

    def __sklearn_tags__(self) -> Any:
        """Say that this is a classifier of two classes."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from labelled rows and from those with the label -1.

        Parameters
        ----------
        X : array of shape (n_rows, n_features)
            Numbers; categorical variables enter one-hot.
        y : array of shape (n_rows,)
            Two different labels, and -1 for a row without one.

        Returns
        -------
        LaplacianSVM
            The estimator itself.
        """
        self._check_parameters()
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        is_labelled = np.array([label != UNLABELED for label in y.tolist()])
        self.classes_ = _two_classes(y[is_labelled])
        self.points_, where = np.unique(X, axis=0, return_inverse=True)
        where = where.reshape(-1)
        self._gamma = self._width(X)
        problem = Objective(
            gram=self._kernel(self.points_),
            laplacian=self._laplacian(np.bincount(where)),
            at=where[is_labelled],
            signs=np.where(y[is_labelled] == self.classes_[1], 1.0, -1.0),
            ambient=float(self.gamma_A),
            intrinsic=float(self.gamma_I) / len(X) ** 2,
        )
        self.dual_coef_, self.intercept_, self.n_iter_ = problem.minimise(
            self.max_iter, self.tol
        )
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return f(x), positive for the second of `classes_`."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        return np.asarray(self._kernel(X) @ self.dual_coef_ + self.intercept_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the label of each row."""
        is_second = self.decision_function(X) > 0
        return np.asarray(self.classes_[is_second.astype(int)])

    def _kernel(self, X: Floats) -> Floats:
        if self.kernel == "linear":
            return np.asarray(X @ self.points_.T)
        squared = euclidean_distances(X, self.points_, squared=True)
        return np.asarray(np.exp(-self._gamma * squared))

    def _width(self, X: Floats) -> float:
        if self.gamma != "scale":
            return float(self.gamma)
        variance = float(X.var())
        return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0

    def _laplacian(self, counts: NDArray[np.intp]) -> Floats:
        squared = euclidean_distances(self.points_, squared=True)
        weights = neighbour_weights(squared, self.n_neighbors, weighting=self.weighting)
        return graph_laplacian(weights, counts, normalized=self.normalized)

    def _check_parameters(self) -> None:
        check_choice("kernel", self.kernel, ("rbf", "linear"))
        if self.gamma != "scale":
            check_number("gamma", self.gamma, above=0, finite=True)
        check_number("gamma_A", self.gamma_A, above=0, finite=True)
        check_number("gamma_I", self.gamma_I, least=0, finite=True)
        check_number("tol", self.tol, above=0, finite=True)
        check_integer("n_neighbors", self.n_neighbors, 1)
        check_integer("max_iter", self.max_iter, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """What a Laplacian SVM minimises, over distinct points.

    Attributes
    ----------
    gram : ndarray of shape (n_points, n_points)
        The kernel between points.
    laplacian : ndarray of shape (n_points, n_points)
        The graph Laplacian.
    at, signs : ndarray of shape (n_labelled,)
        Point and label, -1 or 1, of each labelled row.
    ambient, intrinsic : float
        Weights of the two norms, all factors included.
    """

    gram: Floats
    laplacian: Floats
    at: NDArray[np.intp]
    signs: Floats
    ambient: float
    intrinsic: float

    def value(self, alpha: Floats, b: float) -> float:
        """Return the objective."""
        f = self.gram @ alpha
        hinge = np.maximum(0.0, 1.0 - self.signs * (f[self.at] + b))
        smooth = self.ambient * alpha @ f + self.intrinsic * f @ self.laplacian @ f
        return float(np.mean(hinge**2) + smooth)

    def gradient(self, alpha: Floats, b: float) -> tuple[Floats, float]:
        """Return half the gradient, the kernel factored out of the first part."""
        f = self.gram @ alpha
        error = (f[self.at] + b - self.signs) / len(self.at)
        error[~self.is_active(f, b)] = 0.0
        pull = np.bincount(self.at, weights=error, minlength=len(alpha))
        rough = self.intrinsic * (self.laplacian @ f)
        return pull + self.ambient * alpha + rough, float(error.sum())

    def is_active(self, f: Floats, b: float) -> NDArray[np.bool_]:
        """Tell which labelled rows lie within the margin."""
        return np.asarray(self.signs * (f[self.at] + b) < 1.0)

    def minimise(self, max_iter: int, tol: float) -> tuple[Floats, float, int]:
        """Take Newton steps until the gradient vanishes."""
        alpha, b = np.zeros(len(self.gram)), 0.0
        for step in range(max_iter + 1):
            slope, slope_b = self.gradient(alpha, b)
            steepness = max(0.0, float(slope @ self.gram @ slope)) + slope_b**2
            if steepness <= tol**2:
                return alpha, b, step
            if step < max_iter:
                alpha, b = self._descend(alpha, b, slope, slope_b)
        message = (
            f"the Laplacian SVM stopped at max_iter={max_iter} with a gradient of "
            f"{steepness**0.5:.3g} > tol={tol:g}. Raise max_iter."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=3)
        return alpha, b, max_iter

    def _descend(
        self, alpha: Floats, b: float, slope: Floats, slope_b: float
    ) -> tuple[Floats, float]:
        """Go to the minimum for the rows now active, or part of the way."""
        target, target_b = self._newton(alpha, b)
        move, move_b = target - alpha, target_b - b
        # Half the directional derivative; the objective has twice this slope.
        descent = float(slope @ self.gram @ move) + slope_b * move_b
        value, length = self.value(alpha, b), 1.0
        while (
            self.value(alpha + length * move, b + length * move_b)
            > value + 1e-4 * length * 2 * descent
            and length > 1e-12
        ):
            length /= 2
        return alpha + length * move, b + length * move_b

    def _newton(self, alpha: Floats, b: float) -> tuple[Floats, float]:
        """Solve for the minimum with the active rows held active, the others not."""
        n_points = len(alpha)
        active = self.is_active(self.gram @ alpha, b)
        at, signs = self.at[active], self.signs[active]
        share = np.bincount(at, minlength=n_points) / len(self.at)
        pull = np.bincount(at, weights=signs, minlength=n_points) / len(self.at)
        system = np.empty((n_points + 1, n_points + 1))
        system[:-1, :-1] = (
            self.intrinsic * (self.laplacian @ self.gram) + share[:, None] * self.gram
        )
        system[np.arange(n_points), np.arange(n_points)] += self.ambient
        system[:-1, -1] = share
        system[-1, :-1] = share @ self.gram
        system[-1, -1] = share.sum()
        right = np.append(pull, pull.sum())
        if not active.any():
            # Any constant is as good as another: keep it.
            system[-1, -1], right[-1] = 1.0, b
        solution = np.linalg.solve(system, right)
        return solution[:-1], float(solution[-1])


def _two_classes(labels: NDArray[Any]) -> NDArray[Any]:
    """Return the two labels in order, or say that there are not two."""
    classes = np.unique(labels)
    if len(classes) == 2:
        return classes
    count = "1 class" if len(classes) == 1 else f"{len(classes)} classes"
    found = ", ".join(map(str, classes[:5].tolist())) or "none"
    message = (
        "Only binary classification is supported: the labelled rows must have two "
        f"classes, but they have {count} ({found}). A row "
        f"without a label has y = {UNLABELED}."
    )
    raise DataError(message)
