"""Learn discrete Bayesian networks from categorical data with missing values."""

from typing import TYPE_CHECKING, Any

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
)
from bayesmend.data import IncompleteData
from bayesmend.datasets import available_networks, load_network
from bayesmend.formats import read_network, write_network
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
    LearnResult,
    fit_parameters,
    learn,
    learn_em,
    learn_exact,
    learn_local,
)
from bayesmend.network import Network
from bayesmend.outcome import Certificate, Stopped
from bayesmend.report import write_report
from bayesmend.score import Score, dag_score
from bayesmend.structure import learn_structure

_SUBMODULES = (
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
)

__all__ = [
    "Certificate",
    "Constraints",
    "Dag",
    "IncompleteData",
    "LearnResult",
    "Network",
    "Score",
    "Stopped",
    "__version__",
    "available_networks",
    "dag_score",
    "draw_completions",
    "fit_parameters",
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "impute",
    "learn",
    "learn_em",
    "learn_exact",
    "learn_local",
    "learn_structure",
    "load_network",
    "log_evidence",
    "marginals",
    "most_probable",
    "query",
    "read_network",
    "structural_hamming_distance",
    "write_network",
    "write_report",
]


def __dir__() -> list[str]:
    """List the public names and the submodules that hold the others."""
    return sorted([*__all__, *(m.__name__.split(".")[-1] for m in _SUBMODULES)])


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
