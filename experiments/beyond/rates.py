"""Sweeps over shares of hidden cells: samples of networks, mechanisms, rates."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

from bayesmend.seed import as_generator
from experiments.data import DataFolder, network_files
from experiments.design import Block, Curves, Method, Place, Run, Setting, Task
from experiments.hiding import Mechanism, hide

__all__ = ["CURVES", "block_of", "make", "settings_of"]

REPETITIONS = 10


def settings_of(
    networks: Iterable[str],
    sizes: Iterable[int],
    mechanisms: Iterable[Mechanism],
    rates: Iterable[float],
    name: str,
    stream: str,
) -> tuple[Setting, ...]:
    """Combine all; `name` and `stream` are formats of the parameters."""
    found = []
    for network, n_rows, mechanism, rate in product(networks, sizes, mechanisms, rates):
        parameters = {
            "network": network,
            "n_rows": n_rows,
            "mechanism": mechanism,
            "rate": rate,
        }
        found.append(
            Setting(
                name.format(**parameters, percent=100 * rate),
                parameters,
                range(REPETITIONS),
                stream=stream.format(**parameters),
                files=network_files(network),
            )
        )
    return tuple(found)


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows of the network and hide cells."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    generator = as_generator(run.seed)
    rows = network.sample(given["n_rows"], seed=generator)
    hidden = hide(rows, given["mechanism"], given["rate"], generator=generator)
    return Task(hidden, network=network)


def block_of(setting: Setting, panel: str) -> Block:
    """Give the block of a single setting, named after its panel and rate."""
    return Block(f"{panel}, {100 * setting.parameters['rate']:g} %", (setting.name,))


def _place(block: Block, method: Method) -> Place:
    panel, _, rate = block.label.rpartition(", ")
    return Place(panel, float(rate.removesuffix(" %")), method.label, method.name)


CURVES = Curves("hidden cells (%)", _place)
"""The rate on the axis, one panel for each network, size and mechanism."""
