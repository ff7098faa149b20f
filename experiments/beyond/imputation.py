"""Imputation and structure against other packages and the true network.

Samples of four public networks, cells hidden by three mechanisms at four rates. The
true network is the reference for accuracy, the structure learned from the table before
anything was hidden that for the structural Hamming distance.
"""

from __future__ import annotations

from experiments.beyond.contenders import (
    COMPLETE,
    MECHANISMS,
    PEERS,
    REFERENCE,
    auto,
    learners,
)
from experiments.beyond.measuring import SHD, measure_structure
from experiments.beyond.rates import (
    CURVES,
    REPETITIONS,
    block_of,
    make,
    settings_of,
)
from experiments.design import ACCURACY, Block, Experiment, Setting

__all__ = ["design"]

N_ROWS = 1000
EM_SECONDS = 120.0
AUTO_SECONDS = 10.0


def design(*, seed: int = 1, time_limit: float | None = None) -> Experiment:
    """Lay out the experiment; `time_limit` is that of a run of EM, and of ``auto``."""
    em_limit = EM_SECONDS if time_limit is None else time_limit
    auto_limit = AUTO_SECONDS if time_limit is None else time_limit
    settings = settings_of(
        ("asia", "child", "insurance", "alarm"),
        (N_ROWS,),
        ("mcar", "mar", "mnar"),
        (0.05, 0.1, 0.2, 0.3),
        name="{network}/{mechanism}/{percent:g}",
        stream="{network}",
    )
    return Experiment(
        name="imputation",
        title="Imputation and structure from incomplete data, against peers",
        settings=settings,
        methods=(
            *learners(em_limit),
            *MECHANISMS,
            auto(auto_limit),
            *PEERS,
            REFERENCE,
            COMPLETE,
        ),
        blocks=tuple(map(_block, settings)),
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
            "used with every mechanism at every rate.",
            "MAR: a fifth of the variables stays observed and decides which cells of "
            "the others are hidden; the rate is that of these others. MNAR: log-odds "
            "of standard deviation 2 between the states of a variable.",
            "Augmentation alternates between completion and a structure found by "
            f"search over orders. Structural EM has at most {em_limit:g} s a run, auto "
            f"{auto_limit:g} s.",
            "SHD: methods that learn no network get the structure learned from their "
            "completed table; 'nothing hidden' that from the complete one.",
            "All methods use one thread when several runs go on at once; peers always.",
        ),
        curves=CURVES,
    )


def _block(setting: Setting) -> Block:
    given = setting.parameters
    return block_of(setting, f"{given['network']}, {given['mechanism']}".upper())
