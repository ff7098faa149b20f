"""Structure learning on complete data, against peers in the same run.

BDeu with equivalent sample size 1 and at most 3 parents; the DAG of every tool is
scored by the same function. ``--quick`` takes one sample instead of three, and 60 s
instead of 300 s.
"""

import argparse

import numpy as np

from bayesmend import Dag, IncompleteData, dag_score, learn_structure
from bayesmend.structure import climb, solve_subsets
from benchmarks.inputs import load_sample, parse_arguments
from benchmarks.peers import MAX_PARENTS, ask_peer, coded_frame
from benchmarks.table import print_table
from benchmarks.timing import timed

PRIOR = "uniform"  # what the peers know
PEERS = ("pyAgrum greedy", "pyAgrum tabu", "pgmpy hill climb")


def greedy_from_frame(data):
    """Our seconds and score, from the same kind of data frame the peers get."""
    frame = coded_frame(data.codes, data.names, data.card)
    seconds, found = timed(
        lambda: climb(IncompleteData.from_table(frame), prior=PRIOR, seed=1)
    )
    return seconds, found.score


def peer_result(name, data, cap):
    found = ask_peer(name, data, cap)
    if isinstance(found, str):
        return found, None
    dag = Dag.from_arcs(data.names, found["arcs"])
    return found["seconds"], dag_score(dag, data, prior=PRIOR)


def mean_row(name, instance, n_rows, results):
    """Mean over the samples, or the word that says why there is none."""
    words = [seconds for seconds, _ in results if isinstance(seconds, str)]
    if words:
        return (instance, n_rows, name, words[0], "")
    seconds, scores = zip(*results, strict=True)
    return (instance, n_rows, name, float(np.mean(seconds)), f"{np.mean(scores):.1f}")


def compare_greedy(samples, cap):
    print(f"(a) hill climbing, mean of {len(samples)} samples")
    rows = []
    # Loads what reads data frames; the peers' imports are not timed either.
    greedy_from_frame(load_sample("alarm", 10))
    for instance, n_rows in (
        ("alarm", 1000),
        ("alarm", 5000),
        ("hailfinder", 5000),
        ("andes", 5000),
    ):
        tables = [load_sample(instance, n_rows, seed=seed) for seed in samples]
        ours = [greedy_from_frame(data) for data in tables]
        rows.append(mean_row("bayesmend greedy", instance, n_rows, ours))
        for name in PEERS:
            results = []
            for data in tables:
                results.append(peer_result(name, data, cap))
                if isinstance(results[-1][0], str):
                    break
            rows.append(mean_row(name, instance, n_rows, results))
    print_table(("data", "rows", "tool", "seconds", "BDeu"), rows)


def compare_auto(samples):
    print("\n(b) auto on ALARM, 1,000 rows")
    rows = []
    for seed in samples:
        data = load_sample("alarm", 1000, seed=seed)
        found = learn_structure(data, prior=PRIOR, max_parents=MAX_PARENTS, seed=1)
        rows.append(
            (seed, found.solver, found.status, f"{found.score:.4f}", found.seconds)
        )
    print_table(("sample", "solver", "status", "score", "seconds"), rows)


def compare_exact(cap):
    print("\n(c) exact, first variables of ALARM, 1,000 rows, candidates included")
    whole = load_sample("alarm", 1000, seed=1)
    rows = []
    for n_vars in (16, 20, 24):
        data = IncompleteData.from_codes(
            whole.codes[:, :n_vars],
            names=whole.names[:n_vars],
            states=whole.states[:n_vars],
        )
        found = learn_structure(
            data,
            prior=PRIOR,
            max_parents=MAX_PARENTS,
            solver=solve_subsets,
            seed=1,
        )
        rows.append((n_vars, "bayesmend subsets", found.seconds, f"{found.score:.3f}"))
        if n_vars == 16:
            for name in ("causal-learn A*", "causal-learn dynamic programming"):
                found = ask_peer(name, data, cap)
                took = found if isinstance(found, str) else found["seconds"]
                rows.append((n_vars, name, took, "other score"))
    print_table(("variables", "tool", "seconds", "BDeu"), rows)


LARGE = ("andes", "pigs", "link", "munin")


def compare_large(instances, limit, cap):
    print(f"\n(d) large networks, 5,000 rows, order search with {limit} s in all")
    rows = []
    for instance in instances:
        data = load_sample(instance, 5000, seed=1)
        size = (instance, data.n_vars)
        seconds, climbed = timed(lambda d=data: climb(d, prior=PRIOR, seed=1))
        rows.append((*size, "bayesmend greedy", seconds, f"{climbed.score:.1f}"))
        found = learn_structure(
            data,
            prior=PRIOR,
            solver="order",
            max_parents=MAX_PARENTS,
            time_limit=limit,
            seed=1,
        )
        rows.append((*size, "bayesmend order", found.seconds, f"{found.score:.1f}"))
        for name in PEERS:
            took, score = peer_result(name, data, cap)
            rows.append((*size, name, took, "" if score is None else f"{score:.1f}"))
        print_table(("data", "variables", "tool", "seconds", "BDeu"), rows[-5:])


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list("abcd"), action="append")
    parser.add_argument("--limit", type=float, help="seconds of each search in (d)")
    parser.add_argument("--network", choices=LARGE, action="append", help="of (d)")
    parser.add_argument("--cap", type=float, help="seconds that a peer may take")
    given = parse_arguments(parser, arguments or [])
    parts = given.only or list("abcd")
    samples = (1,) if given.quick else (1, 2, 3)
    limit = given.limit or (60 if given.quick else 300)
    if "a" in parts:
        compare_greedy(samples, given.cap or limit)
    if "b" in parts:
        compare_auto(samples)
    if "c" in parts:
        compare_exact(given.cap or limit)
    if "d" in parts:
        compare_large(given.network or LARGE, limit, given.cap or limit)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
