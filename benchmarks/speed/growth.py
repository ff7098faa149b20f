"""How structure learning grows with rows and variables; writes the page of the docs.

Rows: ALARM from 1,000 to 1,000,000. Variables: random networks of 50 to 1,000 variables
with two to four states, 5,000 rows. BDeu, at most 3 parents. ``--quick`` stops at
100,000 rows and 400 variables and writes nothing.
"""

import argparse
import platform

import numpy as np

from bayesmend import Dag, Network, _core
from bayesmend.structure import candidate_parents, climb, solve_order
from benchmarks.inputs import ROOT, load_sample, parse_arguments
from benchmarks.table import print_table
from benchmarks.timing import timed

PAGE = ROOT / "docs" / "explanation" / "growth.md"
PLOT = ROOT / "docs" / "explanation" / "growth.svg"
HEADER = ("all candidates", "promising candidates", "greedy", "order")
# All parent sets of that many variables would take minutes.
MOST_VARS_FOR_ALL = 100


def random_network(n_vars, seed, n_states=None):
    """Variables with up to three parents among the twenty before them.

    They have so many states, or two to four.
    """
    rng = np.random.default_rng(seed)
    card = rng.integers(2, 5, n_vars)
    if n_states is not None:
        card[:] = n_states
    parents, cpts = [], []
    for v in range(n_vars):
        near = np.arange(max(0, v - 20), v)
        size = min(len(near), int(rng.integers(0, 4)))
        chosen = np.sort(rng.choice(near, size, replace=False))
        parents.append(tuple(chosen.tolist()))
        n_configs = int(np.prod(card[chosen], dtype=int))
        cpts.append(rng.dirichlet(np.full(card[v], 0.5), n_configs))
    names = tuple(f"v{i}" for i in range(n_vars))
    states = tuple(tuple(f"s{k}" for k in range(r)) for r in card)
    return Network(Dag(names, tuple(parents)), states, tuple(cpts))


def measure(data):
    """Seconds of each step; the order search ends after ten idle perturbations."""
    everything = None
    if data.n_vars <= MOST_VARS_FOR_ALL:
        everything, _ = timed(lambda: candidate_parents(data, search="all"))
    start = climb(data, restarts=0)
    promising, sets = timed(
        lambda: candidate_parents(
            data, search="promising", max_sets=2000, seed_dag=start.dag
        )
    )
    greedy, _ = timed(lambda: climb(data, seed=1))
    order, _ = timed(
        lambda: solve_order(sets, start=start.dag, seed=1, patience=10, restarts=1)
    )
    return everything, promising, greedy, order


def by_rows(quick):
    rows = []
    for n_rows in (1_000, 10_000, 100_000, *(() if quick else (1_000_000,))):
        rows.append((n_rows, *measure(load_sample("alarm", n_rows))))
    return rows


def by_vars(quick):
    rows = []
    for n_vars in (50, 100, 200, 400, *(() if quick else (700, 1000))):
        data = random_network(n_vars, seed=n_vars).sample(5000, seed=1)
        rows.append((n_vars, *measure(data)))
    return rows


def show(seconds):
    return "" if seconds is None else f"{seconds:.3g}"


def markdown(first, rows):
    lines = [
        f"| {' | '.join((first, *HEADER))} |",
        f"| {' | '.join(['---:'] * (1 + len(HEADER)))} |",
    ]
    lines += [
        f"| {size:,} | {' | '.join(map(show, values))} |" for size, *values in rows
    ]
    return "\n".join(lines)


def plot(rows, variables):
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "growth", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True)
    for ax, table, label in (
        (axes[0], rows, "rows (ALARM, 37 variables)"),
        (axes[1], variables, "variables (5,000 rows)"),
    ):
        for k, name in enumerate(HEADER, start=1):
            points = [(row[0], row[k]) for row in table if row[k] is not None]
            ax.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name)
        ax.set(xscale="log", yscale="log", xlabel=label)
        ax.grid(True, which="major", alpha=0.3)
    axes[0].set_ylabel("seconds")
    axes[1].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(PLOT, metadata={"Date": None, "Creator": None})


def write_page(rows, variables):
    page = f"""# Time against rows and variables

Seconds on {_core.n_cores()} cores ({platform.machine()}, counting kernel
`{_core.bit_kernel()}`), shared with other work; BDeu with equivalent sample size 1 and
at most 3 parents.
`python -m benchmarks.speed.growth` repeats the measurements and rewrites this page.

- **all candidates**: every parent set with at most 3 members, minus those that bounds
  exclude.
- **promising candidates**: best-first search, 2,000 sets for each variable.
- **greedy**: hill climbing on the data with a tabu list and 100 restarts.
- **order**: search over orders on the promising candidates, from a climbed DAG, until
  10 perturbations in a row bring no gain.

![Seconds against rows and variables](growth.svg)

## Rows

ALARM, 37 variables.

{markdown("rows", rows)}

Scoring takes longer with more rows; the search over orders sees only the scores.

## Variables

Random networks, two to four states, 5,000 rows. Beyond {MOST_VARS_FOR_ALL} variables
there is no column of all candidates: their number grows with the fourth power of that
of variables.

{markdown("variables", variables)}
"""
    PAGE.write_text(page, encoding="utf-8")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    given = parse_arguments(parser, arguments or [])
    rows, variables = by_rows(given.quick), by_vars(given.quick)
    for first, table in (("rows", rows), ("variables", variables)):
        cells = [(size, *map(show, values)) for size, *values in table]
        print_table((first, *HEADER), cells)
        print()
    if not given.quick:
        write_page(rows, variables)
        plot(rows, variables)


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
