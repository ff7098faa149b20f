"""One process of a run: tries inputs one after the other and tells what came of them.

    python -m fuzz.child KIND SEED FIRST LAST SECONDS MEGABYTES DESCRIPTOR

Standard output gets a line of JSON for each failure, and one with the counts at the
end. The number of the input at hand stands in the file of the descriptor, so that it is
known after a crash. An input that takes too long ends the process by SIGALRM, which
no code of ours can hold up.
"""

import collections
import faulthandler
import json
import os
import resource
import signal
import sys
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def main() -> None:
    from bayesmend.errors import BayesmendError, BayesmendWarning
    from fuzz.kinds import attempt_of, generator_of

    kind, seed, first, last, seconds, megabytes, number_at = sys.argv[1:]
    attempt = attempt_of(kind)
    limit_memory(int(megabytes))
    faulthandler.enable()
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", BayesmendWarning)
    counts: collections.Counter[str] = collections.Counter()
    for number in range(int(first), int(last)):
        os.pwrite(int(number_at), b"%20d" % number, 0)
        signal.setitimer(signal.ITIMER_REAL, float(seconds))
        try:
            counts[attempt(generator_of(int(seed), kind, number))] += 1
        except BayesmendError:
            counts["refused"] += 1
        # Whatever else there is, a PanicException of another library too, is a finding.
        except BaseException as error:
            counts["failed"] += 1
            tell(number, error)
        signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({"counts": counts, "peak": peak_memory()}), flush=True)


def peak_memory() -> int:
    """Return the most megabytes that this program held.

    `getrusage` counts what the process held before it became this program, which is
    what its parent held.
    """
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def limit_memory(megabytes: int) -> None:
    """Let the process grow by so much from here on."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + megabytes * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def tell(number: int, error: BaseException) -> None:
    lines = traceback.format_exception(error)
    print(json.dumps({"number": number, "what": "".join(lines)[-3000:]}), flush=True)


if __name__ == "__main__":
    main()
