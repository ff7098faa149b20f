"""Rows sampled per second, and the time to parse each network."""

from bayesmend import read_network
from bayesmend.formats import bif
from benchmarks.inputs import data_folder, load_network
from benchmarks.table import print_table
from benchmarks.timing import best_time

REPEATS = 5


def print_sampling(name, n_rows):
    network = load_network(name)
    data = network.sample(n_rows, seed=1)
    tasks = {
        "sample": lambda t: network.sample(n_rows, seed=1, n_threads=t),
        "log-likelihood": lambda t: network.log_likelihood(data, n_threads=t),
    }
    lines = []
    for n_threads in (1, 2):
        for task, call in tasks.items():
            seconds, _ = best_time(lambda c=call, t=n_threads: c(t), REPEATS)
            rate = n_rows / seconds
            lines.append((task, n_threads, seconds, rate, rate * network.n_vars))
    print(f"\n{name.upper()}: {n_rows:,} rows of {network.n_vars} variables")
    print_table(("", "threads", "seconds", "rows/s", "cells/s"), lines)


def print_parsing():
    lines = []
    for path in sorted((data_folder().path / "networks").iterdir()):
        read, network = best_time(lambda p=path: read_network(p), REPEATS)
        write, _ = best_time(lambda n=network: bif.render(n), REPEATS)
        lines.append((path.name, network.n_vars, network.n_parameters, read, write))
    print("\nBIF files, seconds")
    print_table(("file", "variables", "parameters", "read", "write"), lines)


def main():
    print_sampling("alarm", 1_000_000)
    print_sampling("mildew", 1_000_000)
    print_sampling("munin", 50_000)
    print_parsing()


if __name__ == "__main__":
    main()
