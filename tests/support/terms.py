"""Random terms of the missing cells of a small problem."""

from dataclasses import replace

import numpy as np


def with_terms(problem, seed):
    """A problem with terms; and the terms of each row's cells, for the oracle.

    Some are shared by all cells of a variable, as where it hides itself, and some are
    of one pattern alone.
    """
    rng = np.random.default_rng([seed, 14])
    width = int(problem.data.card[problem.variable].max(initial=1))
    shared = rng.normal(0, rng.choice([0.5, 2.0]), (problem.data.n_vars, width))
    terms = shared[problem.variable]
    own = rng.random(problem.n_cells) < rng.choice([0.0, 0.5])
    terms[own] = rng.normal(0, 2, (int(own.sum()), width))
    by_row = {
        (int(u), int(v)): terms[c].tolist()
        for u, v, c in zip(problem.rows, problem.variables, problem.cell, strict=True)
    }
    return replace(problem, terms=terms), by_row
