"""Imputation and structure against other packages and the true network.

Samples of four public networks, cells hidden by three mechanisms at four rates. The
true network is the reference for accuracy, the structure learned from the table before
anything was hidden that for the structural Hamming distance.
"""

from __future__ import annotations

from bayesmend.seed import as_generator
from experiments.beyond.contenders import (
    COMPLETE,
    PEERS,
    REFERENCE,
    auto,
    learners,
)
from experiments.beyond.measuring import SHD, measure_structure
from experiments.data import DataFolder, network_files
from experiments.design import (
    ACCURACY,
    Block,
    Curves,
    Experiment,
    Method,
    Place,
    Run,
    Setting,
    Task,
)
from experiments.hiding import Mechanism, hide

__all__ = ["design"]

REPETITIONS = 10
N_ROWS = 1000
EM_SECONDS = 120.0
AUTO_SECONDS = 10.0
NETWORKS = ("asia", "child", "insurance", "alarm")
MECHANISMS: tuple[Mechanism, ...] = ("mcar", "mar", "mnar")
RATES = (0.05, 0.1, 0.2, 0.3)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of a run of EM, and of ``auto``."""
    em_limit = EM_SECONDS if time_limit is None else time_limit
    auto_limit = AUTO_SECONDS if time_limit is None else time_limit
    settings = [
        Setting(
            f"{network}/{mechanism}/{100 * rate:g}",
            {
                "network": network,
                "n_rows": N_ROWS,
                "mechanism": mechanism,
                "rate": rate,
            },
            range(REPETITIONS),
            stream=network,
            files=network_files(network),
        )
        for network in NETWORKS
        for mechanism in MECHANISMS
        for rate in RATES
    ]
    return Experiment(
        name="imputation",
        title="Imputation and structure from incomplete data, against peers",
        settings=tuple(settings),
        methods=(*learners(em_limit), auto(auto_limit), *PEERS, REFERENCE, COMPLETE),
        blocks=tuple(map(block_of, settings)),
        make=make,
        seed=seed,
        quick_repetitions=2,
        quick_settings=(
            "asia/mcar/10",
            "asia/mcar/30",
            "asia/mnar/30",
            "alarm/mcar/10",
        ),
        measure=measure_structure,
        measures=(ACCURACY, SHD),
        focus=("em", "local", "auto"),
        notes=(
            f"{N_ROWS:,} rows of each network, {REPETITIONS} samples; each sample is "
            "holed by every mechanism at every rate.",
            "MAR: a fifth of the variables stays observed and decides on the holes of "
            "the others; the rate is that of these others. MNAR: log-odds of standard "
            "deviation 2 between the states of a variable.",
            "Augmentation alternates between completion and a structure found by "
            f"search over orders. Structural EM has at most {em_limit:g} s a run, auto "
            f"{auto_limit:g} s.",
            "SHD: methods that learn no network get the structure learned from their "
            "completed table; 'nothing hidden' that from the complete one.",
            "All methods use one thread when several runs go on at once; peers always.",
        ),
        curves=Curves("hidden cells (%)", place),
    )


def block_of(setting: Setting) -> Block:
    """Give the block of a single setting of a sweep over rates."""
    given = setting.parameters
    label = f"{given['network'].upper()}, {given['mechanism'].upper()}"
    return Block(f"{label}, {100 * given['rate']:g} %", (setting.name,))


def place(block: Block, method: Method) -> Place:
    """Put the rate on the axis, one panel for each network and mechanism."""
    panel, _, rate = block.label.rpartition(", ")
    return Place(panel, float(rate.removesuffix(" %")), method.label, method.name)


def make(run: Run, folder: DataFolder) -> Task:
    """Draw rows of the network and hide cells."""
    given = run.setting.parameters
    network = folder.network(given["network"])
    generator = as_generator(run.seed)
    rows = network.sample(given["n_rows"], seed=generator)
    hidden = hide(rows, given["mechanism"], given["rate"], generator=generator)
    return Task(hidden, network=network)
