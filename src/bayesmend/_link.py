"""The way to a cluster: tasks out, answers back, and what to say when it is gone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from bayesmend._packages import require
from bayesmend.errors import BayesmendError, ClusterError, ParameterError

__all__ = ["Lent", "Link", "at_hand", "handed_on", "lend", "linked"]

_ADDRESS = re.compile(r"[a-z]+://.")
_FAN_IN = 8  # answers that a worker adds up before they travel on


_at_hand: ContextVar[Link | None] = ContextVar("at_hand", default=None)


@contextmanager
def lend(link: Link | None) -> Iterator[None]:
    """Have the steps of a call that a cluster makes shorter done there."""
    before = _at_hand.set(link)
    try:
        yield
    finally:
        _at_hand.reset(before)


def at_hand() -> Link | None:
    """Return the cluster that was lent, if there is one."""
    return _at_hand.get()


class Lent(NamedTuple):
    """A cluster, and a value on it that tasks work on."""

    link: Link
    value: Any

    @classmethod
    def to(cls, link: Link | None, value: object) -> Lent | None:
        """Hand a value to a cluster, if there is one."""
        return None if link is None else cls(link, link.submit(handed_on, value))

    def do(self, function: Callable[..., Any], *args: Any) -> Any:
        """Have a function of the value and more done there; wait for the answer."""
        return self.link.gather(self.link.submit(function, self.value, *args))


def handed_on(value: Any) -> Any:
    """Return a value that other tasks depend on: it travels once, not with each."""
    return value


class Link:
    """A client of dask, whose failures are told in one sentence."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.address = str(getattr(client.scheduler, "address", client.scheduler))

    def submit(self, function: Callable[..., Any], *args: Any, place: str = "") -> Any:
        """Give a task away; arguments may be answers that are not there yet.

        With a place, to the worker there for as long as there is one.
        """
        with self.told():
            # Not pure: the same call twice may be asked of other parts.
            return self.client.submit(
                function,
                *args,
                pure=False,
                workers=[place] if place else None,
                allow_other_workers=bool(place),
            )

    def gather(self, futures: Any) -> Any:
        """Bring answers here."""
        with self.told():
            return self.client.gather(futures)

    def summed(
        self, add: Callable[[Sequence[Any]], Any], futures: Sequence[Any]
    ) -> Any:
        """Add up answers where they are, a few at a time, and bring the sum here."""
        while len(futures) > 1:
            groups = (
                futures[first : first + _FAN_IN]
                for first in range(0, len(futures), _FAN_IN)
            )
            futures = [self.submit(add, list(group)) for group in groups]
        return self.gather(futures[0])

    def by_thread(self, futures: Sequence[Any]) -> list[tuple[str, list[Any]]]:
        """Group answers by the threads of the workers that hold them.

        Each group comes with the place of its worker.
        """
        with self.told():
            places = self.client.who_has(list(futures))
            n_threads = self.client.nthreads()
        held: dict[str, list[Any]] = {}
        for future in futures:
            place = min(places.get(future.key, ()), default="")
            held.setdefault(place, []).append(future)
        groups: list[tuple[str, list[Any]]] = []
        for place, own in held.items():
            n = min(max(int(n_threads.get(place, 1)), 1), len(own))
            groups += [(place, own[first::n]) for first in range(n)]
        return groups

    @property
    def n_threads(self) -> int:
        """Number of threads of all workers, one at least."""
        with self.told():
            return max(1, sum(map(int, self.client.nthreads().values())))

    @contextmanager
    def told(self) -> Iterator[None]:
        """Say in one sentence that the cluster is gone."""
        from asyncio import CancelledError as Cancelled
        from concurrent.futures import CancelledError

        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        gone = (
            f"the cluster at {self.address} is gone. Start it, and do the same again;"
            " with a checkpoint the work goes on where it was."
        )
        try:
            yield
        except (BayesmendError, TimeoutError):
            raise  # of a task
        except KilledWorker as error:
            message = (
                f"workers of the cluster at {self.address} end again and again over one"
                " part, most often for lack of memory. Give them more, or make smaller"
                " parts."
            )
            raise ClusterError(message) from error
        except (CommClosedError, Cancelled, CancelledError) as error:
            raise ClusterError(gone) from error
        except Exception as error:
            if self.client.status == "running":
                raise
            raise ClusterError(gone) from error


@contextmanager
def linked(client: Any) -> Iterator[Link]:
    """Give the way to a cluster, of a client or the address of a scheduler."""
    distributed = require("distributed", extra="distributed")
    if isinstance(client, distributed.Client):
        if client.asynchronous:
            message = "client is asynchronous. Make one with asynchronous=False."
            raise ParameterError(message)
        yield Link(client)
        return
    if not (isinstance(client, str) and _ADDRESS.match(client)):
        message = (
            "client must be a dask.distributed.Client or the address of a scheduler,"
            f" such as 'tcp://host:8786'. Got {client!r} instead."
        )
        raise ParameterError(message)
    try:
        own = distributed.Client(client, timeout=10, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        message = f"no scheduler answers at {client!r}. Start one: dask scheduler."
        raise ClusterError(message) from error
    try:
        yield Link(own)
    finally:
        own.close(timeout=5)
