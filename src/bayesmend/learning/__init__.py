"""Learning from incomplete tables: by augmentation, reduction, EM, ensembles."""

from bayesmend.learning.augment import learn_exact, learn_local
from bayesmend.learning.bootstrap import Bootstrap, bootstrap
from bayesmend.learning.em import ParameterFit, fit_parameters, learn_em
from bayesmend.learning.ensemble import Ensemble, learn_ensemble
from bayesmend.learning.learn import METHODS, learn
from bayesmend.learning.mechanism.innocence import Innocence, innocence
from bayesmend.learning.mechanism.result import LearnedMechanism, MissingCells
from bayesmend.learning.multiple import MultipleImputation, impute_multiple
from bayesmend.learning.pool import Pooled, pool
from bayesmend.learning.reduction import (
    Reduction,
    ReductionResult,
    reduce_to_complete,
    solve_reduction,
)
from bayesmend.learning.result import LearnResult, Step
from bayesmend.learning.saved import read_result, write_result
from bayesmend.learning.sensitivity import Sensitivity, sensitivity

__all__ = [
    "METHODS",
    "Bootstrap",
    "Ensemble",
    "Innocence",
    "LearnResult",
    "LearnedMechanism",
    "MissingCells",
    "MultipleImputation",
    "ParameterFit",
    "Pooled",
    "Reduction",
    "ReductionResult",
    "Sensitivity",
    "Step",
    "bootstrap",
    "fit_parameters",
    "impute_multiple",
    "innocence",
    "learn",
    "learn_em",
    "learn_ensemble",
    "learn_exact",
    "learn_local",
    "pool",
    "read_result",
    "reduce_to_complete",
    "sensitivity",
    "solve_reduction",
    "write_result",
]
