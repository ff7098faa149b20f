"""What is measured on an instance; each returns the columns of a raw row."""

import time

from bayesmend import learn_exact, learn_local, reduce_to_complete, solve_reduction
from bayesmend.learning.augment.problem import PatternProblem
from bayesmend.score import Score

SAME = 1e-6  # nats


def timed(work):
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def exact(data, seed, limit, threads):
    """Branch and bound, local search included."""
    seconds, found = timed(
        lambda: learn_exact(data, time_limit=limit, seed=seed, n_threads=threads)
    )
    detail = found.detail
    return {
        "seconds": seconds,
        "proven": found.is_optimal,
        "status": found.status,
        "score": found.score,
        "bound": found.bound,
        "gap": found.gap,
        "nodes": detail["nodes"],
        "cells": data.n_missing,
        "decisions": detail["cells"],
        "patterns": detail["patterns"],
        "families": detail["families"],
        "families_left": detail["families_left_at_root"],
        "root_gap": above(detail["root_bound"], found.score),
        "priced_gap": above(detail["priced_root_bound"], found.score),
    }


def above(bound, score):
    return None if bound is None else max(0.0, bound - score)


def local(data, seed, limit, threads):
    """t-local search, t = 1, default restarts."""
    seconds, found = timed(
        lambda: learn_local(data, time_limit=limit, seed=seed, n_threads=threads)
    )
    return local_row(data, seconds, found)


def certify(data, seed, limit, threads):
    """t-local search, t = 1, with the exact structure solver whatever the size."""
    seconds, found = timed(
        lambda: learn_local(
            data, solver="subsets", time_limit=limit, seed=seed, n_threads=threads
        )
    )
    return local_row(data, seconds, found)


def local_row(data, seconds, found):
    return {
        "seconds": seconds,
        "certified": found.locality is not None,
        "status": found.status,
        "score": found.score,
        "cells": data.n_missing,
    }


def enumerate_all(data, seed, limit, threads):
    """Every completion of the patterns with its best structure, in the same core."""
    problem = PatternProblem.of(
        data, score=Score.of("bdeu", ess=1.0), max_parents=3, constraints=None
    )
    seconds, found = timed(lambda: problem.augmenter().enumerate(limit, threads))
    return {
        "seconds": seconds,
        "proven": found["is_complete"],
        "score": found["score"],
        "completions": found["n_completions"],
        "cells": data.n_missing,
        "decisions": problem.n_cells,
    }


def reduce(data, seed, limit, threads):
    """The paper's reduction, solved as an integer programme."""
    seconds, (reduction, found) = timed(
        lambda: reduce_and_solve(data, seed, limit, threads)
    )
    return {
        "seconds": seconds,
        "proven": found.status == "optimal",
        "status": found.status,
        "score": found.score,
        "columns": reduction.n_columns,
        "cells": data.n_missing,
    }


def reduce_and_solve(data, seed, limit, threads):
    reduction = reduce_to_complete(data)
    return reduction, solve_reduction(
        reduction, solver="ilp", time_limit=limit, seed=seed
    )


MEASURES = {
    "exact": exact,
    "local": local,
    "certify": certify,
    "enumerate": enumerate_all,
    "reduce": reduce,
}
