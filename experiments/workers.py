"""Worker processes that end with their parent, whatever ends it."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing.connection import Connection

__all__ = ["prepare_worker"]


def prepare_worker(leash: Connection) -> None:
    """Leave Ctrl-C to the parent, and end when it lets go of the other end.

    Parameters
    ----------
    leash : Connection
        The reading end of a pipe whose writing end only the parent holds: it closes
        when the parent closes it, or dies.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def _end_with(leash: Connection) -> None:
    leash.poll(None)
    # The work at hand may take minutes, and no one waits for its result.
    os._exit(1)
