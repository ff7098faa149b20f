"""Who learns from a table or fills it, each in a process of its own.

A method is a function of a `Job`. What it returns may hold ``completed`` (codes),
``arcs`` (pairs of names), ``score`` (in nats) and ``note``.
"""

import json
import sys
import time
import warnings
from dataclasses import dataclass
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path

import numpy as np

from bayesmend import (
    Dag,
    IncompleteData,
    impute,
    learn,
    learn_structure,
    read_network,
)
from bayesmend._clock import Clock
from bayesmend._link import linked
from bayesmend.data.reading import ReadingOptions
from bayesmend.errors import BayesmendError, MissingDependencyError
from bayesmend.inference.engine import Engine
from bayesmend.learning.cluster.partitions import read_there
from bayesmend.learning.counting import CountingHere, fit
from benchmarks.peers import PEERS as LEARNERS
from benchmarks.scale.cases import ALL_ROWS, AUTO, COMPLETE, EM, TRUTH, WORKERS
from benchmarks.tables import peak_megabytes
from experiments.peers.imputers import IMPUTERS

TABLE, NETWORK, ANSWER = "table.npz", "network.bif", "answer.npz"


@dataclass(frozen=True)
class Job:
    """A folder with a table, and how to learn from it."""

    folder: Path
    max_parents: int
    n_threads: int
    time_limit: float | None = None

    @cached_property
    def arrays(self):
        """Codes with and without hidden cells, names and numbers of states."""
        with np.load(self.folder / TABLE) as found:
            return {name: found[name] for name in ("codes", "names", "card")}

    def table(self, codes=None):
        """Return the table; the one before cells were hidden is ``full.npy``."""
        names = [str(name) for name in self.arrays["names"]]
        states = [tuple(f"s{k}" for k in range(r)) for r in self.arrays["card"]]
        codes = self.arrays["codes"] if codes is None else codes
        return IncompleteData.from_codes(codes, names=names, states=states)

    @property
    def parts(self):
        """The files that hold the table, where there are some."""
        return str(self.folder / "part-*.csv")

    @cached_property
    def data(self):
        """The table with hidden cells."""
        return self.table()

    def full(self):
        """The table before cells were hidden."""
        return self.table(np.load(self.folder / "full.npy"))


def learn_by(job, **how):
    """Learn by a method of the library."""
    found = learn(
        job.data,
        max_parents=job.max_parents,
        seed=1,
        n_threads=job.n_threads,
        time_limit=job.time_limit,
        progress=False,
        **how,
    )
    return {
        "completed": found.completed.codes,
        "arcs": list(found.dag.arcs),
        "score": found.score,
        "status": found.status,
        "note": found.rows_in_words or found.detail.get("note", ""),
    }


def fill_by_truth(job):
    """Fill with the most probable states under the network that rows came from."""
    network = read_network(job.folder / NETWORK)
    return {"completed": impute(network, job.data).completed.codes}


def learn_complete(job):
    """Climb on the table before cells were hidden: what holes have cost."""
    found = learn_structure(
        job.full(),
        max_parents=job.max_parents,
        solver="greedy",
        seed=1,
        n_threads=job.n_threads,
    )
    return {"arcs": list(found.dag.arcs), "score": found.score}


def fill_by(job, name):
    """Fill by a peer."""
    return {"completed": IMPUTERS[name](job.data, seed=1).codes}


def climb_by_pgmpy(job):
    """Fill with modes, and have pgmpy climb."""
    filled = IMPUTERS["mode"](job.data)
    card = job.arrays["card"].tolist()
    climb = LEARNERS["pgmpy hill climb"]({"codes": filled.codes}, filled.names, card)
    return {"completed": filled.codes, **climb()}


def count_by(job, n_workers):
    """Read files and fit the network that rows came from, on so many processes.

    The search for a structure takes place on samples, in one process, whoever counts.
    """
    if not n_workers:
        begun = time.perf_counter()
        data = IncompleteData.from_table(job.parts)
        counting = CountingHere(data, Engine(n_threads=1))
        return _counted(job, counting, begun)
    from distributed import Client, LocalCluster

    alone = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with (
        LocalCluster(n_workers=n_workers, **alone) as cluster,
        Client(cluster) as client,
        linked(client) as link,
    ):
        client.run(_used)  # which loads the library
        before = sum(client.run(_used).values())
        begun = time.perf_counter()
        found = _counted(job, read_there(link, job.parts, ReadingOptions()), begun)
        return {**found, "workers": sum(client.run(_used).values()) - before}


def _used():
    import bayesmend.learning.cluster.workers  # noqa: F401

    return time.process_time()


def _counted(job, counting, begun):
    read = time.perf_counter()
    network = read_network(job.folder / NETWORK)
    # States as the files have them: any probabilities do to start from.
    dag = Dag.from_arcs(counting.names, network.dag.arcs)
    tables = [
        np.full((int(counting.card[list(parents)].prod()), int(r)), 1.0 / r)
        for parents, r in zip(dag.parents, counting.card, strict=True)
    ]
    start = np.concatenate([table.ravel() for table in tables])
    tol = 1e-6 * counting.n_rows
    fitted = fit(counting.under(dag), counting.card, start, clock=Clock(), tol=tol)
    ended = time.perf_counter()
    n_steps = len(fitted.log_likelihood)
    sums = sha256(fitted.counts.tobytes()).hexdigest()[:8]
    return {
        "seconds": ended - begun,
        "score": float(fitted.log_likelihood[-1]),
        "told": f"reading {read - begun:.1f} s, {n_steps} iterations"
        f" {ended - read:.1f} s, sums {sums}",
    }


METHODS = {
    EM: partial(learn_by, method="em"),
    ALL_ROWS: partial(learn_by, method="em", full=True),
    AUTO: learn_by,
    TRUTH: fill_by_truth,
    COMPLETE: learn_complete,
    "mode": partial(fill_by, name="mode"),
    "kNN": partial(fill_by, name="knn"),
    "logistic": partial(fill_by, name="logistic"),
    "random forests": partial(fill_by, name="forest"),
    "miceforest": partial(fill_by, name="miceforest"),
    "pgmpy climb": climb_by_pgmpy,
    **{name: partial(count_by, n_workers=n) for name, n in WORKERS.items()},
}


def serve(name, folder, max_parents, n_threads, time_limit):
    """Carry out a method here; print what it took, and leave the codes in the folder.

    Ends with 3 where a package is not installed.
    """
    warnings.simplefilter("ignore")
    job = Job(Path(folder), max_parents, n_threads, time_limit)
    if name not in (TRUTH, COMPLETE, *WORKERS):
        _ = job.data  # reading is not what is measured
    begun, used, before = time.perf_counter(), time.process_time(), peak_megabytes()
    try:
        found = METHODS[name](job)
    except (ImportError, MissingDependencyError):
        sys.exit(3)
    except BayesmendError as error:
        found = {"word": str(error)}
    told = {
        "seconds": time.perf_counter() - begun,
        "processor": time.process_time() - used,
        "megabytes": peak_megabytes(),
        "megabytes_before": before,
    }
    if (codes := found.pop("completed", None)) is not None:
        np.savez(job.folder / ANSWER, codes=codes)
    print()
    told["processor"] += found.pop("workers", 0.0)
    # What starting a cluster takes is not what is measured.
    told["seconds"] = found.pop("seconds", told["seconds"])
    print(json.dumps({**found, **told}))
