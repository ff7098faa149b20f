"""Learn discrete Bayesian networks from categorical tables with missing cells."""

from typing import TYPE_CHECKING, Any

from bayesmend import (
    _interrupts as _interrupts,  # first, so that the other imports can be interrupted
)
from bayesmend import (
    data,
    datasets,
    errors,
    formats,
    graph,
    hiding,
    inference,
    learning,
    network,
    report,
    score,
    structure,
    validation,
)
from bayesmend.data import IncompleteData, compare_mended
from bayesmend.data.table import summary
from bayesmend.datasets import available_networks, load_network
from bayesmend.formats import (
    read_ensemble,
    read_network,
    write_ensemble,
    write_network,
)
from bayesmend.graph import Constraints, Dag, structural_hamming_distance
from bayesmend.hiding import hide_mar, hide_mcar, hide_mnar
from bayesmend.inference import (
    draw_completions,
    impute,
    log_evidence,
    marginals,
    most_probable,
    query,
)
from bayesmend.learning import (
    Ensemble,
    LearnResult,
    bootstrap,
    fit_parameters,
    impute_multiple,
    learn,
    learn_em,
    learn_ensemble,
    learn_exact,
    learn_local,
    pool,
)
from bayesmend.network import Network
from bayesmend.outcome import Certificate, Stopped
from bayesmend.report import write_report
from bayesmend.score import Score, dag_score
from bayesmend.structure import learn_structure
from bayesmend.validation import cross_validate

__all__ = [
    "Certificate",
    "Constraints",
    "Dag",
    "Ensemble",
    "IncompleteData",
    "LearnResult",
    "Network",
    "Score",
    "Stopped",
    "__version__",
    "available_networks",
    "bootstrap",
    "compare_mended",
    "cross_validate",
    "dag_score",
    "data",
    "datasets",
    "draw_completions",
    "errors",
    "fit_parameters",
    "formats",
    "graph",
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "hiding",
    "impute",
    "impute_multiple",
    "inference",
    "learn",
    "learn_em",
    "learn_ensemble",
    "learn_exact",
    "learn_local",
    "learn_structure",
    "learning",
    "load_network",
    "log_evidence",
    "marginals",
    "most_probable",
    "network",
    "pool",
    "query",
    "read_ensemble",
    "read_network",
    "report",
    "score",
    "structural_hamming_distance",
    "structure",
    "summary",
    "validation",
    "write_ensemble",
    "write_network",
    "write_report",
]


def __dir__() -> list[str]:
    """List the public names and the submodules that hold the others."""
    return sorted(__all__)


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
