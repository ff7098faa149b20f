"""Learn discrete Bayesian networks from categorical data with missing values."""

from bayesmend.augment import (
    AugmentResult,
    MendedCells,
    Reduction,
    ReductionResult,
    learn_exact,
    learn_local,
    reduce_to_complete,
    solve_reduction,
)
from bayesmend.candidates import candidate_parents
from bayesmend.columns import MAX_STATES, MISSING, MISSING_MARKERS, Label
from bayesmend.constraints import Constraints
from bayesmend.cpdag import Cpdag
from bayesmend.dag import Dag
from bayesmend.data import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.discretize import Discretization, fit_discretization
from bayesmend.distance import (
    SkeletonScores,
    skeleton_scores,
    structural_hamming_distance,
)
from bayesmend.em import EmResult, ParameterFit, fit_parameters, learn_em
from bayesmend.engine import Marginals
from bayesmend.formats import read_network, write_network
from bayesmend.hidden import Hidden, Shortfall
from bayesmend.imputation import Imputation, ImputedCells, impute
from bayesmend.inference import Explanation, draw, explain, log_evidence, marginals
from bayesmend.learning import learn
from bayesmend.missing import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)
from bayesmend.network import Network
from bayesmend.parents import ParentSets
from bayesmend.patterns import Patterns
from bayesmend.query import Answer, query
from bayesmend.report import write_report
from bayesmend.score import (
    Families,
    FamilyScorer,
    Score,
    dag_score,
    family_counts,
    family_score,
    score_families,
)
from bayesmend.structure import StructureResult, learn_structure, solve
from bayesmend.summary import Summary

__version__ = "0.1.0"
__all__ = [
    "MAX_STATES",
    "MISSING",
    "MISSING_MARKERS",
    "Answer",
    "AugmentResult",
    "Constraints",
    "Cpdag",
    "Dag",
    "Discretization",
    "EmResult",
    "Explanation",
    "Families",
    "FamilyScorer",
    "Hidden",
    "Imputation",
    "ImputedCells",
    "IncompleteData",
    "Label",
    "Marginals",
    "MendedCells",
    "Network",
    "ParameterFit",
    "ParentSets",
    "Patterns",
    "Reduction",
    "ReductionResult",
    "Score",
    "Shortfall",
    "SkeletonScores",
    "StructureResult",
    "Summary",
    "__version__",
    "available_networks",
    "candidate_parents",
    "dag_score",
    "draw",
    "explain",
    "family_counts",
    "family_score",
    "fit_discretization",
    "fit_parameters",
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "hide_value_of",
    "hide_value_per_variable",
    "impute",
    "learn",
    "learn_em",
    "learn_exact",
    "learn_local",
    "learn_structure",
    "load_network",
    "log_evidence",
    "marginals",
    "query",
    "read_network",
    "reduce_to_complete",
    "score_families",
    "skeleton_scores",
    "solve",
    "solve_reduction",
    "structural_hamming_distance",
    "write_network",
    "write_report",
]
