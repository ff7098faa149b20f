"""Rows sampled per second, and the time to parse each network.

Run with ``python -m benchmarks.speed.sampling``. The folder of networks is taken from
BAYESMEND_DATA, by default ../shared/data beside the repository.
"""

import os
import time
from pathlib import Path

from bayesmend import Network, read_network
from bayesmend.formats import bif

DEFAULT = Path(__file__).parents[2] / ".." / "shared" / "data"
FOLDER = Path(os.environ.get("BAYESMEND_DATA", DEFAULT)) / "networks"
REPEATS = 5


def best_seconds(call, *args, **options) -> float:
    """Shortest of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call(*args, **options)
        times.append(time.perf_counter() - start)
    return min(times)


def print_sampling(network: Network, name: str, n_rows: int) -> None:
    print(f"\n{name}: {n_rows:,} rows of {network.n_vars} variables")
    print(f"{'':16}{'threads':>8}{'seconds':>10}{'rows/s':>14}{'cells/s':>16}")
    data = network.sample(n_rows, seed=1)
    for n_threads in (1, 2):
        for task, call in (
            ("sample", lambda t: network.sample(n_rows, seed=1, n_threads=t)),
            ("log-likelihood", lambda t: network.log_likelihood(data, n_threads=t)),
        ):
            seconds = best_seconds(call, n_threads)
            rate = n_rows / seconds
            cells = rate * network.n_vars
            print(f"{task:16}{n_threads:8}{seconds:10.3f}{rate:14,.0f}{cells:16,.0f}")


def print_parsing() -> None:
    print("\nBIF files, seconds")
    print(f"{'file':32}{'variables':>10}{'parameters':>12}{'read':>8}{'write':>8}")
    for path in sorted(FOLDER.iterdir()):
        network = read_network(path)
        read = best_seconds(read_network, path)
        write = best_seconds(bif.render, network)
        size = f"{network.n_vars:10}{network.n_parameters:12}"
        print(f"{path.name:32}{size}{read:8.3f}{write:8.3f}")


def main() -> None:
    print_sampling(read_network(FOLDER / "alarm.bif.gz"), "ALARM", 1_000_000)
    print_sampling(read_network(FOLDER / "mildew.bif.gz"), "MILDEW", 1_000_000)
    print_sampling(read_network(FOLDER / "munin.bif.gz"), "MUNIN", 50_000)
    print_parsing()


if __name__ == "__main__":
    main()
