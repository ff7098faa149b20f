"""Seconds of work."""

import time


def timed(work):
    """Seconds, and the result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def best_time(work, repeats=3):
    """The fewest seconds of a few runs, and the result of the last."""
    runs = [timed(work) for _ in range(repeats)]
    return min(seconds for seconds, _ in runs), runs[-1][1]
