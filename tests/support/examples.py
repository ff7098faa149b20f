"""How many random instances a property is tried on."""

import os

from hypothesis import settings

THOROUGH = "BAYESMEND_THOROUGH" in os.environ
"""Whether all of them are wanted (`make test-slow`), or quick tests (`make test`)."""

_USUAL = 100
_QUICK_SHARE = 0.3


def number_of(most):
    """Return `most`, or a share of it that is quickly done."""
    return most if THOROUGH else max(5, round(_QUICK_SHARE * most))


def examples(most, **others):
    """Return settings of a property that is tried on so many instances at most."""
    return settings(max_examples=number_of(most), **others)


def load_profile():
    """Let this hold for properties that do not say how often they are tried, too.

    How long one random instance takes says more of the machine than of the code: speed
    has tests and benchmarks of its own.
    """
    usual = number_of(_USUAL)
    settings.register_profile("bayesmend", max_examples=usual, deadline=None)
    settings.load_profile("bayesmend")
