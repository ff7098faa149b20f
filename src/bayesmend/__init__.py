"""Learn discrete Bayesian networks from categorical data with missing values."""

from typing import TYPE_CHECKING, Any

from bayesmend.data.discretize import Discretization, fit_discretization
from bayesmend.data.patterns import Patterns
from bayesmend.data.states import MAX_STATES, MISSING, MISSING_MARKERS, Label
from bayesmend.data.summary import Summary
from bayesmend.data.table import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.formats import read_network, write_network
from bayesmend.graph.constraints import Constraints
from bayesmend.graph.cpdag import Cpdag
from bayesmend.graph.dag import Dag
from bayesmend.graph.distance import (
    SkeletonScores,
    skeleton_scores,
    structural_hamming_distance,
)
from bayesmend.hiding.mechanisms import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)
from bayesmend.hiding.record import Hidden, Shortfall
from bayesmend.inference.engine import Marginals
from bayesmend.inference.impute import Imputation, impute
from bayesmend.inference.posterior import (
    Explanation,
    draw,
    explain,
    log_evidence,
    marginals,
)
from bayesmend.inference.query import Answer, query
from bayesmend.learning.augment import learn_exact, learn_local
from bayesmend.learning.em import ParameterFit, fit_parameters, learn_em
from bayesmend.learning.learn import learn
from bayesmend.learning.reduction import (
    Reduction,
    ReductionResult,
    reduce_to_complete,
    solve_reduction,
)
from bayesmend.learning.result import LearnResult
from bayesmend.network.network import Network
from bayesmend.outcome import Certificate, Stopped
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
from bayesmend.structure.candidates import candidate_parents
from bayesmend.structure.parents import ParentSets

__all__ = [
    "MAX_STATES",
    "MISSING",
    "MISSING_MARKERS",
    "Answer",
    "Certificate",
    "Constraints",
    "Cpdag",
    "Dag",
    "Discretization",
    "Explanation",
    "Families",
    "FamilyScorer",
    "Hidden",
    "Imputation",
    "IncompleteData",
    "Label",
    "LearnResult",
    "Marginals",
    "Network",
    "ParameterFit",
    "ParentSets",
    "Patterns",
    "Reduction",
    "ReductionResult",
    "Score",
    "Shortfall",
    "SkeletonScores",
    "Stopped",
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

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name: str) -> Any:
        """Read the version of the package where it is asked for: pyproject.toml's."""
        if name == "__version__":
            from importlib.metadata import version

            return version("bayesmend")
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
