"""Inputs that break each promise on purpose: all of them must be noticed."""

import os
import time

import numpy as np

WAYS = ("fine", "raw error", "wrong answer", "abort", "hang", "memory")


def prepare() -> None:
    """Nothing is needed."""


def attempt(rng: np.random.Generator) -> str:
    way = WAYS[int(os.environ["FUZZ_CONTROL"])]
    if way == "raw error":
        raise KeyError("no error of ours")
    if way == "wrong answer":
        raise AssertionError("2 is not 3")
    if way == "abort":
        os.abort()
    if way == "hang":
        time.sleep(1000)
    if way == "memory":
        return str(len(bytearray(2**33)))
    return "fine"
