"""Carry out an experiment: every method on every run, each outcome a raw row.

What the file of raw rows already holds is not done again, so that an experiment that
was killed or interrupted goes on where it stopped.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from bayesmend._checks import check_integer
from bayesmend.data.table import IncompleteData
from bayesmend.errors import BayesmendError, ShortfallWarning
from bayesmend.hiding.record import Hidden
from experiments.data import DataFolder
from experiments.design import Answer, Experiment, Method, Run, Task
from experiments.design import fingerprint as make_fingerprint
from experiments.run.machine import facts
from experiments.run.rawrows import (
    RawRows,
    Row,
    Say,
    check_data,
    check_protocol,
)

__all__ = ["RunError", "Tick", "execute", "pending", "run_experiment"]

Unit = tuple[Run, Method]


class RunError(BayesmendError):
    """A method failed on a run; the message says which and why."""


class Tick(NamedTuple):
    """How far an experiment is: rows done and wanted, seconds, the latest row."""

    n_done: int
    n_all: int
    seconds: float
    row: Row


def run_experiment(
    experiment: Experiment,
    path: Path,
    *,
    folder: DataFolder,
    part: Experiment | None = None,
    jobs: int = 1,
    say: Say,
    progress: Callable[[Tick], None] | None = None,
) -> list[Row]:
    """Carry out what is still to be done of an experiment.

    Parameters
    ----------
    experiment : Experiment
        The design.
    path : Path
        File of raw rows; new rows are appended to it.
    folder : DataFolder
        Where the data are.
    part : Experiment, optional
        What to carry out of it, made by `select`; all of it by default.
    jobs : int, default=1
        Number of processes. With one, methods use all cores; with more, each uses one.
        The rows are the same but for the seconds.
    say : callable
        Told what a person should know.
    progress : callable, optional
        Told after every row.

    Returns
    -------
    list of dict
        All rows of the file, the old ones too.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C; the rows written so far are in the file.
    """
    check_integer("jobs", jobs, 1)
    part = experiment if part is None else part
    folder.check(part.files)
    with RawRows(path, say=say, measures=experiment.measures) as raw:
        check_protocol(experiment, raw.rows, path)
        check_data(raw.rows, {s.name: folder.checksums(s.files) for s in part.settings})
        units = list(pending(part, raw.rows))
        begun, n_before = time.monotonic(), len(raw.rows)
        rows = (
            _run_here(experiment, units, folder)
            if jobs == 1
            else _run_in_workers(experiment, units, folder, min(jobs, len(units)))
        )
        with closing(rows):
            for row in rows:
                raw.add(row)
                if progress is not None:
                    n_done = len(raw.rows) - n_before
                    seconds = time.monotonic() - begun
                    progress(Tick(n_done, len(units), seconds, row))
        return raw.rows


def pending(experiment: Experiment, rows: list[Row]) -> Iterator[Unit]:
    """Go through the runs and methods that have no row yet."""
    done = {(row["setting"], row["repetition"], row["method"]) for row in rows}
    for run, method in experiment.runs():
        if (run.setting.name, run.repetition, method.name) not in done:
            yield run, method


def execute(
    experiment: Experiment, unit: Unit, folder: DataFolder, *, n_threads: int
) -> Row:
    """Let one method solve one run, and give the raw row.

    Raises
    ------
    RunError
        When making the table or solving it fails.
    """
    run, method = unit
    try:
        with warnings.catch_warnings():
            # A rare value has fewer cells than asked for; the row says how many.
            warnings.simplefilter("ignore", ShortfallWarning)
            task = experiment.make(run, folder)
        with warnings.catch_warnings(record=True) as caught:
            begun, begun_cpu = time.perf_counter(), time.process_time()
            answer = method.solve(
                task, seed=run.seed, n_threads=n_threads, **method.options
            )
            seconds = time.perf_counter() - begun
            cpu_seconds = time.process_time() - begun_cpu
        more = experiment.measure(task, answer) if experiment.measure else {}
    except Exception as error:
        problem = str(error)
        if not isinstance(error, BayesmendError):
            problem = f"unexpected {type(error).__name__}: {problem}"
        message = (
            f"{experiment.name}, setting {run.setting.name}, repetition "
            f"{run.repetition}, method {method.name}: {problem}"
        )
        raise RunError(message) from error
    more = {
        "data": folder.checksums(run.setting.files),
        "seconds": round(seconds, 6),
        "cpu_seconds": round(cpu_seconds, 6),
        "n_threads": n_threads,
        "warnings": [f"{w.category.__name__}: {w.message}" for w in caught],
        **more,
    }
    return _row(experiment, unit, task, answer, more)


def _row(
    experiment: Experiment,
    unit: Unit,
    task: Task,
    answer: Answer,
    more: Mapping[str, Any],
) -> Row:
    run, method = unit
    parameters = experiment.parameters(run.setting, method)
    hidden, completed = task.hidden, answer.completed
    return {
        "experiment": experiment.name,
        "setting": run.setting.name,
        "repetition": run.repetition,
        "seed": run.seed,
        "method": method.name,
        "accuracy": None if completed is None else hidden.accuracy(completed),
        "n_hidden": hidden.n_hidden,
        "score": answer.score,
        "bound": answer.bound,
        "status": answer.status,
        **more,
        **facts(),
        "by_value": {} if completed is None else count_by_value(hidden, completed),
        **answer.extra,
        # Methods are compared on the same table: this tells it.
        "table": f"{zlib.crc32(task.data.codes.tobytes()):08x}",
        "design": make_fingerprint(parameters),
        "parameters": parameters,
    }


def count_by_value(hidden: Hidden, completed: IncompleteData) -> dict[str, list[int]]:
    """Count recovered and hidden cells by the label that they held.

    Examples
    --------
    >>> import bayesmend as bm
    >>> truth = bm.load_network("asia").sample(50, seed=1)
    >>> count_by_value(bm.hiding.hide_value_of(truth, "smoke", 5, "no", seed=1), truth)
    {'no': [5, 5]}
    """
    counts: dict[str, list[int]] = {}
    for row, name, label in hidden.cells():
        column = completed.index(name)
        found = completed.states[column][completed.codes[row, column]]
        count = counts.setdefault(str(label), [0, 0])
        count[0] += found == label
        count[1] += 1
    return counts


def _run_here(
    experiment: Experiment, units: list[Unit], folder: DataFolder
) -> Generator[Row]:
    with _interruptible() as is_interrupted:
        for unit in units:
            row = execute(experiment, unit, folder, n_threads=0)
            # A learner answers Ctrl-C with its best so far, which is not its result.
            if is_interrupted():
                raise KeyboardInterrupt
            yield row


@contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Remember a Ctrl-C even when someone below has caught it."""
    seen = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield seen.is_set
        return

    def interrupt(number: int, frame: object) -> None:
        seen.set()
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield seen.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def _run_in_workers(
    experiment: Experiment, units: list[Unit], folder: DataFolder, jobs: int
) -> Generator[Row]:
    if not units:
        return
    context = get_context("spawn")
    leash, hand = context.Pipe(duplex=False)
    waiting = iter(units)
    with ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_prepare_worker, initargs=(leash,)
    ) as pool:

        def submit(unit: Unit) -> Future[Row]:
            return pool.submit(execute, experiment, unit, folder, n_threads=1)

        try:
            # A few ahead, that no worker waits; the rest would only have to be undone.
            running = {submit(unit) for unit in islice(waiting, 2 * jobs)}
            while running:
                finished, running = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    yield future.result()
                running |= {submit(unit) for unit in islice(waiting, len(finished))}
        except BrokenProcessPool:
            message = (
                "a worker process has died, perhaps for lack of memory. Run the same "
                "command again to go on, with fewer --jobs."
            )
            raise RunError(message) from None
        except BaseException:
            hand.close()
            raise


def _prepare_worker(leash: Connection) -> None:
    """Leave Ctrl-C to the parent, and end when it lets go of the leash.

    That is the reading end of a pipe whose writing end only the parent holds: it closes
    when the parent closes it, or dies.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def _end_with(leash: Connection) -> None:
    leash.poll(None)
    # The work at hand may take minutes, and no one waits for its result.
    os._exit(1)
