"""Expectation-maximisation: parameters of a structure, or structure and parameters."""

from bayesmend.em.parameters import ParameterFit, fit_parameters
from bayesmend.em.result import EmResult, EmStep
from bayesmend.em.starts import STARTS, Start
from bayesmend.em.structural import complete_by_em, learn_em

__all__ = [
    "STARTS",
    "EmResult",
    "EmStep",
    "ParameterFit",
    "Start",
    "complete_by_em",
    "fit_parameters",
    "learn_em",
]
