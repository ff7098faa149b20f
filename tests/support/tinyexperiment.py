"""A small experiment for tests, in a module that worker processes can import."""

import os
import signal
import time
from pathlib import Path

from bayesmend import Network, learn_exact, load_network
from bayesmend.hiding import hide_value_per_variable
from experiments.design import (
    Answer,
    Block,
    Experiment,
    Method,
    Setting,
    Task,
)


def make(run, folder):
    data = load_network("asia").sample(40, seed=run.seed)
    state = run.setting.parameters["state"]
    hidden = hide_value_per_variable(data, 1, state=state, seed=run.seed)
    return Task(hidden, network=load_network("asia"))


def fill(task, *, seed, n_threads, state):
    """Put one state everywhere: right in half of the settings."""
    codes = task.data.codes.copy(order="F")
    codes[task.data.missing_mask] = state
    return Answer(task.data.with_codes(codes), status="filled", extra={"threads": 1})


def learn(task, *, seed, n_threads, max_parents):
    found = learn_exact(
        task.data, max_parents=max_parents, seed=seed, n_threads=n_threads
    )
    return Answer(
        found.completed, found.score, found.bound, found.status, found.network
    )


def dawdle(task, *, seed, n_threads, seconds, log=None):
    if log is not None:
        with Path(log).open("a") as file:
            file.write(f"{os.getpid()}\n")
    time.sleep(seconds)
    return fill(task, seed=seed, n_threads=n_threads, state=0)


def die(task, *, seed, n_threads):
    os.kill(os.getpid(), signal.SIGKILL)


def fail(task, *, seed, n_threads):
    return 1 / 0


def measure_arcs(task, answer):
    is_learned = isinstance(answer.network, Network)
    return {"n_arcs": answer.network.dag.n_arcs if is_learned else None}


FIRST = Method("first", "first state", fill, {"state": 0})
LAST = Method("last", "last state", fill, {"state": 1})
EXACT = Method("exact", "exact", learn, {"max_parents": 2})


def tiny(*, repetitions=3, methods=(FIRST, LAST, EXACT), seed=1):
    settings = tuple(
        Setting(f"state/{state}", {"state": state}, range(repetitions), stream="tiny")
        for state in (0, 1)
    )
    names = tuple(setting.name for setting in settings)
    blocks = (
        Block("both states", names, published="ASIA"),
        *(Block(name, (name,)) for name in names),
    )
    return Experiment(
        name="tiny",
        title="A tiny experiment",
        settings=settings,
        methods=methods,
        blocks=blocks,
        make=make,
        seed=seed,
        quick_repetitions=1,
        measure=measure_arcs,
    )
