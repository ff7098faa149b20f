"""Hide cells of a table on purpose, and remember what they held."""

from bayesmend.hiding.mechanisms import (
    hide_mar,
    hide_mcar,
    hide_mnar,
    hide_value_of,
    hide_value_per_variable,
)
from bayesmend.hiding.record import Hidden, Shortfall

__all__ = [
    "Hidden",
    "Shortfall",
    "hide_mar",
    "hide_mcar",
    "hide_mnar",
    "hide_value_of",
    "hide_value_per_variable",
]
