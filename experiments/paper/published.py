"""Published results, to stand beside measured ones; they are nowhere else.

From Section 3 of T. Adel and C. P. de Campos, Learning Bayesian Networks with
Incomplete Data by Augmentation, AAAI 2017. Accuracies in per cent, as printed there.
Methods go by our names: ``exact`` is the paper's exact learning, ``local-1`` its
approximate learning (t = 1), ``em`` its structural EM, ``svm`` the best of several
kernels, ``lapsvm`` the Laplacian SVM.
"""

from collections.abc import Mapping

__all__ = ["SOURCE", "published_values"]

SOURCE = "Adel and de Campos, AAAI 2017"

_SPECT = {
    "3 %": (81.75, 60.0),
    "5 %": (75.22, 49.27),
    "10 %": (81.94, 62.04),
    "3 %, value 0": (95.65, 56.52),
    "5 %, value 0": (80.43, 39.13),
    "10 %, value 0": (92.75, 60.87),
    "3 %, value 1": (67.83, 63.48),
    "5 %, value 1": (70.0, 59.4),
    "10 %, value 1": (71.13, 63.2),
}

PUBLISHED: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "table1": {
        "breast cancer": {"exact": 84.38, "local-1": 80.0, "em": 50.0},
        "prostate cancer": {"exact": 91.0, "local-1": 86.36, "em": 50.0},
        "asia": {"exact": 84.38, "local-1": 79.0, "em": 43.75},
    },
    "table2": {
        "spread, MNAR": {"local-1": 70.83, "em": 45.0},
        "spread, MAR": {"local-1": 70.0, "em": 50.0},
        "class, MNAR": {"local-1": 97.5, "em": 42.5, "svm": 45.0},
        "class, MAR": {"local-1": 69.0, "em": 70.0, "svm": 55.0},
    },
    "table3": {
        name: {"local-1": approximate, "em": em}
        for name, (approximate, em) in _SPECT.items()
    },
    "table4": {
        "25": {"local-1": 90.0, "em": 15.0, "lapsvm": 76.0},
        "50": {"local-1": 88.0, "em": 10.0, "lapsvm": 73.5},
        "75": {"local-1": 88.0, "em": 8.0, "lapsvm": 76.0},
    },
    "table5": {"car": {"local-1": 87.5, "em": 69.38, "svm": 85.96}},
}


def published_values(experiment: str, block: str) -> Mapping[str, float]:
    """Give what was published for a block, by method; nothing where nothing was.

    Examples
    --------
    >>> published_values("table5", "car")["svm"]
    85.96
    >>> published_values("table5", "bicycle")
    {}
    """
    return PUBLISHED.get(experiment, {}).get(block, {})
