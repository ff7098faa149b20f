"""Ctrl-C within a test, that can never reach the test runner itself."""

import signal
import threading
import time
from contextlib import contextmanager

import pytest


@contextmanager
def ctrl_c_after(seconds, *, raises=False):
    """Interrupt the block after a while; it must be over within half a second.

    The block must answer with its best so far, or raise where `raises` says so.
    """
    inside, raised = True, False

    def interrupt(number, frame):
        if inside:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    main = threading.main_thread().ident
    timer = threading.Timer(seconds, signal.pthread_kill, [main, signal.SIGINT])
    begun = time.perf_counter()
    timer.start()
    try:
        yield
    except KeyboardInterrupt:
        raised = True
    finally:
        inside = False
        taken = time.perf_counter() - begun
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
    if raised != raises:
        pytest.fail("KeyboardInterrupt " + ("escaped" if raised else "was not raised"))
    assert taken < seconds + 0.5
