"""The kinds of inputs, and how many of each make up a run of 100.

A kind is a module with ``prepare()``, called once, and ``attempt(rng)``, which makes an
input by the generator, tries it and returns a word for what came of it. It raises where
a promise was broken.
"""

import importlib
from collections.abc import Callable

import numpy as np

SHARES = {"parsers": 60, "tables": 15, "interface": 13, "truths": 12}
# Not part of any run: to see that each way to fail is noticed.
CONTROLS = ("control",)


def attempt_of(kind: str) -> Callable[[np.random.Generator], str]:
    module = importlib.import_module(f"fuzz.{kind}")
    module.prepare()
    attempt: Callable[[np.random.Generator], str] = module.attempt
    return attempt


def generator_of(seed: int, kind: str, number: int) -> np.random.Generator:
    places = [*SHARES, *CONTROLS]
    return np.random.default_rng([seed, places.index(kind), number])
