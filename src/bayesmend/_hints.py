"""What someone may have meant by a name that is none of ours."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

__all__ = ["did_you_mean"]

# What other libraries call the same things.
_ELSEWHERE = {
    "seed": ("random_state", "random_seed", "rng"),
    "progress": ("verbose", "show_progress", "disp"),
    "n_threads": ("n_jobs", "num_threads", "threads", "workers", "n_workers"),
    "max_parents": ("max_indegree", "max_in_degree", "maxp", "indegree"),
    "ess": ("equivalent_sample_size", "iss", "sample_size"),
    "time_limit": ("timeout", "max_time", "time_out"),
    "score": ("scoring", "scoring_method", "score_type", "metric"),
    "method": ("algorithm", "estimator", "strategy"),
    "by": ("method", "strategy"),
    "solver": ("algorithm", "backend"),
    "restarts": ("n_restarts", "n_starts", "n_init"),
    "given": ("evidence", "observed", "conditions"),
    "targets": ("variables", "target", "query_variables"),
    "n_draws": ("n_imputations", "n_completions", "m"),
    "missing": ("missing_values", "na_values", "null_values"),
    "delimiter": ("sep", "separator"),
    "states": ("state_names", "categories", "levels"),
    "weights": ("sample_weight", "sample_weights", "weight"),
    "discretize": ("bins", "n_bins", "cut", "discretise"),
    "n_rows": ("n_samples", "size", "n"),
    "network": ("model", "bn"),
    "data": ("df", "X", "dataset", "table"),
    "forbidden": ("blacklist", "black_list", "forbidden_edges", "forbidden_arcs"),
    "required": (
        *("whitelist", "white_list", "required_edges", "required_arcs"),
        *("fixed_edges", "must_edges"),
    ),
    "tiers": ("temporal_order", "tier"),
}
# Parts of the constraints, which are no parameters of their own.
_IN_CONSTRAINTS = ("forbidden", "required", "tiers")


def did_you_mean(name: object, names: Sequence[str]) -> str:
    """Return a sentence that leads from an unknown name to one of those there are.

    Examples
    --------
    >>> did_you_mean("random_state", ["score", "seed"])
    'It is called seed here.'
    >>> did_you_mean("blacklist", ["data", "constraints"])
    "It is called constraints={'forbidden': [...]} here."
    >>> did_you_mean("max_parent", ["max_parents", "seed"])
    'Did you mean max_parents?'
    >>> did_you_mean("colour", ["score", "seed"])
    'Available: score, seed.'
    """
    text = str(name)
    for ours, theirs in _ELSEWHERE.items():
        if text == ours or text in theirs:
            if ours in names:
                return f"It is called {ours} here."
            if ours in _IN_CONSTRAINTS and "constraints" in names:
                return f"It is called constraints={{'{ours}': [...]}} here."
    if near := get_close_matches(text, names, 1, cutoff=0.75):
        return f"Did you mean {near[0]}?"
    return f"Available: {', '.join(names)}."
