"""Limits of time are kept on wide, long and awkward tables, by whatever takes them."""

import json
import subprocess
import sys
import textwrap

import pytest

# Seconds, of which work may take a tenth more, and what the tables below take anyway.
LIMIT, MORE, ANYWAY = 4.0, 0.4, 0.4

# What each process does: make a table, start the clock, and tell what came after it.
SCRIPT = """
import json, os, sys, threading, time, warnings
import numpy as np
import bayesmend as bm
from bayesmend import structure

warnings.simplefilter("ignore")
kind, call, limit, most = sys.argv[1], sys.argv[2], float(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(1)
GONE = 255

def table(codes, n_states):
    names = [f"x{i}" for i in range(codes.shape[1])]
    states = [[f"s{k}" for k in range(n_states)]] * codes.shape[1]
    codes = np.asfortranarray(codes.astype(np.uint8))
    return bm.IncompleteData.from_codes(codes, names=names, states=states)

def chain(n_rows, n_vars, n_states):
    columns = [rng.integers(0, n_states, n_rows)]
    for i in range(1, n_vars):
        other = columns[max(0, i - int(rng.integers(1, 4)))]
        anew = rng.random(n_rows) < 0.2
        columns.append(np.where(anew, rng.integers(0, n_states, n_rows), other))
    return np.stack(columns, axis=1)

def holed(codes, rate):
    return np.where(rng.random(codes.shape) < rate, GONE, codes)

def alike():
    column = holed(chain(200, 1, 4), 0.1)
    return np.repeat(column, 20, axis=1)[rng.integers(0, 200, 20_000)]

data = {
    "few rows of 254 states": lambda: table(holed(chain(3, 4, 254), 0.3), 254),
    "254 states": lambda: table(holed(chain(2_000, 12, 254), 0.1), 254),
    "wide": lambda: table(holed(chain(500, 1_000, 3), 0.1), 3),
    "long": lambda: table(holed(chain(200_000, 20, 3), 0.05), 3),
    "a pattern per row": lambda: table(holed(chain(20_000, 40, 3), 0.5), 3),
    "nothing observed": lambda: table(np.full((1_000, 30), GONE), 3),
    "duplicates": lambda: table(alike(), 4),
}[kind]()

def full():
    codes = np.where(data.codes == GONE, 0, data.codes)
    return table(codes, len(data.states[0]))

how = {"time_limit": limit, "n_threads": 1}
own = how | {"seed": 1}
memory = {} if most == "none" else {"max_memory": float(most)}
path = [(), *((i,) for i in range(data.n_vars - 1))]
work = {
    "learn": lambda: bm.learn(data, **own, **memory),
    "exact": lambda: bm.learn_exact(data, **own, **memory),
    "local": lambda: bm.learn_local(data, **own, **memory),
    "local by climbing": lambda: bm.learn_local(data, solver="greedy", **own, **memory),
    "em": lambda: bm.learn_em(data, **own, **memory),
    "em-hard": lambda: bm.learn_em(data, hard=True, **own, **memory),
    "em by orders": lambda: bm.learn_em(data, solver="order", **own, **memory),
    "mechanism": lambda: bm.learn_em(data, mechanism="auto", **own, **memory),
    "ensemble": lambda: bm.learn_ensemble(data, **own, **memory),
    "bootstrap": lambda: bm.bootstrap(data, method="em", **own, **memory),
    "multiple": lambda: bm.impute_multiple(data, method="bootstrap", **own, **memory),
    "compare": lambda: bm.cross_validate(data, **own),
    "fit": lambda: bm.fit_parameters(bm.Dag(data.names, path), data, **how, **memory),
    "structure": lambda: bm.learn_structure(full(), **own, **memory),
    "structure by climbing": lambda: bm.learn_structure(
        full(), solver="greedy", **own, **memory
    ),
    "structure by orders": lambda: bm.learn_structure(
        full(), solver="order", **own, **memory
    ),
    "structure by programme": lambda: bm.learn_structure(
        full(), solver="ilp", **own, **memory
    ),
    "candidates": lambda: structure.candidate_parents(
        full(), search="promising", **how
    ),
}[call]
begun = []
timer = threading.Timer(limit, lambda: begun.append(time.process_time()))
timer.daemon = True
def memory_of(entry):
    # Of this program alone: getrusage counts what its parent held before it began.
    with open("/proc/self/status") as file:
        told = dict(line.split(":", 1) for line in file)
    return 1024 * int(told[entry].split()[0])

before = memory_of("VmRSS")
timer.start()
try:
    found = work()
    said = "answer"
except bm.errors.BayesmendError as error:
    said = str(error)
over = time.process_time() - begun[0] if begun else 0.0
peak = memory_of("VmHWM") - before
print(json.dumps({"over": over, "peak": peak / 1e6, "said": said}), flush=True)
os._exit(0)
"""

TABLES = (
    "few rows of 254 states",
    "254 states",
    "wide",
    "long",
    "a pattern per row",
    "nothing observed",
    "duplicates",
)
CALLS = (
    *("learn", "exact", "local", "local by climbing", "em", "em-hard", "em by orders"),
    *("mechanism", "ensemble", "bootstrap", "multiple", "compare", "fit", "structure"),
    *("structure by climbing", "structure by orders", "structure by programme"),
    "candidates",
)


def carry_out(kind, call, limit, most="none"):
    """Call a function in a process of its own; tell what it took, and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), kind, call, str(limit), most],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return json.loads(done.stdout.splitlines()[-1])


# Megabytes: what is imported only now, and the cells of the answer.
ASIDE = 25
# What patterns are compiled to, and what rows are crossed with, is not counted.
MORE_MEMORY = {
    ("em-hard", "254 states"): 200,
    ("mechanism", "254 states"): 250,
    ("mechanism", "long"): 250,
    ("learn", "a pattern per row"): 300,
    ("em", "a pattern per row"): 300,
    ("em-hard", "a pattern per row"): 300,
    ("mechanism", "a pattern per row"): 300,
}
WITH_MEMORY = (
    *("learn", "exact", "local", "local by climbing", "em", "em-hard", "mechanism"),
    *("structure", "structure by orders", "structure by programme"),
)

linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory as Linux tells it"
)


# Seen to wind up for longer, by up to 1.4 s. A comparison ends its first repeat.
LONGER = {
    ("em-hard", "a pattern per row"),
    ("ensemble", "254 states"),
    ("compare", "254 states"),
    ("compare", "a pattern per row"),
    ("compare", "long"),
}


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("call", CALLS)
def test_the_time_limit_is_kept(call, kind):
    """Seconds of the processor after the limit: other work on the machine has few."""
    found = carry_out(kind, call, LIMIT)
    if found["over"] > MORE + ANYWAY:  # it still slows what is in the same caches
        found = carry_out(kind, call, LIMIT)
    if (call, kind) in LONGER and found["over"] > MORE + ANYWAY:
        assert found["over"] <= 2
        pytest.xfail(f"{found['over']:.2f} s over the limit")
    assert found["over"] <= MORE + ANYWAY, found


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("call", WITH_MEMORY)
def test_the_memory_limit_is_kept(call, kind):
    """What is refused is told with the figure, and there is an answer to all else."""
    found = carry_out(kind, call, LIMIT / 2, "1e8")
    most = MORE_MEMORY.get((call, kind), 110 + ASIDE)
    assert found["peak"] <= most, found
    told = ("answer", "max_memory", "at most 60 variables", "left no time")
    assert any(words in found["said"] for words in told), found


@linux_only
def test_many_states_take_neither_time_nor_memory_beyond_the_limits():
    found = carry_out("254 states", "em", 0.5, "1e8")
    assert found["said"] == "answer"
    assert found["over"] <= 0.5
    assert found["peak"] <= 200  # interpreter, table and what is read aside
    found = carry_out("few rows of 254 states", "em", 0.5, "1e8")
    assert found["over"] <= 0.5
    assert found["peak"] <= 110
