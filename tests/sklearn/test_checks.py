"""The checks that scikit-learn has for estimators."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from bayesmend.sklearn import BayesianNetworkClassifier, BayesianNetworkImputer

# What tables of random numbers are read as is no news here.
pytestmark = pytest.mark.filterwarnings("ignore::bayesmend.errors.BayesmendWarning")

QUICK = {"method": "em", "solver": "greedy", "restarts": 0, "n_threads": 1}
LIKELY = {"random_state": 1, "n_threads": 1}


def expected_failures(estimator):
    if not isinstance(estimator, BayesianNetworkClassifier):
        return {}
    return {
        "check_sample_weight_equivalence_on_dense_data": (
            "A structure over 30 columns of noise and 15 rows is found by a search "
            "that draws at random and meets many equals; the order of the rows decides "
            "among them. Where the search is exact weights count as repeated rows do: "
            "test_classifier.py."
        )
    }


@parametrize_with_checks(
    [BayesianNetworkImputer(**QUICK), BayesianNetworkClassifier(**QUICK)],
    expected_failed_checks=expected_failures,
)
def test_estimators_keep_the_rules(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        BayesianNetworkImputer(**LIKELY),
        BayesianNetworkImputer(**LIKELY, method="ensemble", n_networks=5),
        BayesianNetworkImputer(**LIKELY, method="local", solver="greedy", restarts=0),
        BayesianNetworkImputer(**LIKELY, sample_posterior=True, add_indicator=True),
        BayesianNetworkClassifier(**LIKELY, n_networks=5),
        BayesianNetworkClassifier(**QUICK, mechanism="auto"),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimators_keep_the_rules_by_other_methods(estimator, check):
    check(estimator)
