"""Learn discrete Bayesian networks from categorical tables with missing cells."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayesmend import (
    _interrupts as _interrupts,  # first, so that the other imports can be interrupted
)

if TYPE_CHECKING:
    __version__: str
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
        notebook,
        plot,
        report,
        score,
        structure,
        validation,
        verification,
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
        log_evidence,
        marginals,
        most_probable,
    )
    from bayesmend.inference.impute import impute
    from bayesmend.inference.query import query
    from bayesmend.learning import (
        Ensemble,
        LearnResult,
        fit_parameters,
        impute_multiple,
        learn_em,
        learn_ensemble,
        learn_exact,
        learn_local,
        read_result,
        write_result,
    )
    from bayesmend.learning.bootstrap import bootstrap
    from bayesmend.learning.learn import learn
    from bayesmend.learning.pool import pool
    from bayesmend.network import Network
    from bayesmend.outcome import Certificate, Stopped
    from bayesmend.report import write_report
    from bayesmend.score import Score, dag_score
    from bayesmend.structure import learn_structure
    from bayesmend.validation import cross_validate
    from bayesmend.verification import Verification, verify

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
    "Verification",
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
    "notebook",
    "plot",
    "pool",
    "query",
    "read_ensemble",
    "read_network",
    "read_result",
    "report",
    "score",
    "structural_hamming_distance",
    "structure",
    "summary",
    "validation",
    "verification",
    "verify",
    "write_ensemble",
    "write_network",
    "write_report",
    "write_result",
]


# Where the public names come from. Nothing is loaded before it is asked for: a command
# that tells its version, or a program that reads a network, need not wait for solvers.
# The others of `__all__` are submodules.
_NAMES_OF = {
    "data": ("IncompleteData", "compare_mended"),
    "data.table": ("summary",),
    "datasets": ("available_networks", "load_network"),
    "formats": ("read_ensemble", "read_network", "write_ensemble", "write_network"),
    "graph": ("Constraints", "Dag", "structural_hamming_distance"),
    "hiding": ("hide_mar", "hide_mcar", "hide_mnar"),
    "inference": ("draw_completions", "log_evidence", "marginals", "most_probable"),
    "inference.impute": ("impute",),
    "inference.query": ("query",),
    "learning": (
        "Ensemble",
        "LearnResult",
        "fit_parameters",
        "impute_multiple",
        "learn_em",
        "learn_ensemble",
        "learn_exact",
        "learn_local",
        "read_result",
        "write_result",
    ),
    "learning.bootstrap": ("bootstrap",),
    "learning.learn": ("learn",),
    "learning.pool": ("pool",),
    "network": ("Network",),
    "outcome": ("Certificate", "Stopped"),
    "report": ("write_report",),
    "score": ("Score", "dag_score"),
    "structure": ("learn_structure",),
    "validation": ("cross_validate",),
    "verification": ("Verification", "verify"),
}
_HOMES = {name: home for home, names in _NAMES_OF.items() for name in names}


if not TYPE_CHECKING:  # which knows all names from above

    def __getattr__(name: str) -> Any:
        """Load what holds a public name when it is first asked for."""
        if name == "__version__":  # pyproject.toml's
            from importlib.metadata import version

            return version("bayesmend")
        if name in _HOMES:
            value = getattr(import_module(f"bayesmend.{_HOMES[name]}"), name)
        elif name in __all__:
            value = import_module(f"bayesmend.{name}")
        else:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the public names and the submodules that hold the others."""
    return sorted(__all__)
