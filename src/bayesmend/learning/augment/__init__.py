"""Augmentation: the best structure and the best completion at once."""

from bayesmend.learning.augment.exact import learn_exact
from bayesmend.learning.augment.local import learn_local

__all__ = ["learn_exact", "learn_local"]
