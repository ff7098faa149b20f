"""Attack bayesmend: ``python -m fuzz --inputs 100000 --seed 1``.

A run that was cut short goes on where it ended. Failures are shown with their kind and
number, by which ``--repeat KIND NUMBER`` tries one of them again. Exit 1 where there
are any.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from fuzz.kinds import SHARES
from fuzz.runner import run, try_inputs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=100_000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=SHARES, default=list(SHARES))
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--state", type=Path, default=Path("build/fuzz/state.json"))
    parser.add_argument("--anew", action="store_true", help="forget an earlier run")
    parser.add_argument("--repeat", nargs=2, metavar=("KIND", "NUMBER"))
    asked = parser.parse_args()
    if asked.repeat:
        kind, number = asked.repeat[0], int(asked.repeat[1])
        found = try_inputs(kind, asked.seed, number, number + 1)
        print(dict(found.counts), *found.failures.values(), sep="\n")
        return bool(found.failures)
    if asked.anew:
        asked.state.unlink(missing_ok=True)
    begun = time.perf_counter()
    shares = {kind: SHARES[kind] for kind in asked.only}
    results = run(shares, asked.inputs, asked.seed, asked.state, asked.jobs)
    for kind, found in results.items():
        told = ", ".join(f"{n:,} {word}" for word, n in sorted(found.counts.items()))
        n_inputs = found.counts.total()
        print(f"{kind}: {n_inputs:,} inputs ({told}), at most {found.peak} MB")
    n_inputs = sum(found.counts.total() for found in results.values())
    n_failed = sum(len(found.failures) for found in results.values())
    seconds = time.perf_counter() - begun
    print(
        f"{n_inputs:,} inputs in all, {n_failed} failed, "
        f"{seconds:.0f} s (seed {asked.seed})"
    )
    return n_failed > 0


if __name__ == "__main__":
    sys.exit(main())
