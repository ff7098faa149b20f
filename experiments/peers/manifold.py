"""The graph Laplacian of a cloud of points, for manifold regularisation.

Symbols of Belkin, Niyogi and Sindhwani (2006): ``W`` is ``weights``, ``D`` the diagonal
of its row sums, ``L = D - W`` the Laplacian.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayesmend._checks import check_choice

__all__ = ["WEIGHTS", "Weighting", "graph_laplacian", "neighbour_weights"]

Floats = NDArray[np.float64]
Weighting = Literal["binary", "heat"]
WEIGHTS = get_args(Weighting)


def neighbour_weights(
    squared: Floats, n_neighbors: int, *, weighting: Weighting = "binary"
) -> Floats:
    """Join each point to its nearest neighbours.

    Two points are joined when one is among the nearest of the other. All points as far
    as the last neighbour are neighbours too, so that the order of the points does not
    matter.

    Parameters
    ----------
    squared : ndarray of shape (n_points, n_points)
        Squared distances of distinct points.
    n_neighbors : int
        Number of neighbours of each point; all others when there are fewer.
    weighting : {"binary", "heat"}, default="binary"
        Weight 1 for each edge, or ``exp(-d^2 / m)`` where ``m`` is the mean squared
        length of the edges.

    Returns
    -------
    ndarray of shape (n_points, n_points)
        Symmetric weights, 0 where points are not joined and on the diagonal.

    Examples
    --------
    >>> points = np.array([0.0, 1.0, 3.0])
    >>> neighbour_weights((points[:, None] - points) ** 2, 1).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    check_choice("weighting", weighting, WEIGHTS)
    n_points = len(squared)
    if n_points == 1:
        return np.zeros((1, 1))
    apart = squared.copy()
    np.fill_diagonal(apart, np.inf)
    last = min(n_neighbors, n_points - 1) - 1
    reach = np.partition(apart, last, axis=1)[:, last]
    # Distances that differ by rounding alone are ties.
    is_near = apart <= reach[:, None] * (1 + 1e-12)
    is_edge = is_near | is_near.T
    if weighting == "binary":
        return is_edge.astype(float)
    mean = squared[is_edge].mean()
    return np.where(is_edge, np.exp(-squared / mean), 0.0)


def graph_laplacian(
    weights: Floats, counts: ArrayLike = 1, *, normalized: bool = False
) -> Floats:
    """Return the Laplacian of a graph whose points stand for several rows each.

    Parameters
    ----------
    weights : ndarray of shape (n_points, n_points)
        Symmetric weights between one row of a point and one of another.
    counts : array of shape (n_points,), default=1
        How many rows each point stands for.
    normalized : bool, default=False
        ``I - D^(-1/2) W D^(-1/2)`` instead of ``D - W``.

    Returns
    -------
    ndarray of shape (n_points, n_points)
        The matrix whose quadratic form, for one value per point, is that of the
        Laplacian of all rows.

    Examples
    --------
    >>> graph_laplacian(np.array([[0.0, 2.0], [2.0, 0.0]]), [1, 3]).tolist()
    [[6.0, -6.0], [-6.0, 6.0]]
    """
    copies = np.broadcast_to(np.asarray(counts, dtype=float), len(weights))
    together = weights * copies[:, None] * copies
    degree = together.sum(axis=1)
    laplacian = np.diag(degree) - together
    if not normalized:
        return np.asarray(laplacian)
    scale = np.zeros_like(degree)
    np.divide(copies, degree, out=scale, where=degree > 0)
    return np.asarray(np.sqrt(scale)[:, None] * laplacian * np.sqrt(scale))
