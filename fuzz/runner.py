"""Runs of many inputs in processes of their own, which may crash, hang or fill up."""

import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SECONDS = 10.0
MEGABYTES = 2500
BATCH = 2500


@dataclass
class Findings:
    """What came of some inputs of one kind."""

    kind: str
    counts: Counter[str] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    peak: int = 0  # megabytes

    def add(self, other: "Findings") -> None:
        self.counts += other.counts
        self.failures |= other.failures
        self.peak = max(self.peak, other.peak)


def try_inputs(
    kind: str, seed: int, first: int, last: int, seconds: float = SECONDS
) -> Findings:
    """Try inputs `first` to `last`, beginning anew after each that ends the process."""
    found = Findings(kind)
    while first < last:
        reached, why = _try_until_an_end(found, seed, first, last, seconds)
        if reached is None:
            break
        # What took long on a busy machine is tried once more, alone and for longer.
        alone = Findings(kind)
        if why == "no end":
            _, why = _try_until_an_end(alone, seed, reached, reached + 1, 3 * seconds)
        found.add(alone)
        if why:
            found.failures[reached] = why
            found.counts["failed"] += 1
        first = reached + 1
    return found


def _try_until_an_end(
    found: Findings, seed: int, first: int, last: int, seconds: float
) -> tuple[int | None, str]:
    """Return the input that ended the process, and how; None where none did."""
    with tempfile.TemporaryFile() as number, tempfile.TemporaryFile("w+") as told:
        file = number.fileno()
        arguments = [found.kind, seed, first, last, seconds, MEGABYTES, file]
        done = subprocess.run(
            [sys.executable, "-m", "fuzz.child", *map(str, arguments)],
            cwd=ROOT,
            stdout=told,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            check=False,
            pass_fds=(file,),
        )
        told.seek(0)
        _note(found, told.read().splitlines())
        if done.returncode == 0:
            return None, ""
        number.seek(0)
        at = number.read()
    if not at:  # it did not come to any input
        raise RuntimeError(done.stderr)
    found.counts["tried"] += int(at) - first
    if done.returncode == -signal.SIGALRM:
        return int(at), "no end"
    return int(at), f"status {done.returncode}: {done.stderr[-3000:]}"


def _note(found: Findings, lines: list[str]) -> None:
    for line in lines:
        if not line.startswith("{"):  # what a library prints
            continue
        said = json.loads(line)
        if "number" in said:
            found.failures[said["number"]] = said["what"]
        else:
            found.counts.update(said["counts"])
            found.peak = max(found.peak, said["peak"])


def run(
    shares: dict[str, int], n_inputs: int, seed: int, state: Path | None, n_jobs: int
) -> dict[str, Findings]:
    """Try so many inputs in all, from where the run in the file `state` ended."""
    whole = sum(shares.values())
    done = _read_state(state, seed, shares)
    found = {kind: done.get(kind, (0, Findings(kind)))[1] for kind in shares}
    batches = []
    for kind, share in shares.items():
        first = done.get(kind, (0, None))[0]
        last = -(-n_inputs * share // whole)
        batches += [
            (kind, seed, at, min(at + BATCH, last)) for at in range(first, last, BATCH)
        ]
    # All kinds advance together, so that a run that is cut short has tried each.
    batches.sort(key=lambda batch: batch[2] / shares[batch[0]])
    with ThreadPoolExecutor(n_jobs) as pool:
        for batch, result in zip(
            batches, pool.map(lambda batch: try_inputs(*batch), batches), strict=True
        ):
            kind, _, _, last = batch
            found[kind].add(result)
            done[kind] = last, found[kind]
            _write_state(state, seed, done)
            _show(batch, result)
    return found


def _show(batch: tuple[str, int, int, int], result: Findings) -> None:
    kind, _, first, last = batch
    print(f"{kind} {first}-{last}: {dict(result.counts)}", file=sys.stderr, flush=True)
    for number, what in result.failures.items():
        print(f"FAILED {kind} {number}\n{what}", file=sys.stderr, flush=True)


def _read_state(
    state: Path | None, seed: int, shares: dict[str, int]
) -> dict[str, tuple[int, Findings]]:
    if state is None or not state.exists():
        return {}
    plain = json.loads(state.read_text())
    if plain["seed"] != seed:
        return {}
    return {
        kind: (
            of["next"],
            Findings(
                kind,
                Counter(of["counts"]),
                {int(k): what for k, what in of["failures"].items()},
                of["peak"],
            ),
        )
        for kind, of in plain["kinds"].items()
        if kind in shares
    }


def _write_state(
    state: Path | None, seed: int, done: dict[str, tuple[int, Findings]]
) -> None:
    if state is None:
        return
    kinds = {
        kind: {
            "next": after,
            "counts": found.counts,
            "failures": found.failures,
            "peak": found.peak,
        }
        for kind, (after, found) in done.items()
    }
    state.parent.mkdir(parents=True, exist_ok=True)
    beside = state.with_suffix(".new")
    beside.write_text(json.dumps({"seed": seed, "kinds": kinds}, indent=1))
    beside.replace(state)
