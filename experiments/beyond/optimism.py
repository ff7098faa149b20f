"""Where augmentation is too optimistic, and where that is just right.

Augmentation chooses the completion under which the table scores highest, so it makes
the table more regular than it is: the more holes, the more so. Expectation-maximisation
spreads each hole over its possible states. This sweep shows, for growing shares of
holes, three mechanisms and two sizes, what becomes of the imputed cells, of the
structure, and of the probabilities: the divergence from the true network, and the
entropy of the learned one, which falls below that of the true one when the table was
made too regular.
"""

from __future__ import annotations

from experiments.beyond.contenders import COMPLETE, LEARNERS, REFERENCE
from experiments.beyond.imputation import make
from experiments.beyond.measuring import (
    DIVERGENCE,
    ENTROPY,
    LOG_LOSS,
    SHD,
    measure_probabilities,
)
from experiments.data import network_files
from experiments.design import (
    ACCURACY,
    Block,
    Curves,
    Experiment,
    Method,
    Place,
    Setting,
)
from experiments.hiding import Mechanism

__all__ = ["design"]

REPETITIONS = 10
NETWORKS = ("asia", "child")
SIZES = (100, 1000)
MECHANISMS: tuple[Mechanism, ...] = ("mcar", "mnar", "one-value")
RATES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; no method of it needs a limit of seconds."""
    settings = [
        Setting(
            f"{network}/{n_rows}/{mechanism}/{100 * rate:g}",
            {
                "network": network,
                "n_rows": n_rows,
                "mechanism": mechanism,
                "rate": rate,
            },
            range(REPETITIONS),
            stream=f"{network}/{n_rows}",
            files=network_files(network),
        )
        for network in NETWORKS
        for n_rows in SIZES
        for mechanism in MECHANISMS
        for rate in RATES
    ]
    return Experiment(
        name="optimism",
        title="Where augmentation is too optimistic",
        settings=tuple(settings),
        methods=(*LEARNERS, REFERENCE, COMPLETE),
        blocks=tuple(map(_block, settings)),
        make=make,
        seed=seed,
        quick_repetitions=2,
        quick_settings=("asia/", "child/1000/mcar/"),
        measure=measure_probabilities,
        measures=(ACCURACY, LOG_LOSS, DIVERGENCE, ENTROPY, SHD),
        focus=("local",),
        notes=(
            "Each sample is holed by every mechanism at every rate. MNAR: log-odds of "
            "standard deviation 2 between the states of a variable. One value: for "
            "each variable one state is drawn, and the rate is the share of its cells "
            "that are hidden; all other cells stay.",
            "Log-loss: of the true state of a hidden cell under the learned network, "
            "given what is observed in its row.",
            "Divergence and entropy are estimated on 20,000 rows. 'Nothing hidden' is "
            "learned from the table before cells were hidden.",
            "Entropy: below 0 the learned network is more regular than the true one.",
        ),
        curves=Curves("hidden cells (%)", place),
    )


def _block(setting: Setting) -> Block:
    given = setting.parameters
    mechanism = given["mechanism"].replace("-", " ")
    label = f"{given['network'].upper()}, n = {given['n_rows']:,}, {mechanism}"
    return Block(f"{label}, {100 * given['rate']:g} %", (setting.name,))


def place(block: Block, method: Method) -> Place:
    """Put the rate on the axis, one panel for each network, size and mechanism."""
    panel, _, rate = block.label.rpartition(", ")
    return Place(panel, float(rate.removesuffix(" %")), method.label, method.name)
