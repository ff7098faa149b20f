"""Expectation-maximisation: parameters of a structure, or structure and parameters."""

from bayesmend.learning.em.learn import complete_by_em, learn_em
from bayesmend.learning.em.parameters import ParameterFit, fit_parameters
from bayesmend.learning.em.starts import STARTS, Start

__all__ = [
    "STARTS",
    "ParameterFit",
    "Start",
    "complete_by_em",
    "fit_parameters",
    "learn_em",
]
