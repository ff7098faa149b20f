"""Incomplete tables to learn from: each is made by its seed.

Cells of "one value" hold the first state of their variable for odd seeds and the second
for even ones.
"""

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayesmend import (
    IncompleteData,
    hide_mcar,
    hide_value_of,
    hide_value_per_variable,
    load_network,
    read_network,
)
from bayesmend.errors import ShortfallWarning
from benchmarks.speed.instances import DATA, network_path


@dataclass(frozen=True)
class Case:
    """A row of the table: how to make its instances, for how long to try, the aim."""

    title: str
    make: Callable[[int], IncompleteData]
    limit: float
    target: str
    n_seeds: int = 20
    measures: tuple[str, ...] = ("exact",)


def read(name, columns=None):
    path = DATA / f"{name}.csv"
    if not path.exists():
        sys.exit(
            f"{path} not found. Set BAYESMEND_DATA to the folder that holds "
            f"{name}.csv and networks/."
        )
    data = IncompleteData.from_csv(path)
    if columns is None:
        return data
    picked = [data.index(name) for name in columns]
    return IncompleteData.from_codes(
        data.codes[:, picked],
        names=columns,
        states=[data.states[v] for v in picked],
    )


def state_of(seed):
    return (seed + 1) % 2


def per_variable(data, count, seed):
    with warnings.catch_warnings():  # a rare state may have fewer cells than asked
        warnings.simplefilter("ignore", ShortfallWarning)
        return hide_value_per_variable(
            data, count, state=state_of(seed), seed=seed
        ).data


def asia(seed):
    return per_variable(load_network("asia").sample(100, seed=seed), 2, seed)


def prostate(seed):
    network = read_network(network_path("surrogate_prostate11_tan"))
    return per_variable(network.sample(100, seed=seed), 2, seed)


def lucas(count):
    return lambda seed: per_variable(read("lucas"), count, seed)


def lucas_class(seed):
    data = read("lucas")
    return hide_value_of(data, data.names[-1], 20, state=state_of(seed), seed=seed).data


def smoking(seed):
    # As in the paper, the hidden labels are all those of smokers.
    data = read("smoking", ["group", "tv", "manual", "quit_24m"])
    return hide_value_of(data, "quit_24m", 75, "0", seed=seed).data


def car(seed):
    # Only two labels of the class are frequent enough.
    data = read("car")
    label = ("unacc", "acc")[state_of(seed)]
    return hide_value_of(data, data.names[-1], 100, label, seed=seed).data


def asia_mcar(seed):
    return hide_mcar(load_network("asia").sample(1000, seed=seed), 0.05, seed=seed).data


def spect(share):
    def make(seed):
        """Hide a share of all cells, drawn evenly from those of one value."""
        data = read("spect")
        state = state_of(seed)
        n_held = (data.codes == state).sum(axis=0)
        generator = np.random.default_rng(seed)
        n_hidden = round(share * data.codes.size)
        counts = generator.multivariate_hypergeometric(n_held, n_hidden)
        for name, count in zip(data.names, counts.tolist(), strict=True):
            if count:
                data = hide_value_of(
                    data, name, count, state=state, seed=generator
                ).data
        return data

    return make


CASES = {
    "asia": Case(
        "ASIA n=100, 2 per variable",
        asia,
        60.0,
        "proven, <= 10 ms",
        measures=("exact", "local", "enumerate", "reduce"),
    ),
    "prostate": Case(
        "11 binary, n=100, 2 per variable",
        prostate,
        60.0,
        "proven, <= 100 ms",
        measures=("exact", "local"),
    ),
    "lucas2": Case("LUCAS, 2 per variable", lucas(2), 60.0, "proven, <= 0.2 s"),
    "lucas-class": Case(
        "LUCAS, 20 of the class", lucas_class, 60.0, "proven, <= 0.3 s"
    ),
    "lucas4": Case("LUCAS, 4 per variable", lucas(4), 30.0, "proven in >= 95 %"),
    "lucas8": Case("LUCAS, 8 per variable", lucas(8), 60.0, "as many as possible"),
    "smoking": Case("Smoking, 117 + 75 labels", smoking, 60.0, "proven, <= 50 ms"),
    "car": Case("Car, 100 of the class", car, 60.0, "proven, or the gap"),
    "asia-mcar": Case("ASIA n=1000, 5 % MCAR", asia_mcar, 60.0, "proven, or the gap"),
    "spect3": Case(
        "SPECT, 3 % of one value",
        spect(0.03),
        60.0,
        "t = 1 certified",
        4,
        ("exact", "certify"),
    ),
    "spect5": Case(
        "SPECT, 5 % of one value",
        spect(0.05),
        60.0,
        "t = 1 certified",
        4,
        ("exact", "certify"),
    ),
    "spect10": Case(
        "SPECT, 10 % of one value",
        spect(0.10),
        60.0,
        "t = 1 certified",
        4,
        ("exact", "certify"),
    ),
}
