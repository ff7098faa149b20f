"""Several chains side by side, until there are enough networks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field

from bayesmend._clock import Clock, limited_calls
from bayesmend.learning.ensemble.average import Average
from bayesmend.learning.ensemble.chain import Chain, Member
from bayesmend.network.network import Network
from bayesmend.outcome import Stopped

__all__ = ["BURN_IN", "N_CHAINS", "Walk", "walk"]

N_CHAINS = 4
"""Chains, whatever the number of threads: the answer must not depend on that."""

BURN_IN = 2
"""Steps of each chain before its networks count."""

# Before so many networks nobody can tell whether their mean has settled.
_LEAST = 20

Told = Callable[[int], None]


@dataclass(slots=True, repr=False, eq=False)
class Walk:
    """The networks that chains found, the mean of what they say, and why they ended."""

    networks: list[Network] = field(default_factory=list)
    chains: list[int] = field(default_factory=list)
    average: Average = field(default_factory=Average)
    stopped: Stopped = Stopped.NOTHING
    is_settled: bool = False

    def keep(self, chain: int, member: Member) -> None:
        """Take a member in."""
        self.networks.append(member.network)
        self.chains.append(chain)
        self.average.add(member.marginals)

    def settle(self, tol: float) -> None:
        """Find out whether the mean has settled."""
        is_enough = len(self.networks) >= _LEAST
        self.is_settled = is_enough and self.average.error <= tol


def walk(
    chains: Sequence[Chain],
    *,
    n_networks: int,
    burn_in: int,
    tol: float,
    clock: Clock,
    n_threads: int,
    told: Told,
    found: Walk,
) -> Walk:
    """Let all chains step until there are enough networks, or their mean has settled.

    It has settled when its standard error is at most ``tol``. Ctrl-C and the time limit
    end it with what is there, which may be nothing. Networks that ``found`` has count.
    """
    try:
        with _stepping(chains, n_threads, clock) as step_all:
            for _ in range(burn_in):
                step_all(len(chains))
            found.settle(tol)
            while len(found.networks) < n_networks and not found.is_settled:
                members = step_all(n_networks - len(found.networks))
                for chain, member in enumerate(members):
                    found.keep(chain, member)
                told(len(found.networks))
                found.settle(tol)
    except KeyboardInterrupt:
        found.stopped = Stopped.INTERRUPT
    except TimeoutError:
        found.stopped = Stopped.TIME
    return found


@contextmanager
def _stepping(
    chains: Sequence[Chain], n_threads: int, clock: Clock
) -> Iterator[Callable[[int], list[Member]]]:
    """Give a function that lets the first so many chains make a step, on threads."""

    def step(chain: Chain) -> Member:
        if clock.is_over:
            raise TimeoutError
        with limited_calls(clock.left):
            return chain.step()

    if min(n_threads, len(chains)) == 1:
        yield lambda n: [step(chain) for chain in chains[:n]]
        return
    pool = ThreadPoolExecutor(min(n_threads, len(chains)), "bayesmend-ensemble")

    def step_all(n: int) -> list[Member]:
        futures: list[Future[Member]] = [
            pool.submit(copy_context().run, step, chain) for chain in chains[:n]
        ]
        return [future.result() for future in futures]

    try:
        yield step_all
    finally:
        # After Ctrl-C those that wait are not begun; a step under way is short.
        pool.shutdown(wait=True, cancel_futures=True)
