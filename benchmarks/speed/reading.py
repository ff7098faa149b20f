"""Reading: a CSV of 1,000,000 x 20 categorical cells, ours against pandas and others.

Every reader runs in a process of its own, three times: the first time, the best, and
the best of the processors. Memory is the greatest resident size during the first
reading, less that before it, in units of the code matrix (one byte per cell) and
without the text of the file, which every reader holds or maps. Only our reader and
``from_table`` end with codes; the others end with their own frame.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.table import print_table

N_ROWS, N_VARS = 1_000_000, 20
LABELS = ["yes", "no", "maybe", "high", "low", "medium", "never", "sometimes"]

READERS = {
    "bayesmend from_csv": (
        "from bayesmend import IncompleteData",
        "IncompleteData.from_csv(path)",
    ),
    "pandas read_csv": ("import pandas as pd", "pd.read_csv(path)"),
    "pandas dtype=str": ("import pandas as pd", "pd.read_csv(path, dtype=str)"),
    "pandas dtype=category": (
        "import pandas as pd",
        "pd.read_csv(path, dtype='category')",
    ),
    "polars read_csv": ("import polars as pl", "pl.read_csv(path)"),
    "pyarrow read_csv": ("from pyarrow import csv", "csv.read_csv(path)"),
}

FRAMES = {
    "from pandas": "pd.read_csv(path)",
    "from pandas, objects": "pd.read_csv(path).astype(object)",
    "from polars": "__import__('polars').read_csv(path)",
    "from pyarrow": "__import__('pyarrow.csv').csv.read_csv(path)",
}

MEASURE = """
import json, resource, sys, threading, time
{setup}
path = sys.argv[1]
{before}

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

def watch():
    while not done.is_set():
        seen.append(resident())
        time.sleep(0.002)

times, busy = [], []
seen, done = [resident()], threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
for turn in range(3):
    start, start_busy = time.perf_counter(), time.process_time()
    result = {call}
    times.append(time.perf_counter() - start)
    busy.append(time.process_time() - start_busy)
    done.set()
    del result
watcher.join()
print(json.dumps([times[0], min(times), min(busy), max(seen) - seen[0]]))
"""


def write_table(path: Path) -> None:
    rng = np.random.default_rng(1)
    columns = []
    for j in range(N_VARS):
        n_states = 2 + j % 5
        labels = [LABELS[(j + k) % len(LABELS)] for k in range(n_states)]
        share = [0.95 / n_states] * n_states + [0.05]
        picks = rng.choice(n_states + 1, N_ROWS, p=share)
        columns.append(np.array([*labels, ""], dtype=object)[picks].tolist())
    with path.open("w") as file:
        file.write(",".join(f"v{j}" for j in range(N_VARS)) + "\n")
        file.writelines(f"{','.join(row)}\n" for row in zip(*columns, strict=True))


def measure(path: Path, setup: str, call: str, before: str = "") -> list[float]:
    """Seconds at first, at best and of the processors; bytes of memory."""
    code = MEASURE.format(setup=setup, call=call, before=before)
    command = [sys.executable, "-c", code, str(path)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


def main() -> int:
    rows = []
    with tempfile.TemporaryDirectory(prefix="bayesmend-") as folder:
        path = Path(folder, "table.csv")
        write_table(path)
        size, matrix = path.stat().st_size, N_ROWS * N_VARS
        for name, (setup, call) in READERS.items():
            *seconds, peak = measure(path, setup, call)
            rows.append((name, *seconds, max(peak - size, 0) / matrix))
        setup = "import pandas as pd\nfrom bayesmend import IncompleteData"
        for name, frame in FRAMES.items():
            call, before = "IncompleteData.from_table(frame)", f"frame = {frame}"
            *seconds, peak = measure(path, setup, call, before)
            rows.append((name, *seconds, peak / matrix))
    print(f"{N_ROWS:,} x {N_VARS} cells, {size / 1e6:.0f} MB of text")
    ours = rows[0][2]
    print_table(
        ("reader", "first", "best", "processor", "memory", "best / ours"),
        [(*row, row[2] / ours) for row in rows],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
