"""What a network says of a table: marginals, most probable states, draws, queries."""

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

__all__ = [
    "Answer",
    "Explanation",
    "Imputation",
    "Marginals",
    "draw",
    "explain",
    "impute",
    "log_evidence",
    "marginals",
    "query",
]
