"""Calls in a process of their own that is killed, as a machine or a queue would."""

import os
import signal
import sys
import threading
import time

from bayesmend import _checkpoint

KILLED = -signal.SIGKILL


def keep_everything(monkeypatch):
    """Have steps of any length kept, and states written each time."""
    monkeypatch.setattr(_checkpoint, "_LEAST_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "_STATE_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "_STATE_SHARE", 1e9)


def run_until(call, *, seconds=None, after=None, signal_sent=signal.SIGKILL):
    """Run a call in a fork; kill it after some seconds, or after it has kept so much.

    Return its exit code, below 0 where a signal ended it.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            if after is not None:
                _die_after(after, signal_sent)
            if seconds is not None:  # by itself: the parent may be slow to come back
                pid = os.getpid()
                timer = threading.Timer(seconds, os.kill, (pid, signal_sent))
                timer.daemon = True
                timer.start()
            call()
            code = 0
        except KeyboardInterrupt:
            code = 130
        finally:
            sys.stdout.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _die_after(n_kept, signal_sent):
    """Kill this process half-way through what it would write next."""
    left = [n_kept]
    write, replace = _checkpoint._write, _checkpoint.write_chunks

    def die_if_over(begin):
        left[0] -= 1
        if left[0] < 0:
            begin()
            os.kill(os.getpid(), signal_sent)
            time.sleep(10)

    def writing(file, content):
        die_if_over(lambda: write(file, content[: len(content) // 2]))
        write(file, content)

    def replacing(path, chunks):
        half = path.parent / f".{path.name}.0123"
        die_if_over(lambda: half.write_bytes(b"".join(chunks)[:50]))
        replace(path, chunks)

    _checkpoint._write, _checkpoint.write_chunks = writing, replacing
