"""Learning from incomplete tables: by augmentation, by reduction, by EM."""

from bayesmend.learning.learn import METHODS, learn

__all__ = ["METHODS", "learn"]
