"""Where augmentation is too optimistic, and where that is just right.

Augmentation chooses the completion under which the table scores highest, so it makes
the table more regular than it is: the more missing cells, the more so. Expectation-
maximisation spreads each of them over its possible states. This sweep shows, for
growing shares, three mechanisms and two sizes, what becomes of the imputed cells, of
the structure, and of the probabilities: the divergence from the true network, and the
entropy of the learned one, which falls below that of the true one when the table was
made too regular.
"""

from __future__ import annotations

from experiments.beyond.contenders import COMPLETE, LEARNERS, MECHANISMS, REFERENCE
from experiments.beyond.measuring import (
    DIVERGENCE,
    ENTROPY,
    LOG_LOSS,
    SHD,
    measure_probabilities,
)
from experiments.beyond.rates import CURVES, block_of, make, settings_of
from experiments.design import ACCURACY, Block, Experiment, Setting

__all__ = ["design"]


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; no method of it needs a limit of seconds."""
    settings = settings_of(
        ("asia", "child"),
        (100, 1000),
        ("mcar", "mnar", "one-value"),
        (0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
        name="{network}/{n_rows}/{mechanism}/{percent:g}",
        stream="{network}/{n_rows}",
    )
    return Experiment(
        name="optimism",
        title="Where augmentation is too optimistic",
        settings=settings,
        methods=(*LEARNERS, *MECHANISMS, REFERENCE, COMPLETE),
        blocks=tuple(map(_block, settings)),
        make=make,
        seed=seed,
        quick_repetitions=2,
        quick_settings=("asia/", "child/1000/mcar/"),
        measure=measure_probabilities,
        measures=(ACCURACY, LOG_LOSS, DIVERGENCE, ENTROPY, SHD),
        focus=("local",),
        notes=(
            "Each sample is used with every mechanism at every rate. MNAR: log-odds of "
            "standard deviation 2 between the states of a variable. One value: for "
            "each variable one state is drawn, and the rate is the share of its cells "
            "that are hidden; all other cells stay.",
            "Log-loss: of the true state of a hidden cell under the learned network, "
            "given what is observed in its row.",
            "Divergence and entropy are estimated on 20,000 rows. 'Nothing hidden' is "
            "learned from the table before cells were hidden.",
            "Entropy: below 0 the learned network is more regular than the true one.",
        ),
        curves=CURVES,
    )


def _block(setting: Setting) -> Block:
    given = setting.parameters
    mechanism = given["mechanism"].replace("-", " ")
    panel = f"{given['network'].upper()}, n = {given['n_rows']:,}, {mechanism}"
    return block_of(setting, panel)
