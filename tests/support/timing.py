"""Limits of time and Ctrl-C within a test, fair on a machine busy with other work."""

import math
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest


def slowness():
    """How many times longer than on an idle machine work takes at present."""
    begun, used = time.perf_counter(), time.process_time()
    while time.process_time() - used < 0.02:
        pass
    spun = (time.perf_counter() - begun) / 0.02
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1.0, spun, load / (os.cpu_count() or 1))


@contextmanager
def within(seconds):
    """Fail where the block takes longer than it may on an idle machine."""
    begun = time.perf_counter()
    yield
    taken = time.perf_counter() - begun
    assert taken < seconds or taken < seconds * slowness()


def processor_seconds(*args, folder):
    """Seconds of the processor that Python takes for its arguments; the least of three.

    Bytecode is kept in a folder, as it is where a package is installed.
    """
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder)}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return min(_processor_seconds([sys.executable, *args], env) for _ in range(3))


def _processor_seconds(command, env):
    before = os.times()
    subprocess.run(command, env=env, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return (
        after.children_user
        + after.children_system
        - before.children_user
        - before.children_system
    )


@contextmanager
def ctrl_c_after(seconds, *, raises=False):
    """Interrupt the block after some work; it must be over within half a second.

    The block must answer with its best so far, or raise where `raises` says so. The
    seconds are those of the processor, too: a busy machine does not cut the work short.
    """
    over = threading.Event()
    with _interruptible(raises) as interrupt:
        begun, used = time.perf_counter(), time.process_time()

        def wait():
            while not over.wait(0.01):
                has_worked = time.process_time() - used >= seconds
                if has_worked and time.perf_counter() - begun >= seconds:
                    interrupt()
                    return

        waiting = threading.Thread(target=wait)
        waiting.start()
        try:
            yield
        finally:
            over.set()
            waiting.join()


@contextmanager
def ctrl_c_on_progress():
    """Interrupt the block soon after it told of an answer to the callable given.

    It must answer with its best so far, within half a second.
    """
    timers = []
    with _interruptible(raises=False) as interrupt:

        def progress(what, score, seconds):
            if math.isfinite(score) and not timers:
                timers.append(threading.Timer(0.05, interrupt))
                timers[0].start()

        yield progress
    assert timers, "no progress was told"
    timers[0].join()


@contextmanager
def _interruptible(raises):
    """Give a function that sends Ctrl-C to the block, never to the test runner."""
    inside, raised, sent = True, False, []

    def handle(number, frame):
        if inside:
            raise KeyboardInterrupt

    def interrupt():
        sent.append(time.perf_counter())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield interrupt
    except KeyboardInterrupt:
        raised = True
    finally:
        inside = False
        done = time.perf_counter()
        signal.signal(signal.SIGINT, before)
    if raised != raises:
        pytest.fail("KeyboardInterrupt " + ("escaped" if raised else "was not raised"))
    taken = done - sent[0] if sent else 0.0
    assert taken < 0.5 or taken < 0.5 * slowness()
