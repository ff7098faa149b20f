"""Randomness: one seed type for the whole package."""

import numpy as np

from bayesmend.errors import ParameterError

__all__ = ["Seed", "as_generator"]

Seed = int | np.random.Generator | None


def as_generator(seed: Seed) -> np.random.Generator:
    """Turn a seed into a generator of random numbers.

    Parameters
    ----------
    seed : int, numpy.random.Generator or None
        An integer >= 0 gives the same numbers every time, a generator is used
        as it is (and advances), ``None`` gives fresh randomness.

    Returns
    -------
    numpy.random.Generator
        The generator.

    Examples
    --------
    >>> int(as_generator(1).integers(100)) == int(as_generator(1).integers(100))
    True
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None:
        return np.random.default_rng()
    is_integer = isinstance(seed, (int, np.integer)) and not isinstance(seed, bool)
    if not is_integer or seed < 0:
        msg = (
            "seed must be an integer >= 0, a numpy.random.Generator or None. "
            f"Got {seed!r} instead."
        )
        raise ParameterError(msg)
    return np.random.default_rng(int(seed))
