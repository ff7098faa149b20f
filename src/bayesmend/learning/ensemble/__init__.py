"""Several networks learned from one table, and their answers averaged."""

from bayesmend.learning.ensemble.learn import learn_ensemble
from bayesmend.learning.ensemble.result import Ensemble

__all__ = ["Ensemble", "learn_ensemble"]
