"""What a network says of a table: marginals, most probable states, draws, queries."""

from bayesmend.inference.answers import Marginals
from bayesmend.inference.files import ImputedFiles, impute_files
from bayesmend.inference.impute import Imputation, impute
from bayesmend.inference.posterior import (
    MostProbable,
    draw_completions,
    log_evidence,
    marginals,
    most_probable,
)
from bayesmend.inference.query import Answer, query

__all__ = [
    "Answer",
    "Imputation",
    "ImputedFiles",
    "Marginals",
    "MostProbable",
    "draw_completions",
    "impute",
    "impute_files",
    "log_evidence",
    "marginals",
    "most_probable",
    "query",
]
