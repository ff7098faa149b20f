"""What is measured: tables that grow in one way each, and large ones with an aim."""

from dataclasses import dataclass

from benchmarks.inputs import load_network
from benchmarks.speed.growth import random_network

WORKERS = {"no cluster": 0, "1 worker": 1, "2 workers": 2, "4 workers": 4}
"""Who counts rows, and with how many processes of one thread."""

EM, AUTO, ALL_ROWS = "bayesmend em", "bayesmend auto", "bayesmend em, full"
TRUTH, COMPLETE = "true network", "nothing hidden, greedy"
PEERS = ("mode", "kNN", "logistic", "random forests", "miceforest", "pgmpy climb")
FILLING = (EM, AUTO, TRUTH, *PEERS)


@dataclass(frozen=True, slots=True)
class Case:
    """A table with hidden cells, and who is to learn from it."""

    axis: str
    size: float
    """How far it has grown along the axis."""
    network: str = "random"
    """One in the folder of data, or a random one."""
    n_rows: int = 2000
    n_vars: int = 0
    n_states: int | None = None
    rate: float = 0.1
    max_parents: int = 3
    methods: tuple[str, ...] = FILLING
    is_large: bool = False
    """Only with ``--full``."""
    target: str = ""
    time_limit: float | None = None
    """Seconds, of methods that keep to one."""
    n_parts: int = 0
    """Files that the table is written to; else it is handed over in memory."""

    def make_network(self):
        """Return the network that rows are sampled from."""
        if self.network == "random":
            return random_network(self.n_vars, self.n_vars, self.n_states)
        return load_network(self.network)

    @property
    def title(self):
        """What it is, in words."""
        name = f"{self.n_vars} variables"
        if self.network != "random":
            name = self.network.upper()
        if self.n_states is not None:
            name += f" of {self.n_states} states"
        return f"{name}, {self.n_rows:,} rows, {self.rate:.0%} hidden"


def _by_rows():
    for n_rows in (1_000, 3_000, 10_000, 30_000, 100_000, 1_000_000):
        yield Case(
            "rows", n_rows, n_vars=30, n_rows=n_rows, rate=0.05, is_large=n_rows > 10**4
        )


def _by_variables():
    for n_vars in (10, 30, 100, 300, 1000):
        yield Case("variables", n_vars, n_vars=n_vars, is_large=n_vars > 100)


def _by_holes():
    for rate in (0.02, 0.1, 0.3, 0.6):
        yield Case("share hidden", rate, n_vars=30, rate=rate)


def _by_states():
    for n_states in (2, 4, 8, 16, 32):
        yield Case(
            "states", n_states, n_vars=20, n_states=n_states, is_large=n_states > 16
        )


def _by_parents():
    for most in (1, 2, 3, 4, 5):
        yield Case(
            "parents",
            most,
            n_vars=30,
            max_parents=most,
            methods=(EM, COMPLETE),
            is_large=most > 4,
        )


def _long():
    """Long tables: seconds per row have to fall."""
    for exponent in (4, 5, 6, 7):
        n_rows = 10**exponent
        yield Case(
            "long",
            n_rows,
            network="alarm",
            n_rows=n_rows,
            rate=0.05,
            methods=(EM, ALL_ROWS, COMPLETE, "mode"),
            is_large=n_rows > 10**4,
            target={6: "60 s, 4 GB", 7: "480 s, 4 GB"}.get(exponent, ""),
        )


def _wide():
    """Wide tables: hundreds of variables, up to half a million missing cells."""
    for name, n_vars, target in (
        ("pigs", 441, "180 s"),
        ("link", 724, "900 s, 6 GB"),
        ("munin", 1041, "900 s, 6 GB"),
    ):
        yield Case(
            "wide",
            n_vars,
            network=name,
            n_rows=5000,
            methods=(EM, TRUTH, COMPLETE, "mode"),
            is_large=True,
            target=target,
            time_limit=900.0,
        )
    for n_vars in (250, 600):
        yield Case(
            "wide",
            n_vars,
            n_vars=n_vars,
            n_rows=5000,
            methods=(EM, TRUTH, COMPLETE, "mode"),
            is_large=True,
        )


def _cluster():
    """Long tables in files, counted by worker processes: seconds of the clock."""
    for exponent in (5, 6, 7):
        n_rows = 10**exponent
        yield Case(
            "cluster",
            n_rows,
            network="alarm",
            n_rows=n_rows,
            rate=0.05,
            methods=tuple(WORKERS),
            is_large=exponent > 5,
            n_parts=8,
        )


CASES = {
    "rows": tuple(_by_rows()),
    "variables": tuple(_by_variables()),
    "share hidden": tuple(_by_holes()),
    "states": tuple(_by_states()),
    "parents": tuple(_by_parents()),
    "long": tuple(_long()),
    "wide": tuple(_wide()),
    "cluster": tuple(_cluster()),
}
"""The cases of each axis, from the smallest to the largest."""
